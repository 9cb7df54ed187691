"""Reflection on recalled records by a language model. Imported only if the settings name one."""

from __future__ import annotations

from holdfast.app.core.context import Context
from holdfast.inference.service_choice import choose_chat
from holdfast.model.bank import Bank
from holdfast.model.opinions import Reflection
from holdfast.model.query import RecallResult
from holdfast.research.model_reflection import (
    REFLECTION,
    check_reflection,
    read_model_reflection,
    reflection_prompt,
    shown_hits,
)
from holdfast.spend.governor import CallPurpose, Governor


def reflect_with_model(
    context: Context, bank: Bank, found: RecallResult, gathered: Reflection
) -> Reflection:
    """Let a model reflect on what was recalled. Returns `gathered`, the evidence, if there is
    nothing to reflect on or no model for it."""
    models, hits = context.settings.models, shown_hits(found)
    chat = choose_chat(models, REFLECTION) if hits else None
    if chat is None:
        return gathered
    governor = Governor(chat, context.store, models.caps, context.now, models.prices)
    prompt = reflection_prompt(bank, found.query, hits)
    answer = governor.ask(CallPurpose(REFLECTION, bank.id), prompt, read_model_reflection)
    return check_reflection(answer, hits, bank, gathered, governor.model, context.redactor())
