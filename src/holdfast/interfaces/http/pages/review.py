"""The review queue: proposed rules, contradictions and agents' memories, with the forms that decide
about them; and lists of redacted secrets and of records about changed code."""

from __future__ import annotations

from typing import Any

from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.forms import Look
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown, ask
from holdfast.interfaces.http.pages.record import refs
from holdfast.operations.decisions.reviews import ReviewedFact, Reviews
from holdfast.operations.decisions.rules import RuleCandidate
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/review")
RULES, FACTS, AGENTS, SECRETS, STALE = "rules", "facts", "agents", "secrets", "stale"
TABS = {
    RULES: "Rules",
    FACTS: "Contradictions",
    AGENTS: "From agents",
    SECRETS: "Secrets",
    STALE: "Stale code",
}
# Entries of each list; older ones are left out, not lost.
_MAX_SHOWN = 100


@router.get("")
async def review(request: PageRequestDep, tab: str = "") -> HTMLResponse:
    """One tab of the queue; by default the first one that is not empty."""
    if tab and tab not in TABS:
        raise NotFoundError(f"There is no tab {tab!r}.", f"One of: {', '.join(TABS)}.")
    call = request.call

    def load(memory: Holdfast) -> Shown:
        queue: Reviews = ask(memory, call, "review", all=True)
        waiting = [one for one in queue.reviews if not one.decided]
        rules, lessons = (
            [one for one in queue.rules if one.from_agent is by_agent] for by_agent in (False, True)
        )
        counts = {RULES: len(rules), FACTS: len(waiting), AGENTS: len([*lessons, *queue.memories])}
        audit = {"bank": "all", "limit": _MAX_SHOWN}
        decided = sorted(queue.reviews, key=lambda one: one.decided, reverse=True)
        shown = tab or next((name for name, n in counts.items() if n), "")
        return {
            "tab": shown,
            "counts": counts,
            "rules": [_rule(memory.reader, one) for one in (lessons if shown == AGENTS else rules)],
            "facts": [_fact(memory.reader, one) for one in waiting],
            "memories": queue.memories,
            "decided": [one for one in decided if one.decided][:_MAX_SHOWN],
            "refused": queue.refused[:_MAX_SHOWN] if shown in (RULES, AGENTS) else (),
            "secrets": redacted_files(memory.reader) if tab == SECRETS else (),
            "audit": ask(memory, call, "audit", **audit) if tab == STALE else None,
            "names": memory.context.bank_names(),
        }

    return request.render("review.html", title="Review", tabs=TABS, **await request.pool.read(load))


def _rule(reader: Reader, one: RuleCandidate) -> tuple[RuleCandidate, str, str]:
    """A proposed rule, the id of its bank, and the fingerprint of what approving it does."""
    named = (bank.id for bank in reader.banks.all() if bank.name == one.bank)
    waits = (id for id in named if any(p.id == one.id for p in reader.rules.proposals(id)))
    look = Look("", () if one.diff else (one.reason,), one.diff)
    return one, next(waits, one.bank), look.seen


def _fact(reader: Reader, one: ReviewedFact) -> tuple[ReviewedFact, str, list[Any]]:
    """A question about a fact, the fingerprint of its text, and the records against it."""
    against = list(refs(reader, one.bank, one.evidence))
    return one, Look(one.content).seen, against


def redacted_files(reader: Reader) -> list[tuple[Any, list[tuple[str, int]]]]:
    """The files in which secrets were found, and how many of each kind, never the secrets."""
    counts = ((one, reader.sources.redaction_counts(one.id)) for one in reader.sources.all())
    found = [(one, sorted(kinds.items())) for one, kinds in counts if kinds]
    return sorted(found, key=lambda pair: (-sum(n for _, n in pair[1]), pair[0].path))
