"""Facts and rules that wait for a decision of a person."""

from __future__ import annotations

from typing import Annotated

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.language import truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import (
    Curation,
)
from holdfast.model.knowledge import ProposalKind, Review, ReviewState
from holdfast.model.uris import parse_uri, uri
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, operation
from holdfast.operations.output.records import print_record_head
from holdfast.operations.parameters import MAX_NAME, AnyBank
from holdfast.operations.screen import Screen, day, number
from holdfast.principal import Level
from holdfast.recall.lookup.path import describe_record

# The start of a text, in characters: of a fact about three lines, of a proposed rule two; and how
# many pieces of evidence are named.
_MAX_FACT, _MAX_RULE, _MAX_EVIDENCE = 320, 160, 6


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


class RuleToDecide(NamedTuple):
    """A rule that is proposed for a file, or a rule of a file that should be looked at."""

    id: str
    bank: str
    kind: ProposalKind
    path: str
    text: str
    reason: str


class Reviews(NamedTuple):
    """What needs a decision: facts, and rules, of which there are `proposals`."""

    reviews: tuple[ReviewedFact, ...]
    proposals: int
    rules: tuple[RuleToDecide, ...]


class ReviewDecision(NamedTuple):
    """The entry in the log of decisions about a fact that was in review."""

    decided: Curation


def print_reviews(screen: Screen, found: Reviews, **_: object) -> None:
    """Print the facts in review, and the rules that are proposed."""
    for one in found.reviews:
        print_record_head(screen, _review_head(one), one.uri)
        for line in _review_lines(one):
            screen.item(line, "      ")
    undecided = sum(not one.decided for one in found.reviews)
    summary = f"{number(undecided, 'question')} to decide."
    screen.line(summary if undecided else "Nothing to decide.", "dim")
    if found.rules:
        head = f"Also {number(found.proposals, 'proposal')} to add or remove rules: "
        screen.wrap(f"{head}see `holdfast promote candidates` in the project.")
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
    text=print_reviews,
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
    """List facts and rules that need a decision

    Facts that five actions contradict, or that a person called wrong: `review keep` leaves one
    in force, `review retire` retracts it; both can be undone, and nothing is decided
    automatically. Proposed rules are listed too; `promote` decides about them."""
    proposed = memory.rules.proposals(bank)
    names = memory.context.bank_names()
    return Reviews(
        tuple(_reviewed(memory, one) for one in memory.browse.reviews(bank, all)),
        len(proposed),
        tuple(
            RuleToDecide(one.id, names[one.bank], one.kind, one.path, one.text, one.reason)
            for one in proposed
        ),
    )


def _reviewed(memory: Holdfast, review: Review) -> ReviewedFact:
    named = parse_uri(review.target)
    found = memory.reader.records.find(review.bank, named.kind, named.id, 1) if named else []
    return ReviewedFact(
        uri("review", review.id),
        review.bank,
        review.id,
        review.kind,
        review.target,
        describe_record(found[0])[0] if found else "",
        review.reason,
        review.opened,
        review.evidence,
        review.state,
        review.decided,
        review.by,
    )


def _announce_review(
    memory: Holdfast, *, id: str, keep: bool, bank: str = ALL_BANKS
) -> Announcement:
    review = _reviewed(memory, memory.curation.find_review(id, bank))
    lines = (f"{_review_head(review)}  {review.uri}", *_review_lines(review))
    return Announcement(lines, "Keep it?" if keep else "Retract it?")


def print_review_decision(screen: Screen, made: ReviewDecision, *, keep: bool, **_: object) -> None:
    """Print what was decided."""
    screen.line(f"{'Kept' if keep else 'Retired'}. `holdfast undo` undoes this.")


@operation(
    "review decide",
    Level.WRITE,
    rest="POST /reviews/{id}/decide",
    text=print_review_decision,
    announce=_announce_review,
    examples="  holdfast review keep 5c1f0a\n  holdfast review retire 5c1f0a --yes",
)
def decide_review(
    memory: Holdfast,
    id: Annotated[str, Arg("the question: its id or the start of it", "ID", most=MAX_NAME)],
    keep: Annotated[bool, Arg("leave the fact in force; otherwise it is retracted")],
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> ReviewDecision:
    """Decide about a fact that is in review

    It stays in force or is retracted. `undo` undoes it."""
    review = memory.curation.find_review(id, bank)
    return ReviewDecision(memory.curation.decide(review, keep, call.who))
