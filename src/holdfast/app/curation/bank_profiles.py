"""The settings of banks: disposition, background, aliases and retention."""

from __future__ import annotations

from holdfast.app.core.context import Context
from holdfast.learn.bank_settings import (
    BankChanges,
    apply_retention,
    change_bank,
    change_to_json,
    undo_change,
)
from holdfast.model.bank import Bank
from holdfast.model.curation import Action, Curation
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
        context = self._context
        known = self.get(bank)
        if changes.background:
            changes = changes._replace(background=context.redact(changes.background))
        with context.store.transaction():
            changed = change_bank(context.store, known, changes)
            log_text = change_to_json(known, changed)
            if log_text:
                log_change(context, known.id, Action.SET, uri("bank", known.id), log_text, who)
        self.apply(known, changed)
        context.after_change()
        return self.get(changed.id)

    def apply(self, before: Bank, after: Bank) -> None:
        """Apply the retention of a bank that was changed."""
        store, now = self._context.store, self._context.now
        if after.retention or before.retention:
            while any(apply_retention(store, after, now)):
                pass

    def undo_change(self, entry: Curation) -> None:
        """Set a bank back to what it was before a logged change."""
        known = self._context.store.banks.get(entry.bank)
        if known is not None:
            self._context.store.banks.update(undo_change(known, entry))


def log_change(
    context: Context, bank: str, action: Action, target: str, text: str, who: str
) -> None:
    """Log a change of something that is not a record."""
    entry = Curation(0, bank, context.now(), action, target, text, context.actor(who))
    context.store.curation.append(entry)
    context.store.progress.mark_changed(bank, "")
