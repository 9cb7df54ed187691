"""Rules that read meaning out of turns: the type of an exchange, its outcome, notable sentences,
next steps, tests, commits. English patterns; the tools are those of Claude Code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import DECISION_PATTERN, collapse_spaces, is_chatter, plain, sentences, words
from holdfast.model.records import ExchangeType, Outcome, Role, ToolCall, Turn
from holdfast.refine.core.written_messages import commit_messages, pull_request_titles
from holdfast.regex import regex
from holdfast.sources.claude_code.prompts import INTERRUPTED
from holdfast.sources.written_text import COMMITS

# Names of tools by what they do.
EDIT_TOOLS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
READ_TOOLS = frozenset(("Read", "NotebookRead"))
SHELL_TOOLS = frozenset(("Bash", "PowerShell"))
SUBAGENT_TOOLS = frozenset(("Agent", "Task"))

_BUG = regex(
    r"\b(?:fix(?:es|ed|ing)?|bugs?|broken?|breaks|crash\w*|fail(?:s|ed|ing|ures?)?|errors?|"
    r"exceptions?|regressions?|wrong(?:ly)?|incorrect\w*|doesn'?t work|not working|isn'?t working|"
    r"stack ?trace|traceback|hangs?|flaky|leak(?:s|ing)?|deadlock|race condition)\b",
    re.IGNORECASE,
)
_REFACTOR = regex(
    r"\b(?:refactor\w*|renam(?:e|ed|ing)|clean(?:\s|-)?up|simplif\w+|extract\w*|restructur\w+|"
    r"reorgani[sz]\w+|dedup\w*|de-duplicat\w+|consolidat\w+|split (?:up|into|out)|inline|"
    r"move .{1,40} (?:to|into)|migrat\w+|replace .{1,60} with)\b",
    re.IGNORECASE,
)
_FEATURE = regex(
    r"\b(?:add(?:s|ed|ing)?|implement\w*|creat(?:e|ed|ing)|build|support(?:s|ing)?|introduc\w+|"
    r"new (?:feature|command|page|option|endpoint|test)|generat(?:e|ing)|make (?:a|an|it)|"
    r"write (?:a|an|the|tests?))\b",
    re.IGNORECASE,
)
# The types of exchanges that change files, in the order in which their words are looked for in a
# request, which names a bug more often in passing than a title does.
_TYPES_IN_REQUEST = (
    (_REFACTOR, ExchangeType.REFACTOR),
    (_FEATURE, ExchangeType.FEATURE),
    (_BUG, ExchangeType.BUGFIX),
)
_TYPES_IN_TITLE = (_TYPES_IN_REQUEST[-1], *_TYPES_IN_REQUEST[:-1])
_QUESTION = regex(
    r"^(?:what|why|how|where|when|who|which|is|are|does|do|did|can you (?:explain|tell|show|find)|"
    r"explain|describe|show|list|find|check|review|look|analy[sz]e|investigate|tell|research|"
    r"understand|explore|compare|summari[sz]e|verify)\b",
    re.IGNORECASE,
)
_CAUSE = regex(
    r"\b(?:root cause|the (?:real |actual )?(?:problem|issue|bug|cause|reason|culprit) (?:is|was)|"
    r"caused by|turns? out|because|the fix (?:is|was)|happens when|it fails when|was due to|"
    r"the reason|so that|explains why)\b",
    re.IGNORECASE,
)
_RULE = regex(
    r"\b(?:always|never|must(?: not)?|from now on|remember(?: that| to)?|do not|don'?t ever|"
    r"make sure (?:to|that)|important\s*:|note\s*:|note that|requires?|only works|convention)\b",
    re.IGNORECASE,
)
_NEXT_STEP = regex(
    r"\b(?:next steps?|remaining|still (?:to do|needs?|open|missing)|to ?do\b|follow[- ]ups?|"
    r"not yet|would you like me to|shall i|should i|want me to|let me know if|you (?:may|might) "
    r"want to|left to do|out of scope|later we|then we can|after that)\b",
    re.IGNORECASE,
)
_GO_AHEAD_WORDS = frozenset(
    "yes y yep yup yeah sure ok okay continue go proceed ahead on please do it that's fine good "
    "great perfect thanks thank you correct right approved lgtm next keep going and now".split()
)
_TEST_COMMAND = regex(
    r"\b(?:pytest|jest|vitest|go test|cargo (?:test|nextest)|npm (?:run )?test|bun test|mocha|"
    r"rspec|phpunit|ctest|make (?:test|check)|tox|gradlew? test|mvn test|dotnet test)\b"
)
# How a fact of an exchange begins that is the message of a commit, or a pull request's title.
COMMITTED = "Committed: "
PULL_REQUESTED = "Pull request: "


class SignalLimits(NamedTuple):
    """How much text is read and which sentences count. Higher limits read more of pasted logs and
    code, which say little about the work."""

    # "Yes, please go on": a longer message says something of its own.
    go_ahead_words: int = 5
    # A request says first what it wants.
    opening_characters: int = 400
    turn_characters: int = 6000
    # A closing message says last what is left to do.
    closing_characters: int = 4000
    # A shorter sentence says nothing by itself; a longer one is a list or a log line.
    shortest_sentence: int = 25
    longest_sentence: int = 320
    shortest_next_step: int = 15
    # Sentences that start with the same characters are the same.
    same_sentence_characters: int = 80


class SentenceScores(NamedTuple):
    """What a notable sentence scores for each thing that it states; the best are kept."""

    decision: float = 1.5
    cause: float = 1.5
    rule: float = 1.0
    # Added for a sentence of the user.
    user: float = 1.0


_LIMITS = SignalLimits()
_SCORES = SentenceScores()


def is_interruption(turn: Turn) -> bool:
    """Whether a turn is the mark that a person interrupted the agent."""
    return turn.role is Role.USER and turn.text.startswith(INTERRUPTED)


def is_go_ahead(text: str) -> bool:
    """Whether a message only tells the agent to carry on."""
    found = words(text)
    return 0 < len(found) <= _LIMITS.go_ahead_words and all(w in _GO_AHEAD_WORDS for w in found)


def classify_exchange(request: str, title: str, changed: bool, decided: bool) -> ExchangeType:
    """The type of an exchange: by its changes, the words of its title, those of the request."""
    if not changed:
        return ExchangeType.DECISION if decided else ExchangeType.DISCOVERY
    opening = collapse_spaces(request)[: _LIMITS.opening_characters]
    for text, types in ((title, _TYPES_IN_TITLE), (opening, _TYPES_IN_REQUEST)):
        for pattern, kind in types:
            if pattern.search(text):
                return kind
    return ExchangeType.CHANGE


def is_question(text: str) -> bool:
    """Whether a request asks for information rather than for a change."""
    opening = collapse_spaces(text)
    return bool(_QUESTION.match(opening)) or opening.endswith("?")


def notable_sentences(turns: Sequence[Turn], limit: int) -> list[str]:
    """The best sentences that state a decision, a cause or a rule, in their order. A person's
    sentences score higher than the agent's."""
    scored: list[tuple[float, int, str]] = []
    seen: set[str] = set()
    for number, turn in enumerate(turns):
        if turn.tool is not None or not turn.text:
            continue
        bonus = _SCORES.user if turn.role is Role.USER else 0.0
        for sentence in sentences(turn.text[: _LIMITS.turn_characters]):
            score = _score_sentence(sentence)
            key = sentence.lower()[: _LIMITS.same_sentence_characters]
            if score and key not in seen:
                seen.add(key)
                scored.append((score + bonus, number, sentence))
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[:limit]
    return [sentence for _, _, sentence in sorted(best, key=lambda item: item[1])]


