"""Rules for the files that people review: adding one, and deciding about proposed ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from holdfast.app.memory import Holdfast
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.agent_lessons import LESSON
from holdfast.model.curation import Action
from holdfast.model.knowledge import ProposalKind
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, Work, operation
from holdfast.operations.parameters import MAX_NAME, OneBank
from holdfast.operations.screen import Screen, number
from holdfast.operations.shapes import record_from
from holdfast.principal import Level

if TYPE_CHECKING:
    from holdfast.app.curation.rules import Candidate, LearnResult

_MAX_RULE = 4_000
_MAX_DIFF = 100_000
_APPROVAL_HINT = (
    "A person decides: `holdfast promote approve {id}` writes it, `holdfast promote reject {id}` "
    "turns it down."
)


class RuleScope(StrEnum):
    """Whose rule files a rule is for: those of the project, or of the user in all projects."""

    PROJECT = "project"
    USER = "user"


class WriteConfirmation(StrEnum):
    """The word that agrees to writing a file."""

    WRITE = "write"


class AutoLearnAction(StrEnum):
    """What an agent may do about rules that are learned."""

    STATUS = "status"
    CANDIDATES = "candidates"
    PROMOTE = "promote"


class Learned(NamedTuple):
    """The result of teaching a rule. `diff` is the change to the file at `path` (`file` is its
    place on this machine), or it is `documented` already. `opposes` names a rule that says the
    opposite. Of a rule that an agent taught, `waits` is the id of its candidate, `refused` says who
    turned it down before, and `remedy` what a person does about it."""

    written: bool
    path: str | None
    diff: str
    documented: str | None
    opposes: str | None
    waits: str | None
    refused: str | None
    remedy: str | None
    file: str | None


class PromotionCriteria(NamedTuple):
    """How often, and with which confidence, something is stated before it is proposed."""

    occurrences: int
    confidence: float


class LearningStatus(NamedTuple):
    """What was learned in a bank: patterns and how many are `ripe` for a rule; candidates to add
    (`promotions`) and to drop (`demotions`) rules; decisions; rules and their files; and what the
    settings allow without asking."""

    bank: str
    patterns: int
    ripe: int
    promotions: int
    demotions: int
    approved: int
    rejected: int
    rules: int
    files: tuple[str, ...]
    automatic: bool
    automatic_memory: bool
    criteria: PromotionCriteria


class RuleCandidate(NamedTuple):
    """A rule that is proposed for a file of a `bank`, with what it is made of. `diff` is what
    approving it would change; `problem` says why it cannot be written, `changed` that the file
    changed since it was proposed, `from_agent` that an agent wants it."""

    id: str
    bank: str
    kind: ProposalKind
    target: str
    text: str
    domain: str
    path: str
    paths: tuple[str, ...]
    reason: str
    made: str
    trust: Trust
    confidence: float | None
    occurrences: int | None
    authors: tuple[str, ...]
    evidence: tuple[str, ...]
    diff: str
    problem: str | None
    changed: bool
    from_agent: bool


class RuleCandidates(NamedTuple):
    """The rules that wait for a decision, and the number of facts that do."""

    candidates: tuple[RuleCandidate, ...]
    reviews: int


class RulesPromoted(NamedTuple):
    """The paths of rules that were written because the settings allow it without asking; what
    waits for a person, and what they have to do; and the number of facts that wait."""

    written: tuple[str, ...]
    candidates: tuple[RuleCandidate, ...]
    reviews: int
    remedy: str | None


class RuleApproved(NamedTuple):
    """The candidate that was approved, and the change to its file (`file` is its place on this
    machine); without a diff somebody has to remove the rule."""

    approved: str
    path: str
    diff: str
    file: str | None


class RuleRejected(NamedTuple):
    """The candidate that was rejected, and its text."""

    rejected: str
    text: str


CandidateId = Annotated[
    str, Arg("the id of a candidate, or the start of it", place="ID", most=MAX_NAME)
]


def _announce_learn(
    memory: Holdfast,
    domain: str,
    text: str,
    scope: RuleScope = RuleScope.PROJECT,
    paths: tuple[str, ...] = (),
    bank: str = "",
    **_: object,
) -> Announcement:
    learned = memory.rules.plan_learn(domain, text, scope, paths, bank)
    change = learned.change
    if change is None:
        return Announcement(())
    opposes = (f"Note: {learned.opposes} says the opposite.",) if learned.opposes else ()
    return Announcement(opposes, f"Write {change.path}?", diff=change.diff)


def _print_learned(screen: Screen, learned: Learned, **_: object) -> None:
    if learned.written:
        screen.line(f"Written: {learned.file}")
        return
    if learned.documented:
        screen.line(f"{learned.documented} says so already. Nothing was changed.")
        return
    if learned.refused:
        screen.line(f"It was {learned.refused}. It is not proposed again.")
    elif learned.remedy:
        screen.line(f"Proposed for {learned.path}; nothing is written yet. {learned.remedy}")
    else:
        screen.line(f"Nothing is written to {learned.path} yet.")
    if learned.opposes:
        screen.line(f"Note: {learned.opposes} says the opposite.")
    screen.line(learned.diff)


@operation(
    "learn",
    Level.WRITE,
    rest="POST /rules",
    creates=True,
    announce=_announce_learn,
    text=_print_learned,
    examples="""\
  holdfast learn testing "Use the fixtures in tests/conftest.py; never mock the store."
  holdfast learn api "Endpoints page by cursor." --paths "src/api/**"
  holdfast learn style "Answer in plain English." --scope user --yes""",
)
def learn(
    memory: Holdfast,
    domain: Annotated[
        str,
        Arg(
            "the subject, which is also the name of the file",
            place="DOMAIN",
            most=100,
            example="testing",
        ),
    ],
    text: Annotated[
        str,
        Arg(
            "the rule: what it demands, in a sentence",
            place="TEXT",
            many_words=True,
            most=_MAX_RULE,
            example="Never mock the store.",
        ),
    ],
    scope: Annotated[
        RuleScope, Arg("for this project, or for all projects of the user")
    ] = RuleScope.PROJECT,
    paths: Annotated[
        tuple[str, ...],
        Arg(
            "if the rule file is new: the files it applies to; repeatable", most=20, metavar="GLOB"
        ),
    ] = (),
    confirm: Annotated[
        WriteConfirmation | None, Arg("`write` writes it; without, only shown", programs=True)
    ] = None,
    seen: Annotated[
        str,
        Arg("the diff that you saw: no other one is written", most=_MAX_DIFF, programs=True),
    ] = "",
    bank: OneBank = "",
    call: Call = OWNER,
) -> Learned:
    """Add a rule to a project's rule files

    The file is .claude/rules/DOMAIN.md of the project, or of the user. The diff is shown first; the
    rest of the file does not change. A rule that a rule file already states, even in other words,
    is not added.

    What an agent teaches, or a key that is not an admin's for every bank, is not written: it is
    proposed, and a person decides."""
    from holdfast.app.curation.rules import FileChangedError

    who = memory.settings.principal
    if call.by_agent or not (who is None or who.is_unrestricted):
        return _learned(memory.rules.suggest(domain, text, scope, paths, bank), False, call)
    planned = memory.rules.plan_learn(domain, text, scope, paths, bank)
    change = planned.change
    if change is None or confirm is None:
        return _learned(planned, False, call)
    if seen and change.diff != seen:
        raise FileChangedError(
            f"{change.path} was changed since you saw the diff. Nothing was written.",
            "Look at the new diff, and confirm that one.",
        )
    memory.rules.write_rule(change, bank, call.who)
    return _learned(planned, True, call)


def _learned(learned: LearnResult, written: bool, call: Call) -> Learned:
    change = learned.change
    return Learned(
        written,
        change.path if change else None,
        change.diff if change else "",
        learned.documented or None,
        learned.opposes or None,
        learned.waits or None,
        learned.refused or None,
        _APPROVAL_HINT.format(id=learned.waits) if learned.waits else None,
        str(change.file) if change and call.in_folder else None,
    )


def _print_learning(screen: Screen, state: LearningStatus, **_: object) -> None:
    files = number(len(state.files), "file")
    screen.line(f"{state.bank}: {number(state.rules, 'section')} in {files}")
    screen.line(f"  {number(state.patterns, 'pattern')}, {state.ripe:,} ready to be proposed")
    screen.line(f"  {state.promotions:,} proposed to add, {state.demotions:,} to remove")
    screen.line(f"  {state.approved:,} approved, {state.rejected:,} rejected")
    screen.line(f"  written without asking: {'yes' if state.automatic else 'no'}")


@operation(
    "promote status",
    Level.READ,
    rest="GET /rules/learning",
    work=Work.RUN,
    text=_print_learning,
    examples="  holdfast promote status",
)
def promote_status(memory: Holdfast, bank: OneBank = "") -> LearningStatus:
    """Show the state of learning

    Counts of patterns, candidates and rules, and what the settings allow without asking."""
    from holdfast.learn.promotion import (
        MIN_CONFIDENCE,
        MIN_OCCURRENCES,
        is_ripe,
        refusals_in_effect,
    )

    id, reader, policy = memory.rules.project_bank(bank), memory.reader, memory.settings.promote
    patterns, rules = reader.rules.patterns(id), reader.rules.all(id)
    kinds = Counter(proposal.kind for proposal in reader.rules.proposals(id))
    return LearningStatus(
        memory.context.bank_name(id),
        len(patterns),
        sum(map(is_ripe, patterns)),
        kinds[ProposalKind.PROMOTE],
        kinds[ProposalKind.DEMOTE],
        sum(entry.action is Action.APPROVE for entry in reader.curation.log(id)),
        len(refusals_in_effect(reader, id)),
        len(rules),
        tuple(dict.fromkeys(rule.path for rule in rules)),
        policy.automatic,
        policy.memory,
        PromotionCriteria(MIN_OCCURRENCES, MIN_CONFIDENCE),
    )


def _print_candidates(
    screen: Screen, found: RuleCandidates | RulesPromoted, *, diffs: bool = True, **_: object
) -> None:
    promoted = found if isinstance(found, RulesPromoted) else None
    for path in promoted.written if promoted else ():
        screen.line(f"Written: {path}")
    if not found.candidates and not (promoted and promoted.written):
        screen.line("No proposed rules.")
    for candidate in found.candidates:
        _print_proposal(screen, candidate)
        if diffs:
            _print_diff(screen, candidate)
    remedy = promoted.remedy if promoted else None
    if found.candidates and not diffs:
        remedy = remedy or "Decide with `holdfast promote approve|reject ID`."
    if remedy:
        screen.wrap(remedy)
    if found.reviews and diffs:
        screen.line(f"Also {number(found.reviews, 'question')} on facts: see `holdfast review`.")


def _print_diff(screen: Screen, one: RuleCandidate) -> None:
    if one.evidence:
        screen.line(f"  {' '.join(one.evidence[-3:])}")
    if one.problem:
        screen.wrap(f"cannot be written: {one.problem}", "  ")
    if one.changed:
        screen.line(f"  {one.path} has changed since this was proposed")
    if one.diff:
        screen.title(one.diff)
    screen.line()


def _print_proposal(screen: Screen, one: RuleCandidate) -> None:
    verb = "add to" if one.kind is ProposalKind.PROMOTE else "look at"
    id = screen.paint(one.id, "bold", "cyan")
    screen.line(f"{id}  {verb} {one.path}  ({one.trust.value})")
    screen.wrap(one.text, "  ")
    screen.wrap(one.reason, "  ")


@operation(
    "promote candidates",
    Level.READ,
    rest="GET /rules/candidates",
    work=Work.RUN,
    text=_print_candidates,
    examples="""\
  holdfast promote candidates
  holdfast promote run                    look for candidates now
  holdfast promote approve 5c1f0a
  holdfast promote reject 5c1f0a --why "only true for the website\"""",
)
def promote_candidates(memory: Holdfast, bank: OneBank = "") -> RuleCandidates:
    """List proposed rules, to approve or reject

    Conventions that were stated at least three times, in different sessions, commits or notes, and
    are in no rule file yet. Also rules that people contradict, or whose files are gone. Each has
    the diff that it would make now. Nothing is written until you approve it; a rejected rule is
    not proposed again."""
    reviews = len(memory.browse.reviews(bank))
    return RuleCandidates(rule_candidates(memory, memory.rules.candidates(bank)), reviews)


