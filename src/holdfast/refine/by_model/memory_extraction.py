"""Extracts memories from exchanges with a model: for each its network and five dimensions.

It works like `summarise`: the work list is what was not tried yet, only sessions that are over are
read, several exchanges go into one call, each answer is checked against the turns and stored in the
transaction that makes its session stale. Without a usable answer, the memories by rules stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from holdfast.errors import ModelAnswerError
from holdfast.model.knowledge import Network
from holdfast.model.records import Session
from holdfast.refine.by_model.model_run import ModelRun
from holdfast.refine.by_model.summary_queue import PendingExchange
from holdfast.refine.memories.model_extracted import MemoryDraft, checked_memories, extraction_hash
from holdfast.refine.model_output.evidence import Evidence
from holdfast.refine.model_output.prompts import (
    MAX_ANSWER_TOKENS,
    TEXT_SCHEMA,
    build_question,
    object_schema,
    split_exchange,
)
from holdfast.refine.model_output.responses import parse_object, text_field

EXTRACTION = "extraction"
VERSION = 1
KIND = "memories"
# Exchanges in one call. More share the cost of the prompt, and leave less room for each.
_BATCH = 4
# The latest sessions that are looked at in one run.
_MAX_SESSIONS = 40
# A shorter exchange is a question and its answer, and rarely holds a memory.
_MIN_TURNS = 3
# More than any field and any exchange of a good answer has; what is longer is cut.
_MAX_FIELD_CHARACTERS = 1000
_MAX_MEMORIES = 12

_UNSUPPORTED = "nothing was borne out"
_TASK = """\
Each exchange begins with a line of its number. For each give up to four memories that will be worth
knowing in a year; none if there are none. Of each memory:
- number: of its exchange
- network: world (what holds in the project), experience (what was done, as "Fixed …"), observation
  (what was noticed over the work), opinion (what the person believes or prefers)
- what: one whole sentence that is understood by itself
- where: files or places, separated by commas; who: people and components, separated by commas
- why: the reason or the motive that was stated, or empty
- confidence: of an opinion, from 0 to 1, by how firmly it was stated; otherwise null"""

_MEMORY_SCHEMA = object_schema(
    number={"type": "integer"},
    network={"type": "string", "enum": [one.value for one in Network]},
    what=TEXT_SCHEMA,
    where=TEXT_SCHEMA,
    who=TEXT_SCHEMA,
    why=TEXT_SCHEMA,
    confidence={"type": ["number", "null"]},
)
SCHEMA = object_schema(memories={"type": "array", "items": _MEMORY_SCHEMA})


class ExtractionReport(NamedTuple):
    """How many exchanges gave memories and how many did not, and why the run stopped early."""

    exchanges: int = 0
    failed: int = 0
    stopped: str = ""


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
            pending = list(self._pending(session))
            for start in range(0, len(pending), _BATCH):
                on_progress()
                self._extract(session, pending[start : start + _BATCH])

        latest = (s for s in self._store.sessions.latest(None, _MAX_SESSIONS) if not s.parent)
        over = (s for s in latest if s.ended >= self._since and self._run.is_over(s))
        stopped = self._run.each_session(over, extract)
        return self._done._replace(stopped=stopped)

    def _pending(self, session: Session) -> Iterator[PendingExchange]:
        for x in self._store.sessions.exchanges(session.bank, session.id):
            turns = self._store.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
            hash = extraction_hash(turns)
            if len(turns) < _MIN_TURNS or self._store.summaries.was_attempted(
                x.bank, hash, VERSION
            ):
                continue
            yield PendingExchange(x, turns, hash, split_exchange(turns, self._tokens // _BATCH))

    def _extract(self, session: Session, batch: Sequence[PendingExchange]) -> None:
        texts = [one.parts[0] for one in batch]
        question = build_question(_TASK, texts, SCHEMA, MAX_ANSWER_TOKENS)
        answer = self._run.ask(EXTRACTION, session, question, parse_memories)
        drafts, problem = ({}, answer) if isinstance(answer, str) else (answer, _UNSUPPORTED)
        for number, (x, turns, hash, _) in enumerate(batch, 1):
            evidence = Evidence.from_turns(turns)
            content = checked_memories(drafts.get(number, []), evidence, self._run.redactor)
            why_not = "" if content else problem
            self._run.store_answer(KIND, VERSION, hash, x.id, x, content, why_not)
            exchanges, failed, _ = self._done
            self._done = ExtractionReport(exchanges + bool(content), failed + (not content))


def parse_memories(text: str) -> dict[int, list[MemoryDraft]]:
    """The drafts by the number of their exchange. Raises `ModelAnswerError` without a list."""
    items: object = parse_object(text).get("memories")
    if not isinstance(items, list):
        raise ModelAnswerError("it has no list of memories.")
    found: dict[int, list[MemoryDraft]] = {}
    for item in cast(list[object], items)[: _BATCH * _MAX_MEMORIES]:
        fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        number: object = fields.get("number")
        if isinstance(number, int):
            found.setdefault(number, []).append(_parse_draft(fields))
    return found


def _parse_draft(fields: dict[str, Any]) -> MemoryDraft:
    def text(name: str) -> str:
        return text_field(fields, name, _MAX_FIELD_CHARACTERS)

    given: object = fields.get("confidence")
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    confidence = float(cast(float, given)) if is_number else None
    return MemoryDraft(
        text("network"), text("what"), text("where"), text("who"), text("why"), confidence
    )
