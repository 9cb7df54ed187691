"""How a session ended: what was asked last, and what came of it or is still open.

The first request of a session says little about where its work stopped, and what was said on the
way is often overtaken. So the last exchange that did something counts, with what the agent said
last: the result it reports, the question it waits for an answer to, or what it was about to do.
The patterns are English; in another language the last reply is told as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from holdfast.brief.informative import is_offer
from holdfast.brief.known_statements import is_task, names_work
from holdfast.language import (
    collapse_spaces,
    is_chatter,
    is_data,
    plain,
    sentences,
    truncate,
    without_bold,
    without_links,
)
from holdfast.model.records import Exchange, Outcome, Role, Turn
from holdfast.refine.core.signals import begun_commit, is_go_ahead, is_interruption
from holdfast.refine.requests.telling_words import EMPTY, says_something, telling_stems
from holdfast.regex import regex
from holdfast.store.protocol import Reader


class EndingLimits(NamedTuple):
    """How much is told of an ending. With longer results the known statements lose their room."""

    request_characters: int = 140
    # A short request after the one that is told is told, too, if it has so many telling words.
    request_stems: int = 2
    result_characters: int = 300
    question_characters: int = 260
    # Turns at the end of an exchange that are looked through for the last reply.
    turns: int = 12
    # What a reply says before the question it ends with.
    lead_characters: int = 160
    # What an agent was about to do says nothing in fewer.
    doing_characters: int = 60
    # Exchanges before the last that are asked for what was done, if that only rounds it off.
    exchanges_before: int = 2
    # A shorter sentence says nothing by itself.
    sentence_characters: int = 18


_LIMITS = EndingLimits()


class State(StrEnum):
    """How a session ended, in the words of a brief."""

    DONE = "done"
    ANSWERED = "answered"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    UNFINISHED = "unfinished"
    ASKED = "waiting for an answer"
    UNANSWERED = "not answered"


_BROKEN_OFF = (State.INTERRUPTED, State.UNFINISHED, State.ASKED, State.UNANSWERED, State.FAILED)
_STATES = {
    Outcome.DONE: State.DONE,
    Outcome.FAILED: State.FAILED,
    Outcome.INTERRUPTED: State.INTERRUPTED,
}


class Ending(NamedTuple):
    """How a session ended. `result` is what the agent said last of its work, `asked` what it waits
    for; both may be ""."""

    state: State
    request: str
    result: str
    asked: str
    exchange: Exchange

    @property
    def is_open(self) -> bool:
        """Whether something was left to be done or answered."""
        return self.state in _BROKEN_OFF


# Lines with which a program tells its host what it did.
_DIRECTIVE = regex(r"(?:^|\s)::[\w-]+\{[^}]*\}", re.MULTILINE)
# A call of a tool that was written out in a reply: what was said before it is not the last.
_CALL = regex(r"^\W*Tool use: .*$", re.MULTILINE)
# That all is well: it is, unless something else is said.
_PASSED = regex(
    r"\b(?:tests?|suites?|checks?|lint\w*|builds?|ci|typecheck\w*|type-check\w*|clippy|format\w*|"
    r"compil\w+|validation|verification|coverage|pytest|regression|jobs?|pipelines?|workflows?)\b[^.]*\b(?:pass(?:ed|es|ing)?|"
    r"green|clean|succe\w+|ok)\b|\b(?:pass(?:ed|es|ing)?|green)\b[^.]*\b(?:tests?|checks?|lint\w*|"
    r"ci)\b|\b(?:work(?:ing )?tree|tree|branch|status) is (?:now )?(?:clean|up to date|in sync)|"
    r"^\W*(?:verified|validated|verification|validation|tests? run)\b|^`[^`]*`\W*$|"
    r"^\W*you(?:['’]re| are) all set\b",
    re.IGNORECASE,
)
_BUT = regex(
    r"\b(?:fail(?:s|ed|ing|ures?)?|not|pending|except|but|still|unrelated|waiting|skipp\w+)\b|"
    r"n['’]t\b",
    re.IGNORECASE,
)
_NONE = regex(r"\b(?:no|none|zero|0|without)\b[^.]*\b(?:fail\w*|pending)", re.IGNORECASE)
# What introduces a list of checks.
_LISTS_CHECKS = regex(r"\b(?:validat|verif|test|check)\w*\b[^.]*:$", re.IGNORECASE)
# A pull request, and a commit or a release: the work is found by them.
_PULL_REQUEST = regex(
    r"\b(?:prs?|mrs?|pull requests?)\b[^.;]*#\d|/(?:pull|merge_requests)/\d", re.I
)
_NAMED_CHANGE = regex(
    rf"{_PULL_REQUEST.pattern}|(?<![\w&])#\d+\b|`[0-9a-f]{{7,40}}`|"
    r"\b(?:merged|released|published|tagged|deployed)\b",
    re.IGNORECASE,
)
_PULL_NUMBER = regex(r"/(?:pull|merge_requests)/(\d+)|\bPR \[?#(\d+)")
_MAKES_CHANGE = regex(
    r"^\W*(?:(?:ready|draft|new) )?prs?\b|"
    r"\b(?:opened|created|updated|merged|pushed|published|draft|addressed)\b",
    re.IGNORECASE,
)
_COMMIT = regex(
    r"\b(?:committed|commit|merged|pushed)\b[^.\n]{0,40}?`([0-9a-f]{7,12})\b", re.IGNORECASE
)
# An account of the steps of a review or a push.
_ACCOUNT = regex(
    r"\b(?:addressed|replied|resolved|rebased|responded)\b[^.]*\b(?:threads?|reviews?|feedback|"
    r"comments?|conflicts?)\b|\b(?:threads?|reviews?|comments?)\b[^.]*\b(?:resolved|remain)|"
    r"\b(?:ci|checks?|jobs?)\b[^.]*\b(?:running|queued|pending|started)\b|"
    r"\b(?:checked out|pruned|pulled)\b|\bno tests? (?:was |were )?run\b|"
    r"\bnot run\b[^.]*\btests?\b|"
    r"^\W*pushed (?:follow-?up |the |as |in )?(?:commits?|`)|"
    r"^\W*(?:branch|commits?|commit hash|discussion reply|status|handle|bead|worktree|files?|"
    r"merge commit|prs?|pull request)\b[^:.]*:|\b(?:bead|tracker|ticket|task)\b[^.]*\bclosed\b",
    re.IGNORECASE,
)
# What an agent says on the way, and how a work is introduced that follows.
_ABOUT_TO = regex(
    r"^\W*(?:(?:now|next|first|then|ok(?:ay)?|so|good|great|perfect|done|clean)\b[,.!]? )*"
    r"(?:let me(?! know)|let['’]s|i have (?:enough|everything|all i need)|"
    r"i(?:['’]ll| will|['’]m going to| am going to| need to| should)|"
    r"(?:now|next),? (?:i|we|let|to|for|the|add|updat|writ|fix|check|run|creat|extend|implement)|"
    r"i(?:['’]m| am) (?:(?:now |also |just )?\w+ing|(?:at|in) the))\b|:$",
    re.IGNORECASE,
)
# A request about what was spoken of before it.
_REFERS_BACK = regex(
    r"\b(?:do|fix|try|mend|implement|apply|use|make) (?:that|this|it|them|these|those)\b",
    re.IGNORECASE,
)
# Temper says nothing of the work: "What the hell man?"
_TEMPER = regex(
    r"\b(?:(?:what|who|why|how) (?:the|in) (?:hell|heck|fuck|world|name of \w+)|wtf|omg|"
    r"oh my (?:god|gosh)|jesus(?: christ)?|for \w+['’]?s sake|come on|damn(?: it)?|holy \w+|"
    r"(?:are )?you(?:['’]re| are)? (?:kidding|serious|joking)(?: me)?|seriously|unbelievable|"
    r"(?:man|dude|bro|mate)(?=\W*(?:$|[.,!?])))\b",
    re.IGNORECASE,
)
# Asks for leave or for a choice, rather than offering more of the same.
_ASKS_LEAVE = regex(
    r"\b(?:go|ok(?:ay)?|approved?|proceed|confirm|shall i|should i|should we|agreed?|"
    r"look(?:s)? (?:right|good|ok)|sound(?:s)? (?:right|good)|"
    r"which (?:one|option|of|way|approach|do)|(?:do|would) you (?:want|prefer|like|approve)|"
    r"your (?:call|choice|decision))\b[^?]*\?",
    re.IGNORECASE,
)
# What work waits for that a person has to give.
_FOR_PERSON = regex(r"\byour?\b|\bapprov\w*|\bgo-ahead\b|\bconfirm\w*", re.IGNORECASE)
_OFFERS_HELP = regex(
    r"\b(?:anything|something) else\b|\bhelp you\b|\bany (?:other )?questions\b|\bwhat['’]s next\b",
    re.IGNORECASE,
)
# How many sentences at the end of a reply may hold its question.
_CLOSING_SENTENCES = 2


def find_ending(
    reader: Reader, bank: str, exchanges: Sequence[Exchange], title: str
) -> Ending | None:
    """How the session with these exchanges ended; None if nothing in it says so. `title` is told
    where its last requests could be those of any session ("address the feedback")."""
    at = _last_with_work(exchanges)
    if at is None:
        return None
    last = exchanges[at]
    turns = last_turns(reader, bank, last)
    reply = last.summary if last.author else _reply(turns)
    request, is_telling = _request(exchanges[: at + 1], _without_result(title, reply))
    state = _state(last, turns, reply)
    if state is State.UNANSWERED:
        asked = truncate(_asked(turns), _LIMITS.question_characters)
        return Ending(state, asked or request, "", "", last)
    said = _shown(reply)
    if state is State.UNFINISHED:
        return Ending(state, request, _doing(said, turns), "", last)
    if state is State.ASKED:
        question = _question(said)
        lead = [one for one in _telling(said)[:1] if one.endswith(".") and one not in question]
        return Ending(state, request, _joined(lead, _LIMITS.lead_characters), question, last)
    told = _telling(said)
    if not is_telling:
        for earlier in exchanges[max(0, at - _LIMITS.exchanges_before) : at][::-1]:
            if earlier.files_modified:
                before = _telling(_shown(_reply(last_turns(reader, bank, earlier))))
                is_named = any(map(_NAMED_CHANGE.search, told))
                told += [one for one in before if not (is_named and _NAMED_CHANGE.search(one))]
    if state is State.ANSWERED and any(map(_NAMED_CHANGE.search, told)):
        state = State.DONE
    return Ending(state, request, _result(told), "", last)


def _doing(said: Sequence[str], turns: Sequence[Turn]) -> str:
    """What an agent was about to do: the commit that it was making, or what it said last. What it
    said before that is often overtaken."""
    if turns and (subject := begun_commit(turns[-1])):
        return f"git commit: {truncate(subject, _LIMITS.result_characters)}"
    doing = said[-1] if said else ""
    is_telling = len(doing) >= _LIMITS.doing_characters
    return truncate(doing, _LIMITS.result_characters).rstrip(":") if is_telling else ""


def question_asked(turns: Sequence[Turn]) -> str:
    """The question that the last reply in these turns ends with; "" if it does not. An offer is
    none."""
    said = _shown(_reply(turns))[-_CLOSING_SENTENCES:]
    asked = [one for one in said if plain(one).endswith("?") and not _OFFERS_HELP.search(one)]
    return asked[-1] if asked else ""


def change_named_in(reader: Reader, exchange: Exchange) -> str:
    """The pull request that an exchange opened or updated, or its commit, as its last reply names
    it; else ""."""
    reply = _reply(last_turns(reader, exchange.bank, exchange))
    for sentence in sentences(reply):
        pull = _PULL_NUMBER.search(sentence)
        if pull is not None and _MAKES_CHANGE.search(plain(sentence)):
            return f"PR #{pull[1] or pull[2]}"
    commit = _COMMIT.search(reply)
    return commit[1] if commit else ""


def _last_with_work(exchanges: Sequence[Exchange]) -> int | None:
    """The place of the last exchange that says something: thanks and commands at the end do not."""
    for at in range(len(exchanges) - 1, -1, -1):
        one = exchanges[at]
        if one.summary or one.files_modified or one.outcome is Outcome.DONE:
            return at
        if names_work(one.title) and not is_go_ahead(one.title) and not EMPTY.match(one.title):
            return at
    return None


def last_turns(reader: Reader, bank: str, exchange: Exchange) -> Sequence[Turn]:
    """The turns at the end of an exchange."""
    start = max(exchange.first_seq, exchange.last_seq - _LIMITS.turns)
    return reader.turns.of_session(bank, exchange.session, start, exchange.last_seq)


def _asked(turns: Sequence[Turn]) -> str:
    """What the first turn of a person says, on one line."""
    said = (turn.text for turn in turns if turn.role is Role.USER and not is_interruption(turn))
    return without_links(collapse_spaces(next(said, "")))


def _reply(turns: Sequence[Turn]) -> str:
    said = (t.text for t in reversed(turns) if t.role is Role.ASSISTANT and not t.tool and t.text)
    parts = (part.strip() for part in reversed(_CALL.split(next(said, ""))))
    return _DIRECTIVE.sub("", next(filter(None, parts), ""))


def _state(last: Exchange, turns: Sequence[Turn], reply: str) -> State:
    if last.outcome is Outcome.INTERRUPTED:
        return State.INTERRUPTED
    if not reply and last.outcome is Outcome.OPEN:
        return State.UNANSWERED
    if last.outcome is Outcome.FAILED:
        return State.FAILED
    if turns and turns[-1].tool is not None:
        return State.UNFINISHED
    closing = sentences(reply)[-_CLOSING_SENTENCES:]
    if any(_asks(one, last) for one in closing):
        return State.ASKED
    if closing and _ABOUT_TO.search(plain(closing[-1])):
        return State.UNFINISHED
    if last.outcome is Outcome.OPEN and turns and turns[-1].role is Role.ASSISTANT:
        waits_for_person = any(_FOR_PERSON.search(plain(one)) for one in closing)
        return State.ASKED if waits_for_person else State.UNFINISHED
    if last.outcome is Outcome.OPEN and last.files_modified:
        return State.DONE  # a yes or thanks came after the reply
    return _STATES.get(last.outcome, State.ANSWERED)


def _asks(sentence: str, last: Exchange) -> bool:
    """Whether a sentence asks for something that the work needs; after a change, an offer of more
    is no question."""
    words = plain(sentence)
    if not words.endswith("?") or _OFFERS_HELP.search(words):
        return False
    if last.outcome is not Outcome.DONE:
        return True
    return _ASKS_LEAVE.search(words) is not None and not is_offer(words.removesuffix("?"))


def _request(exchanges: Sequence[Exchange], title: str) -> tuple[str, bool]:
    """The last request, or the title of the session if that says more; and whether it was the last
    one that says what the work is about."""
    last = exchanges[-1].title
    if says_something(last) and not _REFERS_BACK.search(last):
        return truncate(last, _LIMITS.request_characters), True
    if says_something(title):
        asked = truncate(title, _LIMITS.request_characters)
        stems = telling_stems(_TEMPER.sub(" ", last))
        is_other = last not in title and len(stems) >= _LIMITS.request_stems
        return f"{asked}; then: {last}" if is_other else asked, False
    told = next((one.title for one in reversed(exchanges) if says_something(one.title)), "")
    return truncate(told or title or last, _LIMITS.request_characters), False


def _without_result(title: str, reply: str) -> str:
    """The title of a session, without what it has from the reply that is told."""
    asked, _, result = title.partition(" — ")
    return asked if result and result.rstrip("….") in without_bold(without_links(reply)) else title


def _shown(reply: str) -> list[str]:
    """The sentences of a reply, as they are shown; without lists of checks, and each once."""
    found: list[str] = []
    lists_checks = False
    for one in sentences(reply):
        if one.endswith(":"):
            lists_checks = _LISTS_CHECKS.search(plain(one)) is not None
        elif one.endswith((".", "!", "?")):
            lists_checks = False
        if not lists_checks:
            found.append(without_bold(without_links(one)))
    return list(dict.fromkeys(found))


def _question(said: Sequence[str]) -> str:
    """What is asked at the end, with as much of what leads to it as there is room for."""
    last = max((n for n, one in enumerate(said) if "?" in one), default=len(said) - 1)
    chosen: list[str] = []
    for one in reversed(said[: last + 1]):
        if chosen and len(" ".join((one, *chosen))) > _LIMITS.question_characters:
            break
        chosen.insert(0, one)
    return truncate(" ".join(chosen), _LIMITS.question_characters)


def _result(told: Sequence[str]) -> str:
    """What replies say of the work, as far as there is room: first what names the change, then the
    rest in its order. The account of a review or a push is told if there is nothing else."""
    named = [one for one in told if _PULL_REQUEST.search(one)]
    named = (named or [one for one in told if _NAMED_CHANGE.search(one)])[:1]
    work = [one for one in told if not _ACCOUNT.search(plain(one))]
    chosen: list[str] = []
    for one in dict.fromkeys((*named, *(work or told))):
        if len(" ".join((*chosen, one))) <= _LIMITS.result_characters:
            chosen.append(one)
    return _joined([one for one in told if one in chosen] or told[:1], _LIMITS.result_characters)


def _joined(parts: Sequence[str], characters: int) -> str:
    """Sentences and items of a list as one text."""
    ended = [one if one.endswith((".", "!", "?", ":", ";")) else f"{one};" for one in parts]
    return truncate(" ".join(dict.fromkeys(ended)).removesuffix(";"), characters)


def _telling(said: Sequence[str]) -> list[str]:
    return [one for one in said if tells_work(one)]


def tells_work(sentence: str) -> bool:
    """Whether a sentence of a reply says what was done or found: not that checks pass, what comes
    next, or an offer."""
    words = plain(sentence)
    if words.endswith(":"):
        return _PULL_REQUEST.search(words) is not None
    if len(words) < _LIMITS.sentence_characters or words.endswith("?") or is_data(words):
        return False
    if is_chatter(words) or is_offer(words) or is_task(words) or _ABOUT_TO.search(words):
        return False
    if not _PASSED.search(words):
        return True
    return _BUT.search(words) is not None and not _NONE.search(words)
