"""Summaries by a model. Imported only if the settings name a model service.

A lock allows one process per home to ask, so that no summary is paid for twice.
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
    """A model service with everything a `Summariser` needs to ask it."""

    store: Store
    chat: Chat
    governor: Governor
    limits: SummaryLimits
    redactor: Redactor
    now: Callable[[], str]
    is_over: Callable[[Session], bool]

    def summariser(self) -> Summariser:
        return Summariser(
            self.store, self.governor, self.limits, self.redactor, self.now, self.is_over
        )


def open_summary_model(
    memory: Holdfast, now: Callable[[], str] | None = None
) -> SummaryModel | None:
    """The service that the settings name for summaries; None if they name none."""
    settings, now = memory.settings, now or memory.now
    models = settings.models
    chat = choose_chat(models, SUMMARIES)
    if chat is None:
        return None
    governor = Governor(chat, memory.store, models.caps, now, models.prices)
    since = add_seconds(now(), -models.days * _DAY_S) if models.days else ""
    limits = SummaryLimits(models.input_tokens, models.tool_uses, since)
    paths, clock = HomePaths(settings.home), now

    def is_over(session: Session) -> bool:
        return has_ended(paths, session.host, session.ended or session.started, clock())

    redactor = Redactor(settings.redact_patterns)
    return SummaryModel(memory.store, chat, governor, limits, redactor, clock, is_over)


def summarise(
    memory: Holdfast, paths: HomePaths, now: Callable[[], str], on_progress: Callable[[], None]
) -> SummaryReport:
    """Summarise what has no summary yet, as far as the caps allow. Does nothing while another
    process asks."""
    model = open_summary_model(memory, now)
    if model is None:
        return SummaryReport()
    with try_lock(paths.summary_lock) as locked:
        return model.summariser().run(on_progress) if locked else SummaryReport()


def resummarise(
    memory: Holdfast, sessions: Sequence[tuple[str, str]], on_progress: Callable[[], None]
) -> SummaryReport:
    """Summarise these sessions (bank, id) again with the current prompts, as far as the caps allow.
    Raises an error while another process asks."""
    model = open_summary_model(memory)
    if model is None:
        return SummaryReport()
    with try_lock(HomePaths(memory.settings.home).summary_lock) as locked:
        if not locked:
            raise HoldfastError(
                "A worker is asking a model just now.", "Run the same command again in a while."
            )
        return model.summariser().rerun(sessions, on_progress)
