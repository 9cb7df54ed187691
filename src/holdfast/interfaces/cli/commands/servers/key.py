"""`holdfast key`."""

from __future__ import annotations

from typing import Any

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.server.keys import KeyRequest, make_key, revoke_key
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.model.keys import ApiKey
from holdfast.operations.screen import Screen
from holdfast.principal import Level

HELP = """\
Manage the API keys of `holdfast serve`. A key gives access to some banks or to all, at one of
three levels: read (ask and look), write (also remember, correct, forget, decide) or admin (also
configure banks and erase). It is shown once, when it is created: only a hash is stored. A revoked
or expired key stops working within about a second."""

EXAMPLES = """\
  holdfast key new --name "Ana's laptop" --bank checkout --level write --expires 90d
  holdfast key new --name ci --all-banks
  holdfast key list
  holdfast key revoke 3f9a01bc"""


def configure(parser: Parser) -> None:
    actions = parser.add_subparsers(dest="way", metavar="new|list|revoke", required=True)
    new_parser = actions.add_parser("new", help="create a key and show it once")
    new_parser.add_argument("--name", required=True, help="the owner or the purpose of the key")
    new_parser.repeated("--bank", "a bank to give access to; repeatable", metavar="NAME")
    new_parser.flag("--all-banks", "access to every bank, also future ones")
    new_parser.flag("--make-banks", "create banks that do not exist yet")
    new_parser.choice("--level", Level, "the level of access (default: read)", Level.READ)
    new_parser.option("--expires", "WHEN", "12h, 90d, 4w, 1y or a day (default: never)")
    options.add(new_parser, "json")
    list_parser = actions.add_parser("list", help="list the keys, without their secrets")
    options.add(list_parser, "json")
    revoke_parser = actions.add_parser("revoke", help="revoke a key")
    revoke_parser.add_argument("id", metavar="ID", help="its id, or the start of it")
    options.add(revoke_parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.way == "new":
        _new(screen, arguments)
    elif arguments.way == "list":
        _list(screen, arguments.json)
    else:
        with open_memory(create=False) as memory:
            key = revoke_key(memory, arguments.id)
            sentence = f"The key {key.id} ({key.name}) is revoked."
            screen.report(arguments.json, _key_json(memory, key), sentence)


def _new(screen: Screen, arguments: Arguments) -> None:
    if bool(arguments.bank) == arguments.all_banks:
        raise InputError("For which banks?", "Name some with --bank, or say --all-banks.")
    a = arguments
    wanted = KeyRequest(a.name, a.bank, Level(a.level), a.expires, a.make_banks)
    with open_memory() as memory:
        shown, key = make_key(memory, wanted)
        if arguments.json:
            return screen.json({"key": shown, **_key_json(memory, key)})
        screen.line(shown)
        screen.line("It is shown only once. Store it like a password.", "dim")


def _list(screen: Screen, as_json: bool) -> None:
    with open_memory(create=False) as memory:
        keys = [_key_json(memory, key) for key in memory.store.api_keys.all()]
        if as_json:
            return screen.json({"keys": keys})
        if not keys:
            screen.line("There is no key yet; `holdfast key new` makes one.")
        for key in keys:
            banks = "all banks" if key["banks"] is None else ", ".join(key["banks"])
            screen.line(
                f"{key['id']}  {key['level']:<5}  {key['state']:<8}  {key['name']}  ({banks})"
            )
            events = [event for event in ("created", "expires", "used") if key[event]]
            times = ", ".join(f"{event} {key[event][:16]}" for event in events)
            screen.line(f"          {times}", "dim")


def _key_json(memory: Holdfast, key: ApiKey) -> dict[str, Any]:
    names = memory.context.bank_names()
    state = "in force" if key.is_valid(memory.now()) else "expired"
    return {
        "id": key.id,
        "name": key.name,
        "banks": None if key.banks is None else [names.get(id, id) for id in key.banks],
        "level": key.level.value,
        "created": key.created,
        "expires": key.expires,
        "revoked": key.revoked,
        "used": key.used,
        "state": "revoked" if key.revoked else state,
    }
