"""L2: one exchange per human request, made by rules from the turns alone.

Extractive and deterministic: every sentence was said by someone, every file was touched by a
tool, and the same turns always give the same exchanges under the same ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdfast.language import cut, decides, headings, is_chatter, plain, sentences, squeeze
from holdfast.model.ids import content_id
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.trust import least_trusted
from holdfast.refine.core import signals
from holdfast.refine.core.keywords import extract_keywords

TITLE_LIMIT = 90
SUMMARY_LIMIT = 320
DETAILS_LIMIT = 1500
FACTS_LIMIT = 5
FILES_LIMIT = 40
DIALOGUE_TURNS = 8
_READ = 12_000
# A group holds its turns whole up to here, and the starts of those that follow.
_HELD = 4_000_000
_READ_IN_PASSING = 500

_COURTESY = re.compile(
    r"^(?:(?:hi|hey|hello|ok|okay|so|now|and|also|please|well|great|thanks?|perfect)[,.! ]+)*"
    r"(?:(?:can|could|would|will) you (?:please )?|please |i(?:'d| would) like you to |"
    r"i (?:want|need) you to |let'?s |we need to |i want to |your task (?:is )?to |your task: )?",
    re.IGNORECASE,
)
_LEADING_SYMBOLS = re.compile(r"^[^\w`'\"(\[<@#$/.-]+")
_PLAN_PREAMBLE = re.compile(
    r"^(?:implement|execute|follow|here is|this is) (?:the |this )?(?:following )?plan", re.I
)


class ExchangeGrouper:
    """Cuts a stream of turns where a person asks for something new."""

    def __init__(self, dialogue: bool) -> None:
        """In a dialogue of people nobody answers, so a stretch of talk is the unit."""
        self._is_dialogue = dialogue
        self._turns: list[Turn] = []
        self._answered = False
        self._characters = 0

    def add(self, turn: Turn) -> list[Turn]:
        """Take the next turn; returns the group that it closes, if it does."""
        asks = turn.role is Role.USER and not signals.is_interruption(turn)
        if self._is_dialogue:
            closes = len(self._turns) == DIALOGUE_TURNS
        else:
            closes = asks and self._answered and not signals.is_go_ahead(turn.text)
        closed = self.finish() if closes else []
        self._answered = self._answered or not asks
        self._characters += len(turn.text)
        if self._characters > _HELD and len(turn.text) > _READ_IN_PASSING:
            turn = replace(turn, text=turn.text[:_READ_IN_PASSING])
        self._turns.append(turn)
        return closed

    @property
    def exchange(self) -> str:
        """The id of the exchange that the open group will be."""
        return exchange_id(self._turns[0])

    def finish(self) -> list[Turn]:
        """The group that is still open, [] if there is none."""
        closed, self._turns = self._turns, []
        self._answered = False
        self._characters = 0
        return closed


def exchange_id(first: Turn) -> str:
    """The id of the exchange that starts with a turn."""
    return content_id("exchange", first.session, first.id)


def build_exchange(turns: Sequence[Turn]) -> Exchange:
    """The exchange that a group of turns is."""
    request = "\n\n".join(
        turn.text
        for turn in turns
        if turn.role is Role.USER and not signals.is_interruption(turn) and turn.text != "[image]"
    )
    request = request[:_READ]
    said = [turn for turn in turns if turn.role is Role.ASSISTANT]
    reply = _final_reply(said)[:_READ]
    read = _files(turns, signals.READ_TOOLS)
    modified = _files(turns, signals.EDIT_TOOLS)
    commits = [message for turn in turns if (message := signals.commit_message(turn))]
    asks = signals.is_question(request)
    changed = bool(modified or commits) or (signals.uses_subagents(turns) and not asks)
    title = _title(request, reply, modified, commits)
    told = [cut(fact, 300) for fact in signals.notable_sentences(turns, FACTS_LIMIT + 1)]
    told = [fact for fact in told if _compare_key(fact) != _compare_key(title)]
    facts = [f"Committed: {message}" for message in commits][:2] + told
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
        type=signals.classify_exchange(request, title, changed, _states_decision(request, told)),
        title=title,
        summary=_summary(reply, turns, modified),
        details=_details(request, turns, reply, modified),
        outcome=signals.infer_outcome(turns, changed),
        trust=least_trusted(turn.trust for turn in turns),
        facts=tuple(facts[:FACTS_LIMIT]),
        keywords=extract_keywords(request, reply, [*modified, *read]),
        files_read=tuple(path for path in read if path not in modified)[:FILES_LIMIT],
        files_modified=modified[:FILES_LIMIT],
        branch=next((turn.branch for turn in turns if turn.branch), ""),
    )


def _final_reply(said: Sequence[Turn]) -> str:
    """The last thing the assistant said at any length: where it tells what came of it. A few
    words count if they tell something and do not only lead up to what follows."""
    for turn in reversed(said):
        text = turn.text
        if len(text) >= 80 or (len(text) >= 30 and text[-1] not in ":…" and not is_chatter(text)):
            return text
    return said[-1].text if said else ""


def _files(turns: Iterable[Turn], tools: frozenset[str]) -> tuple[str, ...]:
    """Files that a tool proves were read or changed, in order, without failed attempts."""
    paths = (
        turn.tool.target
        for turn in turns
        if turn.tool is not None
        and turn.tool.name in tools
        and turn.tool.target
        and turn.tool.ok is not False
    )
    return tuple(dict.fromkeys(paths))


def _compare_key(sentence: str) -> str:
    return "".join(c for c in sentence.lower() if c.isalnum())[:60]


def _title(request: str, reply: str, modified: Sequence[str], commits: Sequence[str]) -> str:
    """What was asked; where that says little ("commit", "fix it"), also what came of it."""
    headline = _headline(request)
    if len(headline.split()) >= 3 or (headline and not reply and not modified):
        return cut(headline, TITLE_LIMIT)
    lead = f"{headline}: " if headline else ""
    if commits:
        return cut(lead + commits[-1], TITLE_LIMIT)
    for sentence in sentences(reply):
        if not is_chatter(sentence) and len(sentence) >= 15:
            return cut(lead + _LEADING_SYMBOLS.sub("", sentence).rstrip(".:!"), TITLE_LIMIT)
    if modified:
        return cut(f"{headline or 'Changed'}: {', '.join(modified)}", TITLE_LIMIT)
    return cut(headline or squeeze(reply) or "(no words)", TITLE_LIMIT)


def _headline(request: str) -> str:
    """The first thing asked for, without courtesies and without the plan's preamble."""
    text = request.strip()
    if not text:
        return ""
    if _PLAN_PREAMBLE.match(text):
        named = headings(text)
        if named:
            return named[0].removeprefix("Plan: ")
    said = sentences(text) or [squeeze(plain(text))]
    # A subagent's orders open with who it is; what it must do comes after.
    orders = [s for s in said if not s.startswith("You are ")] or said
    bare = [_COURTESY.sub("", sentence, count=1).strip(" .:;!,") for sentence in orders]
    long_enough = [line for line in bare if len(line.split()) >= 3]
    line = next(iter(long_enough or [line for line in bare if len(line) >= 3]), squeeze(text))
    return line if "://" in line[:10] else line[:1].upper() + line[1:]


