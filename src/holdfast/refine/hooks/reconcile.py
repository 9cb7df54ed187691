"""Journals whose sessions have settled are read, after the transcripts they stand beside.

The transcript is the truth and comes later than the hooks; a journal read too soon would only
say first what the transcript says better. So it waits until the session is over and its
transcripts are read to their end, or nothing has happened for an hour.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from holdfast.capture import journal
from holdfast.capture.places import Places
from holdfast.model.ledger import Source, SourceState
from holdfast.refine.core.bank_making import BankMaker
from holdfast.refine.ingest.ingest import Account, ingest
from holdfast.refine.ingest.read_plan import Input
from holdfast.refine.ingest.turns import Rules
from holdfast.sources.claude_code import events
from holdfast.sources.claude_code import files as claude_code
from holdfast.sources.file_stamp import stamp_of
from holdfast.sources.json_fields import normal_time, string
from holdfast.store.protocol import Reader, Writer

IDLE = timedelta(hours=1)
_WAKING = ("SessionStart", "UserPromptSubmit")


class Unread(NamedTuple):
    """A journal with lines that are not read yet, and what they tell of their session."""

    path: Path
    session: str
    transcript: str = ""
    last: str = ""
    ended: bool = False


class Reconciled(NamedTuple):
    """What was read of transcripts that a journal waited for, and of journals."""

    transcripts: Account
    journals: Account


def reconcile(
    writer: Writer, banks: BankMaker, places: Places, rules: Rules, now: Callable[[], str]
) -> Reconciled:
    """Read every journal that may be read by now, and before it the transcripts that it names,
    wherever those lie."""
    known = _Known(writer)
    over = [unread for unread in find_unread(places, known.sources) if is_over(unread, now())]
    late = [
        Input(path, claude_code.AGENT)
        for unread in over
        for path in known.transcripts(unread)
        if not known.is_read(path)
    ]
    transcripts = ingest(writer, banks, late, rules, now) if late else Account()
    known = _Known(writer)
    settled = [
        Input(unread.path, events.AGENT)
        for unread in over
        if all(known.is_read(path) for path in known.transcripts(unread))
    ]
    journals = ingest(writer, banks, settled, rules, now) if settled else Account()
    return Reconciled(transcripts, journals)


class _Known:
    """What the ledger knows of files."""

    def __init__(self, reader: Reader) -> None:
        self.sources = {source.path: source for source in reader.sources()}
        self._named: dict[str, list[Path]] = {}
        for source in self.sources.values():
            if source.agent == claude_code.AGENT:
                path = Path(source.path)
                self._named.setdefault(path.stem, []).append(path)

    def transcripts(self, unread: Unread) -> list[Path]:
        """A session's transcript and those of its subagents, as far as they are there."""
        told = Path(unread.transcript)
        paths = [told] if told.name == f"{unread.session}.jsonl" else []
        found: list[Path] = []
        for path in dict.fromkeys(paths + self._named.get(unread.session, [])):
            if path.is_file():
                inner = claude_code.find_transcripts(path.with_suffix("") / "subagents")
                found += [path, *inner]
        return found

    def is_read(self, path: Path) -> bool:
        """Whether a transcript is read to its end, or cannot be."""
        source = self.sources.get(str(path))
        if source is None:
            return False
        return source.state is SourceState.UNREADABLE or source.stamp == _stamp(path)


def unread_journals(reader: Reader, places: Places) -> list[Unread]:
    """The journals that still wait for their sessions to settle, or for a worker."""
    return find_unread(places, _Known(reader).sources)


def find_unread(places: Places, known: dict[str, Source]) -> list[Unread]:
    """The journals that have changed since they were last read."""
    found: list[Unread] = []
    for path in sorted(places.journals.glob("*.jsonl")):
        source = known.get(str(path))
        if source is None or source.stamp != _stamp(path):
            found.append(_look(path))
    return found


def _look(path: Path) -> Unread:
    transcript = last = ""
    ended = False
    for event in journal.read(path):
        name = string(event, "event")
        transcript = string(event, "transcript") or transcript
        last = max(last, normal_time(event.get("time")))
        ended = name == "SessionEnd" or (ended and name not in _WAKING)
    return Unread(path, path.stem, transcript, last, ended)


def _stamp(path: Path) -> str:
    try:
        return stamp_of(path.stat())
    except OSError:
        return ""


def is_over(unread: Unread, now: str) -> bool:
    """Whether a session has ended, or nothing has been heard of it for long."""
    return unread.ended or _idle(unread.last, now)


def has_ended(places: Places, host: str, last: str, now: str) -> bool:
    """Whether a session is over, by its journal if there is one, else by when it was last heard
    of."""
    path = places.journals / f"{host}.jsonl"
    if path.is_file() and _look(path).ended:
        return True
    return _idle(last, now)


def _idle(last: str, now: str) -> bool:
    if not last:
        return True
    since = datetime.fromisoformat(now) - datetime.fromisoformat(last)
    return abs(since) >= IDLE  # a time to come: the clock was set back
