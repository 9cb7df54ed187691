"""`holdfast share` and `holdfast unshare`, over a branch of a git repository."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.sharing import SharedListing, SharePlan
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options, server_sharing
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.language import cut
from holdfast.model.team import SHARED_SCOPES, Scope, SharedRecord
from holdfast.model.uris import uri
from holdfast.operations.output.records import print_shared_record, shared_record_json
from holdfast.operations.screen import Screen, day, number

# The start of a shared text in a list: about four lines.
_MAX_TEXT = 400


def _configure_share(parser: Parser) -> None:
    parser.add_argument(
        "uri", nargs="*", metavar="URI", help="holdfast://KIND/ID, an id, or the start of one"
    )
    parser.flag("--list", "list what is shared here, by whom and since when")
    parser.option("--note", "TEXT", "a note to the readers")
    _add_destination(parser)
    parser.choice(
        "--scope",
        list(SHARED_SCOPES),
        "who may read it: on a branch always the project; on a server project, "
        "team (default) or organisation",
        None,
    )
    parser.flag("--dry-run", "only show what would be shared")
    options.add(parser, "bank", "yes", "json")


def _add_destination(parser: Parser) -> None:
    parser.option(
        "--to",
        "PATH|SERVER|REMOTE",
        "another repository on this machine; a server of `holdfast remote`; or, "
        "with --push, the git remote",
    )
    parser.flag("--push", "also push the branch, merged with what others pushed")


def _destination(arguments: Arguments) -> tuple[str, str]:
    """The repository and the git remote that `--to` names; one of them is ""."""
    given: str = arguments.to
    if not given:
        return "", ""
    if Path(given).expanduser().is_dir():
        return given, ""
    if not arguments.push and not getattr(arguments, "list", False):
        raise InputError(
            f"{given} is not a folder, and nothing goes to a remote without --push.",
            "Give the path of a repository or the name of a server, or add --push.",
        )
    return "", given


def _run_share(screen: Screen, arguments: Arguments) -> None:
    if (server := server_sharing.server_of(arguments)) is not None:
        return server_sharing.share(screen, server, arguments)
    if arguments.scope not in (None, Scope.PROJECT.value):
        raise InputError(
            "Everybody who can read the repository can read the branch: its scope is project.",
            "Name a server for another scope: --to NAME.",
        )
    place, remote = _destination(arguments)
    with open_memory(create=False) as memory:
        if arguments.list:
            return _list(screen, memory.sharing.list_shared(place), arguments.json)
        if not arguments.uri and not arguments.push:
            raise InputError("No record is given.", "Name records by their URIs, or use --list.")
        if not arguments.uri:
            return _push(screen, memory, place, remote, arguments.json)
        planned = memory.sharing.plan_share(arguments.uri, place, arguments.note, arguments.bank)
        return _carry_out(screen, memory, planned, arguments, (place, remote))


def _carry_out(
    screen: Screen,
    memory: Holdfast,
    planned: SharePlan,
    arguments: Arguments,
    where: tuple[str, str],
) -> None:
    """Print what is planned, ask, write it to the branch and push it if wanted."""
    place, remote = where
    if not arguments.json:
        _show(screen, planned)
    if arguments.dry_run:
        if arguments.json:
            screen.json(_plan_json(planned, "", False))
        return
    if not planned.is_empty and not confirm.confirm_change(
        screen, arguments.yes, default=False, what="what others can see"
    ):
        return
    commit = memory.sharing.share(planned) if not planned.is_empty else ""
    pushed = memory.sharing.push(remote, place) if arguments.push else ("", False)
    if arguments.json:
        screen.json(_plan_json(planned, commit, bool(pushed[0])))
    elif pushed[0]:
        screen.line(f"Written to holdfast-shared and pushed to {pushed[0]}.")
    elif commit:
        screen.wrap(
            f"Written to holdfast-shared of {planned.place}. Nothing has left this machine: "
            "`holdfast share --push` does that."
        )


def _push(screen: Screen, memory: Holdfast, place: str, remote: str, as_json: bool) -> None:
    name, done = memory.sharing.push(remote, place)
    sentence = f"Pushed to {name}." if done else f"{name} has it all already."
    screen.report(as_json, {"pushed": done, "remote": name}, sentence)


def _show(screen: Screen, planned: SharePlan) -> None:
    for one in planned.added:
        print_shared_record(screen, one.shared, "+", one.redacted)
    for new, old in planned.changed:
        print_shared_record(screen, old, "-")
        print_shared_record(screen, new.shared, "+", new.redacted)
    for gone in planned.gone:
        print_shared_record(screen, gone, "-")
    for same in planned.same:
        screen.line(f"= {uri('shared', same.id)} is already shared with this text")
    if not planned.is_empty:
        who = f"{planned.person.name} <{planned.person.email}>"
        screen.line()
        screen.wrap(f"In the name of {who}, on the branch holdfast-shared of {planned.place}.")


def _plan_json(planned: SharePlan, commit: str, pushed: bool) -> dict[str, object]:
    return {
        "place": planned.place,
        "added": [_record_json(one.shared) | {"redacted": one.redacted} for one in planned.added],
        "changed": [_record_json(new.shared) | {"was": old.text} for new, old in planned.changed],
        "same": [uri("shared", same.id) for same in planned.same],
        "taken_back": [uri("shared", gone.id) for gone in planned.gone],
        "commit": commit,
        "pushed": pushed,
    }


def _record_json(shared: SharedRecord) -> dict[str, object]:
    return shared_record_json(shared, "bank", "id", "version", "gone", "trust")


def _list(screen: Screen, found: SharedListing, as_json: bool) -> None:
    if as_json:
        held = [_record_json(shared) for shared in found.held]
        return screen.json({"place": found.place, "shared": held, "refused": found.refused})
    if not found.held:
        screen.line(f"Nothing is shared in {found.place} yet.")
    for shared in found.held:
        screen.line(uri("shared", shared.id), "cyan")
        screen.wrap(f"{shared.kind} by {shared.author} on {day(shared.shared)}", "  ")
        screen.wrap(cut(shared.text, _MAX_TEXT), "  ")
    if found.refused:
        first = found.refused[0]
        screen.wrap(
            f"{number(len(found.refused), 'line')} cannot be read; the first is {first.path}:"
            f"{first.line} ({first.why})."
        )


def _configure_unshare(parser: Parser) -> None:
    parser.add_argument(
        "uri", nargs="+", metavar="URI", help="the record, or its holdfast://shared/… URI"
    )
    _add_destination(parser)
    parser.flag("--dry-run", "only show what would be withdrawn")
    options.add(parser, "yes", "json")


def _run_unshare(screen: Screen, arguments: Arguments) -> None:
    if (server := server_sharing.server_of(arguments)) is not None:
        return server_sharing.take_back(screen, server, arguments)
    place, remote = _destination(arguments)
    with open_memory(create=False) as memory:
        planned = memory.sharing.plan_unshare(arguments.uri, place)
        return _carry_out(screen, memory, planned, arguments, (place, remote))


SHARE = CommandSpec(
    help="""\
