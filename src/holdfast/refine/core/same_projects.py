"""Which banks are one project, by what transcripts show of folders that are gone.

A join is clear where git itself says so: the same remote, a list of worktrees, the same commits.
Two banks whose remotes differ are never joined by themselves, whatever else they share: a fork and
a template share files and commits. What speaks for one project and does not prove it is proposed to
a person, with its reason.

Everything here is a function of what is known about the banks; nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from holdfast.language import counted
from holdfast.model.bank import ClueKind, StoredClue
from holdfast.paths import comparable_path
from holdfast.regex import regex
from holdfast.sources.project import base_name, main_folder


class FileLimits(NamedTuple):
    """How many files two banks must share to be proposed as one project, and how much of the bank
    with fewer files that must be."""

    files: int
    part: float


# Set with `bench.same_projects` in view: in the half of its projects that was looked at, two
# projects share no telling file at all. Projects made of one template do, so the limits are above
# what that half needs, and more so where not even the names agree.
_NAMES_AGREE = FileLimits(3, 0.2)
_FILES_ALONE = FileLimits(6, 0.3)
# Commits that two banks must share. One alone may be quoted, or picked from elsewhere.
_MIN_SHARED_COMMITS = 2
# Files that projects of many kinds have, and folders whose names say nothing.
_COMMON_FILES = frozenset(
    "readme.md claude.md agents.md license package.json package-lock.json tsconfig.json "
    ".gitignore makefile dockerfile pyproject.toml requirements.txt cargo.toml go.mod index.html "
    "index.ts index.js main.py app.py src/index.ts src/index.js src/main.ts src/app.tsx src/app.ts "
    "src/main.rs src/lib.rs changelog.md .env .env.example vite.config.ts pnpm-lock.yaml "
    "src/main.tsx src/index.css src/app.css tests/__init__.py next.config.js "
    ".claude/settings.local.json .claude/settings.json".split()
)
_PLAIN_NAMES = frozenset(
    "app code dev home main project proj repo src test tmp work workspace".split()
)
# Where tools put the worktrees of a repository: beside it, in it, or in a folder of their own.
_BESIDE = regex(r"(?P<main>.+?)(?:\.|__|-)worktrees[/\\][^/\\]+")
_INSIDE = regex(r"(?P<main>.+?)[/\\]\.(?:worktrees|conductor)[/\\][^/\\]+")
_OF_TOOL = regex(
    r"(?P<main>.+?[/\\](?:conductor[/\\]workspaces|\.cursor[/\\]worktrees|\.claude-worktrees)"
    r"[/\\][^/\\]+)[/\\][^/\\]+"
)


class BankView(NamedTuple):
    """What is known of a bank. `folders` are those of its aliases; `is_gone` says that none of
    them exists; `is_named` that a person named it, so that it is not joined by itself;
    `is_imported` that it has nothing but records of an import, and no folder."""

    id: str
    name: str
    folders: frozenset[str]
    remotes: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()
    is_gone: bool = True
    is_named: bool = False
    sessions: int = 0
    is_imported: bool = False


class Join(NamedTuple):
    """That a bank belongs into another. `reason` is a sentence for people."""

    bank: str
    into: str
    reason: str
    is_clear: bool


class BankJoin(NamedTuple):
    """Two banks that are one project: names, ids, the reason as a sentence, and whether they were
    merged. The field names are keys of the JSON output."""

    bank: str
    into: str
    bank_id: str
    into_id: str
    reason: str
    merged: bool

    @property
    def command(self) -> str:
        """What a person runs to merge them."""
        return f"holdfast bank merge {self.bank_id} {self.into_id}"


class _Evidence(NamedTuple):
    """What the clues show of a bank."""

    remotes: frozenset[str]
    pulls: frozenset[str]
    commits: frozenset[str]
    group: str

    @property
    def repositories(self) -> frozenset[str]:
        """By what repository it is known: its remote, or else that of its pull requests."""
        return self.remotes or self.pulls


class _Match(NamedTuple):
    """Why two banks are one project. Stronger matches, with a lower `rank`, come first, so that a
    weaker one cannot bring a bank to another repository."""

    reason: str
    is_clear: bool = True
    rank: int = 1


Files = Callable[[str], Collection[str]]


def find_joins(
    banks: Iterable[BankView],
    clues: Iterable[StoredClue],
    files: Files,
    apart: Collection[frozenset[str]] = (),
) -> list[Join]:
    """The banks that are gone and belong into another, the clear ones first. `files` gives the
    files that a bank's sessions touched; `apart` are pairs of banks that a person keeps apart."""
    given = list(banks)
    views = {view.id: view for view in given if not _is_everywhere(view)}
    shown = _evidence(views, list(clues))
    clear: dict[frozenset[str], _Match] = {}
    probable: dict[frozenset[str], str] = {}
    for one, other in _candidates(views, shown):
        pair = frozenset((one, other))
        if pair in apart or not (views[one].is_gone or views[other].is_gone):
            continue
        match = _compare(views, shown, one, other)
        if match is None:
            continue
        if match.is_clear and not (views[one].is_named and views[other].is_named):
            clear[pair] = match
        else:
            probable[pair] = match.reason
    groups = _clear_groups(views, shown, clear, probable)
    joined = [join for members in groups for join in _joins_of_group(views, members, clear)]
    into = {join.bank: join.into for join in joined}
    probable |= _by_files(views, shown, files, apart, {**probable, **clear})
    proposed = _proposals(views, shown, probable, into)
    return [*joined, *proposed, *_imported_joins(given, views, apart)]


