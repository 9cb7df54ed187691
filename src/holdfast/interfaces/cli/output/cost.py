"""The cost of model services, in `holdfast status` and `holdfast status --cost`."""

from __future__ import annotations

from holdfast.app.status.costs import Costs
from holdfast.interfaces.cli.install_hint import adapt_install_commands
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.model.ledgers.model_calls import Spending
from holdfast.settings import NO_MODEL


def money(spent: Spending) -> str:
    """The known cost, and the number of calls whose price is not known."""
    if not spent.unpriced:
        return f"${spent.usd:.4f}"
    calls = number(spent.unpriced, "call")
    return f"${spent.usd:.4f} and {calls} of unknown price" if spent.usd else "price unknown"


def print_summary(screen: Screen, costs: Costs) -> None:
    """One line, and a second one if no model may be asked now."""
    if costs.problem:
        screen.item(f"models: not working: {costs.problem}")
        screen.item(f"→ {adapt_install_commands(costs.remedy)}", "  ")
    elif costs.service == NO_MODEL:
        screen.line("models: no model service (models.use in config.toml)")
    else:
        today = costs.today
        screen.item(
            f"models: {costs.service}; today {number(today.calls, 'call')}, {today.tokens:,} "
            f"tokens, {money(today)}; {number(costs.waiting, 'session')} waiting"
        )
    if costs.held:
        screen.item(f"stopped: {costs.held}", "  ")


def print_costs(screen: Screen, costs: Costs) -> None:
    """The cost by day, operation and model, the caps, and the calls that failed."""
    print_summary(screen, costs)
    caps = costs.caps
    screen.line(
        f"  limits: {caps.day_tokens:,} tokens and ${caps.day_usd:.2f} per day (UTC), "
        f"{caps.session_tokens:,} tokens and ${caps.session_usd:.2f} per session"
    )
    screen.line()
    if not costs.days:
        screen.line("No calls in the last 30 days.")
    day = ""
    for one in costs.days:
        if one.day != day:
            day = one.day
            screen.line(day, "bold")
        s = one.spent
        failed = f", {s.failed} failed" if s.failed else ""
        cached = f" ({s.tokens_cached:,} cached)" if s.tokens_cached else ""
        screen.item(
            f"{one.operation} by {one.service}/{one.model}: {number(s.calls, 'call')}{failed}, "
            f"{s.tokens_in:,} tokens in{cached}, {s.tokens_out:,} out, {money(s)}",
            "  ",
        )
    if costs.days:
        screen.line(f"prices as of {costs.prices_as_of}, or from your settings")
    for call in costs.troubled:
        screen.item(f"{call.time} {call.outcome.value}: {call.problem}", "  ")
