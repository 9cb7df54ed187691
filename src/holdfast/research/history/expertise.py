"""Experts on a topic, ranked by what they committed and reviewed.

A contribution counts by how much it concerns the topic, grows slowly with the lines changed, and
loses half its weight every year. Reviews are read from trailers of commits and from pulls on a
forge. Bots and agents are ranked behind people: they remember nothing. Every name comes with the
commits and pulls that are the evidence for it.
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
from holdfast.model.query import RecordFilter, matches_path
from holdfast.model.team import Commit
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.recall.lookup.filters import commits_touching
from holdfast.recall.query.terms import read_terms
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.store.records.git_history import Patch


class ExpertiseWeights(NamedTuple):
    """What a contribution is worth, against 1 for the author of a commit of today."""

    # Who reviews or co-authors a commit knows it, but less than its author.
    review: float = 0.5
    co_author: float = 0.5
    # After a year without contributions half of what somebody knew of the code counts.
    half_life_days: float = 365.0
    # For a commit without a date: as if it were a year old.
    undated: float = 0.5
    # The logarithm of the changed lines is divided by this; 15 lines double a contribution.
    lines_divisor: int = 4
    # A commit found by words counts if its score is above this share of the best one's.
    min_share_of_best: float = 0.35


class ExpertiseLimits(NamedTuple):
    """How much is read, and how much of it is named for each expert."""

    # Commits of a path, and passages found by words. Bounds the time in a long history.
    commits_of_path: int = 2000
    passages: int = 300
    evidence: int = 3
    areas: int = 3


_WEIGHTS = ExpertiseWeights()
_LIMITS = ExpertiseLimits()
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
    """A contributor by name and email address."""

    name: str
    email: str

    @property
    def is_bot(self) -> bool:
        """Whether it is a bot or an agent."""
        return bool(_BOT.search(self.name) or _BOT.search(self.email))


@dataclass(frozen=True, slots=True)
class Expert:
    """Somebody who knows a topic: a score and its share of all people's, the number of commits and
    reviews, the times of the first and the last, the folders changed most, and the URIs of the
    commits and pulls that count most."""

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
    """What one person contributed, summed up while commits are read."""

    person: Person
    score: float = 0.0
    commits: int = 0
    reviews: int = 0
    times: list[str] = field(default_factory=list[str])
    areas: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    weights: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])


class _Contribution(NamedTuple):
    """A person's part in a commit; `evidence` is a URI other than that of the commit."""

    person: Person
    share: float
    reviewed: bool = False
    evidence: str = ""


def rank_experts(
    reader: Reader, bank: str | None, about: str, now: str, limit: int = 5
) -> list[Expert]:
    """The people who know most about a file, a folder or a topic, then the bots, best first;
    nobody if no commit is about it."""
    accounts: dict[str, _Account] = {}
    identities = _Identities()
    reviews = _Reviews(reader)
    path, commits = _commits_about(reader, bank, about.strip())
    for commit, relevance in commits:
        patch = reader.git.patch(commit.bank, commit.id)
        weight = relevance * _size_factor(patch, path) * _age_factor(commit.time, now)
        for contribution in (*_contributions(commit), *reviews.of(commit)):
            key = identities.key(contribution.person)
            account = accounts.setdefault(key, _Account(contribution.person))
            _add(account, commit, contribution, weight)
    people = [a for a in accounts.values() if not a.person.is_bot]
    total = sum(account.score for account in people)
    ranked = sorted(accounts.values(), key=lambda a: (a.person.is_bot, -a.score, a.person))
    return [_expert(account, total) for account in ranked[:limit]]


