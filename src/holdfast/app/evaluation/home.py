"""Opens the memory that a set is read into: in a temporary folder or PostgreSQL schema, or in a
folder that the person wants to keep.

It is never the person's own memory: a kept folder gets a mark file, and a folder that has content
but no mark is refused.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

from holdfast.app.core.backends import check_postgres
from holdfast.app.evaluation.engine import neutral_settings
from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import InputError
from holdfast.settings import Settings

# Names the set that a kept home belongs to.
MARK = "evaluation.txt"


@contextmanager
def open_home(
    settings: Settings, folder: Path, keep: Path | None, store: str = ""
) -> Generator[Holdfast]:
    """A memory for the set in `folder`; `settings` are the person's own. With a `store` URL it is
    in a temporary schema on that server."""
    if keep is not None:
        _prepare_home(keep, folder)
        with open_memory(neutral_settings(settings, keep)) as memory:
            yield memory
        return
    with (
        TemporaryDirectory(prefix="holdfast-eval-") as temporary,
        _temporary_schema(
            replace(neutral_settings(settings, Path(temporary)), store=store),
            f"holdfast_eval_{token_hex(6)}",
        ) as own_settings,
        open_memory(own_settings) as memory,
    ):
        yield memory


@contextmanager
def _temporary_schema(settings: Settings, name: str) -> Generator[Settings]:
    """The settings with a new schema on their server, which is dropped afterwards; unchanged
    without a server."""
    if not settings.store:
        yield settings
        return
    check_postgres(settings)
    from holdfast.store.postgres.address import with_schema
    from holdfast.store.postgres.store import drop

    url = with_schema(settings.store, name)
    try:
        yield replace(settings, store=url)
    finally:
        drop(url)


def _prepare_home(home: Path, folder: Path) -> None:
    """Create and mark the home; raises an error if it belongs to something else."""
    mark = home / MARK
    name = str(folder.resolve())
    try:
        home.mkdir(parents=True, exist_ok=True)
        marked = mark.read_text("utf-8").strip() if mark.is_file() else ""
        if not marked and any(home.iterdir()):
            raise InputError(
                f"{home} is not empty, and not the home of an evaluation.",
                "Give --keep a new folder.",
            )
        if marked and marked != name:
            raise InputError(
                f"{home} is kept for the set {marked}.", "Give --keep one folder for each set."
            )
        mark.write_text(name + "\n", "utf-8")
    except OSError as error:
        raise InputError(
            f"{home} cannot be used: {error.strerror}.", "Give --keep a folder you may write to."
        ) from error
