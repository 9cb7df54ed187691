"""The status of a memory as JSON, for `holdfast status --json` and the REST API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.app.memory import Holdfast
from holdfast.app.status.costs import Costs
from holdfast.app.status.memory_status import CoreStatus, gather_status
from holdfast.model.ledgers.model_calls import Spending
from holdfast.model.to_json import to_jsonable
from holdfast.settings import NO_MODEL

JsonObject = dict[str, Any]
# The keys of the numbers of records, in the order of the output.
_COUNTED = (
    "sessions turns exchanges digests commits facts memories opinions shared imported "
    "raw_bytes l1_bytes"
).split()


def status_json(
    memory: Holdfast, bank: str | None, folder: Path | None, whole_cost: bool
) -> JsonObject:
    """Whether capture works, what is remembered, and the account of every input line."""
    status = gather_status(memory, bank, folder)
    core, health = status.core, status.core.health
    last_event = (
        health.last_event if core.bank_id is None else memory.reader.sessions.last_end(core.bank_id)
    )
    return to_jsonable(
        {
            "bank": memory.context.bank_name(core.bank_id),
            **_contents(core),
            "stale_sessions": status.outdated.unfinished,
            "cost": cost_json(status.costs, whole_cost),
            "older": status.outdated,
            "providers": {
                "use": memory.settings.providers.use,
                "failing": status.failing_providers,
            },
            "capture": core.verdict,
            "worker": {"running": health.worker.running, "pid": health.worker.pid},
            "last_event": last_event or None,
            "last_ingest": health.last_ingest or None,
            "waiting": {"events": health.inbox.events, "bytes": health.inbox.bytes},
            "chores": health.failed_tasks,
            "disk": health.disk,
            "archive": health.archive,
            "gone": {"files": health.gone[0], "lines_kept": health.gone[1]},
        }
    )


def _contents(core: CoreStatus) -> JsonObject:
    counts, balance = core.counts, core.balance
    return {
        "home": core.home,
        "banks": [{"id": bank.id, "name": bank.name} for bank in core.banks],
        **{name: getattr(counts, name) for name in _COUNTED},
        "memories": counts.memories + counts.retained,
        "ledger": {
            **to_jsonable(balance),
            "skipped": balance.skipped or {},
            "redacted": balance.redacted or {},
            "balanced": core.is_balanced,
        },
    }


def cost_json(costs: Costs, whole: bool) -> JsonObject:
    """What model services cost: today only, or the whole account. `usd` is null if no call has a
    known price."""
    today = costs.today
    summary: JsonObject = {
        "model": None if costs.service == NO_MODEL else costs.service,
        "tokens": today.tokens,
        "usd": _usd(today),
        "held": costs.held or None,
        "waiting": costs.waiting,
    }
    if not whole:
        return summary
    names = ("day", "operation", "service", "model")
    days = [
        {name: getattr(one, name) for name in names} | _spending(one.spent) for one in costs.days
    ]
    return {
        **summary,
        "caps": costs.caps,
        "today": _spending(today),
        "days": days,
        "pauses": costs.pauses,
        "troubled": costs.troubled,
        "prices_as_of": costs.prices_as_of,
    }


def _usd(spending: Spending) -> float | None:
    return None if spending.unpriced and not spending.usd else round(spending.usd, 6)


def _spending(spending: Spending) -> JsonObject:
    return {**spending._asdict(), "usd": _usd(spending)}
