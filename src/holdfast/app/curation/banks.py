"""The settings of banks: disposition, background, aliases and retention."""

from __future__ import annotations

from holdfast.app.core.context import Context
from holdfast.app.curation.records import log_decision
from holdfast.learn.bank_settings import (
    BankChanges,
    apply_retention,
    change_bank,
    change_to_json,
)
from holdfast.model.bank import Bank
from holdfast.model.curation import Action
from holdfast.model.uris import uri


class BankProfiles:
    """Reads and changes what a bank is like."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def all(self) -> list[Bank]:
        """Every bank, by name."""
        return self._context.store.banks.all()

    def get(self, bank: str | None = None) -> Bank:
        """One bank; raises `NotFoundError` where the working directory has none."""
        return self._context.bank(bank)

    def change(self, changes: BankChanges, bank: str | None = None, who: str = "") -> Bank:
        """Change a bank and log that. Sessions are hidden or shown again by its retention."""
        context, known = self._context, self.get(bank)
        if changes.background:
            changes = changes._replace(background=context.redact(changes.background))
        with context.store.transaction():
            changed = change_bank(context.store, known, changes)
            if log_text := change_to_json(known, changed):
                log_decision(context, known.id, Action.SET, uri("bank", known.id), log_text, who)
        hide_or_show(context, known, changed)
        context.after_change()
        return self.get(changed.id)


def hide_or_show(context: Context, before: Bank, after: Bank) -> None:
    """Apply the retention of a bank that was changed."""
    if after.retention or before.retention:
        while any(apply_retention(context.store, after, context.now)):
            pass