def _score_sentence(sentence: str) -> float:
    sentence = plain(sentence)
    fits = _LIMITS.shortest_sentence <= len(sentence) <= _LIMITS.longest_sentence
    if not fits or sentence.endswith(("?", ":")) or is_chatter(sentence):
        return 0.0
    scores = ((DECISION_PATTERN, _SCORES.decision), (_CAUSE, _SCORES.cause), (_RULE, _SCORES.rule))
    return sum(points for pattern, points in scores if pattern.search(sentence))


def next_steps(text: str, limit: int = 4) -> list[str]:
    """The last sentences of a closing message that say what is still to do."""
    shortest, longest = _LIMITS.shortest_next_step, _LIMITS.longest_sentence
    found = sentences(text[-_LIMITS.closing_characters :])
    said = [one for one in found if shortest <= len(one) <= longest and not one.endswith(":")]
    return [one for one in said if _NEXT_STEP.search(plain(one))][-limit:]


def tool_calls(turns: Iterable[Turn], names: frozenset[str]) -> list[ToolCall]:
    """The calls of tools with these names, in order."""
    return [t.tool for t in turns if t.tool is not None and t.tool.name in names]


def find_test_runs(turns: Iterable[Turn]) -> list[ToolCall]:
    """The calls that ran the tests, in order."""
    return [call for call in tool_calls(turns, SHELL_TOOLS) if _TEST_COMMAND.search(call.action)]


