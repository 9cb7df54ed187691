"""The page of this server that shows a record. Pulls and issues have a page here too, beside the
one of their forge."""

from __future__ import annotations

from functools import cached_property
from urllib.parse import quote

from holdfast.interfaces.ui.formatting import bank_keys, link, session_link
from holdfast.model.forge import Remark
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.uris import parse_uri
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


class PageUrls:
    """The addresses of one answer. They call banks by name where that is enough."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @cached_property
    def bank_keys(self) -> dict[str, str]:
        """How addresses call banks, by their ids."""
        return bank_keys(self._reader.banks.all())

    def of(self, bank: str, name: str) -> str:
        """The path of the page of a record in a bank with this id; "" if `name` is no URI of a
        record."""
        named = parse_uri(name)
        if named is None or not named.kind:
            return ""
        kind, id = named
        if kind == "entity":
            return f"/entities?focus={quote(id, safe='')}&{self._in_bank(bank)}"
        if kind == "commit":
            return f"/repos?commit={quote(id)}&{self._in_bank(bank)}"
        if kind == "session":
            return session_link(id)
        if kind in ("pull", "issue", "remark"):
            return self._of_forge(bank, kind, id)
        if kind in ("exchange", "turn", "digest"):
            found = self._reader.records.find(bank, kind, id, 1)
            return session_url(found[0]) if found else link(name)
        return link(name)

    def _of_forge(self, bank: str, kind: str, id: str) -> str:
        for record in self._reader.records.find(bank, kind, id, 1):
            if isinstance(record, Remark):
                thread = parse_uri(record.thread)
                return self._of_forge(bank, thread.kind, thread.id) if thread else "/repos"
        return f"/repos?{kind}={quote(id, safe='')}&{self._in_bank(bank)}"

    def _in_bank(self, bank: str) -> str:
        return f"bank={quote(self.bank_keys.get(bank, bank), safe='')}"


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
