"""A store as one principal may use it: their banks are all there are, and only so much is done.

Every way into a store is held against what is known of it here, once, whatever is built on top.
What names a bank must name one of theirs; what names none, and so means all, means all of theirs;
what is given records is given records of theirs; what neither names nor gives any is listed below,
with what becomes of its answer. What is not listed is refused, so that a way that somebody adds to
the protocol is shut until somebody has thought about it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, cast

from holdfast.errors import ForbiddenError, NotFoundError
from holdfast.principal import Level, Principal
from holdfast.store.protocol import Match, Reader, Store

# Of no bank: the connection itself, numbers, and the ledger that keeps models within their caps.
_CONNECTION = frozenset("transaction generation interrupt close".split())
_OPEN = _CONNECTION | frozenset(
    "vector_models vector_sizes count_unembedded spent pauses add_call settle_call put_pause "
    "clear_pause put_chore clear_chore".split()
)
# What is asked of the ways in, though nothing is changed by it.
_ASKED = frozenset(
    "injections summary tried has_summaries has_reached changes banks_behind chores known_turns "
    "call knows_call next_seq memories commits commit all_turns turn children another "
    "give_back made_and_corrected unsummarised".split()
)
_ADMIN = frozenset(
    "erase erase_corrections seal overwrite copies_holding set_bank put_chore clear_chore".split()
)
# What names one bank and reaches into others.
_SHUT = frozenset(("add_source", "rebank_source", "add_alias"))
# What is given records, or rows, each of which says its bank.
_GIVEN = frozenset(
    "add_session curate put_curated put_memory put_opinion put_passage put_proposal put_remark "
    "put_thread put_summary put_turns put_commits put_patches put_repository put_followed "
    "put_taking add_injection settle_injection erase copies_holding put_parcel drop_parcel".split()
)
# Of what comes back, only what is theirs is told.
_SIFTED = frozenset(
    "source source_at turn_before stale_sessions unsummarised outdated outdated_summaries "
    "parcels held".split()
)


def fenced(store: Store, principal: Principal) -> Store:
    """A store as a principal may use it; the store itself where nothing is forbidden."""
    if principal.unbounded:
        return store
    return cast("Store", Fence(store, principal))


class Fence:
    """Stands for a store. It hands on what is allowed."""

    def __init__(self, store: Store, principal: Principal) -> None:
        self._store = store
        self._principal = principal
        cast("Any", store).keep_within(principal.banks)

    def __getattr__(self, name: str) -> Any:
        if not callable(getattr(Store, name, None)):
            raise AttributeError(name)
        if not self._principal.level.includes(level_of(name)):
            raise ForbiddenError(
                "This key may not do that.", f"It takes one of the level {level_of(name)!r}."
            )
        way: Callable[..., Any] = getattr(self._store, name)
        made = way if self._principal.banks is None else self._bounded(name, way)
        self.__dict__[name] = made  # the next time it is found at once
        return made

    def _bounded(self, name: str, way: Callable[..., Any]) -> Callable[..., Any]:
        if name in _CONNECTION:
            return way
        if name in _OPEN:
            return self._seeing_all(way)
        if name in _GIVEN:
            return self._given(way)
        if name in _SIFTED:
            return lambda *given, **named: _sifted(way(*given, **named), self._principal)
        if _bank_of(name) and name not in _SHUT:
            return self._named(name, way)
        raise ForbiddenError(
            "This is for those who see every bank.", "Ask whoever runs the server."
        )

    def _seeing_all(self, way: Callable[..., Any]) -> Callable[..., Any]:
        store = cast("Any", self._store)

        def seeing(*given: Any, **named: Any) -> Any:
            store.let_see(None)
            try:
                return way(*given, **named)
            finally:
                store.let_see(self._principal.banks)

        return seeing

    def _named(self, name: str, way: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(way)

        def checked(*given: Any, **named: Any) -> Any:
            bank = signature.bind(*given, **named).arguments.get("bank")
            if bank:
                self._check(bank)
            return way(*given, **named)

        return checked

    def _given(self, way: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*given: Any, **named: Any) -> Any:
            seen = [self._seen(one) for one in given]
            return way(*seen, **{name: self._seen(one) for name, one in named.items()})

        return checked

    def _seen(self, one: Any) -> Any:
        """What is given, if it is theirs; what comes one by one is looked at as it comes."""
        if one is None or isinstance(one, str | int | float):
            return one
        bank = getattr(one, "bank", None)
        if isinstance(bank, str):
            self._check(bank)
            return one
        many = cast("Iterable[Any]", one)
        if isinstance(one, tuple):
            seen = tuple(map(self._seen, many))
            return many if hasattr(many, "_fields") else seen  # part of what is given with it
        if isinstance(one, Iterable):
            return self._each(many)
        raise ForbiddenError("This belongs to no bank.", "Ask whoever runs the server.")

    def _each(self, many: Iterable[Any]) -> Iterator[Any]:
        yield from map(self._seen, many)

    def _check(self, bank: str) -> None:
        if not self._principal.sees(bank):
            raise NotFoundError(f"There is no bank {bank!r}.", "Name one of yours.")

    # What has a shape of its own.

    def banks(self) -> Any:
        return [bank for bank in self._store.banks() if self._principal.sees(bank.id)]

    def bank(self, id: str) -> Any:
        return self._store.bank(id) if self._principal.sees(id) else None

    def bank_of(self, alias: str) -> str | None:
        return self._mine(self._store.bank_of(alias))

    def bank_of_host(self, host: str) -> str | None:
        return self._mine(self._store.bank_of_host(host))

    def banks_behind(self, stage: str, version: int) -> list[str]:
        return [b for b in self._store.banks_behind(stage, version) if self._principal.sees(b)]

    def named(self, name: str) -> Any:
        return [one for one in self._store.named(name) if self._principal.sees(one.bank)]

    def listed(self, sieve: Any, limit: int, offset: int = 0) -> Any:
        if sieve.bank:
            self._check(sieve.bank)
        return self._store.listed(sieve, limit, offset)

    def redacted(self, source: int) -> dict[str, int]:
        found = self._store.source(source)
        mine = found is not None and self._principal.sees(found.bank)
        return self._store.redacted(source) if mine else {}

    def chores(self) -> Any:
        return self._store.chores() if self._principal.banks is None else []

    def add_bank(self, bank: Any) -> None:
        self._may(Level.WRITE)
        self._check(bank.id)
        self._store.add_bank(bank)

    def set_bank(self, bank: Any) -> None:
        """All but what it is called: names are everybody's, and one that was given to this bank
        would lead those astray who mean another."""
        self._may(Level.ADMIN)
        self._check(bank.id)
        known = self._store.bank(bank.id)
        added = set(bank.aliases) - set(known.aliases if known else ())
        if self._principal.banks is not None and added:
            raise ForbiddenError(
                "Names are given to banks by those who see every bank.",
                "Ask whoever runs the server.",
            )
        self._store.set_bank(bank)

    def overwrite(self) -> None:
        self._may(Level.ADMIN)
        self._store.overwrite()

    def search(self, bank: str | None, *given: Any, **named: Any) -> list[Match]:
        """Bank by bank, for an index knows one or all."""
        limit: int = named["limit"] if "limit" in named else (*given, 50, 50, 50)[2]
        found = [
            match for one in self._meant(bank) for match in self._store.search(one, *given, **named)
        ]
        return sorted(found, key=lambda match: -match.score)[:limit]

    def frequencies(self, bank: str | None, terms: Any, most: int) -> list[int]:
        counted = [self._store.frequencies(one, terms, most) for one in self._meant(bank)]
        return [min(sum(each), most) for each in zip(*counted, strict=True)] or [0] * len(terms)

    def another(self) -> Any:
        made = self._store.another()
        return made and fenced(cast("Store", made), self._principal)

    def give_back(self, other: Any) -> None:
        inner: Any = other._store if isinstance(other, Fence) else other
        inner.keep_within(None)
        self._store.give_back(inner)

    def unfenced(self) -> None:
        """Let the store be asked for everything again."""
        cast("Any", self._store).keep_within(None)

    def _may(self, level: Level) -> None:
        if not self._principal.level.includes(level):
            raise ForbiddenError(
                "This key may not do that.", f"It takes one of the level {level.value!r}."
            )

    def _mine(self, bank: str | None) -> str | None:
        return bank if bank is not None and self._principal.sees(bank) else None

    def _meant(self, bank: str | None) -> Iterable[str | None]:
        if bank:
            self._check(bank)
        if bank is not None or self._principal.banks is None:
            return (bank,)
        return self._principal.banks


def level_of(way: str) -> Level:
    """How much must be allowed to somebody who goes this way."""
    if way in _ADMIN:
        return Level.ADMIN
    asked = hasattr(Reader, way) or way in _OPEN or way in _ASKED
    return Level.READ if asked else Level.WRITE


def rules() -> dict[str, str]:
    """Of every way of the protocol, what becomes of it; "" for those that are refused."""
    told: dict[str, str] = {}
    for name, _ in inspect.getmembers(Store, inspect.isfunction):
        if name.startswith("_"):
            continue
        kinds = {
            "open": name in _OPEN,
            "own": name in vars(Fence),
            "given": name in _GIVEN,
            "sifted": name in _SIFTED,
            "named": _bank_of(name) and name not in _SHUT,
        }
        told[name] = next((kind for kind, holds in kinds.items() if holds), "")
    return told


@cache
def _bank_of(name: str) -> bool:
    """Whether a way names the bank that it leads to."""
    found = inspect.signature(getattr(Store, name)).parameters.get("bank")
    return found is not None and found.annotation in ("str", "str | None")


def _sifted(found: Any, principal: Principal) -> Any:
    if isinstance(found, list):
        return [one for one in cast("list[Any]", found) if principal.sees(one.bank)]
    return found if found is not None and principal.sees(found.bank) else None
