"""The spend governor: the only way to a model service. Nothing is asked that a cap does not allow.

Before a call its most is reserved in the ledger, in a transaction that sees what every other
process has reserved; afterwards the row tells what it took. A process that dies in between leaves
its reservation, so a cap errs on the safe side. A service that says "later" is left alone until
then, across restarts. A call is repeated at most twice, and each time is a row of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
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
from holdfast.inference.chat import Chat, Question, Reply, Usage
from holdfast.model.model_calls import CallOutcome, ModelCall, ServicePause, Spending
from holdfast.model.query import ModelCost
from holdfast.settings import SpendCaps
from holdfast.spend.prices import price_of
from holdfast.store.protocol.model_calls import ModelCallLedger

MAX_ATTEMPTS = 3
_FIRST_WAIT_S = 1.0
_FIRST_PAUSE_S = 60.0
_LONGEST_PAUSE_S = 6 * 3600.0
_REFUSED_PAUSE_S = 3600.0
_PROBLEM = 300
# Tokens are counted before anyone has cut the text into them: three bytes is little for prose
# and about right for code and for scripts other than Latin.
_BYTES_PER_TOKEN = 3
_FRAME_TOKENS = 200

# To ask again would not help, or not yet.
_FINAL = (ModelBusyError, ModelRefusedError, ModelStoppedError, ModelTooLongError, SpendError)

T = TypeVar("T")


class CallPurpose(NamedTuple):
    """What a call is for."""

    operation: str
    bank: str = ""
    session: str = ""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1


def max_usage(question: Question) -> Usage:
    """The most that a call may take. One with tools is sent all that was said before each time it
    speaks, and what the tools gave."""
    asked = estimate_tokens(question.system + question.text + str(question.schema)) + _FRAME_TOKENS
    box = question.toolbox
    if box is None:
        return Usage(asked, question.tokens)
    offered = estimate_tokens(str([tool[:3] for tool in box.tools]))
    given = box.characters // _BYTES_PER_TOKEN + 1
    said = question.tokens * (box.turns - 1) // 2
    return Usage(box.turns * (asked + offered + given + said), box.turns * question.tokens)


class Governor:
    """Asks one model service for what the caps allow."""

    def __init__(
        self,
        chat: Chat,
        calls: ModelCallLedger,
        caps: SpendCaps,
        now: Callable[[], str],
        prices: tuple[tuple[str, tuple[float, float]], ...] = (),
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self._chat = chat
        self._calls = calls
        self._caps = caps
        self._now = now
        self._prices = dict(prices)
        self._wait = wait
        self._done: list[ModelCall] = []

    @property
    def model(self) -> str:
        """The model that is asked for, and its service."""
        return f"{self._chat.service}/{self._chat.model}".rstrip("/")

    def cost(self) -> ModelCost:
        """What its answers took so far."""
        if not self._done:
            return ModelCost()
        tokens = sum(call.tokens_in + call.tokens_out for call in self._done)
        prices = [call.usd for call in self._done if call.usd is not None]
        usd = sum(prices) if len(prices) == len(self._done) else None
        return ModelCost(self._done[-1].model or self.model, tokens, usd)

    def ask(self, purpose: CallPurpose, question: Question, parse: Callable[[str], T]) -> T:
        """The answer, as `parse` reads it. An answer that it cannot use, it says so with a
        `ModelAnswerError`, and the model is told and asked again."""
        asked = question
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return parse(self._call(purpose, asked, attempt).text)
            except ModelAnswerError as error:
                # One with tools was told already, and would look everything up again.
                if attempt == MAX_ATTEMPTS or question.toolbox is not None:
                    raise
                told = f"Your last answer could not be used: {error.message} Answer again."
                asked = question._replace(text=f"{question.text}\n\n{told}")
            except _FINAL:
                raise
            except ModelError as error:
                # Somebody waits for one with tools, and each time is dear.
                if attempt == MAX_ATTEMPTS or (question.toolbox is not None and error.may_cost):
                    self._pause(error, _FIRST_PAUSE_S)
                    raise
                self._wait(_FIRST_WAIT_S * 2 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")

    def _call(self, purpose: CallPurpose, question: Question, attempt: int) -> Reply:
        call = self._reserve(purpose, question, attempt)
        began = monotonic()
        try:
            reply = self._chat.ask(question)
        except ModelError as error:
            self._fail(call, error, began)
            raise
        self._settle(call, reply, began)
        return reply

    def _reserve(self, purpose: CallPurpose, question: Question, attempt: int) -> ModelCall:
        now = self._now()
        chat = self._chat
        most = max_usage(question)
        price = price_of(chat.model, self._prices)
        call = ModelCall(
            purpose.bank,
            uuid.uuid4().hex,
            now,
            purpose.session,
            purpose.operation,
            chat.service,
            chat.model,
            most.tokens_in,
            most.tokens_out,
            usd=None if price is None else price.of(most),
            attempt=attempt,
        )
        with self._calls.transaction():
            self._check_pause(now)
            self._check_caps(call, now)
            self._calls.reserve_call(call)
        return call

    def _check_pause(self, now: str) -> None:
        for pause in self._calls.paused_services():
            # One that began in the future tells that the clock was set back.
            if pause.service == self.model and pause.since <= now < pause.until:
                raise SpendError(
                    f"{self.model} rests until {pause.until}: {pause.problem}",
                    "It is asked again by itself.",
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

    def _settle(self, call: ModelCall, reply: Reply, began: float) -> None:
        used = reply.usage
        if not used.tokens_in:  # a service that does not count
            used = used._replace(tokens_in=call.tokens_in, tokens_out=estimate_tokens(reply.text))
        price = price_of(reply.model, self._prices) or price_of(self._chat.model, self._prices)
        usd = 0.0 if not used.billed else None if price is None else price.of(used)
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
        with self._calls.transaction():
            self._calls.record_call_result(done)
            self._calls.resume_service(self.model)

    def _fail(self, call: ModelCall, error: ModelError, began: float) -> None:
        """Note what went wrong. What may have cost something stays as it was reserved, as far as
        it was under way."""
        outcome = CallOutcome.FAILED
        if isinstance(error, ModelBusyError):
            outcome = CallOutcome.BUSY
        elif isinstance(error, ModelRefusedError | ModelTooLongError):
            outcome = CallOutcome.REFUSED
        failed = replace(
            call,
            ms=round((monotonic() - began) * 1000),
            outcome=outcome,
            problem=error.message[:_PROBLEM],
        )
        share = error.share if error.may_cost else 0.0
        if share < 1.0:
            failed = replace(
                failed,
                tokens_in=round(share * call.tokens_in),
                tokens_out=round(share * call.tokens_out),
                usd=share * call.usd if call.usd is not None else None if share else 0.0,
            )
        with self._calls.transaction():
            self._calls.record_call_result(failed)
        if isinstance(error, ModelBusyError):
            self._pause(error, error.retry_after_s or _FIRST_PAUSE_S, error.retry_after_s)
        elif isinstance(error, ModelRefusedError):
            self._pause(error, _REFUSED_PAUSE_S)

    def _pause(self, error: ModelError, first_s: float, exact_s: float | None = None) -> None:
        """Leave the service alone: as long as it says, else twice as long each time."""
        now = self._now()
        with self._calls.transaction():
            known = {pause.service: pause for pause in self._calls.paused_services()}.get(self.model)
            attempts = known.attempts + 1 if known else 1
            length = first_s * 2 ** min(attempts - 1, 20)
            length = exact_s if exact_s is not None else min(length, _LONGEST_PAUSE_S)
            problem = f"{error.message} {error.remedy}".strip()[:_PROBLEM]
            until = add_seconds(now, length)
            self._calls.pause_service(ServicePause(self.model, until, attempts, problem, now))


def add_seconds(moment: str, seconds: float) -> str:
    """A moment so many seconds after another, as records spell it."""
    at = datetime.fromisoformat(moment) + timedelta(seconds=min(seconds, 366 * 86400.0))
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
