"""The token of programs that ask `holdfast browse`."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.app.core.token import read_or_make_token, token_file
from holdfast.errors import InputError


def test_the_token_file_is_created_once_and_must_be_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(read_or_make_token, [home] * 8))
    assert len(tokens) == 1 and len(tokens.pop()) >= 40
    path = token_file(home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and [path] == list(home.iterdir())
    path.chmod(0o644)
    with pytest.raises(InputError, match="can be read by other users"):
        read_or_make_token(home)
    path.unlink()
    path.write_text("short")
    path.chmod(0o600)
    with pytest.raises(InputError, match="contains no token"):
        read_or_make_token(home)
