"""The first page: a question, the latest sessions, whether capture works, and what waits."""

from __future__ import annotations

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import current_folder, gather_health, judge_capture
from holdfast.app.views.review_queue import waiting_counts
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.pages.page_request import Shown
from holdfast.recall.lookup.origins import names_of_listed
from holdfast.store.records.sessions import SessionFilter

_LATEST_SESSIONS = 8
_RECENT_QUESTIONS = 5


def load_home(memory: Holdfast) -> Shown:
    """What the first page shows."""
    reader = memory.reader
    sessions = reader.sessions.page(SessionFilter(), _LATEST_SESSIONS)
    banks = reader.banks.all()
    asked = sessions_of(memory.settings)
    verdict = None
    # Health is for those who see every bank.
    if principal().banks is None:
        pending = memory.inventory.balance(ALL_BANKS).pending
        verdict = judge_capture(gather_health(memory, current_folder()), pending)
    return {
        "banks": banks,
        "names": {bank.id: bank.name for bank in banks},
        "sessions": sessions,
        "called": names_of_listed(reader, sessions),
        "waits": waiting_counts(memory),
        "verdict": verdict,
        "recent": [asked.summary(id) for id in asked.ids()[:_RECENT_QUESTIONS]],
    }
