"""L2: groups turns into exchanges, one per user request, and builds each by rules.

The result is extractive and deterministic: every sentence is from a turn, every file from a tool
call, and the same turns always give the same exchanges with the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.language import (
    collapse_spaces,
    cut,
    is_chatter,
    sentences,
    states_decision,
    truncate,
    without_bold,
)
from holdfast.model.ids import content_id
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.trust import least_trusted
from holdfast.refine.core import signals
from holdfast.refine.core.keywords import extract_keywords
from holdfast.refine.core.memory_calls import without_memory_calls, without_retold
from holdfast.refine.core.passages import tool_status
from holdfast.refine.core.shell_changes import changed_files
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.requests.agent_prompts import gives_role
from holdfast.refine.requests.headlines import COMMAND, headline
from holdfast.refine.requests.headlines import LIMITS as HEADLINE_LIMITS
from holdfast.refine.sessions.made_branches import made_branch
from holdfast.regex import regex


class ExchangeLimits(NamedTuple):
    """How much of a group of turns is read, and how long the parts of an exchange may get. Titles
    and summaries are what lists, briefs and hits show; details only help to find the exchange."""

    title_characters: int = 140
    summary_characters: int = 320
    details_characters: int = 1500
    # The parts of the details.
    asked_characters: int = 400
    failure_characters: int = 220
    tests_characters: int = 200
    result_characters: int = 700
    failures: int = 3
    details_files: int = 12
    summary_files: int = 4
    command_characters: int = 80
    facts: int = 5
    # Of these, commits and pull requests.
    commits: int = 2
    pull_requests: int = 1
    fact_characters: int = 300
    files: int = 40
    # In a dialogue without an agent no answer ends an exchange; so many turns are one.
    dialogue_turns: int = 8
    # Characters of the request and of the reply that are read, and of the request for decisions.
    read_characters: int = 12_000
    decision_characters: int = 2000
    # A group keeps its turns complete up to so many characters, and the starts of those after.
    group_characters: int = 4_000_000
    turn_start_characters: int = 500
    # A reply of so many characters says what came of the request. A shorter one does, too, if it
    # has at least the second number and does not only announce what follows.
    long_reply_characters: int = 80
    short_reply_characters: int = 30
    shortest_title_sentence: int = 15
    shortest_summary_sentence: int = 12
    # Sentences with the same first letters are the same.
    same_sentence_letters: int = 60


LIMITS = ExchangeLimits()

# How the line of the details begins that has the reply.
RESULT = "Result: "
# A tick or an arrow before a sentence; what touches a word may be code.
_LEADING_SYMBOLS = regex(r"^(?:[^\w\s`'\"(\[<@#$/.-]+\s+)+")
# What an agent says that was asked for nothing yet, and a call that it wrote as text.
_GREETS = regex(
    r"^\W*(?:I(?:['’]m| am) (?:Claude\b|(?:now )?ready to |here to help)|"
    r"I(?:['’]ve| have)? (?:reviewed|appreciate|understand) .{0,40}\b(?:context|instructions)\b|"
    r"thank you for .{0,30}\b(?:context|instructions)\b|function_calls>)",
    re.IGNORECASE,
)
# The title of an exchange in which an agent was asked for nothing.
NO_REQUEST = "(no request)"


class ExchangeGrouper:
    """Splits turns into groups: a new one starts when the user asks for something new."""

    def __init__(self, dialogue: bool) -> None:
        """`dialogue`: only people speak, so a group is a fixed number of turns."""
        self._is_dialogue = dialogue
        self._turns: list[Turn] = []
        self._answered = False
        self._characters = 0

    def add(self, turn: Turn) -> list[Turn]:
        """Add the next turn; returns the group that ends before it, [] if none does."""
        asks = turn.role is Role.USER and not signals.is_interruption(turn)
        if self._is_dialogue:
            closes = len(self._turns) == LIMITS.dialogue_turns
        else:
            closes = asks and self._answered and not signals.is_go_ahead(turn.text)
        closed = self.finish() if closes else []
        self._answered = self._answered or not asks
        self._characters += len(turn.text)
        start = LIMITS.turn_start_characters
        if self._characters > LIMITS.group_characters and len(turn.text) > start:
            turn = replace(turn, text=turn.text[:start])
        self._turns.append(turn)
        return closed

    @property
    def exchange(self) -> str:
        """The id of the exchange that the open group will become."""
        return exchange_id(self._turns[0])

    def finish(self) -> list[Turn]:
        """End and return the open group, [] if there is none."""
        closed, self._turns = self._turns, []
        self._answered = False
        self._characters = 0
        return closed


def exchange_id(first: Turn) -> str:
    """The id of the exchange that starts with a turn."""
    return content_id("exchange", first.session, first.id)


def build_exchange(turns: Sequence[Turn], root: str = "") -> Exchange:
    """The exchange of a group of turns. `root` is the folder that the session was started in."""
    request = "\n\n".join(
        turn.text
        for turn in turns
        if turn.role is Role.USER and not signals.is_interruption(turn) and turn.text != "[image]"
    )
    request = request[: LIMITS.read_characters]
    work = without_memory_calls(turns)
    replies = [turn for turn in turns if turn.role is Role.ASSISTANT]
    reply = _final_reply(replies)[: LIMITS.read_characters]
    reading = signals.tool_calls(turns, signals.READ_TOOLS)
    read = tuple(dict.fromkeys(c.target for c in reading if c.target and c.ok is not False))
    modified = tuple(
        dict.fromkeys(file for t in turns if t.tool for file in changed_files(t.tool, root))
    )
    commits = [message for turn in turns if (message := signals.commit_message(turn))]
    pulls = [title for turn in turns if (title := signals.pull_request_title(turn))]
    asks = signals.is_question(request)
    delegated = bool(signals.tool_calls(turns, signals.SUBAGENT_TOOLS))
    changed = bool(modified or commits) or (delegated and not asks)
    asked = headline(request)
    title = _title(asked, request, reply, modified, commits + pulls)
    title = truncate(title, LIMITS.title_characters)
    # One more than is needed, because the title may be one of them.
    said = [turn for turn in without_retold(turns) if not _starts_agent(turn)]
    found = signals.notable_sentences(said, LIMITS.facts + 1)
    notable = [truncate(sentence, LIMITS.fact_characters) for sentence in found]
    notable = [sentence for sentence in notable if _compare_key(sentence) != _compare_key(title)]
    changes = [signals.PULL_REQUESTED + title for title in pulls[-LIMITS.pull_requests :]]
    changes += [signals.COMMITTED + message for message in commits[: LIMITS.commits]]
    facts = changes + notable
    first, last = turns[0], turns[-1]
    times = [turn.time for turn in turns if turn.time]
    return Exchange(
        bank=first.bank,
        id=exchange_id(first),
        session=first.session,
        first_seq=first.seq,
        last_seq=last.seq,
        started=times[0] if times else "",
        ended=times[-1] if times else "",
        type=signals.classify_exchange(request, title, changed, _states_decision(request, notable)),
        title=title,
        summary=_summary(reply, work, modified),
        details=_details(request, work, reply, modified),
        outcome=signals.infer_outcome(turns, changed),
        trust=least_trusted(turn.trust for turn in turns),
        facts=tuple(facts[: LIMITS.facts]),
        keywords=extract_keywords(request, reply, [*modified, *read]),
        files_read=tuple(path for path in read if path not in modified)[: LIMITS.files],
        files_modified=modified[: LIMITS.files],
        branch=_branch(turns),
    )


def _starts_agent(turn: Turn) -> bool:
    """Whether a program wrote a request, and so nothing in it was decided."""
    return turn.role is Role.USER and gives_role(turn.text)


def _branch(turns: Sequence[Turn]) -> str:
    """The branch that was made for the work, or else the one it began on."""
    made = [name for turn in turns if (name := made_branch(turn))]
    return made[-1] if made else next((turn.branch for turn in turns if turn.branch), "")


def _final_reply(replies: Sequence[Turn]) -> str:
    """The last reply that says something about the result, else the last reply."""
    for turn in reversed(replies):
        text = turn.text
        if len(text) >= LIMITS.long_reply_characters:
            return text
        long_enough = len(text) >= LIMITS.short_reply_characters
        if long_enough and text[-1] not in ":…" and not is_chatter(text):
            return text
    return replies[-1].text if replies else ""


def _compare_key(sentence: str) -> str:
    return "".join(c for c in sentence.lower() if c.isalnum())[: LIMITS.same_sentence_letters]


def _title(
    asked: str, request: str, reply: str, modified: Sequence[str], changes: Sequence[str]
) -> str:
    """What was asked; if that is very short ("commit", "fix it") or a command with what it printed,
    also the result, and only that if the agent was told to go on."""
    is_command = COMMAND.match(asked) is not None and "\n" in request
    long_enough = len(asked.split()) >= HEADLINE_LIMITS.words and not is_command
    if long_enough or (asked and not reply and not modified):
        return asked
    is_told = any(map(str.isalpha, asked)) and not signals.is_go_ahead(request)
    lead = f"{asked}: " if is_told else ""
    if changes:
        return lead + changes[-1]
    for sentence in sentences(reply):
        if not is_chatter(sentence) and len(sentence) >= LIMITS.shortest_title_sentence:
            if not asked and not modified and _GREETS.match(sentence):
                return NO_REQUEST
            return lead + _LEADING_SYMBOLS.sub("", without_bold(sentence)).rstrip(".:!")
    if modified:
        return f"{asked or 'Changed'}: {', '.join(modified)}"
    return asked or collapse_spaces(reply) or "(no words)"


def _summary(reply: str, turns: Sequence[Turn], modified: Sequence[str]) -> str:
    """The first sentences of the reply that say something, or else what was done."""
    found = [s for s in sentences(reply) if len(s) >= LIMITS.shortest_summary_sentence]
    best = [s for s in found if not is_chatter(s) and not s.endswith((":", "?"))] or found
    summary = ""
    for sentence in best:
        if summary and len(summary) + len(sentence) > LIMITS.summary_characters:
            break
        joint = "; " if summary and summary[-1] not in ".!?…" else " "
        summary = f"{summary}{joint}{_LEADING_SYMBOLS.sub('', sentence)}".strip()
    return truncate(summary or _describe_actions(turns, modified), LIMITS.summary_characters)


def _describe_actions(turns: Sequence[Turn], modified: Sequence[str]) -> str:
    parts: list[str] = []
    if modified:
        parts.append(f"Changed {_list_files(modified, LIMITS.summary_files)}")
    commands = signals.tool_calls(turns, signals.SHELL_TOOLS)
    if commands:
        ran = truncate(commands[-1].action.split("\n", 1)[0], LIMITS.command_characters)
        parts.append(f"ran {ran} ({tool_status(commands[-1])})")
    return "; ".join(parts)


def _list_files(files: Sequence[str], limit: int) -> str:
    return ", ".join(files[:limit]) + (" …" if len(files) > limit else "")


def _details(request: str, turns: Sequence[Turn], reply: str, modified: Sequence[str]) -> str:
    """The request, changed files, failed tool calls, the last result of the tests, the reply."""
    lines: list[str] = []
    if request:
        lines.append(f"Asked: {cut(request, LIMITS.asked_characters)}")
    if modified:
        lines.append(f"Changed: {_list_files(modified, LIMITS.details_files)}")
    failed = [turn.tool for turn in turns if turn.tool is not None and turn.tool.ok is False]
    for tool in failed[: LIMITS.failures]:
        target = tool.target or tool.action.split("\n", 1)[0]
        failure = f"Failed: {tool.name} {target}: {tool.result}"
        lines.append(cut(failure, LIMITS.failure_characters))
    tests = signals.find_test_runs(turns)
    if tests:
        verdict = {True: "passed", False: "failed", None: "no result"}[tests[-1].ok]
        result = f"Tests: {verdict} ({tests[-1].result or tests[-1].action})"
        lines.append(cut(result, LIMITS.tests_characters))
    if reply:
        lines.append(f"{RESULT}{cut(reply, LIMITS.result_characters)}")
    return "\n".join(lines)[: LIMITS.details_characters]


def _states_decision(request: str, facts: Sequence[str]) -> bool:
    stated = [] if gives_role(request) else sentences(request[: LIMITS.decision_characters])
    stated += [] if signals.is_question(request) else facts
    return any(states_decision(one) and not is_for_the_moment(one) for one in stated)
