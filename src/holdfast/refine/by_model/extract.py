"""Memories by a model, where the settings allow to ask one: five dimensions of each, by network.

Works as summing up does: the work list is what was not tried, an exchange is asked about once it is
whole, several at once, each answer is checked against the turns and stored in the transaction that
makes its session stale. Until then, and where nothing comes of it, what rules retain stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from holdfast.capture.redact import Redactor
from holdfast.errors import ModelAnswerError, ModelError, SpendError
from holdfast.inference.chat import Question, Schema
from holdfast.model.knowledge import Network
from holdfast.model.model_calls import ModelSummary
from holdfast.model.records import Exchange, Session, Turn
from holdfast.refine.memories.model_extracted import MemoryDraft, checked_memories, extraction_hash
from holdfast.refine.model_output.evidence import Evidence
from holdfast.refine.model_output.prompts import MAX_ANSWER_TOKENS, build_question, split_exchange
from holdfast.refine.model_output.responses import parse_object
from holdfast.refine.sessions.derive import derive_stale
from holdfast.spend.governor import Governor, Purpose
from holdfast.store.protocol import Store

EXTRACTION = "extraction"
VERSION = 1
KIND = "memories"
_BATCH = 4
_MAX_SESSIONS = 40
_MIN_TURNS = 3
_MAX_CHARACTERS = 1000
_MAX_ITEMS = 12

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

_TEXT_SCHEMA: Schema = {"type": "string"}
_FIELDS: dict[str, Schema] = {
    "number": {"type": "integer"},
    "network": {"type": "string", "enum": [one.value for one in Network]},
    "what": _TEXT_SCHEMA,
    "where": _TEXT_SCHEMA,
    "who": _TEXT_SCHEMA,
    "why": _TEXT_SCHEMA,
    "confidence": {"type": ["number", "null"]},
}
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _FIELDS,
                "required": list(_FIELDS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


class ExtractionReport(NamedTuple):
    """What came of it, and why it went no further, if it did not."""

    exchanges: int = 0
    failed: int = 0
    stopped: str = ""


class _PendingExchange(NamedTuple):
    exchange: Exchange
    turns: Sequence[Turn]
    hash: str
    text: str


class Extractor:
    """Extracts from what waits, with one governor."""

    def __init__(
        self,
        store: Store,
        governor: Governor,
        redactor: Redactor,
        now: Callable[[], str],
        is_over: Callable[[Session], bool],
        input_tokens: int,
        since: str,
    ) -> None:
        self._store = store
        self._governor = governor
        self._redactor = redactor
        self._now = now
        self._is_over = is_over
        self._tokens = input_tokens
        self._since = since
        self._done = ExtractionReport()

    def run(self, tick: Callable[[], None] = lambda: None) -> ExtractionReport:
        """Go through the latest sessions that are over, until a cap or a service says no."""
        for session in self._store.sessions(None, _MAX_SESSIONS):
            if session.parent or session.ended < self._since or not self._is_over(session):
                continue
            waiting = list(self._pending(session))
            try:
                for start in range(0, len(waiting), _BATCH):
                    tick()
                    self._extract(session, waiting[start : start + _BATCH])
            except SpendError as error:
                self._done = self._done._replace(stopped=error.message)
                if not error.session:
                    break
            except ModelError as error:
                self._done = self._done._replace(stopped=error.message)
                break
        derive_stale(self._store)
        return self._done

    def _pending(self, session: Session) -> Iterator[_PendingExchange]:
        for x in self._store.exchanges(session.bank, session.id):
            turns = self._store.turns(x.bank, x.session, x.first_seq, x.last_seq)
            hash = extraction_hash(turns)
            if len(turns) < _MIN_TURNS or self._store.summary_attempted(x.bank, hash, VERSION):
                continue
            yield _PendingExchange(x, turns, hash, split_exchange(turns, self._tokens // _BATCH)[0])

    def _extract(self, session: Session, batch: Sequence[_PendingExchange]) -> None:
        question = memories_question([one.text for one in batch])
        purpose = Purpose(EXTRACTION, session.bank, session.id)
        drafts: dict[int, list[MemoryDraft]] = {}
        problem = ""
        try:
            drafts = self._governor.ask(purpose, question, parse_memories)
        except ModelAnswerError as error:
            problem = f"the answer could not be used: {error.message}"
        for number, one in enumerate(batch, 1):
            evidence = Evidence.from_turns(one.turns)
            content = checked_memories(drafts.get(number, []), evidence, self._redactor)
            self._store_memories(one, content, problem or ("" if content else "nothing was borne out"))

    def _store_memories(self, one: _PendingExchange, content: str, problem: str) -> None:
        x = one.exchange
        summary = ModelSummary(
            x.bank, one.hash, VERSION, KIND, x.id, x.last_seq, self._governor.model, self._now(),
            content, problem,
        )  # fmt: skip
        with self._store.transaction():
            self._store.put_summary(summary, x.session, x.first_seq)
        done = self._done
        self._done = done._replace(
            exchanges=done.exchanges + bool(content), failed=done.failed + (not content)
        )


def memories_question(texts: Sequence[str]) -> Question:
    """Ask for the memories of exchanges, numbered from 1."""
    return build_question(_TASK, texts, SCHEMA, MAX_ANSWER_TOKENS)


def parse_memories(text: str) -> dict[int, list[MemoryDraft]]:
    """The drafts by the number of their exchange; there may be none."""
    items: object = parse_object(text).get("memories")
    if not isinstance(items, list):
        raise ModelAnswerError("it has no list of memories.")
    found: dict[int, list[MemoryDraft]] = {}
    for item in cast(list[object], items)[: _BATCH * _MAX_ITEMS]:
        fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        number: object = fields.get("number")
        if isinstance(number, int):
            found.setdefault(number, []).append(_parse_draft(fields))
    return found


def _parse_draft(fields: dict[str, Any]) -> MemoryDraft:
    def text(name: str) -> str:
        value: object = fields.get(name)
        return value[:_MAX_CHARACTERS] if isinstance(value, str) else ""

    sure: object = fields.get("confidence")
    known = isinstance(sure, int | float) and not isinstance(sure, bool)
    confidence = float(cast(float, sure)) if known else None
    return MemoryDraft(
        text("network"), text("what"), text("where"), text("who"), text("why"), confidence
    )
