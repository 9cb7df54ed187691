"""A store as one principal may use it: restricted to their banks and to what their level allows.

Every method of the store protocol is classified here, once, whatever is built on top:

- a method that names a bank must name one of theirs, or none, which then means all of theirs;
- a method that is given records must be given records of their banks;
- a method that does neither is listed below, with what happens to its result.

A method that is not classified is refused, so a method added to the protocol stays closed until
somebody has decided about it. The lists refer to the protocol's methods themselves, so that a
renamed method cannot drop out of them unnoticed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Protocol, cast

from holdfast.errors import ForbiddenError, NotFoundError
from holdfast.principal import Level, Principal
from holdfast.store.protocol import Match, Reader, Store


def _names(*methods: Callable[..., Any]) -> frozenset[str]:
    return frozenset(method.__name__ for method in methods)


# The connection itself: passed through as it is.
_CONNECTION = _names(Store.transaction, Store.generation, Store.interrupt, Store.close)
# Of no bank: totals, and the cost ledger, whose caps hold for all callers together.
_UNRESTRICTED = _CONNECTION | _names(
    Store.vector_models,
    Store.vector_sizes,
    Store.count_unembedded,
    Store.total_spent,
    Store.paused_services,
    Store.reserve_call,
    Store.record_call_result,
    Store.pause_service,
    Store.resume_service,
    Store.put_failed_task,
    Store.clear_failed_task,
)
# Methods outside `Reader` that change nothing, so that the level `read` is enough.
_READ_ONLY = _names(
    Store.injections,
    Store.summary,
    Store.summary_attempted,
    Store.has_summaries,
    Store.has_progress,
    Store.unseen_changes,
    Store.banks_behind,
    Store.failed_tasks,
    Store.known_turns,
    Store.tool_call_turn,
    Store.has_tool_call,
    Store.next_seq,
    Store.all_remembered,
    Store.all_commits,
    Store.commit,
    Store.all_turns,
    Store.turn,
    Store.all_subagent_ids,
    Store.borrow_reader,
    Store.return_reader,
    Store.corrected_derived_records,
    Store.unsummarised_sessions,
)
_ADMIN_ONLY = _names(
    Store.erase,
    Store.erase_corrections,
    Store.block_marks,
    Store.overwrite_deleted,
    Store.backups_holding,
    Store.update_bank,
    Store.put_failed_task,
    Store.clear_failed_task,
)
# Methods that name one bank and reach into others.
_REFUSED = _names(Store.add_source, Store.move_source_to_bank, Store.add_alias)
# Methods whose arguments are records or rows that each carry their bank.
_TAKES_RECORDS = _names(
    Store.add_session,
    Store.append_curation,
    Store.put_curation_state,
    Store.put_memory,
    Store.put_opinion,
    Store.put_passage,
    Store.put_proposal,
    Store.put_remark,
    Store.put_thread,
    Store.put_summary,
    Store.put_turns,
    Store.put_commits,
    Store.put_patches,
    Store.put_repository,
    Store.put_forge_repository,
    Store.put_share_import,
    Store.add_injection,
    Store.record_injection_outcome,
    Store.erase,
    Store.backups_holding,
    Store.put_outbox_item,
    Store.drop_outbox_item,
)
# Methods whose results are reduced to records of the principal's banks.
_FILTERED = _names(
    Store.source,
    Store.source_at,
    Store.turn_before,
    Store.stale_sessions,
    Store.unsummarised_sessions,
    Store.outdated_sessions,
    Store.outdated_summaries,
    Store.outbox,
    Store.bank_content_sizes,
)


class RestrictableStore(Store, Protocol):
    """What the fence needs of a backend beyond the protocol; every backend has it."""

    def restrict_to_banks(self, banks: Sequence[str] | None) -> None:
        """Mean these banks where none is named (None: all), and see no others."""
        ...

    def set_visible_banks(self, banks: Sequence[str] | None) -> None:
        """See these banks alone, or all, without changing what is meant where none is named."""
        ...


def fence_store(store: Store, principal: Principal) -> Store:
    """The store as a principal may use it; the store itself where nothing is forbidden."""
    if principal.is_unrestricted:
        return store
    return cast("Store", AccessFence(cast("RestrictableStore", store), principal))


class AccessFence:
    """Takes the place of a store and passes on the calls that its principal may make."""

    def __init__(self, store: RestrictableStore, principal: Principal) -> None:
        self._store = store
        self._principal = principal
        store.restrict_to_banks(principal.banks)

    def __getattr__(self, name: str) -> Any:
        if not callable(getattr(Store, name, None)):
            raise AttributeError(name)
        self._require(required_level(name))
        method: Callable[..., Any] = getattr(self._store, name)
        checked = method if self._principal.banks is None else self._restricted(name, method)
        self.__dict__[name] = checked  # later lookups do not come here again
        return checked

    def _restricted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        if name in _CONNECTION:
            return method
        if name in _UNRESTRICTED:
            return self._seeing_all(method)
        if name in _TAKES_RECORDS:
            return self._checking_records(method)
        if name in _FILTERED:
            return lambda *args, **kwargs: _visible(method(*args, **kwargs), self._principal)
        if _names_a_bank(name) and name not in _REFUSED:
            return self._checking_bank(method)
        raise ForbiddenError(
            "This is for those who see every bank.", "Ask whoever runs the server."
        )

    def _seeing_all(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def seeing_all(*args: Any, **kwargs: Any) -> Any:
            self._store.set_visible_banks(None)
            try:
                return method(*args, **kwargs)
            finally:
                self._store.set_visible_banks(self._principal.banks)

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
        raise ForbiddenError("This belongs to no bank.", "Ask whoever runs the server.")

    def _each_own(self, many: Iterable[Any]) -> Iterator[Any]:
        yield from map(self._own, many)

    def _check_bank(self, bank: str) -> None:
        if not self._principal.sees(bank):
            raise NotFoundError(f"There is no bank {bank!r}.", "Name one of yours.")

    # Methods with a rule of their own.

    def banks(self) -> Any:
        return [bank for bank in self._store.banks() if self._principal.sees(bank.id)]

    def bank(self, id: str) -> Any:
        return self._store.bank(id) if self._principal.sees(id) else None

    def bank_by_alias(self, alias: str) -> str | None:
        return self._own_bank(self._store.bank_by_alias(alias))

    def bank_by_host_session(self, host: str) -> str | None:
        return self._own_bank(self._store.bank_by_host_session(host))

    def banks_behind(self, stage: str, version: int) -> list[str]:
        return [b for b in self._store.banks_behind(stage, version) if self._principal.sees(b)]

    def sessions_named(self, name: str) -> Any:
        return [one for one in self._store.sessions_named(name) if self._principal.sees(one.bank)]

    def list_sessions(self, filter: Any, limit: int, offset: int = 0) -> Any:
        if filter.bank:
            self._check_bank(filter.bank)
        return self._store.list_sessions(filter, limit, offset)

    def redaction_counts(self, source: int) -> dict[str, int]:
        found = self._store.source(source)
        own = found is not None and self._principal.sees(found.bank)
        return self._store.redaction_counts(source) if own else {}

    def failed_tasks(self) -> Any:
        return self._store.failed_tasks() if self._principal.banks is None else []

    def add_bank(self, bank: Any) -> None:
        self._require(Level.WRITE)
        self._check_bank(bank.id)
        self._store.add_bank(bank)

    def update_bank(self, bank: Any) -> None:
        """Everything but new aliases: an alias is unique among all banks, and taking one could
        lead callers to this bank who mean another."""
        self._require(Level.ADMIN)
        self._check_bank(bank.id)
        known = self._store.bank(bank.id)
        added = set(bank.aliases) - set(known.aliases if known else ())
        if self._principal.banks is not None and added:
            raise ForbiddenError(
                "Names are given to banks by those who see every bank.",
                "Ask whoever runs the server.",
            )
        self._store.update_bank(bank)

    def overwrite_deleted(self) -> None:
        self._require(Level.ADMIN)
        self._store.overwrite_deleted()

    def search(self, bank: str | None, *args: Any, **kwargs: Any) -> list[Match]:
        """One search a bank, because the full-text index can search one bank or all."""
        limit: int = kwargs["limit"] if "limit" in kwargs else (*args, 50, 50, 50)[2]
        found = [
            match
            for one in self._meant_banks(bank)
            for match in self._store.search(one, *args, **kwargs)
        ]
        return sorted(found, key=lambda match: -match.score)[:limit]

    def term_frequencies(self, bank: str | None, terms: Any, most: int) -> list[int]:
        counted = [
            self._store.term_frequencies(one, terms, most) for one in self._meant_banks(bank)
        ]
        return [min(sum(each), most) for each in zip(*counted, strict=True)] or [0] * len(terms)

    def borrow_reader(self) -> Any:
        reader = self._store.borrow_reader()
        return reader and fence_store(cast("Store", reader), self._principal)

    def return_reader(self, reader: Any) -> None:
        inner: Any = reader._store if isinstance(reader, AccessFence) else reader
        inner.restrict_to_banks(None)
        self._store.return_reader(inner)

    def remove_restrictions(self) -> None:
        """Let the store be used for every bank again."""
        self._store.restrict_to_banks(None)

    def _require(self, level: Level) -> None:
        if not self._principal.level.includes(level):
            raise ForbiddenError(
                "This key may not do that.", f"It takes one of the level {level.value!r}."
            )

    def _own_bank(self, bank: str | None) -> str | None:
        return bank if bank is not None and self._principal.sees(bank) else None

    def _meant_banks(self, bank: str | None) -> Iterable[str | None]:
        if bank:
            self._check_bank(bank)
        if bank is not None or self._principal.banks is None:
            return (bank,)
        return self._principal.banks


def required_level(method: str) -> Level:
    """The level that a principal needs to call a method."""
    if method in _ADMIN_ONLY:
        return Level.ADMIN
    reads = hasattr(Reader, method) or method in _UNRESTRICTED or method in _READ_ONLY
    return Level.READ if reads else Level.WRITE


def classify_methods() -> dict[str, str]:
    """How the fence treats each method of the protocol; "" for those that are refused."""
    treatments: dict[str, str] = {}
    for name, _ in inspect.getmembers(Store, inspect.isfunction):
        if name.startswith("_"):
            continue
        matching = {
            "unrestricted": name in _UNRESTRICTED,
            "own rule": name in vars(AccessFence),
            "takes records": name in _TAKES_RECORDS,
            "filtered": name in _FILTERED,
            "names a bank": _names_a_bank(name) and name not in _REFUSED,
        }
        treatments[name] = next((kind for kind, matches in matching.items() if matches), "")
    return treatments


@cache
def _names_a_bank(method: str) -> bool:
    parameter = inspect.signature(getattr(Store, method)).parameters.get("bank")
    return parameter is not None and parameter.annotation in ("str", "str | None")


def _visible(found: Any, principal: Principal) -> Any:
    if isinstance(found, list):
        return [one for one in cast("list[Any]", found) if principal.sees(one.bank)]
    return found if found is not None and principal.sees(found.bank) else None