def find_clear_joins(
    banks: Iterable[BankView],
    clues: Iterable[StoredClue],
    apart: Collection[frozenset[str]] = (),
) -> list[Join]:
    """Those of `find_joins` that are clear. Files never make a join clear, so that none are read:
    listing them takes longer the more turns there are."""
    return [join for join in find_joins(banks, clues, lambda bank: (), apart) if join.is_clear]


def _imported_joins(
    banks: Iterable[BankView], views: dict[str, BankView], apart: Collection[frozenset[str]]
) -> Iterator[Join]:
    """The banks of imports that are called like the bank of one folder."""
    for bank in banks:
        if not bank.is_imported:
            continue
        called = [id for id, view in views.items() if _last_name(view) == _last_name(bank)]
        if len(called) == 1 and frozenset((bank.id, called[0])) not in apart:
            reason = "their names agree, and the first has only what was imported"
            yield Join(bank.id, called[0], reason, False)


def _last_name(view: BankView) -> str:
    return view.name.rpartition("/")[2].lower()


def _is_everywhere(view: BankView) -> bool:
    """A bank of no folder, or of one in which many projects lie."""
    return not view.folders or all(_depth(folder) < 2 for folder in view.folders)


def _depth(folder: str) -> int:
    return len([part for part in folder.replace("\\", "/").split("/") if part])


def worktree_of(folder: str) -> str:
    """The folder that stands for the repository of a worktree, by the place in which tools put
    worktrees; "" for any other folder."""
    for layout in (_OF_TOOL, _INSIDE, _BESIDE):
        found = layout.fullmatch(folder)
        if found is not None:
            return found["main"]
    return ""


def _evidence(views: dict[str, BankView], clues: list[StoredClue]) -> dict[str, _Evidence]:
    """What the clues show of each bank. Folders that git lists as worktrees of one repository are
    one group, and so are folders in which a tool put its worktrees."""
    groups = _Groups()
    by_folder: dict[str, list[StoredClue]] = {}
    for clue in clues:
        folder = _normal(clue.folder)
        by_folder.setdefault(folder, []).append(clue)
        if clue.kind is ClueKind.WORKTREE:
            groups.join(folder, _normal(clue.value))
    for view in views.values():
        for folder in view.folders:
            main = worktree_of(folder)
            if main:
                groups.join(folder, _normal(main))
        for folder in view.folders:
            groups.join(folder, min(view.folders))
    found: dict[str, _Evidence] = {}
    for view in views.values():
        own = [clue for folder in view.folders for clue in by_folder.get(folder, ())]
        found[view.id] = _Evidence(
            view.remotes | _values(own, ClueKind.REMOTE),
            _values(own, ClueKind.PULL),
            _values(own, ClueKind.COMMIT) | _values(own, ClueKind.HEAD),
            groups.find(min(view.folders)),
        )
    return found