Share chosen records with others: facts, memories, opinions, exchanges, digests, concepts,
patterns, or a session as its digest and exchanges. They are written in your name, one JSON object
per line, to the branch `holdfast-shared` of this repository, or of another one (--to PATH).
Your files, index and other branches do not change.

With --to SERVER (`holdfast remote`) they are sent there instead, in the name of your key, for
everybody who may read the bank, or for everybody (--scope organisation). If the server cannot be
reached, they are sent later, once.

Everything is redacted again and shown first. Nothing leaves your machine without --push or the
name of a server. `holdfast pull` imports what others share; `holdfast unshare` undoes this.""",
    examples="""\
  holdfast share holdfast://fact/5c1f0a9be2d47c33 --note 'we lost a day on this'
  holdfast share 5c1f0a 77ab01 --dry-run
  holdfast share 5c1f0a --push
  holdfast share 5c1f0a --to ~/src/team-memory
  holdfast share 5c1f0a --to acme --scope organisation
  holdfast share --list""",
    configure=_configure_share,
    run=_run_share,
)

UNSHARE = CommandSpec(
    help="""\
Withdraw what you shared. Its text is removed from the branch, and a line marks it as gone, so
that others lose it with their next pull. It stays in the history of the branch and of every
clone: do not share what must never be seen.

With --to SERVER it is withdrawn from that server, at the latest when it can be reached again.""",
    examples="""\
  holdfast unshare holdfast://fact/5c1f0a9be2d47c33
  holdfast unshare holdfast://shared/77ab01c3d2e4f586 --push
  holdfast unshare holdfast://fact/5c1f0a9be2d47c33 --to acme""",
    configure=_configure_unshare,
    run=_run_unshare,
)
