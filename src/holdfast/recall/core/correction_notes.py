"""Who corrected a record, and when. Apart from hits, because hooks need nothing else of them: a
first prompt waits for every module that its brief imports."""

from __future__ import annotations

from holdfast.model.knowledge import Fact
from holdfast.model.uris import parse_uri
from holdfast.store.protocol import Reader


def correction_note(reader: Reader, bank: str, kind: str, id: str) -> str:
    """Who corrected a record and when, as "by NAME on DATE"; "" if nobody did. A fact counts as
    corrected if its evidence was."""
    for record in reader.records.find(bank, "fact", id, 1) if kind == "fact" else ():
        if isinstance(record, Fact) and (note := correction_of_evidence(reader, bank, record)):
            return note
    return own_correction(reader, bank, kind, id)


def correction_of_evidence(reader: Reader, bank: str, fact: Fact) -> str:
    """The note of the first corrected record among the evidence of a fact."""
    for name in map(parse_uri, fact.evidence):
        if name and name.kind != "fact" and (note := correction_note(reader, bank, *name)):
            return note
    return ""


def is_corrected_by_person(reader: Reader, bank: str, kind: str, id: str) -> bool:
    """Whether a record has the words of a person's correction."""
    known = reader.curation.state(bank, kind, id)
    return known is not None and known.by_person


def own_correction(reader: Reader, bank: str, kind: str, id: str) -> str:
    """The note of a record's own correction."""
    known = reader.curation.state(bank, kind, id)
    return f"by {known.who} on {known.time[:10]}" if known is not None and known.text else ""
