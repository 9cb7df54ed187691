"""Pulls, issues and remarks as search reads them, and as people decided about them.

Each remark is found by itself, so that a stranger's words never lend their place to a colleague's,
nor a colleague's trust to a stranger's. What programs remark is kept and shown, but not found.
"""

from __future__ import annotations

import re

from holdfast.model.corrections import corrected_remark, corrected_thread
from holdfast.model.forge import Pull, Remark, RemarkKind, Thread, ThreadState
from holdfast.model.ids import content_id
from holdfast.model.query import Passage
from holdfast.model.trust import Status
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.passages import date_words, split_identifiers
from holdfast.store.protocol import Reader, Writer

FORGE_KINDS = ("pull", "issue", "remark")
_LONGEST = 8000
_FILES = 100
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
_CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?:[\w.-]+/[\w.-]+)?#(\d{1,9})\b",
    re.IGNORECASE,
)


def thread_kind(thread: Thread) -> str:
    """The word in a thread's URI."""
    return "pull" if isinstance(thread, Pull) else "issue"


def closed_issues(text: str) -> tuple[int, ...]:
    """The issues that a text says it closes."""
    return tuple(dict.fromkeys(int(number) for number in _CLOSES.findall(text)))


def state_text(thread: Thread) -> str:
    """What became of a thread."""
    if isinstance(thread, Pull) and thread.state is ThreadState.CLOSED:
        return "closed, not merged"
    return _STATES[thread.state]


def thread_text(thread: Thread) -> str:
    """A pull or an issue in its own words, with what became of it."""
    head = f"{thread_kind(thread).capitalize()} #{thread.number} ({state_text(thread)}): "
    return f"{head}{thread.title}\n\n{thread.body}".strip()


def thread_passage(thread: Thread) -> Passage:
    """A thread's own words; its author, labels, branches and files help to find it. One that was
    closed without being merged is taken back."""
    t = thread
    body = thread_text(t)[:_LONGEST]
    more = (t.base, t.branch, *t.files[:_FILES]) if isinstance(t, Pull) else ()
    context = f"{date_words(t.time)} {t.author} {' '.join((*t.labels, *more))}"
    unmerged = isinstance(t, Pull) and t.state is ThreadState.CLOSED
    return Passage(
        t.bank, thread_kind(t), t.id, "", t.time, body, f"{context} {split_identifiers(body)}",
        t.trust, Status.RETRACTED if unmerged else Status.OBSERVED, hash=content_id(body),
    )  # fmt: skip


def remark_text(remark: Remark) -> str:
    """A remark as a person would quote it: who, under what, on which file, and what."""
    r = remark
    named = parse_uri(r.thread)
    under = f"{named.word} #{named.id.partition('@')[0]}" if named else r.thread
    if r.kind is RemarkKind.REVIEW:
        head = f"{r.author} {_VERDICTS.get(r.state, 'reviews')} {under}"
    else:
        head = f"{r.author} on {under}" + (f", {r.path}" if r.path else "")
    return f"{head}: {r.text}" if r.text else head


def remark_passage(remark: Remark, title: str = "") -> Passage | None:
    """A remark's own words; the title of its thread and its file help to find it. None for what a
    program said, and for a verdict without words."""
    r = remark
    if r.bot or not r.text:
        return None
    body = remark_text(r)[:_LONGEST]
    context = f"{date_words(r.time)} {title} {r.path} {split_identifiers(body)}"
    status = Status.RETRACTED if r.state == "dismissed" else Status.OBSERVED
    return Passage(
        r.bank, "remark", r.id, "", r.time, body, context, r.trust, status, hash=content_id(body)
    )


def curated_thread_passage(reader: Reader, thread: Thread) -> Passage | None:
    """What a thread is found as, in its words of now; None if it is forgotten."""
    known = reader.curation_state(thread.bank, thread_kind(thread), thread.id)
    if known is not None and known.gone:
        return None
    return thread_passage(corrected_thread(thread, known.text) if known and known.text else thread)


def curated_remark_passage(reader: Reader, remark: Remark, title: str = "") -> Passage | None:
    """The same for a remark, which goes with its thread."""
    named = parse_uri(remark.thread)
    above = reader.curation_state(remark.bank, *named) if named else None
    known = reader.curation_state(remark.bank, "remark", remark.id)
    if any(one is not None and one.gone for one in (above, known)):
        return None
    said = corrected_remark(remark, known.text) if known and known.text else remark
    return remark_passage(said, title)


def refresh_passages(writer: Writer, bank: str, kind: str, id: str) -> str:
    """Make a record findable in its words of now, and what stands under it; returns the words that
    it was read with."""
    if kind == "remark":
        remark = writer.remark(bank, id)
        if remark is None:
            return ""
        writer.put_passage(remark, curated_remark_passage(writer, remark, thread_title(writer, remark)))
        return remark.text
    thread = writer.thread(bank, kind, id)
    if thread is None:
        return ""
    writer.put_passage(thread, curated_thread_passage(writer, thread))
    for remark in writer.all_remarks(bank, uri(kind, id)):
        writer.put_passage(remark, curated_remark_passage(writer, remark, thread.title))
    return f"{thread.title}\n\n{thread.body}".strip()


def thread_title(writer: Writer, remark: Remark) -> str:
    """The title of the thread that a remark stands under, if that is known."""
    named = parse_uri(remark.thread)
    thread = writer.thread(remark.bank, *named) if named else None
    return thread.title if thread else ""


def records_erased_with(writer: Writer, bank: str, kind: str, id: str) -> tuple[tuple[str, str], ...]:
    """What goes when a pull, an issue or a remark is erased: itself, and the remarks under it."""
    if kind not in FORGE_KINDS:
        return ()
    under = writer.all_remarks(bank, uri(kind, id)) if kind != "remark" else ()
    return ((kind, id), *(("remark", remark.id) for remark in under))
