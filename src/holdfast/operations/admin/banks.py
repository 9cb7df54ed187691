"""Banks: listing, showing, configuring and merging them; and who is asking."""

from __future__ import annotations

from typing import Annotated

from holdfast.app.core.context import ALL_BANKS, current_user
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.presets import PRESETS, Preset
from holdfast.model.bank import Bank, Disposition
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, Work, operation
from holdfast.operations.screen import Screen
from holdfast.principal import Level

_MAX_NAME = 200
_MAX_ALIAS = 300
_MAX_MONTHS = 1_200
_MAX_BACKGROUND = 4_000


class BankList(NamedTuple):
    """All banks, by name."""

    banks: tuple[Bank, ...]


class Me(NamedTuple):
    """Who is asking: the name and the id of the key, its level, and the names of its banks; null
    for all banks. The user of this machine has no key."""

    name: str
    key: str
    level: Level
    banks: tuple[str, ...] | None


BankName = Annotated[
    str,
    Arg(
        "the name or id of a bank (default: the project of this folder)",
        most=_MAX_NAME,
        metavar="NAME",
        option="bank",
    ),
]
NamedBank = Annotated[str, Arg("the name or id of a bank", place="BANK", most=_MAX_NAME)]


def _traits(d: Disposition) -> str:
    return f"skepticism {d.skepticism}, literalism {d.literalism}, empathy {d.empathy}"


def _print_banks(screen: Screen, found: BankList, **_: object) -> None:
    if not found.banks:
        screen.line("There are no banks yet.")
    width = max((len(one.name) for one in found.banks), default=0)
    for one in found.banks:
        name = screen.paint(f"{one.name:<{width}}", "bold")
        screen.line(f"{name}  {one.id}  {_traits(one.disposition)}")


@operation(
    "banks",
    Level.READ,
    text=_print_banks,
    examples="  holdfast banks\n  holdfast bank list",
)
def banks(memory: Holdfast) -> BankList:
    """List banks

    By name. A bank is the memory of one project."""
    return BankList(tuple(memory.banks.all()))


def _print_bank(screen: Screen, found: Bank, **_: object) -> None:
    d = found.disposition
    preset = next((name for name, known in PRESETS.items() if known == d), "")
    preset = f"the default; preset {preset}" if preset and d == Disposition() else preset
    screen.line(f"{screen.paint(found.name, 'bold')} ({found.id})")
    screen.line(f"  {_traits(d)}" + (f" ({preset})" if preset else ""))
    screen.item(f"background: {found.background or 'none'}", "  ")
    kept = f"{found.retention} months" if found.retention else "all sessions are kept"
    screen.line(f"  retention: {kept}")
    for alias in found.aliases:
        screen.line(f"  alias: {alias}")


@operation(
    "bank",
    Level.READ,
    rest="GET /banks/{name:path}",
    text=_print_bank,
    examples="""\
  holdfast bank
  holdfast bank show --bank checkout --json""",
)
def bank(memory: Holdfast, name: BankName = "") -> Bank:
    """Show the settings of a bank

    Its disposition, background, retention and names. A bank is the memory of one project."""
    return memory.banks.get(name)


def _announce_changes(
    memory: Holdfast, name: str = "", retention: int | None = None, **_: object
) -> Announcement:
    if not retention:
        return Announcement(())
    of = memory.banks.get(name).name
    line = f"Sessions of {of} older than {retention} months will be hidden; nothing is erased."
    return Announcement((line,))


def _months(text: str) -> str:
    return "0" if text == ALL_BANKS else text


def _trait(help: str) -> Arg:
    return Arg(f"{help}, from 1 to 5", least=1, most=5, metavar="N")


