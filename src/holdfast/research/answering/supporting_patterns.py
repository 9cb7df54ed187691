"""Notes on patterns that rest on the evidence of an answer.

Patterns are counted when sources are read, once a source. A question about one is no further
proof, so nothing is counted here: the notes only name patterns that a person may make a rule of.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.language import content_stems, truncate
from holdfast.model.knowledge import Pattern
from holdfast.model.query import Citation
from holdfast.model.records import Exchange
from holdfast.model.uris import parse_uri, uri
from holdfast.store.protocol import Reader

# What was stated once is no pattern yet; more than two notes would crowd out the caveats.
_MIN_OCCURRENCES = 2
_MAX_NOTES = 2
# The share of a pattern's words that a question and its answer have, and of the question alone.
_MIN_SHARED = 0.5
_MIN_ASKED = 0.25


def pattern_notes(
    reader: Reader, bank: str | None, cited: Sequence[Citation], question: str, answer: str = ""
) -> list[str]:
    """A sentence for each pattern that rests on a cited record and is about what was asked: in one
    exchange people speak of several things."""
    banks = [bank] if bank else [known.id for known in reader.banks.all()]
    patterns = [
        pattern
        for one in banks
        for pattern in reader.rules.patterns(one)
        if pattern.occurrences >= _MIN_OCCURRENCES
    ]
    if not patterns:
        return []
    cited_uris = {name for citation in cited for name in _with_turns(reader, bank, citation.uri)}
    asked = content_stems(question)
    said = asked | content_stems(answer)
    supported = [
        pattern
        for pattern in patterns
        if cited_uris & set(pattern.evidence) and _is_about(pattern, asked, said)
    ]
    return [_note(pattern) for pattern in supported[:_MAX_NOTES]]


def _is_about(pattern: Pattern, asked: frozenset[str], said: frozenset[str]) -> bool:
    """Whether enough of a pattern's words are among those that were asked and said."""
    own = content_stems(pattern.content)
    is_said = len(own & said) >= _MIN_SHARED * len(own)
    return is_said and len(own & asked) >= max(1.0, _MIN_ASKED * len(own))


def _with_turns(reader: Reader, bank: str | None, name: str) -> list[str]:
    """The URIs of an exchange's turns; the URI itself for any other record."""
    known = parse_uri(name)
    if known is None or known.kind != "exchange":
        return [name]
    inside = [
        x for x in reader.records.find(bank, "exchange", known.id, 1) if isinstance(x, Exchange)
    ]
    turns = [
        t
        for x in inside
        for t in reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
    ]
    return [uri("turn", turn.id) for turn in turns]


def _note(pattern: Pattern) -> str:
    p = pattern
    people = f" by {len(p.authors)} people" if len(p.authors) > 1 else ""
    return (
        f"There is a pattern, stated {p.occurrences} times{people}: "
        f"“{truncate(p.content, 160)}” ({uri('pattern', p.id)}; "
        "`holdfast promote` lists proposed rules)."
    )
