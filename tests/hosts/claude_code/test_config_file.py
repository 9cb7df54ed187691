from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.hosts.claude_code.config_file import load, save
from holdfast.hosts.claude_code.install_record import InstallRecord


def test_a_file_changed_by_another_program_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    file = load(path)
    path.write_text('{"theirs": 1}')
    with pytest.raises(InputError, match="another program"):
        save(file, b"{}")
    assert path.read_text() == '{"theirs": 1}' and list(tmp_path.iterdir()) == [path]


def test_the_lock_of_claude_code_is_held_only_while_writing(tmp_path: Path) -> None:
    path = tmp_path / ".claude.json"
    save(load(path), b'{"a": 1}', lock=True)
    assert path.read_bytes() == b'{"a": 1}' and path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_an_abandoned_lock_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / ".claude.json"
    lock = tmp_path / ".claude.json.lock"
    lock.mkdir()
    old = time.time() - 60
    os.utime(lock, (old, old))
    save(load(path), b"{}", lock=True)
    assert path.read_bytes() == b"{}" and lock.is_dir()


def test_a_folder_in_the_place_of_a_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)


def test_a_damaged_install_record_is_ignored(tmp_path: Path) -> None:
    record = InstallRecord(tmp_path)
    path = tmp_path / "settings.json"
    record.add(path, b"old", b"new")
    assert (
        InstallRecord(tmp_path).is_untouched(path, b"new")
        and InstallRecord(tmp_path).before(path) == b"old"
    )
    for damaged in ("", "{", "[]", '{"v": 9}', '{"v": 1, "files": {"x": 3}}'):
        (tmp_path / "backups" / "claude-code.json").write_text(damaged)
        assert InstallRecord(tmp_path).files == {}
