"""What words and deeds give away: a request's kind, a decision, a cause, a next step, an end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.language import DECISION, is_chatter, sentences, squeeze, words
from holdfast.model.records import ExchangeType, Outcome, Role, Turn
from holdfast.sources.claude_code.prompts import INTERRUPTED

EDIT_TOOLS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
READ_TOOLS = frozenset(("Read", "NotebookRead"))
SHELL_TOOLS = frozenset(("Bash", "PowerShell"))
SUBAGENT_TOOLS = frozenset(("Agent", "Task"))

_BUG = re.compile(
    r"\b(?:fix(?:es|ed|ing)?|bugs?|broken?|breaks|crash\w*|fail(?:s|ed|ing|ures?)?|errors?|"
    r"exceptions?|regressions?|wrong(?:ly)?|incorrect\w*|doesn'?t work|not working|isn'?t working|"
    r"stack ?trace|traceback|hangs?|flaky|leak(?:s|ing)?|deadlock|race condition)\b",
    re.IGNORECASE,
)
_REFACTOR = re.compile(
    r"\b(?:refactor\w*|renam(?:e|ed|ing)|clean(?:\s|-)?up|simplif\w+|extract\w*|restructur\w+|"
    r"reorgani[sz]\w+|dedup\w*|de-duplicat\w+|consolidat\w+|split (?:up|into|out)|inline|"
    r"move .{1,40} (?:to|into)|migrat\w+|replace .{1,60} with)\b",
    re.IGNORECASE,
)
_FEATURE = re.compile(
    r"\b(?:add(?:s|ed|ing)?|implement\w*|creat(?:e|ed|ing)|build|support(?:s|ing)?|introduc\w+|"
    r"new (?:feature|command|page|option|endpoint|test)|generat(?:e|ing)|make (?:a|an|it)|"
    r"write (?:a|an|the|tests?))\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:what|why|how|where|when|who|which|is|are|does|do|did|can you (?:explain|tell|show|find)|"
    r"explain|describe|show|list|find|check|review|look|analy[sz]e|investigate|tell|research|"
    r"understand|explore|compare|summari[sz]e|verify)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:root cause|the (?:real |actual )?(?:problem|issue|bug|cause|reason|culprit) (?:is|was)|"
    r"caused by|turns? out|because|the fix (?:is|was)|happens when|it fails when|was due to|"
    r"the reason|so that|explains why)\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:always|never|must(?: not)?|from now on|remember(?: that| to)?|do not|don'?t ever|"
    r"make sure (?:to|that)|important\s*:|note\s*:|note that|requires?|only works|convention)\b",
    re.IGNORECASE,
)
_NEXT_STEP = re.compile(
    r"\b(?:next steps?|remaining|still (?:to do|needs?|open|missing)|to ?do\b|follow[- ]ups?|"
    r"not yet|would you like me to|shall i|should i|want me to|let me know if|you (?:may|might) "
    r"want to|left to do|out of scope|later we|then we can|after that)\b",
    re.IGNORECASE,
)
_GO_AHEAD_WORDS = frozenset(
    "yes y yep yeah sure ok okay continue go proceed ahead on please do it that's fine good great "
    "perfect thanks thank you correct right approved lgtm next keep going and now".split()
)
_TEST_COMMAND = re.compile(
    r"\b(?:pytest|jest|vitest|go test|cargo (?:test|nextest)|npm (?:run )?test|bun test|mocha|"
    r"rspec|phpunit|ctest|make (?:test|check)|tox|gradlew? test|mvn test|dotnet test)\b"
)
_COMMIT_COMMAND = re.compile(r"git (?:-C \S+ )?commit\b")
_COMMIT_MESSAGE = re.compile(
    r"-m\s*(?:\"\$\(cat <<'?EOF'?\n\s*(?P<here>[^\n]+)|\"(?P<double>[^\"\n]+)|'(?P<single>[^'\n]+))"
)


def is_interruption(turn: Turn) -> bool:
    """The mark that a person stopped the agent."""
    return turn.role is Role.USER and turn.text.startswith(INTERRUPTED)


def is_go_ahead(text: str) -> bool:
    """Whether a message only tells the agent to carry on."""
    said = words(text)
    return 0 < len(said) <= 5 and all(word in _GO_AHEAD_WORDS for word in said)


def classify_exchange(request: str, title: str, changed: bool, decided: bool) -> ExchangeType:
    """The kind of an exchange, by what it changed first and what was asked second."""
    opening = squeeze(request)[:400]
    if not changed:
        return ExchangeType.DECISION if decided else ExchangeType.DISCOVERY
    for pattern, kind in (
        (_BUG, ExchangeType.BUGFIX),
        (_REFACTOR, ExchangeType.REFACTOR),
        (_FEATURE, ExchangeType.FEATURE),
    ):
        if pattern.search(title):
            return kind
    for pattern, kind in (
        (_REFACTOR, ExchangeType.REFACTOR),
        (_FEATURE, ExchangeType.FEATURE),
        (_BUG, ExchangeType.BUGFIX),
    ):
        if pattern.search(opening):
            return kind
    return ExchangeType.CHANGE


def is_question(text: str) -> bool:
    """Whether a request asks to know rather than to change."""
    opening = squeeze(text)
    return bool(_QUESTION.match(opening)) or opening.endswith("?")


def notable_sentences(turns: Sequence[Turn], limit: int) -> list[str]:
    """Sentences worth keeping by themselves: decisions, causes, rules; a person's first."""
    scored: list[tuple[float, int, str]] = []
    seen: set[str] = set()
    for number, turn in enumerate(turns):
        if turn.tool is not None or not turn.text:
            continue
        weight = 1.0 if turn.role is Role.USER else 0.0
        for sentence in sentences(turn.text[:6000]):
            worth = _score_sentence(sentence)
            key = sentence.lower()[:80]
            if worth and key not in seen:
                seen.add(key)
                scored.append((worth + weight, number, sentence))
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[:limit]
    return [sentence for _, _, sentence in sorted(best, key=lambda item: item[1])]


