"""Hand-off pages: a session or a topic on one page, for the person or agent who continues it."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.app.core.context import NAME_A_BANK, current_folder
from holdfast.app.memory import Holdfast
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError
from holdfast.learn.share_drafts import TextCleaner
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.uris import SCHEME, parse_uri
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.lookup.trace import find_record
from holdfast.research.handoff import HandOff, as_markdown, pack_session, pack_topic
from holdfast.sources.rule_locations import project_root

# How much is recalled about a topic: more than an answer needs, because a hand-off is read instead
# of the sessions. Raising it makes the page longer.
_TOPIC_PLAN = RecallPlan(limit=40, tokens=40_000, include_repeats=True)
# A shorter bare word is taken for a topic and never for the start of a session's id.
_MIN_ID_LENGTH = 6


class HandoffPage(NamedTuple):
    """The content of a hand-off, and the same as Markdown."""

    pack: HandOff
    page: str


def hand_off(memory: Holdfast, what: str, bank: str | None = None) -> HandoffPage:
    """The hand-off of a session or of a topic. `what` is the id of the session, the URI of any
    record in it, or the topic in words."""
    session = _find_session(memory, what, bank)
    if session is not None:
        pack = pack_session(memory.reader, session, memory.context.bank_name(session.bank))
    else:
        pack = _topic_pack(memory, what, bank)
    cleaner = TextCleaner(Redactor(memory.settings.redact_patterns), project_root(current_folder()))
    return HandoffPage(pack, as_markdown(pack, cleaner.clean))


def _find_session(memory: Holdfast, what: str, bank: str | None) -> Session | None:
    """The session that `what` names; None if it is a topic."""
    named = parse_uri(what)
    if named is None or (not named.kind and len(named.id) < _MIN_ID_LENGTH):
        return None
    reader = memory.reader
    if what.startswith(SCHEME):
        record = find_record(reader, None, what)
        if isinstance(record, Turn | Exchange | Digest):
            return reader.sessions.get(record.bank, record.session)
        if not isinstance(record, Session):
            raise InputError(
                f"{what} does not belong to one session.", "Name a session, or a topic in words."
            )
        return record
    found = (
        reader.records.find(memory.context.bank_id(bank), "session", named.id)
        if not named.kind
        else []
    )
    return found[0] if len(found) == 1 and isinstance(found[0], Session) else None


def _topic_pack(memory: Holdfast, topic: str, bank: str | None) -> HandOff:
    id = memory.context.bank_id(bank)
    if id is None:
        raise InputError("A hand-off about a topic needs one bank.", NAME_A_BANK)
    found = memory.search.recall_with_plan(topic, bank, _TOPIC_PLAN)
    if found.abstained or not found.hits:
        near = f" It has words on: {', '.join(found.suggestions[:6])}." if found.suggestions else ""
        raise NotFoundError(
            f"Bank {found.bank} has no record about {topic!r}: there is nothing to hand over.",
            f"Ask in other words, or name a session.{near}",
        )
    return pack_topic(memory.reader, id, found.bank, topic, found.hits)
