"""The semantic memory (`.claude/memory.md`) in briefs: what people wrote there is told, because no
host loads it by itself, and it wins against whatever was decided otherwise."""

from __future__ import annotations

from holdfast.brief.frame import quote
from holdfast.language import content_stems, is_negated, sentences, shared_fraction, truncate
from holdfast.model.uris import uri
from holdfast.sources.rule_locations import MEMORY_FILE
from holdfast.store.protocol import Reader

_MOST = 1600
_SENTENCE = 240
_SAME_MATTER = 0.5
_LEAST_SHARED = 2


class MemoryFile:
    """What the semantic memory of a bank says."""

    def __init__(self, reader: Reader, bank: str) -> None:
        rules = reader.rules(bank)
        self._rules = [rule for rule in rules if rule.is_memory_file]
        # A file of rules that imports it has the host load it.
        self._is_loaded = any(f"@{MEMORY_FILE}" in r.text or "@memory.md" in r.text for r in rules)
        self._said = [(s, content_stems(s)) for rule in self._rules for s in sentences(rule.text)]

    def lines(self) -> list[tuple[str, str]]:
        """Its sections as lines, each with the record it tells of, as far as there is room; none
        where the host loads it."""
        told: list[tuple[str, str]] = []
        room = _MOST
        for rule in () if self._is_loaded else self._rules:
            said = " · ".join(truncate(s, _SENTENCE) for s in sentences(rule.text))
            line = f"- {rule.heading}: {said}" if rule.heading else f"- {said}"
            if len(line) > room:
                break
            room -= len(line)
            told.append((line, uri("rule", rule.id)))
        return told

    def against(self, text: str) -> str:
        """What it says on the matter of a text, if that is something else."""
        stems = content_stems(text)
        for sentence, own in self._said:
            common = own & stems
            if len(common) < _LEAST_SHARED or shared_fraction(own, stems) < _SAME_MATTER:
                continue
            if own - stems or is_negated(sentence) != is_negated(text):
                return sentence
        return ""

    def mark(self, text: str) -> str:
        """The same, as a remark behind the text."""
        said = self.against(text)
        return f" But {MEMORY_FILE} says: {quote(truncate(said, _SENTENCE))}" if said else ""
