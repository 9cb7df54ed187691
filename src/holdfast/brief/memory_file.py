"""The memory file (`.claude/memory.md`) in briefs: it is quoted, because no host loads it by
itself, and it wins over contradicting decisions."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.framed_text import quote
from holdfast.language import content_stems, is_negated, sentences, shared_fraction, truncate
from holdfast.model.knowledge import Rule
from holdfast.model.uris import uri
from holdfast.sources.rule_locations import MEMORY_FILE

# How much of a session brief the file may take, and how much of one sentence is shown.
_MAX_CHARACTERS = 1600
_MAX_SENTENCE = 240
# A sentence is on the subject of a text if they share this many, and this share, of their words.
_SAME_SUBJECT_WORDS = 2
_SAME_SUBJECT_SHARE = 0.5


class MemoryFile:
    """The memory file of a bank."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        """`rules` are all rules of the bank."""
        self._rules = [rule for rule in rules if rule.is_memory_file]
        # If a rule file imports it, the host loads it.
        self._is_loaded = any(f"@{MEMORY_FILE}" in r.text or "@memory.md" in r.text for r in rules)
        self._sentences = [
            (sentence, content_stems(sentence))
            for rule in self._rules
            for sentence in sentences(rule.text)
        ]

    def lines(self) -> list[tuple[str, str]]:
        """Its sections as lines, each with the URI of its record, as many as fit; none if the host
        loads the file."""
        lines: list[tuple[str, str]] = []
        room = _MAX_CHARACTERS
        for rule in () if self._is_loaded else self._rules:
            text = " · ".join(truncate(s, _MAX_SENTENCE) for s in sentences(rule.text))
            line = f"- {rule.heading}: {text}" if rule.heading else f"- {text}"
            if len(line) > room:
                break
            room -= len(line)
            lines.append((line, uri("rule", rule.id)))
        return lines

    def contradiction(self, text: str) -> str:
        """A sentence of the file that says something else on the subject of a text; "" if none."""
        stems = content_stems(text)
        for sentence, own in self._sentences:
            few = len(own & stems) < _SAME_SUBJECT_WORDS
            if few or shared_fraction(own, stems) < _SAME_SUBJECT_SHARE:
                continue
            if own - stems or is_negated(sentence) != is_negated(text):
                return sentence
        return ""

    def contradiction_note(self, text: str) -> str:
        """The contradiction as a remark to put after the text."""
        sentence = self.contradiction(text)
        if not sentence:
            return ""
        return f" But {MEMORY_FILE} says: {quote(truncate(sentence, _MAX_SENTENCE))}"
