"""Minimal records for the checks; a check that needs more changes one with
`dataclasses.replace`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager

from holdfast.model.bank import Bank
from holdfast.model.curation import Action, Curation
from holdfast.model.ledgers.lines import FailedLine, FailureReason
from holdfast.model.query import Passage
from holdfast.model.records import (
    Digest,
    Exchange,
    ExchangeType,
    Origin,
    Outcome,
    Role,
    Session,
    ToolCall,
    Turn,
)
from holdfast.model.team import Commit
from holdfast.model.trust import Trust
from holdfast.principal import Principal
from holdfast.store.protocol import Reader, Store
from holdfast.store.records.sources import SourceChange

MakeStore = Callable[[], Store]

BANK = "1111aaaa1111aaaa"
OTHER = "2222bbbb2222bbbb"
SESSION = "s1"
NOON = "2026-03-01T12:00:00.000Z"


def expect(found: object, wanted: object, what: str = "the store") -> None:
    """Raise AssertionError unless `found` equals `wanted`."""
    if found != wanted:
        raise AssertionError(f"{what} gave {found!r}, not {wanted!r}")


def stale_names(store: Reader) -> list[tuple[str, str]]:
    """Bank and id of the stale sessions."""
    return [(stale.bank, stale.session) for stale in store.sessions.stale()]


@contextmanager
def prepared(make_store: MakeStore) -> Generator[Store]:
    """An open store with two banks and, in each, a session with the same id."""
    with closing(make_store()) as store:
        with store.transaction():
            for bank, name in ((BANK, "harbour"), (OTHER, "lighthouse")):
                store.banks.add(Bank(bank, name, NOON))
                store.sessions.add(a_session(bank))
        yield store


def a_session(bank: str = BANK, id: str = SESSION) -> Session:
    """A session without a span."""
    return Session(bank, id, f"host-of-{bank}-{id}", "claude-code")


def a_turn(seq: int, text: str = "hello", bank: str = BANK, session: str = SESSION) -> Turn:
    """A user's message, `seq` seconds after noon; turns of two banks have the same ids."""
    return Turn(
        bank,
        f"{session}-turn-{seq}",
        session,
        seq,
        f"2026-03-01T12:00:{seq:02}.000Z",
        Role.USER,
        Trust.USER,
        text,
        origin=Origin(1, seq, seq * 100, f"ref-{seq}"),
    )


def a_tool_turn(seq: int, call: str, bank: str = BANK, session: str = SESSION) -> Turn:
    """A tool call whose result is not known yet."""
    return Turn(
        bank,
        f"{session}-turn-{seq}",
        session,
        seq,
        NOON,
        Role.TOOL,
        Trust.TOOL,
        tool=ToolCall("Bash", "make", action="make test", call=call),
        origin=Origin(1, seq, seq * 100, f"ref-{seq}"),
    )


def a_passage(
    id: str,
    body: str,
    bank: str = BANK,
    kind: str = "turn",
    session: str = SESSION,
    time: str = NOON,
) -> Passage:
    """A passage with the given text."""
    return Passage(bank, kind, id, session, time, body)


def an_exchange(id: str = "x1", bank: str = BANK, session: str = SESSION) -> Exchange:
    """An exchange over the first two turns, with something in every field."""
    return Exchange(
        bank,
        id,
        session,
        1,
        2,
        NOON,
        NOON,
        ExchangeType.BUGFIX,
        "Fix the tide table",
        "It was off by one hour.",
        "Summer time was counted twice.",
        Outcome.DONE,
        Trust.ASSISTANT,
        ("tides are in UTC", 'a "quoted" fact, with ünïcode 🦜'),
        ("tide", "utc"),
        ("src/tide.py",),
        ("src/table.py", "a file, with a comma.py"),
        "main",
    )


def a_digest(id: str = "d1", bank: str = BANK, session: str = SESSION) -> Digest:
    """A digest with something in every field."""
    return Digest(
        bank,
        id,
        session,
        NOON,
        NOON,
        "Fix the tide table",
        Outcome.DONE,
        Trust.ASSISTANT,
        ("the clock",),
        ("tides are in UTC",),
        ("the table",),
        ("write it down",),
        ("tide", "time"),
        1,
    )


def a_commit(id: str, subject: str, bank: str = BANK) -> tuple[Commit, Passage]:
    """A commit with its passage."""
    commit = Commit(
        bank, id, NOON, "Ada", "ada@example.org", subject, "why", ("a.py", "b.py"), ("p1", "p2")
    )
    return commit, a_passage(id, subject, bank, "commit", "")


def a_change(source: int, seen: int, offset: int, captured: int = 0) -> SourceChange:
    """A reading of `captured` lines from one offset to another."""
    return SourceChange(
        source, seen, offset, f"hash-{offset}", f"stamp-{offset}", captured, captured * 10,
        captured, {}, (), {}, NOON,
    )  # fmt: skip


def a_failed_line(source: int, line: int, reader: int = 1) -> FailedLine:
    """A line that no reader up to `reader` could read."""
    return FailedLine(source, line, line * 100, FailureReason.NOT_JSON.value, '{"half', reader)


def a_decision(target: str, bank: str = BANK) -> Curation:
    """A person's decision that has no number yet."""
    return Curation(0, bank, NOON, Action.CORRECT, target, "what is right", "ada")


def restricted(store: Store, principal: Principal) -> Store:
    """The store, which from now on shows and changes only what a principal may."""
    store.database.restrict(principal)
    return store
