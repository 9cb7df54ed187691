"""Where a set is read into: a folder, or a schema on a server, that is thrown away; or a folder
that a person keeps.

Never the person's own memory: a kept home carries a mark, and a folder with anything in it but
without the mark is refused.
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

MARK = "evaluation.txt"


@contextmanager
def open_home(
    settings: Settings, folder: Path, keep: Path | None, store: str = ""
) -> Generator[Holdfast]:
    """A memory for the set in a folder; the settings are the person's own. On a server, if a
    `store` is named, it lies in a schema of its own."""
    if keep is not None:
        _claim(keep, folder)
        with open_memory(neutral_settings(settings, keep)) as memory:
            yield memory
        return
    with (
        TemporaryDirectory(prefix="holdfast-eval-") as place,
        _thrown_away(
            replace(neutral_settings(settings, Path(place)), store=store),
            f"holdfast_eval_{token_hex(6)}",
        ) as ours,
        open_memory(ours) as memory,
    ):
        yield memory


@contextmanager
def _thrown_away(settings: Settings, name: str) -> Generator[Settings]:
    """The same settings for a memory of its own on their server, which is gone afterwards."""
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


def _claim(home: Path, folder: Path) -> None:
    """Make the home, or know it again."""
    mark = home / MARK
    name = str(folder.resolve())
    try:
        home.mkdir(parents=True, exist_ok=True)
        held = mark.read_text("utf-8").strip() if mark.is_file() else ""
        if not held and any(home.iterdir()):
            raise InputError(
                f"{home} is not empty, and not the home of an evaluation.",
                "Give --keep a new folder.",
            )
        if held and held != name:
            raise InputError(
                f"{home} is kept for the set {held}.", "Give --keep one folder for each set."
            )
        mark.write_text(name + "\n", "utf-8")
    except OSError as error:
        raise InputError(
            f"{home} cannot be used: {error.strerror}.", "Give --keep a folder you may write to."
        ) from error
