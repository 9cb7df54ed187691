"""How the memory was used, for `holdfast worth`: how much context was injected into sessions, what
became of it, and what model services cost. Only traces in transcripts are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.model.ledgers.injections import Injection, InjectionUse
from holdfast.times import add_seconds

DEFAULT_DAYS = 30
_DAY_S = 86400.0
_USED = (InjectionUse.CITED, InjectionUse.FILE, InjectionUse.WORDING)
# Bounds the query; beyond it, the oldest injections of the days would not be counted.
_MAX_INJECTIONS = 100_000
# A usual estimate for English text and code; no tokenizer of the agent's model is at hand.
_CHARACTERS_PER_TOKEN = 4


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
    the outcomes by occasion, `uses` counts how texts were used. The field names are the keys of the
    JSON output."""

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


def gather_usage(
    memory: Holdfast, bank: str | None, days: int = DEFAULT_DAYS, now: str = ""
) -> UsageReport:
    """Add up the last days."""
    until = now or utc_now()
    since = add_seconds(until, -days * _DAY_S)
    known = [i for i in memory.inventory.injections(bank, _MAX_INJECTIONS) if i.time >= since]
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


def count_tokens(characters: int) -> int:
    """About how many tokens a text of so many characters has."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def count_outcomes(injections: Iterable[Injection]) -> OutcomeCounts:
    """Count the outcomes. What did not arrive is `lost`, and neither used nor ignored."""
    found = Counter(map(_outcome, injections))
    return OutcomeCounts(found.total(), *(found[name] for name in OutcomeCounts._fields[1:]))


def _outcome(one: Injection) -> str:
    if one.arrived is None:
        return "unjudged"
    if not one.arrived:
        return "lost"
    if one.use in _USED:
        return "used"
    return {InjectionUse.IGNORED: "ignored", InjectionUse.CONTRADICTED: "wrong"}.get(
        one.use, "unjudged"
    )
