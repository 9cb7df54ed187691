"""The spend governor: the only way to a model service. No call is made that a cap does not allow.

Before a call, the most that it may take is reserved in the ledger, in a transaction that sees what
every other process has reserved; afterwards the row holds what it took. A process that dies in
between leaves its reservation, so a cap errs on the safe side. A service that asks to be called
later is paused until then, across restarts. A call is repeated at most twice, and each attempt is a
row of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from time import monotonic, sleep
from typing import NamedTuple, TypeVar

from holdfast.errors import (
    ModelAnswerError,
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelStoppedError,
    ModelTooLongError,
    SpendError,
)
from holdfast.inference.chat import Chat, Question, Reply, Usage, schema_in_words
from holdfast.model.ledgers.model_calls import CallOutcome, ModelCall, ServicePause, Spending
from holdfast.model.query import ModelCost
from holdfast.settings import SpendCaps
from holdfast.spend.prices import price_of
from holdfast.store.protocol import Store
from holdfast.times import add_seconds

# Attempts for one question. Each is paid for, and a service that fails three times is paused.
MAX_ATTEMPTS = 3


class PauseTimes(NamedTuple):
    """How long a failing service is not called, in seconds. Longer times spare a service in
    trouble and its quota; shorter ones delay summaries less."""

    # Before the second attempt; doubled before the third.
    first_retry: float = 1.0
    # After the last attempt failed, or where a busy service names no time; doubled each time.
    first_pause: float = 60.0
    # Longest pause after repeated failures, so that a service is tried again within a day.
    longest_pause: float = 6 * 3600.0
    # After a refusal (wrong key or model), which only a person can repair; doubled each time.
    refused: float = 3600.0


_TIMES = PauseTimes()
# Characters of an error message that the ledger keeps.
_MAX_PROBLEM_CHARACTERS = 300
# Tokens are estimated before the text is tokenized: three bytes is few for prose, which has more
# bytes a token, and about right for code and for scripts other than Latin.
_BYTES_PER_TOKEN = 3
# What services add to every request: roles, separators, the format of the answer.
_FRAME_TOKENS = 200

# Errors after which asking again would not help, or not yet.
_NOT_RETRIED = (ModelBusyError, ModelRefusedError, ModelStoppedError, ModelTooLongError, SpendError)

T = TypeVar("T")


class CallPurpose(NamedTuple):
    """What a call is for."""

    operation: str
    bank: str = ""
    session: str = ""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few."""
    return len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1


def max_usage(question: Question) -> Usage:
    """The most that a call may take. With tools, the model is sent all earlier messages and tool
    results again on each of its turns."""
    asked = estimate_tokens(question.system + question.text + str(question.schema)) + _FRAME_TOKENS
    box = question.toolbox
    if box is None:
        return Usage(asked, question.tokens)
    offered = estimate_tokens(str([tool[:3] for tool in box.tools]))
    results = box.characters // _BYTES_PER_TOKEN + 1
    earlier = question.tokens * (box.turns - 1) // 2
    return Usage(box.turns * (asked + offered + results + earlier), box.turns * question.tokens)