def rule_candidates(memory: Holdfast, found: Iterable[Candidate]) -> tuple[RuleCandidate, ...]:
    """Proposed rules, with the names of their banks."""
    names = memory.context.bank_names()
    return tuple(_candidate(one, names.get(one.proposal.bank, "")) for one in found)


def _candidate(one: Candidate, bank: str) -> RuleCandidate:
    pattern = one.pattern
    return record_from(
        RuleCandidate,
        one.proposal,
        one,
        bank=bank,
        confidence=pattern.confidence if pattern else None,
        occurrences=pattern.occurrences if pattern else None,
        authors=tuple(pattern.authors) if pattern else (),
        problem=one.problem or None,
        from_agent=one.proposal.target.startswith(uri(LESSON, "")),
    )


@operation(
    "promote run",
    Level.ADMIN,
    rest="POST /rules/promote",
    work=Work.RUN_LONG,
    all_banks=True,
    text=_print_candidates,
    examples="  holdfast promote run",
)
def promote_run(
    memory: Holdfast,
    id: Annotated[
        str,
        Arg(
            "instead of looking for more: this candidate, or the start of its id",
            most=MAX_NAME,
            programs=True,
        ),
    ] = "",
    bank: OneBank = "",
) -> RulesPromoted:
    """Look for rules to propose

    New candidates wait for a person, but those that the settings allow to be written without
    asking."""
    rules = memory.rules
    before = len(rules.written_automatically(bank))
    if id:
        waits = rules.approve_automatically(id, bank)
        found = [] if waits is None else [waits]
    else:
        found = rules.promote(bank)
    written = tuple(rules.written_automatically(bank)[before:])
    remedy = _APPROVAL_HINT.format(id=found[0].proposal.id) if id and found else None
    reviews = len(memory.browse.reviews(bank))
    return RulesPromoted(written, rule_candidates(memory, found), reviews, remedy)


