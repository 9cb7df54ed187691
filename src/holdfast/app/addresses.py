"""On which page a record is seen. The pages of a forge are others' own: a pull and an issue have
one here as well."""

from __future__ import annotations

from urllib.parse import quote

from holdfast.model.forge import Remark
from holdfast.model.query import LAYER_OF, Hit
from holdfast.model.uris import parse_uri, uri
from holdfast.research.answer import browse_url
from holdfast.store.protocol import Reader

_FORGED = ("pull", "issue", "remark")


def page_of(reader: Reader, bank: str, name: str, session: str = "") -> str:
    """The address of the page of a record by its URI; `session` is the host's own name for the
    session it is of. "" for what has no page."""
    named = parse_uri(name)
    if named is None:
        return ""
    if named.word == "entity":
        return f"/graph?focus={quote(named.id)}&bank={quote(bank)}"
    if named.word == "session":
        return f"/sessions/{quote(session or named.id)}"
    if named.word in _FORGED:
        return _forged(reader, bank, named.word, named.id)
    if named.word not in LAYER_OF:
        return ""
    if not session and named.word in ("exchange", "turn", "digest"):
        session = _session_of(reader, bank, named.word, named.id)
    layer = LAYER_OF[named.word]
    hit = Hit(uri(*named), named.word, layer, 0.0, "", "", session, bank)
    return browse_url(reader, hit)


def _session_of(reader: Reader, bank: str, word: str, id: str) -> str:
    for record in reader.find(bank, word, id, 1):
        own: object = getattr(record, "session", "")
        found = reader.session(bank, str(own))
        return found.host if found else str(own)
    return ""


def _forged(reader: Reader, bank: str, word: str, id: str) -> str:
    for record in reader.find(bank, word, id, 1):
        if isinstance(record, Remark):
            named = parse_uri(record.thread)
            return _forged(reader, bank, named.word, named.id) if named else "/repos"
    return f"/repos?{word}={quote(id.partition('@')[0])}&bank={quote(bank)}"
