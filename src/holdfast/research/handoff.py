"""Make a hand-off pack: what somebody who takes over a session or a topic must know, on one page.

By rules, without a model: goal, state, decisions, findings, dead ends, open questions, files. Every
line names its source; an empty section says so. The pack as data and as Markdown is in
`handoff_page`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from holdfast.language import (
    content_stems,
    is_chatter,
    sentences,
    truncate,
)
from holdfast.model.knowledge import (
    Claim,
    ClaimKind,
    Concept,
    EndedSentence,
    Fact,
    Memory,
    Network,
    Rule,
)
from holdfast.model.query import Hit
from holdfast.model.records import Digest, Exchange, Outcome, Role, Session, Turn
from holdfast.model.team import Commit, SharedRecord
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import SCHEME, uri
from holdfast.recall.core.ended_words import read_ended_words
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.signals import names_change
from holdfast.refine.sessions.titles import session_subject
from holdfast.research.answering.quoted_status import claim_statuses
from holdfast.research.handoff_page import SECTIONS, File, Pack, Point, Source
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


class PackLimits(NamedTuple):
    """What fits on one page. Higher numbers make a pack more complete and less readable."""

    line_chars: int = 280
    lines_per_section: int = 12
    files: int = 20
    source_title_chars: int = 90
    # Requests that state the goal of a topic: those of its best exchanges.
    goals: int = 3
    # Concepts that state the goal of a topic.
    concepts: int = 2
    # Exchanges that state how far a topic is, the last one included.
    topic_states: int = 3
    # Sentences of a request, and of any other text.
    request_sentences: int = 3
    sentences: int = 2
    # A line with this share of its words in an earlier line is left out.
    same_words: float = 0.8
    # Hits below this share of the best score are about something else.
    min_share_of_best: float = 0.7


_LIMITS = PackLimits()
_BY_TIME = attrgetter("time", "id")
_DECISION_KINDS = (ClaimKind.RULING, ClaimKind.DECISION, ClaimKind.CORE_LOGIC, ClaimKind.SOLUTION)
_FAILED_KINDS = {ClaimKind.ATTEMPT: "did not do it", ClaimKind.DISPROOF: "reported"}
_FAILED_OUTCOMES = (Outcome.FAILED, Outcome.INTERRUPTED)


class _Basis(NamedTuple):
    """The records that a pack is made of: exchanges (`work`) in order of time, and others. For a
    topic `work_by_rank` has the exchanges in the order in which they were found."""

    bank: str
    work: tuple[Exchange, ...]
    digests: tuple[Digest, ...] = ()
    facts: tuple[Fact, ...] = ()
    memories: tuple[Memory, ...] = ()
    rules: tuple[Rule, ...] = ()
    commits: tuple[Commit, ...] = ()
    concepts: tuple[Concept, ...] = ()
    shared: tuple[SharedRecord, ...] = ()
    topic: str = ""
    work_by_rank: tuple[Exchange, ...] = ()


def pack_session(reader: Reader, session: Session, bank: str) -> Pack:
    """The pack of a session; `bank` is the bank's name for people."""
    work = tuple(reader.sessions.exchanges(session.bank, session.id))
    digest = reader.sessions.digest(session.bank, session.id)
    made = reader.git.authorship(session.bank, session=session.id)
    commits = [
        c for one in made for c in reader.records.find(session.bank, "commit", one.commit, 1)
    ]
    facts = {fact.id: fact for exchange in work for fact in _facts_on(reader, exchange)}
    basis = _Basis(
        session.bank,
        work,
        (digest,) if digest else (),
        tuple(facts.values()),
        commits=tuple(sorted((c for c in commits if isinstance(c, Commit)), key=_BY_TIME)),
    )
    title = session_subject(session, work) or session.host
    return _pack(reader, "session", _line(title), bank, uri("session", session.id), basis)


