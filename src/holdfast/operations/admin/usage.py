"""What the memory was of use for, and what model services cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import Holdfast
from holdfast.inference.service_choice import detect_service, service_problem
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.injections import Injection, InjectionUse
from holdfast.model.ledgers.model_calls import ModelCall, ServicePause, Spending
from holdfast.operations.operation import Arg, operation
from holdfast.operations.output.install_hint import adapt_install_commands
from holdfast.operations.parameters import AnyBank
from holdfast.operations.screen import Screen, count_tokens, number
from holdfast.operations.shapes import record_from
from holdfast.principal import Level
from holdfast.refine.model_output.prompts import MAX_ANSWER_TOKENS, PROMPT_VERSION
from holdfast.settings import NO_MODEL, SpendCaps
from holdfast.spend.prices import PRICES_AS_OF
from holdfast.times import add_seconds

_DAY_S = 86400.0
# The days that the account of costs goes back, and those of the report on use if none are named.
_DAYS, _MAX_DAYS = 30, 36_500
# Waiting sessions are counted up to this number, so that the query stays fast on a long history.
_MAX_COUNTED = 1000
# The day's cap in dollars counts as reached from this share on: the rest is too little for another
# call.
_CAP_REACHED_SHARE = 0.98
# Bounds the query; beyond it, the oldest injections of the days would not be counted.
_MAX_INJECTIONS = 100_000


class ModelSpending(NamedTuple):
    """The sum of some calls of model services. `usd` is null if no call has a known price;
    `unpriced` is how many have none."""

    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    usd: float | None
    unpriced: int
    failed: int


class DaySpending(NamedTuple):
    """What one operation spent on one model on one day."""

    day: str
    operation: str
    service: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    usd: float | None
    unpriced: int
    failed: int


class ModelCosts(NamedTuple):
    """What model services cost: `tokens` and `usd` are of today. `model` is the service that would
    be asked, `waiting` how many sessions have something to summarise; `held` says why no call is
    made at present; `problem` why the service cannot be asked, and `remedy` what to do. The rest is
    the whole account, and null where only a summary was asked for."""

    model: str | None
    tokens: int
    usd: float | None
    held: str | None
    waiting: int
    problem: str | None
    remedy: str | None
    today: ModelSpending
    caps: SpendCaps | None = None
    days: tuple[DaySpending, ...] | None = None
    pauses: tuple[ServicePause, ...] | None = None
    troubled: tuple[ModelCall, ...] | None = None
    prices_as_of: str | None = None


class OutcomeCounts(NamedTuple):
    """How many injections there were, and what became of them. Each is counted in one field."""

    injected: int = 0
    used: int = 0
    ignored: int = 0
    wrong: int = 0
    lost: int = 0
    unjudged: int = 0


class Spent(NamedTuple):
    """What model services cost; `usd` leaves out the `unpriced` calls."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0


class UsageReport(NamedTuple):
    """The report on some days up to now. `sessions` counts those with injected context, `kinds` has
    the outcomes by occasion, `uses` counts how texts were used."""

    bank: str
    since: str
    until: str
    days: int
    sessions: int
    total: OutcomeCounts
    kinds: dict[str, OutcomeCounts]
    uses: dict[str, int]
    tokens: int
    spent: Spent


def model_costs(memory: Holdfast, whole: bool = True) -> ModelCosts:
    """What model services cost, and why none is asked at present; without `whole` only today."""
    models, now, calls = memory.settings.models, memory.now(), memory.store.model_calls
    service, problem = detect_service(models), service_problem(models)
    spent = calls.total_spent(now[:10])
    pauses = tuple(one for one in calls.paused_services() if one.since <= now < one.until)
    held, waiting, today = "", 0, _spending(spent)
    if service != NO_MODEL:
        held = _why_held(models.caps, spent, pauses)
        since = add_seconds(now, -models.days * _DAY_S) if models.days else ""
        unread = memory.store.summaries.unsummarised_sessions(since, PROMPT_VERSION, _MAX_COUNTED)
        waiting = len(unread)
    summary = ModelCosts(
        None if service == NO_MODEL else service,
        spent.tokens,
        today.usd,
        held or None,
        waiting,
        problem.message if problem else None,
        problem.remedy if problem else None,
        today,
    )
    if not whole:
        return summary
    days = calls.spending_by_day(add_seconds(now, -_DAYS * _DAY_S)[:10])
    return summary._replace(
        caps=models.caps,
        days=tuple(record_from(DaySpending, one, _spending(one.spent)) for one in days),
        pauses=pauses,
        troubled=tuple(calls.failed()),
        prices_as_of=PRICES_AS_OF,
    )


