"""What the memory was worth, as far as its own ledgers show it: how often something was put into a
session and what came of that, what people put right, what it took, and when something last failed.

Only traces are counted here, and what they cannot show is said with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.status.failures import Failure, recent_failures
from holdfast.learn.decision_state import RETENTION_AUTHOR, in_effect
from holdfast.model.curation import Action
from holdfast.model.injections import Injection, InjectionUse
from holdfast.model.knowledge import Review
from holdfast.model.to_json import to_jsonable
from holdfast.recall.core.plan import Plan

DEFAULT_DAYS = 30
USED_OUTCOMES = (InjectionUse.CITED, InjectionUse.FILE, InjectionUse.WORDING)
_MOST = 100_000
_CHARACTERS_PER_TOKEN = 4
_ASKED = 50

CANNOT_CLAIM = (
    "Used means that a trace was left: an address was cited, one of its files was touched, or its "
    "words were taken up. The agent may have touched that file anyway, and may use what leaves no "
    "trace.",
    "Ignored does not mean useless: what a session did not need is ignored too.",
    "Wrong is what somebody contradicted in plain words, corrected or forgot. More was wrong than "
    "people said.",
    "Nothing here shows time or money saved: there is no session without memory to compare with.",
    "Tokens put into sessions are characters divided by four; what they cost is between you and "
    "the agent's service, and not known here.",
)


class OutcomeCounts(NamedTuple):
    """What became of the injections of an occasion, each counted once."""

    injected: int = 0
    used: int = 0
    ignored: int = 0
    wrong: int = 0
    lost: int = 0
    unjudged: int = 0


class Corrections(NamedTuple):
    """What people put right: records said anew and left out, facts that something speaks against,
    rules that were turned down."""

    corrected: int = 0
    forgotten: int = 0
    questioned: int = 0
    refused: int = 0


class Spent(NamedTuple):
    """What model services took; `usd` has no calls in it whose price nobody knows."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0


class UsageReport(NamedTuple):
    """All of it for some days up to now. `told` sessions had something put into them, by the
    agent's own ids; `own` is what `eval --own` measured, where that was asked for."""

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
    own: Any = None
    cannot_claim: tuple[str, ...] = CANNOT_CLAIM


def gather_usage(
    memory: Holdfast,
    bank: str | None,
    days: int = DEFAULT_DAYS,
    measure: bool = False,
    now: str = "",
) -> UsageReport:
    """Add up the last days; `measure` also asks the memory what it once did not know yet."""
    until = now or utc_now()
    since = days_before(until, days)
    id = memory.context.bank_id(bank)
    known = [i for i in memory.inventory.injections(bank, _MOST) if i.time >= since]
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
        uses=dict(
            Counter(one.use.value for one in known if one.arrived and one.use in USED_OUTCOMES)
        ),
        tokens=sum(one.characters for one in known if one.arrived) // _CHARACTERS_PER_TOKEN,
        corrections=_corrections(memory, id, since),
        spent=_spent(memory, since),
        failure=last,
        hours_since_failure=_hours(last.time, until) if last else None,
        latest=tuple(known[:_ASKED]),
        own=_own(memory, id) if measure else None,
    )


def days_before(moment: str, days: int) -> str:
    """The same time of an earlier day, spelled alike."""
    then = datetime.fromisoformat(moment) - timedelta(days=days)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def count_outcomes(injections: Iterable[Injection]) -> OutcomeCounts:
    """Count each in one place: what did not arrive was neither used nor ignored."""
    found = Counter(map(_fate, injections))
    return OutcomeCounts(found.total(), *(found[name] for name in OutcomeCounts._fields[1:]))


def _fate(one: Injection) -> str:
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
    banks = [bank.id for bank in reader.banks() if id in (None, bank.id)]
    log = [
        one
        for bank in banks
        for one in in_effect(reader.curations(bank))
        if one.time >= since and one.who != RETENTION_AUTHOR
    ]
    refused = [one for bank in banks for one in reader.refusals(bank) if one.time >= since]
    opened = [one for one in reader.reviews(id) if one.opened >= since]
    return Corrections(
        corrected=sum(one.action is Action.CORRECT for one in log),
        forgotten=sum(one.action is Action.FORGET for one in log),
        questioned=len(distinct(opened)),
        refused=len(refused),
    )


def distinct(reviews: Iterable[Review]) -> set[tuple[str, str]]:
    """The records that reviews ask about."""
    return {(one.bank, one.target) for one in reviews}


def _spent(memory: Holdfast, since: str) -> Spent:
    days = [one.spent for one in memory.store.spending_by_day(since[:10])]
    return Spent(
        calls=sum(one.calls for one in days),
        tokens=sum(one.tokens for one in days),
        usd=round(sum(one.usd for one in days), 6),
        unpriced=sum(one.unpriced for one in days),
    )


def _hours(moment: str, now: str) -> float:
    passed = datetime.fromisoformat(now) - datetime.fromisoformat(moment)
    return round(max(0.0, passed.total_seconds() / 3600), 1)


def _own(memory: Holdfast, id: str | None) -> Any:
    """What `eval --own` gives for a few questions; None where the history gives none."""
    from holdfast.app.evaluation import own, replay, sets

    questions = own.find_questions(memory.reader, id).questions
    if not questions:
        return None
    return replay.replay(memory, sets.sample_evenly(questions, _ASKED), Plan())


def usage_json(worth: UsageReport) -> dict[str, Any]:
    """The same for programs."""
    own = worth.own
    measured = own and {"questions": own.questions, **own.measures, "chance": own.chance}
    told = worth._replace(latest=(), own=None)._asdict()
    del told["latest"]
    told |= {"total": worth.total._asdict(), "own": measured}
    told |= {"kinds": {kind: fate._asdict() for kind, fate in worth.kinds.items()}}
    told |= {"corrections": worth.corrections._asdict(), "spent": worth.spent._asdict()}
    told |= {"failure": worth.failure._asdict() if worth.failure else None}
    return to_jsonable(told)
