"""Where the time and the tokens of a session went, exchange by exchange."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.app.views.session_waterfall import session_waterfall
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.recall.lookup.origins import session_names

router = CheckedRouter(prefix="/sessions")
# Rows of the chart; in a longer session those with most tokens are left.
_MAX_ROWS = 300


@router.get("/{name}/time")
async def session_time(request: PageRequestDep, name: str) -> HTMLResponse:
    """The waterfall of a session."""

    def load(memory: Holdfast) -> Shown:
        found = memory.reader.sessions.named(name)
        if not found:
            raise NotFoundError(
                "There is no such session.", "It may be forgotten, or not read yet."
            )
        session = found[0]
        names = session_names(memory.reader, session.bank, [session.id])
        whole = session_waterfall(memory.reader, session)
        most = sorted(whole.rows, key=lambda row: row.tokens, reverse=True)[:_MAX_ROWS]
        return {
            "title": names.get(session.id) or "A session",
            "session": session,
            "bank": memory.context.bank_name(session.bank),
            "whole": whole,
            "rows": sorted(most, key=lambda row: row.seq),
            "most_tokens": max((row.tokens for row in whole.rows), default=0),
        }

    return request.render("session_time.html", **await request.pool.read(load))