def _why_held(caps: SpendCaps, today: Spending, pauses: tuple[ServicePause, ...]) -> str:
    """Why no call is made at present; "" if calls are possible. A call needs room for a whole
    answer."""
    if pauses:
        return f"{pauses[0].service} is paused until {pauses[0].until}: {pauses[0].problem}"
    if today.tokens + MAX_ANSWER_TOKENS > caps.day_tokens:
        return f"the daily limit of {caps.day_tokens:,} tokens leaves no room for another call"
    if today.usd >= caps.day_usd * _CAP_REACHED_SHARE and today.calls:
        return f"the daily limit of ${caps.day_usd:.2f} is reached"
    return ""


def _spending(spent: Spending) -> ModelSpending:
    usd = None if spent.unpriced and not spent.usd else round(spent.usd, 6)
    return ModelSpending(*spent)._replace(usd=usd)


def _money(spent: ModelSpending | DaySpending) -> str:
    """The known cost, and the number of calls whose price is not known."""
    if not spent.unpriced:
        return f"${spent.usd or 0:.4f}"
    calls = number(spent.unpriced, "call")
    return f"${spent.usd:.4f} and {calls} of unknown price" if spent.usd else "price unknown"


def print_cost_summary(screen: Screen, costs: ModelCosts) -> None:
    """One line, and a second one if no model may be asked now."""
    if costs.problem:
        screen.item(f"models: not working: {costs.problem}")
        screen.item(f"→ {adapt_install_commands(costs.remedy or '')}", "  ")
    elif costs.model is None:
        screen.line("models: no model service (models.use in config.toml)")
    else:
        screen.item(
            f"models: {costs.model}; today {number(costs.today.calls, 'call')}, "
            f"{costs.tokens:,} tokens, {_money(costs.today)}; "
            f"{number(costs.waiting, 'session')} waiting"
        )
    if costs.held:
        screen.item(f"stopped: {costs.held}", "  ")


def print_costs(screen: Screen, costs: ModelCosts, **_: object) -> None:
    """The cost by day, operation and model, the caps, and the calls that failed."""
    print_cost_summary(screen, costs)
    if caps := costs.caps:
        screen.line(
            f"  limits: {caps.day_tokens:,} tokens and ${caps.day_usd:.2f} per day (UTC), "
            f"{caps.session_tokens:,} tokens and ${caps.session_usd:.2f} per session"
        )
    screen.line()
    if not costs.days:
        screen.line("No calls in the last 30 days.")
    day = ""
    for one in costs.days or ():
        if one.day != day:
            day = one.day
            screen.line(day, "bold")
        failed = f", {one.failed} failed" if one.failed else ""
        cached = f" ({one.tokens_cached:,} cached)" if one.tokens_cached else ""
        screen.item(
            f"{one.operation} by {one.service}/{one.model}: {number(one.calls, 'call')}{failed}, "
            f"{one.tokens_in:,} tokens in{cached}, {one.tokens_out:,} out, {_money(one)}",
            "  ",
        )
    if costs.days:
        screen.line(f"prices as of {costs.prices_as_of}, or from your settings")
    for call in costs.troubled or ():
        screen.item(f"{call.time} {call.outcome.value}: {call.problem}", "  ")


@operation("cost", Level.READ, all_banks=True, text=print_costs)
def cost(memory: Holdfast) -> ModelCosts:
    """Show what model services cost

    By day, operation and model; the limits, pauses, and calls that failed."""
    return model_costs(memory)


