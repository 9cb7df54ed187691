"""Briefs of an open memory: made for a caller, or prepared as files for hooks.

What a brief says is decided in `holdfast.brief`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from holdfast.app.core.context import Context, utc_now
from holdfast.app.search.recall import Search
from holdfast.app.search.rule_sync import current_rules, sync_rules_if_writable
from holdfast.brief.frame import EMPTY_BRIEF, Brief
from holdfast.brief.goal.goal_brief import goal_brief
from holdfast.brief.prepared_files import write_briefs
from holdfast.brief.session_brief import session_brief
from holdfast.capture.home_paths import HomePaths
from holdfast.model.knowledge import Rule
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

    def goal_brief(
        self, prompt: str, bank: str | None = None, quickly: bool = False, folder: str = ""
    ) -> Brief:
        """The brief for a session in this bank with this first prompt; `quickly` without a model,
        as a hook makes it if no server runs. The `folder` of a session names its bank, where the
        settings do not."""
        context, store = self._context, self._context.store
        if folder and not context.settings.bank:
            id = context.banks.find(store, folder)
        else:
            id = context.bank_id(bank)
        if not id:
            return EMPTY_BRIEF
        embedded = not quickly and store.vectors.models()
        meaning = self._search.load_model() if embedded else None
        return goal_brief(store, id, prompt, meaning, lambda: self._rules(id))

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
