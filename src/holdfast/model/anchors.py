"""What became of the code that a record speaks about."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.model.trust import Freshness

# Nobody counts further.
MAX_COUNTED_COMMITS = 50


class FileFreshness(NamedTuple):
    """A file that a record speaks about, and what became of it since: how it is called `now` if
    that is another name, in how many later `commits` it changed, by how many `lines`, and `since`
    when. `commit` and `blob` are the last commit that had touched it by the time of the record,
    and git's name of what it held then, where they are known."""

    path: str
    freshness: Freshness = Freshness.UNKNOWN
    now: str = ""
    commits: int = 0
    lines: int = 0
    since: str = ""
    commit: str = ""
    blob: str = ""

    @property
    def often(self) -> str:
        """In how many later commits it changed, as far as anybody counts."""
        return (
            f"{self.commits} or more" if self.commits >= MAX_COUNTED_COMMITS else str(self.commits)
        )

    @property
    def told(self) -> str:
        """What became of it, in words; "" where nothing did or nothing is known."""
        lines = f", {self.lines:,} line{'s' * (self.lines != 1)}" if self.lines else ""
        later = f"changed in {self.often} later commit{'s' * (self.commits != 1)}{lines}"
        if self.freshness is Freshness.GONE:
            return f"{self.path} is gone" + (f" since {self.since[:10]}" if self.since else "")
        if self.freshness is Freshness.RENAMED:
            return f"{self.path} is now {self.now}" + (f", {later}" if self.commits else "")
        if self.freshness is Freshness.CHANGED:
            told = later if self.commits else "changed on disk since, not committed"
            return f"{self.path} {told}"
        return ""


class CodeAnchor(NamedTuple):
    """Where in the history of the code a record stands: the branch it was made on, the commit that
    was the last one then, and its files."""

    branch: str = ""
    commit: str = ""
    files: tuple[FileFreshness, ...] = ()

    @property
    def freshness(self) -> Freshness:
        """What became of all of its files together: gone if all are, changed if any changed or
        went, renamed if that is all; fresh if nothing happened to those that are known."""
        known = {file.freshness for file in self.files} - {Freshness.UNKNOWN}
        if len(known) < 2:
            return next(iter(known), Freshness.UNKNOWN)
        if known & {Freshness.CHANGED, Freshness.GONE}:
            return Freshness.CHANGED
        return Freshness.RENAMED

    @property
    def is_known(self) -> bool:
        """Whether any of it is."""
        return bool(self.commit or any(file.commit or file.blob for file in self.files))

    @property
    def worst(self) -> tuple[FileFreshness, ...]:
        """The files that something became of, the most changed first."""
        some = [file for file in self.files if file.told]
        return tuple(sorted(some, key=_severity))

    @property
    def told(self) -> str:
        """The same in words, of the worst of them, and of how many more."""
        worst = self.worst
        more = f"; {len(worst) - 1} more of its files too" if len(worst) > 1 else ""
        return worst[0].told + more if worst else ""


_ORDER = (Freshness.GONE, Freshness.CHANGED, Freshness.RENAMED)


def _severity(file: FileFreshness) -> tuple[int, int, int, str]:
    return _ORDER.index(file.freshness), -file.lines, -file.commits, file.path
