"""Creates the banks of folders and names that have none yet."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.errors import InputError, NotFoundError
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.refine.core.banks import Banks, alias_rank, find_known_bank
from holdfast.settings import Settings
from holdfast.sources.project import base_name
from holdfast.store.protocol import Writer

# The bank of transcripts that name no folder.
UNSORTED_BANK = "unsorted"


class BankMaker(Banks):
    """Finds banks and creates those that are missing. `now` returns the time of creation."""

    def __init__(self, settings: Settings, now: Callable[[], str]) -> None:
        super().__init__(settings)
        self._now = now

    def ensure(self, writer: Writer, folder: str) -> str:
        """The id of a folder's bank, which is created if needed. New aliases are stored."""
        if self._settings.bank:
            return self.ensure_named(writer, self._settings.bank)
        project = self.project(folder)
        bank = find_known_bank(writer, project)
        if bank is None:
            bank = content_id("bank", min(project.aliases, key=alias_rank))
            writer.add_bank(Bank(bank, project.name or base_name(folder), self._now()))
        for alias in project.aliases:
            writer.add_alias(bank, alias)
        return bank

    def ensure_named(self, writer: Writer, name: str) -> str:
        """The id of the bank with a name that a person chose; it is created if needed."""
        if not name.strip() or name == "all":
            raise InputError(f"A bank cannot be called {name!r}.", "Choose another name.")
        exact = [b.id for b in writer.banks() if name in (b.name, b.id)]
        known = writer.bank_by_alias(f"name:{name}") or (exact[0] if len(exact) == 1 else None)
        if known is not None:
            return known
        bank = content_id("bank", f"name:{name}")
        try:
            writer.add_bank(Bank(bank, name, self._now(), aliases=(f"name:{name}",)))
        except NotFoundError as error:  # a principal limited to some banks may not create others
            raise NotFoundError(f"There is no bank {name!r}.", error.remedy) from error
        return bank
