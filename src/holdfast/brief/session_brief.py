"""The session brief: where the last sessions stopped, what was decided, what was learned and left
open; and recent requests, if that is little.

It is prepared ahead, so it contains dates ("2026-07-29", not "yesterday"). Whole items are chosen
to fit; nothing is cut to size. What the host loads itself (its own rules and memory files) is not
repeated. The same memory always gives the same brief. What it contains and in which order is
decided in `session_brief`, how much of it in `BriefLimits`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

from holdfast.brief.brief_page import Group, Page, Part
from holdfast.brief.decision_versions import latest_versions
from holdfast.brief.frame import (
    EMPTY_BRIEF,
    MAX_CHARACTERS,
    SHORT_ID,
    Brief,
    brief_head,
    format_day,
    origin_label,
    short_name,
    wrap_brief,
)
from holdfast.brief.informative import (
    informative_part,
    lasting_part,
    refers_back,
    says_it_lasts,
)
from holdfast.brief.known_statements import (
    SETTLING_KINDS,
    KnownStatement,
    is_laid_down,
    is_of_a_program,
    tells_fault,
)
from holdfast.brief.memory_file import MemoryFile
from holdfast.brief.sessions.findings import FIXED, WORKED_ON, Findings
from holdfast.brief.sessions.last_sessions import LastSessions, request_of
from holdfast.brief.sessions.recent_work import KnownMatters, recent_work
from holdfast.brief.sessions.session_endings import question_asked
from holdfast.brief.statement_ranking import (
    ReplacedWork,
    StatementRanking,
    is_begun,
    is_same_matter,
)
from holdfast.brief.verdicts import Verdicts, read_verdicts
from holdfast.brief.work_items import (
    WorkItem,
    WorkItems,
    select_quotes,
)
from holdfast.framed_text import one_line, quote
from holdfast.language import content_stems, counted, truncate
from holdfast.model.knowledge import (
    Fact,
    FactKind,
    Kind,
    Memory,
    Network,
    Rule,
)
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import uri
from holdfast.recall.core.correction_notes import is_corrected_by_person
from holdfast.recall.core.ended_words import EndedWords, read_ended_words
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.statement_similarity import own_words
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.store.protocol import Reader

_SINCE_EVER = "0"


class BriefLimits(NamedTuple):
    """How much a session brief contains. The settings give the size of all (`brief.tokens`) and the
    number of exchanges; these divide it. More of one kind leaves less room for the others."""

    decisions: int = 12
    open_tasks: int = 3
    # Without a verdict on them. More of them tell more, and more that no longer holds.
    known: int = 8
    notes: int = 3
    opinions: int = 3
    # Opinions below this confidence are left out.
    min_confidence: float = 0.65
    # Records of each kind that are looked at (half as many commits), and items compared with each
    # other to drop replaced decisions: these bound the time, not the size.
    records: int = 120
    items_compared: int = 40
    statements: int = 600
    # Quotes of one decision, and their length.
    quotes: int = 2
    quote_characters: int = 360
    # The characters of a fact and of the problem it solves, and how many solutions are listed:
    # rules are what a session must know, solutions are only useful if the problem comes back.
    fact_characters: int = 300
    problem_characters: int = 120
    solutions: int = 2
    fact_evidence: int = 2
    # A decision with fewer content words is told with the question that it answers, which is asked
    # in one of so many turns before it, or with the subject of its session.
    clear_stems: int = 4
    turns_before: int = 3
    # Statements that there is no room for before others are no longer tried.
    misses: int = 6
    # Recent requests are listed up to this number of notes: one more request that was worked on is
    # worth less than a short brief.
    enough_notes: int = 8
    # What the frame around the lines takes.
    frame_characters: int = 120
    characters_per_token: int = 4


_LIMITS = BriefLimits()


class BriefMaterial:
    """What a session brief of a bank is made of: the `decisions` that it may tell, the best first,
    what they `replaced`, and the `ranking` of all other statements."""

    def __init__(
        self,
        reader: Reader,
        bank: str,
        verdicts: Verdicts | None = None,
        rules: Sequence[Rule] | None = None,
    ) -> None:
        """`verdicts` and `rules` are those of the bank, where they are known better."""
        self.verdicts = read_verdicts(reader, bank) if verdicts is None else verdicts
        self.memory_file = MemoryFile(reader.rules.all(bank) if rules is None else rules)
        self.ended = read_ended_words(reader, bank)
        self.decisions, self.replaced = _decisions(reader, bank, self.memory_file, self.verdicts)
        self.ranking = StatementRanking(reader, bank, self.ended, self.replaced, self.verdicts)


def session_brief(
    reader: Reader,
    bank: str,
    budget_tokens: int,
    exchanges: int,
    rules: Sequence[Rule] | None = None,
) -> Brief:
    """The brief for the start of a session in a bank; empty for an empty bank. `rules` are those of
    its files, if they are known better than the store knows them."""
    known = reader.banks.get(bank)
    material = BriefMaterial(reader, bank, rules=rules)
    memory_file, ended, verdicts = material.memory_file, material.ended, material.verdicts
    ranking, replaced = material.ranking, material.replaced
    groups = {
        Group.OWN_FILE: _memory_file_parts(memory_file),
        Group.LAST_SESSION: LastSessions(reader, bank, ended, ranking, verdicts).parts(),
        Group.DECIDED: material.decisions[: _LIMITS.decisions],
        Group.NOTED: _notes(reader, bank, memory_file, ended, verdicts),
        Group.OPINIONS: _opinions(reader, bank, ended, verdicts),
    }
    if known is None:
        return EMPTY_BRIEF
    head, foot = Part(brief_head(known.name)), Part((_FOOT,))
    characters = min(budget_tokens * _LIMITS.characters_per_token, MAX_CHARACTERS)
    page = Page(characters - head.size - foot.size - _LIMITS.frame_characters)
    page.add_groups(groups)
    told = _add_statements(page, ranking, memory_file, Findings(ranking))
    page.sort(Group.DECIDED, lambda part: (_is_useful(part, verdicts), *_durability(part)))
    page.sort(Group.LEARNED, _stands)
    most = min(exchanges, max(0, _LIMITS.enough_notes - page.notes))
    known_matters = KnownMatters(told, page.lines(), replaced, verdicts)
    index = recent_work(reader, bank, most, ended, known_matters)
    page.add_groups({Group.INDEX: index})
    if not page.parts:
        return EMPTY_BRIEF
    lines = [line for part in (head, *page.parts, foot) for line in part.lines]
    return wrap_brief("start", lines, [record for part in page.parts for record in part.records])


_FOOT = (
    "\nTo read one: `holdfast show ID`. To search all of it: `holdfast recall WORDS`, or the "
    "memory tools `memory` and `memory_recall`. Worth a look before redoing earlier work, "
    "undoing a decision, or asking the user what was settled already."
)


def _most(group: Group, is_useful: bool) -> float:
    """How many statements a group may have before one that is called useful or not is added."""
    if group is Group.KNOWN and not is_useful:
        return _LIMITS.known
    return {Group.LEFT_OPEN: _LIMITS.open_tasks, Group.DECIDED: _LIMITS.decisions}.get(group, inf)


def _add_statements(
    page: Page, ranking: StatementRanking, memory_file: MemoryFile, findings: Findings
) -> frozenset[str]:
    """Fill a page with statements, best first, each in the group of its kind; returns the sessions
    that they are from."""
    misses = 0
    sessions: set[str] = set()
    for one in ranking.best(page.lines(Group.LAST_SESSION)):
        group = _group_of(one)
        is_useful = ranking.is_useful(one.memory)
        if page.count(group) >= _most(group, is_useful):
            continue
        if group is Group.LEFT_OPEN and not is_useful and not findings.is_left_open(one):
            continue
        told = _statement_part(one, group, findings, ranking.reworded(one.memory))
        part = _with_contradiction(told, memory_file)
        if page.add(group, part):
            sessions.add(one.turn.session)
            continue
        misses += 1
        if misses == _LIMITS.misses:
            break
    return frozenset(sessions)


def _group_of(one: KnownStatement) -> Group:
    memory = one.memory
    if memory.kind is Kind.TODO:
        return Group.LEFT_OPEN
    if not memory.by_agent:
        return Group.DECIDED if memory.kind in SETTLING_KINDS else Group.KNOWN
    return Group.LEARNED if tells_fault(memory) else Group.KNOWN


def _memory_file_parts(memory_file: MemoryFile) -> list[Part]:
    return [Part((one_line(line),), (record,)) for line, record in memory_file.lines()]


def _decisions(
    reader: Reader, bank: str, memory_file: MemoryFile, verdicts: Verdicts
) -> tuple[list[Part], ReplacedWork]:
    """The decisions of people, those that were called useful first, then those that are to last,
    then the latest, each in its latest version; and what they replaced."""
    items = WorkItems(reader, bank)
    records: list[Exchange | Commit | Memory] = list(_memories(reader, bank))
    records += reader.records.filter(bank, RecordFilter(type="decision"), _LIMITS.records)
    latest = reader.records.filter(bank, RecordFilter(since=_SINCE_EVER), _LIMITS.records)
    records += [record for record in latest if _has_facts(record)]
    records += _commits(reader, bank)
    distinct = {record.id: record for record in records}
    dated, covered, ended_records = _facts(reader, bank, verdicts)
    made = [items.from_record(record) for record in distinct.values()]
    decided = [
        item
        for item in made
        if _decides_more(item, covered) and not is_of_a_program(item.decided[0].sentence)
        if any(lasting_part(one.sentence) for one in item.decided)
    ]
    decided.sort(key=lambda item: (item.time, item.id), reverse=True)
    compared = decided[: _LIMITS.items_compared]
    versions = latest_versions(compared)
    dated += [
        (item.time, _decision_part(reader, bank, item, before))
        for item, before in versions
        if not _is_dropped_decision(item, verdicts)
    ]
    dated.sort(key=lambda one: _order_of_decision(*one, verdicts), reverse=True)
    held = {item.uri for item, _ in versions}
    replaced = ReplacedWork(
        reader,
        bank,
        [item for item in compared if item.uri not in held],
        ended_records,
        [item for item in made if item.uri in held or not _decides_more(item, covered)],
    )
    return [_with_contradiction(part, memory_file) for _, part in dated], replaced


def _is_dropped_decision(item: WorkItem, verdicts: Verdicts) -> bool:
    """Whether a decision, or a statement that says the same, was called unneeded or outdated."""
    if verdicts.is_dropped(item.uri):
        return True
    told = [one.sentence for one in item.decided if lasting_part(one.sentence)]
    is_useful = verdicts.is_useful(item.uri)
    return not is_useful and all(verdicts.repeats_dropped(one, item.time) for one in told)


def _order_of_decision(
    time: str, part: Part, verdicts: Verdicts
) -> tuple[bool, bool, str, tuple[str, ...]]:
    return _is_useful(part, verdicts), _durability(part)[0], time, part.lines


def _is_useful(part: Part, verdicts: Verdicts) -> bool:
    """Whether the record that a part tells was called useful."""
    return any(map(verdicts.is_useful, part.records[:1]))


def _durability(part: Part) -> tuple[bool, str]:
    """Whether a decision says that it lasts, and its day."""
    line = part.lines[0]
    return says_it_lasts(line.partition(": ")[2]), line.removeprefix("- ").partition(" ")[0]


# Stands behind what whoever judged it useful put in other words; the record has the original.
_REWORDED = " (reworded)"
# What statements are called among those that are known.
_LABELS = {Kind.OUTCOME: "done", Kind.LESSON: "learned"}


def _statement_part(
    one: KnownStatement, group: Group, findings: Findings, reworded: str = ""
) -> Part:
    """`reworded` is what whoever judged it made of it, if nobody would understand its own words."""
    memory = one.memory
    name = uri("memory", memory.id)
    label = "agent" if memory.by_agent else "user"
    part = informative_part(one.text) if memory.by_agent else lasting_part(one.text)
    text, subject = part or one.text, ""
    if group is Group.LEARNED:
        label = findings.label(one)
    if reworded:
        text, subject = reworded, _REWORDED
    if group is Group.KNOWN and memory.by_agent and memory.kind is not None:
        name_of_kind = _LABELS.get(memory.kind, memory.kind.value)
        label = "begun" if is_begun(memory) else name_of_kind
    seen = f" (in {memory.seen} sessions)" if memory.seen > 1 else ""
    words = f"{origin_label(memory.trust, text)}{quote(text)}{subject}{seen}"
    line = f"- {format_day(memory.when)} {label}: {words} ({short_name(name)})"
    return Part((line,), (name, _uri_of_turn(one)))


def _stands(part: Part) -> bool:
    """Whether a cause was not mended."""
    label = part.lines[0].partition(" ")[2].partition(" ")[2]
    return not label.startswith((FIXED, WORKED_ON))


def _uri_of_turn(one: KnownStatement) -> str:
    return uri("turn", one.turn.id)


def _facts(
    reader: Reader, bank: str, verdicts: Verdicts
) -> tuple[list[tuple[str, Part]], frozenset[str], frozenset[str]]:
    """The rules in force and the solutions of problems that took several attempts, each with its
    time; the records that they make superfluous, which say the same or no longer hold; and of those
    the ones that no longer hold."""
    facts = reader.facts.all(bank)
    by_uri = {uri("fact", fact.id): fact for fact in facts}
    ended = [fact for fact in facts if fact.status in ENDED_STATUSES]
    # A fact that was not stated in a turn is told as the record it comes from.
    in_force = [
        fact
        for fact in facts
        if fact.status not in ENDED_STATUSES and any("/turn/" in name for name in fact.evidence)
    ]
    told_facts = [fact for fact in in_force if not _is_dropped_fact(fact, verdicts)]
    useful = {fact.id for fact in told_facts if verdicts.is_useful(uri("fact", fact.id))}
    # A cause that was found at once is told as the statement it is.
    solutions = [f for f in told_facts if f.kind is FactKind.SOLUTION and f.attempts]
    solutions.sort(key=lambda f: f.id not in useful)
    states = [state for state in reader.curation.states_of_kind(bank, "fact") if state.text]
    corrected = {c.id: f", corrected by {c.who} on {c.time[:10]}" for c in states}
    by_people = {state.id for state in states if state.by_person}
    whole = _whole_statements(reader, bank)
    parts = [
        _fact_part(
            f,
            _rule_text(f, by_uri, corrected.get(f.id, ""), whole)
            + _context(reader, bank, f.content, f.evidence),
        )
        for f in told_facts
        if f.kind is FactKind.RULE and (f.id in useful or _is_rule_to_tell(f, f.id in by_people))
    ]
    parts += [_fact_part(f, _solution_text(f)) for f in solutions[: _LIMITS.solutions]]
    told, outdated = _stating(in_force), _stating(ended)
    return parts, told | outdated, outdated - told


def _is_dropped_fact(fact: Fact, verdicts: Verdicts) -> bool:
    name, said = uri("fact", fact.id), fact.last_validated or fact.validity.learned
    repeats = verdicts.repeats_dropped(fact.content, said) and not verdicts.is_useful(name)
    return repeats or verdicts.is_dropped(name, said)


def _is_rule_to_tell(fact: Fact, is_corrected: bool) -> bool:
    """Whether a rule seems to be one that a person meant to last."""
    if fact.trust is Trust.ASSISTANT and not is_corrected:
        return False
    if is_for_the_moment(fact.content) or is_of_a_program(fact.content):
        return False
    return bool(lasting_part(fact.content))


def _stating(facts: Iterable[Fact]) -> frozenset[str]:
    return frozenset(name for fact in facts for name in (uri("fact", fact.id), *fact.evidence))


def _whole_statements(reader: Reader, bank: str) -> dict[str, list[str]]:
    """What people laid down, by the URI of the turn that says it."""
    found: dict[str, list[str]] = {}
    for memory in reader.memories.retained(bank, limit=_LIMITS.statements, only_open=True):
        if is_laid_down(memory):
            for name in memory.evidence_for:
                found.setdefault(name, []).append(own_words(memory.what))
    return found


def _whole(fact: Fact, statements: Mapping[str, list[str]]) -> str:
    """A rule with the sentences around it that belong to it: limits and exceptions follow it."""
    texts = (text for name in fact.evidence for text in statements.get(name, ()))
    longer = [one for one in texts if fact.content in one and len(one) <= _LIMITS.fact_characters]
    return lasting_part(max(longer, key=len, default=fact.content)) or fact.content


def _rule_text(
    fact: Fact, by_uri: Mapping[str, Fact], corrected: str, statements: Mapping[str, list[str]]
) -> str:
    old = [by_uri[name] for name in fact.supersedes if name in by_uri]
    replaced = ""
    if old:
        last = max(old, key=lambda f: f.validity.since)
        verb = "amends" if last.status is Status.AMENDED else "replaces"
        replaced = f" ({verb} {format_day(last.validity.since)}, fact/{last.id[:SHORT_ID]})"
    later = by_uri.get(fact.superseded_by) if fact.status is Status.AMENDED else None
    if later is not None:
        replaced += f" (amended {format_day(later.validity.since)}, fact/{later.id[:SHORT_ID]})"
    content = fact.content if corrected else _whole(fact, statements)
    words = quote(truncate(content, _LIMITS.fact_characters))
    label = origin_label(fact.trust, content)
    return f"{fact.trust.value}{one_line(corrected)}: {label}{words}{replaced}"


def _context(reader: Reader, bank: str, text: str, evidence: Iterable[str]) -> str:
    """For words that say little by themselves: the question that they answer, or what their session
    is about."""
    says_enough = len(content_stems(text)) >= _LIMITS.clear_stems or says_it_lasts(text)
    is_clear = says_enough and not refers_back(text)
    found = () if is_clear else (find_by_uri(reader, bank, name) for name in evidence)
    turn = next((one for one in found if isinstance(one, Turn)), None)
    if turn is None:
        return ""
    start = max(1, turn.seq - _LIMITS.turns_before)
    before = (
        reader.turns.of_session(bank, turn.session, start, turn.seq - 1) if turn.seq > 1 else ()
    )
    if question := question_asked(before):
        return f" (asked: {quote(truncate(question, _LIMITS.problem_characters))})"
    digest = reader.sessions.digest(bank, turn.session)
    subject = request_of(digest) if digest is not None else ""
    is_new = subject and not is_same_matter(content_stems(text), content_stems(subject))
    return f" (of {quote(truncate(subject, _LIMITS.problem_characters))})" if is_new else ""


def _solution_text(fact: Fact) -> str:
    problem = one_line(truncate(fact.problem, _LIMITS.problem_characters))
    words = quote(truncate(fact.content, _LIMITS.fact_characters))
    label = origin_label(fact.trust, fact.problem, fact.content)
    return f"solved after {fact.attempts} attempts: {label}{problem} → {words}"


def _fact_part(fact: Fact, text: str) -> tuple[str, Part]:
    name = uri("fact", fact.id)
    line = f"- {format_day(fact.validity.learned)} {text} ({short_name(name)})"
    records = (name, *fact.evidence[: _LIMITS.fact_evidence])
    return fact.last_validated or fact.validity.learned, Part((line,), records)


def _with_contradiction(part: Part, memory_file: MemoryFile) -> Part:
    """A decision, with what the memory file says against it."""
    note = memory_file.contradiction_note(" ".join(part.lines))
    return Part((*part.lines[:-1], part.lines[-1] + note), part.records) if note else part


def _decides_more(item: WorkItem, covered: frozenset[str]) -> bool:
    """Whether an item has a decision that no fact tells."""
    decided = [decision.uri for decision in item.decided]
    return bool(decided) and not {*decided, item.uri} & covered


def _memories(reader: Reader, bank: str) -> Iterable[Memory]:
    """What people asked to remember that holds here. The rest is in `_notes` and `_opinions`."""
    remembered = reader.memories.remembered(bank, _LIMITS.records)
    return [m for m in remembered if _lays_down(reader, m)]


def _lays_down(reader: Reader, m: Memory) -> bool:
    """Whether a person laid it down, by asking to remember it or by correcting an agent's text."""
    is_agents = m.network is Network.WORLD and m.by_agent
    return m.lays_down or (is_agents and is_corrected_by_person(reader, m.bank, "memory", m.id))


