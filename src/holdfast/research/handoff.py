"""Make a hand-off pack: what somebody who takes over a session or a topic must know, on one page.

Goal, state, decisions and more, by rules. Every line names its source; an empty section says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from holdfast.language import content_stems, is_chatter, sentences, truncate
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
from holdfast.model.uris import uri
from holdfast.recall.core.ended_words import read_ended_words
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.signals import names_change
from holdfast.refine.sessions.titles import session_subject
from holdfast.research.answering.quoted_status import claim_statuses
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

# What fits on one page: characters of a line, lines of a section, and files.
_MAX_CHARS = 280
_MAX_LINES = 12
_MAX_FILES = 20
# Concepts and exchanges that state the goal of a topic.
_MAX_GOALS = 3
# Hits of a topic below this share of the best score are about something else.
_MIN_SHARE_OF_BEST = 0.7
_DECISIONS = (ClaimKind.RULING, ClaimKind.DECISION, ClaimKind.CORE_LOGIC, ClaimKind.SOLUTION)
_FAILED = {ClaimKind.ATTEMPT: "did not do it", ClaimKind.DISPROOF: "reported"}
# Field of `HandOff`, heading, and the text for an empty section.
SECTIONS = (
    ("goal", "Goal", "No goal was stated."),
    ("state", "State", "The state is not known."),
    ("decisions", "Decisions", "None known."),
    ("findings", "Findings", "None stated explicitly."),
    ("dead_ends", "Dead ends", "None known: nothing failed or was reverted."),
    ("open_questions", "Open questions", "None known."),
)


class HandoffPoint(NamedTuple):
    """One line of a pack: its text, the URI of its source, the time, and a remark ("reverted")."""

    text: str
    uri: str = ""
    time: str = ""
    mark: str = ""


class HandoffFile(NamedTuple):
    """A file, and in how many exchanges it was changed and read."""

    path: str
    changed: int
    read: int


class HandoffSource(NamedTuple):
    """A record that the pack quotes, and when it was made."""

    uri: str
    time: str


class HandOff(NamedTuple):
    """What is handed over. `kind` is `session` or `topic`; `name` is the session's URI; `left_out`
    counts, by section, the lines beyond the limit; `page` is the whole as Markdown."""

    kind: str
    title: str
    bank: str
    name: str
    since: str
    until: str
    goal: tuple[HandoffPoint, ...]
    state: tuple[HandoffPoint, ...]
    decisions: tuple[HandoffPoint, ...]
    findings: tuple[HandoffPoint, ...]
    dead_ends: tuple[HandoffPoint, ...]
    open_questions: tuple[HandoffPoint, ...]
    files: tuple[HandoffFile, ...]
    sources: tuple[HandoffSource, ...]
    left_out: dict[str, int]
    page: str = ""


class _Basis(NamedTuple):
    """The records that a pack is made of. `work` is in order of time; `best` are the exchanges
    that state the goal: all of a session, and the first found of a topic."""

    bank: str
    work: tuple[Exchange, ...]
    best: tuple[Exchange, ...]
    digests: tuple[Digest, ...]
    facts: tuple[Fact, ...]
    others: tuple[Record, ...] = ()


def pack_session(reader: Reader, session: Session, bank: str) -> HandOff:
    """The pack of a session; `bank` is the bank's name for people."""
    work = tuple(reader.sessions.exchanges(session.bank, session.id))
    made = reader.git.authorship(session.bank, session=session.id)
    commits = [
        c for one in made for c in reader.records.find(session.bank, "commit", one.commit, 1)
    ]
    basis = _Basis(session.bank, work, work, *_known_of(reader, work), tuple(commits))
    title = truncate(session_subject(session, work) or session.host, _MAX_CHARS)
    return _pack(reader, "session", title, bank, uri("session", session.id), basis)


def pack_topic(reader: Reader, bank: str, name: str, topic: str, hits: Sequence[Hit]) -> HandOff:
    """The pack of a topic, made from hits, best first; `name` is the bank's name for people."""
    least = _MIN_SHARE_OF_BEST * max((hit.score for hit in hits), default=0.0)
    good = [hit for hit in hits if hit.score >= least]
    found = [r for hit in good if (r := find_by_uri(reader, hit.bank, hit.uri)) is not None]
    work = {x.id: x for record in found for x in _work_of(reader, record)}
    ordered = tuple(sorted(work.values(), key=attrgetter("started", "id")))
    digests, facts = _known_of(reader, ordered)
    facts = tuple({f.id: f for f in (*(r for r in found if isinstance(r, Fact)), *facts)}.values())
    best = tuple(work.values())[:_MAX_GOALS]
    basis = _Basis(bank, ordered, best, digests[-1:], facts, tuple(found))
    return _pack(reader, "topic", topic, name, "", basis)


