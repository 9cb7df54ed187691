"""Which bank a folder's memory goes to, and is asked from."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath, PureWindowsPath

from holdfast.errors import NotFoundError
from holdfast.model.bank import Bank
from holdfast.paths import normal
from holdfast.settings import Settings
from holdfast.sources.project import Project, identify
from holdfast.store.protocol import Reader

# From the most telling: the same repository elsewhere, the same history under another name.
_ALIAS_KINDS = ("name:", "remote:", "root:", "gitdir:", "path:", "folder:")
_MAX_NAMES_LISTED = 12


class Banks:
    """Finds banks. Folders are looked at once each."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._projects: dict[str, Project] = {}

    @property
    def home(self) -> Path:
        """The home whose settings these are."""
        return self._settings.home

    def project(self, folder: str) -> Project:
        """The project of a folder, or the one that the settings put in its place."""
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
        found = identify(folder)
        return Project(name, found.root, (f"name:{name}",), found.exists) if name else found

    def is_excluded(self, folder: str) -> bool:
        """Whether the settings keep a project out of memory entirely, worktrees included."""
        if not self._settings.exclude_projects:
            return False
        aliases = identify(folder).aliases
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
        """The bank of a folder, or of the nearest folder around it; changes nothing."""
        project = self.project(folder)
        found = find_known_bank(reader, project)
        in_git = any(alias.startswith("gitdir:") for alias in project.aliases)
        return found if found is not None or in_git else _bank_of_parent_folder(reader, folder)


def find_bank_by_name(reader: Reader, name: str) -> Bank | None:
    """The bank that a person means: by name, by id or the start of one, or by last part."""
    banks = reader.banks()
    by_alias = reader.bank_of(f"name:{name}")
    for found in (
        [bank for bank in banks if bank.id == by_alias],
        [bank for bank in banks if name in (bank.name, bank.id)],
        [bank for bank in banks if bank.name.lower() == name.lower()],
        [bank for bank in banks if bank.name.rsplit("/", 1)[-1].lower() == name.lower()],
        [bank for bank in banks if len(name) >= 4 and bank.id.startswith(name)],
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
    """What to say to somebody who named a bank that is not there."""
    names = list(dict.fromkeys(bank.name for bank in reader.banks()))
    from difflib import get_close_matches

    close = get_close_matches(name, names, 1, 0.6)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    more = f" and {len(names) - _MAX_NAMES_LISTED:,} more; `holdfast status` lists them" * (
        len(names) > _MAX_NAMES_LISTED
    )
    return f"{hint}There are: {', '.join(names[:_MAX_NAMES_LISTED]) or 'none yet'}{more}."


def alias_rank(alias: str) -> int:
    return next(n for n, kind in enumerate(_ALIAS_KINDS) if alias.startswith(kind))


def find_known_bank(reader: Reader, project: Project) -> str | None:
    for alias in sorted(project.aliases, key=alias_rank):
        bank = reader.bank_of(alias)
        if bank is not None and not _is_other_repository(reader, bank, alias, project):
            return bank
    return None if project.exists else _bank_of_missing_folder(reader, project.root)


def _is_other_repository(reader: Reader, bank: str, alias: str, project: Project) -> bool:
    """Whether a folder now holds a repository with another history than the bank's."""
    if not alias.startswith(("gitdir:", "folder:", "path:")):
        return False
    ours = {a for a in project.aliases if a.startswith("root:")}
    known = reader.bank(bank)
    theirs = {a for a in known.aliases if a.startswith("root:")} if known else set[str]()
    return bool(ours and theirs and not ours & theirs)


def _bank_of_parent_folder(reader: Reader, folder: str) -> str | None:
    """Without git a folder below a project belongs to it; but nobody's home is a project."""
    home = os.path.expanduser("~")  # noqa: PTH111 - a string is wanted
    for parent in PurePosixPath(folder).parents:
        if str(parent) in (home, "/"):
            return None
        bank = reader.bank_of(f"path:{normal(str(parent))}")
        if bank is not None:
            return bank
    return None


def _bank_of_missing_folder(reader: Reader, folder: str) -> str | None:
    """A folder that is gone belongs to the repository that once was around it."""
    pure = PureWindowsPath(folder) if "\\" in folder else PurePosixPath(folder)
    for parent in (pure, *pure.parents):
        bank = reader.bank_of(f"folder:{normal(str(parent))}")
        if bank is not None:
            return bank
    return None
