"""Which prompts state a goal. Small talk, commands, machine text and very short prompts do not:
there is nothing to search for, and a brief would be noise."""

from __future__ import annotations

import re

from holdfast.language import STOPWORDS, code_names, stem, words
from holdfast.sources.claude_code.prompts import read_prompt

_COMMAND = re.compile(r"^[/!#]\s?[A-Za-z][\w:.-]*(?=\s|$)")
# A goal has at least this many different words, so many of them rare or one name of code.
_MIN_WORDS = 3
_MIN_RARE_WORDS = 2
_MAX_PROMPT = 20_000
# What is read of a long prompt: most of a plan or a log matches everything by chance.
_HEAD_CHARACTERS = 500
_TAIL_CHARACTERS = 200
_CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
# Words of many prompts: they name no subject, so sharing one means next to nothing.
COMMON_WORDS = frozenset(
    "able actually add again ahead already also always another answer anything app application "
    "apply around ask back bad best better big bit bug bugs build came case change changed changes "
    "check clean code come commit complete correct create current day days different "
    "does done easy edit end error errors everything exist exists expect expected explain fail "
    "fails failed feature file files find fine first fix fixed fixes follow following found full "
    "function give good got great guide handle happen happens help idea implement implementation "
    "improve include instead issue issues keep know last later leave line list little long "
    "look looks lot made main make makes making many maybe mean minutes missing move much "
    "name needed needs never new next nice nothing number old open part parts "
    "people perhaps place plan point possible problem project properly provide put question "
    "read ready really reason refactor remove result results return "
    "review right run running says second see seems set show side simple since "
    "single small something soon start starts step stop task tell test tests text "
    "thing things think time times today tomorrow tried two type understand update updated user "
    "users wait way week whether whole without word words work working works "
    "write wrong year".split()
)
_COMMON_STEMS = frozenset(map(stem, COMMON_WORDS))


def goal_of(prompt: str) -> str:
    """The text of a prompt that states a goal, shortened if it is long; else ""."""
    read = read_prompt(prompt[:_MAX_PROMPT])
    text = read.text.strip()
    if read.skip is not None or not text or text.startswith("<"):
        return ""
    if _COMMAND.match(text):
        return ""
    distinct = {stem(word) for word in words(text) if word not in STOPWORDS}
    rare = {word for word in distinct if not is_common(word)}
    states_goal = len(distinct) >= _MIN_WORDS and (
        len(rare) >= _MIN_RARE_WORDS or code_names(text, 1)
    )
    return _head_and_tail(text) if states_goal else ""


def _head_and_tail(text: str) -> str:
    """The start and the end of a long prompt, where the goal is stated, without code blocks."""
    longest = _HEAD_CHARACTERS + _TAIL_CHARACTERS
    if len(text) <= longest:
        return text
    text = _CODE_BLOCK.sub("\n", text)
    head = text[:_HEAD_CHARACTERS].rpartition(" ")[0]
    tail = text[-_TAIL_CHARACTERS:].partition(" ")[2]
    return f"{head}\n{tail}" if len(text) > longest else text


def is_common(root: str) -> bool:
    """Whether a stem says nothing about a subject."""
    return len(root) < 3 or root in _COMMON_STEMS
