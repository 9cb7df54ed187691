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
    from holdfast.app.briefs.briefing import BriefAnswerer
    from holdfast.settings import Settings

_NOT_LOADED: dict[str, Any] = {"v": EVENT_VERSION, "error": "not loaded"}


class HookBriefs:
    """Answers hooks, and loads what it needs for that when it is needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loaded: BriefAnswerer | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._loaded is None:
            if not is_worth_loading(request):
                return _NOT_LOADED
            from holdfast.app.briefs.briefing import BriefAnswerer

            self._loaded = BriefAnswerer(self._settings)
        return self._loaded.answer(request)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()


def serve_briefs(settings: Settings, taken: TakenOver | None = None) -> HookSocket | None:
    """Answer hooks in the background, on a socket that is taken over if there is one; None if
    another process does so already, or if hooks were never installed."""
    path = HomePaths(settings.home).socket()
    hook_socket = HookSocket(path, HookBriefs(settings), taken) if path is not None else None
    return hook_socket if hook_socket is not None and hook_socket.start() else None