def _summary(reply: str, turns: Sequence[Turn], modified: Sequence[str]) -> str:
    """What came of it: the reply's first telling sentences, or the deeds."""
    told = [s for s in sentences(reply) if len(s) >= 12]
    best = [s for s in told if not is_chatter(s) and not s.endswith((":", "?"))] or told
    summary = ""
    for sentence in best:
        if summary and len(summary) + len(sentence) > SUMMARY_LIMIT:
            break
        joint = "; " if summary and summary[-1] not in ".!?…" else " "
        summary = f"{summary}{joint}{_LEADING_SYMBOLS.sub('', sentence)}".strip()
    return cut(summary, SUMMARY_LIMIT) if summary else _describe_actions(turns, modified)


def _describe_actions(turns: Sequence[Turn], modified: Sequence[str]) -> str:
    parts: list[str] = []
    if modified:
        parts.append(f"Changed {', '.join(modified[:4])}" + (" …" if len(modified) > 4 else ""))
    commands = [t.tool for t in turns if t.tool is not None and t.tool.name in signals.SHELL_TOOLS]
    if commands:
        ran = cut(commands[-1].action.split("\n", 1)[0], 80)
        state = {True: "ok", False: "failed", None: "no result"}[commands[-1].ok]
        parts.append(f"ran {ran} ({state})")
    return cut("; ".join(parts), SUMMARY_LIMIT)


def _details(request: str, turns: Sequence[Turn], reply: str, modified: Sequence[str]) -> str:
    """The request, what went wrong on the way, the verdict of the tests, the reply."""
    lines = [f"Asked: {cut(plain(request), 400)}"] if request else []
    if modified:
        lines.append(f"Changed: {', '.join(modified[:12])}" + (" …" if len(modified) > 12 else ""))
    failed = [turn.tool for turn in turns if turn.tool is not None and turn.tool.ok is False]
    for tool in failed[:3]:
        what = tool.target or tool.action.split("\n", 1)[0]
        lines.append(cut(f"Failed: {tool.name} {what}: {tool.result}", 220))
    tests = [turn.tool for turn in turns if signals.ran_tests(turn)]
    if tests and tests[-1] is not None:
        verdict = {True: "passed", False: "failed", None: "no result"}[tests[-1].ok]
        lines.append(cut(f"Tests: {verdict} ({tests[-1].result or tests[-1].action})", 200))
    if reply:
        lines.append(f"Result: {cut(plain(reply), 700)}")
    return "\n".join(lines)[:DETAILS_LIMIT]


def _states_decision(request: str, facts: Sequence[str]) -> bool:
    """Whether a decision was stated: by the person, or as one of the telling sentences."""
    if any(decides(sentence) for sentence in sentences(request[:2000])):
        return True
    return not signals.is_question(request) and any(decides(fact) for fact in facts)
