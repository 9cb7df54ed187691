"""What every run of a model over stored sessions does: ask, store the answer, stop at a cap."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from holdfast.capture.redact import Redactor
from holdfast.errors import ModelAnswerError, ModelError, ModelTooLongError, SpendError
from holdfast.inference.chat import Question
from holdfast.model.ledgers.model_calls import ModelSummary
from holdfast.model.records import Exchange, Session
from holdfast.refine.sessions.derive import derive_stale
from holdfast.spend.governor import CallPurpose, Governor
from holdfast.store.protocol import Store

_Answer = TypeVar("_Answer")
# Prompts are halved until they fit the model, but not below this: a model that accepts less cannot
# sum up an exchange.
_MIN_INPUT_TOKENS = 500


def ask_to_fit(tokens: int, ask: Callable[[int], None]) -> int:
    """Ask with prompts of so many tokens, and with half as many while the model rejects them as too
    long; returns the number that it accepted."""
    while True:
        try:
            ask(tokens)
        except ModelTooLongError:
            tokens //= 2
            if tokens < _MIN_INPUT_TOKENS:
                raise
        else:
            return tokens


@dataclass(frozen=True, slots=True)
class ModelRun:
    """A store and a model with its spending governor. `is_over`: whether a session has ended."""

    store: Store
    governor: Governor
    redactor: Redactor
    now: Callable[[], str]
    is_over: Callable[[Session], bool]

    def each_session(self, sessions: Iterable[Session], work: Callable[[Session], None]) -> str:
        """Do the work for each session, until a spending cap is reached or the service fails.
        Returns why it stopped, or why the last session of several did; "" if none."""
        stopped = ""
        for session in sessions:
            try:
                work(session)
            except ModelError as error:
                stopped = error.message
                # The cap of one session does not stop the others.
                if not (isinstance(error, SpendError) and error.session):
                    break
        derive_stale(self.store)
        return stopped

    def ask(
        self, operation: str, session: Session, question: Question, parse: Callable[[str], _Answer]
    ) -> _Answer | str:
        """The parsed answer, or why it could not be used."""
        try:
            purpose = CallPurpose(operation, session.bank, session.id)
            return self.governor.ask(purpose, question, parse)
        except ModelAnswerError as error:
            return f"the answer could not be used: {error.message}"

    def store_answer(
        self, kind: str, version: int, hash: str, id: str, last: Exchange, content: str,
        problem: str,
    ) -> None:  # fmt: skip
        """Store a checked answer, or its problem; the session is stale from exchange `last` on."""
        summary = ModelSummary(
            last.bank, hash, version, kind, id, last.last_seq, self.governor.model, self.now(),
            content, problem,
        )  # fmt: skip
        with self.store.transaction():
            self.store.summaries.put(summary, last.session, last.first_seq)
