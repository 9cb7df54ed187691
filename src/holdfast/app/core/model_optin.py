"""Allows or forbids a model service: changes one line of `config.toml` and nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from holdfast.errors import SettingsError
from holdfast.private_files import write_private
from holdfast.regex import regex
from holdfast.settings import FILE_NAME, SERVICES

_HEADER = regex(r"^[ \t]*\[[ \t]*models[ \t]*\][^\n]*\n?", re.MULTILINE)
_NEXT_HEADER = regex(r"^[ \t]*\[", re.MULTILINE)
_USE_LINE = regex(r"^[ \t]*use[ \t]*=[^\n]*", re.MULTILINE)


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
    after = _set_use(before, f'use = "{use}"')
    try:
        expected = {**known, "models": {**known.get("models", {}), "use": use}}
        is_safe = tomllib.loads(after) == expected
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


def _set_use(text: str, line: str) -> str:
    """The text of the file with this line in its table [models]."""
    header = _HEADER.search(text)
    if header is None:
        separator = (
            "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        )
        return f"{text}{separator}[models]\n{line}\n"
    start = header.end()
    following = _NEXT_HEADER.search(text, start)
    end = following.start() if following else len(text)
    inner = text[start:end]
    separator = "" if text[:start].endswith("\n") else "\n"
    if _USE_LINE.search(inner):
        return text[:start] + _USE_LINE.sub(line, inner, count=1) + text[end:]
    return f"{text[:start]}{separator}{line}\n{inner}{text[end:]}"
