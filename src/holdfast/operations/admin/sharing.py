"""What came from elsewhere: imports, pulls, and records that people share with a server."""

from __future__ import annotations

from typing import Annotated, Any

from holdfast.app.memory import Holdfast
from holdfast.app.server.shared_records import (
    ORGANISATION_BANK,
    Receipt,
    SharedHit,
    recall_shared,
    receive,
)
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Curation
from holdfast.operations.operation import OWNER, Arg, Call, Work, operation
from holdfast.operations.parameters import MAX_NAME, AnyBank, OneBank, Question
from holdfast.principal import Level

_MAX_SHARES = 100
_MAX_HITS = 50


class ImportRecord(NamedTuple):
    """One import from another program: from where (`place`), when, how many records of each kind,
    how many were skipped or failed, by reason, and whether it was undone."""

    bank: str
    id: str
    program: str
    place: str
    time: str
    kinds: dict[str, int]
    skipped: dict[str, int]
    failed: dict[str, int]
    redacted: int
    undone: bool


class ImportList(NamedTuple):
    """Imports that stored something."""

    imports: tuple[ImportRecord, ...]


class ImportUndone(NamedTuple):
    """The decisions that undid an import, one for each bank."""

    undone: tuple[Curation, ...]


class PullRecord(NamedTuple):
    """One pull of what others share: from where (`place`), up to which commits (`heads`), when, and
    whether it was undone."""

    bank: str
    id: str
    place: str
    heads: tuple[str, ...]
    time: str
    undone: bool


class PullList(NamedTuple):
    """Pulls that imported something."""

    pulls: tuple[PullRecord, ...]


class PullUndone(NamedTuple):
    """The decision that undid a pull."""

    undone: Curation


class Receipts(NamedTuple):
    """What became of each line that was sent, in the same order."""

    shares: tuple[Receipt, ...]


class SharedHits(NamedTuple):
    """Shared records that match a question, best first."""

    bank: str
    hits: tuple[SharedHit, ...]


UnitId = Annotated[str, Arg("its id, or the start of it", place="ID", most=MAX_NAME)]
NamedBank = Annotated[
    str, Arg("the name or id of a bank", most=200, metavar="BANK", example="checkout")
]


@operation("imports", Level.ADMIN, rest="GET /imports", work=Work.READ, all_banks=True)
def imports(memory: Holdfast, bank: AnyBank = "all") -> ImportList:
    """List imports

    Every import with new records, and whether it was undone."""
    found = memory.imports.list_batches(bank)
    return ImportList(tuple(ImportRecord(*one, not in_effect) for one, in_effect in found))


@operation(
    "undo-import",
    Level.ADMIN,
    rest="POST /imports/{id}/undo",
    work=Work.RUN_LONG,
    all_banks=True,
)
def undo_import(memory: Holdfast, id: UnitId, call: Call = OWNER) -> ImportUndone:
    """Undo an import

    Removes all its records, in all banks."""
    return ImportUndone(tuple(memory.imports.undo_import(id, call.who)))


@operation("pulls", Level.ADMIN, rest="GET /pulls", work=Work.READ, all_banks=True)
def pulls(memory: Holdfast, bank: OneBank = "") -> PullList:
    """List pulls

    Every pull of shared records, and whether it was undone."""
    found = memory.sharing.pulls(bank)
    return PullList(tuple(PullRecord(*one, not in_effect) for one, in_effect in found))


@operation(
    "undo-pull", Level.ADMIN, rest="POST /pulls/{id}/undo", work=Work.RUN_LONG, all_banks=True
)
def undo_pull(memory: Holdfast, id: UnitId, bank: OneBank = "", call: Call = OWNER) -> PullUndone:
    """Undo a pull

    Also restores the records that it replaced."""
    return PullUndone(memory.sharing.undo_pull(id, bank, call.who))


@operation("receive-shares", Level.WRITE, rest="POST /shares", public_banks=(ORGANISATION_BANK,))
def receive_shares(
    memory: Holdfast,
    bank: NamedBank,
    shares: Annotated[
        tuple[dict[str, Any], ...],
        Arg(
            "lines in the format of docs/sharing.md, with a scope and hash, without the author",
            most=_MAX_SHARES,
        ),
    ],
    call: Call = OWNER,
) -> Receipts:
    """Receive shared records

    The author is the owner of the key. The same line is accepted once. A line with `gone` withdraws
    an earlier one."""
    return Receipts(tuple(receive(memory, bank, shares, call.key, call.who)))


@operation(
    "recall-shares",
    Level.READ,
    rest="POST /shares/recall",
    work=Work.RUN,
    public_banks=(ORGANISATION_BANK,),
)
def recall_shares(
    memory: Holdfast,
    question: Question,
    bank: NamedBank,
    limit: Annotated[int, Arg("how many at most", least=1, most=_MAX_HITS)] = 10,
) -> SharedHits:
    """Search shared records

    Those that are shared with the bank or with everybody, best first."""
    return SharedHits(bank, tuple(recall_shared(memory, question, bank, limit)))
