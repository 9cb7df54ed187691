"""Facts as lines of a session brief: rules in force, and problems that took several attempts."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.brief.frame import format_day, quote, sanitize, trust_label
from holdfast.language import truncate
from holdfast.model.knowledge import Fact, FactKind
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.store.protocol import Reader

# Characters of a fact and of the problem it solves, and how many solutions a brief lists: rules are
# what a session must know, solutions are only useful if the problem comes back.
_MAX_FACT = 300
_MAX_PROBLEM = 120
_MAX_SOLUTIONS = 2
_MAX_EVIDENCE = 2


class FactLine(NamedTuple):
    """A line of a brief, the time of its fact, and the records it is about."""

    time: str
    text: str
    records: tuple[str, ...]


class FactLines(NamedTuple):
    """The lines of the facts in force, and the records that they make superfluous: those that say
    the same, and those that no longer hold."""

    lines: list[FactLine]
    covered: frozenset[str]


def fact_lines(reader: Reader, bank: str, id_length: int) -> FactLines:
    """The facts of a bank that a session should know."""
    facts = reader.facts(bank)
    by_uri = {uri("fact", fact.id): fact for fact in facts}
    in_force = [fact for fact in facts if fact.status not in ENDED_STATUSES and _is_from_turn(fact)]
    ended = [fact for fact in facts if fact.status in ENDED_STATUSES]
    lines = [_rule_line(fact, by_uri, id_length) for fact in in_force if fact.kind is FactKind.RULE]
    solutions = [fact for fact in in_force if fact.kind is FactKind.SOLUTION]
    lines += [_solution_line(fact, id_length) for fact in solutions[:_MAX_SOLUTIONS]]
    covered = frozenset(name for fact in (*in_force, *ended) for name in fact.evidence)
    return FactLines(lines, covered)


def _is_from_turn(fact: Fact) -> bool:
    """Whether a fact was stated in a turn; others are told as the record they come from."""
    return any("/turn/" in name for name in fact.evidence)


def _rule_line(fact: Fact, by_uri: dict[str, Fact], id_length: int) -> FactLine:
    old = [by_uri[name] for name in fact.supersedes if name in by_uri]
    replaced = ""
    if old:
        last = max(old, key=lambda f: f.validity.since)
        replaced = f" (replaces {format_day(last.validity.since)}, fact/{last.id[:id_length]})"
    who = "user" if fact.trust.value == "user" else f"told by {fact.trust.value}"
    words = quote(truncate(fact.content, _MAX_FACT))
    line = (
        f"- {format_day(fact.validity.learned)} {who}: {trust_label(fact.trust)}{words}{replaced}"
    )
    return _line(fact, line, id_length)


def _solution_line(fact: Fact, id_length: int) -> FactLine:
    problem = sanitize(truncate(fact.problem, _MAX_PROBLEM))
    words = quote(truncate(fact.content, _MAX_FACT))
    line = f"- {format_day(fact.validity.learned)} solved after {fact.attempts} attempts: "
    return _line(fact, f"{line}{trust_label(fact.trust)}{problem} → {words}", id_length)


def _line(fact: Fact, text: str, id_length: int) -> FactLine:
    name = uri("fact", fact.id)
    return FactLine(
        fact.last_validated or fact.validity.learned,
        f"{text} (fact/{fact.id[:id_length]})",
        (name, *fact.evidence[:_MAX_EVIDENCE]),
    )
