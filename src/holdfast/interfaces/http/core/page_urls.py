"""The page of this server that shows a record. Pulls and issues have a page here too, beside the
one of their forge."""

from __future__ import annotations

from urllib.parse import quote

from holdfast.interfaces.ui.formatting import link, session_link
from holdfast.model.forge import Remark
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.uris import parse_uri
from holdfast.store.protocol import Reader

_FORGE_KINDS = ("pull", "issue", "remark")
_SESSION_KINDS = ("exchange", "turn", "digest")


def page_url(reader: Reader, bank: str, name: str) -> str:
    """The path of the page of a record; "" if `name` is no URI of a record."""
    named = parse_uri(name)
    if named is None or not named.kind:
        return ""
    word, id = named
    if word == "entity":
        return f"/graph?focus={quote(id, safe='')}&bank={quote(bank)}"
    if word == "commit":
        return f"/repos?commit={quote(id)}&bank={quote(bank)}"
    if word == "session":
        return session_link(id)
    if word in _FORGE_KINDS:
        return _forge_page_url(reader, bank, word, id)
    return (_session_page_url(reader, bank, word, id) if word in _SESSION_KINDS else "") or link(
        name
    )


def _session_page_url(reader: Reader, bank: str, word: str, id: str) -> str:
    """The place of a turn, an exchange or a digest on the page of its session."""
    for record in reader.find(bank, word, id, 1):
        if isinstance(record, Exchange):
            return session_link(record.session, record.first_seq)
        if isinstance(record, Turn):
            return session_link(record.session, record.seq)
        if isinstance(record, Digest):
            return session_link(record.session)
    return ""


def _forge_page_url(reader: Reader, bank: str, word: str, id: str) -> str:
    for record in reader.find(bank, word, id, 1):
        if isinstance(record, Remark):
            thread = parse_uri(record.thread)
            return _forge_page_url(reader, bank, thread.kind, thread.id) if thread else "/repos"
    return f"/repos?{word}={quote(id, safe='')}&bank={quote(bank)}"