def _known_of(
    reader: Reader, work: Iterable[Exchange]
) -> tuple[tuple[Digest, ...], tuple[Fact, ...]]:
    """The digests of the exchanges' sessions, the latest last, and the facts that the exchanges
    or turns in them state."""
    digests: dict[str, Digest] = {}
    facts: dict[str, Fact] = {}
    for x in work:
        digest = reader.sessions.digest(x.bank, x.session)
        digests |= {digest.id: digest} if digest else {}
        turns = reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
        for name in (uri("exchange", x.id), *(uri("turn", turn.id) for turn in turns)):
            facts |= {fact.id: fact for fact in reader.facts.stated_in(x.bank, name)}
    return tuple(sorted(digests.values(), key=attrgetter("started", "id"))), tuple(facts.values())


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


def _pack(reader: Reader, kind: str, title: str, bank: str, name: str, basis: _Basis) -> HandOff:
    claims, history = _claims(reader, basis), _History(reader, basis)
    known: list[frozenset[str]] = []
    sections = {
        "goal": _new(map(history.mark, _goal(reader, basis, kind)), []),
        "state": _new(map(history.mark, _state(reader, basis)), []),
        # Dead ends go first, so that what did not work is not repeated as a decision or finding.
        "dead_ends": _new(_dead_ends(basis, claims), known),
        "decisions": _new(filter(history.holds, _decisions(basis, claims)), known),
        "findings": _new(filter(history.holds, _findings(basis, claims)), known),
        "open_questions": _new(filter(history.holds, _open_questions(basis, claims)), []),
    }
    shown = {section: tuple(points[:_MAX_LINES]) for section, points in sections.items()}
    files = _files(basis)
    left_out = {section: len(points) - _MAX_LINES for section, points in sections.items()}
    left_out["files"] = len(files) - _MAX_FILES
    times = sorted(t for x in basis.work for t in (x.started, x.ended) if t)
    points = [point for section, _, _ in SECTIONS for point in shown[section]]
    sources = {
        point.uri: HandoffSource(point.uri, point.time) for point in reversed(points) if point.uri
    }
    return HandOff(
        kind, title, bank, name, times[0] if times else "", times[-1] if times else "",
        files=tuple(files[:_MAX_FILES]),
        sources=tuple(sources[name] for name in dict.fromkeys(p.uri for p in points if p.uri)),
        left_out={name: count for name, count in left_out.items() if count > 0}, page="", **shown,
    )  # fmt: skip


def _new(points: Iterable[HandoffPoint], seen: list[frozenset[str]]) -> list[HandoffPoint]:
    """The points that have words which no earlier one has, each cut to one line. A fact is compared
    with those of its own section: what it replaced may stand in an earlier one."""
    kept: list[HandoffPoint] = []
    start = len(seen)
    for point in points:
        words = content_stems(point.text)
        first = start if point.uri.startswith(uri("fact", "")) else 0
        if not any(words <= earlier for earlier in (frozenset[str](), *seen[first:])):
            kept.append(point._replace(text=truncate(point.text, _MAX_CHARS)))
            seen.append(words)
    return kept


class _History:
    """Knows which points say what does not hold any more."""

    def __init__(self, reader: Reader, basis: _Basis) -> None:
        self._ended = read_ended_words(reader, basis.bank, {x.session for x in basis.work})
        self._places = {uri("exchange", x.id): (x.session, x.first_seq) for x in basis.work}
        self._ended_facts = {
            uri("fact", f.id): f.status.value for f in basis.facts if f.status in ENDED_STATUSES
        }

    def _endings(self, point: HandoffPoint) -> tuple[EndedSentence, ...]:
        if point.uri.startswith((uri("fact", ""), uri("rule", ""))):
            return ()  # these are left out by their status, and hold as long as they are in a file
        return self._ended.find(point.text, point.time, *self._places.get(point.uri, ("", 0)))

    def holds(self, point: HandoffPoint) -> bool:
        """Whether nothing of a point has ended."""
        return not self._endings(point)

    def mark(self, point: HandoffPoint) -> HandoffPoint:
        """The point, with a mark if anything of it has ended."""
        if point.uri in self._ended_facts:
            return point._replace(mark=self._ended_facts[point.uri])
        for one in self._endings(point)[:1]:
            ended = f"no longer valid: {one.label}"
            return point._replace(mark="; ".join(filter(None, (point.mark, ended))))
        return point


