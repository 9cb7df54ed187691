"""Where records come from: the session that a record was made in, or of, and what it is called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import Commit
from holdfast.recall.core.ended_words import WHOLE_SESSION, read_ended_words
from holdfast.recall.lookup.by_uri import find_by_uri

if TYPE_CHECKING:
    from holdfast.store.across_tables.lookup import Record
    from holdfast.store.protocol import Reader
    from holdfast.store.records.sessions import SessionListing

# From a fact by its evidence to the session of that; longer chains are not followed.
_MAX_STEPS = 2


class Origin(NamedTuple):
    """The session that a record comes from, and what it is called: its title, or its day if the
    title says what does not hold any more. Both are "" if it comes from none."""

    session: str = ""
    title: str = ""


class Named(NamedTuple):
    """A record by its bank and URI, with its session if that is known."""

    bank: str
    uri: str
    session: str = ""


def origins(reader: Reader, records: Iterable[Named]) -> Mapping[str, Origin]:
    """The origins of records, by their URIs. A record without a session of its own comes from that
    of the first record that it rests on; a commit from the session that most likely made it."""
    sessions = {
        one.uri: (one.bank, one.session or _session_of(reader, one.bank, one.uri))
        for one in records
    }
    by_bank: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for bank, session in sessions.values():
        by_bank[bank][session] = None
    titles = {
        bank: session_names(reader, bank, list(filter(None, ids))) for bank, ids in by_bank.items()
    }
    return {uri: Origin(id, titles[bank].get(id, "")) for uri, (bank, id) in sessions.items()}


def session_names(reader: Reader, bank: str, sessions: Sequence[str]) -> Mapping[str, str]:
    """What sessions of a bank are called, by their ids: their titles, or their days where a title
    says what does not hold any more."""
    found = reader.overview.session_titles(bank, sessions)
    ended = read_ended_words(reader, bank, found)
    return {
        id: f"session of {started[:10]}" if ended.find(title, started, id, WHOLE_SESSION) else title
        for id, (title, started) in found.items()
    }


def names_of_listed(reader: Reader, listed: Iterable[SessionListing]) -> Mapping[str, str]:
    """What the sessions of a list are called, by their ids."""
    by_bank: defaultdict[str, list[str]] = defaultdict(list)
    for one in listed:
        by_bank[one.session.bank].append(one.session.id)
    return {
        id: name
        for bank, ids in by_bank.items()
        for id, name in session_names(reader, bank, ids).items()
    }


def _session_of(reader: Reader, bank: str, name: str) -> str:
    for _ in range(_MAX_STEPS):
        record = find_by_uri(reader, bank, name)
        found = _own_session(reader, record) if record is not None else ""
        rests_on: tuple[str, ...] = getattr(record, "evidence", getattr(record, "evidence_for", ()))
        if found or not rests_on:
            return found
        name = rests_on[0]
    return ""


def _own_session(reader: Reader, record: Record) -> str:
    match record:
        case Session():
            return record.id
        case Turn() | Exchange() | Digest():
            return record.session
        case Commit():
            made = reader.git.authorship(record.bank, commit=record.id)
            return made[0].session if made else ""
        case _:
            return ""
