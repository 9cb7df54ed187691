"""Fallbacks for a search that abstains: the sessions of the time that was asked about, a grep over
the raw transcripts, and last a suggestion of other words to ask with.

This module is loaded only then. Each fallback that was used is named in the result.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import orjson

from holdfast.capture.redact import Redactor
from holdfast.language import STOPWORDS, content_stems, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Hit, Layer, SourceLocation
from holdfast.model.records import Turn
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.ended_words import WHOLE_SESSION, read_ended_words
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.core.relevance import stems_in, weight_share
from holdfast.recall.query.query import Query
from holdfast.recall.ranking.hits import agent_label, make_hit
from holdfast.sources.json_fields import mapping
from holdfast.sources.own_calls import is_memory_call
from holdfast.sources.registry import agents
from holdfast.store.protocol import Reader

if TYPE_CHECKING:
    from holdfast.model.ledgers.lines import Source

RECENT_SESSIONS = "recent_sessions"
RAW_GREP = "raw_grep"
CLARIFICATION = "clarification"
# How long a person waits for the grep, and how much of one file is read in that time.
GREP_TIMEOUT_S = 3.0
MAX_GREP_BYTES = 400 * 1024 * 1024
_MAX_LINE_BYTES = 4 * 1024 * 1024
# Lines of one file that ripgrep returns.
_MAX_LINES = 200
_MAX_HITS = 5
# Characters shown on both sides of a match, and characters that are redacted before the cut: half a
# key does not look like one.
_EXCERPT_REACH = 300
_REDACTED_REACH = 20_000
# How many turns before a line the call is looked for that printed it.
_MAX_TURNS_BACK = 50
# An excerpt without an exact name must cover this much of the query. It is above the abstention
# threshold, because raw output matches much by chance.
_MIN_COVERAGE = 0.6
# Where suggestions come from: the titles of this many exchanges and sessions, their most frequent
# words, and words at least this similar to those of the query.
_RECENT_EXCHANGES = 300
_RECENT_SESSIONS = 50
_MAX_VOCABULARY = 5000
_MAX_TOPICS = 40
_MIN_SPELLING_SIMILARITY = 0.75
_MAX_SUGGESTIONS = 5


class FallbackResult(NamedTuple):
    """What the fallbacks found, and which of them were used."""

    hits: tuple[Hit, ...]
    used: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


def run_fallbacks(
    reader: Reader,
    bank: str | None,
    query: Query,
    redactor: Redactor,
    plan: RecallPlan,
    raw: bool,
    grep_s: float = GREP_TIMEOUT_S,
) -> FallbackResult:
    """Try one fallback after the other, until one finds something. Those that could only find
    layers that the plan does not want are skipped; raw transcripts are read only if `raw` is
    set."""
    used: list[str] = []
    most = min(_MAX_HITS, plan.limit)
    if query.time_range is not None and _wants_layer(plan, Layer.SUMMARIES):
        used.append(RECENT_SESSIONS)
        sessions = reader.passages.recent(
            bank, "digest", most, query.time_range.start, query.time_range.end
        )
        if sessions:
            found = [
                make_hit(reader, Candidate(p, ranks={RECENT_SESSIONS: n}, score=1 / (n + 1)))
                for n, p in enumerate(sessions, 1)
            ]
            return FallbackResult(tuple(found), tuple(used))
    if raw and _wants_layer(plan, Layer.TRANSCRIPTS):
        used.append(RAW_GREP)
        lines = tuple(islice(grep(reader, bank, query, redactor, grep_s), most))
        if lines:
            return FallbackResult(lines, tuple(used))
    return FallbackResult((), (*used, CLARIFICATION), suggestions(reader, bank, query))


def _wants_layer(plan: RecallPlan, layer: Layer) -> bool:
    return not plan.layers or layer in plan.layers


def grep(
    reader: Reader,
    bank: str | None,
    query: Query,
    redactor: Redactor,
    limit_s: float = GREP_TIMEOUT_S,
) -> Iterator[Hit]:
    """Search the raw transcripts for tool output that contains a name of the query, or most of its
    weight close together. Only tool output: it is stored in part, and everything else on these
    lines is either stored or was left out on purpose (a model's reasoning, injected text)."""
    phrases = [p.lower() for p in query.terms.phrases if len(p) > 3 and "\0" not in p]
    heavy = sorted(query.word_weights, key=lambda word: -query.word_weights[word])[:3]
    needles = phrases or [word for word in heavy if len(word) > 2]
    if not needles:
        return
    deadline = monotonic() + limit_s
    found = 0
    ripgrep = shutil.which("rg")
    for source in reader.sources.all(bank):
        for number, line in _lines_containing(Path(source.path), needles[0], ripgrep, deadline):
            for call, text in _tool_outputs(line, source.agent):
                excerpt = _excerpt(text, needles[0], query, bool(phrases), redactor)
                turn = _turn_of_call(reader, source, number, call) if excerpt else None
                if turn is not None:
                    found += 1
                    place = SourceLocation(source.path, number, turn.origin.ref)
                    yield _hit(reader, turn, excerpt, place, found)
        if monotonic() > deadline:
            return


def _tool_outputs(line: str, agent: str) -> Iterator[tuple[str, str]]:
    known = agents().get(agent)
    if known is None:
        return
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return
    yield from known.tool_outputs(mapping(record))


def _turn_of_call(reader: Reader, source: Source, line: int, call: str) -> Turn | None:
    """The turn whose call printed a line; None if it is not stored, its raw lines are withheld, or
    memory itself was asked."""
    last = reader.turns.before_line(source.bank, source.id, line)
    if last is None:
        return None
    turns = reader.turns.of_session(
        last.bank, last.session, max(0, last.seq - _MAX_TURNS_BACK), last.seq
    )
    calling = [turn for turn in turns if turn.tool is not None and turn.tool.call == call]
    if not calling or reader.curation.is_raw_line_withheld(calling[-1].bank, calling[-1].id):
        return None
    tool = calling[-1].tool
    return None if tool is None or is_memory_call(tool) else calling[-1]


def _hit(reader: Reader, turn: Turn, text: str, place: SourceLocation, number: int) -> Hit:
    session = reader.sessions.get(turn.bank, turn.session)
    return Hit(
        uri=uri("turn", turn.id),
        kind="turn",
        layer=Layer.TRANSCRIPTS,
        score=round(1 / (number + 1), 4),
        text=text,
        time=turn.time,
        session=session.host if session else turn.session,
        bank=turn.bank,
        source=place,
        trust=turn.trust,
        agent=agent_label(session),
        why={RAW_GREP: number},
    )


def _excerpt(text: str, needle: str, query: Query, whole: bool, redactor: Redactor) -> str:
    """The text around a match, redacted; "" if it covers too little of the query."""
    wide = _around(text, needle, _REDACTED_REACH)
    around = _around(redactor.redact(wide).text, needle, _EXCERPT_REACH)
    weights = query.stem_weights
    said = stems_in(weights, around)
    # One word of several is in a text by chance, however rare it is.
    good = len(said) >= min(2, len(weights)) and weight_share(weights, said) >= _MIN_COVERAGE
    return around.strip() if whole or good else ""


def _around(text: str, needle: str, reach: int) -> str:
    """The text on both sides of a needle, cut at line ends if lines are short."""
    at = text.lower().find(needle)
    if at < 0:
        return ""
    start, end = max(0, at - reach), at + reach
    if start:
        start = text.find("\n", start, at) + 1 or start
    if end < len(text):
        last = text.rfind("\n", at, end)
        end = last if last >= 0 else end
    return text[start:end]


def _lines_containing(
    path: Path, needle: str, ripgrep: str | None, deadline: float
) -> Iterator[tuple[int, str]]:
    """The numbered lines that contain the needle, by ripgrep if it is installed."""
    if ripgrep is not None and path.is_file():
        yield from _ripgrep(ripgrep, path, needle, deadline)
    elif ripgrep is None:
        # A file that cannot be read is skipped, and so is one that is gone.
        with suppress(OSError):
            yield from _scan_file(path, needle.encode(), deadline)


def _scan_file(path: Path, needle: bytes, deadline: float) -> Iterator[tuple[int, str]]:
    read, number = 0, 1
    with path.open("rb") as file:
        # Most files have it nowhere, which is told at once of those that fit into memory.
        start = file.read(_MAX_LINE_BYTES)
        if len(start) < _MAX_LINE_BYTES and needle not in start.lower():
            return
        file.seek(0)
        for line in iter(lambda: file.readline(_MAX_LINE_BYTES), b""):
            read += len(line)
            if needle in line.lower():
                yield number, line.decode("utf-8", "replace")
            number += line.endswith(b"\n")
            if read > MAX_GREP_BYTES or monotonic() > deadline:
                return


def _ripgrep(tool: str, path: Path, needle: str, deadline: float) -> Iterator[tuple[int, str]]:
    count = str(_MAX_LINES)
    command = [tool, "--no-config", "-niF", "-m", count, "-e", needle, "--", str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=max(0.1, deadline - monotonic()), check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    for line in done.stdout.split(b"\n"):
        number, colon, text = line.partition(b":")
        if colon and number.isdigit():
            yield int(number), text.decode("utf-8", "replace")


def suggestions(reader: Reader, bank: str | None, query: Query) -> tuple[str, ...]:
    """Words of this bank that are spelled like those of the query, and its most frequent words
    without those that only ended statements have."""
    recent = reader.passages.recent(bank, "exchange", _RECENT_EXCHANGES)
    recent = recent + reader.passages.recent(bank, "digest", _RECENT_SESSIONS)
    ended = {
        name: read_ended_words(reader, name, [p.session for p in recent if p.bank == name])
        for name in {p.bank for p in recent}
    }
    all_words: Counter[str] = Counter()
    current: Counter[str] = Counter()
    for passage in recent:
        title = passage.body.partition("\n")[0].removeprefix("Request: ")
        content = [w for w in words(title) if len(w) > 3 and w not in STOPWORDS]
        all_words.update(set(content))
        seq = WHOLE_SESSION if passage.kind == "digest" else passage.seq
        if not ended[passage.bank].find(title, passage.time, passage.session, seq):
            current.update([w for w in dict.fromkeys(content) if content_stems(w)])
    vocabulary = [word for word, _ in all_words.most_common(_MAX_VOCABULARY)]
    meant = [
        close
        for word in query.terms.words
        if word not in all_words
        for close in get_close_matches(word, vocabulary, n=2, cutoff=_MIN_SPELLING_SIMILARITY)
    ]
    topics = [word for word, count in current.most_common(_MAX_TOPICS) if count > 1]
    return tuple(dict.fromkeys((*meant, *topics)))[:_MAX_SUGGESTIONS]
