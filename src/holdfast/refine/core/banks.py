"""Finds the bank that a folder's memory is written to and read from, and creates missing ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import Path, PurePosixPath, PureWindowsPath

from holdfast.errors import InputError, NotFoundError, suggest
from holdfast.model.bank import Bank
from holdfast.paths import comparable_path
from holdfast.settings import Settings
from holdfast.sources.project import Project, base_name, identify_project
from holdfast.store.protocol import Reader, Writer

# Kinds of bank aliases, from the strongest evidence of identity to the weakest: a name that a
# person chose, the same remote, the same history (root commit), the same place on disk.
_ALIAS_KINDS = ("name:", "remote:", "root:", "gitdir:", "path:", "folder:")
# Names listed in an error message; the rest is counted.
_MAX_NAMES_LISTED = 12
# The shortest start of a bank's id that may stand for the id. Fewer characters would match names
# and words by accident.
_MIN_ID_PREFIX = 4


class Banks:
    """Finds banks by folder. The project of a folder is looked up once and cached."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._projects: dict[str, Project] = {}

    @property
    def home(self) -> Path:
        """The Holdfast home directory of the settings."""
        return self._settings.home

    def project(self, folder: str) -> Project:
        """The project of a folder, or the one that the settings assign to it."""
        known = self._projects.get(folder)
        if known is None:
            known = self._projects[folder] = self._identify(folder)
        return known

    def _identify(self, folder: str) -> Project:
        name = self._settings.bank
        for pattern, bank in self._settings.banks:
            pattern = os.path.expanduser(pattern)  # noqa: PTH111 - a string is wanted
            below = pattern.rstrip("/\\") + "/*"
            if fnmatch(folder, pattern) or fnmatch(folder.replace("\\", "/"), below):
                name = name or bank
        found = identify_project(folder)
        return Project(name, found.root, (f"name:{name}",), found.exists) if name else found

    def is_excluded(self, folder: str) -> bool:
        """Whether the settings exclude a folder's project, its worktrees included."""
        if not self._settings.exclude_projects:
            return False
        aliases = identify_project(folder).aliases
        kinds = ("folder:", "gitdir:", "path:")
        places = [alias.partition(":")[2] for alias in aliases if alias.startswith(kinds)]
        plain = [place.replace("\\", "/") for place in (folder, *places)]
        patterns = [os.path.expanduser(p).rstrip("/") for p in self._settings.exclude_projects]  # noqa: PTH111
        return any(
            fnmatch(place, pattern) or fnmatch(place, f"{pattern}/*")
            for place in plain
            for pattern in patterns
        )

    def find(self, reader: Reader, folder: str) -> str | None:
        """The id of the bank of a folder or, outside git, of its nearest parent that has one."""
        project = self.project(folder)
        found = find_known_bank(reader, project)
        in_git = any(alias.startswith("gitdir:") for alias in project.aliases)
        return found if found is not None or in_git else _bank_of_parent_folder(reader, folder)


def find_bank_by_name(reader: Reader, name: str) -> Bank | None:
    """The bank with a name, an id, the start of an id, or a name that ends in "/" and `name`.
    Raises `NotFoundError` if several match equally well."""
    banks = reader.banks.all()
    by_alias = reader.banks.id_by_alias(f"name:{name}")
    for found in (
        [bank for bank in banks if bank.id == by_alias],
        [bank for bank in banks if name in (bank.name, bank.id)],
        [bank for bank in banks if bank.name.lower() == name.lower()],
        [bank for bank in banks if bank.name.rsplit("/", 1)[-1].lower() == name.lower()],
        [bank for bank in banks if len(name) >= _MIN_ID_PREFIX and bank.id.startswith(name)],
    ):
        if len(found) > 1:
            raise NotFoundError(
                f"Several banks are called {name!r}.",
                "Name one by its id: " + ", ".join(f"{b.id} ({b.name})" for b in found),
            )
        if found:
            return found[0]
    return None


def unknown_bank_hint(reader: Reader, name: str) -> str:
    """The remedy for an unknown bank name: the closest name and the banks that exist."""
    names = list(dict.fromkeys(bank.name for bank in reader.banks.all()))
    more = f" and {len(names) - _MAX_NAMES_LISTED:,} more; `holdfast status` lists them" * (
        len(names) > _MAX_NAMES_LISTED
    )
    listed = ", ".join(names[:_MAX_NAMES_LISTED]) or "none yet"
    return f"{suggest(name, names)}There are: {listed}{more}."