def _normal(folder: str) -> str:
    return comparable_path(main_folder(folder))


def _values(clues: Iterable[StoredClue], kind: ClueKind) -> frozenset[str]:
    return frozenset(clue.value for clue in clues if clue.kind is kind)


class _Groups:
    """Sets of names that are joined two at a time."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def find(self, name: str) -> str:
        """The name that stands for the set of a name."""
        parent = self._parents.setdefault(name, name)
        if parent != name:
            parent = self._parents[name] = self.find(parent)
        return parent

    def join(self, one: str, other: str) -> None:
        """Make one set of those of two names."""
        self._parents[self.find(one)] = self.find(other)


def _candidates(
    views: dict[str, BankView], shown: dict[str, _Evidence]
) -> Iterator[tuple[str, str]]:
    """The pairs of banks that share anything."""
    holders: dict[object, list[str]] = {}
    for id in sorted(views):
        evidence = shown[id]
        for value in (*evidence.repositories, *evidence.commits, ("group", evidence.group)):
            holders.setdefault(value, []).append(id)
    yield from sorted({pair for ids in holders.values() for pair in combinations(ids, 2)})


def _compare(
    views: dict[str, BankView], shown: dict[str, _Evidence], one: str, other: str
) -> _Match | None:
    """Why two banks are one project; None where nothing says so."""
    a, b = shown[one], shown[other]
    both = sorted(a.repositories & b.repositories)
    commits = len(a.commits & b.commits)
    conflict = _conflict(views, shown, one, other)
    if both and not conflict:
        is_remote = bool(a.remotes and b.remotes)
        what = "both are clones of" if is_remote else "their pull requests and remotes are of"
        is_clear = len(a.repositories) == 1 and len(b.repositories) == 1
        return _Match(f"{what} {both[0]}", is_clear, 0)
    if a.group == b.group and not conflict:
        return _Match("both are worktrees of one repository")
    has_head = any(len(value) == 40 for value in a.commits & b.commits)
    if commits >= _MIN_SHARED_COMMITS or has_head:
        reason = f"both show {counted(commits, 'same commit')}"
        if conflict:
            remotes = f"{_first(a.remotes)} and {_first(b.remotes)}"
            return _Match(f"{reason}, but their remotes differ ({remotes})", False)
        return _Match(reason)
    return None


def _first(values: Collection[str]) -> str:
    return min(values, default="unknown")


def _conflict(
    views: dict[str, BankView], shown: dict[str, _Evidence], one: str, other: str
) -> bool:
    """Whether two banks are known to be different repositories."""
    remotes = shown[one].remotes, shown[other].remotes
    roots = views[one].roots, views[other].roots
    return any(a and b and not a & b for a, b in (remotes, roots))


def _clear_groups(
    views: dict[str, BankView],
    shown: dict[str, _Evidence],
    clear: dict[frozenset[str], _Match],
    probable: dict[frozenset[str], str],
) -> list[tuple[str, ...]]:
    """The banks that clear joins make one. A join that would bring banks with different remotes
    together, over others, becomes a proposal."""
    members: dict[str, list[str]] = {id: [id] for id in views}
    for pair in sorted(clear, key=lambda pair: (clear[pair].rank, sorted(pair))):
        one, other = sorted(pair)
        if members[one] is members[other]:
            continue
        if any(_conflict(views, shown, a, b) for a in members[one] for b in members[other]):
            probable[pair] = clear[pair].reason
            continue
        both = members[one] + members[other]
        for id in both:
            members[id] = both
    return sorted({tuple(sorted(group)) for group in members.values() if len(group) > 1})


def _joins_of_group(
    views: dict[str, BankView], members: tuple[str, ...], clear: dict[frozenset[str], _Match]
) -> Iterator[Join]:
    into = min(members, key=lambda id: _preference(views[id]))
    for id in sorted(members):
        if id != into and views[id].is_gone:
            pairs = [frozenset((id, other)) for other in (into, *members)]
            match = next(clear[pair] for pair in pairs if pair in clear)
            yield Join(id, into, match.reason, is_clear=not views[id].is_named)


def _preference(view: BankView) -> tuple[bool, bool, bool, int, str]:
    """What comes first is joined into: a bank whose folder exists, one that is no worktree, and
    one with many sessions."""
    is_worktree = any(worktree_of(folder) for folder in view.folders)
    return view.is_gone, not view.remotes, is_worktree, -view.sessions, view.id


def _by_files(
    views: dict[str, BankView],
    shown: dict[str, _Evidence],
    files: Files,
    apart: Collection[frozenset[str]],
    known: Collection[frozenset[str]],
) -> dict[frozenset[str], str]:
    """Pairs of banks whose sessions touched the same files."""
    telling = {id: _telling(files(id)) for id in views}
    found: dict[frozenset[str], str] = {}
    for one, other in combinations(sorted(views), 2):
        shared = len(telling[one] & telling[other])
        if shared < _NAMES_AGREE.files:
            continue
        pair = frozenset((one, other))
        a, b = views[one], views[other]
        is_known = pair in known or pair in apart or not (a.is_gone or b.is_gone)
        if is_known or _conflict(views, shown, one, other):
            continue
        agree = _names_agree(a, b)
        limits = _NAMES_AGREE if agree else _FILES_ALONE
        least = min(len(telling[one]), len(telling[other]))
        if shared >= limits.files and shared >= limits.part * least:
            names = "their names agree, and " if agree else ""
            found[pair] = f"{names}sessions of both touched {shared} same files"
    return found


def _names_agree(a: BankView, b: BankView) -> bool:
    names = [{base_name(folder).lower() for folder in view.folders} for view in (a, b)]
    return any(_extends(x, y) or _extends(y, x) for x in names[0] for y in names[1])


def _extends(name: str, start: str) -> bool:
    """Whether a name is another one, or goes on after it: `shop-feature` and `shop`."""
    if len(start) < 3 or start in _PLAIN_NAMES or not name.startswith(start):
        return False
    return len(name) == len(start) or not name[len(start)].isalnum()


def _telling(files: Iterable[str]) -> set[str]:
    paths = (path.replace("\\", "/").removeprefix("./").lower() for path in files)
    return {path for path in paths if path not in _COMMON_FILES and not path.startswith(("/", "~"))}


def _proposals(
    views: dict[str, BankView],
    shown: dict[str, _Evidence],
    probable: dict[frozenset[str], str],
    into: dict[str, str],
) -> list[Join]:
    """The probable joins between the banks that are left once the clear ones are done: for each
    bank the one into which the others of its group belong."""
    left: dict[frozenset[str], _Match] = {}
    for pair in sorted(probable, key=sorted):
        ends = frozenset(into.get(id, id) for id in pair)
        if len(ends) == 2:
            left.setdefault(ends, _Match(probable[pair]))
    disputed: dict[frozenset[str], str] = {}
    groups = _clear_groups(views, shown, left, disputed)
    found = [
        join._replace(is_clear=False)
        for members in groups
        for join in _joins_of_group(views, members, left)
    ]
    for pair in sorted(disputed, key=sorted):
        target, bank = sorted(pair, key=lambda id: _preference(views[id]))
        found.append(Join(bank, target, disputed[pair], False))
    return found
