"""Extracts memories from sessions with a model: what is worth remembering, of which kind.

It works like `summarise`: the work list is what was not tried yet, only sessions that are over are
read, each answer is checked against the turns and stored in the transaction that makes its session
stale. One call is shown as much of a session as fits, because a model that sees all of it chooses
better and repeats less, and the instructions are paid for once. Where an answer cannot be used, the
memories by rules and by the selector stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from holdfast.errors import ModelAnswerError
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Kind
from holdfast.model.records import Exchange, Session
from holdfast.model.trust import Status
from holdfast.refine.by_model.model_run import ModelRun, ask_to_fit
from holdfast.refine.by_model.summary_queue import (
    MIN_SUMMARY_BYTES,
    PendingExchange,
    project_name,
)
from holdfast.refine.core.memory_calls import without_retold
from holdfast.refine.memories.model_extracted import (
    ExtractedMemories,
    MemoryDraft,
    checked_memories,
    extraction_hash,
)
from holdfast.refine.memories.retention_rules import MAX_WHAT_CHARS
from holdfast.refine.model_output import prompts
from holdfast.refine.model_output.evidence import Evidence
from holdfast.refine.model_output.prompts import (
    MAX_ANSWER_TOKENS,
    TEXT_SCHEMA,
    PromptContext,
    build_question,
    object_schema,
    split_exchange,
)
from holdfast.refine.model_output.responses import parse_object, text_field

EXTRACTION = "extraction"
# Raise it with every change of the prompt that changes answers. What older prompts extracted stays:
# nothing is paid for again that nobody asked for.
VERSION = 2
KIND, PART = "memories", "memories part"
# The latest sessions that are looked at in one run.
_MAX_SESSIONS = 40
# More than any field and any good answer has; what is longer is cut.
_MAX_FIELD_CHARACTERS = 1000
_MAX_MEMORIES = 40
# Memories of the same session that a prompt repeats, so that they are not given again.
_MAX_KNOWN = 20

_UNSUPPORTED = "the turns support nothing in the answer"
_TASK = f"""\
Give what a very good colleague, who sat beside, would remember for later sessions of this project:
that without which the next session would go wrong, do work again, or ask again. A session holds
three to ten such things, a short or ordinary one none to three. Each turn begins with its number.
Of each thing:
- turn: the number of the turn that states or settles it best
- kind:
  decision: one of several ways was settled on; say instead of what, and why, where that was said
  rule: what is always or never to be done here, because the person said so or corrected the agent
  preference: how the person likes things done or said; weaker than a rule
  lesson: a cause that was found and proved, or a trap of a tool or an interface, and what helped
  fact: how the system, its environment or a service works, if it took effort to find out
  outcome: what the session delivered in the end, in at most three things for the whole session
  todo: what was expressly left open for later
- what: one sentence of at most {MAX_WHAT_CHARS} characters that is understood without the session:
  its subject by name, files, functions and options as they are written there, and the reason, if
  one was given; no "it", "this" or "option B"
- where: files or places, separated by commas; who: people and components, separated by commas
- why: the reason or the motive that was stated and is not in the sentence, or empty
Give each matter once, as it stood at the end. Leave out what was only tried, announced or asked,
what the code or its history shows at a glance, what every programmer knows, and courtesies.

