"""What the parts of an open memory share: its store, settings, clock and banks.

`holdfast.app.memory.Holdfast` opens one `Context` and gives it to every part. Nothing in here
searches or changes records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from holdfast.app.core.backends import open_read_only, open_store, restrict_to_principal
from holdfast.errors import InputError, NotFoundError
from holdfast.lazy_dataclass import replace
from holdfast.model.bank import Bank
from holdfast.model.curation import person_name
from holdfast.operating_system import user_name
from holdfast.principal import Principal
from holdfast.refine.core.banks import Banks, find_bank_by_name, unknown_bank_hint
from holdfast.settings import Settings
from holdfast.sources.rule_locations import project_root
from holdfast.store.protocol import Reader, Store
from holdfast.times import format_time

if TYPE_CHECKING:
    from holdfast.capture.redact import Redactor
    from holdfast.refine.core.banks import BankMaker

ALL_BANKS = "all"
# Said by every interface; not all of them have an argument for it.
NAME_A_BANK = "Name it: on the command line with --bank NAME."
# How many banks a message lists before it says "…".
_MAX_LISTED_BANKS = 8


def utc_now() -> str:
    """The current time in UTC, in the format of every stored time."""
    return format_time(datetime.now(UTC))


def current_folder() -> str:
    """The working directory; raises `InputError` if it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109 - a string is wanted
    except FileNotFoundError as error:
        raise InputError(
            "The current folder no longer exists.",
            "Go to another one, or name a bank: on the command line with --bank NAME.",
        ) from error


def current_user() -> str:
    """The login name of the user who runs this process, or the user id where there is none."""
    return user_name()


def relative_to_project(banks: Banks, path: str) -> str:
    """An absolute path in the current project as one that begins at its root; others as given."""
    if not os.path.isabs(path):  # noqa: PTH117 - a slash at the end must stay
        return path
    root = banks.project(current_folder()).root
    return path.removeprefix(root.rstrip("/") + "/")


def describe_bank(name: str) -> str:
    """The name of a bank, or "all", in the words of a sentence."""
    return "all banks" if name == ALL_BANKS else f"bank {name}"


def resolve_bank(reader: Reader, banks: Banks, name: str = "") -> str | None:
    """The id of the bank with this name, or of the working directory's project. None means all
    banks, "" a project that has no bank yet."""
    if name == ALL_BANKS:
        return None
    if not name:
        return banks.find(reader, current_folder()) or ""
    found = find_bank_by_name(reader, name)
    if found is None:
        raise NotFoundError(f"There is no bank {name!r}.", unknown_bank_hint(reader, name))
    return found.id


def missing_bank_hint(reader: Reader) -> str:
    """What to tell a user whose folder has no bank."""
    names = list(dict.fromkeys(bank.name for bank in reader.banks.all()))
    if not names:
        return "The memory is empty; `holdfast ingest` reads your sessions."
    if len(names) == 1:
        name = f'"{names[0]}"' if " " in names[0] else names[0]
        return (
            f"This folder has no memory yet. `holdfast ask QUESTION --bank {name}` asks the memory "
            f"of {names[0]}; other commands take `--bank {name}`, too."
        )
    return (
        f"This folder has no memory yet. There are {len(names):,} banks: "
        f"{', '.join(names[:_MAX_LISTED_BANKS])}"
        f"{' …' if len(names) > _MAX_LISTED_BANKS else ''}. `holdfast ask QUESTION --bank NAME` "
        "asks one of them, `--bank all` every one; other commands take `--bank`, too."
    )