def _score_sentence(sentence: str) -> float:
    if not 25 <= len(sentence) <= 320 or sentence.endswith(("?", ":")) or is_chatter(sentence):
        return 0.0
    worth = 0.0
    for pattern, points in ((DECISION, 1.5), (_CAUSE, 1.5), (_RULE, 1.0)):
        if pattern.search(sentence):
            worth += points
    return worth


def next_steps(text: str, limit: int = 4) -> list[str]:
    """What a closing message says is still to do."""
    found = [s for s in sentences(text[-4000:]) if _NEXT_STEP.search(s) and 15 <= len(s) <= 320]
    return found[-limit:]


def ran_tests(turn: Turn) -> bool:
    """Whether a turn ran the tests."""
    return (
        turn.tool is not None and turn.tool.name in SHELL_TOOLS and bool(_TEST_COMMAND.search(turn.tool.action))
    )


def commit_message(turn: Turn) -> str:
    """The subject of the commit that a turn made, or ""."""
    tool = turn.tool
    if tool is None or tool.name not in SHELL_TOOLS or not tool.ok or not _COMMIT_COMMAND.search(tool.action):
        return ""
    found = _COMMIT_MESSAGE.search(tool.action)
    return squeeze(found["here"] or found["double"] or found["single"] or "") if found else ""


def uses_subagents(turns: Sequence[Turn]) -> bool:
    """Whether the work was handed to subagents."""
    return any(turn.tool is not None and turn.tool.name in SUBAGENT_TOOLS for turn in turns)


def infer_outcome(turns: Sequence[Turn], changed: bool) -> Outcome:
    """How a run of turns ended, as far as its deeds prove it."""
    if any(is_interruption(turn) for turn in turns[-2:]):
        return Outcome.INTERRUPTED
    deeds = [turn for turn in turns if turn.tool is not None]
    replied = bool(turns) and turns[-1].role is Role.ASSISTANT
    tests = [turn for turn in deeds if ran_tests(turn)]
    if tests and tests[-1].tool is not None and tests[-1].tool.ok is False:
        return Outcome.FAILED
    if changed:
        return Outcome.DONE if replied or (deeds and turns[-1].tool is not None) else Outcome.OPEN
    return Outcome.ANSWERED if replied else Outcome.OPEN
