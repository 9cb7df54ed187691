"""L2 by a model: summaries of exchanges and of sessions, where the settings allow to ask one.

The work list is derived: sessions with something by rules alone that was not tried. An exchange
that still goes on is left alone, since it would be paid for again at its next turn. Each answer is
stored with its check in the transaction that makes its session stale, so that whatever is killed
is found again and not paid again, but for the call in flight. What comes to nothing is noted, and
the rules' version stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.errors import ModelAnswerError, ModelError, SpendError
from holdfast.inference.chat import Question
from holdfast.model.accounts import Summary
from holdfast.model.ids import content_id
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.trust import Status
from holdfast.refine import prompts
from holdfast.refine.answers import ExchangeDraft, read_digest, read_exchanges
from holdfast.refine.derive import derive_stale, last_said
from holdfast.refine.evidence import Evidence
from holdfast.refine.summaries import (
    checked_digest,
    checked_exchange,
    digest_hash,
    exchange_hash,
)
from holdfast.spend.governor import Governor, Purpose
from holdfast.store.protocol import Store

SUMMARIES, DIGESTS = "summaries", "digests"
# Less than this is said as well by rules.
_WORTH_BYTES = 200
_BATCH = 6
_UNBORNE = "nothing in the answer was borne out by the turns"
_LEFT_OUT = "the model left it out"
_TOO_SHORT = "too short to be worth a call"


class Limits(NamedTuple):
    """How much is sent at once, after how many uses of tools, and from when on."""

    input_tokens: int
    tool_uses: int
    since: str


class Done(NamedTuple):
    """What was summed up, what came to nothing, and why it went no further, if it did not."""

    exchanges: int = 0
    digests: int = 0
    failed: int = 0
    stopped: str = ""


class _Waiting(NamedTuple):
    exchange: Exchange
    turns: Sequence[Turn]
    hash: str
    parts: Sequence[str]

    @property
    def size(self) -> int:
        return sum(len(part.encode("utf-8", "replace")) for part in self.parts)


class Summariser:
    """Sums up what waits, with one governor."""

    def __init__(
        self,
        store: Store,
        governor: Governor,
        limits: Limits,
        redactor: Redactor,
        now: Callable[[], str],
        is_over: Callable[[Session], bool],
    ) -> None:
        self._store = store
        self._governor = governor
        self._limits = limits
        self._redactor = redactor
        self._now = now
        self._is_over = is_over
        self._done = Done()

    def run(self, tick: Callable[[], None] = lambda: None) -> Done:
        """Go through the sessions that wait, the latest first, until a cap or a service says no."""
        for bank, id in self._store.unsummarised(self._limits.since, prompts.VERSION):
            session = self._store.session(bank, id)
            if session is None:
                continue
            try:
                self._sum_up(session, tick)
            except SpendError as error:
                self._stop(error)
                if not error.session:
                    break
            except ModelError as error:
                self._stop(error)
                break
        derive_stale(self._store)
        return self._done

    def _stop(self, error: ModelError) -> None:
        self._done = self._done._replace(stopped=error.message)

    def _sum_up(self, session: Session, tick: Callable[[], None]) -> None:
        over = self._is_over(session)
        waiting = list(self._waiting(session, over))
        uses = sum(turn.tool is not None for one in waiting for turn in one.turns)
        if not over and uses < self._limits.tool_uses:
            return
        for batch in _batches(waiting, self._limits.input_tokens * prompts.BYTES_PER_TOKEN):
            tick()
            self._sum_up_batch(session, batch)
        derive_stale(self._store)
        if over:
            tick()
            self._sum_up_session(session)

    def _waiting(self, session: Session, over: bool) -> Iterator[_Waiting]:
        """The exchanges that are whole and that nobody has tried."""
        exchanges = self._store.exchanges(session.bank, session.id)
        for x in exchanges if over else exchanges[:-1]:
            if x.author or x.status is Status.VERIFIED:  # a person's words need no model's
                continue
            turns = self._store.turns(x.bank, x.session, x.first_seq, x.last_seq)
            one = _Waiting(
                x,
                turns,
                exchange_hash(turns),
                prompts.parts_of_exchange(turns, self._limits.input_tokens),
            )
            if self._store.tried(x.bank, one.hash, prompts.VERSION):
                continue
            if one.size < _WORTH_BYTES:
                self._keep(one.exchange, one.hash, "", _TOO_SHORT)
            else:
                yield one

    def _sum_up_batch(self, session: Session, batch: Sequence[_Waiting]) -> None:
        if len(batch) == 1 and len(batch[0].parts) > 1:
            drafts = self._in_parts(session, batch[0])
        else:
            texts = [one.parts[0] for one in batch]
            drafts = self._ask_exchanges(session, prompts.exchanges_question(texts), len(batch))
        for number, one in enumerate(batch, 1):
            content, problem = "", ""
            if isinstance(drafts, str):
                problem = drafts
            elif number not in drafts:
                problem = _LEFT_OUT
            else:
                evidence = Evidence.of(one.turns)
                content = checked_exchange(drafts[number], evidence, self._redactor)
                problem = "" if content else _UNBORNE
            self._keep(one.exchange, one.hash, content, problem)

    def _in_parts(self, session: Session, one: _Waiting) -> dict[int, ExchangeDraft] | str:
        """An exchange that does not fit at once: each part with what the ones before came to,
        and each kept, so that it is paid for once."""
        notes = ""
        drafts: dict[int, ExchangeDraft] | str = {}
        for number, part in enumerate(one.parts):
            hash = content_id("part", one.hash, str(number))
            known = self._store.summary(session.bank, hash)
            if known is not None:
                notes = known.content
                drafts = read_exchanges(notes, 1)
                continue
            drafts = self._ask_exchanges(session, prompts.exchanges_question([part], notes), 1)
            if isinstance(drafts, str):
                return drafts
            notes = self._redactor.redact(prompts.spell_draft(drafts[1])).text
            self._keep(one.exchange, hash, notes, "", kind="part")
        return drafts

    def _ask_exchanges(
        self, session: Session, question: Question, wanted: int
    ) -> dict[int, ExchangeDraft] | str:
        """The drafts, or why there are none."""
        purpose = Purpose(SUMMARIES, session.bank, session.id)
        try:
            return self._governor.ask(purpose, question, lambda text: read_exchanges(text, wanted))
        except ModelAnswerError as error:
            return f"the answer could not be used: {error.message}"

    def _sum_up_session(self, session: Session) -> None:
        rules = self._store.digest_of(session.bank, session.id)
        exchanges = self._store.exchanges(session.bank, session.id)
        if rules is None or rules.author or not exchanges:
            return
        closing = last_said(self._store, exchanges)
        hash = digest_hash(exchanges, closing)
        if self._store.tried(session.bank, hash, prompts.VERSION):
            return
        if not any(x.author for x in exchanges):
            # Rules over rules: there is nothing that a model would know better.
            self._keep(rules, hash, "", _TOO_SHORT, exchanges[-1])
            return
        text = prompts.session_text(rules, exchanges, closing, self._limits.input_tokens)
        content, problem = "", ""
        purpose = Purpose(DIGESTS, session.bank, session.id)
        try:
            draft = self._governor.ask(purpose, prompts.digest_question(text), read_digest)
            content = checked_digest(draft, Evidence([text], [text]), self._redactor)
            problem = "" if content else _UNBORNE
        except ModelAnswerError as error:
            problem = f"the answer could not be used: {error.message}"
        self._keep(rules, hash, content, problem, exchanges[-1])

    def _keep(
        self,
        record: Exchange | Digest,
        hash: str,
        content: str,
        problem: str,
        last: Exchange | None = None,
        kind: str = "",
    ) -> None:
        """Store what came of a record, and have it laid over."""
        last = record if isinstance(record, Exchange) else last
        assert last is not None
        own = kind or ("exchange" if isinstance(record, Exchange) else "digest")
        summary = Summary(
            record.bank,
            hash,
            prompts.VERSION,
            own,
            record.id if own != "part" else "",
            last.last_seq,
            self._governor.model,
            self._now(),
            content,
            problem,
        )
        with self._store.transaction():
            self._store.put_summary(summary, record.session, last.first_seq)
        done = self._done
        if own == "part" or problem == _TOO_SHORT:
            return
        self._done = done._replace(
            exchanges=done.exchanges + (own == "exchange" and bool(content)),
            digests=done.digests + (own == "digest" and bool(content)),
            failed=done.failed + (not content),
        )


def _batches(waiting: Sequence[_Waiting], most: int) -> Iterator[list[_Waiting]]:
    """Several short exchanges at once; one that needs parts comes alone."""
    batch: list[_Waiting] = []
    size = 0
    for one in waiting:
        length = len(one.parts[0].encode("utf-8", "replace"))
        if batch and (len(one.parts) > 1 or len(batch) == _BATCH or size + length > most):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
        if len(one.parts) > 1:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
