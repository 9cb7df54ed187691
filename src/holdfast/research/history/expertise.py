"""Who knows about something: by what they committed to it, and what they reviewed, in trailers of
commits and in pulls on a forge.

What somebody did counts by how much of it concerns the question, grows slowly with the lines they
changed, and halves with every year that passes. Robots and agents are set apart: they do not know
anything in the morning. Every name comes with the commits and pulls that speak for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import log2
from typing import NamedTuple

from holdfast.model.forge import RemarkKind
from holdfast.model.query import Filter
from holdfast.model.team import Commit
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.lookup.filters import commits_touching, is_meant
from holdfast.recall.query.terms import read_terms
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.store.protocol.git_history import Patch

MAX_COMMITS = 2000
_BY_WORDS = 300
_HALF_LIFE_DAYS = 365.0
_REVIEW = 0.5
_WITH = 0.5
_EVIDENCE = 3
_AREAS = 3
_BOT = regex(
    r"\[bot\]|\bbot\b|dependabot|renovate|github-actions|greenkeeper|snyk|pre-commit-ci|"
    r"semantic-release|weblate|\b(?:claude|cursor|codex|devin|aider|gemini|grok|gpt)\b|copilot|"
    r"noreply@anthropic\.com|cursoragent",
    re.IGNORECASE,
)
_TRAILER = regex(
    r"^(?P<what>co-authored-by|reviewed-by|acked-by|approved-by|tested-by|pair-programmed-with): *"
    r"(?P<name>[^<\n]+?) *(?:<(?P<email>[^>\n]*)>)?$",
    re.IGNORECASE | re.MULTILINE,
)
_PATH = regex(r"[\w.-]*[/.][\w./-]+$")


class Person(NamedTuple):
    """A contributor by name and address."""

    name: str
    email: str

    @property
    def is_bot(self) -> bool:
        """Whether it is a program."""
        return bool(_BOT.search(self.name) or _BOT.search(self.email))


@dataclass(frozen=True, slots=True)
class Expert:
    """What speaks for somebody: a score, its share of all people's, how many commits and reviews,
    since when and until when, the folders they changed most, and the commits and pulls that weigh
    most."""

    name: str
    email: str
    score: float
    share: float
    commits: int
    reviews: int
    first: str
    last: str
    areas: tuple[str, ...]
    evidence: tuple[str, ...]
    is_bot: bool = False


@dataclass(slots=True)
class _Account:
    person: Person
    score: float = 0.0
    commits: int = 0
    reviews: int = 0
    times: list[str] = field(default_factory=list[str])
    areas: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    weights: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])


class _Part(NamedTuple):
    person: Person
    share: float
    reviewed: bool = False
    # The URI of what speaks for it, where that is not the commit.
    evidence: str = ""


def rank_experts(reader: Reader, bank: str | None, about: str, now: str, limit: int = 5) -> list[Expert]:
    """The people who know most about a file, a folder or a matter, then the programs, best
    first; nobody where no commit speaks of it."""
    accounts: dict[str, _Account] = {}
    known = _Known()
    reviews = _Reviews(reader)
    path, concerning = _about(reader, bank, about.strip())
    for commit, relevance in concerning:
        patch = reader.patch(commit.bank, commit.id)
        worth = relevance * _size(patch, path) * _freshness(commit.time, now)
        for part in (*_people(commit), *reviews.of(commit)):
            key = known.key(part.person)
            account = accounts.setdefault(key, _Account(part.person))
            _count(account, commit, part, worth)
    people = [a for a in accounts.values() if not a.person.is_bot]
    total = sum(account.score for account in people)
    ranked = sorted(accounts.values(), key=lambda a: (a.person.is_bot, -a.score, a.person))
    return [_expert(account, total) for account in ranked[:limit]]


class _Known:
    """Two names with one address are one person, and two addresses with one full name."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}

    def key(self, person: Person) -> str:
        full = " " in person.name.strip()
        names = [
            person.email.casefold(),
            person.name.casefold() if full or not person.email else "",
        ]
        known = [self._keys[name] for name in names if name in self._keys]
        key = known[0] if known else names[0] or names[1]
        self._keys |= {name: key for name in names if name and name not in self._keys}
        return key


