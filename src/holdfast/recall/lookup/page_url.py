"""The page that shows a record."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.knowledge import Rule
from holdfast.recall.lookup.commits import web_address
from holdfast.store.protocol import Reader

# Tabs of the memory page, by the kind of record that they list.
_TABS = {
    "fact": "facts",
    "memory": "remembered",
    "concept": "concepts",
    "shared": "shared",
    "imported": "imported",
}


def page_url(reader: Reader, bank: str, name: str, session: str) -> str:
    """Where the record of a URI is shown: a page of this program or of its forge; "" for a record
    of another server. The page of a record that is gone says so."""
    kind, _, id = name.removeprefix("holdfast://").partition("/")
    if kind == "commit":
        return f"/repos?commit={id}"
    if kind in ("pull", "issue", "remark"):
        return web_address(reader, bank, kind, id)
    if kind in _TABS:
        return f"/memory?tab={_TABS[kind]}&id={id}"
    if kind == "remote":
        return ""
    found = reader.records.find(bank, kind, id, limit=1)
    if kind == "rule":
        domain = next((rule.domain for rule in found if isinstance(rule, Rule)), "")
        return f"/memory?tab=rules&file={domain}"
    if not found:
        return f"/record/{kind}/{id}"
    page = f"/sessions/{_session_page(reader, bank, found, session)}"
    if kind == "digest":
        return page
    seq: object = getattr(found[0], "first_seq" if kind == "exchange" else "seq", 1)
    return f"{page}#msg-{seq}"


def _session_page(reader: Reader, bank: str, found: Sequence[object], host: str) -> str:
    """The session whose page shows a record: by the agent's own id or, since a subagent shares
    that with the session that started it, by the subagent's."""
    own = str(getattr(found[0], "session", ""))
    session = reader.sessions.get(bank, own) if own else None
    return own if session is not None and session.parent else host
