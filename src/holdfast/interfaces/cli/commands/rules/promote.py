"""`holdfast promote`."""

from __future__ import annotations

from holdfast.app.curation.rule_proposals import Candidate
from holdfast.app.memory import Holdfast, open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.model.knowledge import ProposalKind

HELP = """\
Review proposed rules: conventions that were stated at least three times, in different
sessions, commits or notes, and are in no rule file yet. Also rules that people contradict,
or whose files are gone. Nothing is written until you approve it; a rejected rule is not
proposed again."""

EXAMPLES = """\
  holdfast promote status
  holdfast promote candidates
  holdfast promote approve 5c1f0a
  holdfast promote approve 5c1f0a --text "Use table-driven tests in Go."
  holdfast promote reject 5c1f0a --why "only true for the website"
  holdfast promote run                    look for candidates now"""

ACTIONS = ("status", "candidates", "run", "approve", "reject")


def configure(parser: Parser) -> None:
    options.add_action(parser, ACTIONS, "candidates")
    options.add(parser, "candidate")
    parser.add_argument("--text", default="", help="approve it with this text instead")
    parser.add_argument("--why", default="", help="the reason for rejecting it")
    options.add(parser, "one_bank", "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    actions = {"status": _status, "approve": _approve, "reject": _reject}
    with open_memory(create=False) as memory:
        actions.get(arguments.action, _list)(screen, memory, arguments)


def _status(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    if arguments.json:
        return screen.json(memory.teaching.auto_learn("status", bank=arguments.bank))
    state = memory.rules.state(arguments.bank)
    name = memory.context.bank_name(memory.context.bank_id(arguments.bank))
    screen.line(f"{name}: {number(state.rules, 'section')} in {number(len(state.files), 'file')}")
    screen.line(f"  {number(state.patterns, 'pattern')}, {state.ripe:,} ready to be proposed")
    screen.line(f"  {state.promotions:,} proposed to add, {state.demotions:,} to remove")
    screen.line(f"  {state.approved:,} approved, {state.rejected:,} rejected")
    screen.line(f"  written without asking: {'yes' if memory.settings.promote.automatic else 'no'}")


def _list(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    look = memory.rules.promote if arguments.action == "run" else memory.rules.candidates
    candidates = look(arguments.bank)
    if arguments.json:
        return screen.json(memory.teaching.candidates_json(candidates, arguments.bank))
    questions = len(memory.browse.reviews(arguments.bank))
    if not candidates:
        screen.line("No proposed rules.")
    for candidate in candidates:
        _print(screen, candidate)
    if questions:
        screen.line(f"Also {number(questions, 'question')} on facts: see `holdfast review`.")


def _print(screen: Screen, candidate: Candidate) -> None:
    p = candidate.proposal
    verb = "add to" if p.kind is ProposalKind.PROMOTE else "look at"
    screen.line(f"{screen.paint(p.id, 'bold', 'cyan')}  {verb} {p.path}  ({p.trust.value})")
    screen.wrap(p.text, "  ")
    screen.wrap(p.reason, "  ")
    if p.evidence:
        screen.line(f"  {' '.join(p.evidence[-3:])}")
    if candidate.problem:
        screen.wrap(f"cannot be written: {candidate.problem}", "  ")
    if candidate.changed:
        screen.line(f"  {p.path} has changed since this was proposed")
    if candidate.diff:
        screen.title(candidate.diff)
    screen.line()


def _approve(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    a = arguments
    planned = memory.rules.plan_approval(a.id, a.text, a.bank)
    if not a.json:
        screen.line(planned.diff or planned.proposal.reason)
    write = f"Write {planned.proposal.path}?"
    question = write if planned.diff else "Record that this rule is outdated?"
    if not confirm.confirm_change(screen, a.yes, question, dry_run=False):
        return
    # The file must still be as in the diff that the person agreed to; with --yes nobody saw one.
    change = memory.rules.approve(a.id, a.text, a.bank, seen_diff="" if a.yes else planned.diff)
    if a.json:
        path = change.path if change else planned.proposal.path
        screen.json({"approved": planned.proposal.id, "path": path, "diff": planned.diff})
    elif change is None:
        screen.line(f"Recorded. Remove it from {planned.proposal.path} yourself.")
    else:
        screen.line(f"Written: {change.file}")


def _reject(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    rejected = memory.rules.reject(arguments.id, arguments.why, arguments.bank)
    if arguments.json:
        screen.json({"rejected": rejected.id, "text": rejected.text})
    else:
        screen.wrap(f"Rejected, and not proposed again: {rejected.text}")
