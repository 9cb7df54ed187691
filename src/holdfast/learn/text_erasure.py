"""Texts and events without the words that are erased."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from holdfast.capture import journal
from holdfast.errors import InputError
from holdfast.model.ledger import SkipReason
from holdfast.model.records import Turn
from holdfast.sources.claude_code.events import session_id
from holdfast.sources.draft import FileInfo
from holdfast.store.protocol.curation import Scrubber

ERASED = "[erased]"
_IN_A_LOG = 8
_SHORTEST = 4
_KEPT_OF_AN_EVENT = ("v", "id", "event", "session", "agent", "time")


class ScrubPattern:
    """What is to be scrubbed: words as they stand, or a regular expression between slashes."""

    def __init__(self, given: str) -> None:
        is_regex = len(given) > 2 and given[0] == given[-1] == "/"
        if not is_regex and len(given) < _SHORTEST:
            raise InputError(
                f"A pattern of less than {_SHORTEST} characters would hit ordinary words.",
                "Give all of it, or a regular expression between slashes.",
            )
        try:
            self._regex = re.compile(given[1:-1] if is_regex else re.escape(given))
        except re.error as error:
            raise InputError(f"This is not a regular expression: {error}.", "Correct it.") from None
        if self._regex.search(""):
            raise InputError("This pattern matches everything.", "Give one that needs something.")
        self._instead = "" if self._regex.search(ERASED) else ERASED

    def __call__(self, text: str) -> str:
        """The text without it."""
        return self._regex.sub(lambda found: self._instead, text)


class TextRemover:
    """Takes the words of turns out of a text, where they stand in it whole."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        said = [word for turn in turns for word in (turn.text, *(turn.tool or ()))]
        self._words = [w for w in said if isinstance(w, str) and len(w) >= _IN_A_LOG]

    def __call__(self, text: str) -> str:
        for word in self._words:
            text = text.replace(word, ERASED)
        return text


class EventEraser:
    """Leaves of an event that told of purged turns no more than that there was one."""

    def __init__(self, turns: Iterable[Turn], sessions: Iterable[str]) -> None:
        turns = list(turns)
        self._sessions = set(sessions)
        self._said = {(turn.session, _plain(turn.text)) for turn in turns if turn.text}
        self._calls = {turn.tool.call for turn in turns if turn.tool is not None} - {""}

    def change(self, event: journal.Event) -> journal.Event:
        """The event as it may stay."""
        session = session_id(event, FileInfo("", "", "", ""))
        told = (session, _plain(str(event.get("text", ""))))
        if session in self._sessions or told in self._said or event.get("call") in self._calls:
            kept = {key: event[key] for key in _KEPT_OF_AN_EVENT if key in event}
            return {**kept, "skip": SkipReason.ERASED.value}
        return event


def _plain(text: str) -> str:
    return " ".join(text.split())


def scrub_json(value: Any, clean: Scrubber) -> Any:
    """A JSON value with a pattern taken out of all its texts."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [scrub_json(item, clean) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {key: scrub_json(item, clean) for key, item in cast(dict[str, Any], value).items()}
    return value
