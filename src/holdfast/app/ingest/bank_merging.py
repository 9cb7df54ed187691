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
        context, store = self._context, self._context.store
        source, target = context.bank(bank), context.bank(into)
        if source.id == target.id:
            raise InputError(f"{source.name} is one bank.", "Name two banks.")
        if gaining := _keys_of_one(context, target, source):
            raise InputError(
                f"The merge would let {', '.join(gaining)} read what is in {source.name}.",
                "Give out keys for both banks, or for neither, and revoke the old ones first: "
                "`holdfast key list`.",
            )
        with store.transaction():
            others = {one.name for one in store.banks.all() if one.id != source.id}
            taken = source.name in others or store.banks.id_by_alias(f"name:{source.name}")
            added = [f"name:{source.id}"] + [f"name:{source.name}"] * (not taken)
            text = merge_to_json(BankMerge(source, target.id, tuple(added), reason))
            author, of = context.actor(who), uri("bank", source.id)
            entry = store.curation.append(
                Curation(0, target.id, context.now(), Action.MERGE, of, text, author)
            )
            store.bank_merges.merge(source.id, target.id, entry.seq)
            for alias in added:
                store.banks.add_alias(target.id, alias)
        self._settle([target.id])
        context.after_change()
        return context.bank(target.id)

    def unmerge(self, name: str, who: str = "") -> Bank:
        """Undo the merge of the bank with this name or id, whatever was decided since; returns the
        bank."""
        context, entry = self._context, self._merge_of(name)
        with context.store.transaction():
            Curator(context.store, context.now, context.actor(who)).undo_decision(entry)
            self.undo_merge(entry)
        self.settle_undone([entry])
        context.after_change()
        return context.bank(read_merge(entry).bank.id)

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
        store, wanted = self._context.store, sorted(banks)
        if wanted:
            derive_stale(store)
            with store.transaction():
                for id in wanted:
                    if store.curation.log(id):
                        Curator(store, self._context.now, "").reapply(id)

    def _merges(self) -> list[Curation]:
        """The merges of banks that are in effect, the latest first."""
        store = self._context.store
        logs = (in_effect(store.curation.log(bank.id)) for bank in store.banks.all())
        found = (entry for log in logs for entry in log if is_bank_merge(entry))
        return sorted(found, key=lambda entry: -entry.seq)

    def _merge_of(self, name: str) -> Curation:
        for entry in self._merges():
            known = read_merge(entry).bank
            if name in (known.id, known.name, uri("bank", known.id)):
                return entry
        raise NotFoundError(
            f"No bank {name!r} was merged into another.",
            "`holdfast bank list` lists those that were.",
        )


def _keys_of_one(context: Context, bank: Bank, other: Bank) -> list[str]:
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