class Governor:
    """Asks one model service as far as the caps allow."""

    def __init__(
        self,
        chat: Chat,
        store: Store,
        caps: SpendCaps,
        now: Callable[[], str],
        prices: tuple[tuple[str, tuple[float, float]], ...] = (),
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self._chat = chat
        self._calls = store.model_calls
        self._transaction = store.transaction
        self._caps = caps
        self._now = now
        self._prices = dict(prices)
        self._wait = wait
        self._done: list[ModelCall] = []

    @property
    def model(self) -> str:
        """The service and the model that is asked."""
        return f"{self._chat.service}/{self._chat.model}".rstrip("/")

    def cost(self) -> ModelCost:
        """What its answers have cost so far."""
        if not self._done:
            return ModelCost()
        tokens = sum(call.tokens_in + call.tokens_out for call in self._done)
        prices = [call.usd for call in self._done if call.usd is not None]
        usd = sum(prices) if len(prices) == len(self._done) else None
        return ModelCost(self._done[-1].model or self.model, tokens, usd)

    def ask(self, purpose: CallPurpose, question: Question, parse: Callable[[str], T]) -> T:
        """The answer, as `parse` reads it. Where `parse` raises a `ModelAnswerError`, the model
        is told why and asked again."""
        asked = question
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return parse(self._call(purpose, asked, attempt).text)
            except ModelAnswerError as error:
                # A question with tools was already corrected, and would look everything up again.
                if attempt == MAX_ATTEMPTS or question.toolbox is not None:
                    raise
                complaint = f"Your last answer could not be used: {error.message} Answer again."
                # A service may accept the schema and not show it to the model.
                schema = schema_in_words(question.schema)
                asked = question._replace(text=f"{question.text}\n\n{complaint} {schema}")
            except _NOT_RETRIED:
                raise
            except ModelError as error:
                # A person waits for a question with tools, and each attempt is expensive.
                if attempt == MAX_ATTEMPTS or (question.toolbox is not None and error.may_cost):
                    self._pause(error, _TIMES.first_pause)
                    raise
                self._wait(_TIMES.first_retry * 2 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")

    def _call(self, purpose: CallPurpose, question: Question, attempt: int) -> Reply:
        call = self._reserve(purpose, question, attempt)
        began = monotonic()
        try:
            reply = self._chat.ask(question)
        except ModelError as error:
            self._record_failure(call, error, began)
            raise
        self._record_answer(call, reply, began)
        return reply

    def _reserve(self, purpose: CallPurpose, question: Question, attempt: int) -> ModelCall:
        now = self._now()
        chat = self._chat
        limit = max_usage(question)
        price = price_of(chat.model, self._prices)
        call = ModelCall(
            purpose.bank,
            uuid.uuid4().hex,
            now,
            purpose.session,
            purpose.operation,
            chat.service,
            chat.model,
            limit.tokens_in,
            limit.tokens_out,
            usd=None if price is None else price.cost(limit),
            attempt=attempt,
        )
        with self._transaction():
            self._check_pause(now)
            self._check_caps(call, now)
            self._calls.reserve(call)
        return call

    def _check_pause(self, now: str) -> None:
        for pause in self._calls.paused_services():
            # A pause that began in the future shows that the clock was set back.
            if pause.service == self.model and pause.since <= now < pause.until:
                raise SpendError(
                    f"{self.model} is paused until {pause.until}: {pause.problem}",
                    "It is called again automatically.",
                )

    def _check_caps(self, call: ModelCall, now: str) -> None:
        caps = self._caps
        today = self._calls.total_spent(now[:10])
        self._check(call, today, caps.day_tokens, caps.day_usd, "today", "day")
        if call.session:
            own = self._calls.total_spent("", call.bank, call.session)
            limits = (caps.session_tokens, caps.session_usd)
            self._check(call, own, *limits, "for this session", "session")

    def _check(
        self, call: ModelCall, spent: Spending, tokens: int, usd: float, when: str, name: str
    ) -> None:
        wanted = call.tokens_in + call.tokens_out
        if spent.tokens + wanted > tokens:
            raise SpendError(
                f"A call may take {wanted:,} tokens; {spent.tokens:,} of {tokens:,} are spent "
                f"{when}.",
                f"Raise models.{name}_tokens if you want more.",
                session=name == "session",
            )
        if call.usd is not None and spent.usd + call.usd > usd:
            raise SpendError(
                f"A call may cost ${call.usd:.4f}; ${spent.usd:.4f} of ${usd:.2f} are spent "
                f"{when}.",
                f"Raise models.{name}_usd if you want more.",
                session=name == "session",
            )

    def _record_answer(self, call: ModelCall, reply: Reply, began: float) -> None:
        used = reply.usage
        if not used.tokens_in:  # the service does not report usage
            used = used._replace(tokens_in=call.tokens_in, tokens_out=estimate_tokens(reply.text))
        price = price_of(reply.model, self._prices) or price_of(self._chat.model, self._prices)
        usd = 0.0 if not used.billed else None if price is None else price.cost(used)
        done = replace(
            call,
            model=reply.model or call.model,
            tokens_in=used.tokens_in,
            tokens_out=used.tokens_out,
            tokens_cached=used.tokens_cached,
            usd=usd,
            ms=round((monotonic() - began) * 1000),
            outcome=CallOutcome.DONE,
        )
        self._done.append(done)
        with self._transaction():
            self._calls.record_result(done)
            self._calls.resume_service(self.model)

    def _record_failure(self, call: ModelCall, error: ModelError, began: float) -> None:
        """Record a failed call. If it may have been charged, the part of the reservation that
        was under way stays."""
        outcome = CallOutcome.FAILED
        if isinstance(error, ModelBusyError):
            outcome = CallOutcome.BUSY
        elif isinstance(error, ModelRefusedError | ModelTooLongError):
            outcome = CallOutcome.REFUSED
        failed = replace(
            call,
            ms=round((monotonic() - began) * 1000),
            outcome=outcome,
            problem=error.message[:_MAX_PROBLEM_CHARACTERS],
        )
        share = error.share if error.may_cost else 0.0
        if share < 1.0:
            failed = replace(
                failed,
                tokens_in=round(share * call.tokens_in),
                tokens_out=round(share * call.tokens_out),
                usd=share * call.usd if call.usd is not None else None if share else 0.0,
            )
        with self._transaction():
            self._calls.record_result(failed)
        if isinstance(error, ModelBusyError):
            self._pause(error, error.retry_after_s or _TIMES.first_pause, error.retry_after_s)
        elif isinstance(error, ModelRefusedError):
            self._pause(error, _TIMES.refused)

    def _pause(self, error: ModelError, first_s: float, exact_s: float | None = None) -> None:
        """Pause the service: as long as it asks for, else twice as long each time."""
        now = self._now()
        with self._transaction():
            pauses = {pause.service: pause for pause in self._calls.paused_services()}
            known = pauses.get(self.model)
            attempts = known.attempts + 1 if known else 1
            length = first_s * 2 ** min(attempts - 1, 20)
            length = exact_s if exact_s is not None else min(length, _TIMES.longest_pause)
            problem = error.full_text[:_MAX_PROBLEM_CHARACTERS]
            until = add_seconds(now, length)
            self._calls.pause_service(ServicePause(self.model, until, attempts, problem, now))
