"""A store as one principal may use it: restricted to their banks and to what their level allows.

Every method of every part of a store is classified here, once, whatever is built on top:

- a method that names a bank must name one of theirs, or none, which then means all of theirs;
- a method that is given records must be given records of their banks;
- a method that does neither is listed below, with what happens to its result.

A method that is not classified is refused, so a method added to a part stays closed until somebody
has decided about it. The lists refer to the methods themselves, so that a renamed method cannot
drop out of them unnoticed. Methods are named by part and method: `facts.put_uses`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, cast, get_type_hints

from holdfast.errors import ForbiddenError, NotFoundError
from holdfast.principal import Level, Principal
from holdfast.store.across_tables.bank_merges import BankMerges
from holdfast.store.across_tables.derived import DerivedWriter
from holdfast.store.across_tables.erasure import Eraser
from holdfast.store.across_tables.lookup import RecordReader
from holdfast.store.across_tables.overview import OverviewReader
from holdfast.store.index.passages import LayerLimit, Match, PassageReader, PassageWriter
from holdfast.store.index.progress import DerivationVersions, StageProgress
from holdfast.store.index.vectors import VectorReader, VectorWriter
from holdfast.store.knowledge.concepts import ConceptReader, ConceptWriter
from holdfast.store.knowledge.facts import FactReader, FactWriter
from holdfast.store.knowledge.graph import GraphReader, GraphWriter
from holdfast.store.knowledge.memories import MemoryReader, MemoryWriter
from holdfast.store.knowledge.opinions import OpinionReader, OpinionWriter
from holdfast.store.knowledge.rules import RuleReader, RuleWriter
from holdfast.store.ledgers.api_keys import ApiKeys
from holdfast.store.ledgers.injections import FailedTasks, InjectionLedger
from holdfast.store.ledgers.model_calls import (
    ModelCallLedger,
    ModelSummaries,
    ModelSummaryReader,
)
from holdfast.store.protocol import Protocol, Reader, ReadStore, Store
from holdfast.store.records.banks import BankReader, BankWriter
from holdfast.store.records.curation import CurationReader, CurationWriter
from holdfast.store.records.exports import ExportReader, ExportWriter
from holdfast.store.records.forge import ForgeReader, ForgeWriter
from holdfast.store.records.git_history import GitHistoryReader, GitHistoryWriter
from holdfast.store.records.imports import ImportReader, ImportWriter
from holdfast.store.records.outbox import OutboxReader, OutboxWriter
from holdfast.store.records.sessions import SessionReader, SessionWriter
from holdfast.store.records.shares import ShareReader, ShareWriter
from holdfast.store.records.sources import SourceReader, SourceWriter
from holdfast.store.records.turns import TurnReader, TurnWriter
from holdfast.store.sql.database import Database
from holdfast.store.sql.integrity import IntegrityReport

# The classes that `store.protocol` names. It does not import them, because a search needs few.
_CLASSES: dict[str, Any] = {
    one.__name__: one
    for one in (
        ApiKeys,
        BankMerges,
        BankReader,
        BankWriter,
        ConceptReader,
        ConceptWriter,
        CurationReader,
        CurationWriter,
        DerivationVersions,
        DerivedWriter,
        Eraser,
        ExportReader,
        ExportWriter,
        FactReader,
        FactWriter,
        FailedTasks,
        ForgeReader,
        ForgeWriter,
        GitHistoryReader,
        GitHistoryWriter,
        GraphReader,
        GraphWriter,
        ImportReader,
        ImportWriter,
        InjectionLedger,
        MemoryReader,
        MemoryWriter,
        ModelCallLedger,
        ModelSummaries,
        ModelSummaryReader,
        OpinionReader,
        OpinionWriter,
        OutboxReader,
        OutboxWriter,
        OverviewReader,
        PassageReader,
        PassageWriter,
        RecordReader,
        RuleReader,
        RuleWriter,
        SessionReader,
        SessionWriter,
        ShareReader,
        ShareWriter,
        SourceReader,
        SourceWriter,
        StageProgress,
        TurnReader,
        TurnWriter,
        VectorReader,
        VectorWriter,
    )
}


def _part_classes(protocol: type) -> dict[str, type]:
    """The parts of a store by their names."""
    found = inspect.getmembers(protocol, lambda member: isinstance(member, property))
    return {name: get_type_hints(member.fget, localns=_CLASSES)["return"] for name, member in found}


# The class of each part of a store, and of a reader, by its name.
PARTS = _part_classes(Store)
READER_PARTS = _part_classes(Reader)
_PART_OF_CLASS = {
    one.__name__: name for parts in (PARTS, READER_PARTS) for name, one in parts.items()
}


def _keys(*methods: Callable[..., Any]) -> frozenset[str]:
    names = (method.__qualname__.split(".") for method in methods)
    return frozenset(f"{_PART_OF_CLASS[part]}.{method}" for part, method in names)


# Of no bank: totals, the cost ledger, whose caps hold for all callers together, and catching up
# with the full-text index, which changes no words.
_UNRESTRICTED = _keys(
    PassageWriter.add_missing_parts,
    VectorReader.models,
    VectorReader.sizes,
    VectorReader.has_mixed_sizes,
    VectorReader.count_unembedded,
    VectorReader.unembedded_kinds,
    VectorReader.problem,
    ModelCallLedger.total_spent,
    ModelCallLedger.paused_services,
    ModelCallLedger.reserve,
    ModelCallLedger.record_result,
    ModelCallLedger.pause_service,
    ModelCallLedger.resume_service,
    FailedTasks.put,
    FailedTasks.clear,
)
# Methods of writers that change nothing, so that the level `read` is enough.
_READ_ONLY = _keys(
    InjectionLedger.latest,
    StageProgress.has_progress,
    StageProgress.unseen_changes,
    StageProgress.banks_behind,
    FailedTasks.all,
    TurnWriter.known,
    TurnWriter.of_tool_call,
    TurnWriter.has_tool_call,
    TurnWriter.next_seq,
    MemoryWriter.remembered_uncurated,
    GitHistoryWriter.commits_uncurated,
    GitHistoryWriter.commit_uncurated,
    TurnWriter.stream_uncurated,
    TurnWriter.get_uncurated,
    SessionWriter.subagent_ids_uncurated,
    Eraser.corrected_derived_records,
    ModelSummaries.unsummarised_sessions,
)
_ADMIN_ONLY = _keys(
    VectorWriter.try_again,
    Eraser.erase,
    Eraser.erase_corrections,
    Eraser.block_marks,
    Eraser.overwrite_deleted,
    Eraser.backups_holding,
    BankWriter.update,
    BankMerges.merge,
    BankMerges.unmerge,
    FailedTasks.put,
    FailedTasks.clear,
)
# Methods that name one bank and reach into others.
_REFUSED = _keys(
    SourceWriter.add,
    DerivedWriter.move_source,
    DerivedWriter.move_summaries,
    BankWriter.add_alias,
    BankMerges.merge,
    BankMerges.unmerge,
)
# Methods whose arguments are records or rows that each carry their bank.
_TAKES_RECORDS = _keys(
    SessionWriter.add,
    CurationWriter.append,
    CurationWriter.put_state,
    MemoryWriter.put_remembered,
    OpinionWriter.put,
    PassageWriter.replace,
    RuleWriter.put_proposal,
    ForgeWriter.put_remark,
    ForgeWriter.put_thread,
    ModelSummaries.put,
    TurnWriter.put,
    GitHistoryWriter.put_commits,
    GitHistoryWriter.put_patches,
    GitHistoryWriter.put_repository,
    ForgeWriter.put_repository,
    ShareWriter.put_import,
    InjectionLedger.add,
    InjectionLedger.record_outcome,
    Eraser.erase,
    Eraser.backups_holding,
    OutboxWriter.put,
    OutboxWriter.drop,
)
# Methods whose results are reduced to records of the principal's banks.
_FILTERED = _keys(
    SourceReader.get,
    SourceReader.at_path,
    SessionReader.stale,
    ModelSummaries.unsummarised_sessions,
    DerivationVersions.outdated_sessions,
    DerivationVersions.outdated_summaries,
    OutboxReader.items,
)


class RestrictableStore(Store, Protocol):
    """What the fence needs of a backend beyond the protocol; every backend has it."""

    @property
    def database(self) -> Database: ...


def fence_store(store: Store, principal: Principal) -> Store:
    """The store as a principal may use it; the store itself where nothing is forbidden."""
    if principal.is_unrestricted:
        return store
    return cast("Store", AccessFence(cast("RestrictableStore", store), principal))


class AccessFence:
    """Takes the place of a store; its parts pass on the calls that its principal may make."""

    def __init__(self, store: RestrictableStore, principal: Principal) -> None:
        self._store = store
        self._principal = principal
        store.database.restrict_to_banks(principal.banks)

    def __getattr__(self, name: str) -> Any:
        if name not in PARTS:
            raise AttributeError(name)
        part = _FencedPart(self._store, self._principal, name)
        self.__dict__[name] = part  # later lookups do not come here again
        return part

    def transaction(self) -> AbstractContextManager[None]:
        return self._store.transaction()

    def generation(self) -> str:
        return self._store.generation()

    def interrupt(self) -> None:
        self._store.interrupt()

    def close(self) -> None:
        self._store.close()

    def check_integrity(self) -> IntegrityReport:
        _require(self._principal, Level.WRITE)
        if self._principal.banks is not None:
            raise _refusal()
        return self._store.check_integrity()

    def borrow_reader(self) -> ReadStore | None:
        reader = self._store.borrow_reader()
        return reader and fence_store(cast("Store", reader), self._principal)

    def return_reader(self, reader: Any) -> None:
        inner: Any = reader._store if isinstance(reader, AccessFence) else reader
        inner.database.restrict_to_banks(None)
        self._store.return_reader(inner)

    def remove_restrictions(self) -> None:
        """Let the store be used for every bank again."""
        self._store.database.restrict_to_banks(None)


class _FencedPart:
    """One part of a store behind the fence."""

    def __init__(self, store: RestrictableStore, principal: Principal, name: str) -> None:
        self._part: Any = getattr(store, name)
        self._name = name
        self._database = store.database
        self._sources = store.sources
        self._principal = principal

    def __getattr__(self, method: str) -> Any:
        key = f"{self._name}.{method}"
        if method.startswith("_") or not callable(getattr(self._part, method, None)):
            raise AttributeError(key)
        _require(self._principal, required_level(key))
        checked = self._checked(key, getattr(self._part, method))
        self.__dict__[method] = checked  # later lookups do not come here again
        return checked

    def _checked(self, key: str, method: Callable[..., Any]) -> Callable[..., Any]:
        rule = _OWN_RULES.get(key)
        if rule is not None:
            return lambda *args, **kwargs: rule(self, *args, **kwargs)
        if self._principal.banks is None:
            return method
        if key in _UNRESTRICTED:
            return self._seeing_all(method)
        if key in _TAKES_RECORDS:
            return self._checking_records(method)
        if key in _FILTERED:
            return lambda *args, **kwargs: _visible(method(*args, **kwargs), self._principal)
        if _names_a_bank(key) and key not in _REFUSED:
            return self._checking_bank(method)
        raise _refusal()

    def _seeing_all(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def seeing_all(*args: Any, **kwargs: Any) -> Any:
            self._database.set_visible_banks(None)
            try:
                return method(*args, **kwargs)
            finally:
                self._database.set_visible_banks(self._principal.banks)

        return seeing_all

    def _checking_bank(self, method: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(method)

        def checked(*args: Any, **kwargs: Any) -> Any:
            bank = signature.bind(*args, **kwargs).arguments.get("bank")
            if bank:
                self._check_bank(bank)
            return method(*args, **kwargs)

        return checked

    def _checking_records(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any, **kwargs: Any) -> Any:
            own = [self._own(arg) for arg in args]
            return method(*own, **{name: self._own(arg) for name, arg in kwargs.items()})

        return checked

    def _own(self, value: Any) -> Any:
        """The value, if all records in it are of the principal's banks; an iterable is checked
        while it is consumed."""
        if value is None or isinstance(value, str | int | float):
            return value
        bank = getattr(value, "bank", None)
        if isinstance(bank, str):
            self._check_bank(bank)
            return value
        many = cast("Iterable[Any]", value)
        if isinstance(value, tuple):
            checked = tuple(map(self._own, many))
            # A NamedTuple without a bank is part of the record given with it.
            return many if hasattr(many, "_fields") else checked
        if isinstance(value, Iterable):
            return self._each_own(many)
        raise ForbiddenError("This belongs to no bank.", "Ask the operator.")

    def _each_own(self, many: Iterable[Any]) -> Iterator[Any]:
        yield from map(self._own, many)

    def _check_bank(self, bank: str) -> None:
        if not self._principal.sees(bank):
            raise NotFoundError(f"There is no bank {bank!r}.", "Name one of yours.")

    # Methods with a rule of their own.

    def _banks_all(self) -> Any:
        return [bank for bank in self._part.all() if self._principal.sees(bank.id)]

    def _banks_get(self, id: str) -> Any:
        return self._part.get(id) if self._principal.sees(id) else None

    def _banks_id_by_alias(self, alias: str) -> str | None:
        return self._own_bank(self._part.id_by_alias(alias))

    def _banks_id_by_host_session(self, host: str) -> str | None:
        return self._own_bank(self._part.id_by_host_session(host))

    def _banks_add(self, bank: Any) -> None:
        self._check_bank(bank.id)
        self._part.add(bank)

    def _banks_update(self, bank: Any) -> None:
        """Everything but new aliases: an alias is unique among all banks, and taking one could
        lead callers to this bank who mean another."""
        self._check_bank(bank.id)
        known = self._part.get(bank.id)
        added = set(bank.aliases) - set(known.aliases if known else ())
        if self._principal.banks is not None and added:
            raise ForbiddenError(
                "Only somebody with access to every bank can name banks.",
                "Ask the operator.",
            )
        self._part.update(bank)

    def _progress_banks_behind(self, stage: str, version: int, vectors: bool = False) -> list[str]:
        behind = self._part.banks_behind(stage, version, vectors)
        return [bank for bank in behind if self._principal.sees(bank)]

    def _sessions_named(self, name: str) -> Any:
        return [one for one in self._part.named(name) if self._principal.sees(one.bank)]

    def _sessions_page(self, filter: Any, limit: int, offset: int = 0) -> Any:
        if filter.bank:
            self._check_bank(filter.bank)
        return self._part.page(filter, limit, offset)

    def _sources_redaction_counts(self, source: int) -> dict[str, int]:
        found = self._sources.get(source)
        own = found is not None and self._principal.sees(found.bank)
        return self._part.redaction_counts(source) if own else {}

    def _failed_tasks_all(self) -> Any:
        return self._part.all() if self._principal.banks is None else []

    def _erasure_overwrite_deleted(self) -> None:
        self._part.overwrite_deleted()

    def _passages_search(self, bank: str | None, *args: Any, **kwargs: Any) -> list[Match]:
        """One search a bank, because the full-text index can search one bank or all."""
        limit: int = kwargs["limit"] if "limit" in kwargs else (*args, 50, 50, 50)[2]
        found = [
            match
            for one in self._meant_banks(bank)
            for match in self._part.search(one, *args, **kwargs)
        ]
        return sorted(found, key=lambda match: -match.score)[:limit]

    def _passages_search_each(
        self,
        bank: str | None,
        terms: Sequence[str],
        wanted: Sequence[LayerLimit],
        since: str = "",
        until: str = "",
    ) -> list[list[Match]]:
        found: list[list[Match]] = [[] for _ in wanted]
        for one in self._meant_banks(bank):
            for all, some in zip(
                found, self._part.search_each(one, terms, wanted, since, until), strict=True
            ):
                all += some
        return [
            sorted(all, key=lambda match: -match.score)[: one.limit]
            for all, one in zip(found, wanted, strict=True)
        ]

    def _passages_term_frequencies(self, bank: str | None, terms: Any, most: int) -> list[int]:
        counted = [self._part.term_frequencies(one, terms, most) for one in self._meant_banks(bank)]
        return [min(sum(each), most) for each in zip(*counted, strict=True)] or [0] * len(terms)

    def _own_bank(self, bank: str | None) -> str | None:
        return bank if bank is not None and self._principal.sees(bank) else None

    def _meant_banks(self, bank: str | None) -> Iterable[str | None]:
        if bank:
            self._check_bank(bank)
        if bank is not None or self._principal.banks is None:
            return (bank,)
        return self._principal.banks


_OWN_RULES: dict[str, Callable[..., Any]] = {
    key: getattr(_FencedPart, "_" + key.replace(".", "_"))
    for key in _keys(
        BankReader.all,
        BankReader.get,
        BankReader.id_by_alias,
        BankReader.id_by_host_session,
        StageProgress.banks_behind,
        SessionReader.named,
        SessionReader.page,
        SourceReader.redaction_counts,
        FailedTasks.all,
        BankWriter.add,
        BankWriter.update,
        Eraser.overwrite_deleted,
        PassageReader.search,
        PassageReader.search_each,
        PassageReader.term_frequencies,
    )
}


def _require(principal: Principal, level: Level) -> None:
    if not principal.level.includes(level):
        raise ForbiddenError(
            "This key does not permit that.", f"A key of level {level.value!r} is needed."
        )


def _refusal() -> ForbiddenError:
    return ForbiddenError("This needs access to every bank.", "Ask the operator.")


def required_level(key: str) -> Level:
    """The level that a principal needs to call a method of a part."""
    if key in _ADMIN_ONLY:
        return Level.ADMIN
    part, method = key.split(".")
    reads = part in READER_PARTS and hasattr(READER_PARTS[part], method)
    return Level.READ if reads or key in _UNRESTRICTED or key in _READ_ONLY else Level.WRITE


def classify_methods() -> dict[str, str]:
    """How the fence treats each method of each part; "" for those that are refused."""
    treatments: dict[str, str] = {}
    for part, one in PARTS.items():
        for method, _ in inspect.getmembers(one, inspect.isfunction):
            key = f"{part}.{method}"
            if method.startswith("_"):
                continue
            matching = {
                "unrestricted": key in _UNRESTRICTED,
                "own rule": key in _OWN_RULES,
                "takes records": key in _TAKES_RECORDS,
                "filtered": key in _FILTERED,
                "names a bank": _names_a_bank(key) and key not in _REFUSED,
            }
            treatments[key] = next((kind for kind, matches in matching.items() if matches), "")
    return treatments


@cache
def _names_a_bank(key: str) -> bool:
    part, method = key.split(".")
    signature = inspect.signature(getattr(PARTS[part], method))
    parameter = signature.parameters.get("bank")
    return parameter is not None and parameter.annotation in ("str", "str | None")


def _visible(found: Any, principal: Principal) -> Any:
    if isinstance(found, list):
        return [one for one in cast("list[Any]", found) if principal.sees(one.bank)]
    return found if found is not None and principal.sees(found.bank) else None
