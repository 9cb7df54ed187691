"""Has a model judge what the next start brief may tell: which statements are useful, which are not
needed, and which no longer hold. Only somebody who reads what happened later can say that.

It works once for each session that ended, and never while one of the bank runs. The statements are
asked about in calls by age, each with the sessions since the oldest of them. A statement that was
judged is asked about again only after several later sessions were about it, and while a brief would
tell it. If the model leaves one out or its answer cannot be used, that one is asked about again in
the next reviews, a few times. Each answer is stored when it comes, so a run that is killed pays
again for the call in flight only. What a brief does with verdicts is decided in
`holdfast.brief.verdicts`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from holdfast.errors import ModelAnswerError
from holdfast.inference.chat import Question
from holdfast.language import collapse_spaces, content_stems, truncate
from holdfast.model.curation import Verdict
from holdfast.model.ids import content_id
from holdfast.model.ledgers.model_calls import ModelSummary
from holdfast.model.records import Exchange, Session
from holdfast.model.trust import Trust, source_of
from holdfast.refine.by_model.model_run import ModelRun, ask_to_fit
from holdfast.refine.by_model.session_outlines import Detail, Outlines
from holdfast.refine.by_model.summary_queue import project_name
from holdfast.refine.model_output import prompts
from holdfast.refine.model_output.evidence import FACT_SHARE, SUMMARY_SHARE, Evidence, clean_text
from holdfast.refine.model_output.model_verdicts import (
    REVIEW,
    VERDICT,
    ModelVerdict,
    model_verdicts,
)
from holdfast.refine.model_output.prompts import (
    MAX_ANSWER_TOKENS,
    TEXT_SCHEMA,
    PromptContext,
    build_question,
    object_schema,
)
from holdfast.refine.model_output.responses import parse_object, text_field
from holdfast.store.protocol import Reader, Store

BRIEFS = "briefs"
# Raise it with every change of the prompt that changes answers. What older prompts judged stays:
# nothing is paid for again that nobody asked for.
VERSION = 1


class ReviewLimits(NamedTuple):
    """How much is asked. A start brief has 15 to 20 lines."""

    # Statements that are asked about at once, and in a bank that was never reviewed: with fewer,
    # what takes the place of dropped lines was judged by nobody.
    statements: int = 40
    first_statements: int = 80
    # With so many useful ones, only what is new or told is asked about.
    enough_useful: int = 40
    # Input tokens for each statement and what happened since, and statements in one call: more
    # leave less room for what happened, and answers get careless.
    tokens_per_statement: int = 400
    per_call: int = 25
    # A statement is judged again after so many later sessions that were about it.
    later_sessions: int = 5
    # Reviews in which a statement is asked about until there is an answer: what a model does not
    # answer three times it does not answer later either, and each time is paid for.
    attempts: int = 3
    # Sessions among which one that still runs is looked for.
    running: int = 10
    why_characters: int = 120
    rewritten_characters: int = 240
    files: int = 3


_LIMITS = ReviewLimits()
_MISSING = "the model left it out"
_TASK = f"""\
At the start of the next session of this project the memory tells a few statements to an agent that
knows the code and its git log, and nothing else of what happened. Say of each statement whether it
should be told then. List 1 holds the sessions since the oldest of these statements, the latest at
the end; of some it tells more, with how they closed. List 2 holds the statements: the day, who said
it, its kind, the session and the turn in which it was said. An "end of session" is what was asked
last in a session and what came of it; it is told as a place where work stopped.

First read what happened after a statement: later in its session, how that closed, and in the
sessions after it. Judge it as of the end of the last session. Of each give:
- number: of the statement
- why: the reason, in at most 15 words
- verdict:
  useful: the next session, about whatever in this project, would do better for it: a lasting rule,
  decision or preference of the person; a pitfall, or the cause of a fault, that can come back; how
  something works that the code does not show at a glance; an important outcome or state that still
  holds; what was left open and still is
  unneeded: true, but nobody needs it: plain from the code or the git log, a detail, a step,
  progress, a report of checks, too vague, or not understood without its session
  outdated: it would mislead: no longer true, undone, replaced or done since, wrong, a proposal or a
  plan that was not taken, a guess, or an order for that one time