def alias_rank(alias: str) -> int:
    """The position of an alias's kind in `_ALIAS_KINDS`; lower is stronger."""
    return next(n for n, kind in enumerate(_ALIAS_KINDS) if alias.startswith(kind))


def find_known_bank(reader: Reader, project: Project) -> str | None:
    """The id of the bank that has an alias of the project, by the strongest alias that fits; else
    of the one that an import made for it."""
    for alias in sorted(project.aliases, key=alias_rank):
        bank = reader.banks.id_by_alias(alias)
        if bank is not None and not _is_other_repository(reader, bank, alias, project):
            return bank
    if not project.exists and (bank := _bank_of_missing_folder(reader, project.root)):
        return bank
    return _bank_of_import(reader, project)


def _is_import_only(reader: Reader, bank: Bank) -> bool:
    """Whether an import made a bank by the name of a project, and no folder has it yet."""
    if any(not alias.startswith("name:") for alias in bank.aliases):
        return False
    return bool(reader.imports.batches(bank.id)) and not reader.sources.all(bank.id)


def _bank_of_import(reader: Reader, project: Project) -> str | None:
    """The bank of records that were imported before the project had one: other programs know a
    project by the name of its folder alone. It belongs to the first folder with that name."""
    names = {base_name(project.root).lower(), project.name.rpartition("/")[2].lower()}
    named = [bank for bank in reader.banks.all() if bank.name.lower() in names]
    found = [bank.id for bank in named if _is_import_only(reader, bank)]
    return found[0] if len(found) == 1 else None


def _is_other_repository(reader: Reader, bank: str, alias: str, project: Project) -> bool:
    """Whether a place on disk now holds a repository with another history than the bank's."""
    if not alias.startswith(("gitdir:", "folder:", "path:")):
        return False
    ours = {a for a in project.aliases if a.startswith("root:")}
    known = reader.banks.get(bank)
    theirs = {a for a in known.aliases if a.startswith("root:")} if known else set[str]()
    return bool(ours and theirs and not ours & theirs)


def _bank_of_parent_folder(reader: Reader, folder: str) -> str | None:
    """The bank of the nearest parent folder. The user's home and the root belong to no project."""
    home = os.path.expanduser("~")  # noqa: PTH111 - a string is wanted
    parents = takewhile(lambda p: p not in (home, "/"), map(str, PurePosixPath(folder).parents))
    return _first_bank(reader, "path:", parents)


def _bank_of_missing_folder(reader: Reader, folder: str) -> str | None:
    """The bank of a repository that a deleted folder was in."""
    pure = PureWindowsPath(folder) if "\\" in folder else PurePosixPath(folder)
    return _first_bank(reader, "folder:", map(str, (pure, *pure.parents)))


def _first_bank(reader: Reader, kind: str, folders: Iterable[str]) -> str | None:
    banks = (reader.banks.id_by_alias(kind + comparable_path(folder)) for folder in folders)
    return next(filter(None, banks), None)


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
            bank = _bank_id(min(project.aliases, key=alias_rank))
            writer.banks.add(Bank(bank, project.name or base_name(folder), self._now()))
        for alias in project.aliases:
            writer.banks.add_alias(bank, alias)
        return bank

    def ensure_named(self, writer: Writer, name: str) -> str:
        """The id of the bank with a name that a person chose; it is created if needed."""
        if not name.strip() or name == "all":
            raise InputError(f"A bank cannot be called {name!r}.", "Choose another name.")
        exact = [b.id for b in writer.banks.all() if name in (b.name, b.id)]
        known = writer.banks.id_by_alias(f"name:{name}") or (exact[0] if len(exact) == 1 else None)
        if known is not None:
            return known
        bank = _bank_id(f"name:{name}")
        try:
            writer.banks.add(Bank(bank, name, self._now(), aliases=(f"name:{name}",)))
        except NotFoundError as error:  # a principal limited to some banks may not create others
            raise NotFoundError(f"There is no bank {name!r}.", error.remedy) from error
        return bank


def _bank_id(alias: str) -> str:
    from holdfast.model.ids import content_id

    return content_id("bank", alias)
