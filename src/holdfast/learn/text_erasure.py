"""Remove erased text from strings, JSON values and hook events. Records are in `erasure`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from holdfast.capture import journal
from holdfast.errors import InputError
from holdfast.language import collapse_spaces
from holdfast.model.ledgers.lines import SkipReason
from holdfast.model.records import Turn
from holdfast.sources.claude_code.events import describe_session
from holdfast.sources.draft import FileInfo
from holdfast.store.across_tables.erasure import Scrubber

ERASED = "[erased]"
# A shorter text of a turn ("ok") is not removed from the log: it is everywhere, and tells nothing.
_MIN_LOG_TEXT_CHARS = 8
# A shorter pattern would hit ordinary words.
_MIN_PATTERN_CHARS = 4
_KEPT_EVENT_FIELDS = ("v", "id", "event", "session", "agent", "time")


class ScrubPattern:
    """What is scrubbed: a literal text, or a regular expression between slashes. Called with a
    text, returns it without the matches."""

    def __init__(self, given: str) -> None:
        is_regex = len(given) > 2 and given[0] == given[-1] == "/"
        if not is_regex and len(given) < _MIN_PATTERN_CHARS:
            raise InputError(
                f"A pattern of less than {_MIN_PATTERN_CHARS} characters would hit ordinary words.",
                "Give all of it, or a regular expression between slashes.",
            )
        try:
            self._regex = re.compile(given[1:-1] if is_regex else re.escape(given))
        except re.error as error:
            raise InputError(f"This is not a regular expression: {error}.", "Correct it.") from None
        if self._regex.search(""):
            raise InputError(
                "This pattern matches everything.", "Give one that does not match the empty text."
            )
        self._replacement = "" if self._regex.search(ERASED) else ERASED

    def __call__(self, text: str) -> str:
        """The text with each match replaced."""
        return self._regex.sub(lambda found: self._replacement, text)


class TextRemover:
    """Removes the texts of turns from a text, where it contains them whole."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        values = [value for turn in turns for value in (turn.text, *(turn.tool or ()))]
        self._texts = [v for v in values if isinstance(v, str) and len(v) >= _MIN_LOG_TEXT_CHARS]

    def __call__(self, text: str) -> str:
        for erased in self._texts:
            text = text.replace(erased, ERASED)
        return text


class EventEraser:
    """Reduces hook events of purged turns to the fact that there was an event."""

    def __init__(self, turns: Iterable[Turn], sessions: Iterable[str]) -> None:
        turns = list(turns)
        self._sessions = set(sessions)
        self._texts = {(turn.session, collapse_spaces(turn.text)) for turn in turns if turn.text}
        self._calls = {turn.tool.call for turn in turns if turn.tool is not None} - {""}

    def change(self, event: journal.Event) -> journal.Event:
        """The event without its content if it belongs to a purged turn; else unchanged."""
        session = describe_session(event, FileInfo("", "", "", "")).id
        text = (session, collapse_spaces(str(event.get("text", ""))))
        if session in self._sessions or text in self._texts or event.get("call") in self._calls:
            kept = {key: event[key] for key in _KEPT_EVENT_FIELDS if key in event}
            return {**kept, "skip": SkipReason.ERASED.value}
        return event


def scrub_json(value: Any, clean: Scrubber) -> Any:
    """A JSON value with all its strings cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [scrub_json(item, clean) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {key: scrub_json(item, clean) for key, item in cast(dict[str, Any], value).items()}
    return value
