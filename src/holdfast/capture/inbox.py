"""The inbox: where hooks leave events and go.

One file an event, its name telling what and whose, its content the raw payload. The folder lies
in memory where the system has such a place, because a payload may hold secrets and only what
comes after can take them out; elsewhere hooks leave names alone. Nothing here parses meaning.
An event is removed by whoever has stored it, never before.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.capture.home_paths import EVENT_VERSION, HomePaths

MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
MAX_INBOX_BYTES = 64 * 1024 * 1024
WRITE_GRACE_S = 60
_CLOCK_SLACK_S = 5
_CHUNK = 1024 * 1024
_NAMES_TRIED = 9

SHARED_MEMORY = Path("/dev/shm")
MOUNTS = Path("/proc/self/mountinfo")
_IN_MEMORY = ("tmpfs", "ramfs")

_NAME = re.compile(rf"{EVENT_VERSION}\.([A-Za-z]{{1,40}})\.([A-Za-z0-9-]{{1,100}})\.\d+(?:\.\d+)?\Z")
_OF_ANOTHER_VERSION = re.compile(r"\d+\.[A-Za-z]+\.")


class RawEvent(NamedTuple):
    """A file of the inbox, as its name and its entry in the folder tell it."""

    path: Path
    event: str
    session: str
    size: int
    changed_ns: int

    @property
    def id(self) -> str:
        """What no other event is called, though processes come to share a number."""
        return f"{self.path.name}@{self.changed_ns}"


class InboxListing(NamedTuple):
    """What lies in the inbox, oldest first, and how many files are another version's."""

    events: list[RawEvent]
    foreign: int = 0


def list_events(folder: Path) -> InboxListing:
    """Look into the inbox; one that is not there is empty."""
    events: list[RawEvent] = []
    foreign = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                named = _NAME.match(entry.name)
                if named is None:
                    foreign += _OF_ANOTHER_VERSION.match(entry.name) is not None
                    continue
                with contextlib.suppress(OSError):  # another worker took it
                    known = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(known.st_mode):
                        event, session = named.group(1, 2)
                        size, changed = known.st_size, known.st_mtime_ns
                        events.append(RawEvent(Path(entry), event, session, size, changed))
    except OSError:
        return InboxListing([])
    events.sort(key=lambda event: (event.changed_ns, event.path.name))
    return InboxListing(events, foreign)


def inbox_folders(places: HomePaths) -> list[Path]:
    """Where raw events may lie: the folder that hooks are told, and the one that they were told
    when there was none in memory."""
    named = [places.inbox(), places.home / "inbox"]
    return list(dict.fromkeys(folder for folder in named if folder is not None))


def read_chunks(event: RawEvent) -> Iterator[bytes]:
    """The content, never much of it at once; nothing of a file that is no longer there."""
    try:
        with open(os.open(event.path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123
            while chunk := file.read(_CHUNK):
                yield chunk
    except OSError:
        return


def may_grow(event: RawEvent, now_s: float) -> bool:
    """Whether the hook may still be writing. A time to come proves that the clock was set back,
    not that the file is young."""
    age = now_s - event.changed_ns / 1e9
    return -_CLOCK_SLACK_S <= age < WRITE_GRACE_S


def remove_event(event: RawEvent) -> None:
    """Take an event out that is stored."""
    with contextlib.suppress(OSError):
        event.path.unlink()


def drop_oldest_payloads(folder: Path, most_bytes: int = MAX_INBOX_BYTES) -> int:
    """Keep only the names of the oldest events where all together take too much memory; returns
    how many lost their words."""
    events = list_events(folder).events
    held = sum(event.size for event in events)
    emptied = 0
    for event in events:
        if held <= most_bytes:
            break
        if not event.size:
            continue
        with contextlib.suppress(OSError):
            os.truncate(event.path, 0)
            os.utime(event.path, ns=(event.changed_ns, event.changed_ns))
            held -= event.size
            emptied += 1
    return emptied


def make_inbox(places: HomePaths, memory: Path = SHARED_MEMORY, mounts: Path = MOUNTS) -> Path:
    """Choose and prepare the folder for raw events, and tell the hooks. What was chosen before
    stays as long as it serves."""
    places.hooks.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = _in_memory(places, memory) if _is_memory(memory, mounts) else None
    if folder is not None:
        _tell(places, folder)
        places.names_only.unlink(missing_ok=True)
        return folder
    # First the mark, then the folder: no hook may write words to a disk in between.
    places.names_only.touch(mode=0o600)
    folder = places.home / "inbox"
    folder.mkdir(mode=0o700, exist_ok=True)
    _tell(places, folder)
    return folder


def _is_memory(folder: Path, mounts: Path) -> bool:
    """Whether a folder is mounted from memory and open to us."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    kinds = [
        line.partition(" - ")[2].split(" ", 1)[0]
        for line in lines
        if line.split(" ")[4:5] == [str(folder)]
    ]
    # Of several mounts on one place the last is the one that shows.
    return bool(kinds) and kinds[-1] in _IN_MEMORY and os.access(folder, os.W_OK | os.X_OK)


def _in_memory(places: HomePaths, memory: Path) -> Path | None:
    """A folder of this home that is ours and nobody else's; another user may have taken the
    name first, to read along or to be in the way."""
    home = hashlib.sha256(os.fsencode(places.home.absolute())).hexdigest()[:8]
    name = f"holdfast-{os.getuid()}-{home}"
    before = places.inbox()
    names = [memory / name, *(memory / f"{name}-{n}" for n in range(2, _NAMES_TRIED + 1))]
    if before in names:
        names.insert(0, before)
    return next((folder for folder in names if _is_ours(folder)), None)


def _is_ours(folder: Path) -> bool:
    """Make a folder that nobody else can look into, or find it so."""
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        known = folder.lstat()
        if not stat.S_ISDIR(known.st_mode) or known.st_uid != os.getuid():
            return False
        if stat.S_IMODE(known.st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError:
        return False
    return True


def _tell(places: HomePaths, folder: Path) -> None:
    """Write the line that hooks read, whole or not at all."""
    if places.inbox() == folder:
        return
    new = places.inbox_line.with_name(f"inbox.{os.getpid()}")
    new.write_text(f"{folder}\n", "utf-8")
    new.chmod(0o600)
    new.replace(places.inbox_line)
