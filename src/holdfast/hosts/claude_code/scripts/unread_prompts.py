"""Adds to the brief of a session what people laid down moments ago, in other sessions of the same
project whose prompts are in no brief yet.

Setup copies this file beside answer.py, which imports it only if there are such prompts. It imports
the standard library alone; what the prompts lay down is found by the installed package.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def of_project(
    home: Any,
    cwd: str,
    events: list[str],
    sessions: list[str],
    find_bank: Callable[[Any, str], str],
    read_json: Callable[[bytes], Any],
) -> tuple[list[str], list[str]]:
    """The events of the inbox, and the sessions with journals, that are of the project of a
    folder."""
    projects: dict[str, str] = {}

    def project(folder: str) -> str:
        if folder not in projects:
            projects[folder] = find_bank(home, folder) or top_folder(folder)
        return projects[folder]

    def is_here(path: str) -> bool:
        try:
            with open(path, "rb") as file:
                folder = read_json(file.readline()).get("cwd")
        except (OSError, ValueError, AttributeError):
            return False
        return isinstance(folder, str) and project(folder) == project(cwd)

    journals = os.path.join(home.folder, "events")
    return (
        [name for name in events if is_here(os.path.join(home.inbox, name))],
        [id for id in sessions if is_here(os.path.join(journals, f"{id}.jsonl"))],
    )


def top_folder(folder: str) -> str:
    """The repository of a folder that no session was in yet; the folder itself if it is in none."""
    top = os.path.normpath(folder)
    while not os.path.exists(os.path.join(top, ".git")):
        above = os.path.dirname(top)
        if above == top:
            return os.path.normpath(folder)
        top = above
    return top


def with_rules(brief: dict[str, Any], said: dict[str, Any], most: int) -> dict[str, Any]:
    """A brief of at most `most` characters, with what was said before its first group; as it was if
    it tells that already."""
    text = brief.get("text") or ""
    if not text:
        return {"v": 1, **said["alone"]}
    head, gap, rest = text.partition("\n\n")
    lines = [line for words, line in said["rules"] if words not in text]
    while lines:
        group = "\n".join((said["heading"], *lines))
        if gap and len(text) + len(group) + len(gap) <= most:
            return {**brief, "text": f"{head}\n\n{group}\n\n{rest}"}
        del lines[0]
    return brief
