"""Answers the hook of an edit or of an error: what was decided about the file, or what solved the
error before.

Setup copies this file beside answer.py, which imports it for these events and hands itself over as
`hook`. It imports the standard library alone.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Of the end of an output in which errors are looked for: more would take time and add nothing.
MAX_ERROR_CHARS = 20_000


def answer(hook: Any, home: Any, kind: str, session: str, payload: dict[str, Any]) -> None:
    """Inject what is known about the file or the error of a payload."""
    answers = {"file": answer_edit, "error": answer_error}
    answers[kind](hook, home, session, payload)


def answer_edit(hook: Any, home: Any, session: str, payload: dict[str, Any]) -> None:
    """Inject what was decided about a file that is about to be edited."""
    given: Any = payload.get("tool_input") or {}
    path = given.get("file_path") or given.get("notebook_path") if hook.is_object(given) else ""
    if not isinstance(path, str) or not path or payload.get("agent_id"):
        return
    cwd = str(payload.get("cwd") or "")
    prepared = prepared_triggers(hook, home, cwd)
    known = prepared.get("files", {})
    tail = path.replace("\\", "/")
    while tail:
        if tail in known:
            return inject_trigger(hook, home, "file", session, cwd, prepared, known[tail])
        tail = tail.partition("/")[2]


def answer_error(hook: Any, home: Any, session: str, payload: dict[str, Any]) -> None:
    """Inject what solved an error that was seen before."""
    text, cwd = payload.get("error"), str(payload.get("cwd") or "")
    if not isinstance(text, str) or payload.get("is_interrupt") or payload.get("agent_id"):
        return
    prepared = prepared_triggers(hook, home, cwd)
    known = prepared.get("errors", {})
    for signature in error_signatures(text, prepared["patterns"]) if known else ():
        if signature in known:
            return inject_trigger(hook, home, "error", session, cwd, prepared, known[signature])


def prepared_triggers(hook: Any, home: Any, cwd: str) -> dict[str, Any]:
    """The briefs about files and errors of the bank of a folder; {} where the settings say no."""
    bank = hook.find_bank(home, cwd) if home.brief("settings").get("triggers", True) else ""
    return home.brief(bank + ".triggers") if bank else {}


def inject_trigger(
    hook: Any,
    home: Any,
    event: str,
    session: str,
    cwd: str,
    prepared: dict[str, Any],
    briefs: list[Any],
) -> None:
    """Inject the first brief that this session, if it has an id, did not get yet. If the bank has
    changed since they were made, what they tell may have ended: then a worker makes them again."""
    if hook.bank_revision(home, prepared.get("bank", "")) not in (None, prepared.get("revision")):
        return hook.start_worker(home, is_needed=True)
    path = home.mark(session + ".told")
    try:
        with open(path, encoding="utf-8") as file:
            injected = set(file.read().split())
    except FileNotFoundError:
        injected = set[str]()
    for brief in briefs:
        if session != "none" and brief.get("id") not in injected:
            mark = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
            os.write(mark, (brief["id"] + "\n").encode())
            os.close(mark)
            return hook.inject(home, event, session, cwd, brief)


def error_signatures(text: str, patterns: dict[str, Any]) -> list[str]:
    """The error lines of an output, the last first, without what differs from run to run. The
    patterns come with the prepared briefs, so that both sides use the same."""
    import re

    found: list[str] = []
    for line in reversed(text[-MAX_ERROR_CHARS:].splitlines()):
        if re.search(patterns["says"], line, re.IGNORECASE):
            for pattern, placeholder in patterns["replaced"]:
                line = re.sub(pattern, placeholder, line)
            found.append(line.strip()[: patterns["longest"]])
    return found
