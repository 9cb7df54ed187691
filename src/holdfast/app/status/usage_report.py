"""How the memory was used, for `holdfast worth`: how much context was injected into sessions and
what became of it, what people corrected, what model services cost, and when something last failed.

Only what the records show is counted; `CANNOT_CLAIM` says what they do not show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.status.failures import Failure, recent_failures
from holdfast.learn.decision_state import RETENTION_AUTHOR
from holdfast.model.curation import Action, in_effect, not_restored
from holdfast.model.ledgers.injections import Injection, InjectionUse
from holdfast.model.to_json import to_jsonable
from holdfast.times import add_seconds

DEFAULT_DAYS = 30
_DAY_S = 86400.0
USED_OUTCOMES = (InjectionUse.CITED, InjectionUse.FILE, InjectionUse.WORDING)
# Bounds the query; beyond it, the oldest injections of the days would not be counted.
_MAX_INJECTIONS = 100_000
# A usual estimate for English text and code; no tokenizer of the agent's model is at hand.
_CHARACTERS_PER_TOKEN = 4
# Injections listed on the page.
_MAX_LISTED = 50

CANNOT_CLAIM = (
    "Used means that there is a trace: the text was cited, one of its files was touched, or its "
    "wording was repeated. The agent may have touched that file anyway, and may use a text without "
    "leaving a trace.",
    "Ignored does not mean useless: the session may not have needed the text.",
    "Wrong counts what somebody explicitly contradicted, corrected or forgot. Unnoticed mistakes "
    "are not counted.",
    "Nothing here shows time or money saved: there is no session without memory to compare with.",
    "Injected tokens are estimated as characters divided by four. What your agent's service "
    "charges for them is not known here.",
)


class OutcomeCounts(NamedTuple):
    """How many injections there were, and what became of them. Each is counted in one field."""

    injected: int = 0
    used: int = 0
    ignored: int = 0
    wrong: int = 0
    lost: int = 0
    unjudged: int = 0


class Corrections(NamedTuple):
    """What people changed: records they corrected and forgot, facts that were contradicted, and
    proposed rules they refused."""

    corrected: int = 0
    forgotten: int = 0
    questioned: int = 0
    refused: int = 0


class Spent(NamedTuple):
    """What model services cost; `usd` leaves out the `unpriced` calls."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0


class UsageReport(NamedTuple):
    """The report on some days up to now. `told` counts the sessions with injected context. The
    field names are the keys of the JSON output."""

    bank: str
    since: str
    until: str
    days: int
    told: int
    total: OutcomeCounts
    kinds: dict[str, OutcomeCounts]
    uses: dict[str, int]
    tokens: int
    corrections: Corrections
    spent: Spent
    failure: Failure | None
    hours_since_failure: float | None
    latest: tuple[Injection, ...]
    # What became of what was injected in each week, by its Monday.
    weeks: Mapping[str, OutcomeCounts] = MappingProxyType({})
    cannot_claim: tuple[str, ...] = CANNOT_CLAIM


def gather_usage(
    memory: Holdfast,
    bank: str | None,
    days: int = DEFAULT_DAYS,
    now: str = "",
) -> UsageReport:
    """Add up the last days."""
    until = now or utc_now()
    since = add_seconds(until, -days * _DAY_S)
    id = memory.context.bank_id(bank)
    known = [i for i in memory.inventory.injections(bank, _MAX_INJECTIONS) if i.time >= since]
    last = next(iter(recent_failures(memory, 1)), None)
    kinds = sorted({one.kind.value for one in known})
    return UsageReport(
        bank=memory.context.bank_name(id),
        since=since,
        until=until,
        days=days,
        told=len({one.session for one in known}),
        total=count_outcomes(known),
        kinds={kind: count_outcomes(i for i in known if i.kind.value == kind) for kind in kinds},
        uses=dict(Counter(one.use.value for one in known if _outcome(one) == "used")),
        tokens=_tokens(known),
        corrections=_corrections(memory, id, since),
        spent=_spending(memory, since),
        failure=last,
        hours_since_failure=_hours_between(last.time, until) if last else None,
        latest=tuple(known[:_MAX_LISTED]),
        weeks=_by_week(known),
    )


def _by_week(injections: Iterable[Injection]) -> dict[str, OutcomeCounts]:
    weeks: defaultdict[str, list[Injection]] = defaultdict(list)
    for one in injections:
        day = datetime.fromisoformat(one.time).date()
        weeks[f"{day - timedelta(days=day.weekday())}"].append(one)
    return {week: count_outcomes(some) for week, some in sorted(weeks.items())}


def _tokens(injections: Iterable[Injection]) -> int:
    """About how many tokens the texts have, without those that are known not to have arrived: what
    a session that goes on was told is not settled yet."""
    return sum(count_tokens(one.characters) for one in injections if one.arrived is not False)


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
    if one.use in USED_OUTCOMES:
        return "used"
    return {InjectionUse.IGNORED: "ignored", InjectionUse.CONTRADICTED: "wrong"}.get(
        one.use, "unjudged"
    )


def _corrections(memory: Holdfast, id: str | None, since: str) -> Corrections:
    reader = memory.reader
    banks = [bank.id for bank in reader.banks.all() if id in (None, bank.id)]
    log = [
        one
        for bank in banks
        for one in not_restored(in_effect(reader.curation.log(bank)))
        if one.time >= since and one.who != RETENTION_AUTHOR
    ]
    refused = [one for bank in banks for one in reader.rules.refusals(bank) if one.time >= since]
    opened = [one for one in reader.facts.reviews(id) if one.opened >= since]
    return Corrections(
        corrected=sum(one.action is Action.CORRECT for one in log),
        forgotten=sum(one.action is Action.FORGET for one in log),
        questioned=len({(one.bank, one.target) for one in opened}),
        refused=len(refused),
    )


def _spending(memory: Holdfast, since: str) -> Spent:
    days = [one.spent for one in memory.store.model_calls.spending_by_day(since[:10])]
    return Spent(
        calls=sum(one.calls for one in days),
        tokens=sum(one.tokens for one in days),
        usd=round(sum(one.usd for one in days), 6),
        unpriced=sum(one.unpriced for one in days),
    )


def _hours_between(earlier: str, later: str) -> float:
    passed = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return round(max(0.0, passed.total_seconds() / 3600), 1)


def usage_json(report: UsageReport) -> dict[str, Any]:
    """The report as JSON, without the list of injections."""
    fields = report._asdict()
    del fields["latest"]
    return to_jsonable(fields)