def pack_topic(reader: Reader, bank: str, name: str, topic: str, hits: Sequence[Hit]) -> Pack:
    """The pack of a topic, made from hits, best first; `name` is the bank's name for people."""
    least = _LIMITS.min_share_of_best * max((hit.score for hit in hits), default=0.0)
    good = [hit for hit in hits if hit.score >= least]
    found = [r for hit in good if (r := find_by_uri(reader, hit.bank, hit.uri)) is not None]
    work = {x.id: x for record in found for x in _work_of(reader, record)}
    facts = {f.id: f for f in found if isinstance(f, Fact)}
    facts |= {f.id: f for x in work.values() for f in _facts_on(reader, x)}
    commits = {c.id: c for c in found if isinstance(c, Commit)}
    basis = _Basis(
        bank,
        tuple(sorted(work.values(), key=lambda x: (x.started, x.id))),
        _digests(reader, work.values()),
        tuple(facts.values()),
        tuple(m for m in found if isinstance(m, Memory)),
        tuple(r for r in found if isinstance(r, Rule)),
        tuple(sorted(commits.values(), key=_BY_TIME)),
        tuple(c for c in found if isinstance(c, Concept)),
        tuple(s for s in found if isinstance(s, SharedRecord)),
        topic,
        tuple(work.values()),
    )
    return _pack(reader, "topic", topic, name, "", basis)


def _facts_on(reader: Reader, exchange: Exchange) -> list[Fact]:
    """The facts whose evidence is an exchange or a turn in it."""
    turns = reader.turns.of_session(
        exchange.bank, exchange.session, exchange.first_seq, exchange.last_seq
    )
    said = [uri("turn", turn.id) for turn in turns]
    names = [uri("exchange", exchange.id), *said]
    return [fact for name in names for fact in reader.facts.stated_in(exchange.bank, name)]


def _work_of(reader: Reader, record: Record) -> list[Exchange]:
    """The exchanges that a record is, is part of, or rests on."""
    if isinstance(record, Exchange):
        return [record]
    if isinstance(record, Turn):
        within = reader.sessions.exchanges(record.bank, record.session)
        return [x for x in within if x.first_seq <= record.seq <= x.last_seq]
    if isinstance(record, Concept | Memory):
        names = record.members if isinstance(record, Concept) else record.evidence_for
        found = [find_by_uri(reader, record.bank, name) for name in names]
        return [x for r in found if isinstance(r, Exchange | Turn) for x in _work_of(reader, r)]
    return []


def _digests(reader: Reader, work: Iterable[Exchange]) -> tuple[Digest, ...]:
    """The digests of the exchanges' sessions, the latest last."""
    sessions = dict.fromkeys((x.bank, x.session) for x in work)
    found = [d for bank, id in sessions if (d := reader.sessions.digest(bank, id)) is not None]
    return tuple(sorted(found, key=lambda d: (d.started, d.id)))


def _pack(reader: Reader, kind: str, title: str, bank: str, name: str, basis: _Basis) -> Pack:
    claims = _claims(reader, basis)
    established = _Deduplicator(basis.topic)
    history = _History(reader, basis)
    sections = {
        "goal": _Deduplicator().filter(map(history.mark, _goal(reader, basis, kind))),
        "state": _Deduplicator().filter(map(history.mark, _state(reader, basis, kind))),
        # Dead ends go first, so that what did not work is not repeated as a decision or finding.
        "dead_ends": established.filter(_dead_ends(basis, claims)),
        "decisions": established.filter(filter(history.holds, _decisions(basis, claims))),
        "findings": established.filter(filter(history.holds, _findings(basis, claims))),
        "open_questions": _Deduplicator(basis.topic).filter(
            filter(history.holds, _open_questions(basis, claims, kind))
        ),
    }
    most = _LIMITS.lines_per_section
    shown = {section: tuple(points[:most]) for section, points in sections.items()}
    left_out = {section: len(points) - most for section, points in sections.items()}
    files = _files(basis)
    left_out["files"] = len(files) - _LIMITS.files
    times = sorted(t for x in basis.work for t in (x.started, x.ended) if t)
    return Pack(
        kind, title, bank, name, times[0] if times else "", times[-1] if times else "",
        files=tuple(files[:_LIMITS.files]), sources=_sources(basis, shown, history),
        left_out={section: count for section, count in left_out.items() if count > 0}, **shown,
    )  # fmt: skip