def _opening(text: str, limit: int = 2) -> str:
    """The first sentences that are not chatter."""
    return " ".join([s for s in sentences(text) if not is_chatter(s)][:limit])


def _marks(*marks: str, trust: Trust) -> str:
    """Remarks on a point, with one for text from outside the project."""
    outside = "text from outside" if trust is Trust.EXTERNAL else ""
    return "; ".join(filter(None, (*marks, outside)))


def _goal(reader: Reader, basis: _Basis, kind: str) -> Iterable[HandoffPoint]:
    """The requests: the first of a session, and those that state a topic, in their own words."""
    concepts = [one for one in basis.others if isinstance(one, Concept)]
    for concept in concepts[:_MAX_GOALS]:
        text = f"{concept.name}: {_opening(concept.summary)}"
        yield HandoffPoint(text, uri("concept", concept.id), concept.updated)
    for number, x in enumerate(basis.best):
        turns = reader.turns.of_session(x.bank, x.session, x.first_seq, x.first_seq)
        first = turns[0] if turns else None
        if kind == "session" and number and first is not None and first.speaker:
            continue  # an agent's report is not a person's request
        text = x.title
        if first is not None and first.role is Role.USER and (kind == "topic" or not number):
            text = max(text, _opening(first.text, 3), key=len)
        yield HandoffPoint(text, uri("exchange", x.id), x.started)


def _state(reader: Reader, basis: _Basis) -> Iterable[HandoffPoint]:
    """The last result, then the commits, then earlier results."""
    results = [
        HandoffPoint(
            _opening(x.summary) or x.title,
            uri("exchange", x.id),
            x.ended,
            _marks(x.outcome.value, trust=x.trust),
        )
        for x in reversed(basis.work)
    ]
    for result in results[:1]:
        yield result._replace(text=f"Last: {result.text}")
    commits = sorted((c for c in basis.others if isinstance(c, Commit)), key=attrgetter("time"))
    for commit in reversed(commits):
        mark = "reverted" if reader.git.reverted_by(commit.bank, commit.id) else ""
        text = f"Commit {commit.id[:9]}: {commit.subject}"
        yield HandoffPoint(text, uri("commit", commit.id), commit.time, mark)
    yield from results[1:]


def _claims(reader: Reader, basis: _Basis) -> list[tuple[Claim, Status]]:
    """The claims made in the exchanges, latest first, each with its status now."""
    work = {x.id for x in basis.work}
    claims = [
        claim
        for session in dict.fromkeys(x.session for x in basis.work)
        for claim in reader.facts.claims(basis.bank, session)
        if claim.exchange in work
    ]
    last = claim_statuses(reader, basis.bank, claims)
    claims.sort(key=attrgetter("time", "seq", "id"), reverse=True)
    return [(c, last[c.id].status if c.id in last else c.status) for c in claims]


def _claim_point(claim: Claim, mark: str = "") -> HandoffPoint:
    name = uri("turn", claim.turn) if claim.turn else uri("exchange", claim.exchange)
    problem = f"{claim.problem}: " if claim.problem and claim.problem not in claim.text else ""
    problem = f"Solved: {problem}" if claim.kind is ClaimKind.SOLUTION else problem
    return HandoffPoint(f"{problem}{claim.text}", name, claim.time, _marks(mark, trust=claim.trust))


