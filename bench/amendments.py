"""Whether a later statement that changes an earlier one is linked to it, and comes first.

The pairs in `data/amendments` are two conversations each, on different days. The later one amends,
contradicts, narrows or extends what the earlier one settled, or is about something similar. All
pairs of a half are read into one bank, so that each statement may be linked to any other. The
control ranks the turns of the bank by plain full text. A question about an unrelated pair is about
the earlier conversation, which is to come first. `python -m bench.amendments` reports both
halves; `tuning` or `held_back` as an argument, one of them; with `--show` what went wrong is named.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.support.transcripts import Script

from holdfast.app.memory import Holdfast
from holdfast.language import words
from holdfast.model.knowledge import Fact, Memory
from holdfast.model.trust import Status
from holdfast.model.uris import parse_uri, uri
from holdfast.settings import Settings

HALVES = ("tuning", "held_back")
NOW = "2026-08-01T12:00:00.000Z"
# Kinds of pairs after which the earlier statement does not hold any more, and those after which it
# holds with a change.
REPLACED = ("amended", "contradicted")
CHANGED_IN_PART = ("narrowed", "extended")
_DATA = Path(__file__).parent / "data" / "amendments"


class Conversation(NamedTuple):
    """One session: its host id, its day and what was said, as (speaker, text)."""

    session: str
    day: str
    turns: tuple[tuple[str, str], ...]


class Pair(NamedTuple):
    """Two conversations, and a question that both speak of."""

    id: str
    kind: str
    question: str
    earlier: Conversation
    later: Conversation

    @property
    def is_linked(self) -> bool:
        """Whether the later statement changes the earlier one."""
        return self.kind != "unrelated"

    @property
    def answering(self) -> Conversation:
        """The conversation that answers the question: the later one, unless it is about something
        else."""
        return self.later if self.is_linked else self.earlier


class Link(NamedTuple):
    """A link that was found: from the session of the later fact to that of the earlier one."""

    later: str
    earlier: str
    status: Status
    texts: tuple[str, str]


class Outcome(NamedTuple):
    """What was found for one half."""

    pairs: Sequence[Pair]
    links: Sequence[Link]
    # By way of asking: the pairs whose answering conversation comes first.
    right_first: Mapping[str, frozenset[str]]

    @property
    def right(self) -> list[Link]:
        """The links of pairs that are linked."""
        wanted = {(p.later.session, p.earlier.session) for p in self.pairs if p.is_linked}
        return [link for link in self.links if (link.later, link.earlier) in wanted]

    def found(self, pair: Pair) -> list[Link]:
        """The links of a pair."""
        ends = (pair.later.session, pair.earlier.session)
        return [link for link in self.links if (link.later, link.earlier) == ends]


def read_pairs(half: str) -> list[Pair]:
    """The pairs of a half."""
    found: list[Pair] = []
    for number, item in enumerate(json.loads((_DATA / f"{half}.json").read_text("utf-8"))):
        sides = [
            Conversation(
                f"{2 * number + side:08}-0000-4000-8000-000000000001",
                item[name]["day"],
                tuple((turn["speaker"], turn["text"]) for turn in item[name]["turns"]),
            )
            for side, name in enumerate(("earlier", "later"))
        ]
        found.append(Pair(item["id"], item["kind"], item["question"], *sides))
    return found


def run(halves: Sequence[str] = HALVES, show: bool = False) -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    for half in halves:
        found = measure(read_pairs(half))
        yield from _lines(half, found)
        if show:
            yield from _mistakes(found)


def measure(pairs: Sequence[Pair]) -> Outcome:
    """Read all pairs into one bank and look at the links, and at what comes first."""
    with TemporaryDirectory(prefix="holdfast-amendments-") as folder:
        settings = Settings(home=Path(folder), claude_dir=Path(folder) / "claude", bank="pairs")
        with Holdfast(settings, now=lambda: NOW) as memory:
            _read_in(memory, pairs)
            ways = {
                "recall": [pair for pair in pairs if _is_first(_recalled(memory, pair), pair)],
                "ask": [pair for pair in pairs if _is_first(_cited(memory, pair), pair)],
            }
            links = _links(memory)
    control = _full_text(pairs)
    ways["full text"] = [pair for pair in pairs if _is_first(_matched(control, pair), pair)]
    right_first = {way: frozenset(pair.id for pair in found) for way, found in ways.items()}
    return Outcome(pairs, links, right_first)


def _read_in(memory: Holdfast, pairs: Sequence[Pair]) -> None:
    folder = memory.settings.home / "claude" / "projects"
    for conversation in (side for pair in pairs for side in (pair.earlier, pair.later)):
        start = datetime.fromisoformat(f"{conversation.day}T09:00:00").replace(tzinfo=UTC)
        start += timedelta(minutes=int(conversation.session[:8]))
        script = Script(conversation.session, start=start)
        for speaker, text in conversation.turns:
            script.user(text) if speaker == "user" else script.assistant(text)
        script.write(folder)
    memory.ingest(memory.ingestion.find([folder]))
    memory.ingestion.embed()


def _links(memory: Holdfast) -> list[Link]:
    """The links between facts of different sessions, once for each pair of sessions."""
    facts = {uri("fact", fact.id): fact for fact in memory.browse.facts(all=True)}
    found: dict[tuple[str, str], Link] = {}
    for earlier in facts.values():
        later = facts.get(earlier.superseded_by)
        if later is None:
            continue
        ends = (_session(memory, later), _session(memory, earlier))
        if ends[0] != ends[1]:
            found[ends] = Link(*ends, earlier.status, (later.content, earlier.content))
    return list(found.values())


def _session(memory: Holdfast, fact: Fact) -> str:
    """The host's id of the session that stated a fact first."""
    return _session_of(memory, fact.evidence[0]) if fact.evidence else ""


