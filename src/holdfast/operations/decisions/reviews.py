"""Facts and rules that wait for a decision of a person."""

from __future__ import annotations

from typing import Annotated

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.language import truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.promotion import refusals_in_effect
from holdfast.model.curation import Curation
from holdfast.model.knowledge import Memory, ProposalKind, Review, ReviewState
from holdfast.model.uris import parse_uri, uri
from holdfast.operations.binding import MAX_TEXT
from holdfast.operations.decisions.rules import RuleCandidate, rule_candidates
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, operation
from holdfast.operations.output.records import print_record_head
from holdfast.operations.parameters import MAX_NAME, AnyBank, RecordId
from holdfast.operations.screen import Screen, day, number
from holdfast.operations.shapes import record_from
from holdfast.principal import Level
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import find_record
from holdfast.store.protocol import Reader

# The start of a text, in characters: of a fact about three lines, of a proposed rule two; and how
# many pieces of evidence are named.
_MAX_FACT, _MAX_RULE, _MAX_EVIDENCE = 320, 160, 6
# Larger than any bank: asks the store for all memories.
_NO_LIMIT = 1_000_000


class ReviewedFact(NamedTuple):
    """A question for a person, whether the fact `target` is still true, and what the fact says
    (`content`)."""

    uri: str
    bank: str
    id: str
    kind: str
    target: str
    content: str
    reason: str
    opened: str
    evidence: tuple[str, ...]
    state: ReviewState
    decided: str
    by: str


class RefusedRule(NamedTuple):
    """A rule that was rejected, and is not proposed again."""

    bank: str
    text: str
    why: str
    time: str
    who: str


class Reviews(NamedTuple):
    """What needs a decision: facts; rules, of which there are `proposals`; and `memories`, which
    agents remembered. `refused` are the rules that were rejected, if all is asked for."""

    reviews: tuple[ReviewedFact, ...]
    proposals: int
    rules: tuple[RuleCandidate, ...]
    memories: tuple[Memory, ...]
    refused: tuple[RefusedRule, ...]


class WaitingCounts(NamedTuple):
    """How much waits: rules that were proposed, by people's words or by agents, facts that were
    contradicted, and texts of agents."""

    rules: int = 0
    facts: int = 0
    agents: int = 0


class ReviewDecision(NamedTuple):
    """The entry in the log of decisions about a fact that was in review."""

    decided: Curation


def _print_reviews(screen: Screen, found: Reviews, **_: object) -> None:
    for one in found.reviews:
        print_record_head(screen, _review_head(one), one.uri)
        for line in _review_lines(one):
            screen.item(line, "      ")
    undecided = sum(not one.decided for one in found.reviews)
    summary = f"{number(undecided, 'question')} to decide."
    if undecided or not found.memories:
        screen.line(summary if undecided else "Nothing to decide.", "dim")
    if found.rules:
        head = f"Also {number(found.proposals, 'proposal')} to add or remove rules: "
        screen.wrap(f"{head}see `holdfast promote candidates` in the project.")
    for one in found.memories:
        words = truncate(one.what, _MAX_RULE)
        screen.item(f"{uri('memory', one.id)}: an agent remembered: {words}", "  ")
    for rule in found.rules:
        verb = "add to" if rule.kind is ProposalKind.PROMOTE else "look at"
        words = truncate(rule.text, _MAX_RULE)
        screen.item(f"{rule.id}  {rule.bank}: {verb} {rule.path}: {words}", "  ")


def _review_head(review: ReviewedFact) -> str:
    return f"{review.kind} · {review.state.value} · since {day(review.opened)}"


def _review_lines(review: ReviewedFact) -> list[str]:
    """What the fact says, why it is in review, and the evidence."""
    lines = [truncate(review.content, _MAX_FACT)] if review.content else []
    lines.append(f"{review.target}: {review.reason}")
    lines += [f"- {name}" for name in review.evidence[:_MAX_EVIDENCE]]
    if review.decided:
        lines.append(f"{review.state.value} on {day(review.decided)} by {review.by}")
    return lines


@operation(
    "review",
    Level.READ,
    rest="GET /reviews",
    text=_print_reviews,
    examples="""\
  holdfast review
  holdfast review keep 5c1f0a
  holdfast review retire 5c1f0a --yes""",
)
def reviews(
    memory: Holdfast,
    all: Annotated[bool, Arg("also decided ones")] = False,
    bank: AnyBank = ALL_BANKS,
) -> Reviews:
    """List facts, rules and notes of agents that need a decision

    Facts that five actions contradict, or that a person called wrong: `review keep` leaves one
    in force, `review retire` retracts it; both can be undone, and nothing is decided
    automatically. Proposed rules are listed with the diff that they would make; `promote` decides
    about them. What an agent remembered is kept in a person's name by `review adopt`."""
    reader = memory.reader
    banks = [one for one in memory.context.bank_ids(bank) if reader.rules.proposals(one)]
    proposed = [one for id in banks for one in memory.rules.candidates(id)]
    return Reviews(
        tuple(_reviewed(memory, one) for one in memory.browse.reviews(bank, all)),
        len(proposed),
        rule_candidates(memory, proposed),
        tuple(one for id in memory.context.bank_ids(bank) for one in _of_agents(reader, id)),
        tuple(_refused(memory, bank)) if all else (),
    )


