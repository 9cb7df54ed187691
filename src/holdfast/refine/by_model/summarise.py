"""Summarises exchanges and sessions with a model (L2), if the settings allow one.

The work list is derived from the store: sessions with exchanges or digests that only rules have
made and that were not tried. An exchange that still continues is skipped, because its next turn
would make the summary outdated. Each checked answer is stored in the transaction that makes its
session stale, so a run that is killed pays again for the call in flight only. A failed attempt is
recorded, and the version by rules stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from holdfast.inference.chat import Question
from holdfast.model.ids import content_id
from holdfast.model.records import Exchange, Session
from holdfast.refine.by_model.model_run import ModelRun, ask_to_fit
from holdfast.refine.by_model.summary_queue import (
    MIN_SUMMARY_BYTES,
    PendingExchange,
    batch_exchanges,
    pending_digest,
    pending_exchanges,
    project_name,
)
from holdfast.refine.model_output import prompts
from holdfast.refine.model_output.evidence import Evidence
from holdfast.refine.model_output.prompts import PromptContext
from holdfast.refine.model_output.responses import ExchangeDraft, parse_digest, parse_exchanges
from holdfast.refine.sessions.derive import derive_stale
from holdfast.refine.sessions.model_summaries import check_digest, check_exchange

SUMMARIES, DIGESTS = "summaries", "digests"
_UNSUPPORTED = "the turns support nothing in the answer"
_MISSING = "the model left it out"
_TOO_SHORT = "too short to be worth a call"


class SummaryLimits(NamedTuple):
    """The size of a prompt, the number of new tool calls from which a running session is
    summarised, and the time from which on sessions are."""

    input_tokens: int
    tool_uses: int
    since: str


class SummaryReport(NamedTuple):
    """What was summarised, how many attempts failed, and why the run stopped early."""

    exchanges: int = 0
    digests: int = 0
    failed: int = 0
    stopped: str = ""


class Summariser:
    """Summarises what is pending."""

    def __init__(self, run: ModelRun, limits: SummaryLimits) -> None:
        self._run = run
        self._store = run.store
        self._limits = limits
        self._done = SummaryReport()
        self._is_rerun = False

    def run(self, on_progress: Callable[[], None] = lambda: None) -> SummaryReport:
        """Summarise pending sessions, the latest first, until a spending cap is reached or the
        service fails. Calls `on_progress` before each call."""
        pending = self._store.summaries.unsummarised_sessions(
            self._limits.since, prompts.PROMPT_VERSION
        )
        return self._run_sessions(pending, on_progress)

    def rerun(
        self, sessions: Iterable[tuple[str, str]], on_progress: Callable[[], None] = lambda: None
    ) -> SummaryReport:
        """Summarise these sessions again. The old summaries stay until there are new ones."""
        self._is_rerun = True
        return self._run_sessions(sessions, on_progress)

    def _run_sessions(
        self, sessions: Iterable[tuple[str, str]], on_progress: Callable[[], None]
    ) -> SummaryReport:
        known = (self._store.sessions.get(bank, id) for bank, id in sessions)
        stopped = self._run.each_session(
            filter(None, known), lambda session: self._summarise_to_fit(session, on_progress)
        )
        return self._done._replace(stopped=stopped)

    def _summarise_to_fit(self, session: Session, on_progress: Callable[[], None]) -> None:
        """Summarise a session. A smaller size of prompts is used for all sessions after it."""

        def summarise(input_tokens: int) -> None:
            self._limits = self._limits._replace(input_tokens=input_tokens)
            self._summarise(session, on_progress)

        ask_to_fit(self._limits.input_tokens, summarise)

    def _summarise(self, session: Session, on_progress: Callable[[], None]) -> None:
        over, tokens = self._run.is_over(session), self._limits.input_tokens
        pending = list(pending_exchanges(self._store, session, over, tokens, self._is_rerun))
        for one in pending:
            if one.size < MIN_SUMMARY_BYTES:
                self._store_summary("exchange", one.exchange, one.hash, "", _TOO_SHORT)
        pending = [one for one in pending if one.size >= MIN_SUMMARY_BYTES]
        uses = sum(turn.tool is not None for one in pending for turn in one.turns)
        if not over and not self._is_rerun and uses < self._limits.tool_uses:
            return
        for batch in batch_exchanges(pending, tokens):
            on_progress()
            self._summarise_batch(session, batch)
        derive_stale(self._store)
        if over:
            on_progress()
            self._summarise_session(session)

    def _summarise_batch(self, session: Session, batch: Sequence[PendingExchange]) -> None:
        if len(batch) == 1 and len(batch[0].parts) > 1:
            drafts = self._ask_in_parts(session, batch[0])
        else:
            texts = [one.parts[0] for one in batch]
            question = prompts.exchanges_question(texts, context=self._context(session, batch[0]))
            drafts = self._ask_exchanges(session, question, len(batch))
        for number, one in enumerate(batch, 1):
            content, problem = "", ""
            if isinstance(drafts, str):
                problem = drafts
            elif number not in drafts:
                problem = _MISSING
            else:
                context = self._context(session, one)
                evidence = Evidence.from_turns(one.turns, (context.project, context.before))
                content = check_exchange(drafts[number], evidence, self._run.redactor)
                problem = "" if content else _UNSUPPORTED
            self._store_summary("exchange", one.exchange, one.hash, content, problem)

    def _ask_in_parts(
        self, session: Session, one: PendingExchange
    ) -> dict[int, ExchangeDraft] | str:
        """Summarise an exchange part by part, each with the summary of those before it. The summary
        of each part is stored, so that it is paid for once."""
        notes = ""
        context = self._context(session, one)
        drafts: dict[int, ExchangeDraft] | str = {}
        for part in one.parts:
            hash = content_id("part", one.hash, part)
            known = self._store.summaries.get(session.bank, hash)
            if known is not None and known.version == prompts.PROMPT_VERSION:
                notes = known.content
                drafts = parse_exchanges(notes, 1)
                continue
            question = prompts.exchanges_question([part], notes, context)
            drafts = self._ask_exchanges(session, question, 1)
            if isinstance(drafts, str):
                return drafts
            notes = self._run.redactor.redact(prompts.draft_to_json(drafts[1])).text
            self._store_summary("part", one.exchange, hash, notes, "")
        return drafts

    def _ask_exchanges(
        self, session: Session, question: Question, wanted: int
    ) -> dict[int, ExchangeDraft] | str:
        """The drafts by number, or why there are none."""
        limited = self._limit_answer(question)
        return self._run.ask(SUMMARIES, session, limited, lambda t: parse_exchanges(t, wanted))

    def _context(self, session: Session, first: PendingExchange) -> PromptContext:
        return PromptContext(project_name(self._store, session), first.before)

    def _limit_answer(self, question: Question) -> Question:
        """Limit the answer to the size of the prompt: many models count both together."""
        return question._replace(tokens=min(question.tokens, self._limits.input_tokens))

    def _summarise_session(self, session: Session) -> None:
        pending = pending_digest(self._store, session, self._limits.input_tokens, self._is_rerun)
        if pending is None:
            return
        digest, last, hash, text = pending
        content, problem = "", _TOO_SHORT
        if text:
            project = project_name(self._store, session)
            question = prompts.digest_question(text, PromptContext(project))
            question = self._limit_answer(question)
            draft = self._run.ask(DIGESTS, session, question, parse_digest)
            if isinstance(draft, str):
                problem = draft
            else:
                evidence = Evidence([text], [text, project])
                content = check_digest(draft, evidence, self._run.redactor)
                problem = "" if content else _UNSUPPORTED
        self._store_summary("digest", last, hash, content, problem, digest.id)

    def _store_summary(
        self, kind: str, last: Exchange, hash: str, content: str, problem: str, digest: str = ""
    ) -> None:
        """Store the summary of an exchange, of a part of it, or of the digest that it ends."""
        id = {"exchange": last.id, "part": "", "digest": digest}[kind]
        self._run.store_answer(kind, prompts.PROMPT_VERSION, hash, id, last, content, problem)
        if kind == "part" or problem == _TOO_SHORT:
            return
        done = self._done
        self._done = done._replace(
            exchanges=done.exchanges + (kind == "exchange" and bool(content)),
            digests=done.digests + (kind == "digest" and bool(content)),
            failed=done.failed + (not content),
        )