def _session_of(memory: Holdfast, name: str) -> str:
    found = parse_uri(name)
    if found is None:
        return ""
    if found.kind == "fact":
        facts = memory.browse.facts(all=True)
        return next((_session(memory, fact) for fact in facts if fact.id == found.id), "")
    record = memory.show(name).record
    if isinstance(record, Memory):
        return next((_session_of(memory, one) for one in record.evidence_for if one != name), "")
    session = memory.reader.sessions.get(
        str(getattr(record, "bank", "")), str(getattr(record, "session", ""))
    )
    return session.host if session else ""


def _recalled(memory: Holdfast, pair: Pair) -> list[str]:
    hits = memory.recall(pair.question, limit=20).hits
    return [_session_of(memory, hit.uri) if hit.kind == "fact" else hit.session for hit in hits]


def _cited(memory: Holdfast, pair: Pair) -> list[str]:
    return [_session_of(memory, c.uri) for c in memory.ask(pair.question).citations]


def _is_first(sessions: Sequence[str], pair: Pair) -> bool:
    """Whether the conversation that answers is found, and before the other one."""
    both = (pair.later.session, pair.earlier.session)
    return next((session for session in sessions if session in both), "") == pair.answering.session


def _full_text(pairs: Sequence[Pair]) -> sqlite3.Connection:
    """The turns of all conversations in a full-text index."""
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE turn USING fts5(session, text, tokenize='porter')")
    for conversation in (side for pair in pairs for side in (pair.earlier, pair.later)):
        for _, text in conversation.turns:
            index.execute("INSERT INTO turn VALUES (?, ?)", (conversation.session, text))
    return index


def _matched(index: sqlite3.Connection, pair: Pair) -> list[str]:
    query = " OR ".join(f'"{word}"' for word in words(pair.question))
    found = index.execute("SELECT session FROM turn WHERE text MATCH ? ORDER BY rank", (query,))
    return [row[0] for row in found]


def _lines(half: str, found: Outcome) -> Iterator[str]:
    linked = [pair for pair in found.pairs if pair.is_linked]
    right = found.right
    yield (
        f"amendments: {half}: links: precision {_share(len(right), len(found.links))}, "
        f"recall {_share(len(right), len(linked))}"
    )
    for kind in (*REPLACED, *CHANGED_IN_PART):
        some = [pair for pair in linked if pair.kind == kind]
        statuses = [link.status for pair in some for link in found.found(pair)]
        ended = sum(status is Status.SUPERSEDED for status in statuses)
        yield (
            f"amendments: {half}: {kind}: {len(statuses)} of {len(some)} linked, {ended} of them "
            "as superseded"
        )
    unrelated = [pair for pair in found.pairs if not pair.is_linked]
    for way, ids in found.right_first.items():
        kinds = ", ".join(
            f"{kind} {sum(p.id in ids for p in linked if p.kind == kind)}"
            for kind in (*REPLACED, *CHANGED_IN_PART)
        )
        later = _share(sum(pair.id in ids for pair in linked), len(linked))
        earlier = _share(sum(pair.id in ids for pair in unrelated), len(unrelated))
        yield f"amendments: {half}: later first in {way}: {later} ({kinds})"
        yield f"amendments: {half}: unrelated, earlier first in {way}: {earlier}"


def _mistakes(found: Outcome) -> Iterator[str]:
    right = found.right
    for link in found.links:
        if link not in right:
            yield f"  wrong link: {link.texts[0]!r} -> {link.texts[1]!r} ({link.status.value})"
    for pair in found.pairs:
        late = [way for way, ids in found.right_first.items() if pair.id not in ids]
        links = found.found(pair)
        status = links[0].status.value if links else "no link"
        yield f"  {pair.kind} {pair.id}: {status}; not first in: {', '.join(late) or '-'}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "none"


if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if name in HALVES]
    for line in run(chosen or HALVES, "--show" in sys.argv):
        print(line, flush=True)
