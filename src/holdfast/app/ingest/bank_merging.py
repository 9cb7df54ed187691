"""Merging banks that a person says are one project.

A merge is a decision: it is logged, and can be undone. It never widens what a key of a server may
read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from holdfast.app.core.context import Context
from holdfast.errors import InputError, NotFoundError
from holdfast.learn.bank_merge_log import BankMerge, is_bank_merge, merge_to_json, read_merge
from holdfast.learn.curation import Curator
from holdfast.model.bank import Bank
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.uris import uri
from holdfast.refine.sessions.derive import derive_stale


class BankMerging:
    """Merges banks, and takes merges back."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def merge(self, bank: str, into: str, who: str = "", reason: str = "") -> Bank:
        """Move everything of a bank into another; returns the other. Raises `InputError` where a
        key of a server sees one of them and not the other."""
        source, target = self._context.bank(bank), self._context.bank(into)
        self._merge(source, target, who, reason)
        self._settle([target.id])
        self._context.after_change()
        return self._context.bank(target.id)

    def unmerge(self, name: str, who: str = "") -> Bank:
        """Undo the merge of the bank with this name or id, whatever was decided since; returns the
        bank."""
        store = self._context.store
        entry = self._find_merge(name)
        with store.transaction():
            Curator(store, self._context.now, self._context.actor(who)).undo_decision(entry)
            self.undo_merge(entry)
        self.settle_undone([entry])
        self._context.after_change()
        return self._context.bank(read_merge(entry).bank.id)

    def undo_merge(self, entry: Curation) -> None:
        """Move back what a logged merge moved."""
        merge, store = read_merge(entry), self._context.store
        if merge.into != entry.bank:
            since = next((m for m in self._merges() if read_merge(m).bank.id == merge.into), None)
            name = read_merge(since).bank.name if since else merge.into
            raise InputError(
                f"{merge.bank.name} is in {name}, which was merged into another bank since.",
                f"Undo that first: `holdfast bank unmerge {merge.into}`.",
            )
        into = self._context.bank(merge.into)
        aliases = tuple(alias for alias in into.aliases if alias not in merge.added)
        store.banks.update(replace(into, aliases=aliases))
        store.bank_merges.unmerge(merge.bank, merge.into, entry.seq)

    def settle_undone(self, entries: Iterable[Curation]) -> None:
        """Derive what undone merges changed."""
        merges = [read_merge(entry) for entry in entries if is_bank_merge(entry)]
        self._settle({id for merge in merges for id in (merge.bank.id, merge.into)})

    def _settle(self, banks: Iterable[str]) -> None:
        """Derive the sessions that moved, and apply the decisions about them again."""
        store = self._context.store
        wanted = sorted(banks)
        if not wanted:
            return
        derive_stale(store)
        with store.transaction():
            for id in wanted:
                if store.curation.log(id):
                    Curator(store, self._context.now, "").reapply(id)

    def _merge(self, bank: Bank, into: Bank, who: str, reason: str) -> None:
        _check_two(bank, into)
        gaining = keys_of_one(self._context, into, bank)
        if gaining:
            raise InputError(
                f"The merge would let {', '.join(gaining)} read what is in {bank.name}.",
                "Give out keys for both banks, or for neither, and revoke the old ones first: "
                "`holdfast key list`.",
            )
        store = self._context.store
        with store.transaction():
            names = [bank.id] + [bank.name] * (not self._is_taken(bank.name, bank.id))
            added = [f"name:{name}" for name in names]
            merge = BankMerge(bank, into.id, tuple(added), reason)
            entry = self._append(
                into.id, Action.MERGE, uri("bank", bank.id), merge_to_json(merge), who
            )
            store.bank_merges.merge(bank.id, into.id, entry.seq)
            for alias in added:
                store.banks.add_alias(into.id, alias)

    def _is_taken(self, name: str, bank: str) -> bool:
        """Whether another bank has a name."""
        banks = self._context.store.banks
        others = [one for one in banks.all() if one.id != bank]
        return name in {one.name for one in others} or banks.id_by_alias(f"name:{name}") is not None

    def _append(self, bank: str, action: Action, target: str, text: str, who: str) -> Curation:
        context = self._context
        return context.store.curation.append(
            Curation(0, bank, context.now(), action, target, text, context.actor(who))
        )

    def _merges(self) -> list[Curation]:
        """The merges of banks that are in effect, the latest first."""
        store = self._context.store
        found = [
            entry
            for bank in store.banks.all()
            for entry in in_effect(store.curation.log(bank.id))
            if is_bank_merge(entry)
        ]
        return sorted(found, key=lambda entry: -entry.seq)

    def _find_merge(self, name: str) -> Curation:
        for entry in self._merges():
            known = read_merge(entry).bank
            if name in (known.id, known.name, uri("bank", known.id)):
                return entry
        raise NotFoundError(
            f"No bank {name!r} was merged into another.",
            "`holdfast bank list` lists those that were.",
        )


def _check_two(bank: Bank, into: Bank) -> None:
    if bank.id == into.id:
        raise InputError(f"{bank.name} is one bank.", "Name two banks.")


def keys_of_one(context: Context, bank: Bank, other: Bank) -> list[str]:
    """The names of the keys in force that see a bank and do not see another one."""
    now = context.now()
    return [
        f"the key {key.name!r} ({key.id})"
        for key in context.store.api_keys.all()
        if key.banks is not None
        and bank.id in key.banks
        and other.id not in key.banks
        and not key.revoked
        and not (key.expires and key.expires <= now)
    ]
