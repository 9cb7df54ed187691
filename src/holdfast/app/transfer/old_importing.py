"""A memory that takes in what other programs remembered, and can give it up again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.app.ingest.stages import know
from holdfast.app.search.old_recall import ALL_BANKS, here
from holdfast.app.transfer.old_sharing import Sharing
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError
from holdfast.learn.decision_state import standing
from holdfast.learn.import_intake import IMPORTING, Taker, Tally, settle
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.imports import Importing
from holdfast.model.opinions import Opinion
from holdfast.model.uris import uri
from holdfast.refine.core.banks import find_bank_by_name
from holdfast.sources.imports import basic_memory, claude_files, claude_mem, hindsight, mem0
from holdfast.store.protocol import Reader

# Each format with the module that reads it.
FORMATS = {
    "claude-mem": claude_mem,
    "claude-memory": claude_files,
    "basic-memory": basic_memory,
    "mem0": mem0,
    "hindsight": hindsight,
}
Tick = Callable[[int], None]


class Took(NamedTuple):
    """What an import did, or would do: its name ("" where nothing came in), the source, and an
    account of every record by bank. Banks that would have to be made have no id."""

    uri: str
    program: str
    place: str
    tallies: tuple[tuple[str, Tally], ...]

    @property
    def read(self) -> int:
        """How many records the source holds."""
        return sum(tally.read for _, tally in self.tallies)

    @property
    def nothing(self) -> bool:
        """Whether there is nothing new in it."""
        return all(tally.nothing for _, tally in self.tallies)


class Importer(Sharing):
    """Importing. A format is one of `FORMATS`."""

    def import_records(
        self,
        format: str,
        path: Path,
        bank: str = "",
        dry_run: bool = False,
        tick: Tick = lambda read: None,
        who: str = "",
    ) -> Took:
        """Take in what another program remembered, all of it or nothing; into the bank that is
        named, or else into that of each record's project. A dry run only counts."""
        if format not in FORMATS:
            raise InputError(f"There is no format {format!r}.", f"One of: {', '.join(FORMATS)}.")
        reading = FORMATS[format]
        program = reading.PROGRAM
        path = path.expanduser()
        if not path.exists():
            raise NotFoundError(f"There is no {path}.", "Check the path.")
        now = self._now()
        taker = Taker(self._store, Redactor(self.settings.redact_patterns), program, now)
        place = str(path.absolute()).encode("utf-8", "replace").decode()
        if dry_run:
            names = _Names()
            banks = _Choice(self.reader, self._known, bank, names.look, self._present())
            taker.take(_counted(reading.read(path), tick), banks.of, "")
            return Took("", program, place, _told(taker, self.bank_names() | names.new))
        known = len(self._store.importings())
        id = content_id(IMPORTING, program, place, now, str(known))
        with self._store.transaction():
            banks = _Choice(self.reader, self._known, bank, self._make, self._present())
            taker.take(_counted(reading.read(path), tick), banks.of, id)
            got = settle(self._store, taker, program, place, id, self._named(who))
        self._renew()
        name = uri(IMPORTING, id) if got else ""
        return Took(name, program, place, _told(taker, self.bank_names()))

    def import_export(
        self,
        path: Path,
        dry_run: bool = False,
        tick: Callable[[int, int], None] = lambda done, total: None,
        who: str = "",
    ) -> Any:
        """Put back what `holdfast export` wrote, all of it or nothing; returns an
        `export_restore.Restored`. A memory in a file that is not empty is backed up first."""
        from holdfast.app.transfer import export_restore

        if dry_run:
            return export_restore.look(path)
        export_restore.look(path)
        backup = ""
        if self._store.banks() and not self.settings.store:
            from holdfast.app.transfer import backup as backing

            backup = str(backing.back_up(self.settings, None, self._now).path)
        redactor = Redactor(self.settings.redact_patterns)
        empty = not self._store.banks()
        done = export_restore.restore(self._store, path, self._curator(who), redactor, tick)
        if empty:
            # Opinions come back as they were weighed last; they fade from today on.
            moment = max((o.updated for o in self._opinions()), default=self._now())
            know(self._store, lambda: moment)
        self._renew()
        return done._replace(backup=backup)

    def _opinions(self) -> list[Opinion]:
        banks = self._store.banks()
        return [opinion for bank in banks for opinion in self._store.all_opinions(bank.id)]

    def importings(self, bank: str | None = None) -> list[tuple[Importing, bool]]:
        """Every import that brought something, and whether it stands."""
        id = self.bank_id(bank)
        banks = [known.id for known in self._store.banks()] if id is None else [id]
        log = [entry for one in banks for entry in standing(self._store.curations(one))]
        left = {(entry.bank, entry.target) for entry in log if entry.action is Action.IMPORT}
        return [
            (one, (one.bank, uri(IMPORTING, one.id)) in left) for one in self._store.importings(id)
        ]

    def undo_import(self, name: str, who: str = "") -> list[Curation]:
        """Take back all that one import brought, into whatever banks."""
        banks = [known.id for known in self._store.banks()]
        from holdfast.app.transfer import conversation_imports

        curator = self._curator(who)
        with self._store.transaction():
            undone = curator.undo_unit(banks, Action.IMPORT, name)
            for entry in undone:
                conversation_imports.put_away(self._store, entry, curator, self._now())
        self._renew()
        return undone

    def _known(self, folder: str) -> str | None:
        return self._banks.find(self._store, folder)

    def _present(self) -> str:
        return self._banks.project(here()).name or Path(here()).name

    def _make(self, project: str) -> str:
        if not project:
            return self._banks.ensure(self._store, here())
        if Path(project).is_absolute():
            return self._banks.ensure(self._store, project)
        return self._banks.named(self._store, project)


