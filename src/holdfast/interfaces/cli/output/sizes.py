"""`holdfast status --size`, and the line on retention."""

from __future__ import annotations

from holdfast.app.memory import Holdfast
from holdfast.interfaces.cli.screen import Screen, amount, number

# How many tables are listed; the others are added up.
_MAX_TABLES = 12


def show_sizes(screen: Screen, memory: Holdfast, as_json: bool) -> None:
    """Print what takes room on disk, the largest first, and what could be freed."""
    from holdfast.app.status.sizes import measure_sizes

    sizes = measure_sizes(memory)
    if as_json:
        return screen.json(sizes)
    for what, size in sizes.disk._asdict().items():
        screen.line(f"{amount(size):>10}  {what}")
    if sizes.tables:
        on_server = bool(memory.settings.store)
        screen.line(f"in the database, {'and' if on_server else 'with'} their indexes:")
    for name, size in list(sizes.tables.items())[:_MAX_TABLES]:
        screen.line(f"{amount(size):>10}  {name}")
    if (rest := sum(list(sizes.tables.values())[_MAX_TABLES:])) > 0:
        screen.line(f"{amount(rest):>10}  all other tables")
    screen.line("banks: searchable text, and vectors")
    for bank in sorted(sizes.banks, key=lambda one: -one.words):
        kept = f"; retention {bank.retention} months" if bank.retention else ""
        away = f", {number(bank.put_away, 'session')} hidden" if bank.put_away else ""
        screen.line(
            f"{amount(bank.words):>10} {amount(bank.vectors):>10}  {bank.name} "
            f"({number(bank.sessions, 'session')}{away}{kept})"
        )
    if sizes.freeable:
        screen.line("could be freed:")
    for one in sizes.freeable:
        screen.wrap(f"{amount(one.bytes):>10}  {one.what}: {one.how}", "", " " * 12)


def print_retention(screen: Screen, memory: Holdfast) -> None:
    """Print how many old sessions each bank hides; nothing if no bank has a retention."""
    for bank in memory.reader.banks.all():
        if not bank.retention:
            continue
        from holdfast.learn import bank_settings

        away = len(bank_settings.hidden_by_retention(memory.reader, bank.id))
        screen.item(
            f"retention: {bank.name} keeps {number(bank.retention, 'month')}; "
            f"{number(away, 'session')} hidden. `holdfast bank set --bank {bank.name} "
            "--retention all` shows them again; `holdfast forget --purge` erases one permanently"
        )