def ran_tests(turn: Turn) -> bool:
    """Whether a turn ran the tests."""
    return bool(find_test_runs([turn]))


def ran_commit(turn: Turn) -> bool:
    """Whether a turn tried to commit."""
    return any(COMMITS.search(call.action) for call in tool_calls([turn], SHELL_TOOLS))


def is_failed_command(turn: Turn) -> bool:
    """Whether a turn is a shell command that failed."""
    return any(call.ok is False for call in tool_calls([turn], SHELL_TOOLS))


def is_commit(fact: str) -> bool:
    """Whether a fact of an exchange is the message of a commit made in it."""
    return fact.startswith(COMMITTED)


def is_pull_request(fact: str) -> bool:
    """Whether a fact of an exchange is the title of a pull request opened or changed in it."""
    return fact.startswith(PULL_REQUESTED)


def names_change(fact: str) -> bool:
    """Whether a fact of an exchange is the message of a commit or the title of a pull request."""
    return is_commit(fact) or is_pull_request(fact)


def pull_request_title(turn: Turn) -> str:
    """The title of the last pull request that a turn opened or changed; "" if it did neither."""
    titles = pull_request_titles(turn.tool) if turn.tool is not None else []
    return collapse_spaces(titles[-1]) if titles else ""


def commit_message(turn: Turn) -> str:
    """The subject of the commit that a turn made; "" if it made none."""
    return begun_commit(turn) if turn.tool is not None and turn.tool.ok else ""


def begun_commit(turn: Turn) -> str:
    """The subject of the commit that a turn makes, whatever came of it."""
    for call in tool_calls([turn], SHELL_TOOLS):
        if COMMITS.search(call.action):
            message = next(iter(commit_messages(call.action)), "")
            return collapse_spaces(message.partition("\n")[0])
    return ""


# At the end of a reply: the work goes on, or waits for somebody.
_WAITS = regex(
    r"(?:\b(?:is|are|am|still|now) (?:waiting|awaiting)\b|['’](?:m|re) a?waiting\b|"
    r"^a?waiting\b|"
    r"\b(?:is|are|still) (?:still )?running in the background|"
    r"\b(?:shall|should) i (?:proceed|go ahead|continue)\b|"
    r"\bi(?:['’]ll| will) (?:report|continue|proceed|finish|commit|push|go on)\b.{0,60}"
    r"\b(?:once|when|as soon as|after)\b)",
    re.IGNORECASE,
)
_CLOSING_SENTENCES = 2
_MAX_CLOSING_CHARS = 600


def _waits(reply: str) -> bool:
    """Whether a reply ends with what it waits for."""
    closing = sentences(reply[-_MAX_CLOSING_CHARS:])[-_CLOSING_SENTENCES:]
    return any(_WAITS.search(plain(sentence)) for sentence in closing)


def infer_outcome(turns: Sequence[Turn], changed: bool) -> Outcome:
    """How turns ended, by their tool calls and the last turn. `changed`: they changed files."""
    if any(is_interruption(turn) for turn in turns[-2:]):
        return Outcome.INTERRUPTED
    tests = find_test_runs(turns)
    if tests and tests[-1].ok is False:
        return Outcome.FAILED
    replied = bool(turns) and turns[-1].role is Role.ASSISTANT
    if changed:
        if replied and _waits(turns[-1].text):
            return Outcome.OPEN
        ended_with_tool = bool(turns) and turns[-1].tool is not None
        return Outcome.DONE if replied or ended_with_tool else Outcome.OPEN
    return Outcome.ANSWERED if replied else Outcome.OPEN
