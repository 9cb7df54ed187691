"""Triggers: briefs for a file that is about to be edited, or for an error that just occurred.

They are prepared for a whole bank, so that a hook only has to look up a name. They say rather
nothing than something beside the point: of a file only what a person decided with its name, or
while few other files were changed; of an error only one whose cause was stated and that was gone
before its exchange ended. Each is shown at most once a session, which the hook takes care of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from holdfast.brief.decision_versions import latest_versions
from holdfast.brief.frame import Brief, format_day, origin_label, wrap_brief
from holdfast.brief.work_items import (
    WorkItem,
    WorkItems,
    normalise_path,
    select_quotes,
)
from holdfast.framed_text import one_line, quote
from holdfast.language import code_names, sentences
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, Turn
from holdfast.model.team import Commit
from holdfast.recall.core.ended_words import EndedWords, read_ended_words
from holdfast.refine.core.signals import SHELL_TOOLS
from holdfast.refine.facts.error_signatures import error_lines, signature_of
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.times import format_time

Triggers = dict[str, list[Brief]]

# The latest records that are looked at: bounds the time to prepare a bank.
_MAX_RECORDS = 400
# Work that changed more files is about none of them in particular.
_MAX_FILES_OF_ITEM = 3
# Briefs for one file or one error, each an interruption.
_MAX_BRIEFS_EACH = 2
# Older work is left out, counted from the bank's last day.
_MAX_AGE_DAYS = 270
# The quotes of a file's brief.
_MAX_QUOTES = 2
_MAX_QUOTE_CHARACTERS = 420
# Where the cause of an error is looked for: sentences of this length in the start of a turn.
_MIN_SENTENCE, _MAX_SENTENCE = 25, 400
_MAX_TURN = 4000
# A relative path, or a name with an extension of two letters or more: not `v1.2.3`, not `e.g`.
_FILE = regex(
    r"(?:[\w.@()\[\]-]+/)+[\w.()\[\]-]+\.[A-Za-z]\w{0,9}|\w[\w.()\[\]-]*\.[A-Za-z]\w{1,9}"
)
_NAMES_CAUSE = regex(
    r"\b(?:root cause|the (?:real |actual )?(?:problem|issue|bug|cause|reason|culprit) (?:is|was)|"
    r"caused by|turns? out|was due to|the fix (?:is|was)|happens? when|fails? when|because)\b",
    re.IGNORECASE,
)


def file_triggers(reader: Reader, bank: str) -> Triggers:
    """By path, the briefs that are clearly about that file."""
    items = WorkItems(reader, bank)
    since = _oldest_time(reader, bank)
    found: dict[str, list[WorkItem]] = {}
    for record in _recent_work(reader, bank, since):
        item = items.from_record(record)
        about = {file for file in item.changed if _is_about(item, file)}
        for file in sorted(about | _named_files(item)):
            found.setdefault(file, []).append(item)
    return {file: briefs for file, known in found.items() if (briefs := _file_briefs(file, known))}


def _recent_work(reader: Reader, bank: str, since: str) -> Iterable[Exchange | Commit]:
    yield from reader.records.filter(bank, RecordFilter(since=since), _MAX_RECORDS)
    for passage in reader.passages.recent(bank, "commit", _MAX_RECORDS, since):
        if "\n" in passage.body:
            for record in reader.records.find(bank, "commit", passage.id, 1):
                if isinstance(record, Commit):
                    yield record


def _oldest_time(reader: Reader, bank: str) -> str:
    """The time from which on work counts as recent; "" for an empty bank."""
    commits = [passage.time for passage in reader.passages.recent(bank, "commit", 1)]
    last = max([reader.sessions.last_end(bank), *commits])
    if not last:
        return ""
    return format_time(datetime.fromisoformat(last) - timedelta(days=_MAX_AGE_DAYS))


def _is_about(item: WorkItem, file: str) -> bool:
    """Whether an item is about this file, and did not only touch it."""
    outside = file.startswith("/") or file[1:2] == ":"
    if outside or len(item.changed) > _MAX_FILES_OF_ITEM or not item.decided:
        return False
    return len(item.changed) == 1 or any(_names_file(s.sentence, file) for s in item.decided)


def _named_files(item: WorkItem) -> set[str]:
    """The files that the decisions of an item name, changed or not: a rule is often stated before
    anybody touches its file. The hook finds a file by the end of its path."""
    named = (name for one in item.decided for name in code_names(one.sentence))
    files = (normalise_path(name.removeprefix("@")) for name in named)
    return {file for file in files if _FILE.fullmatch(file)}


def _names_file(sentence: str, file: str) -> bool:
    base = file.rpartition("/")[2]
    return base.lower() in sentence.lower() or file in sentence


def _file_briefs(file: str, items: Sequence[WorkItem]) -> list[Brief]:
    latest = sorted(items, key=lambda m: (m.time, m.id), reverse=True)
    return [_file_brief(file, m) for m, _ in latest_versions(latest)[:_MAX_BRIEFS_EACH]]


def _file_brief(file: str, item: WorkItem) -> Brief:
    naming = [one for one in item.decided if _names_file(one.sentence, file)]
    decided = naming or item.decided
    said = select_quotes(decided, most=_MAX_QUOTES, characters=_MAX_QUOTE_CHARACTERS)
    words = " ".join(quote(decision.sentence) for decision in said)
    label = origin_label(item.trust, words, shared_by=item.shared_by)
    lines = (
        f"Holdfast, about {one_line(file)}: decided on {format_day(item.time)}. "
        "Dated evidence that may be outdated; if this edit would undo it, say so first.",
        f"- {one_line(said[0].who)}: {label}{words} ({item.uri})",
    )
    return wrap_brief("file", lines, [item.uri, *(decision.uri for decision in said)])


def error_triggers(reader: Reader, bank: str) -> Triggers:
    """By signature, the briefs for errors that were understood and resolved."""
    found: Triggers = {}
    wanted = RecordFilter(type=ExchangeType.BUGFIX.value)
    resolved = [
        record
        for record in reader.records.filter(bank, wanted, _MAX_RECORDS)
        if isinstance(record, Exchange) and record.outcome is Outcome.DONE
    ]
    ended = read_ended_words(reader, bank, (x.session for x in resolved))
    for exchange in resolved:
        for signature, brief in _error_briefs(reader, exchange, ended):
            known = found.setdefault(signature, [])
            if len(known) < _MAX_BRIEFS_EACH:
                known.append(brief)
    return found


def _error_briefs(reader: Reader, x: Exchange, ended: EndedWords) -> Iterable[tuple[str, Brief]]:
    turns = reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
    for index, turn in enumerate(turns):
        if turn.tool is None or turn.tool.ok is not False or turn.tool.name not in SHELL_TOOLS:
            continue
        line = next(iter(error_lines(turn.tool.result)), "")
        cause = _explanation(turns[index + 1 :], line, ended)
        if line and cause is not None and _ended_well(turns[index + 1 :]):
            yield signature_of(line), _error_brief(x, line, *cause)


def _ended_well(turns: Sequence[Turn]) -> bool:
    """Whether the last command of the exchange succeeded."""
    ran = [turn.tool for turn in turns if turn.tool is not None and turn.tool.name in SHELL_TOOLS]
    return bool(ran) and ran[-1].ok is True


def _explanation(turns: Sequence[Turn], line: str, ended: EndedWords) -> tuple[str, str] | None:
    """The sentence after an error that states its cause and names something of it, and its turn;
    not one that proved wrong since."""
    wanted = {name.lower() for name in code_names(line, 12)} | {
        word.lower() for word in re.findall(r"[A-Za-z_]{6,}", line)
    }
    for turn in turns:
        if turn.role is not Role.ASSISTANT or not turn.text:
            continue
        for sentence in sentences(turn.text[:_MAX_TURN]):
            lower = sentence.lower()
            fits = _MIN_SENTENCE <= len(sentence) <= _MAX_SENTENCE
            named = _NAMES_CAUSE.search(sentence) and any(word in lower for word in wanted)
            if fits and named and not ended.find(sentence, turn.time, turn.session):
                return sentence, turn.id
    return None


def _error_brief(x: Exchange, line: str, cause: str, turn: str) -> Brief:
    changed = ", ".join(map(normalise_path, x.files_modified[:3]))
    name = f"holdfast://exchange/{x.id}"
    lines = (
        f"Holdfast: an error like this was resolved on {format_day(x.started)}. "
        "Dated evidence; the cause may be different this time.",
        f"- then: {quote(line)}",
        f"- assistant: {origin_label(x.trust, line, cause)}{quote(cause)}"
        + (f" Changed: {one_line(changed)}." if changed else "")
        + f" ({name})",
    )
    return wrap_brief("error", lines, [name, f"holdfast://turn/{turn}"])