class _Reviews:
    """Who reviewed the pulls of commits: once for each pull, however many commits it has."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._counted: set[tuple[str, str]] = set()
        self._people: dict[str, dict[str, Person]] = {}

    def of(self, commit: Commit) -> Iterator[_Part]:
        """Those of the team, and programs, who reviewed a commit's pulls and did not write them."""
        for pull in self._reader.pulls_of(commit.bank, commit.id):
            if (pull.bank, pull.id) in self._counted:
                continue
            self._counted.add((pull.bank, pull.id))
            name = uri("pull", pull.id)
            said = [
                remark.author
                for remark in self._reader.remarks(pull.bank, name)
                if remark.kind is not RemarkKind.COMMENT
                and (remark.trust is not Trust.EXTERNAL or remark.bot)
            ]
            for login in dict.fromkeys(said):
                person = self._person(pull.bank, login)
                if login != pull.author and person.email.casefold() != commit.email.casefold():
                    yield _Part(person, _REVIEW, reviewed=True, evidence=name)

    def _person(self, bank: str, login: str) -> Person:
        """Who an account is in commits, as far as its own commits tell."""
        if bank not in self._people:
            told = self._reader.logins(bank)
            self._people[bank] = {one.login: Person(one.name, one.email) for one in told}
        return self._people[bank].get(login) or Person(login, "")


def _is_path(about: str) -> bool:
    return bool(_PATH.fullmatch(about.strip())) or about.strip().endswith("/")


def _about(
    reader: Reader, bank: str | None, about: str
) -> tuple[str, Iterator[tuple[Commit, float]]]:
    """The commits that concern something, each with how much it does, and the path that was
    meant, if it is one."""
    if _is_path(about):
        commits, path = commits_touching(reader, bank, Filter(file=about), MAX_COMMITS)
        if commits:
            return path, ((commit, 1.0) for commit in commits)
    return "", _by_words(reader, bank, about)


def _by_words(reader: Reader, bank: str | None, about: str) -> Iterator[tuple[Commit, float]]:
    if not about:
        return
    matches = reader.search(bank, read_terms(about).all, ["team"], _BY_WORDS)
    best = max((match.score for match in matches), default=0.0)
    for match in matches:
        if match.passage.kind == "commit" and match.score > 0.35 * best:
            for commit in reader.find(match.passage.bank, "commit", match.passage.id, limit=1):
                if isinstance(commit, Commit):
                    yield commit, match.score / best


def _size(patch: Patch | None, path: str) -> float:
    """How much was changed; twice as many lines do not make twice the knowledge."""
    if patch is None:
        return 1.0
    inside = [change for change in patch.changes if not path or is_meant(change.path, path)]
    return 1.0 + log2(1 + sum(change.added + change.removed for change in inside)) / 4


def _freshness(time: str, now: str) -> float:
    if not time:
        return 0.5
    age = datetime.fromisoformat(now) - datetime.fromisoformat(time)
    return 0.5 ** (max(0.0, age.total_seconds() / 86400) / _HALF_LIFE_DAYS)


def _people(commit: Commit) -> Iterator[_Part]:
    """Who had a part in a commit. One who merges or applies has none by that alone."""
    if len(commit.parents) < 2:
        yield _Part(Person(commit.author, commit.email), 1.0)
    for found in _TRAILER.finditer(commit.body):
        person = Person(found["name"].strip(), found["email"] or "")
        wrote = found["what"].lower().startswith(("co-", "pair"))
        if person.email.casefold() != commit.email.casefold():
            yield _Part(person, _WITH if wrote else _REVIEW, reviewed=not wrote)


def _count(account: _Account, commit: Commit, part: _Part, worth: float) -> None:
    worth *= part.share
    account.score += worth
    account.commits += not part.reviewed
    account.reviews += part.reviewed
    account.times += [commit.time] if commit.time else []
    account.weights.append((worth, part.evidence or uri("commit", commit.id)))
    for folder in {_folder(file) for file in commit.files}:
        account.areas[folder] += worth


def _folder(file: str) -> str:
    parts = file.split("/")[:-1]
    return "/".join(parts[:2]) + "/" if parts else "./"


def _expert(account: _Account, total: float) -> Expert:
    person = account.person
    areas = sorted(account.areas.items(), key=lambda pair: (-pair[1], pair[0]))[:_AREAS]
    weights = sorted(account.weights, key=lambda pair: (-pair[0], pair[1]))[:_EVIDENCE]
    return Expert(
        name=person.name,
        email=person.email,
        score=round(account.score, 3),
        share=0.0 if person.is_bot or not total else round(account.score / total, 3),
        commits=account.commits,
        reviews=account.reviews,
        first=min(account.times, default=""),
        last=max(account.times, default=""),
        areas=tuple(area for area, _ in areas),
        evidence=tuple(name for _, name in weights),
        is_bot=person.is_bot,
    )
