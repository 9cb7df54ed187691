"""A folder that all workers of a test run share, for what takes long to make."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast.locks import lock_file

WORKER_VARIABLE = "PYTEST_XDIST_WORKER"
_known: list[Path] = []


def use_run_folder(base: Path) -> None:
    """Take the folder of this process, or the one above it for a worker: pytest makes them."""
    _known[:] = [base.parent if WORKER_VARIABLE in os.environ else base]


def run_folder() -> Path:
    """The folder; without pytest a temporary one of this process."""
    if not _known:
        _known.append(Path(tempfile.mkdtemp()))
        atexit.register(shutil.rmtree, _known[0])
    return _known[0]


@contextmanager
def locked(name: str) -> Generator[None]:
    """Let one worker at a time do something."""
    with (run_folder() / f"{name}.lock").open("w") as lock:
        lock_file(lock.fileno())
        yield


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills, by the first worker that needs it. Tests must not change it."""
    folder, is_made = run_folder() / name, run_folder() / f"{name}.made"
    with locked(name):
        if not is_made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            is_made.touch()
    return folder
