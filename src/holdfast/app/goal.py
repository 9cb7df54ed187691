"""The goal brief by the shortest way: for a hook that finds no server to ask.

It imports what a search by words needs and nothing else; loading a model would take longer than
anybody should wait for a prompt.
"""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.brief.goal import goal_brief
from holdfast.store.sqlite.store import SqliteStore


def goal_now(home: str, bank: str, prompt: str) -> dict[str, object]:
    """The brief for a prompt, as a hook takes it."""
    path = Path(os.path.abspath(home)) / "memory.db"  # noqa: PTH100
    store = SqliteStore(path, create=False, as_it_is=True)
    try:
        brief = goal_brief(store, bank, prompt)
    finally:
        store.close()
    return {"v": 1, "id": brief.id, "text": brief.text, "records": list(brief.records)}
