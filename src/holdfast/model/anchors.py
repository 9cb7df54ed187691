"""What happened, since a record was made, to the code that it is about."""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.trust import Freshness

# Later commits of a file are counted up to here. More say nothing new to a reader, and each one
# costs a row to read.
MAX_COUNTED_COMMITS = 50


class FileFreshness(NamedTuple):
    """A file that a record is about, and what happened to it since: its name `now`, if that is
    another; in how many later `commits` it changed, by how many `lines`, and `since` when.
    `commit` is the last commit that had touched it when the record was made and `blob` git's name
    of its content then, where they are known."""

    path: str
    freshness: Freshness = Freshness.UNKNOWN
    now: str = ""
    commits: int = 0
    lines: int = 0
    since: str = ""
    commit: str = ""
    blob: str = ""

    @property
    def commit_count(self) -> str:
        """The number of later commits, as text: "50 or more" at the limit of counting."""
        more = self.commits >= MAX_COUNTED_COMMITS
        return f"{self.commits} or more" if more else str(self.commits)

    @property
    def description(self) -> str:
        """What happened to the file, as text; "" where nothing did or nothing is known."""
        lines = f", {self.lines:,} line{'s' * (self.lines != 1)}" if self.lines else ""
        later = f"changed in {self.commit_count} later commit{'s' * (self.commits != 1)}{lines}"
        if self.freshness is Freshness.GONE:
            return f"{self.path} is gone" + (f" since {self.since[:10]}" if self.since else "")
        if self.freshness is Freshness.RENAMED:
            return f"{self.path} is now {self.now}" + (f", {later}" if self.commits else "")
        if self.freshness is Freshness.CHANGED:
            change = later if self.commits else "changed on disk since, not committed"
            return f"{self.path} {change}"
        return ""

    @property
    def outcome(self) -> str:
        """What became of the file, as text, also where nothing did or nothing is known."""
        if self.freshness is Freshness.FRESH:
            return f"{self.path} is as it was"
        return self.description or f"{self.path} is in no history that was read"


class CodeAnchor(NamedTuple):
    """Where in the history of the code a record belongs: the branch it was made on, the last
    commit at that time, and the files that it is about."""

    branch: str = ""
    commit: str = ""
    files: tuple[FileFreshness, ...] = ()

    @property
    def freshness(self) -> Freshness:
        """The freshness of all files together: gone if all are; changed if any changed or is
        gone; renamed if some were only renamed; fresh if nothing happened to the known ones."""
        known = {file.freshness for file in self.files} - {Freshness.UNKNOWN}
        if len(known) < 2:
            return next(iter(known), Freshness.UNKNOWN)
        if known & {Freshness.CHANGED, Freshness.GONE}:
            return Freshness.CHANGED
        return Freshness.RENAMED

    @property
    def is_known(self) -> bool:
        """Whether a commit or the content of any file is known."""
        return bool(self.commit or any(file.commit or file.blob for file in self.files))

    @property
    def affected_files(self) -> tuple[FileFreshness, ...]:
        """The files to which something happened, the most changed first."""
        affected = [file for file in self.files if file.description]
        return tuple(sorted(affected, key=_severity))

    @property
    def description(self) -> str:
        """What happened to the most affected file, and how many others are affected."""
        affected = self.affected_files
        more = f"; {len(affected) - 1} more of its files too" if len(affected) > 1 else ""
        return affected[0].description + more if affected else ""


_SEVERITY_ORDER = (Freshness.GONE, Freshness.CHANGED, Freshness.RENAMED)


def _severity(file: FileFreshness) -> tuple[int, int, int, str]:
    return _SEVERITY_ORDER.index(file.freshness), -file.lines, -file.commits, file.path
