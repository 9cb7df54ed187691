"""A folder that exports write repeatedly and that may hold files of other people.

A manifest in the folder lists every exported file with a hash. Only files that are in the manifest
and unchanged since are replaced or removed; files that somebody made or edited are left alone and
reported. Each file is written under a temporary name and then renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from holdfast.app.transfer.exporting import Exported
from holdfast.errors import InputError, StoreError
from holdfast.operating_system import replace_file
from holdfast.sources.json_fields import mapping

MANIFEST = ".holdfast-export.json"


def write_folder(path: Path, files: Mapping[str, str]) -> Exported:
    """Make the exported files in a folder exactly these: texts by their paths, which have `/`
    between their parts."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is not a folder.", "Name a folder, or one to be made.")
    known = _read_manifest(path)
    new = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    try:
        path.mkdir(parents=True, exist_ok=True)
        foreign = [name for name, data in new.items() if _is_foreign(path, name, known, data)]
        written = [name for name in new if name not in foreign]
        for name in written:
            _replace(path / name, new[name])
        removed = [name for name in known if name not in new and _remove(path, name, known[name])]
        hashes = {name: _hash(new[name]) for name in sorted(written)}
        manifest = json.dumps({"files": hashes}, ensure_ascii=False, indent=1) + "\n"
        _replace(path / MANIFEST, manifest.encode("utf-8", "replace"))
    except OSError as error:
        raise StoreError(
            f"Nothing can be written to {path}: {error.strerror or error}.",
            "Choose another folder, or make room.",
        ) from error
    total = sum(len(new[name]) for name in written)
    return Exported(str(path), total, {"note": len(written)}, len(removed), tuple(foreign))


def _read_manifest(path: Path) -> dict[str, str]:
    """The files of the last export, each with its hash."""
    try:
        files = mapping(mapping(json.loads((path / MANIFEST).read_bytes())).get("files"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path / MANIFEST} cannot be read: {error}.",
            "Remove it; the files in the folder are then treated as yours.",
        ) from error
    return {name: str(files[name]) for name in files if _is_below(name)}


def _is_below(name: str) -> bool:
    """Whether a path from the manifest stays inside the folder."""
    parts = name.split("/")
    return bool(name) and not name.startswith("/") and ".." not in parts and "\\" not in name


def _is_foreign(folder: Path, name: str, known: Mapping[str, str], data: bytes) -> bool:
    path = folder / name
    if _is_linked(folder, path):
        return True
    if not path.exists():
        return False
    there = path.read_bytes() if path.is_file() else b""
    return there != data and _hash(there) != known.get(name)


def _is_linked(folder: Path, path: Path) -> bool:
    """Whether the path leads through a symbolic link, possibly out of the folder."""
    above = path.parents[: len(path.parents) - len(folder.parents) - 1]
    return any(part.is_symlink() for part in (path, *above))


def _remove(folder: Path, name: str, hash: str) -> bool:
    path = folder / name
    if _is_linked(folder, path) or not path.is_file() or _hash(path.read_bytes()) != hash:
        return False
    path.unlink()
    with suppress(OSError):  # the folder is not empty
        path.parent.rmdir()
    return True


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
