"""What happened in the sessions of a bank, as it is shown to a model that judges statements: a line
for each session, and more of those that matter, as far as there is room.

What matters is the session in which a statement was made, because its closing message says how it
ended; then the later sessions that changed the same files or share words with a statement; then the
latest ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from holdfast.language import collapse_spaces, content_stems, truncate
from holdfast.model.records import Exchange, Session
from holdfast.refine.model_output.prompts import shorten, size_in_bytes
from holdfast.refine.sessions.derive import last_assistant_text
from holdfast.store.protocol import Reader


class OutlineLimits(NamedTuple):
    """How much is shown of a session. More of one leaves less room for others."""

    # The latest sessions that are looked at: it bounds the time and the length of the list.
    sessions: int = 150
    title_characters: int = 140
    # Requests and changed files, and the characters of a request and of what came of it.
    requests: int = 8
    request_characters: int = 120
    result_characters: int = 160
    files: int = 10
    # The closing message, of a session that is shown in part and in full.
    closing_bytes: int = 260
    full_closing_bytes: int = 1300
    # The latest sessions that are shown in full if there is room, whatever they are about.
    latest: int = 3
    # A session is about a statement if it changed one of its files, or if its requests share so
    # many content words with it.
    shared_words: int = 3


_LIMITS = OutlineLimits()


# The folder in which Claude Code keeps its own files.
AGENT_FOLDER = "/.claude/"


class Detail(IntEnum):
    """How much of a session is shown."""

    LINE = 0
    PART = 1
    FULL = 2


class Outline:
    """One session. Its texts are on one line each, so that none can look like another entry."""

    def __init__(self, reader: Reader, session: Session, number: int) -> None:
        self._reader = reader
        self.session = session
        self.number = number
        self._texts: dict[tuple[Detail, int], str] = {}

    def text(self, detail: Detail, after: int = 0) -> str:
        """The session as it is shown with so much detail; its requests from those after a turn
        on."""
        if (detail, after) not in self._texts:
            self._texts[detail, after] = "\n".join(self._lines(detail, after))
        return self._texts[detail, after]

    def _lines(self, detail: Detail, after: int) -> Iterator[str]:
        digest = self._reader.sessions.digest(self.session.bank, self.session.id)
        day = (self.session.ended or self.session.started)[:10]
        title = truncate(digest.request if digest else self.session.title, _LIMITS.title_characters)
        outcome = f" ({digest.outcome.value})" if digest else ""
        yield f"session {self.number}, {day}: {title}{outcome}"
        if detail is Detail.LINE:
            return
        requests = [one for one in self.exchanges[1:] if one.first_seq > after]
        for one in requests[-_LIMITS.requests :] if detail is Detail.FULL else ():
            title = truncate(one.title, _LIMITS.request_characters)
            result = truncate(one.summary, _LIMITS.result_characters)
            yield f"  then asked, turn {one.first_seq}: {title}{f' → {result}' if result else ''}"
        if self.files:
            more = f" and {len(self.files) - _LIMITS.files} more"
            shown = ", ".join(sorted(self.files)[: _LIMITS.files])
            yield f"  changed: {shown}{more if len(self.files) > _LIMITS.files else ''}"
        most = _LIMITS.full_closing_bytes if detail is Detail.FULL else _LIMITS.closing_bytes
        if self._closing:
            yield f"  last words: {shorten(self._closing, most)}"

    @cached_property
    def exchanges(self) -> Sequence[Exchange]:
        return self._reader.sessions.exchanges(self.session.bank, self.session.id)

    @property
    def turns(self) -> int:
        """The place of its last turn."""
        return self.exchanges[-1].last_seq if self.exchanges else 0

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that it changed, in its folder as seen from there. What agents keep for
        themselves, such as plans, is left out."""
        found = (self.relative(file) for one in self.exchanges for file in one.files_modified)
        return frozenset(file for file in found if AGENT_FOLDER not in file)

    def relative(self, file: str) -> str:
        """The path of a file as seen from the folder of the session."""
        return file.replace("\\", "/").removeprefix(f"{self.session.cwd.rstrip('/')}/")

    @cached_property
    def words(self) -> frozenset[str]:
        """The content words of its requests."""
        return content_stems(" ".join(one.title for one in self.exchanges))

    @cached_property
    def _closing(self) -> str:
        return collapse_spaces(
            last_assistant_text(self._reader.turns.of_session, list(self.exchanges))
        )

    def is_about(self, files: Collection[str], words: frozenset[str]) -> bool:
        """Whether it changed one of these files, or was asked for something in these words."""
        if len(words & self.words) >= _LIMITS.shared_words:
            return True
        return any(_is_same_file(one, other) for one in files for other in self.files)


