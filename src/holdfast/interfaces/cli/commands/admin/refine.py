"""`holdfast refine`."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.app.background import rebuild
from holdfast.app.background.rebuild import ModelPlan
from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.status.memory_status import OutdatedCounts, count_outdated
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.operations.screen import Screen, number
from holdfast.refine.by_model.cost_estimate import CostEstimate
from holdfast.refine.by_model.summarise import SummaryReport
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.model_output.prompts import PROMPT_VERSION as PROMPTS
from holdfast.settings import NO_MODEL, load_settings
from holdfast.spend.prices import PRICES_AS_OF

HELP = """\
Update the records that are derived from sessions. Reading transcripts does that already; this
finishes what was interrupted.

--stale updates the records of older versions of Holdfast: by rules first, which costs
nothing, then with the model, if one is configured. The cost is shown before the model is used,
and the limits apply. If it is interrupted, by Ctrl-C, a limit or the service, run it again: it
resumes, and nothing is paid twice. Until then the older records are used."""

EXAMPLES = """\
  holdfast refine --stale --dry-run      what would be done, and the cost
  holdfast refine --stale --rules-only   only what costs nothing
  holdfast refine --stale"""


class _Done(NamedTuple):
    """What was derived again by rules, and what by a model, if one was asked."""

    sessions: int = 0
    by_model: SummaryReport = SummaryReport()
    asked: bool = False


def configure(parser: Parser) -> None:
    parser.flag("--stale", "also update the records of older versions")
    parser.flag("--rules-only", "with --stale: do not use a model")
    parser.flag("--dry-run", "only show what would be done")
    options.add(parser, "model", "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    settings = options.with_model(load_settings(), arguments, "summaries")
    with open_memory(settings, create=not arguments.dry_run) as memory:
        older = count_outdated(memory)
        if arguments.dry_run:
            plan = rebuild.plan_model_calls(memory) if _wants_model(older, arguments) else None
            if arguments.json:
                screen.json(_json(older, plan, _Done()))
            else:
                _print_dry_run(screen, older, plan, arguments)
            return
        plan = None
        if arguments.stale:
            _refuse_unasked(older, memory, arguments)
            bar = _Bar("deriving", "session", arguments.json)
            done = _Done(rebuild.rebuild_by_rules(memory, bar))
            bar.finish()
            if _wants_model(count_outdated(memory), arguments):
                plan = rebuild.plan_model_calls(memory)
                done = _ask_model(screen, memory, plan, done, arguments)
        else:
            done = _Done(rebuild.derive_pending(memory))
        left = count_outdated(memory)
    if arguments.json:
        screen.json(_json(left, plan, done))
    else:
        _print_result(screen, done, left, arguments)


class _Bar:
    """Progress that prints nothing with `quiet`, and nothing at all if nothing was done."""

    def __init__(self, what: str, noun: str, quiet: bool) -> None:
        self._bar = None if quiet else Progress(what, lambda count: number(count, noun))
        self._moved = False

    def __call__(self, done: int, total: int) -> None:
        if self._bar is not None:
            self._moved = True
            self._bar(done, total)

    def finish(self) -> None:
        if self._bar is not None and self._moved:
            self._bar.finish()


def _wants_model(older: OutdatedCounts, arguments: Arguments) -> bool:
    return bool(arguments.stale and older.prompts and not arguments.rules_only)


def _refuse_unasked(older: OutdatedCounts, memory: Holdfast, arguments: Arguments) -> None:
    """Raise InputError if a model would be asked and nobody can agree to its cost."""
    if not _wants_model(older, arguments) or memory.settings.models.use == NO_MODEL:
        return
    if not arguments.yes and (arguments.json or not confirm.is_interactive()):
        raise InputError(
            f"This would call a model for {number(older.prompts, 'session')}, and there is no "
            "terminal to confirm it. Nothing was changed.",
            "See the cost with --dry-run; then run it with --yes, or with --rules-only.",
        )


def _ask_model(
    screen: Screen, memory: Holdfast, plan: ModelPlan, done: _Done, arguments: Arguments
) -> _Done:
    if not arguments.json:
        _print_plan(screen, plan)
    calls = plan.estimate.calls
    if not plan.service:
        return done
    if calls and not arguments.yes and not confirm.ask("Call the model?", default=False):
        return done
    bar = _Bar("calling the model", "call", arguments.json)
    report = rebuild.run_model_plan(memory, plan, bar)
    bar.finish()
    return done._replace(by_model=report, asked=bool(calls))


def _print_dry_run(
    screen: Screen, older: OutdatedCounts, plan: ModelPlan | None, arguments: Arguments
) -> None:
    if older.unfinished:
        screen.line(f"{number(older.unfinished, 'session')} to be derived.")
    if arguments.stale:
        _print_older(screen, older)
        if plan is not None:
            _print_plan(screen, plan)
    screen.line("Nothing was changed.")


def _print_older(screen: Screen, older: OutdatedCounts) -> None:
    if older.rules:
        screen.line(
            f"Derived by rules older than version {RULES_VERSION}: "
            f"{number(older.rules, 'session')}. Deriving them again costs nothing."
        )
    if older.prompts:
        screen.line(
            f"Summarised with prompts older than version {PROMPTS}: "
            f"{number(older.prompts, 'session')}."
        )
    if older.stages:
        screen.line(f"Outdated: {', '.join(older.stages)}.")
    if not older.any:
        screen.line(
            f"Everything is up to date (rules version {RULES_VERSION}, prompts version {PROMPTS})."
        )


def _print_plan(screen: Screen, plan: ModelPlan) -> None:
    made = plan.estimate
    if not plan.service:
        screen.line("No model service (models.use in config.toml); the older summaries stay.")
        return
    if made.calls:
        tokens = made.tokens_in + made.tokens_out
        screen.wrap(
            f"{plan.service} would summarise {number(made.exchanges, 'exchange')} and "
            f"{number(made.digests, 'digest')} of {number(len(made.sessions), 'session')}: "
            f"{number(made.calls, 'call')}, about {tokens:,} tokens, {_money(plan)}.",
        )
        screen.line(_days(made))
    if made.capped:
        screen.wrap(
            f"{number(len(made.capped), 'session')} skipped: they would exceed the limits of "
            "a session (models.session_tokens, models.session_usd)."
        )
    if plan.held:
        screen.wrap(f"Not now: {plan.held}")


def _money(plan: ModelPlan) -> str:
    usd = plan.estimate.usd
    if plan.service.startswith("claude"):
        return "covered by your subscription"
    return "price unknown" if usd is None else f"${usd:.4f} at prices of {PRICES_AS_OF}"


def _days(made: CostEstimate) -> str:
    if made.days is None:
        return "The daily limits do not allow it (models.day_tokens, models.day_usd)."
    if made.days == 1:
        return "Within the daily limits."
    return f"With the daily limits it takes {made.days} days; run the same command on each day."


def _print_result(screen: Screen, done: _Done, left: OutdatedCounts, arguments: Arguments) -> None:
    if done.sessions:
        screen.line(f"{number(done.sessions, 'session')} updated.")
    report = done.by_model
    if done.asked:
        failed = f"; {report.failed} failed and keep their old text"
        screen.line(
            f"Summarised again: {number(report.exchanges, 'exchange')}, "
            f"{number(report.digests, 'digest')}{failed if report.failed else ''}."
        )
    if report.stopped:
        screen.wrap(f"Stopped: {report.stopped}")
    if arguments.stale:
        _print_older(screen, left)
    elif left.any:
        screen.line("Some records are from older versions; `holdfast refine --stale` updates them.")
    elif not done.sessions:
        screen.line("Everything is up to date.")


def _json(older: OutdatedCounts, plan: ModelPlan | None, done: _Done) -> dict[str, object]:
    """`older` counts what is still outdated after what was `done`."""
    offer = plan and {
        "service": plan.service or None,
        **plan.estimate._asdict(),
        "sessions": len(plan.estimate.sessions),
        "capped": len(plan.estimate.capped),
        "held": plan.held or None,
        "prices_as_of": PRICES_AS_OF,
    }
    by = {"sessions": done.sessions, "by_model": done.by_model}
    versions = {"rules": RULES_VERSION, "prompts": PROMPTS}
    return {**versions, "older": older, "offer": offer, "done": by}
