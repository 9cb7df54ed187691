"""Where work stopped: the last sessions of people, each with what was asked last, what came of it
and what it left open. One whose end tells nothing is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
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
from holdfast.brief.goal.first_prompt import saved_commands
from holdfast.brief.informative import informative_part, is_offer
from holdfast.brief.known_statements import KnownStatement, is_of_a_program, names_work
from holdfast.brief.sessions.session_endings import (
    Ending,
    State,
    find_ending,
    last_turns,
    tells_work,
)
from holdfast.brief.statement_ranking import StatementRanking
from holdfast.brief.verdicts import Verdicts
from holdfast.framed_text import one_line, quote
from holdfast.language import content_stems, without_open_label
from holdfast.model.records import Digest, Outcome, Session
from holdfast.model.uris import uri
from holdfast.recall.core.correction_notes import correction_note
from holdfast.recall.core.ended_words import WHOLE_SESSION, EndedWords
from holdfast.refine.requests.telling_words import says_something
from holdfast.regex import regex
from holdfast.sources.claude_code.files import AGENT
from holdfast.store.protocol import Reader

DONE = "  done: "
FOUND = "  found: "
STILL_OPEN = "  still open: "
UNFINISHED = (Outcome.OPEN, Outcome.FAILED, Outcome.INTERRUPTED)

_MORE_REQUESTS = regex(r" \(and \d+ more requests?\)$")
# A command line that was typed as a prompt, or a text that was handed over with one. "make" and
# "go" begin requests, too.
_COMMAND = regex(
    r"\W*(?:(?:uv|npm|pnpm|yarn|npx|bun|git|gh|cargo|python3?|pytest|docker|bash|sh|cd|ls) "
    r"[\w./-]+(?: [\w./:=-]+)*|(?:make|go) [\w./-]+)\W*$|\W*(?i:the following is)\b"
)


class SessionLimits(NamedTuple):
    """How much is told of the last sessions."""

    # Sessions that are looked at, and those of them that are told: with five, less of what is known
    # has room.
    looked_at: int = 20
    told: int = 3
    # What one delivered at its end, if its result is shorter than so many characters.
    completed: int = 1
    enough_result: int = 100
    next_steps: int = 3
    # The share of the content words of a request that are in its result, so that it adds nothing.
    repeated: float = 0.8


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
        """`ranking` gives what sessions delivered."""
        self._verdicts = verdicts
        self._reader = reader
        self._bank = bank
        self._ended = ended
        self._ranking = ranking
        self._commands = frozenset[str]()

    def parts(self, most: int = _LIMITS.told) -> list[Part]:
        """Those whose end tells something, the latest first; if none does, the last one. What a
        later session took up again is no longer open. What was merely found out is told of the last
        one, of others as the statements they are."""
        parts: list[Part] = []
        found = list(self._of_people())
        self._commands = self._saved_commands(digest.session for _, digest in found)
        for place, (session, digest) in enumerate(found):
            if len(parts) == most:
                break
            name, ended = uri("digest", digest.id), digest.ended or digest.started
            if parts and self._verdicts.is_passed_over(name, ended, partial(str, session.id)):
                continue
            ending = self._ending(digest)
            if ending is None or (parts and _is_broken_off(ending)):
                continue
            result = ""
            if ending.state is State.ANSWERED and not self._delivers(session, ending):
                result = ending.result if place == 0 else ""
                ending = ending._replace(result="")
            if result or _tells(ending) or (not parts and self._left_open(digest, ending)):
                parts.append(self._part(session, digest, ending, not parts, result))
        return parts or [self._titled(*one) for one in found[:1]]

    def _saved_commands(self, sessions: Iterable[str]) -> frozenset[str]:
        """The titles of requests that end or begin many sessions in the same words: they say
        nothing of these."""
        asked = ({x.title for x in self._ranking.exchanges_of(one)} for one in sessions)
        return saved_commands(title for titles in asked for title in titles)

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
        """How a session ended, without what does not hold any more; None if it was left open and a
        later session took it up."""
        whole = self._ranking.exchanges_of(digest.session)
        exchanges = [x for x in whole if x.title not in self._commands] or whole
        ending = find_ending(self._reader, self._bank, exchanges, request_of(digest))
        if ending is None or is_of_a_program(ending.request) or _is_command(ending.request):
            return None
        x = ending.exchange
        if not self._holds(digest, ending.result):
            ending = ending._replace(result="")
        if not ending.is_open:
            return ending
        text = f"{ending.request} {ending.asked}"
        is_taken_up = self._ranking.later.takes_up(text, x.session, x.last_seq, x.ended)
        return None if is_taken_up else ending

    def _part(
        self, session: Session, digest: Digest, ending: Ending, is_last: bool, found: str
    ) -> Part:
        if ending.result:
            self._ranking.take(ending.result)
        delivered = list(islice(self._delivered(session, ending), _LIMITS.completed))
        origin = origin_label(ending.exchange.trust, found)
        lines = (
            _line(self._when(session, digest, is_last), digest, ending, self._work(digest, ending)),
            *([f"{FOUND}{origin}{quote(found)}"] if found else []),
            *(f"{DONE}{_outcome(one)} ({short_name(_name(one))})" for one in delivered),
            *(self._left_open(digest, ending) if is_last else []),
        )
        return _part(digest, lines, delivered)

    def _delivers(self, session: Session, ending: Ending) -> bool:
        return bool(self._ranking.outcomes(session, ending.exchange.first_seq))

    def _delivered(self, session: Session, ending: Ending) -> Iterator[KnownStatement]:
        """What a session says it delivered at its end, if its result says little."""
        if ending.is_open or len(ending.result) >= _LIMITS.enough_result:
            return
        for one in self._ranking.outcomes(session, ending.exchange.first_seq):
            if tells_work(one.text) and informative_part(one.text) and self._ranking.take(one.text):
                yield one

    def _titled(self, session: Session, digest: Digest) -> Part:
        """A session of which no more is known than what was asked."""
        when = self._when(session, digest, True)
        ending = self._ending(digest)
        request = request_of(digest) if ending is None else ending.request
        work = self._label(digest, request) + quote(request)
        state = "" if ending is None else f", {ending.state.value}"
        return _part(digest, (f"- {when}{state}: {work} ({_name_of(digest)})",), [])

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

    def _work(self, digest: Digest, ending: Ending) -> str:
        """What was asked and what came of it. A request is left out where the rest repeats it."""
        rest = [quote(ending.result)] if ending.result else []
        rest += [f"asked {quote(ending.asked)}"] if ending.asked else []
        label = self._label(digest, ending.request)
        said = f"{ending.result} {ending.asked}"
        if rest and not label and _repeats(ending.request, said):
            return " → ".join(rest)
        origin = origin_label(ending.exchange.trust, said)
        rest = [f"{origin}{rest[0]}", *rest[1:]] if rest else []
        return " → ".join((label + quote(ending.request), *rest))

    def _label(self, digest: Digest, request: str) -> str:
        """What is to be known before the request of a session is read."""
        corrected = correction_note(self._reader, self._bank, "digest", digest.id)
        ended = self._ended.find(request, digest.started, digest.session, WHOLE_SESSION)
        return origin_label(digest.trust, request) + corrected_label(corrected) + ended_label(ended)

    def _left_open(self, digest: Digest, ending: Ending) -> list[str]:
        left = [one for one in digest.next_steps if self._holds(digest, one)]
        told = " ".join((ending.request, ending.result, ending.asked))
        steps = [
            one
            for one in map(without_open_label, left)
            if names_work(one) and not is_offer(one) and not _is_command(one)
            if not is_of_a_program(one) and not _repeats(one, told)
        ]
        return [f"{STILL_OPEN}{one_line(one)}" for one in steps[: _LIMITS.next_steps]]

    def _holds(self, digest: Digest, text: str) -> bool:
        """Whether a text holds, and nobody called a statement that says the same unneeded."""
        if self._verdicts.repeats_dropped(text, digest.ended):
            return False
        return not self._ended.find(text, digest.started, digest.session, WHOLE_SESSION)


def _is_broken_off(ending: Ending) -> bool:
    """Whether nothing is known of how far a session got: a later one may have gone on."""
    return ending.state in (State.UNFINISHED, State.INTERRUPTED) and not ending.result


def _tells(ending: Ending) -> bool:
    """Whether an ending says what came of a session, or what it left open."""
    is_left = ending.state in (State.UNANSWERED, State.UNFINISHED, State.INTERRUPTED)
    return bool(ending.result or ending.asked or (is_left and says_something(ending.request)))


def request_of(digest: Digest) -> str:
    """What a session was asked for first; how many requests followed says nothing."""
    return _MORE_REQUESTS.sub("", digest.request)


def _repeats(text: str, told: str) -> bool:
    """Whether a text, which may be cut, says nothing else than what is told."""
    own = content_stems(text)
    shared = len(own & content_stems(told))
    return text.rstrip("…. ") in told or (shared > 0 and shared >= _LIMITS.repeated * len(own))


def _is_command(text: str) -> bool:
    return _COMMAND.match(text) is not None


def _line(when: str, digest: Digest, ending: Ending, work: str) -> str:
    return f"- {when}, {ending.state.value}: {work} ({_name_of(digest)})"


def _name_of(digest: Digest) -> str:
    return short_name(uri("digest", digest.id))


def _outcome(one: KnownStatement) -> str:
    return f"{origin_label(one.memory.trust, one.text)}{quote(one.text)}"


def _name(one: KnownStatement) -> str:
    return uri("memory", one.memory.id)


def _part(digest: Digest, lines: tuple[str, ...], outcomes: list[KnownStatement]) -> Part:
    return Part(lines, (uri("digest", digest.id), *map(_name, outcomes)))
