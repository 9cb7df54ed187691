"""What people typed that no brief knows yet: their prompts in the inbox, and in the journals that
`capture.unread_mark` names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from holdfast.capture import inbox, journal
from holdfast.capture.home_paths import HomePaths
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.refine.core.banks import Banks
from holdfast.refine.hooks.payloads import JournalLineBuilder, read_payload
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.sources.claude_code.events import PROMPT_EVENT
from holdfast.sources.json_fields import Record, string
from holdfast.times import format_time

# Of a session that goes on, what is older was read after an earlier event.
_RECENT = timedelta(hours=1)


class UnreadPrompt(NamedTuple):
    """What a person typed, redacted, and when."""

    time: str
    text: str


def read_unread(
    paths: HomePaths,
    banks: Banks,
    rules: PrivacyRules,
    events: Collection[str],
    sessions: Iterable[str],
    now: str,
) -> list[UnreadPrompt]:
    """The prompts of people in the inbox' events with these names, and of the last hour in the
    journals of these sessions, in the order of time."""
    builder = JournalLineBuilder(paths, banks, rules)
    lines = [
        builder.build(raw, read_payload(raw))
        for folder in inbox.inbox_folders(paths)
        for raw in inbox.list_events(folder).events
        if raw.path.name in events
    ]
    since = format_time(datetime.fromisoformat(now) - _RECENT)
    lines += (line for session in sessions for line in _journal_lines(paths, session, since))
    # An event can be in the inbox and in a journal at once.
    found = {string(line, "id"): line for line in lines if _is_by_person(line)}
    prompts = (UnreadPrompt(string(line, "at"), string(line, "text")) for line in found.values())
    return sorted(prompts)


def _journal_lines(paths: HomePaths, session: str, since: str) -> Iterator[Record]:
    for line in journal.read(paths.journal(session)):
        if string(line, "event") == PROMPT_EVENT and string(line, "time") >= since:
            yield line


def _is_by_person(line: Record) -> bool:
    is_typed = string(line, "role") == Role.USER.value and not string(line, "speaker")
    return is_typed and string(line, "trust") == Trust.USER.value
