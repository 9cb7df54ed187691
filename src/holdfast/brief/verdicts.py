"""Verdicts on what a brief may tell: what somebody who read it said of it.

`useful` is told first, `unneeded` (true, but not worth telling) and `outdated` (no longer true) are
not told at the start of a session, and `outdated` in no brief. A verdict stands above every
estimate of how useful a statement is, and below what is known: a record that was forgotten,
replaced or done is not told because somebody called it useful.

Verdicts come from people, and from agents that a person asked to review (the curation log).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from holdfast.brief.known_statements import own_words
from holdfast.model.curation import Judgement, Verdict
from holdfast.model.knowledge import Fact, Memory
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.statement_similarity import (
    StatementFeatures,
    says_the_same,
    statement_features,
)
from holdfast.store.protocol import Reader

# They make one statement, so that another record that says the same is judged with them.
_STATEMENTS = ("holdfast://memory/", "holdfast://fact/")


class Verdicts:
    """The verdicts on the records of one bank, by the URI of a record."""

    def __init__(
        self, judged: Mapping[str, Judgement], text_of: Callable[[str], str] = lambda name: ""
    ) -> None:
        """`judged` are those of people and agents, which stand above any other; `text_of` reads
        what a memory or a fact says."""
        self._judged = judged
        self._text_of = text_of

    def of(self, name: str) -> Judgement | None:
        """The verdict on a record; None if nobody judged it."""
        return self._judged.get(name)

    def is_useful(self, name: str) -> bool:
        """Whether a record is told before others, whatever it is estimated to be worth."""
        return self._is(name, Verdict.USEFUL)

    def is_outdated(self, name: str) -> bool:
        """Whether a record must not be told as if it held."""
        return self._is(name, Verdict.OUTDATED)

    def is_dropped(self, name: str) -> bool:
        """Whether a record is not told at the start of a session."""
        return self._is(name, Verdict.UNNEEDED) or self._is(name, Verdict.OUTDATED)

    def useful(self, kind: str) -> list[str]:
        """The ids of the useful records of a kind."""
        start = f"holdfast://{kind}/"
        named = (name for name in self._judged if name.startswith(start))
        return [name.removeprefix(start) for name in named if self.is_useful(name)]

    def repeats_dropped(self, text: str) -> bool:
        """Whether a text says the same as a statement that is not told: one sentence is told as a
        fact, as a memory and as the end of a session."""
        own = statement_features(text) if self._dropped_words else None
        return own is not None and any(says_the_same(own, other) for other in self._dropped_words)

    @cached_property
    def _dropped_words(self) -> list[StatementFeatures]:
        names = [name for name in self._judged if name.startswith(_STATEMENTS)]
        texts = (self._text_of(name) for name in names if self.is_dropped(name))
        return [statement_features(text) for text in texts if text]

    def _is(self, name: str, verdict: Verdict) -> bool:
        known = self.of(name)
        return known is not None and known.verdict is verdict


def read_verdicts(reader: Reader, bank: str) -> Verdicts:
    """The verdicts of a bank; read once for a brief."""

    def text_of(name: str) -> str:
        record = find_by_uri(reader, bank, name)
        if isinstance(record, Memory):
            return own_words(record.what)
        return record.content if isinstance(record, Fact) else ""

    return Verdicts(reader.curation.judgements(bank), text_of)
