"""A folder that is written again and again, in which other files may lie.

What we wrote is listed, with a hash, in a file beside it. Only what is listed and still as we left
it is replaced or removed; whatever somebody made or changed stays as it is, and is told. Each file
is written beside its place and then put there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import InputError, StoreError
from holdfast.sources.json_fields import items, mapping

MANIFEST = ".holdfast-export.json"
_FORBIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\\/:*?\"<>|#^\[\]\u2028\u2029\u202a-\u202e\u2066-\u2069]+"
)
_LONGEST = 80

# What takes the secrets out of a text; and who is told how many of how many are done.
CleanText = Callable[[str], str]
OnProgress = Callable[[int, int], None]


class FolderReport(NamedTuple):
    """What was written, what was removed because it is no more, and what was left alone because
    somebody made or changed it; as paths below the folder."""

    folder: Path
    written: int
    removed: int
    left_alone: tuple[str, ...]
    bytes: int


def safe_name(title: str, id: str) -> str:
    """A file's name of a title that every system can hold, and that no other record has."""
    words = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(". ")
    short = words.encode("utf-8", "ignore")[:_LONGEST].decode("utf-8", "ignore").strip(". ")
    return f"{short} {id[:8]}".strip()


class ExportFolder:
    """Takes texts by the paths they shall have, and puts them into a folder in the end."""

    def __init__(self, path: Path, format: str) -> None:
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is not a folder.", "Name a folder, or one to be made.")
        self._path = path
        self._format = format
        self._new: dict[str, bytes] = {}

    def put(self, name: str, text: str) -> None:
        """A file of ours; `name` has `/` between its parts."""
        self._new[name] = text.encode("utf-8", "replace")

    def write(self) -> FolderReport:
        """Bring the folder to what was put."""
        known = self._known()
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            left = [name for name in self._new if self._is_theirs(name, known)]
            written = [name for name in self._new if name not in left]
            # Listed first: what is written when we are killed is known for ours the next time.
            self._note({**known, **{name: _hash(self._new[name]) for name in written}}, known)
            for name in written:
                _replace(self._path / name, self._new[name])
            gone = [name for name in known if name not in self._new]
            removed = [name for name in gone if self._remove(name, known[name])]
            self._note({name: _hash(self._new[name]) for name in written}, {})
        except OSError as error:
            raise StoreError(
                f"Nothing can be written to {self._path}: {error.strerror or error}.",
                "Choose another folder, or make room.",
            ) from error
        total = sum(len(self._new[name]) for name in written)
        return FolderReport(self._path, len(written), len(removed), tuple(left), total)

    def _known(self) -> dict[str, list[str]]:
        """What we wrote before, each with the hashes that are ours."""
        try:
            told = mapping(json.loads((self._path / MANIFEST).read_bytes()))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._path / MANIFEST} cannot be read: {error}.",
                "Remove it: then nothing that lies there is taken for ours.",
            ) from error
        if told.get("format") != self._format:
            raise InputError(
                f"{self._path} holds an export of another format.", "Name another folder."
            )
        files = mapping(told.get("files"))
        return {name: items(files[name]) for name in files if _is_below(name)}

    def _note(self, now: dict[str, Any], before: dict[str, list[str]]) -> None:
        files = {
            name: sorted({*([mark] if isinstance(mark, str) else mark), *before.get(name, ())})
            for name, mark in now.items()
        }
        told = {"format": self._format, "version": 1, "files": dict(sorted(files.items()))}
        text = json.dumps(told, ensure_ascii=False, indent=1) + "\n"
        _replace(self._path / MANIFEST, text.encode("utf-8", "replace"))

    def _is_theirs(self, name: str, known: dict[str, list[str]]) -> bool:
        path = self._path / name
        if self._is_linked(path):
            return True
        if not path.exists():
            return False
        data = path.read_bytes() if path.is_file() else b""
        return _hash(data) not in known.get(name, ()) and data != self._new.get(name)

    def _is_linked(self, path: Path) -> bool:
        """Whether a file of ours would lie somewhere else."""
        above = path.parents[: len(path.parents) - len(self._path.parents) - 1]
        return any(part.is_symlink() for part in (path, *above))

    def _remove(self, name: str, hashes: list[str]) -> bool:
        path = self._path / name
        if self._is_linked(path) or not path.is_file() or _hash(path.read_bytes()) not in hashes:
            return False
        path.unlink()
        with suppress(OSError):  # what is not empty stays
            path.parent.rmdir()
        return True


def _is_below(name: str) -> bool:
    parts = name.split("/")
    return bool(name) and not name.startswith("/") and ".." not in parts and "\\" not in name


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
        return
    part = path.with_name(f".{path.name[:60]}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()
