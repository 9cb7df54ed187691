"""Where work stopped: of each of the last sessions of people its title, and what the agent said
last, in its own words. What a later session says of the same matter is told once, as that says it,
and what it did is no longer told as open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
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
from holdfast.brief.known_statements import is_of_a_program
from holdfast.brief.sessions.session_endings import (
    ENDED,
    FAILED,
    UNANSWERED,
    Ending,
    EndingItem,
    find_endings,
    fit,
    last_turns,
    render,
)
from holdfast.brief.statement_ranking import StatementRanking
from holdfast.brief.verdicts import Verdicts
from holdfast.framed_text import one_line, quote
from holdfast.language import content_stems, truncate
from holdfast.model.records import Digest, Exchange, Session
from holdfast.model.uris import uri
from holdfast.recall.core.correction_notes import correction_note
from holdfast.recall.core.ended_words import WHOLE_SESSION, EndedWords
from holdfast.regex import regex
from holdfast.sources.claude_code.files import AGENT
from holdfast.store.protocol import Reader

_MORE_REQUESTS = regex(r" \(and \d+ more requests?\)$")


class SessionLimits(NamedTuple):
    """How much is told of the last sessions."""

    # Sessions that are looked at, and those of them that are told: with five, less of what is known
    # has room.
    looked_at: int = 20
    told: int = 3
    title_characters: int = 140
    # Of what was said last; of the last session, and of those before it.
    last_characters: int = 500
    characters: int = 340
    # A later sentence says what an earlier one says if it has this share of its content words, and
    # so many. What was open is what it speaks of with a smaller share.
    said_again: float = 0.8
    spoken_of: float = 0.6
    stems: int = 2


_LIMITS = SessionLimits()


class LastSessions:
    """The last sessions of a bank."""

    def __init__(
        self,
        reader: Reader,
        bank: str,
        ended: EndedWords,
        ranking: StatementRanking,
        verdicts: Verdicts,
    ) -> None:
        """`ranking` is noted what is told here."""
        self._verdicts = verdicts
        self._reader = reader
        self._bank = bank
        self._ended = ended
        self._ranking = ranking
        # The content words of what later sessions say, and of what is told of it.
        self._said: list[frozenset[str]] = []
        self._told: list[frozenset[str]] = []

    def parts(self, most: int = _LIMITS.told) -> list[Part]:
        """Those whose end tells something, the latest first; if none does, the last one."""
        parts: list[Part] = []
        found = list(self._of_people())
        for session, digest in found:
            if len(parts) == most:
                break
            name, ended = uri("digest", digest.id), digest.ended or digest.started
            if parts and self._verdicts.is_passed_over(name, ended, partial(str, session.id)):
                continue
            corrected = correction_note(self._reader, self._bank, "digest", digest.id)
            ending = None if corrected else self._ending(digest)
            if (ending or corrected) and not is_of_a_program(digest.request):
                parts.append(self._part(session, digest, ending, corrected, not parts))
        return parts or [self._part(*one, None, "", True) for one in found[:1]]

    def _of_people(self) -> Iterator[tuple[Session, Digest]]:
        for session in self._reader.sessions.latest(self._bank, _LIMITS.looked_at):
            if session.parent or self._is_of_a_team(session):
                continue
            digest = self._reader.sessions.digest(self._bank, session.id)
            if digest is not None and not self._verdicts.is_dropped(uri("digest", digest.id)):
                yield session, digest

    def _is_of_a_team(self, session: Session) -> bool:
        """Whether another agent began a session. In imported conversations people have names,
        too."""
        first = self._reader.turns.of_session(self._bank, session.id, 1, 1)
        return session.agent == AGENT and bool(first) and bool(first[0].speaker)

    def _ending(self, digest: Digest) -> Ending | None:
        """How a session ended, without what does not hold any more, and what later sessions say of
        the same or did; None if that leaves nothing."""
        for ending in find_endings(self._reader, self._bank, self._exchanges(digest)):
            if ending.state not in (ENDED, FAILED) and self._is_taken_up(digest, ending):
                if ending.state != UNANSWERED:
                    return None
                ending = ending._replace(state=ENDED, asked="")
            items = tuple(one for one in ending.items if self._holds(digest, ending, one))
            if items or (ending.asked and not ending.items):
                return ending._replace(items=items)
        return None

    def _exchanges(self, digest: Digest) -> Sequence[Exchange]:
        return self._ranking.exchanges_of(digest.session)

    def _is_taken_up(self, digest: Digest, ending: Ending) -> bool:
        """Whether a later session went on with what one that broke off was asked last."""
        x, text = self._exchanges(digest)[-1], f"{digest.request} {ending.asked}"
        return self._ranking.later.takes_up(text, x.session, x.last_seq, x.ended)

    def _holds(self, digest: Digest, ending: Ending, item: EndingItem) -> bool:
        x, text, own = ending.exchange, item.text, content_stems(item.text)
        seq = ending.turn.seq if ending.turn is not None else WHOLE_SESSION
        if self._verdicts.repeats_dropped(text, digest.ended):
            return False
        if self._ended.find(text, digest.started, digest.session, seq):
            return False
        if self._ranking.is_outdated(text, x.ended, x.files_modified):
            return False
        later, share = self._said, _LIMITS.said_again
        if item.is_open:
            # What is not told may say that it is still to be done.
            later, share = self._told, _LIMITS.spoken_of
            if self._ranking.later.did(text, x.session, x.last_seq, x.ended):
                return False
        enough = max(_LIMITS.stems, share * len(own))
        return not any(len(own & one) >= enough for one in later)

    def _part(
        self,
        session: Session,
        digest: Digest,
        ending: Ending | None,
        corrected: str,
        is_last: bool,
    ) -> Part:
        """A session with its title, what was said last, and what was asked and not answered. Who
        corrected a session said all there is to say."""
        over = self._ended.find(digest.request, digest.started, digest.session, WHOLE_SESSION)
        label = origin_label(digest.trust, digest.request)
        label += corrected_label(corrected) + ended_label(over)
        work = [label + quote(_title(digest))]
        if ending is not None:
            told = self._tell(ending, is_last)
            if told:
                work.append(origin_label(ending.exchange.trust, told) + quote(told))
            if ending.asked and ending.asked not in digest.request:
                work.append(f"asked {quote(ending.asked)}")
        state = ENDED if ending is None else ending.state
        when, name = self._when(session, digest, is_last), uri("digest", digest.id)
        return Part((f"- {when}, {state}: {' → '.join(work)} ({short_name(name)})",), (name,))

    def _tell(self, ending: Ending, is_last: bool) -> str:
        """As much of what was said last as there is room for, which is noted as told."""
        characters = _LIMITS.last_characters if is_last else _LIMITS.characters
        chosen = fit(ending.items, characters)
        self._said += [content_stems(one.text) for one in ending.items]
        self._told += [content_stems(one.text) for one in chosen]
        for item in chosen:
            self._ranking.take(item.text)
        return truncate(render(chosen), characters)

    def _when(self, session: Session, digest: Digest, is_last: bool) -> str:
        ended = digest.ended or digest.started
        if not is_last:
            return format_day(ended)
        name = self._last_branch(session)
        branch = f", branch {one_line(name)}" if name else ""
        return f"{format_minute(ended)}{branch}"

    def _last_branch(self, session: Session) -> str:
        """The branch that a session ended on: its turns say so, or what it was asked for last made
        one."""
        last = next(iter(self._ranking.exchanges_of(session.id)[-1:]), None)
        if last is None:
            return session.branch
        turns = last_turns(self._reader, self._bank, last)
        said = next((turn.branch for turn in reversed(turns) if turn.branch), "")
        return said if said not in ("", session.branch) else last.branch or session.branch

    def _work(self, digest: Digest, ending: Ending, corrected: str, told: str) -> str:
        """The title of a session, what was said last, and what was asked and not answered."""
        over = self._ended.find(digest.request, digest.started, digest.session, WHOLE_SESSION)
        label = origin_label(digest.trust, digest.request)
        label += corrected_label(corrected) + ended_label(over)
        work = [label + quote(_title(digest))]
        if told:
            work.append(origin_label(ending.exchange.trust, told) + quote(told))
        if ending.asked and ending.asked not in digest.request:
            work.append(f"asked {quote(ending.asked)}")
        return " → ".join(work)


def request_of(digest: Digest) -> str:
    """What a session was asked for first; how many requests followed says nothing."""
    return _MORE_REQUESTS.sub("", digest.request)


def _title(digest: Digest) -> str:
    """The title of a session, without the result that may follow its first request."""
    asked = request_of(digest).partition(" — ")[0]
    return truncate(asked, _LIMITS.title_characters)
