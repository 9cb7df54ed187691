"""Summaries by a model, put together. Loaded only where the settings name a model service."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.app.memory import Holdfast
from holdfast.capture.places import Places
from holdfast.capture.redact import Redactor
from holdfast.inference.choose_chat import choose_chat
from holdfast.model.records import Session
from holdfast.refine.reconcile import has_ended
from holdfast.refine.summarise import SUMMARIES, Done, Limits, Summariser
from holdfast.spend.governor import Governor, later

_DAY_S = 86400.0


def summarise(
    memory: Holdfast, places: Places, now: Callable[[], str], tick: Callable[[], None]
) -> Done:
    """Sum up what waits, as far as the caps allow."""
    settings = memory.settings
    models = settings.models
    chat = choose_chat(models, SUMMARIES)
    if chat is None:
        return Done()
    store = memory.store
    governor = Governor(chat, store, models.caps, now, models.prices)
    since = later(now(), -models.days * _DAY_S) if models.days else ""
    limits = Limits(models.input_tokens, models.tool_uses, since)

    def is_over(session: Session) -> bool:
        return has_ended(places, session.host, session.ended or session.started, now())

    redactor = Redactor(settings.redact_patterns)
    return Summariser(store, governor, limits, redactor, now, is_over).run(tick)