class _History:
    """Knows which points say what does not hold any more."""

    def __init__(self, reader: Reader, basis: _Basis) -> None:
        self._ended = read_ended_words(reader, basis.bank, {x.session for x in basis.work})
        self._places = {uri("exchange", x.id): (x.session, x.first_seq) for x in basis.work}
        self._ended_facts = {
            uri("fact", f.id): f.status.value for f in basis.facts if f.status in ENDED_STATUSES
        }

    def _endings(self, point: Point) -> tuple[EndedSentence, ...]:
        if point.uri.startswith((uri("fact", ""), uri("rule", ""))):
            return ()  # these are left out by their status, and hold as long as they are in a file
        return self._ended.find(point.text, point.time, *self._places.get(point.uri, ("", 0)))

    def holds(self, point: Point) -> bool:
        """Whether nothing of a point has ended."""
        return not self._endings(point)

    def mark(self, point: Point) -> Point:
        """The point, with a mark if anything of it has ended."""
        if point.uri in self._ended_facts:
            return point._replace(mark=self._ended_facts[point.uri])
        for one in self._endings(point)[:1]:
            ended = f"no longer valid: {one.label}"
            return point._replace(mark="; ".join(filter(None, (point.mark, ended))))
        return point


class _Deduplicator:
    """Leaves out lines that repeat earlier ones; with a topic, puts lines about it first."""

    def __init__(self, topic: str = "") -> None:
        self._topic = content_stems(topic)
        self._seen: list[frozenset[str]] = []

    def filter(self, points: Iterable[Point]) -> list[Point]:
        """The points that say something new, each cut to one line. A fact is compared only with
        those of its own section: what it replaced may stand in an earlier one."""
        kept: list[Point] = []
        start = len(self._seen)
        for point in points:
            words = content_stems(point.text)
            most = _LIMITS.same_words * len(words)
            first = start if point.uri.startswith(uri("fact", "")) else 0
            if not words or any(len(words & seen) >= most for seen in self._seen[first:]):
                continue
            self._seen.append(words)
            kept.append(point._replace(text=_line(point.text)))
        if not self._topic:
            return kept
        return sorted(kept, key=lambda p: not (content_stems(p.text) & self._topic))


def _line(text: str) -> str:
    return truncate(text, _LIMITS.line_chars)


def _opening(text: str, limit: int = _LIMITS.sentences) -> str:
    """The first sentences that are not chatter."""
    return " ".join([s for s in sentences(text) if not is_chatter(s)][:limit])


def _marks(*marks: str, trust: Trust) -> str:
    """Remarks on a point, with one for text from outside the project."""
    outside = "text from outside" if trust is Trust.EXTERNAL else ""
    return "; ".join(filter(None, (*marks, outside)))


def _goal(reader: Reader, basis: _Basis, kind: str) -> Iterable[Point]:
    """The requests: of a session the first in full and then the titles of the others; of a topic
    those of its best exchanges."""
    for concept in basis.concepts[: _LIMITS.concepts]:
        text = f"{concept.name}: {_opening(concept.summary)}"
        yield Point(text, uri("concept", concept.id), concept.updated)
    best = {exchange.id for exchange in basis.work_by_rank[: _LIMITS.goals]}
    requests = [x for x in basis.work if kind == "session" or x.id in best]
    for number, exchange in enumerate(requests):
        first = _first_turn(reader, exchange)
        if kind == "session" and number and first is not None and first.speaker:
            continue  # an agent's report is not a person's request
        request = _request(first, exchange) if kind == "topic" or not number else ""
        yield Point(request or exchange.title, uri("exchange", exchange.id), exchange.started)