def _is_same_file(one: str, other: str) -> bool:
    """Whether two paths name one file; one of them may lack the first folders."""
    longer, shorter = sorted(
        (path.replace("\\", "/").removeprefix("./") for path in (one, other)), key=len, reverse=True
    )
    return longer == shorter or longer.endswith(f"/{shorter.lstrip('/')}")


class Outlines:
    """The latest sessions of people in a bank, the oldest first, numbered from 1."""

    def __init__(self, reader: Reader, bank: str) -> None:
        latest = reader.sessions.latest(bank, _LIMITS.sessions)
        found = reversed([one for one in latest if not one.parent])
        self.all = [Outline(reader, one, number) for number, one in enumerate(found, 1)]
        self._by_session = {one.session.id: one for one in self.all}

    def get(self, session: str) -> Outline | None:
        """One of them."""
        return self._by_session.get(session)

    def after(self, time: str) -> Iterator[Outline]:
        """Those that went on after a time, the latest first."""
        return (one for one in reversed(self.all) if one.session.ended > time)

    def text(
        self, since: str, own: Mapping[str, int], related: Collection[str], max_bytes: int
    ) -> str:
        """The sessions from a time on, the oldest first, in at most so many bytes. Those with the
        ids `own` are shown with what came after the given turn, and those with the ids `related`
        with more detail than others."""
        shown = [one for one in reversed(self.all) if one.session.ended >= since]
        shown += [one for one in self.all if one.session.id in own and one not in shown]
        room = max_bytes - sum(map(_line_size, shown))
        unimportant = [one for one in shown if one.session.id not in {*own, *related}]
        while room < 0 and unimportant:
            gone = unimportant.pop()
            room += _line_size(gone)
            shown.remove(gone)
        details = {one.number: Detail.LINE for one in shown}

        def text_of(one: Outline, detail: Detail) -> str:
            return one.text(detail, own.get(one.session.id, 0))

        for one, detail in _enlargements(shown, own, related):
            now = details[one.number]
            more = size_in_bytes(text_of(one, detail)) - size_in_bytes(text_of(one, now))
            if detail > now and more <= room:
                details[one.number] = detail
                room -= more
        return "\n".join(text_of(one, details[one.number]) for one in sorted(shown, key=_number))


def _number(one: Outline) -> int:
    return one.number


def _line_size(one: Outline) -> int:
    return size_in_bytes(one.text(Detail.LINE)) + 1


def _enlargements(
    latest_first: Sequence[Outline], own: Collection[str], related: Collection[str]
) -> Iterator[tuple[Outline, Detail]]:
    """Which sessions are shown with more detail, in this order as long as there is room."""

    def among(ids: Collection[str]) -> Iterable[Outline]:
        return (one for one in latest_first if one.session.id in ids)

    for one in among(own):
        yield one, Detail.FULL
        yield one, Detail.PART
    yield from ((one, Detail.FULL) for one in latest_first[:1])
    yield from ((one, Detail.PART) for one in among(related))
    yield from ((one, Detail.FULL) for one in latest_first[: _LIMITS.latest])
    yield from ((one, Detail.FULL) for one in among(related))
    yield from ((one, Detail.PART) for one in latest_first)