class _Choice:
    """Which bank a project's records go into. Each project is looked at once."""

    def __init__(
        self,
        reader: Reader,
        find: Callable[[str], str | None],
        bank: str,
        make: Callable[[str], str],
        present: str,
    ) -> None:
        self._reader = reader
        self._of_folder = find
        self._bank = bank
        self._make = make
        self._here = present
        self._known: dict[str, str] = {}

    def of(self, project: str) -> str:
        """The id of the bank."""
        return self._choose(self._bank or project)

    def _choose(self, wanted: str) -> str:
        found = self._known.get(wanted)
        if found is None:
            found = self._known[wanted] = self._find(wanted)
        return found

    def _find(self, wanted: str) -> str:
        if wanted == ALL_BANKS:
            raise InputError(
                "What is to be imported is of a project called 'all', which no bank can be called.",
                "Name a bank for it: --bank NAME.",
            )
        if not wanted or Path(wanted).is_absolute():
            return self._of_folder(wanted or here()) or self._make(wanted)
        try:
            chosen = find_bank_by_name(self._reader, wanted)
        except NotFoundError as error:
            raise InputError(error.message, "Name one with --bank.") from error
        if chosen is None and wanted.lower() == self._here.rsplit("/", 1)[-1].lower():
            return self._choose("")  # what it is of is where we stand, though it has no bank yet
        return chosen.id if chosen else self._make(wanted)


class _Names:
    """Banks that would have to be made, by a name that no bank has."""

    def __init__(self) -> None:
        self.new: dict[str, str] = {}

    def look(self, project: str) -> str:
        """The id of one that is to be made for a project."""
        id = content_id("a bank to be made", project)
        self.new[id] = (
            project
            if project and not Path(project).is_absolute()
            else (Path(project or here()).name)
        )
        return id


def _counted(given: Iterable[Any], tick: Tick) -> Iterator[Any]:
    for number, one in enumerate(given, 1):
        tick(number)
        yield one


def _told(taker: Taker, names: dict[str, str]) -> tuple[tuple[str, Tally], ...]:
    found = [(names.get(bank, ""), tally) for bank, tally in taker.tallies.items() if tally.read]
    return tuple(sorted(found, key=lambda one: one[0]))
