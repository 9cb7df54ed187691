"""`holdfast digest`."""

from __future__ import annotations

from holdfast.app.core.context import describe_bank, utc_now
from holdfast.app.memory import open_memory
from holdfast.app.status.period_digest import (
    EMPTY_TEXT,
    TITLES,
    WEEK,
    PeriodDigest,
    as_markdown,
    digest,
    digest_json,
    read_period,
)
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number, short

HELP = """\
Summarise a week: what was done, decided, learned and left open, and where the memory was wrong
(corrections, contradictions, rejected rules, injected context that was ignored). Each line names
its record, which `holdfast show` opens. Made by rules on request: no model is used and nothing
is sent."""

EXAMPLES = """\
  holdfast digest --week
  holdfast digest --since 2026-10 --until 2026-10 --bank myproject
  holdfast digest --week --md > week.md
  holdfast digest --days 1 --json"""


def configure(parser: Parser) -> None:
    span = parser.add_mutually_exclusive_group()
    span.add_argument("--week", action="store_true", help="the last seven days (default)")
    span.add_argument("--days", type=options.days, metavar="N", help="the last N days")
    span.add_argument("--since", metavar="DATE", default="", help="from this day or month")
    parser.option(
        "--until", "DATE", "with --since: up to the end of this day or month (default: now)"
    )
    options.add_limit(parser, 15, "how many lines in each section (default: {default})")
    options.add(parser, "bank_or_all")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--md", action="store_true", help="print Markdown")
    form.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.until and not arguments.since:
        raise InputError("`--until` needs `--since`.", "Give both.")
    days = arguments.days or WEEK
    since, until = read_period(utc_now(), days, arguments.since, arguments.until)
    with open_memory(create=False) as memory:
        period = digest(memory, arguments.bank, since, until, arguments.limit)
        hint = "" if memory.reader.banks.all() else memory.context.missing_bank_hint()
    if arguments.json:
        screen.json(digest_json(period))
    elif arguments.md:
        screen.line(as_markdown(period).rstrip("\n"))
    else:
        _print(screen, period)
        if hint:
            screen.line()
            screen.wrap(hint)


def _print(screen: Screen, period: PeriodDigest) -> None:
    title = f"{period.since[:10]} to {period.until[:10]}, {describe_bank(period.bank)}"
    screen.line(f"{screen.paint(title, 'bold')}: {number(period.sessions, 'session')}")
    for section in period.sections:
        screen.title(TITLES[section.name], "bold")
        if not section.items:
            screen.wrap(EMPTY_TEXT[section.name], "  ")
        for item in section.items:
            note = f" ({item.note})" if item.note else ""
            screen.wrap(f"{item.time[:10]}  {item.text}{note}", "  ", "              ")
            if item.uri:
                screen.line(f"              {short(item.uri)}", "dim")
        if section.more:
            screen.line(f"  and {section.more:,} more")
    if period.ignored:
        screen.line()
        screen.wrap(
            f"{number(period.ignored, 'injected text')} had no effect; see `holdfast worth`."
        )
