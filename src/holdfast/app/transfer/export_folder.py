"""A folder that exports write repeatedly and that may hold files of other people.

A manifest in the folder lists every exported file with a hash. Only files that are in the manifest
and unchanged since are replaced or removed; files that somebody made or edited are left alone and
reported. Each file is written under a temporary name and then renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError, StoreError
from holdfast.operating_system import replace_file
from holdfast.regex import regex
from holdfast.sources.json_fields import items, mapping

MANIFEST = ".holdfast-export.json"
# Characters that some file system forbids in names, that have a meaning in Obsidian links, or that
# change the direction of text.
_FORBIDDEN = regex(r"[\x00-\x1f\x7f-\x9f\\/:*?\"<>|#^\[\]\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
# Bytes of a title in a file name. With id, suffix and temporary name this stays below the 255 bytes
# that file systems allow for a name.
_MAX_TITLE_BYTES = 80

# Takes the secrets out of a text.
CleanText = Callable[[str], str]
# Called with how many of how many are done.
OnProgress = Callable[[int, int], None]


class FolderReport(NamedTuple):
    """How many files were written, and removed because their records are gone; and the paths, below
    the folder, of files that were left alone because somebody made or changed them."""

    folder: Path
    written: int
    removed: int
    left_alone: tuple[str, ...]
    bytes: int


def safe_name(title: str, id: str) -> str:
    """A file name for a record: its title, as far as every system allows it, and part of its id."""
    words = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(". ")
    short = words.encode("utf-8", "ignore")[:_MAX_TITLE_BYTES].decode("utf-8", "ignore").strip(". ")
    return f"{short} {id[:8]}".strip()


class ExportFolder:
    """Collects texts by their paths, and then writes them all into a folder."""

    def __init__(self, path: Path, format: str) -> None:
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is not a folder.", "Name a folder, or one to be made.")
        self._path = path
        self._format = format
        self._new: dict[str, bytes] = {}

    def put(self, name: str, text: str) -> None:
        """Add a file; `name` has `/` between its parts."""
        self._new[name] = text.encode("utf-8", "replace")

    def put_all(self, files: Iterable[tuple[str, str]], on_progress: OnProgress) -> None:
        """Add files, each with its name and its text."""
        for number, (name, text) in enumerate(files, 1):
            self.put(name, text)
            on_progress(number, number)

    def write(self) -> FolderReport:
        """Make the exported files in the folder exactly those that were added."""
        known = self._read_manifest()
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            foreign = [name for name in self._new if self._is_foreign(name, known)]
            written = [name for name in self._new if name not in foreign]
            hashes = {name: [_hash(self._new[name])] for name in written}
            # The manifest comes first, with old and new hashes: if the export is killed, the next
            # one recognises every file that this one wrote.
            self._write_manifest(
                {name: known.get(name, []) + hashes.get(name, []) for name in {**known, **hashes}}
            )
            for name in written:
                _replace(self._path / name, self._new[name])
            gone = [name for name in known if name not in self._new]
            removed = [name for name in gone if self._remove(name, known[name])]
            self._write_manifest(hashes)
        except OSError as error:
            raise StoreError(
                f"Nothing can be written to {self._path}: {error.strerror or error}.",
                "Choose another folder, or make room.",
            ) from error
        total = sum(len(self._new[name]) for name in written)
        return FolderReport(self._path, len(written), len(removed), tuple(foreign), total)

    def _read_manifest(self) -> dict[str, list[str]]:
        """The files of earlier exports, each with the hashes that it may have."""
        try:
            manifest = mapping(json.loads((self._path / MANIFEST).read_bytes()))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self._path / MANIFEST} cannot be read: {error}.",
                "Remove it; the files in the folder are then treated as yours.",
            ) from error
        if manifest.get("format") != self._format:
            raise InputError(
                f"{self._path} contains an export in another format.", "Name another folder."
            )
        files = mapping(manifest.get("files"))
        return {name: items(files[name]) for name in files if _is_below(name)}

    def _write_manifest(self, hashes: dict[str, list[str]]) -> None:
        files = {name: sorted(set(hashes[name])) for name in sorted(hashes)}
        manifest = {"format": self._format, "version": 1, "files": files}
        text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        _replace(self._path / MANIFEST, text.encode("utf-8", "replace"))

    def _is_foreign(self, name: str, known: dict[str, list[str]]) -> bool:
        path = self._path / name
        if self._is_linked(path):
            return True
        if not path.exists():
            return False
        data = path.read_bytes() if path.is_file() else b""
        return _hash(data) not in known.get(name, ()) and data != self._new.get(name)

    def _is_linked(self, path: Path) -> bool:
        """Whether the path leads through a symbolic link, possibly out of the folder."""
        above = path.parents[: len(path.parents) - len(self._path.parents) - 1]
        return any(part.is_symlink() for part in (path, *above))

    def _remove(self, name: str, hashes: list[str]) -> bool:
        path = self._path / name
        if self._is_linked(path) or not path.is_file() or _hash(path.read_bytes()) not in hashes:
            return False
        path.unlink()
        with suppress(OSError):  # the folder is not empty
            path.parent.rmdir()
        return True


def _is_below(name: str) -> bool:
    """Whether a path from the manifest stays inside the folder."""
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
        replace_file(part, path)
    finally:
        with suppress(OSError):
            part.unlink()
