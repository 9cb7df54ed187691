"""Allows or forbids a model service: changes one line of `config.toml` and nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path

from holdfast.errors import SettingsError
from holdfast.private_files import write_private
from holdfast.regex import regex
from holdfast.settings import FILE_NAME, SERVICES

_HEADER = regex(r"[ \t]*\[[ \t]*models[ \t]*\]")
_USE_LINE = regex(r"[ \t]*use[ \t]*=")


def choose_service(home: Path, use: str) -> bool:
    """Set `models.use` in the settings file; returns whether that changed anything. Raises
    `SettingsError` if the file cannot be changed without changing something else."""
    if use not in SERVICES:
        raise SettingsError(f"{use!r} is not a model service.", f"Known: {', '.join(SERVICES)}.")
    path = home / FILE_NAME
    try:
        before = path.read_text("utf-8") if path.exists() else ""
        known = tomllib.loads(before)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.", "Correct it first.") from error
    if known.get("models", {}).get("use") == use:
        return False
    after = _with_line(before, f'use = "{use}"')
    try:
        is_safe = tomllib.loads(after) == {
            **known,
            "models": {**known.get("models", {}), "use": use},
        }
    except tomllib.TOMLDecodeError:
        is_safe = False
    if not is_safe:
        raise SettingsError(
            f"{path} is written in a way that cannot be changed safely.",
            f'Set use = "{use}" in its table [models] by hand.',
        )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(path, after.encode())
    return True


def _with_line(text: str, line: str) -> str:
    """The text of the file with this line in its table [models]."""
    lines = text.splitlines(keepends=True)
    tables = [n for n, one in enumerate(lines) if one.lstrip(" \t").startswith("[")]
    ours = next((n for n in tables if _HEADER.match(lines[n])), None)
    if ours is None:
        space = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{space}[models]\n{line}\n"
    end = next((n for n in tables if n > ours), len(lines))
    use = next((n for n in range(ours + 1, end) if _USE_LINE.match(lines[n])), None)
    if use is None:
        lines[ours] = lines[ours].rstrip("\r\n") + f"\n{line}\n"
    else:
        lines[use] = f"{line}\n"
    return "".join(lines)
