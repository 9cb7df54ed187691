"""The file that names the sessions with prompts in their journals that no brief knows yet.

Who empties the inbox writes it, who makes the briefs removes it. So a hook that finds no such file
and no prompt in the inbox knows that the prepared brief has everything that people said.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from holdfast.capture.home_paths import HomePaths


def mark_unread(paths: HomePaths, sessions: Iterable[str]) -> None:
    """Note that the journals of some sessions have prompts that no brief knows, if that can be
    noted."""
    known = unread_sessions(paths)
    new = [session for session in sessions if session not in known]
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with suppress(OSError):
        for session in new:
            file = os.open(paths.unread_prompts, flags, 0o600)
            os.write(file, f"{session}\n".encode())
            os.close(file)


def unread_sessions(paths: HomePaths) -> list[str]:
    """The sessions whose journals have prompts that no brief knows."""
    try:
        return paths.unread_prompts.read_text("utf-8").split()
    except OSError:
        return []


def clear_unread(paths: HomePaths) -> None:
    """Note that the briefs have what the journals have."""
    with suppress(OSError):
        paths.unread_prompts.unlink()
