"""The log of decisions for whoever looks back: by which way each came, and what was before and
after it. What is not kept in the log itself is worked out from the entries before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.app.curation.rule_proposals import AUTOMATIC_AUTHOR
from holdfast.app.curation.rule_teaching import AGENT
from holdfast.learn.bank_changes import read_change
from holdfast.learn.decision_state import RETENTION_AUTHOR
from holdfast.learn.written_rules import read_written
from holdfast.model.curation import Action, Curation
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import parse_uri
from holdfast.store.protocol import Reader

COMMAND_LINE, AGENTS, ITSELF = "command line", "mcp", "by itself"
# As they stand in brackets behind a name.
HTTP, BROWSE = "http", "browse"


def named_by(who: str, channel: str) -> str:
    """Somebody, and the way they came by."""
    return f"{who} ({channel})"


class Entry(NamedTuple):
    """A decision, the way it came by, and what was before and after it, as far as that is more
    than the decision itself says."""

    curation: Curation
    channel: str
    before: str = ""
    after: str = ""

    def told(self) -> dict[str, Any]:
        """Ready to be sent."""
        beside = {"channel": self.channel, "before": self.before, "after": self.after}
        return {**to_jsonable(self.curation), **beside}


def channel_of(entry: Curation) -> str:
    """By which way a decision came."""
    who, _, way = entry.who.rpartition(" (")
    if entry.who == AGENT or entry.who.startswith(f"{AGENT} ("):
        return AGENTS
    if entry.who in (AUTOMATIC_AUTHOR, RETENTION_AUTHOR):
        return ITSELF
    given = way.removesuffix(")")
    return given if who and given in (HTTP, BROWSE) else COMMAND_LINE


def entries(reader: Reader, bank: str) -> list[Entry]:
    """The whole log of a bank, oldest first."""
    told: dict[str, Entry] = {}
    corrected: dict[str, list[Curation]] = {}
    for entry in reader.curations(bank):
        before, after = "", ""
        if entry.action is Action.UNDO and entry.target in told:
            undone = told[entry.target]
            before, after = undone.after, undone.before
            known = corrected.get(undone.curation.target, [])
            if undone.curation in known:
                known.remove(undone.curation)
        elif entry.action is Action.CORRECT:
            known = corrected.setdefault(entry.target, [])
            before = known[-1].text if known else _words_of(reader, entry)
            after = entry.text
            known.append(entry)
        else:
            before, after = _both(entry)
        told[str(entry.seq)] = Entry(entry, channel_of(entry), before, after)
    return list(told.values())


def _words_of(reader: Reader, entry: Curation) -> str:
    """What a record said before anybody corrected it."""
    named = parse_uri(entry.target)
    known = reader.curation_state(entry.bank, named.kind, named.id) if named else None
    return known.was if known is not None else ""


def _both(entry: Curation) -> tuple[str, str]:
    if entry.action is Action.SET:
        was, now = read_change(entry.text)
        return _spelled(was), _spelled(now)
    if entry.action in (Action.WRITE, Action.APPROVE):
        written = read_written(entry)
        return "", f"{written.path}\n{written.text}".strip() if written else entry.text
    if entry.action in (Action.MERGE, Action.TEACH):
        return "", entry.text
    return "", ""


def _spelled(fields: dict[str, Any]) -> str:
    told = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in fields.items()
    ]
    return "\n".join(told)


def all_entries(reader: Reader, banks: Sequence[str]) -> list[Entry]:
    """The logs of some banks, the latest first."""
    found = [one for bank in banks for one in entries(reader, bank)]
    return sorted(found, key=lambda one: -one.curation.seq)