@operation(
    "bank set",
    Level.ADMIN,
    rest="PATCH /banks/{name:path}",
    announce=_announce_changes,
    text=_print_bank,
    examples="""\
  holdfast bank set --preset bug-investigation
  holdfast bank set --skepticism 5 --background "A payments backend; we verify before we believe."
  holdfast bank set --alias shop --retention 24 --yes""",
)
def bank_set(
    memory: Holdfast,
    name: BankName = "",
    preset: Annotated[Preset | None, Arg("sets the three numbers of the disposition")] = None,
    skepticism: Annotated[int | None, _trait("how many sessions must support an opinion")] = None,
    literalism: Annotated[
        int | None, _trait("how closely evidence must match the words of a question")
    ] = None,
    empathy: Annotated[
        int | None, _trait("whether motives and feelings are included in opinions")
    ] = None,
    background: Annotated[
        str | None,
        Arg(
            'a description of the project, for a model; "" for none',
            most=_MAX_BACKGROUND,
            metavar="TEXT",
        ),
    ] = None,
    retention: Annotated[
        int | None,
        Arg(
            "sessions older than so many months are hidden; `all`, or 0, keeps all",
            least=0,
            most=_MAX_MONTHS,
            metavar="MONTHS",
            read=_months,
        ),
    ] = None,
    aliases: Annotated[
        tuple[str, ...],
        Arg("add a name for the bank; repeatable", most=20, metavar="NAME", option="alias"),
    ] = (),
    dropped: Annotated[
        tuple[str, ...],
        Arg("remove a name of the bank; repeatable", most=20, metavar="NAME", option="drop-alias"),
    ] = (),
    call: Call = OWNER,
) -> Bank:
    """Configure a bank

    What is not given stays as it is. The disposition controls how opinions are formed. Skepticism:
    how many sessions must support an opinion. Literalism: how closely evidence must match the words
    of the question. Empathy: whether motives and feelings are included. A preset sets all three:
    code-review (4 5 2), bug-investigation (4 4 2), documentation (3 3 3), support (2 2 5).

    The background describes the project in a few sentences, for a model. Retention is the number of
    months after which a session is hidden, as if it was forgotten: nothing is erased, and a longer
    retention, or none, brings it back. Sessions in which somebody corrected something stay."""
    from holdfast.learn.bank_settings import BankChanges

    settings = (preset, skepticism, literalism, empathy, background, retention)
    changes = BankChanges(*settings, aliases, dropped)
    if changes == BankChanges():
        raise InputError(
            "There is nothing to change.", "Give a preset, a retention, or another setting."
        )
    for alias in (*aliases, *dropped):
        if len(alias) > _MAX_ALIAS:
            raise InputError(f"A name has {len(alias):,} characters.", f"{_MAX_ALIAS} fit.")
    return memory.banks.change(changes, name, call.who)


def _announce_merge(memory: Holdfast, name: str, into: str, **_: object) -> Announcement:
    one, other = memory.banks.get(name), memory.banks.get(into)
    line = f"{one.name} ({one.id}) will be merged into {other.name} ({other.id}). It can be undone."
    return Announcement((line,))


def _print_merged(screen: Screen, found: Bank, *, name: str, **_: object) -> None:
    screen.line(f"{name} is in {found.name} now; `holdfast bank unmerge {name}` undoes this.")


@operation(
    "bank merge",
    Level.ADMIN,
    rest="POST /banks/{name:path}/merge",
    work=Work.RUN_LONG,
    all_banks=True,
    announce=_announce_merge,
    text=_print_merged,
    examples="  holdfast bank merge shop-feature-x shop",
)
def bank_merge(
    memory: Holdfast,
    name: NamedBank,
    into: Annotated[
        str, Arg("the name or id of the bank that it becomes part of", place="INTO", most=_MAX_NAME)
    ],
    call: Call = OWNER,
) -> Bank:
    """Merge two banks of one project

    Everything in the bank, its decisions included, moves into the other one, and old URIs still
    open. `bank unmerge` undoes that."""
    return memory.merging.merge(name, into, call.who)


def _print_unmerged(screen: Screen, found: Bank, **_: object) -> None:
    screen.line(f"{found.name} ({found.id}) is a bank of its own again.")


@operation(
    "bank unmerge",
    Level.ADMIN,
    rest="POST /banks/{name:path}/unmerge",
    work=Work.RUN_LONG,
    all_banks=True,
    text=_print_unmerged,
    examples="  holdfast bank unmerge shop-feature-x",
)
def bank_unmerge(memory: Holdfast, name: NamedBank, call: Call = OWNER) -> Bank:
    """Undo the merge of a bank

    Whatever was decided since. Returns the bank that is one of its own again."""
    return memory.merging.unmerge(name, call.who)


@operation("me", Level.READ)
def me(memory: Holdfast) -> Me:
    """Show your key

    Its name, level and banks."""
    principal = memory.settings.principal
    if principal is None:
        return Me(current_user(), "", Level.ADMIN, None)
    names = None
    if principal.banks is not None:
        names = tuple(one.name for one in memory.reader.banks.all())
    return Me(principal.name, principal.key, principal.level, names)
