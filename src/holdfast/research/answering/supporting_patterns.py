"""Patterns that the evidence of an answer bears out.

What people state again and again is counted when it is read, once a source; that somebody asks
about it is no further proof. So nothing is counted here: an answer tells which patterns rest on
what it cites, and whoever finds them right can make rules of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.language import cut
from holdfast.model.knowledge import Pattern
from holdfast.model.query import Citation
from holdfast.model.records import Exchange
from holdfast.model.uris import parse_uri, uri
from holdfast.store.protocol import Reader

_TIMES = 2
_MOST = 2


def pattern_notes(reader: Reader, bank: str | None, cited: Sequence[Citation]) -> list[str]:
    """What was said several times and is among the evidence, in words."""
    banks = [bank] if bank else [known.id for known in reader.banks()]
    patterns = [p for one in banks for p in reader.patterns(one) if p.occurrences >= _TIMES]
    if not patterns:
        return []
    named = {name for citation in cited for name in _stated_in(reader, bank, citation.uri)}
    borne = [pattern for pattern in patterns if named & set(pattern.evidence)]
    return [_told(pattern) for pattern in borne[:_MOST]]


def _stated_in(reader: Reader, bank: str | None, name: str) -> list[str]:
    """A record, and the turns it is made of."""
    known = parse_uri(name)
    if known is None or known.word != "exchange":
        return [name]
    inside = [x for x in reader.find(bank, "exchange", known.id, 1) if isinstance(x, Exchange)]
    turns = [t for x in inside for t in reader.turns(x.bank, x.session, x.first_seq, x.last_seq)]
    return [uri("turn", turn.id) for turn in turns]


def _told(pattern: Pattern) -> str:
    p = pattern
    people = f" by {len(p.authors)} people" if len(p.authors) > 1 else ""
    return (
        f"A pattern rests on this, stated {p.occurrences} times{people}: “{cut(p.content, 160)}” "
        f"({uri('pattern', p.id)}; `holdfast promote` lists what may become a rule)."
    )
