"""Hand-made exchanges whose groups are known, for tests of concepts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.model.records import Exchange, ExchangeType, Outcome
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.items import Item, exchange_item

BANK = "1111aaaa1111aaaa"


def work(
    day: int,
    title: str,
    files: Sequence[str] = (),
    keywords: Sequence[str] = (),
    summary: str = "",
    session: str = "",
    facts: Sequence[str] = (),
    turns: int = 4,
    trust: Trust = Trust.ASSISTANT,
) -> Exchange:
    """One exchange at noon of a day, in a session of its own unless one is named."""
    time = f"2026-{1 + day // 28:02}-{1 + day % 28:02}T12:00:00.000Z"
    return Exchange(
        BANK, f"x{day:03}", session or f"s{day:03}", 1, turns, time, time, ExchangeType.BUGFIX,
        title, summary or f"{title}, and it works now.", "", Outcome.DONE, trust, tuple(facts),
        tuple(keywords), (), tuple(files),
    )  # fmt: skip


IMPORTS = [
    work(0, "Nightly import retries after a timeout", ["jobs/nightly_import.py"],
         ["nightly", "import", "retries", "timeout"]),
    work(3, "Back off longer between nightly import retries", ["jobs/nightly_import.py"],
         ["nightly", "import", "backoff", "retries"]),
    work(6, "The nightly import retries forever on a locked table",
         ["jobs/nightly_import.py", "jobs/backoff.py"], ["nightly", "import", "lock", "retries"]),
]  # fmt: skip
BUTTONS = [
    work(1, "REST button daily limit is ignored", ["scripts/ui.js"],
         ["REST", "button", "rest_used", "daily"]),
    work(4, "REST button daily limit must reset at midnight", ["scripts/ui.js", "scripts/state.js"],
         ["REST", "button", "daily", "limit", "midnight"]),
    work(7, "Show the REST button daily limit in the tooltip", ["scripts/ui.js"],
         ["REST", "button", "tooltip", "daily", "limit"]),
]  # fmt: skip
OTHERS = [
    work(2, "What does the licence of the font allow?", [], ["font", "licence"]),
    work(
        5, "Draw the harbour map in colour", ["maps/harbour.svg", "README.md"], ["harbour", "map"]
    ),
]


def build_concepts(exchanges: Iterable[Exchange]) -> ConceptBuilder:
    """The concepts of exchanges, which are sorted by time first."""
    items = sorted((exchange_item(x) for x in exchanges), key=lambda item: item.order)
    return ConceptBuilder(items)


def members(builder: ConceptBuilder) -> list[list[str]]:
    """The ids of the members of each concept that is shown."""
    return [[item.uri.rpartition("/")[2] for item in builder.members(g)] for g in builder.groups]


def ids(exchanges: Iterable[Exchange]) -> list[str]:
    """The ids of exchanges."""
    return [x.id for x in exchanges]


def item_of(exchange: Exchange) -> Item:
    """The item of an exchange."""
    item = exchange_item(exchange)
    assert item.uri == uri("exchange", exchange.id)
    return item