def _announce_approval(
    memory: Holdfast, id: str, text: str = "", bank: str = "", **_: object
) -> Announcement:
    planned = memory.rules.plan_approval(id, text, bank)
    if not planned.diff:
        question = "Record that this rule is outdated?"
        return Announcement((planned.proposal.reason,), question)
    return Announcement((), f"Write {planned.proposal.path}?", diff=planned.diff)


def _print_approved(screen: Screen, done: RuleApproved, **_: object) -> None:
    if done.file is None:
        screen.line(f"Recorded. Remove it from {done.path} yourself.")
    else:
        screen.line(f"Written: {done.file}")


@operation(
    "promote approve",
    Level.ADMIN,
    rest="POST /rules/candidates/{id}/approve",
    all_banks=True,
    announce=_announce_approval,
    text=_print_approved,
    examples="""\
  holdfast promote approve 5c1f0a
  holdfast promote approve 5c1f0a --text "Use table-driven tests in Go.\"""",
)
def promote_approve(
    memory: Holdfast,
    id: CandidateId,
    text: Annotated[
        str, Arg("approve it with this text instead", most=_MAX_RULE, metavar="TEXT")
    ] = "",
    seen: Annotated[
        str,
        Arg(
            "the diff that you saw; needed where the file changed since the rule was proposed",
            most=_MAX_DIFF,
            programs=True,
        ),
    ] = "",
    bank: OneBank = "",
    call: Call = OWNER,
) -> RuleApproved:
    """Write a proposed rule into its file

    Optionally in other words. Approving that a rule is dropped only records it: remove the rule
    yourself."""
    planned = memory.rules.plan_approval(id, text, bank)
    change = memory.rules.approve(id, text, bank, call.who, seen)
    return RuleApproved(
        planned.proposal.id,
        change.path if change else planned.proposal.path,
        planned.diff,
        str(change.file) if change and call.in_folder else None,
    )