class _Identities:
    """Gives one key to all spellings of a person: two names with one address are one person, and
    so are two addresses with one full name."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}

    def key(self, person: Person) -> str:
        is_full_name = " " in person.name.strip()
        names = [
            person.email.casefold(),
            person.name.casefold() if is_full_name or not person.email else "",
        ]
        known = [self._keys[name] for name in names if name in self._keys]
        key = known[0] if known else names[0] or names[1]
        self._keys |= {name: key for name in names if name and name not in self._keys}
        return key


class _Reviews:
    """Reviews of the pulls of commits, counted once a pull, however many commits it has."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._counted: set[tuple[str, str]] = set()
        self._people: dict[str, dict[str, Person]] = {}

    def of(self, commit: Commit) -> Iterator[_Contribution]:
        """The team members and bots who reviewed a commit's pulls and did not write them."""
        for pull in self._reader.forge.pulls_with_commit(commit.bank, commit.id):
            if (pull.bank, pull.id) in self._counted:
                continue
            self._counted.add((pull.bank, pull.id))
            name = uri("pull", pull.id)
            reviewers = [
                remark.author
                for remark in self._reader.forge.remarks(pull.bank, name)
                if remark.kind is not RemarkKind.COMMENT
                and (remark.trust is not Trust.EXTERNAL or remark.bot)
            ]
            for login in dict.fromkeys(reviewers):
                person = self._person(pull.bank, login)
                if login != pull.author and person.email.casefold() != commit.email.casefold():
                    yield _Contribution(person, _WEIGHTS.review, reviewed=True, evidence=name)

    def _person(self, bank: str, login: str) -> Person:
        """The commit author that a forge account belongs to; else the account's own name."""
        if bank not in self._people:
            accounts = self._reader.forge.logins(bank)
            self._people[bank] = {one.login: Person(one.name, one.email) for one in accounts}
        return self._people[bank].get(login) or Person(login, "")


def _commits_about(
    reader: Reader, bank: str | None, about: str
) -> tuple[str, Iterator[tuple[Commit, float]]]:
    """The path that is meant ("" for a topic in words), and the commits about it, each with its
    relevance from 0 to 1."""
    if _PATH.fullmatch(about) or about.endswith("/"):
        commits, path = commits_touching(
            reader, bank, RecordFilter(file=about), _LIMITS.commits_of_path
        )
        if commits:
            return path, ((commit, 1.0) for commit in commits)
    return "", _commits_by_words(reader, bank, about)


def _commits_by_words(
    reader: Reader, bank: str | None, about: str
) -> Iterator[tuple[Commit, float]]:
    if not about:
        return
    matches = reader.passages.search(bank, read_terms(about).all, ["team"], _LIMITS.passages)
    best = max((match.score for match in matches), default=0.0)
    for match in matches:
        near_best = match.score > _WEIGHTS.min_share_of_best * best
        if match.passage.kind == "commit" and near_best:
            for commit in reader.records.find(
                match.passage.bank, "commit", match.passage.id, limit=1
            ):
                if isinstance(commit, Commit):
                    yield commit, match.score / best


def _size_factor(patch: Patch | None, path: str) -> float:
    """A factor that grows with the logarithm of the changed lines: twice as many lines are not
    twice the knowledge."""
    if patch is None:
        return 1.0
    inside = [change for change in patch.changes if not path or matches_path(change.path, path)]
    lines = sum(change.added + change.removed for change in inside)
    return 1.0 + log2(1 + lines) / _WEIGHTS.lines_divisor


def _age_factor(time: str, now: str) -> float:
    if not time:
        return _WEIGHTS.undated
    age = datetime.fromisoformat(now) - datetime.fromisoformat(time)
    return 0.5 ** (max(0.0, age.total_seconds() / 86400) / _WEIGHTS.half_life_days)


def _contributions(commit: Commit) -> Iterator[_Contribution]:
    """The author of a commit and the people in its trailers. Merging alone is no contribution."""
    if len(commit.parents) < 2:
        yield _Contribution(Person(commit.author, commit.email), 1.0)
    for found in _TRAILER.finditer(commit.body):
        person = Person(found["name"].strip(), found["email"] or "")
        wrote = found["what"].lower().startswith(("co-", "pair"))
        if person.email.casefold() != commit.email.casefold():
            share = _WEIGHTS.co_author if wrote else _WEIGHTS.review
            yield _Contribution(person, share, reviewed=not wrote)


def _add(account: _Account, commit: Commit, contribution: _Contribution, weight: float) -> None:
    weight *= contribution.share
    account.score += weight
    account.commits += not contribution.reviewed
    account.reviews += contribution.reviewed
    account.times += [commit.time] if commit.time else []
    account.weights.append((weight, contribution.evidence or uri("commit", commit.id)))
    for folder in {_folder(file) for file in commit.files}:
        account.areas[folder] += weight


def _folder(file: str) -> str:
    """The first two folders of a path."""
    parts = file.split("/")[:-1]
    return "/".join(parts[:2]) + "/" if parts else "./"


def _expert(account: _Account, total: float) -> Expert:
    person = account.person
    areas = sorted(account.areas.items(), key=lambda pair: (-pair[1], pair[0]))[: _LIMITS.areas]
    weights = sorted(account.weights, key=lambda pair: (-pair[0], pair[1]))[: _LIMITS.evidence]
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
