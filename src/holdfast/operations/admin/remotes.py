"""The servers of a team: those that this memory asks and sends to, and the keys of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from holdfast.app.memory import Holdfast
from holdfast.app.remote.outbox import Outbox, PushReport
from holdfast.app.remote.remote_search import Remotes, RemoteTest
from holdfast.app.server.keys import KeyRequest, make_key, revoke_key
from holdfast.errors import InputError, RemoteError, RemoteRefusedError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.keys import ApiKey
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, Work, operation
from holdfast.operations.parameters import MAX_NAME
from holdfast.operations.screen import Screen, number
from holdfast.principal import Level
from holdfast.settings import OFF
from holdfast.sources.remote.remote_config import checked_address
from holdfast.store.records.outbox import OutboxState

_admin = partial(operation, level=Level.ADMIN, all_banks=True, work=Work.RUN_LONG)

# How long `list` waits for each server: longer than a recall does, and short enough for a person.
_REACH_TIMEOUT_S = 3.0
_NO_SERVER = "No server is configured: holdfast remote add URL"


class RemoteServer(NamedTuple):
    """A server that is asked for the `banks` that are listed for it, by our names; whether it
    answers, and how many shared records are there or wait. After failures it is not asked until
    `resting_until`."""

    name: str
    url: str
    banks: dict[str, str]
    reachable: bool
    problem: str
    ms: int
    resting_until: str
    waiting: int
    sent: int
    refused: int
    refusals: tuple[str, ...]


class RemoteList(NamedTuple):
    """Whether servers are asked at all, and the servers."""

    use: str
    remotes: tuple[RemoteServer, ...]


ServerName = Annotated[
    str, Arg("the name of a server (default: the only one)", place="NAME", most=MAX_NAME)
]


def _describe_banks(banks: dict[str, str]) -> str:
    return ", ".join(
        here if here == there else f"{here} as {there}" for here, there in banks.items()
    )


def _print_list(screen: Screen, found: RemoteList, **_: object) -> None:
    for one in found.remotes:
        screen.line(f"{screen.paint(one.name, 'bold')}  {one.url}")
        state = f"cannot be queried: {one.problem}" if one.problem else f"answers in {one.ms} ms"
        screen.item(state, "  ")
        screen.item(f"{number(len(one.banks), 'bank')}: {_describe_banks(one.banks)}", "  ")
        counts = {"waiting": one.waiting, "sent": one.sent, "refused": one.refused}
        told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        screen.item(f"shared there: {told or 'nothing'}", "  ")
        for refusal in one.refusals:
            screen.item(f"refused: {refusal}", "  ")
    if not found.remotes:
        screen.line(_NO_SERVER)
    if found.use == OFF:
        screen.wrap('Servers are not queried: remote.use is "off". See docs/remote.md.')


@_admin(
    "remote list",
    rest="GET /remotes",
    text=_print_list,
    examples="""\
  holdfast remote add https://memory.example.com --name acme
  holdfast remote
  holdfast remote test acme --json
  holdfast remote push
  holdfast remote remove acme""",
)
def remote_list(memory: Holdfast) -> RemoteList:
    """List the servers of your team

    Whether each can be reached, and what waits to be sent. Once a server is added, `recall` and
    `ask` also send it your question, redacted, and wait at most 0.8 seconds; `holdfast share --to
    NAME` sends it chosen records. Nothing else is sent, and nothing from banks that are not listed
    for it."""
    remotes = Remotes(memory.settings, memory.now)
    found: list[RemoteServer] = []
    for item in remotes.listed():
        remote, ms, problem = item.remote, 0, ""
        try:
            ms = remotes.check(remote, _REACH_TIMEOUT_S).ms
        except RemoteError as error:
            problem = error.message
        items = memory.reader.outbox.items(remote.name)
        counts = Counter(one.state for one in items)
        refused = (one for one in items if one.state is OutboxState.REFUSED)
        found.append(
            RemoteServer(
                remote.name,
                remote.url,
                dict(remote.banks),
                not problem,
                problem,
                ms,
                item.reliability.resting_until if item.is_paused and problem else "",
                counts[OutboxState.WAITING],
                counts[OutboxState.SENT],
                counts[OutboxState.REFUSED],
                tuple(f"{one.origin} ({one.problem})" for one in refused),
            )
        )
    return RemoteList(memory.settings.remote.use, tuple(found))


class RemoteAdded(NamedTuple):
    """A server that was added: its banks by our names, those that the key `opens` there, those
    `missing` among them, and why it could not be asked just now."""

    name: str
    url: str
    banks: dict[str, str]
    problem: str
    missing: tuple[str, ...]
    opens: tuple[str, ...]


class RemoteChecked(NamedTuple):
    """A server that answered: after how many milliseconds, the banks that the key gives access to,
    and those that are listed for it and are `missing` among them."""

    name: str
    ms: int
    banks: tuple[str, ...]
    missing: tuple[str, ...]


def _print_added(screen: Screen, done: RemoteAdded, **_: object) -> None:
    banks = _describe_banks(done.banks)
    screen.wrap(f"{done.name} will be queried for {banks}, and for nothing else.")
    if done.problem:
        screen.wrap(f"Just now {done.problem}; `holdfast remote test` tries again.")
    _print_missing(screen, done.missing, done.opens)


def _print_checked(screen: Screen, done: RemoteChecked, **_: object) -> None:
    screen.wrap(f"{done.name} answers in {done.ms} ms. The key opens {', '.join(done.banks)}.")
    _print_missing(screen, done.missing, done.banks)


def _print_missing(screen: Screen, missing: Sequence[str], opens: Sequence[str]) -> None:
    if missing:
        known = ", ".join(opens) or "none"
        screen.wrap(f"It has no bank {', '.join(missing)} for this key; it has: {known}.")


@_admin(
    "remote add",
    text=_print_added,
    examples="""\
  holdfast remote add https://memory.example.com --name acme
  holdfast remote add https://memory.example.com --bank shop=checkout --bank ui=ui""",
)
def remote_add(
    memory: Holdfast,
    url: Annotated[str, Arg("the address of the server", place="URL")],
    name: Annotated[str, Arg("a name for the server", metavar="NAME", most=MAX_NAME)] = "",
    bank: Annotated[
        tuple[str, ...],
        Arg(
            "a bank of yours and its name on the server; repeatable (default: the bank of this "
            "folder, under the same name)",
            metavar="LOCAL=REMOTE",
        ),
    ] = (),
    insecure: Annotated[bool, Arg("allow plain HTTP; always allowed on this machine")] = False,
    key: Annotated[str, Arg("the key that the server gave you", programs=True)] = "",
    call: Call = OWNER,
) -> RemoteAdded:
    """Add a server of your team

    Its key is asked for, or read from standard input or from HOLDFAST_REMOTE_KEY, and stored in a
    file that only you can read."""
    checked_address(url, insecure)
    banks = _bank_pairs(memory, bank)
    key = key or memory.settings.remote.key or call.ask_secret(f"Key for {url}: ")
    remotes = Remotes(memory.settings, memory.now)
    remote = remotes.make(url, key, banks, name, insecure)
    tested, problem = None, ""
    try:
        tested = remotes.check(remote)
    except RemoteRefusedError as error:
        raise InputError(
            f"{remote.url} cannot be added: {error.message}.",
            "Check the address, and that the key is complete.",
        ) from error
    except RemoteError as error:
        problem = error.message
    remotes.add(remote)
    missing, opens = (tested.missing, tested.banks) if tested else ((), ())
    return RemoteAdded(remote.name, remote.url, dict(banks), problem, missing, opens)