def _print_worth(screen: Screen, report: UsageReport, **_: object) -> None:
    screen.line(f"The last {number(report.days, 'day')}, {describe_bank(report.bank)}", "bold")
    screen.line()
    if report.total.injected:
        _print_injected(screen, report)
    else:
        screen.wrap(
            "Nothing was injected into a session. `holdfast status` shows whether the hooks that "
            "do it are installed."
        )
    spent = report.spent
    if not spent.calls:
        screen.line("model services: not used, no cost")
        return
    unknown = f", and {number(spent.unpriced, 'call')} of unknown price" if spent.unpriced else ""
    screen.line(
        f"model services: {number(spent.calls, 'call')}, {number(spent.tokens, 'token')}, "
        f"${spent.usd:.4f}{unknown}"
    )


def _print_injected(screen: Screen, report: UsageReport) -> None:
    total = report.total
    each = number(round(report.tokens / max(1, report.sessions)), "token")
    screen.wrap(
        f"{number(total.injected, 'text')} injected into {number(report.sessions, 'session')}: "
        f"about {number(report.tokens, 'token')}, {each} per session."
    )
    screen.line("".join(f"{head:>10}" for head in ("", "texts", *OutcomeCounts._fields[1:])), "dim")
    for name, outcome in {**report.kinds, "all": total}.items():
        screen.line(f"{name:>10}{''.join(f'{count:>10,}' for count in outcome)}")
    judged = total.used + total.ignored + total.wrong
    if not judged:
        screen.line("not judged yet: a session is judged after 2 hours without activity")
        return
    how = ", ".join(f"{name} {count:,}" for name, count in report.uses.items())
    screen.line(
        f"of {judged:,} judged texts, {total.used / judged:.0%} were used" + f" ({how})" * bool(how)
    )


@operation(
    "worth",
    Level.READ,
    all_banks=True,
    text=_print_worth,
    examples="""\
  holdfast worth
  holdfast worth --days 7 --bank myproject
  holdfast worth --json""",
)
def worth(
    memory: Holdfast,
    days: Annotated[
        int, Arg("how many days to look back", least=1, most=_MAX_DAYS, metavar="N")
    ] = _DAYS,
    bank: AnyBank = "all",
) -> UsageReport:
    """Report how injected context was used, and its cost

    How often something was injected into a session, how many tokens it took, whether it was used,
    ignored or wrong, and the cost of model services. `brief log` lists each text.

    Only traces in transcripts are counted. They do not show saved time or money."""
    until = memory.now()
    since = add_seconds(until, -days * _DAY_S)
    injections = memory.inventory.injections(bank, _MAX_INJECTIONS)
    known = [one for one in injections if one.time >= since]
    kinds = sorted({one.kind.value for one in known})
    spent = [one.spent for one in memory.store.model_calls.spending_by_day(since[:10])]
    return UsageReport(
        bank=memory.context.bank_name(memory.context.bank_id(bank)),
        since=since,
        until=until,
        days=days,
        sessions=len({one.session for one in known}),
        total=count_outcomes(known),
        kinds={kind: count_outcomes(i for i in known if i.kind.value == kind) for kind in kinds},
        uses=dict(Counter(one.use.value for one in known if _outcome(one) == "used")),
        # What a session that goes on was told is not settled yet, so it counts.
        tokens=sum(count_tokens(one.characters) for one in known if one.arrived is not False),
        spent=Spent(
            sum(one.calls for one in spent),
            sum(one.tokens for one in spent),
            round(sum(one.usd for one in spent), 6),
            sum(one.unpriced for one in spent),
        ),
    )


def count_outcomes(injections: Iterable[Injection]) -> OutcomeCounts:
    """Count the outcomes. What did not arrive is `lost`, and neither used nor ignored."""
    found = Counter(map(_outcome, injections))
    return OutcomeCounts(found.total(), *(found[name] for name in OutcomeCounts._fields[1:]))


def _outcome(one: Injection) -> str:
    if one.arrived is None:
        return "unjudged"
    if not one.arrived:
        return "lost"
    if one.use in (InjectionUse.CITED, InjectionUse.FILE, InjectionUse.WORDING):
        return "used"
    return {InjectionUse.IGNORED: "ignored", InjectionUse.CONTRADICTED: "wrong"}.get(
        one.use, "unjudged"
    )