def _decisions(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[HandoffPoint]:
    for one in basis.others:
        if isinstance(one, Rule):
            text = f"{one.path}: {one.heading or 'rule'}: {_opening(one.text)}"
            yield HandoffPoint(text, uri("rule", one.id), "", "rule of the project")
        elif isinstance(one, Memory):
            if one.status is Status.VERIFIED and one.network is not Network.OPINION:
                yield HandoffPoint(one.what, uri("memory", one.id), one.when, "to be remembered")
        elif isinstance(one, SharedRecord):
            mark = _marks(f"shared by {one.author} on {one.shared[:10]}", trust=one.trust)
            yield HandoffPoint(one.text, uri("shared", one.id), one.time, mark)
    for fact in sorted(basis.facts, key=lambda f: (f.validity.learned, f.id), reverse=True):
        if fact.status not in ENDED_STATUSES:
            text = f"{fact.problem}: {fact.content}" if fact.problem else fact.content
            mark = _marks(trust=fact.trust)
            yield HandoffPoint(text, uri("fact", fact.id), fact.validity.learned, mark)
    for claim, status in claims:
        if claim.kind in _DECISIONS and status not in ENDED_STATUSES:
            yield _claim_point(claim)


def _findings(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[HandoffPoint]:
    for claim, status in claims:
        if claim.kind is ClaimKind.FINDING and status not in ENDED_STATUSES:
            yield _claim_point(claim)
    for x in reversed(basis.best):
        for fact in x.facts:
            if not names_change(fact):
                yield HandoffPoint(fact, uri("exchange", x.id), x.started, _marks(trust=x.trust))


def _dead_ends(basis: _Basis, claims: Sequence[tuple[Claim, Status]]) -> Iterable[HandoffPoint]:
    for claim, status in claims:
        if claim.kind is ClaimKind.ATTEMPT and status is Status.VERIFIED:
            continue  # not known to have failed
        if claim.kind in _FAILED:
            yield _claim_point(claim, _FAILED[claim.kind])
        elif status is Status.RETRACTED:
            guess = claim.kind in (ClaimKind.HYPOTHESIS, ClaimKind.FINDING)
            yield _claim_point(claim, "a guess that was wrong" if guess else "taken back")
        elif status is Status.SUPERSEDED:
            yield _claim_point(claim, "superseded")
    for fact in basis.facts:
        if fact.status in ENDED_STATUSES:
            by = f" by {fact.superseded_by}" if fact.superseded_by else ""
            mark = f"{fact.status.value}{by}"
            yield HandoffPoint(fact.content, uri("fact", fact.id), fact.validity.learned, mark)
    for x in reversed(basis.work):
        if x.outcome in (Outcome.FAILED, Outcome.INTERRUPTED):
            text = f"{x.title}: {_opening(x.summary, 1)}"
            yield HandoffPoint(text, uri("exchange", x.id), x.ended, x.outcome.value)


def _open_questions(
    basis: _Basis, claims: Sequence[tuple[Claim, Status]]
) -> Iterable[HandoffPoint]:
    for digest in basis.digests:
        for step in digest.next_steps:
            yield HandoffPoint(step, uri("digest", digest.id), digest.ended, "next step")
    for x in reversed(basis.work):
        if x.outcome is Outcome.OPEN:
            yield HandoffPoint(x.title, uri("exchange", x.id), x.started, "left without an answer")
    for claim, status in claims:
        if claim.kind is ClaimKind.HYPOTHESIS and status is Status.HYPOTHESIS:
            yield _claim_point(claim, "a guess, neither confirmed nor refuted")


def _files(basis: _Basis) -> list[HandoffFile]:
    """The files of the exchanges, the most changed first."""
    changed = Counter(path for x in basis.work for path in set(x.files_modified))
    read = Counter(path for x in basis.work for path in set(x.files_read))
    paths = sorted({*changed, *read}, key=lambda p: (-changed[p], -read[p], p))
    return [HandoffFile(path, changed[path], read[path]) for path in paths]


def as_markdown(pack: HandOff, clean: Callable[[str], str]) -> str:
    """The pack as one page; `clean` redacts the text."""
    numbers = {source.uri: number for number, source in enumerate(pack.sources, 1)}
    span = " – ".join(dict.fromkeys(t[:10] for t in (pack.since, pack.until) if t)) or "undated"
    subject = f"Session `{pack.name}`" if pack.name else "A topic"
    lines = [f"# Hand-off: {pack.title}", "", f"{subject} · {pack.bank} · {span}"]
    # Within one day the date of each line says nothing.
    with_days = pack.since[:10] != pack.until[:10]

    def add_section(section: str, heading: str, told: list[str], if_empty: str) -> None:
        left_out = pack.left_out.get(section, 0)
        more = [f"- … and {left_out} more"] if left_out else []
        lines.extend(["", f"## {heading}", "", *(told or [if_empty]), *more])

    for section, heading, if_empty in SECTIONS:
        points: tuple[HandoffPoint, ...] = getattr(pack, section)
        add_section(section, heading, [_line(p, numbers, with_days) for p in points], if_empty)
    files = [
        f"- `{file.path}`: "
        + ", ".join(
            f"{what} {count}×"
            for what, count in (("changed", file.changed), ("read", file.read))
            if count
        )
        for file in pack.files
    ]
    add_section("files", "Files", files, "None was touched.")
    lines += ["", "## Sources", "", "`holdfast show URI` opens each, down to the raw line.", ""]
    lines += [f"{numbers[s.uri]}. `{s.uri}` {s.time[:10]}".rstrip() for s in pack.sources]
    return clean("\n".join(lines) + "\n")


def _line(point: HandoffPoint, numbers: dict[str, int], with_day: bool) -> str:
    notes = ", ".join(filter(None, (point.time[:10] if with_day else "", point.mark)))
    source = f" [{numbers[point.uri]}]" if point.uri in numbers else ""
    return f"- {point.text}{f' ({notes})' if notes else ''}{source}"
