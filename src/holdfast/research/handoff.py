"""A hand-off pack: what somebody who takes over a session or a topic must know, on one page.

Made by rules of what the memory holds: what was wanted, how it stands, what was settled, what did
not work, what is open, and where to look. Every line names the record that it comes from; a section
that nothing is known of says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import cut, is_chatter, plain, sentences, squeeze, telling
from holdfast.model.fact_history import status_at
from holdfast.model.knowledge import Claim, ClaimKind, Concept, Fact, Life, Memory, Network, Rule
from holdfast.model.query import Hit
from holdfast.model.records import Digest, Exchange, Outcome, Role, Session, Turn
from holdfast.model.team import Commit, Shared
from holdfast.model.trust import ENDED, Status, Trust
from holdfast.model.uris import SCHEME, parse_uri, uri
from holdfast.research.handoff_page import SECTIONS, File, Pack, Point, Source
from holdfast.store.protocol import Reader, Record

_LONGEST = 280
_MOST = 12
_FILES = 20
_SAME = 0.8
_NEAR = 0.7
_COMMITTED = "Committed: "
_GOALS = 3
_SETTLED = (ClaimKind.RULING, ClaimKind.DECISION, ClaimKind.CORE_LOGIC, ClaimKind.SOLUTION)
_TRIED = {ClaimKind.ATTEMPT: "did not do it", ClaimKind.DISPROOF: "reported"}
_WORK = (Outcome.FAILED, Outcome.INTERRUPTED)


class _Basis(NamedTuple):
    """What a pack is made of: pieces of work in the order of time, and what else speaks of it."""

    bank: str
    work: tuple[Exchange, ...]
    digests: tuple[Digest, ...] = ()
    facts: tuple[Fact, ...] = ()
    memories: tuple[Memory, ...] = ()
    rules: tuple[Rule, ...] = ()
    commits: tuple[Commit, ...] = ()
    concepts: tuple[Concept, ...] = ()
    shared: tuple[Shared, ...] = ()
    topic: str = ""
    work_by_rank: tuple[Exchange, ...] = ()


def pack_session(reader: Reader, session: Session, bank: str) -> Pack:
    """What a session leaves behind."""
    work = tuple(reader.exchanges(session.bank, session.id))
    digest = reader.digest_of(session.bank, session.id)
    made = reader.authorship(session.bank, session=session.id)
    commits = [c for one in made for c in reader.find(session.bank, "commit", one.commit, 1)]
    facts: dict[str, Fact] = {}
    for exchange in work:
        for fact in _facts_on(reader, exchange):
            facts[fact.id] = fact
    basis = _Basis(
        session.bank,
        work,
        (digest,) if digest else (),
        tuple(facts.values()),
        commits=tuple(sorted((c for c in commits if isinstance(c, Commit)), key=_time)),
    )
    title = session.title or (work[0].title if work else "") or session.host
    return _pack(reader, "session", _line(title), bank, uri("session", session.id), basis)


def pack_topic(reader: Reader, bank: str, name: str, topic: str, hits: Sequence[Hit]) -> Pack:
    """What is known of a topic, given what speaks of it, best first."""
    found: list[Record] = []
    best = max((hit.score for hit in hits), default=0.0)
    for hit in hits:
        named = parse_uri(hit.uri) if hit.score >= _NEAR * best else None
        found += reader.find(hit.bank, named.word, named.id, 1) if named else []
    work: dict[str, Exchange] = {}
    for record in found:
        for exchange in _work_of(reader, record):
            work.setdefault(exchange.id, exchange)
    facts = {f.id: f for f in found if isinstance(f, Fact)}
    for exchange in work.values():
        facts |= {f.id: f for f in _facts_on(reader, exchange)}
    commits = {c.id: c for c in found if isinstance(c, Commit)}
    basis = _Basis(
        bank,
        tuple(sorted(work.values(), key=lambda x: (x.started, x.id))),
        _digests(reader, work.values()),
        tuple(facts.values()),
        tuple(m for m in found if isinstance(m, Memory)),
        tuple(r for r in found if isinstance(r, Rule)),
        tuple(sorted(commits.values(), key=_time)),
        tuple(c for c in found if isinstance(c, Concept)),
        tuple(s for s in found if isinstance(s, Shared)),
        topic,
        tuple(work.values()),
    )
    return _pack(reader, "topic", topic, name, "", basis)


def _time(commit: Commit) -> tuple[str, str]:
    return commit.time, commit.id


def _facts_on(reader: Reader, exchange: Exchange) -> list[Fact]:
    """The facts that rest on a piece of work, or on what was said in it."""
    turns = reader.turns(exchange.bank, exchange.session, exchange.first_seq, exchange.last_seq)
    said = [uri("turn", turn.id) for turn in turns]
    names = [uri("exchange", exchange.id), *said]
    return [fact for name in names for fact in reader.facts_stated_in(exchange.bank, name)]


def _work_of(reader: Reader, record: Record) -> list[Exchange]:
    """The pieces of work that a record is, or stands in."""
    if isinstance(record, Exchange):
        return [record]
    if isinstance(record, Turn):
        within = reader.exchanges(record.bank, record.session)
        return [x for x in within if x.first_seq <= record.seq <= x.last_seq]
    if isinstance(record, Concept | Memory):
        names = record.members if isinstance(record, Concept) else record.evidence_for
        named = [parse_uri(name) for name in names]
        found = [r for n in named if n for r in reader.find(record.bank, n.word, n.id, 1)]
        return [x for r in found if isinstance(r, Exchange | Turn) for x in _work_of(reader, r)]
    return []


def _digests(reader: Reader, work: Iterable[Exchange]) -> tuple[Digest, ...]:
    """Those of the sessions that a topic was worked on in, the latest last."""
    sessions = dict.fromkeys((x.bank, x.session) for x in work)
    found = [d for bank, id in sessions if (d := reader.digest_of(bank, id)) is not None]
    return tuple(sorted(found, key=lambda d: (d.started, d.id)))


def _pack(reader: Reader, kind: str, title: str, bank: str, name: str, basis: _Basis) -> Pack:
    claims = _claims(reader, basis)
    settled = _Telling(basis.topic)
    parts = {
        "goal": _Telling().points(_goal(reader, basis, kind)),
        "state": _Telling().points(_state(reader, basis, kind)),
        # What did not work is told first, so that it is not told as settled.
        "dead_ends": settled.points(_dead_ends(basis, claims)),
        "decisions": settled.points(_decisions(basis, claims)),
        "findings": settled.points(_findings(basis, claims)),
        "open_questions": _Telling(basis.topic).points(_open(basis, claims, kind)),
    }
    shown = {part: tuple(points[:_MOST]) for part, points in parts.items()}
    left = {part: len(points) - _MOST for part, points in parts.items() if len(points) > _MOST}
    files = _files(basis)
    left |= {"files": len(files) - _FILES} if len(files) > _FILES else {}
    times = sorted(t for x in basis.work for t in (x.started, x.ended) if t)
    return Pack(
        kind, title, bank, name, times[0] if times else "", times[-1] if times else "",
        files=tuple(files[:_FILES]), sources=_sources(basis, shown), left_out=left, **shown,
    )  # fmt: skip


class _Telling:
    """Says nothing twice, and of a topic first what speaks of it."""

    def __init__(self, topic: str = "") -> None:
        self._topic = telling(topic)
        self._said: list[frozenset[str]] = []

    def points(self, points: Iterable[Point]) -> list[Point]:
        """Those that say something new, each in one short paragraph."""
        kept: list[Point] = []
        for point in points:
            words = telling(point.text)
            if not words or any(len(words & said) >= _SAME * len(words) for said in self._said):
                continue
            self._said.append(words)
            kept.append(point._replace(text=_line(point.text)))
        if not self._topic:
            return kept
        return sorted(kept, key=lambda p: not (telling(p.text) & self._topic))


def _line(text: str) -> str:
    return cut(squeeze(plain(text)), _LONGEST)


def _first(text: str, most: int = 2) -> str:
    """The first sentences that tell something."""
    told = [s for s in sentences(text) if not is_chatter(s)]
    return " ".join(told[:most])


def _trusted(trust: Trust) -> str:
    return "words from outside" if trust is Trust.EXTERNAL else ""


def _goal(reader: Reader, basis: _Basis, kind: str) -> Iterable[Point]:
    """What was asked for: of a session first its first request and then the others; of a topic the
    requests that speak of it most."""
    for concept in basis.concepts[:2]:
        said = f"{concept.name}: {_first(concept.summary)}"
        yield Point(said, uri("concept", concept.id), concept.updated)
    most = {exchange.id for exchange in basis.work_by_rank[:_GOALS]}
    asked = [x for x in basis.work if kind == "session" or x.id in most]
    for number, exchange in enumerate(asked):
        first = _first_turn(reader, exchange)
        if kind == "session" and number and first is not None and first.speaker:
            continue  # what an agent reports is no request of a person's
        whole = _asked(first, exchange) if kind == "topic" or not number else ""
        yield Point(whole or exchange.title, uri("exchange", exchange.id), exchange.started)


def _first_turn(reader: Reader, exchange: Exchange) -> Turn | None:
    first = exchange.first_seq
    turns = reader.turns(exchange.bank, exchange.session, first, first)
    return turns[0] if turns else None


def _asked(first: Turn | None, exchange: Exchange) -> str:
    """The first sentences of a request."""
    told = _first(first.text, 3) if first is not None and first.role is Role.USER else ""
    return told if len(told) > len(exchange.title) else ""


def _state(reader: Reader, basis: _Basis, kind: str) -> Iterable[Point]:
    """The last that was done, what was committed, and what was done before."""
    told = [_done(x, basis.topic) for x in reversed(basis.work)]
    if told:
        yield told[0]._replace(text=f"Last: {told[0].text}")
    for commit in reversed(basis.commits):
        gone = "reverted" if reader.reverted_by(commit.bank, commit.id) else ""
        said = f"Commit {commit.id[:9]}: {commit.subject}"
        yield Point(said, uri("commit", commit.id), commit.time, gone)
    for exchange in reversed(basis.work) if kind == "session" else ():
        for fact in exchange.facts:
            if fact.startswith(_COMMITTED):
                yield Point(fact, uri("exchange", exchange.id), exchange.ended)
    yield from told[1 : 3 if kind == "topic" else None]


def _done(exchange: Exchange, topic: str) -> Point:
    """What a piece of work came to; of a topic, what was said of it."""
    about = telling(topic)
    on_it = [s for s in sentences(exchange.summary) if telling(s) & about]
    said = " ".join(on_it[:2]) or _first(exchange.summary) or exchange.title
    mark = "; ".join(filter(None, (exchange.outcome.value, _trusted(exchange.trust))))
    return Point(said, uri("exchange", exchange.id), exchange.ended, mark)


def _claims(reader: Reader, basis: _Basis) -> list[tuple[Claim, Status]]:
    """What was claimed in the work, each with what became of it."""
    found: list[Claim] = []
    work = {x.id for x in basis.work}
    for session in dict.fromkeys(x.session for x in basis.work):
        found += [c for c in reader.claims(basis.bank, session) if c.exchange in work]
    lives = reader.status_changes(basis.bank, [("claim", claim.id) for claim in found])
    by_id: dict[str, list[Life]] = {}
    for life in lives:
        by_id.setdefault(life.id, []).append(life)
    told: list[tuple[Claim, Status]] = []
    for claim in sorted(found, key=lambda c: (c.time, c.seq, c.id)):
        last = status_at(by_id.get(claim.id, ()))
        told.append((claim, last.status if last else claim.status))
    return told


def _of_claim(claim: Claim, mark: str = "") -> Point:
    name = uri("turn", claim.turn) if claim.turn else uri("exchange", claim.exchange)
    problem = f"{claim.problem}: " if claim.problem and claim.problem not in claim.text else ""
    problem = f"Solved: {problem}" if claim.kind is ClaimKind.SOLUTION else problem
    marks = "; ".join(filter(None, (mark, _trusted(claim.trust))))
    return Point(f"{problem}{claim.text}", name, claim.time, marks)


def _decisions(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[Point]:
    for rule in basis.rules:
        where = f"{rule.path}: {rule.heading or 'rule'}"
        yield Point(
            f"{where}: {_first(rule.text)}", uri("rule", rule.id), "", "rule of the project"
        )
    for memory in basis.memories:
        if memory.status is Status.VERIFIED and memory.network is not Network.OPINION:
            yield Point(memory.what, uri("memory", memory.id), memory.when, "to be remembered")
    for shared_one in basis.shared:
        who = f"shared by {shared_one.author} on {shared_one.shared[:10]}"
        marks = "; ".join(filter(None, (who, _trusted(shared_one.trust))))
        yield Point(shared_one.text, uri("shared", shared_one.id), shared_one.time, marks)
    for fact in sorted(basis.facts, key=lambda f: (f.validity.learned, f.id), reverse=True):
        if fact.status not in ENDED:
            said = f"{fact.problem}: {fact.content}" if fact.problem else fact.content
            yield Point(said, uri("fact", fact.id), fact.validity.learned, _trusted(fact.trust))
    for claim, status in reversed(claims):
        if claim.kind in _SETTLED and status not in ENDED:
            yield _of_claim(claim)


def _findings(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[Point]:
    for claim, status in reversed(claims):
        if claim.kind is ClaimKind.FINDING and status not in ENDED:
            yield _of_claim(claim)
    about = telling(basis.topic)
    for exchange in reversed(basis.work):
        most = exchange in basis.work_by_rank[:_GOALS]
        for fact in exchange.facts:
            on_it = most or not about or telling(fact) & about
            if on_it and not fact.startswith(_COMMITTED):
                mark = _trusted(exchange.trust)
                yield Point(fact, uri("exchange", exchange.id), exchange.started, mark)


def _dead_ends(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[Point]:
    for claim, status in reversed(claims):
        if claim.kind in _TRIED:
            yield _of_claim(claim, _TRIED[claim.kind])
        elif status is Status.RETRACTED:
            guess = claim.kind in (ClaimKind.HYPOTHESIS, ClaimKind.FINDING)
            yield _of_claim(claim, "a guess that was wrong" if guess else "taken back")
        elif status is Status.SUPERSEDED:
            yield _of_claim(claim, "superseded")
    for fact in basis.facts:
        if fact.status in ENDED:
            by = f" by {fact.superseded_by}" if fact.superseded_by else ""
            mark = f"{fact.status.value}{by}"
            yield Point(fact.content, uri("fact", fact.id), fact.validity.learned, mark)
    for x in reversed(basis.work):
        if x.outcome in _WORK:
            yield Point(f"{x.title}: {_first(x.summary, 1)}", uri("exchange", x.id), x.ended,
                        x.outcome.value)  # fmt: skip


def _open(basis: _Basis, claims: Sequence[tuple[Claim, Status]], kind: str) -> Iterable[Point]:
    latest = basis.digests[-1:] if kind == "topic" else basis.digests
    for digest in latest:
        for step in digest.next_steps:
            yield Point(step, uri("digest", digest.id), digest.ended, "next step")
    for x in reversed(basis.work):
        if x.outcome is Outcome.OPEN:
            yield Point(x.title, uri("exchange", x.id), x.started, "left without an answer")
    for claim, status in reversed(claims):
        if claim.kind is ClaimKind.HYPOTHESIS and status is Status.HYPOTHESIS:
            yield _of_claim(claim, "a guess, neither confirmed nor refuted")


def _files(basis: _Basis) -> list[File]:
    """The files of the work, the most changed first."""
    changed: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for x in basis.work:
        changed.update(dict.fromkeys(x.files_modified, 1))
        read.update(dict.fromkeys(x.files_read, 1))
    paths = sorted({*changed, *read}, key=lambda p: (-changed[p], -read[p], p))
    return [File(path, changed[path], read[path]) for path in paths]


def _sources(basis: _Basis, shown: dict[str, tuple[Point, ...]]) -> tuple[Source, ...]:
    """Every record that a line names, in the order in which they are named."""
    points = [p for part, _, _ in SECTIONS for p in shown[part] if p.uri]
    titles = {p.uri: (p.text, p.time) for p in reversed(points)}
    titles |= {uri("exchange", x.id): (x.title, x.started) for x in basis.work}
    found: list[Source] = []
    for name in dict.fromkeys(point.uri for point in points):
        title, time = titles[name]
        kind = name.removeprefix(SCHEME).partition("/")[0]
        found.append(Source(name, kind, cut(plain(title), 90), time))
    return tuple(found)
