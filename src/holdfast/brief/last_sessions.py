"""Where work stopped: the last sessions of people, each with what was asked, what came of it and
what it left open. The last one is told at length, those before it in a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.brief.brief_page import Part
from holdfast.brief.frame import (
    corrected_label,
    ended_label,
    format_day,
    format_minute,
    origin_label,
    short_name,
)
from holdfast.brief.informative import is_offer, is_praise
from holdfast.brief.known_statements import KnownStatement, is_of_a_program, names_work
from holdfast.brief.statement_ranking import StatementRanking, is_same_matter
from holdfast.framed_text import one_line, quote
from holdfast.language import content_stems, truncate, without_open_label
from holdfast.model.records import Digest, Outcome, Session
from holdfast.model.uris import uri
from holdfast.recall.core.correction_notes import correction_note
from holdfast.recall.core.ended_words import WHOLE_SESSION, EndedWords
from holdfast.regex import regex
from holdfast.store.protocol import Reader

DONE = "  done: "
STILL_OPEN = "  still open: "
UNFINISHED = (Outcome.OPEN, Outcome.FAILED, Outcome.INTERRUPTED)

_MORE_REQUESTS = regex(r" \(and \d+ more requests?\)$")
# A command line that was typed as a prompt, or a text that was handed over with one.
_COMMAND = regex(
    r"\W*(?:uv|npm|pnpm|yarn|npx|bun|git|gh|make|cargo|go|python3?|pytest|docker|bash|sh|cd|ls) "
    r"[\w./-]+(?: [\w./:=-]+)*\W*$|\W*the following is\b",
    re.IGNORECASE,
)


class SessionLimits(NamedTuple):
    """How much is told of the last sessions."""

    # Sessions that are looked at, and those of them that are told: with five, less of what is known
    # has room.
    looked_at: int = 12
    told: int = 3
    # Of the last one.
    completed: int = 1
    completed_characters: int = 260
    next_steps: int = 3


_LIMITS = SessionLimits()


class LastSessions:
    """The last sessions of a bank."""

    def __init__(
        self, reader: Reader, bank: str, ended: EndedWords, ranking: StatementRanking
    ) -> None:
        """`ranking` gives what sessions delivered."""
        self._reader = reader
        self._bank = bank
        self._ended = ended
        self._ranking = ranking

    def parts(self) -> list[Part]:
        """Those that had a result, the latest first; if none had, the last one. Earlier ones are
        told only with what came of them or was left open."""
        found = list(self._of_people())
        parts: list[Part] = []
        for session, digest in found:
            if len(parts) == _LIMITS.told:
                break
            outcomes = self._ranking.take_outcomes(session, 1 if parts else _LIMITS.completed)
            if parts:
                parts += self._earlier(digest, outcomes)
            elif outcomes or digest.completed or digest.learned or digest.next_steps:
                parts.append(self._last(session, digest, outcomes))
        return parts or [self._last(*one, []) for one in found[:1]]

    def _of_people(self) -> Iterator[tuple[Session, Digest]]:
        for session in self._reader.sessions.latest(self._bank, _LIMITS.looked_at):
            if session.parent:
                continue
            digest = self._reader.sessions.digest(self._bank, session.id)
            if digest is not None:
                yield session, digest

    def _last(self, session: Session, digest: Digest, outcomes: list[KnownStatement]) -> Part:
        done = [
            f"{_outcome(one)} ({short_name(_name(one))})"
            for one in outcomes
            if not _is_in_title(one, digest)
        ]
        branch = f", branch {one_line(session.branch)}" if session.branch else ""
        when = f"{format_minute(digest.ended or digest.started)}{branch}"
        lines = (
            _line(when, digest, self._label(digest) + quote(_request(digest))),
            *(f"{DONE}{item}" for item in (done if outcomes else self._completed(digest))),
            *self._left_open(digest),
        )
        return _part(digest, lines, outcomes)

    def _earlier(self, digest: Digest, outcomes: list[KnownStatement]) -> list[Part]:
        """In a line, if it is known what came of it."""
        left = self._left_open(digest) if digest.outcome in UNFINISHED else []
        if not outcomes and not left:
            return []
        label, asked = self._label(digest), content_stems(digest.request)
        more = [one for one in outcomes if not _is_in_title(one, digest)]
        repeats = any(is_same_matter(asked, content_stems(one.text)) for one in more)
        request = "" if repeats and not label else label + quote(_request(digest))
        work = " → ".join(filter(None, (request, *map(_outcome, more))))
        line = _line(format_day(digest.ended or digest.started), digest, work)
        return [_part(digest, (line, *left), outcomes)]

    def _label(self, digest: Digest) -> str:
        """What is to be known before the request of a session is read."""
        corrected = correction_note(self._reader, self._bank, "digest", digest.id)
        ended = self._ended.find(digest.request, digest.started, digest.session, WHOLE_SESSION)
        origin = origin_label(digest.trust, digest.request)
        return origin + corrected_label(corrected) + ended_label(ended)

    def _completed(self, digest: Digest) -> list[str]:
        """What a session did last, which says most about the state of the work."""
        completed = [one for one in digest.completed if self._holds(digest, one)]
        completed = [one for one in completed if names_work(one) and not is_praise(one)]
        whole = [one for one in completed if not one.endswith("…")] or completed
        latest = whole[-_LIMITS.completed :]
        return [truncate(one_line(one), _LIMITS.completed_characters) for one in latest]

    def _left_open(self, digest: Digest) -> list[str]:
        left = [one for one in digest.next_steps if self._holds(digest, one)]
        asked = _request(digest) if digest.outcome in UNFINISHED else ""
        steps = [
            one
            for one in map(without_open_label, left)
            if names_work(one) and not is_offer(one) and not _is_command(one)
            if not is_of_a_program(one) and not (asked and _is_the_same(asked, one))
        ]
        return [f"{STILL_OPEN}{one_line(one)}" for one in steps[: _LIMITS.next_steps]]

    def _holds(self, digest: Digest, text: str) -> bool:
        return not self._ended.find(text, digest.started, digest.session, WHOLE_SESSION)


def _request(digest: Digest) -> str:
    """What a session was asked for first; how many requests followed says nothing."""
    return _MORE_REQUESTS.sub("", digest.request)


def _is_the_same(one: str, other: str) -> bool:
    """Whether one of two texts is the beginning of the other; both may be cut."""
    one, other = one.rstrip("…. "), other.rstrip("…. ")
    return one.startswith(other) or other.startswith(one)


def _is_command(text: str) -> bool:
    return _COMMAND.match(text) is not None


def _line(when: str, digest: Digest, work: str) -> str:
    return f"- {when}, {digest.outcome.value}: {work} ({short_name(uri('digest', digest.id))})"


def _outcome(one: KnownStatement) -> str:
    return f"{origin_label(one.memory.trust, one.text)}{quote(one.text)}"


def _is_in_title(one: KnownStatement, digest: Digest) -> bool:
    """Whether the title of a session has what it delivered."""
    return one.text.rstrip(".") in digest.request


def _name(one: KnownStatement) -> str:
    return uri("memory", one.memory.id)


def _part(digest: Digest, lines: tuple[str, ...], outcomes: list[KnownStatement]) -> Part:
    return Part(lines, (uri("digest", digest.id), *map(_name, outcomes)))