def _of_agents(reader: Reader, bank: str) -> list[Memory]:
    return [one for one in reader.memories.remembered(bank, _NO_LIMIT) if one.by_agent]


def _refused(memory: Holdfast, bank: str) -> list[RefusedRule]:
    found = [
        RefusedRule(memory.context.bank_name(id), one.text, one.why, one.time, one.who)
        for id in memory.context.bank_ids(bank)
        for one in refusals_in_effect(memory.reader, id)
    ]
    return sorted(found, key=lambda one: one.time, reverse=True)


def waiting_counts(memory: Holdfast) -> WaitingCounts:
    """How much waits in all banks, without reading any rule file."""
    reader, banks = memory.reader, memory.context.bank_ids(ALL_BANKS)
    return WaitingCounts(
        sum(len(reader.rules.proposals(bank)) for bank in banks),
        len(memory.browse.reviews(ALL_BANKS)),
        sum(len(_of_agents(reader, bank)) for bank in banks),
    )


def _reviewed(memory: Holdfast, review: Review) -> ReviewedFact:
    named = parse_uri(review.target)
    found = memory.reader.records.find(review.bank, named.kind, named.id, 1) if named else []
    content = describe_record(found[0])[0] if found else ""
    return record_from(ReviewedFact, review, uri=uri("review", review.id), content=content)


def _announce_review(
    memory: Holdfast, *, id: str, keep: bool, text: str = "", bank: str = ALL_BANKS
) -> Announcement:
    review = _reviewed(memory, memory.curation.find_review(id, bank))
    said = (f"New text: {text}",) if text and keep else ()
    lines = (f"{_review_head(review)}  {review.uri}", *_review_lines(review), *said)
    return Announcement(lines, "Keep it?" if keep else "Retract it?")


def _print_decided(screen: Screen, made: ReviewDecision, *, keep: bool, **_: object) -> None:
    screen.line(f"{'Kept' if keep else 'Retired'}. `holdfast undo` undoes this.")


@operation(
    "review decide",
    Level.WRITE,
    rest="POST /reviews/{id}/decide",
    text=_print_decided,
    announce=_announce_review,
    examples="  holdfast review keep 5c1f0a\n  holdfast review retire 5c1f0a --yes",
)
def decide_review(
    memory: Holdfast,
    id: Annotated[str, Arg("the question: its id or the start of it", "ID", most=MAX_NAME)],
    keep: Annotated[bool, Arg("leave the fact in force; otherwise it is retracted")],
    text: Annotated[str, Arg("keep it in these words", most=MAX_TEXT, metavar="TEXT")] = "",
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> ReviewDecision:
    """Decide about a fact that is in review

    It stays in force, with a `text` in other words, or is retracted. `undo` undoes it."""
    review = memory.curation.find_review(id, bank)
    if text and keep:
        memory.curation.correct(review.target, text, review.bank, call.who)
        still_open = [one for one in memory.browse.reviews(bank) if one.id == review.id]
        if not still_open:
            log = memory.reader.curation.log(review.bank)
            return ReviewDecision(next(one for one in log[::-1] if one.target == review.target))
    return ReviewDecision(memory.curation.decide(review, keep, call.who))


class Adopted(NamedTuple):
    """What is kept in a person's name, and replaces what the agent remembered."""

    uri: str
    record: Memory


def print_adopted(screen: Screen, made: Adopted, **_: object) -> None:
    """Print what is kept."""
    screen.wrap(f"Kept in your name: {made.record.what}")
    screen.line(made.uri, "cyan")


@operation(
    "review adopt",
    Level.WRITE,
    rest="POST /records/{id:path}/adopt",
    text=print_adopted,
    examples="  holdfast review adopt 5c1f0a",
)
def adopt(
    memory: Holdfast,
    id: RecordId,
    text: Annotated[str, Arg("in other words", most=MAX_TEXT, metavar="TEXT")] = "",
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> Adopted:
    """Keep what an agent remembered in your own name

    In its words or in others. `undo 2` undoes it."""
    target = memory.curation.target(id, bank)
    if target.kind != "memory" or not target.shown:
        raise InputError(
            f"{target.uri} is {'no memory' if target.shown else 'forgotten'}.",
            "`holdfast review` lists what agents remembered.",
        )
    record = find_record(memory.reader, target.bank, target.uri)
    words = text or describe_record(record)[0]
    made = memory.curation.remember(words, target.bank, call.who)
    name = uri("memory", made.id)
    if made.id != target.id:
        memory.curation.merge(target.uri, name, target.bank, call.who)
    return Adopted(name, made)
