"""The inbox: a folder where hooks leave events.

Each event is one file: its name says which event of which session it is, its content is the raw
payload. The folder lies in memory where the system has such a place, because a payload may contain
secrets that are only redacted later; elsewhere hooks leave empty files. Nothing here interprets
payloads. An event is removed by the process that has stored it, never before.
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
from holdfast.operating_system import NO_FOLLOW, OPEN_FLAGS, belongs_to_user, user_number
from holdfast.private_files import write_private

# The inbox lies in memory. Beyond this size the oldest payloads are dropped, which only happens
# when no worker runs; their text is read from the transcripts then.
MAX_INBOX_BYTES = 64 * 1024 * 1024
# A file that changed within this time may still be written by its hook. A hook takes
# milliseconds; the rest is for machines under heavy load.
WRITE_GRACE_S = 60
# How far a file's time may lie in the future before it counts as the trace of a changed clock.
_CLOCK_SLACK_S = 5
_CHUNK_BYTES = 1024 * 1024
# How many folder names are tried where other users have taken the first ones.
_MAX_FOLDER_NAMES = 9

SHARED_MEMORY = Path("/dev/shm")
MOUNTS = Path("/proc/self/mountinfo")
_MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")

_EVENT_NAME = re.compile(
    rf"{EVENT_VERSION}\.([A-Za-z]{{1,40}})\.([A-Za-z0-9-]{{1,100}})\.\d+(?:\.\d+)?\Z"
)
_OTHER_VERSION_NAME = re.compile(r"\d+\.[A-Za-z]+\.")


class RawEvent(NamedTuple):
    """A file of the inbox, as its name and its directory entry describe it."""

    path: Path
    event: str
    session: str
    size: int
    changed_ns: int

    @property
    def id(self) -> str:
        """A unique name of the event, even where process ids are reused."""
        return f"{self.path.name}@{self.changed_ns}"


class InboxListing(NamedTuple):
    """The events of the inbox, oldest first, and how many files are of another version."""

    events: list[RawEvent]
    foreign: int = 0


def list_events(folder: Path) -> InboxListing:
    """List the inbox; a missing one is empty."""
    events: list[RawEvent] = []
    foreign = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                named = _EVENT_NAME.match(entry.name)
                if named is None:
                    foreign += _OTHER_VERSION_NAME.match(entry.name) is not None
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
    """Where raw events may lie: the folder that hooks use now, and the one in the home that they
    use where there is none in memory."""
    named = [places.inbox(), places.home / "inbox"]
    return list(dict.fromkeys(folder for folder in named if folder is not None))


def read_chunks(event: RawEvent) -> Iterator[bytes]:
    """The content of an event, chunk by chunk; nothing if the file is gone."""
    try:
        with open(os.open(event.path, os.O_RDONLY | OPEN_FLAGS | NO_FOLLOW), "rb") as file:  # noqa: PTH123
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
    except OSError:
        return


def may_grow(event: RawEvent, now_s: float) -> bool:
    """Whether the hook may still be writing. A time in the future proves that the clock was set
    back, not that the file is new."""
    age = now_s - event.changed_ns / 1e9
    return -_CLOCK_SLACK_S <= age < WRITE_GRACE_S


def remove_event(event: RawEvent) -> None:
    """Remove an event that has been stored."""
    with contextlib.suppress(OSError):
        event.path.unlink()


def drop_oldest_payloads(folder: Path, max_bytes: int = MAX_INBOX_BYTES) -> int:
    """Empty the oldest events until all together fit into `max_bytes`; returns how many were
    emptied."""
    events = list_events(folder).events
    held = sum(event.size for event in events)
    emptied = 0
    for event in events:
        if held <= max_bytes:
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
    """Choose and prepare the folder for raw events, and write the pointer that hooks read. The
    folder chosen before is kept as long as it can be used."""
    places.hooks.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = _memory_folder(places, memory) if _is_in_memory(memory, mounts) else None
    if folder is not None:
        _write_pointer(places, folder)
        places.names_only_flag.unlink(missing_ok=True)
        return folder
    # First the flag, then the folder: no hook may write a payload to a disk in between.
    places.names_only_flag.touch(mode=0o600)
    folder = places.home / "inbox"
    folder.mkdir(mode=0o700, exist_ok=True)
    _write_pointer(places, folder)
    return folder


def _is_in_memory(folder: Path, mounts: Path) -> bool:
    """Whether a folder is mounted from memory and writable."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    kinds = [
        line.partition(" - ")[2].split(" ", 1)[0]
        for line in lines
        if line.split(" ")[4:5] == [str(folder)]
    ]
    # Of several mounts on one folder the last is visible.
    return bool(kinds) and kinds[-1] in _MEMORY_FILESYSTEMS and os.access(folder, os.W_OK | os.X_OK)


def _memory_folder(places: HomePaths, memory: Path) -> Path | None:
    """A private folder for this home; another user may have taken its name first, to read along
    or to block it."""
    home = hashlib.sha256(os.fsencode(places.home.absolute())).hexdigest()[:8]
    name = f"holdfast-{user_number()}-{home}"
    before = places.inbox()
    names = [memory / name, *(memory / f"{name}-{n}" for n in range(2, _MAX_FOLDER_NAMES + 1))]
    if before in names:
        names.insert(0, before)
    return next((folder for folder in names if _is_private(folder)), None)


def _is_private(folder: Path) -> bool:
    """Make a folder that only we can access, or check that it is one."""
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        known = folder.lstat()
        if not stat.S_ISDIR(known.st_mode) or not belongs_to_user(known):
            return False
        if stat.S_IMODE(known.st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError:
        return False
    return True


def _write_pointer(places: HomePaths, folder: Path) -> None:
    """Write the file that names the inbox to hooks."""
    if places.inbox() != folder:
        write_private(places.inbox_pointer, f"{folder}\n".encode())