def _notes(
    reader: Reader, bank: str, memory_file: MemoryFile, ended: EndedWords, verdicts: Verdicts
) -> list[Part]:
    """The latest texts that agents asked to remember, or that say what happened or was observed;
    those that were called useful first."""
    notes = [
        m
        for m in reader.memories.remembered(bank, _LIMITS.records)
        if m.network is not Network.OPINION and not _lays_down(reader, m)
        if m.status not in ENDED_STATUSES and not ended.find(m.what, m.when)
        if not verdicts.is_dropped(uri("memory", m.id))
    ]
    notes.sort(key=lambda m: not verdicts.is_useful(uri("memory", m.id)))
    parts = [
        Part(
            (f"- {format_day(m.when)} {one_line(m.who)}: "
             f"{origin_label(m.trust, m.what, shared_by=m.shared_by)}"
             f"{quote(truncate(m.what, _LIMITS.fact_characters))} "
             f"({short_name(uri('memory', m.id))})",),
            (uri("memory", m.id),),
        )
        for m in notes[: _LIMITS.notes]
    ]  # fmt: skip
    return [_with_contradiction(part, memory_file) for part in parts]


def _opinions(reader: Reader, bank: str, ended: EndedWords, verdicts: Verdicts) -> list[Part]:
    """The opinions with the highest confidence; those that were called useful first."""
    firm = [
        o
        for o in reader.opinions.all(bank)
        if o.status is Status.OBSERVED and not ended.find(o.what, o.latest)
        if not verdicts.is_dropped(uri("memory", o.id))
    ]
    useful = {o.id for o in firm if verdicts.is_useful(uri("memory", o.id))}
    firm.sort(key=lambda o: o.id not in useful)
    return [
        Part(
            (f"- {origin_label(o.trust, o.what)}{one_line(o.what)}: {o.confidence:.2f}, "
             f"{o.trend.value}, {counted(len(o.evidence_for), 'record')} "
             f"({short_name(uri('memory', o.id))})",),
            (uri("memory", o.id),),
        )
        for o in firm[: _LIMITS.opinions]
        if o.id in useful or o.confidence >= _LIMITS.min_confidence
    ]  # fmt: skip


