"""Whether what a model says is borne out by the turns it was shown.

Every name of a file, of code, and every longer number must stand in the turns, outside of what
came from elsewhere; and enough of the words must be words that the person or the agent used. So
neither an invention nor an order hidden in a file becomes a memory, and nor does an answer in
another language than the session's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from holdfast.language import STOPWORDS, plain, sentences, squeeze, stem, words
from holdfast.model.records import Turn
from holdfast.model.trust import Trust
from holdfast.refine.core.passages import turn_text
from holdfast.refine.model_output.prompts import turn_text_without_result

FACT_SHARE = 0.5
SUMMARY_SHARE = 0.34
# How much of a sentence each of several records must have that bear it out together.
PART_SHARE = 0.2
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_TOKEN = re.compile(r"[\w@~$./\\:#-]*\w(?:\(\))?")
_NAME = re.compile(r"_|[a-z0-9][A-Z]|\w\.[A-Za-z]|::|^[~/]|/.*/|^--\w|^[A-Z]{2,}\d|\(\)$|\d\d")
_ABBREVIATIONS = frozenset("e.g i.e etc vs cf a.m p.m".split())
_PLACE = re.compile(r"(?:[:#]L?\d+(?:[-:]\d+)*|\(\))$")
# From here on lie the scripts that set no space between words.
_UNSPACED = "\u2e80"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def clean_text(text: str) -> str:
    """A model's words as plain text: no marks, no tags, nothing that cannot be seen."""
    return squeeze(plain(_CONTROL.sub("", text)))


class Evidence:
    """The turns, ready to be asked."""

    def __init__(self, said: Iterable[str], known: Iterable[str]) -> None:
        """`said` are the words that claims must be made of, `known` all that may be named."""
        self._stems = {piece for text in said for piece in _pieces(text)}
        self._known = "\n".join(known).casefold()

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> Evidence:
        """What the turns of an exchange bear out."""
        known = [
            turn_text_without_result(turn)
            if turn.tool is not None and turn.trust is Trust.EXTERNAL
            else turn_text(turn)
            for turn in turns
        ]
        said = [
            turn.text if turn.tool is None else f"{turn.tool.target} {turn.tool.action[:500]}"
            for turn in turns
        ]
        return cls(said, known)

    def contains_name(self, name: str) -> bool:
        """Whether a name stands in the turns; a line number or brackets behind it need not."""
        bare = _PLACE.sub("", name).strip(".:/\\").casefold()
        return not bare or bare in self._known

    def supports(self, sentence: str, share: float) -> bool:
        """Whether a claim names nothing unknown, and is made of the turns' words."""
        if not all(self.contains_name(name) for name in _names(sentence)):
            return False
        pieces = _pieces(sentence)
        return bool(pieces) and sum(p in self._stems for p in pieces) >= share * len(pieces)

    def supported_sentences(self, text: str, share: float) -> str:
        """The sentences of a text that are borne out."""
        return " ".join(s for s in sentences(text) if self.supports(s, share))


def _names(sentence: str) -> list[str]:
    found: list[str] = []
    for quoted in _QUOTED.findall(sentence):
        found += quoted.split()
    for token in _TOKEN.findall(sentence):
        if _NAME.search(token) and token.casefold() not in _ABBREVIATIONS:
            found.append(token)
    return found


def _pieces(text: str) -> set[str]:
    """What to compare texts by: stems, and pairs of characters where words are not set apart."""
    pieces: set[str] = set()
    for word in words(text):
        if word.isascii():
            if len(word) > 2 and word not in STOPWORDS:
                pieces.add(stem(word))
        elif word[0] >= _UNSPACED:
            pieces.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif len(word) > 2:
            pieces.add(word[:5])
    return pieces
