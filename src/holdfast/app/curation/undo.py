"""Undoing decisions: in the log, in rule files, and in the settings of banks."""

from __future__ import annotations

from contextlib import ExitStack

from holdfast.app.core.context import ALL_BANKS, Context
from holdfast.app.curation.banks import hide_or_show
from holdfast.app.curation.records import curator_for
from holdfast.app.curation.rules import Rules
from holdfast.app.ingest.bank_merging import BankMerging
from holdfast.learn.bank_merge_log import is_bank_merge
from holdfast.learn.bank_settings import undo_change
from holdfast.model.curation import Action, Curation


def undo_decisions(
    context: Context,
    rules: Rules,
    merging: BankMerging,
    count: int = 1,
    bank: str | None = ALL_BANKS,
    who: str = "",
    seq: int = 0,
) -> list[Curation]:
    """Undo the latest decisions that can be undone, or the one with the number `seq`; returns them,
    the latest first. If one cannot be, none is: changes to files are rolled back too."""
    store = context.store
    before = {known.id: known for known in store.banks.all()}
    with ExitStack() as rollback:
        with store.transaction():
            curator, banks = curator_for(context, who), context.bank_ids(bank)
            undone = curator.undo_one(banks, seq) if seq else curator.undo(banks, count)
            for entry in undone:
                if entry.action is Action.VOUCH:
                    store.facts.drop_uses(entry.bank, entry.target, entry.text)
                    store.progress.mark_changed(entry.bank, "")
                rules.undo_written_rule(entry, rollback)
                if entry.action is Action.SET and entry.bank in before:
                    store.banks.update(undo_change(context.bank(entry.bank), entry))
                if is_bank_merge(entry):
                    merging.undo_merge(entry)
        rollback.pop_all()
    merging.settle_undone(undone)
    context.after_change()
    for id in {entry.bank for entry in undone if entry.action is Action.SET}:
        hide_or_show(context, before[id], context.bank(id))
        context.after_change()
    return undone