A good answer, of another project:
{{"memories": [
{{"turn": 14, "kind": "lesson", "what": "The nightly import loaded rows twice because the retry
wrapper in importer.py runs load() again after a timeout; an idempotency key fixed it.", "where":
"importer.py", "who": "", "why": ""}},
{{"turn": 9, "kind": "decision", "what": "Import keys are hashes of files instead of their names,
because suppliers reuse names.", "where": "", "who": "", "why": ""}},
{{"turn": 21, "kind": "todo", "what": "Rows that the nightly import loaded twice before the fix are
still to be removed from the warehouse.", "where": "", "who": "", "why": ""}}]}}"""

_MEMORY_SCHEMA = object_schema(
    turn={"type": "integer"},
    kind={"type": "string", "enum": [one.value for one in Kind]},
    what=TEXT_SCHEMA,
    where=TEXT_SCHEMA,
    who=TEXT_SCHEMA,
    why=TEXT_SCHEMA,
)
SCHEMA = object_schema(memories={"type": "array", "items": _MEMORY_SCHEMA})


class ExtractionReport(NamedTuple):
    """How many exchanges gave memories and of how many the answer could not be used, and why the
    run stopped early."""

    exchanges: int = 0
    failed: int = 0
    stopped: str = ""


class _Part(NamedTuple):
    """A part of an exchange that fits a prompt. `number` counts from 0."""

    of: PendingExchange
    number: int

    @property
    def text(self) -> str:
        return self.of.parts[self.number]

    @property
    def is_last(self) -> bool:
        return self.number == len(self.of.parts) - 1

    @property
    def hash(self) -> str:
        """The key under which the answer is stored until all parts are answered."""
        return content_id("memories part", self.of.hash, self.text)


class Extractor:
    """Extracts memories from exchanges that were not tried yet, of sessions since `since`."""

    def __init__(self, run: ModelRun, input_tokens: int, since: str) -> None:
        self._run = run
        self._store = run.store
        self._tokens = input_tokens
        self._since = since
        self._done = ExtractionReport()

    def run(self, on_progress: Callable[[], None] = lambda: None) -> ExtractionReport:
        """Process the latest sessions that are over, until a spending cap is reached or the service
        fails. Calls `on_progress` before each call."""

        def extract(session: Session) -> None:
            def ask(tokens: int) -> None:
                self._tokens = tokens
                _SessionExtraction(self._run, session, tokens, self._count).run(on_progress)

            ask_to_fit(self._tokens, ask)

        latest = (s for s in self._store.sessions.latest(None, _MAX_SESSIONS) if not s.parent)
        over = (s for s in latest if s.ended >= self._since and self._run.is_over(s))
        stopped = self._run.each_session(over, extract)
        return self._done._replace(stopped=stopped)

    def _count(self, given: bool, failed: bool) -> None:
        done = self._done
        self._done = ExtractionReport(done.exchanges + given, done.failed + failed)


class _SessionExtraction:
    """Extracts the memories of one session, in as few calls as fit."""

    def __init__(
        self, run: ModelRun, session: Session, tokens: int, count: Callable[[bool, bool], None]
    ) -> None:
        self._run = run
        self._store = run.store
        self._session = session
        self._tokens = tokens
        self._count = count
        self._project = project_name(run.store, session)
        self._known: list[str] = []
        self._drafts: dict[str, list[MemoryDraft]] = {}

    def run(self, on_progress: Callable[[], None]) -> None:
        pending = list(self._pending())
        if sum(one.size for one in pending) < MIN_SUMMARY_BYTES:
            return
        for call in self._calls(pending):
            on_progress()
            self._extract(call)

    def _pending(self) -> Iterator[PendingExchange]:
        """What no model has given memories of. What a person corrected is not asked about, nor what
        only passes on what memory says."""
        bank = self._session.bank
        before: Exchange | None = None
        extracted = ExtractedMemories(self._store.summaries, bank)
        for x in self._store.sessions.exchanges(bank, self._session.id):
            turns = self._store.turns.of_session(bank, x.session, x.first_seq, x.last_seq)
            hash, shown = extraction_hash(turns), without_retold(turns)
            known = extracted.find(x, turns)
            self._known += [one.what for one in known or ()]
            if (
                known is None
                and shown
                and x.status is not Status.VERIFIED
                and not self._store.summaries.was_attempted(bank, hash, VERSION)
            ):
                parts = split_exchange(shown, self._tokens, numbered=True)
                yield PendingExchange(x, shown, hash, parts, prompts.format_before(before))
            before = x

    def _calls(self, pending: Sequence[PendingExchange]) -> Iterator[list[_Part]]:
        """The parts to ask about, in calls that are as full as fits."""
        most = self._tokens * prompts.BYTES_PER_TOKEN
        call: list[_Part] = []
        size = 0
        for part in (_Part(one, number) for one in pending for number in range(len(one.parts))):
            if self._find_answered(part):
                continue
            length = prompts.size_in_bytes(part.text)
            if call and size + length > most:
                yield call
                call, size = [], 0
            call.append(part)
            size += length
        if call:
            yield call

    def _find_answered(self, part: _Part) -> bool:
        """Whether a run that was stopped got the answer for a part, which is not the last one."""
        if part.is_last:
            return False
        known = self._store.summaries.get(self._session.bank, part.hash)
        if known is None or known.version != VERSION:
            return False
        self._keep(part, parse_memories(known.content))
        return True

    def _keep(self, part: _Part, drafts: Sequence[MemoryDraft]) -> None:
        self._drafts.setdefault(part.of.hash, []).extend(drafts)

    def _extract(self, call: Sequence[_Part]) -> None:
        context = PromptContext(self._project, _before(call[0]), self._known[-_MAX_KNOWN:])
        texts = [part.text for part in call]
        question = build_question(_TASK, texts, SCHEMA, MAX_ANSWER_TOKENS, context=context)
        question = question._replace(tokens=min(question.tokens, self._tokens))
        answer = self._run.ask(EXTRACTION, self._session, question, parse_memories)
        problem, drafts = (answer, []) if isinstance(answer, str) else ("", answer)
        by_part = _assign(drafts, call)
        for part, own in zip(call, by_part, strict=True):
            self._keep(part, own)
            if part.is_last:
                self._store_memories(part.of, [context.project, context.before, *texts], problem)
            elif not problem:
                self._store_part(part, own)

    def _store_part(self, part: _Part, drafts: Sequence[MemoryDraft]) -> None:
        redact = self._run.redactor.redact
        found = [
            {name: redact(value).text if isinstance(value, str) else value for name, value in items}
            for items in (one._asdict().items() for one in drafts)
        ]
        content = json.dumps({"memories": found}, ensure_ascii=False)
        x = part.of.exchange
        self._run.store_answer(PART, VERSION, part.hash, "", x, content, "")

    def _store_memories(self, one: PendingExchange, context: Sequence[str], problem: str) -> None:
        x, turns, hash, *_ = one
        evidence = Evidence.from_turns(turns, context)
        drafts = self._drafts.pop(hash, [])
        content = ""
        if not problem or drafts:
            content = checked_memories(drafts, turns, evidence, self._run.redactor)
        self._known += [item["what"] for item in json.loads(content or "[]")]
        why_not = "" if content else problem or _UNSUPPORTED
        self._run.store_answer(KIND, VERSION, hash, x.id, x, content, why_not)
        self._count(bool(content) and bool(drafts), not content)


def _before(first: _Part) -> str:
    """What comes before the first part in a call: the exchange before, or of a later part the
    request that began its exchange."""
    return prompts.format_request(first.of.turns[0]) if first.number else first.of.before


def _assign(drafts: Sequence[MemoryDraft], call: Sequence[_Part]) -> list[list[MemoryDraft]]:
    """The drafts of each part of a call, by the turns that they name. One that names none can only
    be told where all is of one exchange."""
    found: list[list[MemoryDraft]] = []
    seen: set[str] = set()
    is_single = len({part.of.hash for part in call}) == 1
    for part in call:
        own = () if part.of.hash in seen else part.of.turns
        places = {turn.seq for turn in own}
        seen.add(part.of.hash)
        found.append(
            [
                one
                for one in drafts
                if one.turn in places or (is_single and places and one.turn is None)
            ]
        )
    return found


def parse_memories(text: str) -> list[MemoryDraft]:
    """The drafts of an answer. Raises `ModelAnswerError` without a list."""
    items: object = parse_object(text).get("memories")
    if not isinstance(items, list):
        raise ModelAnswerError("it has no list of memories.")
    given = cast(list[object], items)[:_MAX_MEMORIES]
    return [_parse_draft(cast(dict[str, Any], item)) for item in given if isinstance(item, dict)]


def _parse_draft(fields: dict[str, Any]) -> MemoryDraft:
    given: object = fields.get("turn")
    turn = given if isinstance(given, int) and not isinstance(given, bool) else None
    names = ("kind", "what", "where", "who", "why")
    return MemoryDraft(turn, *(text_field(fields, n, _MAX_FIELD_CHARACTERS) for n in names))
