"""The socket on which hooks ask a running server for the brief of a first prompt.

The server of a session opens it at once, and imports little for that. The engine with its model
takes half a second of CPU and a hundred megabytes, so it is loaded for the first prompt that is
worth it. Until then a hook is told to search by words itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.app.core.hook_listener import is_worth_loading
from holdfast.app.core.hook_socket import HookSocket, TakenOver
from holdfast.capture.home_paths import EVENT_VERSION, HomePaths

if TYPE_CHECKING:
    from holdfast.app.briefs.briefing import Briefs
    from holdfast.app.core.backends import DatabaseIdentity
    from holdfast.app.core.context import Context
    from holdfast.settings import Settings


class HookBriefs:
    """Answers hooks from a memory. It is opened in the thread of the socket, with the first prompt
    that is worth it, and opened again when the database was created or replaced."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._context: Context | None = None
        self._briefs: Briefs | None = None
        self._opened_identity: DatabaseIdentity | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._briefs is None and not is_worth_loading(request):
            return {"v": EVENT_VERSION, "error": "not loaded"}
        from holdfast.app.briefs.hook_briefs import reply
        from holdfast.brief.frame import EMPTY_BRIEF

        if request.get("op") != "goal" or not self._settings.brief.goal:
            return reply(EMPTY_BRIEF)
        prompt, folder = str(request["prompt"]), str(request["cwd"])
        return reply(self._open().goal_brief(prompt, folder=folder))

    def _open(self) -> Briefs:
        from holdfast.app.briefs.briefing import Briefs
        from holdfast.app.core.backends import database_identity
        from holdfast.app.core.context import Context
        from holdfast.app.search.recall import Search

        identity = database_identity(self._settings.database)
        if self._briefs is None or identity != self._opened_identity:
            self.close()
            self._context, self._opened_identity = Context(self._settings), identity
            self._briefs = Briefs(self._context, Search(self._context))
        return self._briefs

    def close(self) -> None:
        if self._context is not None:
            self._context.close()


def serve_briefs(settings: Settings, taken: TakenOver | None = None) -> HookSocket | None:
    """Answer hooks in the background, on a socket that is taken over if there is one; None if
    another process does so already, or if hooks were never installed."""
    path = HomePaths(settings.home).socket()
    hook_socket = HookSocket(path, HookBriefs(settings), taken) if path is not None else None
    return hook_socket if hook_socket is not None and hook_socket.start() else None
