"""The goal brief with as few imports as possible, for a hook that finds no server to ask.

It searches by words only: loading a model would take longer than a prompt may be delayed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.brief.goal_brief import goal_brief
from holdfast.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from holdfast.store.protocol import Store


def goal_brief_by_words(home: str, bank: str, prompt: str) -> dict[str, object]:
    """The brief for a prompt, in the format that the socket replies with."""
    path = Path(os.path.abspath(home)) / "memory.db"  # noqa: PTH100
    store = (
        SqliteStore(path, create=False, as_it_is=True)
        if path.exists()
        else _open_server_store(path)
    )
    try:
        brief = goal_brief(store, bank, prompt)
    finally:
        store.close()
    return {"v": 1, "id": brief.id, "text": brief.text, "records": list(brief.records)}


def _open_server_store(path: Path) -> Store:
    """The store of the settings, which may name a server if there is no file."""
    from holdfast import settings
    from holdfast.app.core import backends

    named = settings.load_settings({**os.environ, "HOLDFAST_HOME": str(path.parent)})
    return backends.open_without_migrating(named)
