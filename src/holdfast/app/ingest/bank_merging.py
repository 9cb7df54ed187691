"""Merging banks that turn out to be one project, by a person or by what transcripts show.

A merge is a decision: it is logged, and can be undone. It never widens what a key of a server may
read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from holdfast.app.core.context import Context
from holdfast.errors import InputError, NotFoundError
from holdfast.learn.bank_merge_log import BankMerge, is_bank_merge, merge_to_json, read_merge
from holdfast.learn.curation import Curator
from holdfast.learn.decision_state import MERGE_AUTHOR
from holdfast.model.bank import Bank, Clue
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.ledgers.lines import Source
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.banks import is_import_only
from holdfast.refine.core.same_projects import (
    BankJoin,
    BankView,
    Join,
    find_clear_joins,
    find_joins,
)
from holdfast.refine.ingest.read_plan import Input, describe_file
from holdfast.refine.sessions.derive import derive_stale
from holdfast.sources.lines import Segment
from holdfast.sources.registry import agents
from holdfast.sources.repository_clues import read_clues
from holdfast.sources.source_files import source_snapshot
from holdfast.store.records.clues import Searched


class BankMerging:
    """Merges banks, takes merges back, and finds what could be merged."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def merge(self, bank: str, into: str, who: str = "", reason: str = "") -> Bank:
        """Move everything of a bank into another; returns the other. Raises `InputError` where a
        key of a server sees one of them and not the other."""
        source, target = self._context.bank(bank), self._context.bank(into)
        self._merge(source, target, self._context.actor(who), reason)
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

    def keep_apart(self, bank: str, into: str, who: str = "") -> None:
        """Note that two banks are different projects, so that nobody is asked again."""
        one, other = self._context.bank(bank), self._context.bank(into)
        _check_two(one, other)
        with self._context.store.transaction():
            self._append(one.id, Action.REJECT, uri("bank", other.id), other.name, who)

    def joins(self) -> list[BankJoin]:
        """What could be merged now, the clear ones first."""
        store = self._context.store
        banks = {bank.id: bank for bank in store.banks.all()}
        return [_bank_join(banks, join) for join in self._find(banks.values())]

    def join_clear(self) -> list[BankJoin]:
        """Look for new clues in the transcripts and merge the banks that are clearly one project;
        returns those. Only who sees every bank may do that. Banks that a key of a server tells
        apart are left to a person."""
        principal = self._context.settings.principal
        if (principal is not None and not principal.is_unrestricted) or not self._read_clues():
            return []
        store = self._context.store
        banks = {bank.id: bank for bank in store.banks.all()}
        done: list[BankJoin] = []
        for join in self._find(banks.values(), only_clear=True):
            one, other = banks[join.bank], banks[join.into]
            keys = [keys_of_one(self._context, a, b) for a, b in ((one, other), (other, one))]
            if not any(keys):
                self._merge(one, other, MERGE_AUTHOR, join.reason)
                done.append(_bank_join(banks, join)._replace(merged=True))
        self._settle({join.into_id for join in done})
        return done

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
        actor = who if who == MERGE_AUTHOR else context.actor(who)
        return context.store.curation.append(
            Curation(0, bank, context.now(), action, target, text, actor)
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

    def _find(self, banks: Iterable[Bank], only_clear: bool = False) -> list[Join]:
        store = self._context.store
        given = {alias for entry in self._merges() for alias in read_merge(entry).added}
        views = [
            _view(bank, store.clues.session_count(bank.id), given)._replace(
                is_imported=is_import_only(store, bank)
            )
            for bank in banks
        ]
        if not any(view.is_gone or view.is_imported for view in views):
            return []
        clues, apart = store.clues.all(None), self._apart()
        if only_clear:
            return find_clear_joins(views, clues, apart)
        return find_joins(views, clues, store.clues.files, apart)

    def _apart(self) -> set[frozenset[str]]:
        """The pairs of banks that a person keeps apart, or whose merge a person undid."""
        store = self._context.store
        pairs: set[frozenset[str]] = set()
        for bank in store.banks.all():
            log = store.curation.log(bank.id)
            undone = {entry.target for entry in log if entry.action is Action.UNDO}
            for entry in log:
                about = parse_uri(entry.target)
                if about is None or about.kind != "bank":
                    continue
                is_undone = str(entry.seq) in undone
                if entry.action is (Action.MERGE if is_undone else Action.REJECT):
                    pairs.add(frozenset((bank.id, about.id)))
        return pairs

    def _read_clues(self) -> bool:
        """Look for clues in what was read of transcripts since the last time; returns whether any
        file was searched. Nothing is searched while every folder exists."""
        context, store = self._context, self._context.store
        banks = store.banks.all()
        if not any(_view(bank).is_gone for bank in banks):
            return False
        new = [s for id in store.clues.unsearched(None) if (s := store.sources.get(id)) is not None]
        searched = store.clues.searched([source.id for source in new])
        for source in new:
            known = searched.get(source.id, _NOWHERE)
            is_longer = known.rewrites == source.rewrites and known.offset <= source.offset
            clues = _clues_of_source(context, source, known.offset if is_longer else 0)
            with store.transaction():
                store.clues.add(source.bank, source.id, _place(source), clues)
        return bool(new)


_NOWHERE = Searched(0, 0)


def _place(source: Source) -> Searched:
    """How far a source was read."""
    return Searched(source.offset, source.rewrites)


def _clues_of_source(context: Context, source: Source, start: int) -> list[Clue]:
    """The clues in the lines of a source that were read; none of one that is gone, or whose
    project is excluded."""
    agent = agents().get(source.agent)
    path = Path(source.path)
    if agent is None:
        return []
    try:
        seen = source_snapshot(path, source.agent)
        info = describe_file(Input(path, source.agent), seen.file)
        if not info.session.cwd or context.banks.is_excluded(info.session.cwd):
            return []
        return read_clues(seen.file, Segment(start, min(source.offset, seen.size)), agent, info)
    except OSError:
        return []


def _view(bank: Bank, sessions: int = 0, given: Collection[str] = ()) -> BankView:
    """What is known of a bank. `given` are names that merges gave, and no person."""
    folders = frozenset(_aliases(bank, "path:") | _aliases(bank, "folder:"))
    is_gone = bool(folders) and not any(map(os.path.isdir, folders))
    return BankView(
        bank.id,
        bank.name,
        folders,
        frozenset(_aliases(bank, "remote:")),
        frozenset(_aliases(bank, "root:")),
        is_gone,
        any(alias.startswith("name:") and alias not in given for alias in bank.aliases),
        sessions,
    )


def _aliases(bank: Bank, kind: str) -> set[str]:
    return {alias.removeprefix(kind) for alias in bank.aliases if alias.startswith(kind)}


def _bank_join(banks: dict[str, Bank], join: Join) -> BankJoin:
    one, other = banks[join.bank], banks[join.into]
    return BankJoin(one.name, other.name, one.id, other.id, join.reason, merged=False)


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
