"""The log of decisions as people read it: the channel each came by, and the text before and after
it, worked out from earlier entries where the log itself does not hold it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.app.curation.rule_proposals import AUTOMATIC_AUTHOR
from holdfast.learn.bank_merge_log import is_bank_merge, read_merge
from holdfast.learn.bank_settings import read_change
from holdfast.learn.decision_state import RETENTION_AUTHOR
from holdfast.learn.rule_writing import read_written
from holdfast.model.curation import Action, Curation, is_agent, person_name
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import parse_uri, uri
from holdfast.store.protocol import Reader

# The channels by which a decision can come.
COMMAND_LINE, AGENTS, AUTOMATIC = "command line", "mcp", "by itself"
# These two are appended in brackets to the author of a decision.
HTTP, BROWSE = "http", "browse"


def name_with_channel(who: str, channel: str) -> str:
    """The author of a decision as the log holds it: a name and the channel it came by."""
    return f"{person_name(who)} ({channel})"


class LogEntry(NamedTuple):
    """A decision, its channel, and the text before and after it; both are "" where the decision
    itself says it all."""

    curation: Curation
    channel: str
    before: str = ""
    after: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            **to_jsonable(self.curation),
            "channel": self.channel,
            "before": self.before,
            "after": self.after,
        }


def channel_of(entry: Curation) -> str:
    """The channel by which a decision came."""
    who, _, suffix = entry.who.rpartition(" (")
    if is_agent(entry.who):
        return AGENTS
    if entry.who in (AUTOMATIC_AUTHOR, RETENTION_AUTHOR):
        return AUTOMATIC
    channel = suffix.removesuffix(")")
    return channel if who and channel in (HTTP, BROWSE) else COMMAND_LINE


def read_log(reader: Reader, bank: str) -> list[LogEntry]:
    """The whole log of a bank, oldest first."""
    entries: dict[str, LogEntry] = {}
    corrections: dict[str, list[Curation]] = {}
    for entry in reader.curation.log(bank):
        before, after = "", ""
        if entry.action is Action.UNDO and entry.target in entries:
            undone = entries[entry.target]
            before, after = undone.after, undone.before
            known = corrections.get(undone.curation.target, [])
            if undone.curation in known:
                known.remove(undone.curation)
        elif entry.action is Action.CORRECT:
            known = corrections.setdefault(entry.target, [])
            before = known[-1].text if known else _original_text(reader, entry)
            after = entry.text
            known.append(entry)
        else:
            before, after = _before_and_after(entry)
        entries[str(entry.seq)] = LogEntry(entry, channel_of(entry), before, after)
    return list(entries.values())


def _original_text(reader: Reader, entry: Curation) -> str:
    """The text of a record before its first correction."""
    named = parse_uri(entry.target)
    known = reader.curation.state(entry.bank, named.kind, named.id) if named else None
    return known.was if known is not None else ""


def _before_and_after(entry: Curation) -> tuple[str, str]:
    if entry.action is Action.SET:
        was, now = read_change(entry.text)
        return _format_fields(was), _format_fields(now)
    if entry.action in (Action.WRITE, Action.APPROVE):
        written = read_written(entry)
        return "", f"{written.path}\n{written.text}".strip() if written else entry.text
    if is_bank_merge(entry):
        return _bank_merge(entry)
    if entry.action in (Action.MERGE, Action.TEACH, Action.JUDGE):
        return "", entry.text
    return "", ""


def _bank_merge(entry: Curation) -> tuple[str, str]:
    """The bank that was merged, and into which bank and why."""
    merge = read_merge(entry)
    reason = f": {merge.reason}" if merge.reason else ""
    return f"{merge.bank.name} ({merge.bank.id})", f"in {uri('bank', merge.into)}{reason}"


def _format_fields(fields: dict[str, Any]) -> str:
    lines = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in fields.items()
    ]
    return "\n".join(lines)


def read_logs(reader: Reader, banks: Sequence[str]) -> list[LogEntry]:
    """The logs of several banks as one, the latest first."""
    found = [one for bank in banks for one in read_log(reader, bank)]
    return sorted(found, key=lambda one: -one.curation.seq)
