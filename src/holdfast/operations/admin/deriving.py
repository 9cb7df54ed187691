"""What is read of a forge, and what is derived again of sessions."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from holdfast.app.background import rebuild
from holdfast.app.background.rebuild import ModelPlan
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import OutdatedCounts, count_outdated
from holdfast.errors import ModelError, SettingsError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, Work, operation
from holdfast.operations.parameters import MAX_NAME, DryRun
from holdfast.operations.screen import Screen, number
from holdfast.principal import Level
from holdfast.refine.by_model.summarise import SummaryReport
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.git.forge_sync import ForgeCount, ForgeReport
from holdfast.refine.model_output.prompts import PROMPT_VERSION
from holdfast.spend.prices import PRICES_AS_OF

_admin = partial(operation, level=Level.ADMIN, all_banks=True, work=Work.RUN_LONG)

# How many seconds commits and turns are each embedded for; the worker does the rest.
_TURNS_S = 20


def _print_forge(screen: Screen, done: ForgeReport | ForgeCount, **_: object) -> None:
    if isinstance(done, ForgeCount):
        least = "at least " if done.more else ""
        screen.line(
            f"{done.repo}: {least}{number(done.pulls, 'pull')} and "
            f"{number(done.issues, 'issue')} with something new."
        )
        screen.line(
            f"Reading them takes about {number(done.requests, 'request')}, and one for every "
            "hundred comments."
        )
        return screen.line(f"Nothing has been read or written; counting took {done.asked}.")
    screen.line(
        f"{done.repo}: {number(done.pulls, 'pull')}, {number(done.issues, 'issue')} and "
        f"{number(done.remarks, 'remark')} new or changed, in bank {done.bank}."
    )
    if done.left_out:
        screen.line(f"  {number(done.left_out, 'remark')} left out: their threads have too many.")
    if done.erased:
        screen.line(f"  {done.erased:,} not stored again, because they were erased or scrubbed.")
    if taken := done.redacted.total():
        screen.line(f"  {number(taken, 'secret')} redacted before storing.")
    screen.line(f"  {number(done.requests, 'request')} made.")


@_admin(
    "forge",
    creates=True,
    text=_print_forge,
    examples="""\
  holdfast forge --dry-run
  holdfast forge
  holdfast forge acme/shop --bank shop
  holdfast show pull/12""",
)
def forge(
    memory: Holdfast,
    name: Annotated[
        str,
        Arg(
            "the repository (default: by the remote of the current folder)",
            place="OWNER/NAME",
            most=MAX_NAME,
        ),
    ] = "",
    dry_run: Annotated[bool, Arg("only count what is new, and the requests it needs")] = False,
    bank: Annotated[
        str, Arg("put it in this bank (default: by project)", metavar="NAME", most=MAX_NAME)
    ] = "",
    call: Call = OWNER,
) -> ForgeReport | ForgeCount:
    """Read pull requests, issues and reviews from GitHub

    With their comments: those of the repository of the current folder, by its remote, or of
    OWNER/NAME. No other command contacts a forge, and this one only reads.

    The token comes from GH_TOKEN or GITHUB_TOKEN, from the variable named by forge.token_env in
    the settings, or from the login of `gh`. Public repositories can be read without one, slowly.
    Only changes are read; an interrupted run resumes. Text by people outside the project has the
    trust `external`. Secrets are redacted before anything is written."""
    if dry_run:
        return memory.ingestion.count_forge(name, bank, call.notice)
    reading = call.watch("reading", lambda n: number(n, "thread or remark", "threads and remarks"))
    read = memory.ingestion.read_forge(name, bank, reading, call.notice)
    try:
        memory.ingestion.embed(_TURNS_S, call.watch("embedding", lambda n: number(n, "record")))
    except (ModelError, SettingsError) as error:
        problem = f"{error.message} {error.remedy}".strip()
        call.notice(f"not prepared for search by meaning: {problem}")
    if read.stopped:
        call.notice(f"stopped: {read.stopped}")
    return read


class RefinedSessions(NamedTuple):
    """How many sessions were derived again by rules, and what a model summarised again."""

    sessions: int
    by_model: SummaryReport


class Refined(NamedTuple):
    """What was derived again, or would be: the versions of the rules and prompts, what is still
    `older` than they, what a model would do and cost (`offer`), and what was done."""

    rules: int
    prompts: int
    older: OutdatedCounts
    offer: dict[str, Any] | None
    done: RefinedSessions


def _wants_model(memory: Holdfast, stale: bool, rules_only: bool) -> bool:
    return stale and not rules_only and bool(count_outdated(memory).prompts)


def _offer(plan: ModelPlan | None) -> dict[str, Any] | None:
    return plan and {
        "service": plan.service or None,
        **plan.estimate._asdict(),
        "sessions": len(plan.estimate.sessions),
        "capped": len(plan.estimate.capped),
        "held": plan.held or None,
        "prices_as_of": PRICES_AS_OF,
    }


def _offer_lines(offer: dict[str, Any]) -> list[str]:
    """What a model would be sent, and the cost."""
    if not offer["service"]:
        return ["No model service (models.use in config.toml); the older summaries stay."]
    lines: list[str] = []
    if offer["calls"]:
        usd = offer["usd"]
        money = "price unknown" if usd is None else f"${usd:.4f} at prices of {PRICES_AS_OF}"
        if offer["service"].startswith("claude"):
            money = "covered by your subscription"
        lines.append(
            f"{offer['service']} would summarise {number(offer['exchanges'], 'exchange')} and "
            f"{number(offer['digests'], 'digest')} of {number(offer['sessions'], 'session')}: "
            f"{number(offer['calls'], 'call')}, about "
            f"{offer['tokens_in'] + offer['tokens_out']:,} tokens, {money}."
        )
        lines.append(
            {
                None: "The daily limits do not allow it (models.day_tokens, models.day_usd).",
                1: "Within the daily limits.",
            }.get(
                offer["days"],
                f"With the daily limits it takes {offer['days']} days; run the same command on "
                "each day.",
            )
        )
    if offer["capped"]:
        lines.append(
            f"{number(offer['capped'], 'session')} skipped: they would exceed the limits of a "
            "session (models.session_tokens, models.session_usd)."
        )
    return [*lines, f"Not now: {offer['held']}"] if offer["held"] else lines


def _announce_refine(
    memory: Holdfast, *, stale: bool = False, rules_only: bool = False, **_: object
) -> Announcement:
    plan = rebuild.plan_model_calls(memory) if _wants_model(memory, stale, rules_only) else None
    if plan is None or not plan.service or not plan.estimate.calls:
        return Announcement((), plan=plan)
    lines = (*_offer_lines(_offer(plan) or {}), "--rules-only does what costs nothing.")
    return Announcement(lines, "Call the model?", False, "what a model is sent", plan=plan)


def _print_refined(
    screen: Screen, found: Refined, *, stale: bool = False, dry_run: bool = False, **_: object
) -> None:
    older, done, report = found.older, found.done, found.done.by_model
    failed = f"; {report.failed} failed and keep their old text" if report.failed else ""
    said = {
        f"{number(older.unfinished, 'session')} to be derived.": dry_run and older.unfinished,
        f"{number(done.sessions, 'session')} updated.": done.sessions,
        f"Summarised again: {number(report.exchanges, 'exchange')}, "
        f"{number(report.digests, 'digest')}{failed}.": any(report),
        f"Stopped: {report.stopped}": report.stopped,
        f"Derived by rules older than version {found.rules}: {number(older.rules, 'session')}. "
        "Deriving them again costs nothing.": stale and older.rules,
        f"Summarised with prompts older than version {found.prompts}: "
        f"{number(older.prompts, 'session')}.": stale and older.prompts,
        f"Outdated: {', '.join(older.stages)}.": stale and older.stages,
        f"Everything is up to date (rules version {found.rules}, prompts version "
        f"{found.prompts}).": not older.any and (stale or not done.sessions),
        "Some records are from older versions; `holdfast refine --stale` updates them.": older.any
        and not stale,
    }
    for line in (line for line, is_so in said.items() if is_so):
        screen.wrap(line)
    if found.offer and not any(report):
        for line in _offer_lines(found.offer):
            screen.wrap(line)
    if dry_run:
        screen.line("Nothing was changed.")


@_admin(
    "refine",
    creates=True,
    text=_print_refined,
    announce=_announce_refine,
    options=("model",),
    examples="""\
  holdfast refine --stale --dry-run      what would be done, and the cost
  holdfast refine --stale --rules-only   only what costs nothing
  holdfast refine --stale""",
)
def refine(
    memory: Holdfast,
    stale: Annotated[bool, Arg("also update the records of older versions")] = False,
    rules_only: Annotated[bool, Arg("with --stale: do not use a model")] = False,
    dry_run: DryRun = False,
    call: Call = OWNER,
) -> Refined:
    """Update the records that are derived from sessions

    Reading transcripts does that already; this finishes what was interrupted.

    --stale updates the records of older versions of Holdfast: by rules first, which costs
    nothing, then with the model, if one is configured. The cost is shown before the model is used,
    and the limits apply. If it is interrupted, by Ctrl-C, a limit or the service, run it again: it
    resumes, and nothing is paid twice. Until then the older records are used."""
    sessions, plan, report = 0, None, SummaryReport()
    if not dry_run and not stale:
        sessions = rebuild.derive_pending(memory)
    elif not dry_run:
        bar = call.watch("deriving", lambda n: number(n, "session"))
        sessions = rebuild.rebuild_by_rules(memory, bar)
    if _wants_model(memory, stale, rules_only):
        plan = rebuild.plan_model_calls(memory)
        agreed: ModelPlan | None = call.agreed
        if not dry_run and plan.service and agreed and agreed.service:
            bar = call.watch("calling the model", lambda n: number(n, "call"))
            report = rebuild.run_model_plan(memory, plan, bar)
    done = RefinedSessions(sessions, report)
    return Refined(RULES_VERSION, PROMPT_VERSION, count_outdated(memory), _offer(plan), done)