def _first_turn(reader: Reader, exchange: Exchange) -> Turn | None:
    first = exchange.first_seq
    turns = reader.turns.of_session(exchange.bank, exchange.session, first, first)
    return turns[0] if turns else None


def _request(first: Turn | None, exchange: Exchange) -> str:
    """The first sentences of a person's request; "" if they say no more than the title."""
    if first is None or first.role is not Role.USER:
        return ""
    text = _opening(first.text, _LIMITS.request_sentences)
    return text if len(text) > len(exchange.title) else ""


def _state(reader: Reader, basis: _Basis, kind: str) -> Iterable[Point]:
    """The last result, then the commits, then earlier results."""
    results = [_result(x, basis.topic) for x in reversed(basis.work)]
    if results:
        yield results[0]._replace(text=f"Last: {results[0].text}")
    for commit in reversed(basis.commits):
        mark = "reverted" if reader.git.reverted_by(commit.bank, commit.id) else ""
        text = f"Commit {commit.id[:9]}: {commit.subject}"
        yield Point(text, uri("commit", commit.id), commit.time, mark)
    for exchange in reversed(basis.work) if kind == "session" else ():
        for fact in exchange.facts:
            if names_change(fact):
                yield Point(fact, uri("exchange", exchange.id), exchange.ended)
    yield from results[1 : _LIMITS.topic_states if kind == "topic" else None]


def _result(exchange: Exchange, topic: str) -> Point:
    """The result of an exchange: the sentences about the topic, or else the first ones."""
    about = content_stems(topic)
    on_topic = [s for s in sentences(exchange.summary) if content_stems(s) & about]
    text = " ".join(on_topic[: _LIMITS.sentences]) or _opening(exchange.summary) or exchange.title
    mark = _marks(exchange.outcome.value, trust=exchange.trust)
    return Point(text, uri("exchange", exchange.id), exchange.ended, mark)


def _claims(reader: Reader, basis: _Basis) -> list[tuple[Claim, Status]]:
    """The claims made in the exchanges, earliest first, each with its status now."""
    work = {x.id for x in basis.work}
    claims = [
        claim
        for session in dict.fromkeys(x.session for x in basis.work)
        for claim in reader.facts.claims(basis.bank, session)
        if claim.exchange in work
    ]
    last = claim_statuses(reader, basis.bank, claims)
    claims.sort(key=lambda claim: (claim.time, claim.seq, claim.id))
    return [(c, last[c.id].status if c.id in last else c.status) for c in claims]


def _claim_point(claim: Claim, mark: str = "") -> Point:
    name = uri("turn", claim.turn) if claim.turn else uri("exchange", claim.exchange)
    problem = f"{claim.problem}: " if claim.problem and claim.problem not in claim.text else ""
    problem = f"Solved: {problem}" if claim.kind is ClaimKind.SOLUTION else problem
    return Point(f"{problem}{claim.text}", name, claim.time, _marks(mark, trust=claim.trust))


