"""Reflection and extraction by a model, put together. Loaded only where the settings name one."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.inference.service_choice import choose_chat
from holdfast.model.bank import Bank
from holdfast.model.opinions import Reflection
from holdfast.model.query import RecallResult
from holdfast.model.records import Session
from holdfast.refine.by_model.memory_extraction import EXTRACTION, ExtractionReport, Extractor
from holdfast.refine.hooks.reconcile import has_ended
from holdfast.research.model_reflection import (
    REFLECTION,
    check_reflection,
    read_model_reflection,
    reflection_prompt,
    shown_hits,
)
from holdfast.settings import Settings
from holdfast.spend.governor import CallPurpose, Governor, add_seconds
from holdfast.store.protocol import Store

_DAY_S = 86400.0


def reflect_with_model(
    store: Store,
    settings: Settings,
    now: Callable[[], str],
    bank: Bank,
    found: RecallResult,
    told: Reflection,
) -> Reflection:
    """Let a model reflect on what was found; `told` is what rules make of it."""
    hits = shown_hits(found)
    chat = choose_chat(settings.models, REFLECTION) if hits else None
    if chat is None:
        return told
    governor = Governor(chat, store, settings.models.caps, now, settings.models.prices)
    question = reflection_prompt(bank, found.query, hits)
    thought = governor.ask(CallPurpose(REFLECTION, bank.id), question, read_model_reflection)
    redactor = Redactor(settings.redact_patterns)
    return check_reflection(thought, hits, bank, told, governor.model, redactor)


def extract_with_model(
    store: Store,
    settings: Settings,
    places: HomePaths,
    now: Callable[[], str],
    tick: Callable[[], None],
) -> ExtractionReport:
    """Extract memories from what waits, as far as the caps allow."""
    models = settings.models
    chat = choose_chat(models, EXTRACTION)
    if chat is None:
        return ExtractionReport()
    governor = Governor(chat, store, models.caps, now, models.prices)
    since = add_seconds(now(), -models.days * _DAY_S) if models.days else ""

    def is_over(session: Session) -> bool:
        return has_ended(places, session.host, session.ended or session.started, now())

    redactor = Redactor(settings.redact_patterns)
    extractor = Extractor(store, governor, redactor, now, is_over, models.input_tokens, since)
    return extractor.run(tick)
