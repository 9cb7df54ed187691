"""The log of decisions as people read it: the channel each came by, what it is about, and the text
before and after it, worked out from earlier entries where the log itself does not hold it."""

from __future__ import annotations

import json
from typing import Annotated, Any

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.curation.rules import AUTOMATIC_AUTHOR
from holdfast.app.memory import Holdfast
from holdfast.framed_text import one_line, quote
from holdfast.language import truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.bank_merge_log import is_bank_merge, read_merge
from holdfast.learn.bank_settings import read_change
from holdfast.learn.decision_state import RETENTION_AUTHOR, independently_undoable
from holdfast.learn.rule_writing import read_written
from holdfast.model.curation import Action, Curation, is_agent
from holdfast.model.uris import SCHEME, parse_uri, uri
from holdfast.operations.catalogue import hidden_text
from holdfast.operations.operation import Arg, operation
from holdfast.operations.paging import paginate
from holdfast.operations.parameters import MAX_QUESTION, AnyBank, Cursor, Limit
from holdfast.operations.screen import Screen, minute
from holdfast.principal import Level
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.path import describe_record
from holdfast.store.protocol import Reader

# The channels by which a decision can come. The last two are appended in brackets to its author.
COMMAND_LINE, AGENTS, AUTOMATIC = "command line", "mcp", "by itself"
HTTP, BROWSE = "http", "browse"
_MAX_TEXT = 100


class LoggedDecision(NamedTuple):
    """A decision, the channel by which it came, and the text before and after it. `title` is that
    of its record ("" if that is hidden and was not forgotten here), `undone` whether it was undone,
    `can_undo` whether it can be: nothing later depends on it."""

    seq: int
    bank: str
    time: str
    action: Action
    target: str
    text: str
    who: str
    channel: str
    before: str
    after: str
    title: str
    undone: bool
    can_undo: bool


class DecisionPage(NamedTuple):
    """Some of the log of decisions, the latest first."""

    decisions: tuple[LoggedDecision, ...]
    cursor: str | None


def decision_text(entry: Curation | LoggedDecision) -> str:
    """A decision on one line."""
    text = truncate(entry.text, _MAX_TEXT)
    said = f": {quote(text)}" if text else ""
    head = f"{minute(entry.time)} {one_line(entry.who)}: {entry.action.value}"
    return f"{head} {entry.target}{said}"


def print_decisions(screen: Screen, page: DecisionPage, **_: object) -> None:
    """Print decisions, one a line."""
    for one in page.decisions:
        screen.item(f"{one.seq}. {decision_text(one)}")
    if not page.decisions:
        screen.line("No decisions.")


@operation("decisions", Level.READ, text=print_decisions, examples="  holdfast decisions --limit 5")
def decisions(
    memory: Holdfast,
    words: Annotated[
        str, Arg("only decisions that have all of these words", metavar="WORDS", most=MAX_QUESTION)
    ] = "",
    bank: AnyBank = ALL_BANKS,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> DecisionPage:
    """List the decisions about records

    Who changed what, by which interface, with the text before and after; the latest first. `undo`
    takes back the latest, or those with a number."""
    log = [one for id in memory.context.bank_ids(bank) for one in _read_log(memory.reader, id)]
    wanted = [
        one
        for one in log
        if all(w in f"{one.action} {one.target} {one.text}".lower() for w in words.lower().split())
    ]
    page, more = paginate(wanted, lambda one: (one.seq, one.bank), limit, cursor)
    return DecisionPage(tuple(one._replace(title=_title(memory, one)) for one in page), more)


def _read_log(reader: Reader, bank: str) -> list[LoggedDecision]:
    """The whole log of a bank, oldest first."""
    log = reader.curation.log(bank)
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    can_undo = {entry.seq for entry in independently_undoable(log)}
    read: dict[str, LoggedDecision] = {}
    corrections: dict[str, list[int]] = {}
    for entry in log:
        if entry.action is Action.UNDO and entry.target in read:
            before, after = read[entry.target].after, read[entry.target].before
            known = corrections.get(read[entry.target].target, [])
            if int(entry.target) in known:
                known.remove(int(entry.target))
        elif entry.action is Action.CORRECT:
            known = corrections.setdefault(entry.target, [])
            before = read[str(known[-1])].text if known else _original_text(reader, entry)
            after = entry.text
            known.append(entry.seq)
        else:
            before, after = _before_and_after(entry)
        read[str(entry.seq)] = LoggedDecision(
            entry.seq, entry.bank, entry.time, entry.action, entry.target, entry.text, entry.who,
            _channel_of(entry), before, after, "", str(entry.seq) in undone, entry.seq in can_undo,
        )  # fmt: skip
    return list(read.values())


def _channel_of(entry: Curation) -> str:
    """The channel by which a decision came."""
    who, _, suffix = entry.who.rpartition(" (")
    if is_agent(entry.who):
        return AGENTS
    if entry.who in (AUTOMATIC_AUTHOR, RETENTION_AUTHOR):
        return AUTOMATIC
    channel = suffix.removesuffix(")")
    return channel if who and channel in (HTTP, BROWSE) else COMMAND_LINE


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
        merge = read_merge(entry)
        reason = f": {merge.reason}" if merge.reason else ""
        return f"{merge.bank.name} ({merge.bank.id})", f"in {uri('bank', merge.into)}{reason}"
    return "", entry.text if entry.action in (Action.MERGE, Action.TEACH, Action.JUDGE) else ""


def _format_fields(fields: dict[str, Any]) -> str:
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in fields.items()
    )


def _title(memory: Holdfast, entry: LoggedDecision) -> str:
    named = parse_uri(entry.target) if entry.target.startswith(SCHEME) else None
    if named is not None and named.kind == "bank":
        return f"the bank {memory.context.bank_name(named.id)}"
    record = find_by_uri(memory.reader, entry.bank, entry.target) if named else None
    if record is not None or named is None or entry.action is not Action.FORGET:
        return describe_record(record)[0] if record else ""
    known = memory.store.curation.state(entry.bank, named.kind, named.id)
    if known is None or not known.is_hidden:
        return ""
    return known.text or known.was or hidden_text(memory.store, entry.bank, entry.target)
