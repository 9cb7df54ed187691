"""Builds the passages of pulls, issues and remarks, with people's decisions applied.

Each remark has a passage of its own, so that the trust of a colleague's text never extends to a
stranger's. Remarks of bots are stored and shown, but have no passage.
"""

from __future__ import annotations

import re

from holdfast.model.corrections import corrected_remark, corrected_thread
from holdfast.model.forge import Pull, Remark, RemarkKind, Thread, ThreadState
from holdfast.model.query import Passage
from holdfast.model.trust import Status
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.curated_records import apply_decision
from holdfast.refine.core.passages import make_passage
from holdfast.regex import regex
from holdfast.store.protocol import Reader, Writer

FORGE_KINDS = ("pull", "issue", "remark")
# Characters of a thread or remark that are searched, and files in the context of a pull.
_MAX_PASSAGE_CHARACTERS = 8000
_MAX_FILES = 100
_STATES = {
    ThreadState.OPEN: "open",
    ThreadState.CLOSED: "closed",
    ThreadState.MERGED: "merged",
    ThreadState.DECLINED: "closed as not planned",
}
_VERDICTS = {
    "approved": "approves",
    "changes_requested": "asks for changes in",
    "commented": "reviews",
    "dismissed": "had reviewed (dismissed)",
}
_CLOSES = regex(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b",
    re.IGNORECASE,
)


def thread_kind(thread: Thread) -> str:
    """The kind of a thread in its URI."""
    return "pull" if isinstance(thread, Pull) else "issue"


def closed_issues(text: str) -> tuple[int, ...]:
    """The numbers of the issues that a text says it closes."""
    return tuple(dict.fromkeys(int(number) for number in _CLOSES.findall(text)))


def state_text(thread: Thread) -> str:
    """The state of a thread in words."""
    if isinstance(thread, Pull) and thread.state is ThreadState.CLOSED:
        return "closed, not merged"
    return _STATES[thread.state]


def thread_text(thread: Thread) -> str:
    """A pull or an issue as it is quoted: kind, number, state, title and body."""
    head = f"{thread_kind(thread).capitalize()} #{thread.number} ({state_text(thread)}): "
    return f"{head}{thread.title}\n\n{thread.body}".strip()


def thread_passage(thread: Thread) -> Passage:
    """The passage of a thread. Context: author, labels, branches, files. A pull that was closed
    without being merged is retracted."""
    t = thread
    body = thread_text(t)[:_MAX_PASSAGE_CHARACTERS]
    more = (t.base, t.branch, *t.files[:_MAX_FILES]) if isinstance(t, Pull) else ()
    unmerged = isinstance(t, Pull) and t.state is ThreadState.CLOSED
    status = Status.RETRACTED if unmerged else Status.OBSERVED
    context = f"{t.author} {' '.join((*t.labels, *more))}"
    return make_passage(thread_kind(t), t, t.time, body, context, status)


def remark_text(remark: Remark) -> str:
    """A remark as it is quoted: author, thread, file and text."""
    r = remark
    named = parse_uri(r.thread)
    under = f"{named.kind} #{named.id.partition('@')[0]}" if named else r.thread
    if r.kind is RemarkKind.REVIEW:
        head = f"{r.author} {_VERDICTS.get(r.state, 'reviews')} {under}"
    else:
        head = f"{r.author} on {under}" + (f", {r.path}" if r.path else "")
    return f"{head}: {r.text}" if r.text else head


def remark_passage(remark: Remark, title: str = "") -> Passage | None:
    """The passage of a remark. Context: the title of its thread, and its file. None for a bot's
    remark, and for a review without text."""
    r = remark
    if r.bot or not r.text:
        return None
    body = remark_text(r)[:_MAX_PASSAGE_CHARACTERS]
    status = Status.RETRACTED if r.state == "dismissed" else Status.OBSERVED
    return make_passage("remark", r, r.time, body, f"{title} {r.path}", status)


def curated_thread_passage(reader: Reader, thread: Thread) -> Passage | None:
    """The passage of a thread with people's corrections; None if it is forgotten."""
    known = reader.curation.state(thread.bank, thread_kind(thread), thread.id)
    shown = apply_decision(known, thread, corrected_thread)
    return thread_passage(shown) if shown else None


def curated_remark_passage(reader: Reader, remark: Remark, title: str = "") -> Passage | None:
    """The passage of a remark with people's corrections; None if it or its thread is forgotten."""
    named = parse_uri(remark.thread)
    above = reader.curation.state(remark.bank, *named) if named else None
    known = reader.curation.state(remark.bank, "remark", remark.id)
    shown = apply_decision(known, remark, corrected_remark)
    return remark_passage(shown, title) if shown and not (above and above.is_hidden) else None


def refresh_passages(writer: Writer, bank: str, kind: str, id: str) -> str:
    """Update the passage of a pull, an issue or a remark, and those of the remarks in a thread,
    after a correction; returns the text as it was read."""
    if kind == "remark":
        remark = writer.forge.remark_uncurated(bank, id)
        if remark is None:
            return ""
        title = thread_title(writer, remark)
        writer.passages.replace(remark, curated_remark_passage(writer, remark, title))
        return remark.text
    thread = writer.forge.thread_uncurated(bank, kind, id)
    if thread is None:
        return ""
    writer.passages.replace(thread, curated_thread_passage(writer, thread))
    for remark in writer.forge.remarks_uncurated(bank, uri(kind, id)):
        writer.passages.replace(remark, curated_remark_passage(writer, remark, thread.title))
    return f"{thread.title}\n\n{thread.body}".strip()


def thread_title(writer: Writer, remark: Remark) -> str:
    """The title of a remark's thread; "" if the thread is not stored."""
    named = parse_uri(remark.thread)
    thread = writer.forge.thread_uncurated(remark.bank, *named) if named else None
    return thread.title if thread else ""


def records_erased_with(
    writer: Writer, bank: str, kind: str, id: str
) -> tuple[tuple[str, str], ...]:
    """The records that are erased with a pull, an issue or a remark: itself and its remarks. None
    for other kinds."""
    if kind not in FORGE_KINDS:
        return ()
    under = writer.forge.remarks_uncurated(bank, uri(kind, id)) if kind != "remark" else ()
    return ((kind, id), *(("remark", remark.id) for remark in under))
