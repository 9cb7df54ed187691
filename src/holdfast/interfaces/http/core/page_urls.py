"""The page of this server that shows a record. Pulls and issues have a page here too, beside the
one of their forge."""

from __future__ import annotations

from urllib.parse import quote

from holdfast.interfaces.ui.formatting import link, session_link
from holdfast.model.forge import Remark
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.uris import parse_uri
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


def page_url(reader: Reader, bank: str, name: str) -> str:
    """The path of the page of a record; "" if `name` is no URI of a record."""
    named = parse_uri(name)
    if named is None or not named.kind:
        return ""
    kind, id = named
    if kind == "entity":
        return f"/graph?focus={quote(id, safe='')}&bank={quote(bank)}"
    if kind == "commit":
        return f"/repos?commit={quote(id)}&bank={quote(bank)}"
    if kind == "session":
        return session_link(id)
    if kind in ("pull", "issue", "remark"):
        return _forge_page_url(reader, bank, kind, id)
    if kind in ("exchange", "turn", "digest"):
        found = reader.records.find(bank, kind, id, 1)
        return session_url(found[0]) if found else link(name)
    return link(name)


def session_url(record: Record) -> str:
    """The place of a record on the page of its session; "" if it has none."""
    match record:
        case Session():
            return session_link(record.id)
        case Digest():
            return session_link(record.session)
        case Exchange():
            return session_link(record.session, record.first_seq)
        case Turn():
            return session_link(record.session, record.seq)
        case _:
            return ""


def _forge_page_url(reader: Reader, bank: str, kind: str, id: str) -> str:
    for record in reader.records.find(bank, kind, id, 1):
        if isinstance(record, Remark):
            thread = parse_uri(record.thread)
            return _forge_page_url(reader, bank, thread.kind, thread.id) if thread else "/repos"
    return f"/repos?{kind}={quote(id, safe='')}&bank={quote(bank)}"
