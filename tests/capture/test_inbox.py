from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import (
    RawEvent,
    drop_oldest_payloads,
    list_events,
    make_inbox,
    may_grow,
    read_chunks,
)


def mounted(folder: Path, kind: str = "tmpfs") -> tuple[Path, Path]:
    """A folder that a table of mounts calls memory."""
    memory = folder / "shm"
    memory.mkdir()
    table = folder / "mountinfo"
    lines = [
        "21 1 0:19 / / rw,relatime - ext4 /dev/root rw",
        f"30 21 0:25 / {memory} rw,nosuid shared:4 - {kind} shm rw,size=65536k",
    ]
    table.write_text("\n".join(lines) + "\n")
    return memory, table


def test_the_inbox_is_a_private_folder_on_tmpfs(tmp_path: Path) -> None:
    memory, table = mounted(tmp_path)
    places = HomePaths(tmp_path / "home")
    folder = make_inbox(places, memory, table)
    assert folder.parent == memory and folder.name.startswith(f"holdfast-{os.getuid()}-")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert places.inbox() == folder and not places.names_only_flag.exists()
    assert make_inbox(places, memory, table) == folder


def test_two_homes_have_two_inboxes(tmp_path: Path) -> None:
    memory, table = mounted(tmp_path)
    one = make_inbox(HomePaths(tmp_path / "one"), memory, table)
    other = make_inbox(HomePaths(tmp_path / "other"), memory, table)
    assert one != other


@pytest.mark.parametrize("kind", ["ext4", "overlay"])
def test_without_a_tmpfs_only_event_names_are_stored(tmp_path: Path, kind: str) -> None:
    memory, table = mounted(tmp_path, kind)
    places = HomePaths(tmp_path / "home")
    assert make_inbox(places, memory, table) == places.home / "inbox"
    assert places.names_only_flag.exists() and list(memory.iterdir()) == []
    # The machine has such a folder now.
    table.write_text(table.read_text().replace(kind, "tmpfs"))
    assert make_inbox(places, memory, table).parent == memory
    assert not places.names_only_flag.exists()


def test_a_machine_without_a_mount_table_has_no_tmpfs(tmp_path: Path) -> None:
    places = HomePaths(tmp_path / "home")
    assert make_inbox(places, tmp_path, tmp_path / "none") == places.home / "inbox"


def test_a_tmpfs_where_every_name_is_taken_is_not_used(tmp_path: Path) -> None:
    memory, table = mounted(tmp_path)
    places = HomePaths(tmp_path / "home")
    first = make_inbox(places, memory, table)
    first.rmdir()
    for name in (first.name, *(f"{first.name}-{n}" for n in range(2, 10))):
        (memory / name).write_text("squatter")
    assert make_inbox(places, memory, table) == places.home / "inbox"
    assert places.names_only_flag.exists()


def test_a_folder_name_taken_by_another_is_not_used(tmp_path: Path) -> None:
    memory, table = mounted(tmp_path)
    places = HomePaths(tmp_path / "home")
    first = make_inbox(places, memory, table)
    first.rmdir()
    first.symlink_to(tmp_path)
    second = make_inbox(places, memory, table)
    assert second != first and places.inbox() == second
    first.unlink()
    assert make_inbox(places, memory, table) == second, "what serves stays"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user's folder")
def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    memory, table = mounted(tmp_path)
    places = HomePaths(tmp_path / "home")
    first = make_inbox(places, memory, table)
    os.chown(first, 4711, 4711)
    assert make_inbox(places, memory, table) != first


def test_a_folder_that_others_may_read_is_made_private(tmp_path: Path) -> None:
    memory, table = mounted(tmp_path)
    folder = make_inbox(HomePaths(tmp_path / "home"), memory, table)
    folder.chmod(0o777)
    make_inbox(HomePaths(tmp_path / "home"), memory, table)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def leave(folder: Path, name: str, size: int, second: int) -> Path:
    path = folder / name
    path.write_bytes(b"x" * size)
    os.utime(path, ns=(second * 10**9, second * 10**9))
    return path


def test_events_are_listed_oldest_first_and_foreign_files_separately(tmp_path: Path) -> None:
    leave(tmp_path, "1.Stop.abc-1.77", 1, 30)
    leave(tmp_path, "1.SessionStart.abc-1.99.2", 1, 10)
    leave(tmp_path, "2.Stop.abc-1.77", 1, 20)
    leave(tmp_path, "ask.sock", 1, 20)
    leave(tmp_path, "1.Stop.a b.77", 1, 20)
    (tmp_path / "1.Stop.abc-1.78").mkdir()
    (tmp_path / "1.Stop.abc-1.79").symlink_to("/etc/hostname")
    found = list_events(tmp_path)
    assert [(e.event, e.session) for e in found.events] == [
        ("SessionStart", "abc-1"),
        ("Stop", "abc-1"),
    ]
    assert found.foreign == 2
    assert list_events(tmp_path / "nowhere").events == []


def test_a_file_that_disappears_while_it_is_read_is_empty(tmp_path: Path) -> None:
    leave(tmp_path, "1.Stop.abc.77", 3, 30)
    (event,) = list_events(tmp_path).events
    event.path.unlink()
    assert b"".join(read_chunks(event)) == b""


def test_a_recent_file_may_still_grow_but_not_one_dated_in_the_future() -> None:
    event = RawEvent(Path("x"), "Stop", "s", 1, 1000 * 10**9)
    assert may_grow(event, 1001) and may_grow(event, 1059)
    assert not may_grow(event, 1061) and not may_grow(event, 900)


def test_the_oldest_payloads_are_dropped_over_the_limit_but_every_name_is_kept(
    tmp_path: Path,
) -> None:
    for number in range(6):
        leave(tmp_path, f"1.Stop.abc.{number}", 100, number + 1)
    before = [event.id for event in list_events(tmp_path).events]
    assert drop_oldest_payloads(tmp_path, 250) == 4
    events = list_events(tmp_path).events
    assert [event.size for event in events] == [0, 0, 0, 0, 100, 100]
    assert [event.id for event in events] == before
    assert drop_oldest_payloads(tmp_path, 250) == 0
    assert drop_oldest_payloads(tmp_path, 0) == 2