def _has_facts(record: Exchange | Commit) -> bool:
    if not isinstance(record, Exchange):
        return False
    return bool(record.facts) or record.status is Status.VERIFIED


def _commits(reader: Reader, bank: str) -> list[Commit]:
    """The latest commits whose message has a body."""
    found = [
        reader.records.find(bank, "commit", passage.id, 1)
        for passage in reader.passages.recent(bank, "commit", _LIMITS.records // 2)
        if "\n" in passage.body
    ]
    return [records[0] for records in found if records and isinstance(records[0], Commit)]


def _decision_part(reader: Reader, bank: str, item: WorkItem, before: WorkItem | None) -> Part:
    decided = [one for one in item.decided if lasting_part(one.sentence)]
    quotes = select_quotes(decided, most=_LIMITS.quotes, characters=_LIMITS.quote_characters)
    words = " ".join(quote(lasting_part(decision.sentence)) for decision in quotes)
    replaced = f" (replaces {format_day(before.time)})" if before is not None else ""
    said = " ".join(one.sentence for one in quotes)
    words += _context(reader, bank, said, [one.uri for one in quotes])
    label = origin_label(item.trust, words, shared_by=item.shared_by)
    line = f"- {format_day(item.time)} {one_line(quotes[0].who)}: {label}{words}{replaced}"
    return Part((f"{line} ({short_name(item.uri)})",), (item.uri,))
