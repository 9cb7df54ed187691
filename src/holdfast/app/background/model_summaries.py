"""Summaries by a model, put together. Loaded only where the settings name a model service.

At any time one process asks for a home, so that two never pay for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.app.core.lease import try_lock
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError
from holdfast.inference.chat import Chat
from holdfast.inference.service_choice import choose_chat
from holdfast.model.records import Session
from holdfast.refine.by_model.summarise import SUMMARIES, Summariser, SummaryLimits, SummaryReport
from holdfast.refine.hooks.reconcile import has_ended
from holdfast.spend.governor import Governor, add_seconds
from holdfast.store.protocol import Store

_DAY_S = 86400.0


class SummaryModel(NamedTuple):
    """A service, ready to be asked, and for what."""

    store: Store
    chat: Chat
    governor: Governor
    limits: SummaryLimits
    redactor: Redactor
    now: Callable[[], str]
    is_over: Callable[[Session], bool]

    def summariser(self) -> Summariser:
        """Who asks."""
        return Summariser(
            self.store, self.governor, self.limits, self.redactor, self.now, self.is_over
        )


def open_summary_model(
    memory: Holdfast, now: Callable[[], str] | None = None
) -> SummaryModel | None:
    """What the settings ask for; None if they ask for none."""
    settings, now = memory.settings, now or memory.now
    models = settings.models
    chat = choose_chat(models, SUMMARIES)
    if chat is None:
        return None
    governor = Governor(chat, memory.store, models.caps, now, models.prices)
    since = add_seconds(now(), -models.days * _DAY_S) if models.days else ""
    limits = SummaryLimits(models.input_tokens, models.tool_uses, since)
    places, clock = HomePaths(settings.home), now

    def is_over(session: Session) -> bool:
        return has_ended(places, session.host, session.ended or session.started, clock())

    redactor = Redactor(settings.redact_patterns)
    return SummaryModel(memory.store, chat, governor, limits, redactor, clock, is_over)


def summarise(
    memory: Holdfast, places: HomePaths, now: Callable[[], str], tick: Callable[[], None]
) -> SummaryReport:
    """Sum up what waits, as far as the caps allow."""
    models = open_summary_model(memory, now)
    if models is None:
        return SummaryReport()
    with try_lock(places.summary_lock) as ours:
        return models.summariser().run(tick) if ours else SummaryReport()


def resummarise(
    memory: Holdfast, sessions: Sequence[tuple[str, str]], tick: Callable[[], None]
) -> SummaryReport:
    """Sum up these sessions by the present prompts, as far as the caps allow."""
    models = open_summary_model(memory)
    if models is None:
        return SummaryReport()
    with try_lock(HomePaths(memory.settings.home).summary_lock) as ours:
        if not ours:
            raise HoldfastError(
                "A worker is asking a model just now.", "Run the same command again in a while."
            )
        return models.summariser().rerun(sessions, tick)
