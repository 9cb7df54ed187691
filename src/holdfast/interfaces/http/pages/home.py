"""The first page: a question, with examples from this memory; what is new since the last visit;
what waits; whether capture works; and the activity of the last weeks."""

from __future__ import annotations

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.core.context import ALL_BANKS, utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import (
    Verdict,
    ago,
    current_folder,
    gather_health,
    judge_capture,
)
from holdfast.app.status.home_view import WEEKS, HomeView, gather_home
from holdfast.app.views.last_visit import note_visit
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.pages.page_request import PageRequest, Shown
from holdfast.interfaces.ui.plots import by_week

_RECENT_QUESTIONS = 5
# The header of a page that brings itself up to date; see `live.js`.
LIVE_HEADER = "x-live"


async def home_view(request: PageRequest) -> Shown:
    """What the first page shows."""
    who, now, questions = principal(), utc_now(), request.questions
    is_refresh = LIVE_HEADER in request.request.headers

    def load(memory: Holdfast) -> Shown:
        since = note_visit(memory.settings.home, who.key, now, is_look=not is_refresh)
        view = gather_home(memory, since, now)
        asked = sessions_of(memory.settings)
        return {
            "home": view,
            # Health is for those who see every bank.
            "verdict": _verdict(memory) if who.banks is None else None,
            "names": {bank.id: bank.name for bank in view.banks},
            "questions": questions.get(memory.reader, who.banks, now),
            "recent": [asked.summary(id) for id in asked.ids()[:_RECENT_QUESTIONS]],
            "plot": by_week(_amounts(view), view.until, WEEKS, "session")
            if view.activity
            else None,
            "ago": ago,
        }

    return await request.pool.read(load)


def _verdict(memory: Holdfast) -> Verdict:
    health = gather_health(memory, current_folder())
    return judge_capture(health, memory.inventory.balance(ALL_BANKS).pending)


def _amounts(view: HomeView) -> dict[tuple[str, str], int]:
    return {(one.day, one.bank): one.sessions for one in view.activity}
