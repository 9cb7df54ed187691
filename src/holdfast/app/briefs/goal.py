"""The goal brief by the shortest way: for a hook that finds no server to ask.

It imports what a search by words needs and nothing else; loading a model would take longer than
anybody should wait for a prompt.
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
    """The brief for a prompt, as a hook takes it."""
    path = Path(os.path.abspath(home)) / "memory.db"  # noqa: PTH100
    store = SqliteStore(path, create=False, as_it_is=True) if path.exists() else _open_server_store(path)
    try:
        brief = goal_brief(store, bank, prompt)
    finally:
        store.close()
    return {"v": 1, "id": brief.id, "text": brief.text, "records": list(brief.records)}


def _open_server_store(path: Path) -> Store:
    """Where there is no file, the settings may name a server."""
    from holdfast import settings
    from holdfast.app.core import backends

    named = settings.load_settings({**os.environ, "HOLDFAST_HOME": str(path.parent)})
    return backends.open_without_migrating(named)
