"""Asks a model for advice on open reviews. Imported only if the settings name a model service."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.app.memory import Holdfast
from holdfast.inference.service_choice import choose_chat
from holdfast.refine.by_model.review_advice import OPERATION, advise
from holdfast.spend.governor import Governor


def advise_reviews(
    memory: Holdfast, now: Callable[[], str], on_progress: Callable[[], None]
) -> int:
    """Ask about each open review, as far as the caps allow. Returns how many got advice."""
    models = memory.settings.models
    chat = choose_chat(models, OPERATION)
    if chat is None:
        return 0
    governor = Governor(chat, memory.store, models.caps, now, models.prices)
    return advise(memory.store, governor, now, on_progress)
