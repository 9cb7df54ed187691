"""Briefs of an open memory: made for a caller, prepared as files for hooks, or served on a socket.

What a brief says is decided in `holdfast.brief`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from holdfast.app.core.backends import DatabaseIdentity, database_identity
from holdfast.app.core.context import Context, utc_now
from holdfast.app.search.recall import Search
from holdfast.app.search.rule_sync import current_rules, sync_rules_if_writable
from holdfast.brief.frame import EMPTY_BRIEF, Brief
from holdfast.brief.goal.goal_brief import goal_brief
from holdfast.brief.prepared_files import write_briefs
from holdfast.brief.session_brief import session_brief
from holdfast.capture.home_paths import EVENT_VERSION, HomePaths
from holdfast.model.knowledge import Rule
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.settings import Settings


class Briefs:
    """The context that is injected into a session at its start and with its first prompt."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search

    def session_brief(self, bank: str | None = None) -> Brief:
        """The brief that the next session in this bank gets at its start."""
        context = self._context
        id, limits = context.bank_id(bank), context.settings.brief
        if not id:
            return EMPTY_BRIEF
        rules = self._rules(id)
        return session_brief(context.store, id, limits.tokens, limits.exchanges, rules)

    def goal_brief(self, prompt: str, bank: str | None = None, quickly: bool = False) -> Brief:
        """The brief for a session in this bank with this first prompt; `quickly` without a model,
        as a hook makes it if no server runs."""
        id = self._context.bank_id(bank)
        return self._goal(id, prompt, quickly) if id else EMPTY_BRIEF

    def goal_brief_in(self, folder: str, prompt: str) -> Brief:
        """The brief for a session in this folder with this first prompt."""
        context = self._context
        has_fixed_bank = bool(context.settings.bank)
        id = context.bank_id() if has_fixed_bank else context.banks.find(context.store, folder)
        return self._goal(id, prompt, False) if id else EMPTY_BRIEF

    def load_model(self) -> SemanticSearch | None:
        """Load the embedding model, if there is one and anything is embedded."""
        return self._search.load_model() if self._context.store.vectors.models() else None

    def _goal(self, id: str, prompt: str, quickly: bool) -> Brief:
        meaning = None if quickly else self.load_model()
        return goal_brief(self._context.store, id, prompt, meaning, lambda: self._rules(id))

    def prepare(self) -> None:
        """Prepare what hooks inject into the next sessions, if hooks are installed here. The worker
        does it too; call this after many changes, so that the next session has them."""
        refresh_briefs(self._context.settings, self._context.now)

    def _rules(self, id: str) -> Sequence[Rule]:
        """The rules of a bank as its files have them now."""
        context = self._context
        return current_rules(context.store, context.settings, context.banks, id)


def prepare_briefs(settings: Settings, now: Callable[[], str] = utc_now) -> list[str]:
    """Write the prepared brief files of every bank that changed; returns those banks. A bank that
    did not change costs almost nothing."""
    context = Context(settings, now)
    try:
        for bank in context.store.banks.all():
            sync_rules_if_writable(context.store, settings, context.banks, bank.id, "")
        only = (context.bank_id() or "") if settings.bank else ""
        return write_briefs(context.store, HomePaths(settings.home), settings.brief, now(), only)
    finally:
        context.close()


def refresh_briefs(settings: Settings, now: Callable[[], str] = utc_now) -> None:
    """Write the prepared brief files of all banks, whoever asks for it, if there are hooks here
    that read them."""
    paths = HomePaths(settings.home)
    if paths.hooks.is_dir() or paths.briefs.is_dir():
        prepare_briefs(replace(settings, principal=None), now)


class BriefAnswerer:
    """Answers hooks from a memory. It is opened in the thread of the socket, and opened again when
    the database was created or replaced."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._context: Context | None = None
        self._briefs: Briefs | None = None
        self._opened_identity: DatabaseIdentity | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        brief = EMPTY_BRIEF
        if request.get("op") == "goal" and self._settings.brief.goal:
            brief = self._open().goal_brief_in(str(request["cwd"]), str(request["prompt"]))
        return {
            "v": EVENT_VERSION,
            "id": brief.id,
            "text": brief.text,
            "records": list(brief.records),
        }

    def close(self) -> None:
        if self._context is not None:
            self._context.close()
            self._context = self._briefs = None

    def _open(self) -> Briefs:
        identity = database_identity(self._settings.database)
        if self._briefs is None or identity != self._opened_identity:
            self.close()
            self._context, self._opened_identity = Context(self._settings), identity
            self._briefs = Briefs(self._context, Search(self._context))
        return self._briefs
