"""What is known for good, as lines of a brief: rules in force, and problems solved at a price."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.brief.frame import format_day, quote, sanitize, trust_label
from holdfast.language import truncate
from holdfast.model.knowledge import Fact, FactKind
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.store.protocol import Reader

_LONGEST = 300
_MOST_SOLUTIONS = 2


class FactLine(NamedTuple):
    """A line, when what it tells was learned, and the records it tells of."""

    time: str
    text: str
    records: tuple[str, ...]


class FactLines(NamedTuple):
    """The lines of the facts in force, and the records that need not be told beside them: those
    that say the same, and those that do not hold any more."""

    lines: list[FactLine]
    covered: frozenset[str]


def fact_lines(reader: Reader, bank: str, id_length: int) -> FactLines:
    """What a session should know of the facts of a bank."""
    facts = reader.facts(bank)
    by_uri = {uri("fact", fact.id): fact for fact in facts}
    told = [fact for fact in facts if fact.status not in ENDED_STATUSES and _is_told(fact)]
    ended = [fact for fact in facts if fact.status in ENDED_STATUSES]
    lines = [_rule(fact, by_uri, id_length) for fact in told if fact.kind is FactKind.RULE]
    solutions = [fact for fact in told if fact.kind is FactKind.SOLUTION]
    lines += [_solution(fact, id_length) for fact in solutions[:_MOST_SOLUTIONS]]
    covered = frozenset(name for fact in (*told, *ended) for name in fact.evidence)
    return FactLines(lines, covered)


def _is_told(fact: Fact) -> bool:
    """What was only remembered, or said of a whole exchange, is told as that record."""
    return any("/turn/" in name for name in fact.evidence)


def _rule(fact: Fact, by_uri: dict[str, Fact], id_length: int) -> FactLine:
    old = [by_uri[name] for name in fact.supersedes if name in by_uri]
    replaced = ""
    if old:
        last = max(old, key=lambda f: f.validity.since)
        replaced = f" (replaces {format_day(last.validity.since)}, fact/{last.id[:id_length]})"
    who = "user" if fact.trust.value == "user" else f"told by {fact.trust.value}"
    words = quote(truncate(fact.content, _LONGEST))
    line = (
        f"- {format_day(fact.validity.learned)} {who}: {trust_label(fact.trust)}{words}{replaced}"
    )
    return _line(fact, line, id_length)


def _solution(fact: Fact, id_length: int) -> FactLine:
    problem = sanitize(truncate(fact.problem, 120))
    words = quote(truncate(fact.content, _LONGEST))
    line = f"- {format_day(fact.validity.learned)} solved after {fact.attempts} attempts: "
    return _line(fact, f"{line}{trust_label(fact.trust)}{problem} → {words}", id_length)


def _line(fact: Fact, text: str, id_length: int) -> FactLine:
    name = uri("fact", fact.id)
    return FactLine(
        fact.last_validated or fact.validity.learned,
        f"{text} (fact/{fact.id[:id_length]})",
        (name, *fact.evidence[:2]),
    )
