"""Reflection on recalled records, and extraction of memories, by a language model. Imported only if
the settings name a model."""

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
    rule_based: Reflection,
) -> Reflection:
    """Let a model reflect on what was recalled. Returns `rule_based`, which was made without a
    model, if there is nothing to reflect on or no model for it."""
    hits = shown_hits(found)
    chat = choose_chat(settings.models, REFLECTION) if hits else None
    if chat is None:
        return rule_based
    governor = Governor(chat, store, settings.models.caps, now, settings.models.prices)
    prompt = reflection_prompt(bank, found.query, hits)
    answer = governor.ask(CallPurpose(REFLECTION, bank.id), prompt, read_model_reflection)
    redactor = Redactor(settings.redact_patterns)
    return check_reflection(answer, hits, bank, rule_based, governor.model, redactor)


def extract_with_model(
    store: Store,
    settings: Settings,
    paths: HomePaths,
    now: Callable[[], str],
    on_progress: Callable[[], None],
) -> ExtractionReport:
    """Extract memories from finished sessions, as far as the spending caps allow."""
    models = settings.models
    chat = choose_chat(models, EXTRACTION)
    if chat is None:
        return ExtractionReport()
    governor = Governor(chat, store, models.caps, now, models.prices)
    since = add_seconds(now(), -models.days * _DAY_S) if models.days else ""

    def is_over(session: Session) -> bool:
        return has_ended(paths, session.host, session.ended or session.started, now())

    redactor = Redactor(settings.redact_patterns)
    extractor = Extractor(store, governor, redactor, now, is_over, models.input_tokens, since)
    return extractor.run(on_progress)
