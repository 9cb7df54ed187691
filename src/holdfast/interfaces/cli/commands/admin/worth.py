"""`holdfast worth`."""

from __future__ import annotations

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.status.usage_report import DEFAULT_DAYS, OutcomeCounts, UsageReport, gather_usage
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number

HELP = """\
Report how the context injected into sessions was used, and what the memory cost: how often
something was injected, how many tokens it took, whether it was used, ignored or wrong, and
the cost of model services. `holdfast brief --log` lists each text.

Only traces in transcripts are counted. They do not show saved time or money."""

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
        return screen.json(worth)
    screen.line(f"The last {number(worth.days, 'day')}, {describe_bank(worth.bank)}", "bold")
    screen.line()
    if worth.total.injected:
        _print_injected(screen, worth)
    else:
        screen.wrap(
            "Nothing was injected into a session. `holdfast status` shows whether the hooks that "
            "do it are installed."
        )
    spent = worth.spent
    if not spent.calls:
        return screen.line("model services: not used, no cost")
    unknown = f", and {number(spent.unpriced, 'call')} of unknown price" if spent.unpriced else ""
    screen.line(
        f"model services: {number(spent.calls, 'call')}, {number(spent.tokens, 'token')}, "
        f"${spent.usd:.4f}{unknown}"
    )


def _print_injected(screen: Screen, worth: UsageReport) -> None:
    total = worth.total
    each = number(round(worth.tokens / max(1, worth.sessions)), "token")
    screen.wrap(
        f"{number(total.injected, 'text')} injected into {number(worth.sessions, 'session')}: "
        f"about {number(worth.tokens, 'token')}, {each} per session."
    )
    screen.line("".join(f"{head:>10}" for head in ("", "texts", *OutcomeCounts._fields[1:])), "dim")
    for name, outcome in {**worth.kinds, "all": total}.items():
        screen.line(f"{name:>10}{''.join(f'{count:>10,}' for count in outcome)}")
    judged = total.used + total.ignored + total.wrong
    if not judged:
        screen.line("not judged yet: a session is judged after 2 hours without activity")
        return
    how = ", ".join(f"{name} {count:,}" for name, count in worth.uses.items())
    screen.line(
        f"of {judged:,} judged texts, {total.used / judged:.0%} were used" + f" ({how})" * bool(how)
    )
