"""How the memory stands, as `status` tells it to programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.app.background.outdated import count_outdated
from holdfast.app.memory import Holdfast
from holdfast.app.status.costs import Costs, gather_costs
from holdfast.app.status.health import Health, Verdict, gather_health, judge_capture
from holdfast.model.ledger import Balance
from holdfast.model.model_calls import Spending
from holdfast.model.to_json import to_jsonable
from holdfast.settings import NO_MODEL, OFF
from holdfast.sources.providers.reliability import ReliabilityFile
from holdfast.store.protocol import Counts

Told = dict[str, Any]


def status_json(memory: Holdfast, bank: str | None, folder: Path | None, whole_cost: bool) -> Told:
    """Whether capture works, what is remembered, and the account of every input line."""
    id = memory.context.bank_id(bank)
    balance = memory.inventory.balance(bank)
    health = gather_health(memory, folder)
    return to_jsonable(
        {
            **_kept(memory, id, memory.inventory.counts(bank), balance),
            "cost": cost_json(gather_costs(memory), whole_cost),
            "older": count_outdated(memory),
            "providers": {
                "use": memory.settings.providers.use,
                "failing": failing_providers(memory),
            },
            **_health(
                health,
                judge_capture(health, balance.pending),
                memory.reader.last_session_end(id),
                id,
            ),
        }
    )


def failing_providers(memory: Holdfast) -> dict[str, str]:
    """The plugins that did not answer when they were last asked, and why."""
    known = (
        ReliabilityFile(memory.settings.home).read() if memory.settings.providers.use != OFF else {}
    )
    return {id: standing.problem for id, standing in known.items() if standing.failures}


def _health(health: Health, verdict: Verdict, last_of_bank: str, id: str | None) -> Told:
    return {
        "capture": verdict,
        "worker": {"running": health.worker.running, "pid": health.worker.pid},
        "last_event": (health.last_event if id is None else last_of_bank) or None,
        "last_ingest": health.last_ingest or None,
        "waiting": {"events": health.inbox.events, "bytes": health.inbox.bytes},
        "chores": health.failed_tasks,
        "disk": health.disk,
        "archive": health.archive,
        "gone": {"files": health.gone[0], "lines_kept": health.gone[1]},
    }


def _kept(memory: Holdfast, id: str | None, counts: Counts, balance: Balance) -> Told:
    return {
        "bank": memory.context.bank_name(id),
        "home": str(memory.settings.home),
        "banks": [{"id": b.id, "name": b.name} for b in memory.reader.banks()],
        "sessions": counts.sessions,
        "turns": counts.turns,
        "exchanges": counts.exchanges,
        "digests": counts.digests,
        "commits": counts.commits,
        "facts": counts.facts,
        "memories": counts.memories + counts.retained,
        "opinions": counts.opinions,
        "shared": counts.shared,
        "imported": counts.imported,
        "raw_bytes": counts.raw_bytes,
        "l1_bytes": counts.l1_bytes,
        "ledger": {
            "files": balance.files,
            "lines": balance.lines,
            "captured": balance.captured,
            "skipped": balance.skipped or {},
            "failed": balance.failed,
            "pending": balance.pending,
            "redacted": balance.redacted or {},
            "problems": list(balance.problems),
            "balanced": balance.accounted + balance.pending == balance.lines,
        },
        "stale_sessions": len(memory.reader.stale_sessions()),
    }


def cost_json(costs: Costs, whole: bool) -> Told:
    """What model services took, in brief or all of it. `usd` is null where no price is known for
    any of it."""
    today = costs.today
    told: Told = {
        "model": None if costs.service == NO_MODEL else costs.service,
        "tokens": today.tokens,
        "usd": _usd(today),
        "held": costs.held or None,
        "waiting": costs.waiting,
    }
    if not whole:
        return told
    days = [
        {
            "day": one.day,
            "operation": one.operation,
            "service": one.service,
            "model": one.model,
            **_spent(one.spent),
        }
        for one in costs.days
    ]
    return {
        **told,
        "caps": costs.caps,
        "today": _spent(today),
        "days": days,
        "pauses": costs.pauses,
        "troubled": costs.troubled,
        "prices_as_of": costs.prices_as_of,
    }


def _usd(spent: Spending) -> float | None:
    return None if spent.unpriced and not spent.usd else round(spent.usd, 6)


def _spent(spent: Spending) -> Told:
    return {**spent._asdict(), "usd": _usd(spent)}
