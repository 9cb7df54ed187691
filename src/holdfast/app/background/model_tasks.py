"""What is asked of a model service outside a question: summaries and memories. Imported only if
the settings name a model service.

A lock allows one process per home to ask for summaries, so that none is paid for twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.app.core.lease import try_lock
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import HoldfastError
from holdfast.inference.chat import Chat
from holdfast.inference.service_choice import choose_chat
from holdfast.model.records import Session
from holdfast.refine.by_model.memory_extraction import EXTRACTION, ExtractionReport, Extractor
from holdfast.refine.by_model.model_run import ModelRun
from holdfast.refine.by_model.summarise import SUMMARIES, Summariser, SummaryLimits, SummaryReport
from holdfast.refine.hooks.reconcile import has_ended
from holdfast.spend.governor import Governor
from holdfast.times import add_seconds

_DAY_S = 86400.0
OnProgress = Callable[[], None]


class ModelTask(NamedTuple):
    """A model service with everything that a task needs to ask it. Sessions that ended before
    `since` are left alone."""

    memory: Holdfast
    chat: Chat
    governor: Governor
    since: str

    def is_over(self, session: Session) -> bool:
        """Whether a session has ended."""
        paths, ended = HomePaths(self.memory.settings.home), session.ended or session.started
        return has_ended(paths, session.host, ended, self.memory.now())

    def run(self) -> ModelRun:
        memory = self.memory
        redactor = memory.context.redactor()
        return ModelRun(memory.store, self.governor, redactor, memory.now, self.is_over)

    def summariser(self) -> Summariser:
        models = self.memory.settings.models
        limits = SummaryLimits(models.input_tokens, models.tool_uses, self.since)
        return Summariser(self.run(), limits)


def open_model(memory: Holdfast, operation: str = SUMMARIES) -> ModelTask | None:
    """The service that the settings name for an operation; None if they name none."""
    models = memory.settings.models
    chat = choose_chat(models, operation)
    if chat is None:
        return None
    governor = Governor(chat, memory.store, models.caps, memory.now, models.prices)
    since = add_seconds(memory.now(), -models.days * _DAY_S) if models.days else ""
    return ModelTask(memory, chat, governor, since)


def summarise(memory: Holdfast, on_progress: OnProgress) -> SummaryReport:
    """Summarise what has no summary yet, as far as the caps allow. Does nothing while another
    process asks."""
    return _locked(memory, lambda one: one.run(on_progress), or_fail=False)


def resummarise(
    memory: Holdfast, sessions: Sequence[tuple[str, str]], on_progress: OnProgress
) -> SummaryReport:
    """Summarise these sessions (bank, id) again with the current prompts, as far as the caps allow.
    Raises an error while another process asks."""
    return _locked(memory, lambda one: one.rerun(sessions, on_progress))


def _locked(
    memory: Holdfast, ask: Callable[[Summariser], SummaryReport], or_fail: bool = True
) -> SummaryReport:
    task = open_model(memory)
    if task is None:
        return SummaryReport()
    with try_lock(HomePaths(memory.settings.home).summary_lock) as locked:
        if locked:
            return ask(task.summariser())
    if or_fail:
        raise HoldfastError(
            "A worker is calling a model right now.", "Run the same command again later."
        )
    return SummaryReport()


def extract_memories(memory: Holdfast, on_progress: OnProgress) -> ExtractionReport:
    """Extract memories from finished sessions, as far as the caps allow."""
    task = open_model(memory, EXTRACTION)
    if task is None:
        return ExtractionReport()
    tokens = memory.settings.models.input_tokens
    return Extractor(task.run(), tokens, task.since).run(on_progress)