class Context:
    """An open store with the settings, the clock and the banks that go with it.

    `bank` arguments take a name or an id; None is the project of the working directory, "all" is
    every bank. `after_change` is called after each change that people make to records, and
    `after_adding` where records were only added: what depends on them may follow later.
    """

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], str] = utc_now,
        create: bool = False,
        only_reads: bool = False,
    ) -> None:
        """Open the store; one that `only_reads` has no method that writes, on a connection that
        refuses to."""
        self.settings = settings
        self.now = now
        self.only_reads = only_reads
        self.store: Store = open_read_only(settings) if only_reads else open_store(settings, create)
        self.banks = Banks(settings)
        self.after_change: Callable[[], None] = lambda: None
        self.after_adding: Callable[[], None] = lambda: self.after_change()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    @cached_property
    def bank_maker(self) -> BankMaker:
        """Makes banks that do not exist yet; only what writes needs it."""
        from holdfast.refine.core.banks import BankMaker

        return BankMaker(self.settings, self.now)

    @contextmanager
    def scoped_to(self, principal: Principal) -> Generator[None]:
        """Within this block every read and write is limited to what the principal may do."""
        if principal.is_unrestricted and not principal.key:
            yield
            return
        settings = self.settings
        self.settings = replace(settings, principal=principal)
        restrict_to_principal(self.settings, self.store)
        try:
            yield
        finally:
            self.settings = settings
            self.store.database.restrict(settings.principal)

    def bank_id(self, bank: str | None = None) -> str | None:
        """The id of a bank; None means all banks, "" a project that has none yet."""
        return resolve_bank(self.store, self.banks, bank or self.settings.bank)

    def scope(self, bank: str = "") -> str:
        """The bank to look in where a caller names one or none: the named one, that of the settings
        or of the current project, or all where the project has none."""
        return bank or self.settings.bank or self.current_project()[0] or ALL_BANKS

    def bank_ids(self, bank: str | None = None) -> list[str]:
        """The ids of every bank that is meant: one, or all."""
        id = self.bank_id(bank)
        return [known.id for known in self.store.banks.all()] if id is None else [id]

    def one_bank_id(self, bank: str | None = None) -> str:
        """The id of a single bank, "" where the project has none yet; "all" is refused."""
        if (id := self.bank_id(bank)) is None:
            raise InputError("This command needs one bank.", NAME_A_BANK)
        return id

    def ensure_bank(self, bank: str | None = None) -> str:
        """The id of the named bank, or of the working directory's; made if it does not exist."""
        if bank:
            return self.bank_maker.ensure_named(self.store, bank)
        return self.bank_maker.ensure(self.store, current_folder())

    def bank(self, bank: str | None = None) -> Bank:
        """The record of a single existing bank."""
        found = self.store.banks.get(self.one_bank_id(bank))
        if found is None:
            raise NotFoundError("This folder has no bank yet.", self.missing_bank_hint())
        return found

    def bank_name(self, id: str | None) -> str:
        """The name of a bank by its id; "all" for None, the project's name for ""."""
        if id is None:
            return ALL_BANKS
        found = self.store.banks.get(id)
        return found.name if found else self.banks.project(current_folder()).name

    def bank_names(self) -> dict[str, str]:
        """The names of all banks, by id."""
        return {bank.id: bank.name for bank in self.store.banks.all()}

    def missing_bank_hint(self, id: str | None = "") -> str:
        """What to tell a user if `id` (from `bank_id`) says there is no bank yet, else ""."""
        return missing_bank_hint(self.store) if id == "" else ""

    def current_project(self) -> tuple[str, str]:
        """The bank id and the top folder of the working directory's project; two empty strings
        where it has no bank."""
        try:
            folder = current_folder()
        except InputError:
            return "", ""
        found = self.banks.find(self.store, folder)
        return (found, project_root(folder)) if found else ("", "")

    def redactor(self) -> Redactor:
        """Takes secrets out of texts, by the patterns of the settings."""
        from holdfast.capture.redact import Redactor

        return Redactor(self.settings.redact_patterns)

    def redact(self, text: str) -> str:
        """A text without secrets."""
        return self.redactor().redact(text).text

    def actor(self, who: str = "") -> str:
        """The name that the decision log gets: `who` or the user, with the key of the request."""
        principal = self.settings.principal
        if principal is None or principal.label in who:
            return who or person_name(current_user())
        return f"{who} ({principal.label})" if who else person_name(principal.label)
