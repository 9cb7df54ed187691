"""A memory of conversations that come to a decision and sum it up, from `bench/data/recaps`."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench.recaps import NOW, Matter, read_in, read_matters

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.run_folder import made_once

# The first is longer than a quote. Quiet hours and the gap were changed by a later conversation,
# of the retries one by a person; the import has an exception that was said afterwards.
WANTED = (
    "pax-column",
    "quiet-hours",
    "turnaround-gap",
    "webhook-retries",
    "fleet-import",
    "length-units",
)


def harbour_matters() -> dict[str, Matter]:
    """The matters of the memory, by id."""
    return {matter.id: matter for matter in read_matters("tuning") if matter.id in WANTED}


@contextmanager
def harbour_memory(folder: Path) -> Generator[Holdfast]:
    """The memory, in a folder of its own. It is read and embedded once in a test run, and then
    copied."""
    shutil.copytree(made_once("harbour", _make), folder, dirs_exist_ok=True)
    with _opened(folder) as memory:
        yield memory


def _make(folder: Path) -> None:
    with _opened(folder) as memory:
        read_in(memory, list(harbour_matters().values()))


def _opened(folder: Path) -> Holdfast:
    settings = Settings(folder / "home", folder / "claude", bank="harbour")
    return Holdfast(settings, now=lambda: NOW)