def _decisions(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[Point]:
    for rule in basis.rules:
        text = f"{rule.path}: {rule.heading or 'rule'}: {_opening(rule.text)}"
        yield Point(text, uri("rule", rule.id), "", "rule of the project")
    for memory in basis.memories:
        if memory.status is Status.VERIFIED and memory.network is not Network.OPINION:
            yield Point(memory.what, uri("memory", memory.id), memory.when, "to be remembered")
    for record in basis.shared:
        mark = _marks(f"shared by {record.author} on {record.shared[:10]}", trust=record.trust)
        yield Point(record.text, uri("shared", record.id), record.time, mark)
    for fact in sorted(basis.facts, key=lambda f: (f.validity.learned, f.id), reverse=True):
        if fact.status not in ENDED_STATUSES:
            text = f"{fact.problem}: {fact.content}" if fact.problem else fact.content
            mark = _marks(trust=fact.trust)
            yield Point(text, uri("fact", fact.id), fact.validity.learned, mark)
    for claim, status in reversed(claims):
        if claim.kind in _DECISION_KINDS and status not in ENDED_STATUSES:
            yield _claim_point(claim)


def _findings(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[Point]:
    for claim, status in reversed(claims):
        if claim.kind is ClaimKind.FINDING and status not in ENDED_STATUSES:
            yield _claim_point(claim)
    about = content_stems(basis.topic)
    for exchange in reversed(basis.work):
        is_best = exchange in basis.work_by_rank[: _LIMITS.goals]
        for fact in exchange.facts:
            on_topic = is_best or not about or content_stems(fact) & about
            if on_topic and not names_change(fact):
                mark = _marks(trust=exchange.trust)
                yield Point(fact, uri("exchange", exchange.id), exchange.started, mark)


def _dead_ends(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[Point]:
    for claim, status in reversed(claims):
        if claim.kind is ClaimKind.ATTEMPT and status is Status.VERIFIED:
            continue  # not known to have failed
        if claim.kind in _FAILED_KINDS:
            yield _claim_point(claim, _FAILED_KINDS[claim.kind])
        elif status is Status.RETRACTED:
            guess = claim.kind in (ClaimKind.HYPOTHESIS, ClaimKind.FINDING)
            yield _claim_point(claim, "a guess that was wrong" if guess else "taken back")
        elif status is Status.SUPERSEDED:
            yield _claim_point(claim, "superseded")
    for fact in basis.facts:
        if fact.status in ENDED_STATUSES:
            by = f" by {fact.superseded_by}" if fact.superseded_by else ""
            mark = f"{fact.status.value}{by}"
            yield Point(fact.content, uri("fact", fact.id), fact.validity.learned, mark)
    for x in reversed(basis.work):
        if x.outcome in _FAILED_OUTCOMES:
            text = f"{x.title}: {_opening(x.summary, 1)}"
            yield Point(text, uri("exchange", x.id), x.ended, x.outcome.value)


def _open_questions(
    basis: _Basis, claims: Sequence[tuple[Claim, Status]], kind: str
) -> Iterable[Point]:
    latest = basis.digests[-1:] if kind == "topic" else basis.digests
    for digest in latest:
        for step in digest.next_steps:
            yield Point(step, uri("digest", digest.id), digest.ended, "next step")
    for x in reversed(basis.work):
        if x.outcome is Outcome.OPEN:
            yield Point(x.title, uri("exchange", x.id), x.started, "left without an answer")
    for claim, status in reversed(claims):
        if claim.kind is ClaimKind.HYPOTHESIS and status is Status.HYPOTHESIS:
            yield _claim_point(claim, "a guess, neither confirmed nor refuted")


def _files(basis: _Basis) -> list[File]:
    """The files of the exchanges, the most changed first."""
    changed: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for x in basis.work:
        changed.update(dict.fromkeys(x.files_modified, 1))
        read.update(dict.fromkeys(x.files_read, 1))
    paths = sorted({*changed, *read}, key=lambda p: (-changed[p], -read[p], p))
    return [File(path, changed[path], read[path]) for path in paths]


def _sources(
    basis: _Basis, shown: dict[str, tuple[Point, ...]], history: _History
) -> tuple[Source, ...]:
    """Every record that a shown line names, in that order."""
    points = [p for section, _, _ in SECTIONS for p in shown[section] if p.uri]
    titles = {p.uri: (p.text, p.time) for p in reversed(points)}
    titles |= {uri("exchange", x.id): (x.title, x.started) for x in basis.work}
    found: list[Source] = []
    for name in dict.fromkeys(point.uri for point in points):
        title, time = titles[name]
        kind = name.removeprefix(SCHEME).partition("/")[0]
        short = truncate(title, _LIMITS.source_title_chars)
        mark = history.mark(Point(title, name, time)).mark
        found.append(Source(name, kind, f"{short} ({mark})" if mark else short, time))
    return tuple(found)
