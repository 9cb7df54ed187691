"""`holdfast worth`."""

from __future__ import annotations

import json

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.status.health import ago
from holdfast.app.status.usage_report import (
    DEFAULT_DAYS,
    USED_OUTCOMES,
    OutcomeCounts,
    UsageReport,
    count_tokens,
    gather_usage,
    usage_json,
)
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.interfaces.mcp.main_spec import SPEC
from holdfast.language import truncate
from holdfast.model.ledgers.injections import InjectionUse

# How many uses are listed.
_MAX_USED = 5
_HOW = {
    InjectionUse.CITED: "cited",
    InjectionUse.FILE: "one of its files was touched",
    InjectionUse.WORDING: "its words were used",
}

HELP = """\
Report what the memory was used for and what it cost: how often context was injected into
sessions, how many tokens it took, and whether it was used, ignored or wrong; what was used
last, with the evidence; corrections by people; the cost of model services; and the last
failure. `holdfast eval --own` tests recall on your own history.

The report is based on traces in transcripts, and says what they cannot show. Nothing is sent."""

EXAMPLES = """\
  holdfast worth
  holdfast worth --days 7 --bank myproject
  holdfast worth --json"""


def configure(parser: Parser) -> None:
    parser.option(
        "--days",
        "N",
        f"how many days to look back (default: {DEFAULT_DAYS})",
        DEFAULT_DAYS,
        options.days,
    )
    options.add(parser, "bank_or_all", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        worth = gather_usage(memory, arguments.bank, arguments.days)
    if arguments.json:
        screen.json(usage_json(worth))
    else:
        _print(screen, worth)


def _print(screen: Screen, worth: UsageReport) -> None:
    screen.line(f"The last {number(worth.days, 'day')}, {describe_bank(worth.bank)}", "bold")
    screen.line()
    if not worth.total.injected:
        screen.wrap(
            "Nothing was injected into a session. `holdfast status` shows whether the hooks that "
            "do it are installed."
        )
    else:
        _print_injected(screen, worth)
        _print_used(screen, worth)
    screen.line()
    corrections = worth.corrections
    counts = (
        (number(corrections.corrected, "record"), "corrected"),
        (number(corrections.forgotten, "record"), "forgotten"),
        (number(corrections.questioned, "fact"), "contradicted by later sessions"),
        (number(corrections.refused, "proposed rule"), "rejected"),
    )
    screen.item(f"corrections: {', '.join(f'{count} {what}' for count, what in counts)}")
    _print_cost(screen, worth)
    screen.line(f"last failure: {_failure(worth)}")
    screen.title("What this cannot claim", "bold")
    for limit in worth.cannot_claim:
        screen.wrap(limit, "  - ", "    ")


def _print_injected(screen: Screen, worth: UsageReport) -> None:
    total = worth.total
    each = number(round(worth.tokens / max(1, worth.told)), "token")
    screen.wrap(
        f"{number(total.injected, 'text')} injected into {number(worth.told, 'session')}: about "
        f"{number(worth.tokens, 'token')}, {each} per session. The definitions of the MCP tools "
        f"take about {number(_tool_tokens(), 'token')} more in each session."
    )
    heads = ("", "texts", *(name for name in OutcomeCounts._fields[1:]))
    screen.line("".join(f"{head:>10}" for head in heads), "dim")
    for name, outcome in {**worth.kinds, "all": total}.items():
        cells = "".join(f"{count:>10,}" for count in outcome)
        screen.line(f"{name:>10}{cells}")
    judged = total.used + total.ignored + total.wrong
    if not judged:
        screen.line("not judged yet: a session is judged after 2 hours without activity")
    if judged:
        how = ", ".join(f"{name} {count:,}" for name, count in worth.uses.items())
        screen.line(
            f"of {judged:,} judged texts, {total.used / judged:.0%} were used"
            + (f" ({how})" if how else "")
        )


def _tool_tokens() -> int:
    """About how many tokens the tools and instructions take that every session is sent."""
    always = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema()}
        for tool in SPEC.tools
        if tool.name in SPEC.always_load
    ]
    return count_tokens(len(SPEC.instructions) + len(json.dumps(always)))


def _print_used(screen: Screen, worth: UsageReport) -> None:
    """The latest texts that were used, and what shows it."""
    used = [one for one in worth.latest if one.arrived and one.use in USED_OUTCOMES]
    if not used:
        return
    screen.title("Used last", "bold")
    for one in used[:_MAX_USED]:
        how = f": “{truncate(one.because, 90)}”" if one.because else ""
        screen.item(f"{day(one.time)} {one.kind.value}, {_HOW[one.use]}{how}", "  ")


def _print_cost(screen: Screen, worth: UsageReport) -> None:
    spent = worth.spent
    if not spent.calls:
        screen.line("model services: not used, no cost")
        return
    unknown = f", and {number(spent.unpriced, 'call')} of unknown price" if spent.unpriced else ""
    screen.line(
        f"model services: {number(spent.calls, 'call')}, {number(spent.tokens, 'token')}, "
        f"${spent.usd:.4f}{unknown}"
    )


def _failure(worth: UsageReport) -> str:
    if worth.failure is None:
        return "none known"
    open_still = " (not repeated yet)" if worth.failure.open else ""
    return f"{ago(worth.failure.time)}{open_still}: {worth.failure.what}"
