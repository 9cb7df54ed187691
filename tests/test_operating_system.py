"""What Windows lacks or does otherwise: files that are held open, processes, owners of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import operating_system
from holdfast.inference.child_process import supervise
from holdfast.operating_system import (
    belongs_to_user,
    detached,
    is_private,
    replace_file,
)


class HeldOpen(type(Path())):
    """A file whose target is open elsewhere for the first so many attempts, as on Windows."""

    attempts: Iterator[bool] = iter(())

    def replace(self, target: str | os.PathLike[str]) -> Path:
        if next(self.attempts):
            raise PermissionError(13, "Access is denied")
        return super().replace(target)


def test_a_file_that_is_held_open_for_a_moment_is_replaced(tmp_path: Path) -> None:
    part, target = HeldOpen(tmp_path / "part"), tmp_path / "target"
    part.write_text("new")
    target.write_text("old")
    part.attempts = iter([True, True, False])
    replace_file(part, target, patience_s=60.0)
    assert target.read_text() == "new" and not part.exists()


def test_a_file_that_stays_open_is_not_waited_for_longer_than_the_patience(tmp_path: Path) -> None:
    part = HeldOpen(tmp_path / "part")
    part.write_text("new")
    part.attempts = iter([True])
    with pytest.raises(PermissionError):
        replace_file(part, tmp_path / "target", patience_s=0.0)
    assert part.read_text() == "new"


def test_a_detached_process_has_no_console_on_windows() -> None:
    assert detached("win32") == {"creationflags": 0x8 | 0x200}
    assert detached("linux") == detached("darwin") == {"start_new_session": True}


def test_a_file_is_private_if_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.touch(0o600)
    assert is_private(path.stat()) and belongs_to_user(path.stat())
    path.chmod(0o640)
    assert not is_private(path.stat()) and belongs_to_user(path.stat())
    other = os.stat_result((0o100600, 0, 0, 1, os.geteuid() + 1, 0, 0, 0, 0, 0))
    assert not is_private(other) and not belongs_to_user(other)


def test_a_program_is_started_without_a_watcher_where_there_are_no_named_pipes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "mkfifo")
    with supervise("claude") as supervised:
        assert supervised.command == "claude" and supervised.work_folder.is_dir()
        supervised.release()


def test_the_user_has_a_name_and_a_number() -> None:
    assert operating_system.user_name()
    assert operating_system.user_number() == os.getuid()
