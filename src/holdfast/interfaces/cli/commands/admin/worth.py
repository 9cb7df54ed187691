"""`holdfast worth`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.app.status.health import ago
from holdfast.app.status.usage_report import (
    DEFAULT_DAYS,
    OutcomeCounts,
    UsageReport,
    gather_usage,
    usage_json,
)
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number

HELP = """\
What the memory was worth to you, as far as its own ledgers show it: how often something
was put into a session, and whether it was used, ignored or wrong; what people put right;
tokens and money; and how long ago something last failed. --measure also asks the memory
what your history shows it should have known (`holdfast eval --own`), which takes a while.

It counts traces, and says what they cannot show. Nothing is sent anywhere."""

EXAMPLES = """\
  holdfast worth
  holdfast worth --days 7 --bank myproject
  holdfast worth --measure
  holdfast worth --json"""


def configure(parser: Parser) -> None:
    parser.option(
        "--days",
        "N",
        f"how far to look back (default: {DEFAULT_DAYS})",
        DEFAULT_DAYS,
        options.days,
    )
    parser.flag("--measure", "also ask what your own history should have led to")
    options.add(parser, "bank_or_all", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        worth = gather_usage(memory, arguments.bank, arguments.days, arguments.measure)
    if arguments.json:
        screen.json(usage_json(worth))
    else:
        _print(screen, worth, arguments.measure)


def _print(screen: Screen, worth: UsageReport, measured: bool) -> None:
    screen.line(f"The last {number(worth.days, 'day')}, bank {worth.bank}", "bold")
    screen.line()
    if not worth.total.injected:
        screen.wrap(
            "Nothing was put into a session. With `holdfast setup` sessions are briefed; "
            "`holdfast brief --log` lists what they were told."
        )
    else:
        _print_injected(screen, worth)
    screen.line()
    corrections = worth.corrections
    counts = (
        (number(corrections.corrected, "record"), "corrected"),
        (number(corrections.forgotten, "record"), "forgotten"),
        (number(corrections.questioned, "fact"), "contradicted by later sessions"),
        (number(corrections.refused, "proposed rule"), "turned down"),
    )
    screen.item(f"put right: {', '.join(f'{count} {what}' for count, what in counts)}")
    _print_cost(screen, worth)
    screen.line(f"last failure: {_failure(worth)}")
    if measured:
        _print_own(screen, worth)
    screen.title("What this cannot claim", "bold")
    for limit in worth.cannot_claim:
        screen.wrap(limit, "  - ", "    ")


def _print_injected(screen: Screen, worth: UsageReport) -> None:
    total = worth.total
    screen.line(
        f"{number(total.injected, 'text')} put into {number(worth.told, 'session')}, "
        f"about {number(worth.tokens, 'token')}"
    )
    heads = ("", "texts", *(name for name in OutcomeCounts._fields[1:]))
    screen.line("".join(f"{head:>10}" for head in heads), "dim")
    for name, outcome in {**worth.kinds, "all": total}.items():
        cells = "".join(f"{count:>10,}" for count in outcome)
        screen.line(f"{name:>10}{cells}")
    judged = total.used + total.ignored + total.wrong
    if judged:
        how = ", ".join(f"{name} {count:,}" for name, count in worth.uses.items())
        screen.line(
            f"of {judged:,} that arrived and were judged, {total.used / judged:.0%} were used"
            + (f" ({how})" if how else "")
        )


def _print_cost(screen: Screen, worth: UsageReport) -> None:
    spent = worth.spent
    if not spent.calls:
        screen.line("model services: none was asked, so nothing was paid")
        return
    unknown = f", and {number(spent.unpriced, 'call')} of unknown price" if spent.unpriced else ""
    screen.line(
        f"model services: {number(spent.calls, 'call')}, {number(spent.tokens, 'token')}, "
        f"${spent.usd:.4f}{unknown}"
    )


def _failure(worth: UsageReport) -> str:
    if worth.failure is None:
        return "none that is known of"
    open_still = " (still to be done)" if worth.failure.open else ""
    return f"{ago(worth.failure.time)}{open_still}: {worth.failure.what}"


def _print_own(screen: Screen, worth: UsageReport) -> None:
    own = worth.own
    if own is None:
        screen.line("your own history gives no questions yet; `holdfast eval --own` says why")
        return
    first, five = own.measures["session_hit@1"], own.measures["session_hit@5"]
    chance = own.chance.get("session_hit@5")
    by_chance = f" (by chance {chance:.2f})" if chance is not None else ""
    screen.item(
        f"asked {number(own.questions, 'request')} of your own history as on its day: the right "
        f"session came first in {first:.2f}, among the first five in {five:.2f}{by_chance}"
    )
