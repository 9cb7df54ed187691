"""Briefs of a whole memory: what the worker prepares and settles, what a server is asked, and
what a person may look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.app.core.context import Context
from holdfast.app.core.database_identity import Standing, standing
from holdfast.app.core.hook_socket import Asking
from holdfast.app.search.old_recall import Reading, utc_now
from holdfast.app.search.recall import Search
from holdfast.brief.frame import NOTHING, Brief
from holdfast.brief.goal_brief import goal_brief
from holdfast.brief.prepared_files import write_briefs
from holdfast.brief.semantic_lookup import by_meaning
from holdfast.brief.session_brief import session_brief
from holdfast.capture.places import VERSION, Places
from holdfast.errors import HoldfastError
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.settings import Settings, load_settings


class Briefs:
    """The briefs of a memory: what a session gets when it starts, and with its first prompt."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search

    def session_brief(self, bank: str | None = None) -> Brief:
        """The brief that the next session in this bank gets at its start."""
        context = self._context
        id, wanted = context.bank_id(bank), context.settings.brief
        return session_brief(context.store, id, wanted.tokens, wanted.exchanges) if id else NOTHING

    def goal_brief(self, prompt: str, bank: str | None = None, quickly: bool = False) -> Brief:
        """The brief for a session in this bank with this first prompt; `quickly` by words alone,
        as a hook does where no server runs."""
        id = self._context.bank_id(bank)
        return self._goal(id, prompt, quickly) if id else NOTHING

    def goal_brief_in(self, folder: str, prompt: str) -> Brief:
        """The brief for a session in this folder with this first prompt."""
        context = self._context
        own = bool(context.settings.bank)
        id = context.bank_id() if own else context.banks.find(context.store, folder)
        return self._goal(id, prompt, False) if id else NOTHING

    def load_model(self) -> SemanticSearch | None:
        """Load the embedding model, if there is one and anything is embedded."""
        return self._search.load_model() if self._context.store.vector_models() else None

    def _goal(self, id: str, prompt: str, quickly: bool) -> Brief:
        store = self._context.store
        meaning = None if quickly else self.load_model()
        if meaning is None:
            return goal_brief(store, id, prompt)
        return goal_brief(store, id, prompt, by_meaning(store, id, meaning))


class Briefing(Reading):
    """A memory that briefs."""

    def session_brief(self, bank: str | None = None) -> Brief:
        """What the next session in this bank gets when it starts."""
        id, wanted = self.bank_id(bank), self.settings.brief
        return session_brief(self._store, id, wanted.tokens, wanted.exchanges) if id else NOTHING

    def goal_brief(self, prompt: str, bank: str | None = None, quickly: bool = False) -> Brief:
        """What a session in this bank gets with this as its first prompt; `quickly` by words
        alone, as where no server runs."""
        id = self.bank_id(bank)
        return self._goal(id, prompt, quickly) if id else NOTHING

    def goal_for(self, folder: str, prompt: str) -> Brief:
        """The same for a session in a folder."""
        id = self.bank_id() if self.settings.bank else self._banks.find(self._store, folder)
        return self._goal(id, prompt, False) if id else NOTHING

    def _goal(self, id: str, prompt: str, quickly: bool) -> Brief:
        meaning = None if quickly else self.warm()
        if meaning is None:
            return goal_brief(self._store, id, prompt)
        return goal_brief(self._store, id, prompt, by_meaning(self._store, id, meaning))

    def warm(self) -> SemanticSearch | None:
        """Load the model, if there is one and anything is embedded."""
        if self._meaning is None and self._store.vector_models():
            from holdfast.app.core import models

            try:
                self._meaning = models.load_meaning(self.settings)
            except HoldfastError:
                return None
        return self._meaning


def open_briefing(settings: Settings | None = None) -> Briefing:
    """Open the memory of this user, or of the given settings, to be briefed."""
    return Briefing(settings or load_settings())


def prepare_briefs(settings: Settings, now: Callable[[], str] = utc_now) -> list[str]:
    """Bring every bank's prepared files up to date; returns the banks that were written. A bank
    that did not change costs next to nothing."""
    with Reading(settings) as memory:
        only = (memory.bank_id() or "") if settings.bank else ""
        return write_briefs(memory.reader, Places(settings.home), settings.brief, now(), only)


class _Answers:
    """Answers hooks from a memory that is opened in the thread that asks, and opened anew when
    it comes into being or is replaced."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._memory: Briefing | None = None
        self._seen: Standing | None = None

    def prepare(self) -> None:
        self._opened().warm()

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        brief = NOTHING
        if asked.get("op") == "goal" and self._settings.brief.goal:
            brief = self._opened().goal_for(str(asked["cwd"]), str(asked["prompt"]))
        return {"v": VERSION, "id": brief.id, "text": brief.text, "records": list(brief.records)}

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _opened(self) -> Briefing:
        seen = standing(self._settings.database)
        if self._memory is None or seen != self._seen:
            self.close()
            self._memory, self._seen = Briefing(self._settings), seen
        return self._memory


def serve_briefs(settings: Settings) -> Asking | None:
    """Listen for hooks in the background; None where another process does so already, or where
    hooks were never set up."""
    path = Places(settings.home).socket()
    asking = Asking(path, _Answers(settings)) if path is not None else None
    return asking if asking is not None and asking.start() else None
