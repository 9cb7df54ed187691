"""Undoing decisions: in the log, in rule files, and in the settings of banks."""

from __future__ import annotations

from contextlib import ExitStack

from holdfast.app.core.context import ALL_BANKS, Context
from holdfast.app.curation.bank_profiles import BankProfiles
from holdfast.app.curation.records import curator_for
from holdfast.app.curation.rule_teaching import RuleTeaching
from holdfast.app.ingest.bank_merging import BankMerging
from holdfast.learn.bank_merge_log import is_bank_merge
from holdfast.model.curation import Action, Curation


class Undo:
    """Takes back the latest decisions, whatever they changed."""

    def __init__(
        self, context: Context, teaching: RuleTeaching, banks: BankProfiles, merging: BankMerging
    ) -> None:
        self._context = context
        self._merging = merging
        self._teaching = teaching
        self._banks = banks

    def undo(
        self, count: int = 1, bank: str | None = ALL_BANKS, who: str = "", seq: int = 0
    ) -> list[Curation]:
        """Undo the latest decisions that can be undone, or the one with the number `seq`; returns
        them, the latest first. If one cannot be, none is: changes to files are rolled back too."""
        store = self._context.store
        before = {known.id: known for known in store.banks.all()}
        with ExitStack() as rollback:
            with store.transaction():
                curator, banks = curator_for(self._context, who), self._context.bank_ids(bank)
                undone = curator.undo_one(banks, seq) if seq else curator.undo(banks, count)
                for entry in undone:
                    self._undo_side_effects(entry, rollback)
            rollback.pop_all()
        self._merging.settle_undone(undone)
        self._context.after_change()
        for id in {entry.bank for entry in undone if entry.action is Action.SET}:
            self._banks.apply(before[id], self._context.bank(id))
            self._context.after_change()
        return undone

    def _undo_side_effects(self, entry: Curation, rollback: ExitStack) -> None:
        """Undo what a decision changed besides records. What is changed outside of the store is
        registered with `rollback`."""
        if entry.action is Action.VOUCH:
            self._context.store.facts.drop_uses(entry.bank, entry.target, entry.text)
            self._context.store.progress.mark_changed(entry.bank, "")
        self._teaching.undo_written_rule(entry, rollback)
        if entry.action is Action.SET:
            self._banks.undo_change(entry)
        if is_bank_merge(entry):
            self._merging.undo_merge(entry)
