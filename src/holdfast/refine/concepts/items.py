"""What is grouped into concepts: exchanges and memories, each as what it can be told by.

A file says more if it was changed than if it was read, and next to nothing if every project has
one of that name. A word of the process ("commit", "lint", "review") says what was done, not what
it was about. How much a feature counts in a bank is for `weights` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from holdfast.language import STOPWORDS, humps, names, stem, words
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory
from holdfast.model.records import Exchange, Outcome
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.core.keywords import COMMON_WORK_WORDS, extract_keywords
from holdfast.refine.core.passages import exchange_text

# A feature counts at least this much to be one by which two can be told to belong together.
TELLING = 0.25
_GENERIC = 0.1
_CHANGED, _READ, _ROOT, _FOLDER = 1.0, 0.35, 0.7, 0.35
_KEYWORD, _NAME, _TITLE, _PROCESS = 1.0, 1.2, 0.8, 0.1
_OUTSIDE = 0.2
_MOST_FILES = 30
_MOST_NAMES = 6
_MEMORY_KEYWORDS = 8
_ENOUGH = 2.0
_LARGE_TURNS, _LARGE_FILES = 40, 3
_COMMITTED = "Committed: "

_GENERIC_FILE = re.compile(
    r"^(?:readme|license|changelog|contributing|claude|agents|notice|makefile|"
    r"dockerfile|procfile|__init__|__main__|conftest|setup|index|main|mod|lib|app|types?|utils?|"
    r"helpers?|constants|config|package|package-lock|pnpm-lock|yarn|bun|cargo|poetry|uv|"
    r"go|gemfile|composer|tsconfig\w*|jsconfig|pyproject|requirements\w*|pubspec|build|pom|vite|"
    r"webpack|jest|vitest|eslint|prettier|babel|docker-compose|justfile|\W.*)(?:\.[\w-]+)*$",
    re.IGNORECASE,
)
_LOCK = re.compile(r"(?:\.lock|\.lockb|\.sum|-lock\.\w+|\.min\.\w+|\.map|\.snap)$", re.IGNORECASE)
_TEST = re.compile(r"^(?:test_|spec_)|(?:[._-](?:tests?|spec|unit|e2e))$", re.IGNORECASE)
_ADDRESS = re.compile(r"\b\w+://\S+")
_ABSOLUTE = re.compile(r"^(?:/|~|[A-Za-z]:/|\.\./)")
_PROCESS_WORDS = frozenset(
    stem(word)
    for word in (
        "commit committed commits push pushed pull pr rebase stash checkout changelog lint "
        "linter typecheck pre-commit precommit husky prettier eslint pass passed passes "
        "passing fail failed failing verify verified verification review reviewed approve "
        "approved complete completed completion finish finished continue proceed start "
        "started pending progress remaining blocked unblocked waiting assigned agent agents "
        "subagent subagents task tasks todo tasklist claude opus sonnet haiku fable clean "
        "cleanup success successful successfully modified unmodified staged unstaged "
        "untouched included leftover origin main master head upstream repo repository "
        "worktree src lib dist bin tmp grep sed tail npm npx bun yarn pnpm pip git github "
        "bash shell fixme think want look ask answer question please really maybe also still "
        "already currently refactor refactored rename renamed delete deleted drop dropped "
        "replace replaced mention fully properly instead analysis analyze analyse plan "
        "planning approach solution fix issue issues bug bugs problem problems improve "
        "improvement simple various different specific general common full entire whole "
        "proper http https www com org string boolean null undefined"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Item:
    """One exchange or memory. `alias` is the id of the concept that it would found; `files` and
    `words` are what it can be told by, with how much each counts before the bank is looked at.
    One that `speaks` tells by itself what it is about: "commit this" does not, nor "go ahead"."""

    uri: str
    alias: str
    kind: str
    time: str
    session: str
    place: int
    trust: Trust
    title: str
    said: str
    files: Mapping[str, float]
    words: Mapping[str, float]
    changed: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    outcome: str = ""
    large: bool = False
    hash: str = ""
    speaks: bool = True

    @property
    def order(self) -> tuple[str, str, int, str]:
        """Where it stands in time; what has no time comes first."""
        return self.time, self.session, self.place, self.uri


def concept_id(founder: str) -> str:
    """The id of the concept that a record founds."""
    return content_id("concept", founder)


def of_exchange(exchange: Exchange) -> Item:
    """An exchange as what it can be told by."""
    x = exchange
    name = uri("exchange", x.id)
    subjects = [f.removeprefix(_COMMITTED) for f in x.facts if f.startswith(_COMMITTED)]
    said = " ".join(filter(None, (x.title, x.summary)))
    long = x.last_seq - x.first_seq >= _LARGE_TURNS and len(x.files_modified) >= _LARGE_FILES
    files = _files(x.files_modified, x.files_read)
    speaks = any(weight >= _CHANGED for weight in files.values())
    speaks = speaks or any(not is_process(part) for part in _parts(x.title))
    told = _words(x.keywords, x.title, said)
    speaks = speaks and sum(files.values()) + sum(told.values()) >= _ENOUGH
    return Item(
        name, concept_id(name), "exchange", x.started, x.session, x.first_seq, x.trust, x.title,
        x.summary, files, told,
        tuple(map(spell, x.files_modified)), x.keywords, tuple(subjects),
        "" if x.outcome is Outcome.OPEN else x.outcome.value, long,
        content_id(exchange_text(x)), speaks,
    )  # fmt: skip


def of_memory(memory: Memory) -> Item:
    """A remembered text as what it can be told by."""
    m = memory
    name = uri("memory", m.id)
    told = extract_keywords(m.what, "", (), _MEMORY_KEYWORDS)
    paths = [word for word in names(m.what) if "/" in word or "." in word]
    return Item(
        name, concept_id(name), "memory", m.when, "", 0, m.trust, m.what[:200], m.what[:600],
        _files(paths, ()), _words(told, m.what[:200], m.what[:600]), (), told,
        hash=content_id(m.what),
    )  # fmt: skip


def _files(changed: Iterable[str], read: Iterable[str]) -> dict[str, float]:
    """Files, their names without what makes them a test, and their folders."""
    found: dict[str, float] = {}
    for paths, share in ((changed, _CHANGED), (read, _READ)):
        for path in list(paths)[:_MOST_FILES]:
            file = spell(path)
            weight = share * weight_of(file)
            _most(found, f"f {file}", weight)
            root = root_of(file)
            if root and weight >= share:
                _most(found, f"r {root.lower()}", weight * _ROOT)
            folder = file.rpartition("/")[0]
            if folder and weight >= share:
                _most(found, f"d {folder}", weight * _FOLDER)
    return found


def spell(path: str) -> str:
    """One spelling for every family of paths."""
    return path.replace("\\", "/").removeprefix("./")


def weight_of(file: str) -> float:
    """How much a file can tell by its name alone."""
    name = file.rpartition("/")[2]
    if _GENERIC_FILE.match(name) or _LOCK.search(name):
        return _GENERIC
    return _OUTSIDE if _ABSOLUTE.match(file) else 1.0


def root_of(file: str) -> str:
    """The name of a file without its endings and without what makes it a test; "" if that is a
    name that every project has."""
    name = file.rpartition("/")[2]
    root = name.partition(".")[0] if not name.startswith(".") else name
    bare = _TEST.sub("", root)
    return "" if not bare or _GENERIC_FILE.match(bare) else bare


def _words(told: Sequence[str], title: str, said: str) -> dict[str, float]:
    """Keywords, names of code and the words of the title, by their stems."""
    found: dict[str, float] = {}
    for keyword in told:
        for part in _parts(keyword):
            _most(found, part, _KEYWORD * _process(part))
    for name in names(said, _MOST_NAMES):
        if not name.islower() or "_" in name:
            _most(found, f"n {name.lower()}", _NAME)
    for part in _parts(title):
        _most(found, part, _TITLE * _process(part))
    return found


def _parts(text: str) -> list[str]:
    """The stems that a text is told by; `parentBackground` also by its parts."""
    text = _ADDRESS.sub(" ", text)
    said = words(" ".join((text, *(" ".join(humps(w)) for w in text.split() if _humped(w)))))
    plain = [w for w in said if len(w) > 2 and w not in STOPWORDS and w not in COMMON_WORK_WORDS]
    return [stem(word) for word in dict.fromkeys(plain) if not word.isdigit()]


def _humped(word: str) -> bool:
    return any(a.islower() and b.isupper() for a, b in pairwise(word))


def _process(part: str) -> float:
    return _PROCESS if is_process(part) else 1.0


def is_process(part: str) -> bool:
    """Whether a stem tells of how one works, not of what one works on."""
    return part in _PROCESS_WORDS


def _most(found: dict[str, float], feature: str, weight: float) -> None:
    found[feature] = max(weight, found.get(feature, 0.0))
