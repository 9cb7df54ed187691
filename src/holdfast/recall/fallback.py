"""What to do when nothing was found: look at the time that was asked about, grep the raw
transcripts, and at last say what there is to ask about instead.

Loaded only then. Each step that was taken is named in the result.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import orjson

from holdfast.capture.redact import Redactor
from holdfast.language import STOPWORDS, words
from holdfast.model.query import Hit, Layer, SourceLocation
from holdfast.model.records import Turn
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.plan import Plan
from holdfast.recall.core.relevance import coverage
from holdfast.recall.query.query import Query
from holdfast.recall.ranking.hits import agent_label, make_hit
from holdfast.sources.json_fields import mapping
from holdfast.sources.registry import agents
from holdfast.store.protocol import Reader

RECENT_SESSIONS = "recent_sessions"
RAW_GREP = "raw_grep"
CLARIFICATION = "clarification"
GREP_TIMEOUT_S = 3.0
MAX_GREP_BYTES = 400 * 1024 * 1024
_LINE = 4 * 1024 * 1024
_LINES = 200
_HITS = 5
_AROUND = 300
_BACK = 50
_REDACTED = 20_000
_ENOUGH = 0.6
_VOCABULARY = 300
_SUGGESTED = 5


class FallbackResult(NamedTuple):
    """What the fallbacks gave, and which of them were used."""

    hits: tuple[Hit, ...]
    used: tuple[str, ...]
    suggestions: tuple[str, ...] = ()


def run_fallbacks(
    reader: Reader,
    bank: str | None,
    query: Query,
    redactor: Redactor,
    plan: Plan,
    raw: bool,
    grep_s: float = GREP_TIMEOUT_S,
) -> FallbackResult:
    """Try one after the other; the first that finds something ends it. What would only find
    what the plan does not want is not tried, nor are raw lines read unless `raw` allows it."""
    used: list[str] = []
    most = min(_HITS, plan.limit)
    if query.time_range is not None and _wants(plan, Layer.SUMMARIES):
        used.append(RECENT_SESSIONS)
        sessions = reader.recent_passages(
            bank, "digest", most, query.time_range.start, query.time_range.end
        )
        if sessions:
            found = [
                make_hit(reader, Candidate(p, ranks={RECENT_SESSIONS: n}, score=1 / (n + 1)))
                for n, p in enumerate(sessions, 1)
            ]
            return FallbackResult(tuple(found), tuple(used))
    if raw and _wants(plan, Layer.TRANSCRIPTS):
        used.append(RAW_GREP)
        lines = tuple(islice(grep(reader, bank, query, redactor, grep_s), most))
        if lines:
            return FallbackResult(lines, tuple(used))
    return FallbackResult((), (*used, CLARIFICATION), suggestions(reader, bank, query))


def _wants(plan: Plan, layer: Layer) -> bool:
    return not plan.layers or layer in plan.layers


def grep(
    reader: Reader,
    bank: str | None,
    query: Query,
    redactor: Redactor,
    limit_s: float = GREP_TIMEOUT_S,
) -> Iterator[Hit]:
    """What tools printed that holds a name whole, or most of the question's weight close
    together: little of it is kept, but the file may still be there. All else on its lines is
    kept, or was left out on purpose: a model's reasoning, what programs put in."""
    phrases = [p.lower() for p in query.terms.phrases if len(p) > 3 and "\0" not in p]
    heavy = sorted(query.word_weights, key=lambda word: -query.word_weights[word])[:3]
    needles = phrases or [word for word in heavy if len(word) > 2]
    if not needles:
        return
    deadline = monotonic() + limit_s
    found = 0
    for source in reader.sources(bank):
        for number, line in _lines_with(Path(source.path), needles, deadline):
            for call, text in _printed(line, source.agent):
                excerpt = _excerpt(text, needles[0], query, bool(phrases), redactor)
                turn = _caller(reader, source.id, number, call) if excerpt else None
                if turn is not None:
                    found += 1
                    place = SourceLocation(source.path, number, turn.origin.ref)
                    yield _hit(reader, turn, excerpt, place, found)
        if monotonic() > deadline:
            return


def _printed(line: str, agent: str) -> Iterator[tuple[str, str]]:
    known = agents().get(agent)
    if known is None:
        return
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return
    yield from known.tool_outputs(mapping(record))


def _caller(reader: Reader, source: int, line: int, call: str) -> Turn | None:
    """The turn that made a call, whose output stands on a line; none if it is not kept, or was
    scrubbed."""
    last = reader.turn_before(source, line)
    if last is None:
        return None
    turns = reader.turns(last.bank, last.session, max(0, last.seq - _BACK), last.seq)
    calling = [turn for turn in turns if turn.tool is not None and turn.tool.call == call]
    if not calling or reader.is_raw_line_withheld(calling[-1].bank, calling[-1].id):
        return None
    return calling[-1]


def _hit(reader: Reader, turn: Turn, text: str, place: SourceLocation, number: int) -> Hit:
    session = reader.session(turn.bank, turn.session)
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
    """What stands around the find, or "" if it says too little of the question. Secrets go
    before the cut: half a key does not look like one."""
    wide = _around(text, needle, _REDACTED)
    around = _around(redactor.redact(wide).text, needle, _AROUND)
    good = whole or coverage(query.stem_weights, around) >= _ENOUGH
    return around.strip() if good else ""


def _around(text: str, needle: str, reach: int) -> str:
    """The text on both sides of a needle, by whole lines if lines are short."""
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


def _lines_with(path: Path, needles: Sequence[str], deadline: float) -> Iterator[tuple[int, str]]:
    """Numbered lines that hold the first needle, by ripgrep where it is installed."""
    if not path.is_file():
        return
    tool = shutil.which("rg")
    if tool is not None:
        yield from _ripgrep(tool, path, needles[0], deadline)
        return
    # What cannot be opened or read, though it is there, is as good as gone.
    with suppress(OSError):
        yield from _read_through(path, needles[0].encode(), deadline)


def _read_through(path: Path, needle: bytes, deadline: float) -> Iterator[tuple[int, str]]:
    read, number = 0, 1
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(_LINE), b""):
            read += len(line)
            if needle in line.lower():
                yield number, line.decode("utf-8", "replace")
            number += line.endswith(b"\n")
            if read > MAX_GREP_BYTES or monotonic() > deadline:
                return


def _ripgrep(tool: str, path: Path, needle: str, deadline: float) -> Iterator[tuple[int, str]]:
    command = [
        tool,
        "--no-config",
        "-n",
        "-i",
        "-F",
        "-m",
        str(_LINES),
        "-e",
        needle,
        "--",
        str(path),
    ]
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
    """Words of this bank that may have been meant, and what it speaks of most."""
    recent = reader.recent_passages(bank, "exchange", _VOCABULARY) + reader.recent_passages(
        bank, "digest", 50
    )
    counted: Counter[str] = Counter()
    for passage in recent:
        title = passage.body.partition("\n")[0].removeprefix("Request: ")
        telling = [w for w in words(title) if len(w) > 3 and w not in STOPWORDS]
        counted.update(list(dict.fromkeys(telling)))
    vocabulary = [word for word, _ in counted.most_common(5000)]
    meant = [
        close
        for word in query.terms.words
        if word not in counted
        for close in get_close_matches(word, vocabulary, n=2, cutoff=0.75)
    ]
    topics = [word for word, count in counted.most_common(40) if count > 1]
    return tuple(dict.fromkeys((*meant, *topics)))[:_SUGGESTED]
