"""Checks whether the turns that a model was shown support what it says.

Every file name, code name and longer number must occur in the turns, outside of tool results from
outside the project, and enough of the words must be words that the user or the agent used. So
neither an invention nor an instruction hidden in a file becomes a memory, nor does an answer in
another language than the session's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.language import STOPWORDS, collapse_spaces, sentences, stem, words
from holdfast.model.records import Turn
from holdfast.refine.model_output.prompts import trusted_text
from holdfast.regex import regex

# The share of a sentence's words that the evidence must contain. Higher values reject sentences
# that say the same in other words; lower ones accept sentences about something else.
# A fact is kept by itself, without the summary that would put it into context.
FACT_SHARE = 0.5
SUMMARY_SHARE = 0.34
# For each of several records that support a sentence together.
PART_SHARE = 0.2
# Characters of a tool call's action whose words count as said: a command, but not a whole file.
_MAX_ACTION_CHARACTERS = 500
_CODE_SPAN = regex(r"`([^`\n]{1,200})`")
_TOKEN = regex(r"[\w@~$./\\:#-]*\w(?:\(\))?")
_CODE_NAME = regex(r"_|[a-z0-9][A-Z]|\w\.[A-Za-z]|::|^[~/]|/.*/|^--\w|^[A-Z]{2,}\d|\(\)$|\d\d")
_ABBREVIATIONS = frozenset("e.g i.e etc vs cf a.m p.m".split())
_LINE_SUFFIX = regex(r"(?:[:#]L?\d+(?:[-:]\d+)*|\(\))$")
# The scripts that are written without spaces start here.
_FIRST_UNSPACED = "\u2e80"
_INVISIBLE = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def clean_text(text: str) -> str:
    """A model's text on one line, without invisible characters."""
    return collapse_spaces(_INVISIBLE.sub("", text))


class Evidence:
    """The texts that claims are checked against."""

    def __init__(self, said: Iterable[str], known: Iterable[str]) -> None:
        """The words of a claim must be from `said`, its names from `known`."""
        self._stems = {piece for text in said for piece in _comparable(text)}
        self._known = "\n".join(known).casefold()

    @classmethod
    def from_turns(cls, turns: Sequence[Turn], context: Iterable[str] = ()) -> Evidence:
        """The evidence of an exchange. Names may also be those of its `context`."""
        said = [
            f"{turn.tool.target} {turn.tool.action[:_MAX_ACTION_CHARACTERS]}"
            if turn.tool is not None
            else turn.text
            for turn in turns
        ]
        return cls(said, [*map(trusted_text, turns), *context])

    def contains_name(self, name: str) -> bool:
        """Whether a name occurs in the turns. A line number or brackets after it do not count."""
        bare = _LINE_SUFFIX.sub("", name).strip(".:/\\").casefold()
        return not bare or bare in self._known

    def supports(self, sentence: str, share: float) -> bool:
        """Whether all names in a sentence occur in the turns, and this share of its words."""
        if not all(self.contains_name(name) for name in _code_names(sentence)):
            return False
        pieces = _comparable(sentence)
        return bool(pieces) and sum(p in self._stems for p in pieces) >= share * len(pieces)

    def supported_sentences(self, text: str, share: float) -> str:
        """The sentences of a text that are supported."""
        return " ".join(s for s in sentences(text) if self.supports(s, share))


def _code_names(sentence: str) -> list[str]:
    found: list[str] = []
    for quoted in _CODE_SPAN.findall(sentence):
        found += quoted.split()
    for token in _TOKEN.findall(sentence):
        if _CODE_NAME.search(token) and token.casefold() not in _ABBREVIATIONS:
            found.append(token)
    return found


def _comparable(text: str) -> set[str]:
    """What texts are compared by: stems, the starts of words that are not ASCII, and pairs of
    characters in scripts without spaces."""
    pieces: set[str] = set()
    for word in words(text):
        if word.isascii():
            if len(word) > 2 and word not in STOPWORDS:
                pieces.add(stem(word))
        elif word[0] >= _FIRST_UNSPACED:
            pieces.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif len(word) > 2:
            pieces.add(word[:5])
    return pieces
