"""On which page a record is seen. The pages of a forge are others' own: a pull and an issue have
one here as well."""

from __future__ import annotations

from urllib.parse import quote

from holdfast.interfaces.ui.formatting import link, session_link
from holdfast.model.forge import Remark
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.uris import parse_uri
from holdfast.store.protocol import Reader

_FORGED = ("pull", "issue", "remark")
_SPOKEN = ("exchange", "turn", "digest")


def page_of(reader: Reader, bank: str, name: str) -> str:
    """The address of the page of a record by its URI; "" for what names none."""
    named = parse_uri(name)
    if named is None or not named.word:
        return ""
    word, id = named
    if word == "entity":
        return f"/graph?focus={quote(id, safe='')}&bank={quote(bank)}"
    if word == "commit":
        return f"/repos?commit={quote(id)}&bank={quote(bank)}"
    if word == "session":
        return session_link(id)
    if word in _FORGED:
        return _forged(reader, bank, word, id)
    return (_spoken(reader, bank, word, id) if word in _SPOKEN else "") or link(name)


def _spoken(reader: Reader, bank: str, word: str, id: str) -> str:
    """Where something lies in its session."""
    for record in reader.find(bank, word, id, 1):
        if isinstance(record, Exchange):
            return session_link(record.session, record.first_seq)
        if isinstance(record, Turn):
            return session_link(record.session, record.seq)
        if isinstance(record, Digest):
            return session_link(record.session)
    return ""


def _forged(reader: Reader, bank: str, word: str, id: str) -> str:
    for record in reader.find(bank, word, id, 1):
        if isinstance(record, Remark):
            thread = parse_uri(record.thread)
            return _forged(reader, bank, thread.word, thread.id) if thread else "/repos"
    return f"/repos?{word}={quote(id, safe='')}&bank={quote(bank)}"
