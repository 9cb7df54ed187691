"""Banks and their aliases."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.model.bank import Bank, Disposition
from holdfast.principal import Level
from holdfast.store.sql import rows
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import (
    insert_missing,
    placeholders_for,
)

BANK = "id, name, created, background, skepticism, literalism, empathy, retention"


def bank_of(row: rows.Row, aliases: Iterable[str]) -> Bank:
    """`BANK`."""
    return Bank(row[0], row[1], row[2], row[3], Disposition(*row[4:7]), tuple(aliases), row[7])


class Banks(Subject):
    """Reads banks."""

    def all(self) -> list[Bank]:
        """Every bank, by name."""
        aliases: dict[str, list[str]] = {}
        for alias, bank in self._db.all("SELECT alias, bank FROM bank_alias ORDER BY alias"):
            aliases.setdefault(bank, []).append(alias)
        found = self._db.all(f"SELECT {BANK} FROM bank ORDER BY name, id")
        return [bank_of(row, aliases.get(row[0], ())) for row in found]

    def get(self, id: str) -> Bank | None:
        """One bank by its id."""
        return next((bank for bank in self.all() if bank.id == id), None)

    def id_by_alias(self, alias: str) -> str | None:
        """The id of the bank with an alias."""
        row = self._db.one("SELECT bank FROM bank_alias WHERE alias = ?", (alias,))
        return row[0] if row else None

    def id_by_host_session(self, host: str) -> str | None:
        """The id of the bank that has a session with this id of the agent."""
        row = self._db.one("SELECT bank FROM session WHERE host = ? LIMIT 1", (host,))
        return row[0] if row else None

    def session_folders(self, bank: str) -> list[str]:
        """The folders in which sessions of a bank ran, without those of subagents; the one that
        was used last comes first."""
        found = self._db.all(
            "SELECT cwd FROM visible_session WHERE bank = ? AND cwd <> '' AND parent = '' "
            "GROUP BY cwd ORDER BY max(ended) DESC, cwd",
            (bank,),
        )
        return [cwd for (cwd,) in found]

    def add(self, bank: Bank) -> None:
        """Add a bank; a known one stays as it is."""
        d = bank.disposition
        self._db.run(
            insert_missing("bank", BANK),
            (
                bank.id,
                bank.name,
                bank.created,
                bank.background,
                d.skepticism,
                d.literalism,
                d.empathy,
                bank.retention,
            ),
        )
        for alias in bank.aliases:
            self.add_alias(bank.id, alias)

    def add_alias(self, bank: str, alias: str) -> None:
        """Add an alias to a bank; an alias that another bank has stays there."""
        self._db.require(Level.WRITE, all_banks=True)
        self._db.run(insert_missing("bank_alias", "alias, bank"), (alias, bank))

    def update(self, bank: Bank) -> None:
        """Change the disposition, background, retention and aliases of a known bank."""
        known = self.get(bank.id)
        # An alias is unique among all banks: to take one could lead callers here who mean another.
        added = set(bank.aliases) - set(known.aliases if known else ())
        self._db.require(Level.ADMIN, all_banks=bool(added))
        d = bank.disposition
        self._db.run(
            "UPDATE bank SET background = ?, skepticism = ?, literalism = ?, empathy = ?, "
            "retention = ? WHERE id = ?",
            (bank.background, d.skepticism, d.literalism, d.empathy, bank.retention, bank.id),
        )
        self._db.run(
            "DELETE FROM bank_alias WHERE bank = ? AND NOT coalesce(alias IN "
            f"({placeholders_for(bank.aliases)}), false)",
            (bank.id, *bank.aliases),
        )
        self._db.run_many(
            insert_missing("bank_alias", "alias, bank"),
            [(alias, bank.id) for alias in bank.aliases],
        )