def _bank_pairs(memory: Holdfast, given: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of a local bank and its name on the server."""
    if not given:
        id = memory.context.bank_id()
        if id is None:
            raise InputError(
                "The settings select all banks.", "Say which one: --bank LOCAL=REMOTE."
            )
        name = memory.context.bank_name(id)
        return [(name, name)]
    pairs: list[tuple[str, str]] = []
    for text in given:
        here, _, there = text.partition("=")
        here, there = here.strip(), there.strip() or here.strip()
        if not here or "all" in (here, there):
            raise InputError(f"{text!r} has no bank.", "Write --bank LOCAL=REMOTE, one by one.")
        pairs.append((here, there))
    return pairs


@_admin("remote test", text=_print_checked)
def remote_test(memory: Holdfast, name: ServerName = "") -> RemoteChecked:
    """Check which banks the key of a server gives access to"""
    remotes = Remotes(memory.settings, memory.now)
    remote = remotes.named(name)
    try:
        tested: RemoteTest = remotes.check(remote)
    except RemoteError as error:
        raise RemoteError(
            f"{remote.name} ({remote.url}) cannot be queried: {error.message}.",
            error.remedy
            or "Check the address and the key; `holdfast remote remove` and `add` change them.",
        ) from error
    return RemoteChecked(remote.name, *tested)


class Pushed(dict[str, PushReport]):
    """What each server took of what was waiting for it."""

    @property
    def has_failed(self) -> bool:
        """Whether something could not be sent."""
        return any(report.problem for report in self.values())


def _print_pushed(screen: Screen, done: Pushed, **_: object) -> None:
    if not done:
        screen.line(_NO_SERVER)
    for name, report in done.items():
        counts = {
            "sent": report.sent,
            "refused (`holdfast remote list` says why)": report.refused,
            "forgotten since, and not sent": report.dropped,
            "still to be sent": report.waiting,
        }
        told = [f"{count} {what}" for what, count in counts.items() if count]
        told += [report.problem] if report.problem else []
        screen.wrap(f"{name}: {'; '.join(told or ['nothing to send'])}.")


@_admin("remote push", text=_print_pushed)
def remote_push(memory: Holdfast, name: ServerName = "") -> Pushed:
    """Send now what waits to be sent

    Otherwise the worker does it."""
    return Pushed(Outbox(memory.context).push(name))


class RemoteRemoved(NamedTuple):
    """The name of the server that is no longer asked."""

    removed: str


def _announce_removal(memory: Holdfast, *, name: str, **_: object) -> Announcement:
    remote = Remotes(memory.settings, memory.now).named(name)
    items = memory.reader.outbox.items(remote.name)
    waiting = sum(one.state is OutboxState.WAITING for one in items)
    lost = f" {number(waiting, 'record')} would never be sent." if waiting else ""
    line = f"{remote.name} and its key will be removed.{lost}"
    return Announcement((line,), "Remove it?", default=False, what="what is asked")


def _print_removed(screen: Screen, done: RemoteRemoved, **_: object) -> None:
    screen.wrap(f"{done.removed} is no longer queried. Records that you shared there stay there.")


@_admin(
    "remote remove",
    text=_print_removed,
    announce=_announce_removal,
)
def remote_remove(
    memory: Holdfast,
    name: Annotated[str, Arg("the name of a server", place="NAME", most=MAX_NAME)],
) -> RemoteRemoved:
    """Remove a server and its key

    Records that wait for it are never sent; what was shared there stays there."""
    remotes = Remotes(memory.settings, memory.now)
    remote = remotes.named(name)
    with memory.store.transaction():
        for item in memory.reader.outbox.items(remote.name):
            memory.store.outbox.drop(item)
    remotes.remove(remote)
    return RemoteRemoved(remote.name)


class Key(NamedTuple):
    """An API key of this memory's server: its banks (null for all), level and state. `key` is the
    key itself where it was just made; it is stored nowhere."""

    id: str
    name: str
    banks: tuple[str, ...] | None
    level: Level
    created: str
    expires: str
    revoked: str
    used: str
    state: str
    key: str = ""


class KeyList(NamedTuple):
    """The keys of this memory's server."""

    keys: tuple[Key, ...]


def _key(memory: Holdfast, key: ApiKey, shown: str = "") -> Key:
    names = memory.context.bank_names()
    state = "in force" if key.is_valid(memory.now()) else "expired"
    return Key(
        key.id,
        key.name,
        None if key.banks is None else tuple(names.get(id, id) for id in key.banks),
        key.level,
        key.created,
        key.expires,
        key.revoked,
        key.used,
        "revoked" if key.revoked else state,
        shown,
    )


def _print_keys(screen: Screen, found: KeyList, **_: object) -> None:
    if not found.keys:
        screen.line("There is no key yet; `holdfast key new` makes one.")
    for one in found.keys:
        banks = "all banks" if one.banks is None else ", ".join(one.banks)
        screen.line(f"{one.id}  {one.level:<5}  {one.state:<8}  {one.name}  ({banks})")
        times = {"created": one.created, "expires": one.expires, "used": one.used}
        told = ", ".join(f"{event} {time[:16]}" for event, time in times.items() if time)
        screen.line(f"          {told}", "dim")


@_admin(
    "key list",
    rest="GET /keys",
    text=_print_keys,
    examples="""\
  holdfast key new --name "Ana's laptop" --bank checkout --level write --expires 90d
  holdfast key
  holdfast key revoke 3f9a01bc""",
)
def key_list(memory: Holdfast) -> KeyList:
    """List the API keys of `holdfast serve`, without their secrets

    A key gives access to some banks or to all, at one of three levels: read (ask and look), write
    (also remember, correct, forget, decide) or admin (also configure banks and erase)."""
    return KeyList(tuple(_key(memory, one) for one in memory.store.api_keys.all()))


def _print_new_key(screen: Screen, done: Key, **_: object) -> None:
    screen.line(done.key)
    screen.line("It is shown only once. Store it like a password.", "dim")


@_admin(
    "key new",
    creates=True,
    text=_print_new_key,
    examples="""\
  holdfast key new --name "Ana's laptop" --bank checkout --level write --expires 90d
  holdfast key new --name ci --all-banks""",
)
def key_new(
    memory: Holdfast,
    name: Annotated[str, Arg("the owner or the purpose of the key", metavar="NAME")],
    bank: Annotated[
        tuple[str, ...], Arg("a bank to give access to; repeatable", metavar="NAME", most=1_000)
    ] = (),
    all_banks: Annotated[bool, Arg("access to every bank, also future ones")] = False,
    make_banks: Annotated[bool, Arg("create banks that do not exist yet")] = False,
    level: Annotated[Level, Arg("the level of access")] = Level.READ,
    expires: Annotated[str, Arg("12h, 90d, 4w, 1y or a day (default: never)", metavar="WHEN")] = "",
) -> Key:
    """Make an API key for `holdfast serve`

    It is shown once: only a hash is stored. A revoked or expired key stops working within about a
    second."""
    if bool(bank) == all_banks:
        raise InputError("For which banks?", "Name some with --bank, or say --all-banks.")
    shown, made = make_key(memory, KeyRequest(name, bank, level, expires, make_banks))
    return _key(memory, made, shown)


def _print_revoked(screen: Screen, done: Key, **_: object) -> None:
    screen.line(f"The key {done.id} ({done.name}) is revoked.")


@_admin("key revoke", text=_print_revoked)
def key_revoke(
    memory: Holdfast,
    id: Annotated[str, Arg("its id, or the start of it", place="ID", most=MAX_NAME)],
) -> Key:
    """Revoke an API key

    It stops working within about a second."""
    return _key(memory, revoke_key(memory, id))