- rewritten: only for what an agent said, if it is useful and somebody who reads nothing but this
  statement would not understand it: one sentence of at most {_LIMITS.rewritten_characters}
  characters that they would understand, with names for "it" and "this", made of nothing but what
  the data says; else empty

A statement about something that later sessions changed is outdated unless it still fits. A fault
that was mended is unneeded, unless its cause can come back or teaches something. What was done is
useful only if it says how things are now, or why, and no glance at the code shows that. In doubt
between useful and unneeded think of an agent that is new to this project: would it be glad to know?

A good answer, of another project:
{{"verdicts": [
{{"number": 1, "why": "session 9 replaced the retry wrapper", "verdict": "outdated", "rewritten":
""}},
{{"number": 2, "why": "trap of the supplier's files, still so", "verdict": "useful", "rewritten":
"Suppliers reuse file names, so the nightly import identifies files by their hash."}},
{{"number": 3, "why": "only says that tests passed", "verdict": "unneeded", "rewritten": ""}}]}}"""

_VERDICT_SCHEMA = object_schema(
    number={"type": "integer"},
    why=TEXT_SCHEMA,
    verdict={"type": "string", "enum": [one.value for one in Verdict]},
    rewritten=TEXT_SCHEMA,
)
SCHEMA = object_schema(verdicts={"type": "array", "items": _VERDICT_SCHEMA})


# Where the end of a session comes from, as a question names it.
BOTH = "person and agent"


class Statement(NamedTuple):
    """What a brief may tell: the URI of the record, its words, when it was said and where it comes
    from (`source_of`), its kind and its files, and the exchange and the turn that state it.
    `is_told`: whether the next brief tells it."""

    uri: str
    text: str
    time: str
    source: str
    kind: str
    files: tuple[str, ...]
    exchange: Exchange
    seq: int
    is_told: bool

    @property
    def hash(self) -> str:
        """The key under which its verdict is stored."""
        return content_id(VERDICT, self.uri, self.text)


class ReviewReport(NamedTuple):
    """How many statements were judged, of how many there is no verdict though they were asked
    about, and why the run stopped early."""

    judged: int = 0
    failed: int = 0
    stopped: str = ""


class VerdictDraft(NamedTuple):
    """A verdict as a model gave it."""

    verdict: Verdict
    why: str
    rewritten: str


FindStatements = Callable[[str], Iterable[Statement]]


class BriefReviewer:
    """Has statements judged in the banks whose last session ended since `since`."""

    def __init__(
        self, run: ModelRun, input_tokens: int, since: str, find_statements: FindStatements
    ) -> None:
        """`find_statements` gives the statements of a bank that a brief may tell, the best
        first."""
        self._run = run
        self._store = run.store
        self._tokens = input_tokens
        self._since = since
        self._find = find_statements
        self._done = ReviewReport()

    def run(self, on_progress: Callable[[], None] = lambda: None) -> ReviewReport:
        """Ask until a spending cap is reached or the service fails. Calls `on_progress` before each
        call."""

        def review(last: Session) -> None:
            def ask(tokens: int) -> None:
                self._tokens = tokens
                self._review(last, on_progress)

            ask_to_fit(self._tokens, ask)

        stopped = self._run.each_session(self._last_sessions(), review)
        return self._done._replace(stopped=stopped)

    def _last_sessions(self) -> Iterator[Session]:
        """The last session of each bank that is to be reviewed."""
        for bank in self._store.banks.all():
            latest = self._store.sessions.latest(bank.id, _LIMITS.running)
            last = next((one for one in latest if not one.parent), None)
            if last is None or last.ended < self._since or _was_reviewed(self._store, last):
                continue
            if all(self._run.is_over(one) for one in latest):
                yield last

    def _review(self, last: Session, on_progress: Callable[[], None]) -> None:
        outlines = Outlines(self._store, last.bank)
        is_complete = True
        for batch in pending_calls(self._store, last.bank, outlines, self._tokens, self._find):
            on_progress()
            question = review_question(self._store, last, outlines, batch, self._tokens)
            parse = partial(parse_verdicts, wanted=len(batch))
            answer = self._run.ask(BRIEFS, last, question, parse)
            self._store_verdicts(last, outlines, batch, answer)
            is_complete = is_complete and not isinstance(answer, str)
        self._mark_reviewed(last, is_complete)

    def _store_verdicts(
        self,
        last: Session,
        outlines: Outlines,
        batch: Sequence[Statement],
        answer: dict[int, VerdictDraft] | str,
    ) -> None:
        drafts, problem = ({}, answer) if isinstance(answer, str) else (answer, _MISSING)
        judged = model_verdicts(self._store, last.bank)
        data = [project_name(self._store, last), *(one.text for one in batch)]
        data += [one.text(Detail.FULL) for one in outlines.all if drafts]
        with self._store.transaction():
            for number, one in enumerate(batch, 1):
                if number in drafts:
                    content = self._checked(one, drafts[number], data)
                    self._put(VERDICT, one.hash, one.exchange, content, "")
                else:
                    # An earlier verdict stands.
                    attempts = _Attempts(self._store, one, judged.get(one.uri))
                    self._put(VERDICT, attempts.next_hash(), one.exchange, "", problem)
            if drafts:
                self._store.progress.mark_changed(last.bank, "")
        self._done = ReviewReport(
            self._done.judged + len(drafts), self._done.failed + len(batch) - len(drafts)
        )

    def _checked(self, one: Statement, draft: VerdictDraft, data: Sequence[str]) -> str:
        """A verdict as it is stored: redacted, and without words that neither the data supports nor
        the exchange that states it."""
        redact = self._run.redactor.redact
        why = clean_text(draft.why)
        rewritten = clean_text(draft.rewritten)
        is_wanted = one.source == source_of(Trust.ASSISTANT) and draft.verdict is Verdict.USEFUL
        if not is_wanted or len(rewritten) > _LIMITS.rewritten_characters:
            rewritten = ""
        x = one.exchange
        turns = self._store.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
        known = [*data, *one.files, *map(prompts.trusted_text, turns)]
        evidence = Evidence(known, known)
        if not evidence.supports(rewritten, FACT_SHARE):
            rewritten = ""
        if not evidence.supports(truncate(why, _LIMITS.why_characters), SUMMARY_SHARE):
            why = ""
        return json.dumps(
            {
                "uri": one.uri,
                "verdict": draft.verdict.value,
                # Half a secret would not be recognised.
                "why": truncate(redact(why).text, _LIMITS.why_characters),
                "rewritten": redact(rewritten).text,
            },
            ensure_ascii=False,
        )

    def _mark_reviewed(self, last: Session, is_complete: bool) -> None:
        """Nothing is asked again until the next session ended. If an answer could not be used,
        what was not judged counts as if nobody had been asked."""
        exchanges = self._store.sessions.exchanges(last.bank, last.id)
        if exchanges:
            with self._store.transaction():
                self._put(
                    REVIEW, _review_hash(last), exchanges[-1], "{}" if is_complete else "", ""
                )
                self._store.progress.mark_changed(last.bank, "")

    def _put(self, kind: str, hash: str, x: Exchange, content: str, problem: str) -> None:
        made_by, time = self._run.governor.model, self._run.now()
        self._store.summaries.replace(
            ModelSummary(
                x.bank, hash, VERSION, kind, x.id, x.last_seq, made_by, time, content, problem
            )
        )


def _review_hash(last: Session) -> str:
    return content_id(REVIEW, last.id, last.ended)


def _was_reviewed(store: Store, last: Session) -> bool:
    return store.summaries.was_attempted(last.bank, _review_hash(last), VERSION)


def pending_calls(
    store: Store, bank: str, outlines: Outlines, tokens: int, find: FindStatements
) -> list[list[Statement]]:
    """The statements to ask about, in calls by age, the latest first."""
    pending = list(_pending(store, bank, outlines, find(bank)))
    pending.sort(key=lambda one: (one.time, one.uri), reverse=True)
    size = max(1, min(_LIMITS.per_call, tokens // _LIMITS.tokens_per_statement))
    calls = -(-len(pending) // size)
    # Of about the same size.
    return [
        pending[len(pending) * n // calls : len(pending) * (n + 1) // calls] for n in range(calls)
    ]


def _pending(
    store: Store, bank: str, outlines: Outlines, statements: Iterable[Statement]
) -> Iterator[Statement]:
    judged = model_verdicts(store, bank)
    last = max((one.time for one in judged.values()), default="")
    left = _LIMITS.statements if judged else _LIMITS.first_statements
    found = sum(one.verdict is Verdict.USEFUL for one in judged.values())
    for one in statements:
        if left == 0:
            return
        attempts = _Attempts(store, one, judged.get(one.uri))
        if store.summaries.was_attempted(bank, one.hash, VERSION):
            is_due = one.uri in judged and _is_due_again(one, judged[one.uri], outlines)
        else:
            is_wanted = one.is_told or one.time > last or attempts.failed
            is_due = is_wanted or found < _LIMITS.enough_useful or not judged
        if is_due and not attempts.are_used_up:
            yield one
            left -= 1


class _Attempts:
    """How often a model was asked in vain about a statement since it was last judged."""

    def __init__(self, store: Store, one: Statement, judged: ModelVerdict | None) -> None:
        since = judged.time if judged is not None else ""
        hashes = [
            content_id(VERDICT, one.uri, one.text, since, str(number))
            for number in range(_LIMITS.attempts)
        ]
        bank, was_attempted = one.exchange.bank, store.summaries.was_attempted
        self._left = [hash for hash in hashes if not was_attempted(bank, hash, VERSION)]

    @property
    def failed(self) -> bool:
        return len(self._left) < _LIMITS.attempts

    @property
    def are_used_up(self) -> bool:
        return not self._left

    def next_hash(self) -> str:
        """The key under which the next one is stored."""
        return self._left[0]


def _is_due_again(one: Statement, judged: ModelVerdict, outlines: Outlines) -> bool:
    """Whether enough happened since a statement was judged that a brief tells."""
    if not one.is_told:
        return False
    words = content_stems(one.text)
    later = sum(it.is_about(one.files, words) for it in outlines.after(judged.time))
    return later >= _LIMITS.later_sessions


def review_question(
    store: Reader, last: Session, outlines: Outlines, batch: Sequence[Statement], tokens: int
) -> Question:
    """What is asked about these statements."""
    statements = "\n".join(
        _format_statement(number, one, outlines) for number, one in enumerate(batch, 1)
    )
    oldest = min(one.time for one in batch)
    own: dict[str, int] = {}
    for one in batch:
        own[one.exchange.session] = min(one.seq, own.get(one.exchange.session, one.seq))
    asked = [(one.files, content_stems(one.text), one.time) for one in batch]
    related = {
        outline.session.id
        for outline in outlines.after(oldest)
        if any(outline.session.ended > time and outline.is_about(f, w) for f, w, time in asked)
    }
    room = tokens * prompts.BYTES_PER_TOKEN - prompts.size_in_bytes(statements)
    sessions = outlines.text(oldest, own, related, room)
    bank = store.banks.get(last.bank)
    context = PromptContext(bank.name if bank else "")
    question = build_question(
        _TASK, [sessions, statements], SCHEMA, MAX_ANSWER_TOKENS, noun="list", context=context
    )
    return question._replace(tokens=min(question.tokens, tokens))


def _format_statement(number: int, one: Statement, outlines: Outlines) -> str:
    outline = outlines.get(one.exchange.session)
    place = f", session {outline.number}, turn {one.seq} of {outline.turns}" if outline else ""
    files = ", ".join(
        outline.relative(file) if outline else file for file in one.files[: _LIMITS.files]
    )
    about = f" (files: {files})" if files else ""
    said = f"{one.time[:10]}, {one.source}, {one.kind}{place}"
    return f"{number}. {said}: {collapse_spaces(one.text)}{about}"


def parse_verdicts(text: str, wanted: int) -> dict[int, VerdictDraft]:
    """The verdicts by number, 1 to `wanted`. Raises `ModelAnswerError` if there are none."""
    items: object = parse_object(text).get("verdicts")
    if not isinstance(items, list):
        raise ModelAnswerError("it has no list of verdicts.")
    found: dict[int, VerdictDraft] = {}
    for item in cast(list[object], items):
        fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        number: object = fields.get("number")
        verdict = text_field(fields, "verdict")
        if isinstance(number, int) and 1 <= number <= wanted and verdict in set(Verdict):
            draft = VerdictDraft(
                Verdict(verdict), text_field(fields, "why"), text_field(fields, "rewritten")
            )
            found.setdefault(number, draft)
    if not found:
        raise ModelAnswerError("no verdict in it has a number and one of the three words.")
    return found