def _print_rejected(screen: Screen, done: RuleRejected, **_: object) -> None:
    screen.wrap(f"Rejected, and not proposed again: {done.text}")


@operation(
    "promote reject",
    Level.WRITE,
    rest="POST /rules/candidates/{id}/reject",
    text=_print_rejected,
    examples='  holdfast promote reject 5c1f0a --why "only true for the website"',
)
def promote_reject(
    memory: Holdfast,
    id: CandidateId,
    why: Annotated[str, Arg("the reason for rejecting it", most=2_000, metavar="REASON")] = "",
    bank: OneBank = "",
    call: Call = OWNER,
) -> RuleRejected:
    """Reject a proposed rule

    The same rule is not proposed again, in any wording."""
    gone = memory.rules.reject(id, why, bank, call.who)
    return RuleRejected(gone.id, gone.text)


AutoLearned = LearningStatus | RuleCandidates | RulesPromoted


def _print_auto_learned(screen: Screen, found: AutoLearned, **_: object) -> None:
    if isinstance(found, LearningStatus):
        _print_learning(screen, found)
    else:
        _print_candidates(screen, found, diffs=False)


@operation(
    "auto-learn",
    Level.WRITE,
    work=Work.RUN,
    text=_print_auto_learned,
    examples="""\
  holdfast auto-learn status
  holdfast auto-learn candidates --json
  holdfast auto-learn promote            look for candidates now
  holdfast auto-learn promote 5c1f0a""",
)
def auto_learn(
    memory: Holdfast,
    action: Annotated[
        AutoLearnAction,
        Arg(
            "the state of learning, the candidates that wait for a person, or a search for more "
            "(default: status)",
            place="ACTION",
        ),
    ] = AutoLearnAction.STATUS,
    id: Annotated[
        str,
        Arg("with promote: this candidate, or the start of its id", place="ID", most=MAX_NAME),
    ] = "",
    bank: OneBank = "",
) -> AutoLearned:
    """Show what was learned, or look for more; for agents

    `promote` with an id writes that candidate only if the settings allow it without asking; what
    else is learned waits for a person, who decides with `holdfast promote`."""
    match action:
        case AutoLearnAction.STATUS:
            return promote_status(memory, bank)
        case AutoLearnAction.CANDIDATES:
            return promote_candidates(memory, bank)
        case AutoLearnAction.PROMOTE:
            return promote_run(memory, id, bank)
