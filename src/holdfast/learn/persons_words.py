"""Whether a person said a sentence for certain: what agents say, and what is worded as a guess, is
not believed without that."""

from __future__ import annotations

from holdfast.model.graph import Entity
from holdfast.model.records import Digest, Exchange, Role, Session
from holdfast.model.trust import PEOPLE
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.facts.hypotheses import is_hedged
from holdfast.store.protocol import Reader


def is_said_by_person(reader: Reader, bank: str, name: str, sentence: str) -> bool:
    """Whether the record that a URI names has a sentence in the words of a person, and not as a
    guess. Exchanges and digests have words of both sides."""
    record = find_by_uri(reader, bank, name)
    if record is None or is_hedged(sentence):
        return False
    if isinstance(record, Exchange):
        return _is_typed_in(reader, record, sentence)
    if isinstance(record, Digest):
        return any(
            _is_typed_in(reader, exchange, sentence)
            for exchange in reader.sessions.exchanges(record.bank, record.session)
            if _bare(sentence) in exchange.title
        )
    return not isinstance(record, Session | Entity) and record.trust in PEOPLE


def _is_typed_in(reader: Reader, x: Exchange, sentence: str) -> bool:
    turns = reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq)
    return any(
        turn.role is Role.USER and turn.trust in PEOPLE and _bare(sentence) in turn.text
        for turn in turns
    )


def _bare(sentence: str) -> str:
    """A sentence without the signs that summaries leave out or put at its end."""
    return sentence.strip("“”").rstrip("….")
