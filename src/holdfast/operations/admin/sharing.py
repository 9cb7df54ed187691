"""Records that people share: on a branch of a git repository, or with a server of the team; and
pulling what others share."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from holdfast.app.memory import Holdfast
from holdfast.app.remote.outbox import Outbox, SharePlan
from holdfast.app.remote.remote_search import Remotes
from holdfast.app.server.shared_records import (
    ORGANISATION_BANK,
    Receipt,
    SharedHit,
    recall_shared,
    receive,
)
from holdfast.errors import InputError
from holdfast.language import cut, truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.share_intake import ShareImportPlan
from holdfast.model.curation import Curation
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.model.uris import uri as uri_of
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, Work, operation
from holdfast.operations.parameters import MAX_NAME, DryRun, OneBank, Question
from holdfast.operations.screen import Screen, day, minute, number
from holdfast.principal import Level
from holdfast.sources.remote.remote_config import Remote
from holdfast.sources.share_format import RefusedLine
from holdfast.store.records.outbox import OutboxItem

_admin = partial(operation, level=Level.ADMIN, all_banks=True, work=Work.RUN_LONG)

_MAX_SHARES = 100
_MAX_HITS = 50
# The start of a shared text in a list, and of one that is pulled: about four and two lines.
_MAX_TEXT, _MAX_PULLED = 400, 200


class SharedScope(StrEnum):
    """Who may read what is shared."""

    PROJECT = "project"
    TEAM = "team"
    ORGANISATION = "organisation"


class Shared(NamedTuple):
    """What was shared, or would be (`plan`). On a branch the `commit`, and the remote that it was
    `pushed` to; with a server how many lines it took (`sent`), refused, or still gets."""

    plan: SharePlan | None
    commit: str = ""
    pushed: str = ""
    sent: int = 0
    refused: int = 0
    waiting: int = 0
    problem: str = ""


RecordNames = Annotated[
    tuple[str, ...],
    Arg("holdfast://KIND/ID, an id, or the start of one", place="URI", most=1_000),
]
Destination = Annotated[
    str,
    Arg(
        "another repository on this machine; a server of `holdfast remote`; or, with --push, the "
        "git remote",
        metavar="PATH|SERVER|REMOTE",
        most=MAX_NAME,
    ),
]
Push = Annotated[bool, Arg("also push the branch, merged with what others pushed")]


def _server(memory: Holdfast, to: str) -> Remote | None:
    """The server of this name; None for a folder or a git remote. A server goes before a git remote
    of the same name."""
    if not to or Path(to).expanduser().is_dir() or not memory.settings.remotes.exists():
        return None
    listed = Remotes(memory.settings, memory.now).listed()
    return next((item.remote for item in listed if item.remote.name == to), None)


def _place(to: str, may_be_remote: bool) -> tuple[str, str]:
    """The repository and the git remote that `to` names; one of them is ""."""
    if not to or Path(to).expanduser().is_dir():
        return to, ""
    if not may_be_remote:
        raise InputError(
            f"{to} is not a folder, and nothing goes to a remote without --push.",
            "Give the path of a repository or the name of a server, or add --push.",
        )
    return "", to


def _plan_share(
    memory: Holdfast,
    *,
    uri: tuple[str, ...] = (),
    note: str = "",
    to: str = "",
    push: bool = False,
    scope: SharedScope | None = None,
    bank: str = "",
    **_: object,
) -> SharePlan | None:
    """What sharing records would change; None if only what is shared already is pushed."""
    server = _server(memory, to)
    if server is None and scope not in (None, SharedScope.PROJECT):
        raise InputError(
            "Everybody who can read the repository can read the branch: its scope is project.",
            "Name a server for another scope: --to NAME.",
        )
    place, _remote = ("", "") if server else _place(to, push)
    if not uri and (server or not push):
        raise InputError(
            "No record is given.",
            "Name records by their URIs. `holdfast share --list` lists what is shared, `holdfast "
            "remote push` sends what waits.",
        )
    if server:
        wanted = Scope(scope or SharedScope.TEAM)
        return Outbox(memory.context).plan_send(uri, server, wanted, note, bank or None)
    return memory.sharing.plan_share(uri, place, note, bank or None) if uri else None


def _plan_unshare(
    memory: Holdfast, *, uri: tuple[str, ...], to: str = "", push: bool = False, **_: object
) -> SharePlan:
    if server := _server(memory, to):
        return Outbox(memory.context).plan_withdrawal(uri, server)
    return memory.sharing.plan_unshare(uri, _place(to, push)[0])


def _plan_lines(plan: SharePlan) -> list[str]:
    """What others will read, and lose."""
    lines: list[str] = []
    drafts = [("+", one.shared, one.redacted) for one in (*plan.added, *plan.changed)]
    for sign, s, redacted in (*drafts, *(("-", one, 0) for one in plan.taken_back)):
        outside = " · contains text from outside" if s.lineage is Trust.EXTERNAL and s.text else ""
        lines.append(" ".join(f"{sign} {s.kind} {s.origin} {s.time[:10]}{outside}".split()))
        lines += [f"{sign}   {line}" for line in s.text.split("\n") if line]
        lines += [f"{sign}   note: {s.note}"] if s.note else []
        lines += [f"    ({number(redacted, 'secret')} redacted)"] if redacted else []
    lines += [f"= {name} is already shared with this text" for name in plan.same]
    if not plan.is_empty:
        where = f"the bank {plan.there} of" if plan.there else "the branch holdfast-shared of"
        where = "from" if plan.taken_back and not plan.bank else f"in {where}"
        lines += ["", f"For {plan.scope.value}, {where} {plan.place}, in the name of {plan.name}."]
    return lines


def _print_shared(screen: Screen, done: Shared, *, dry_run: bool = False, **_: object) -> None:
    plan = done.plan
    if plan and (dry_run or plan.is_empty):
        for line in _plan_lines(plan):
            screen.wrap(screen.paint_diff(line))
    if dry_run:
        screen.line("Nothing was changed.")
    elif done.problem and plan:
        screen.wrap(
            f"{plan.place} did not take it yet: {done.problem}. {number(done.waiting, 'record')} "
            "to be sent; the worker tries again, or `holdfast remote push`."
        )
    elif plan and (done.sent or done.refused):
        taken = "has it" if plan.bank else "withdrew it: the server no longer shows it"
        screen.line(f"{plan.place} {f'refused {done.refused}' if done.refused else taken}.")
    elif done.pushed:
        screen.line(f"Pushed to {done.pushed}.")
    elif done.commit and plan:
        screen.wrap(
            f"Written to holdfast-shared of {plan.place}. Nothing has left this machine: "
            "`holdfast share --push` does that."
        )


def _announce(plan: SharePlan | None) -> Announcement:
    lines = () if plan is None or plan.is_empty else tuple(_plan_lines(plan))
    return Announcement(lines, default=False, what="what others can see", plan=plan)


def _announce_share(memory: Holdfast, **given: Any) -> Announcement:
    return _announce(_plan_share(memory, **given))


def _announce_unshare(memory: Holdfast, **given: Any) -> Announcement:
    return _announce(_plan_unshare(memory, **given))


def _carry_out(
    memory: Holdfast, plan: SharePlan | None, to: str, push: bool, dry_run: bool
) -> Shared:
    """Do what was planned: on the branch, or by queueing it for the server and trying to send."""
    if dry_run:
        return Shared(plan)
    if plan is not None and _server(memory, to):
        post = Outbox(memory.context)
        post.queue(plan)
        done = post.push(plan.place)[plan.place]
        return Shared(plan, "", "", done.sent, done.refused, done.waiting, done.problem)
    commit = memory.sharing.share(plan) if plan is not None and not plan.is_empty else ""
    place, remote = _place(to, True)
    return Shared(plan, commit, memory.sharing.push(remote, place)[0] if push else "")


@_admin(
    "share",
    text=_print_shared,
    announce=_announce_share,
    examples="""\
  holdfast share holdfast://fact/5c1f0a9be2d47c33 --note 'we lost a day on this'
  holdfast share 5c1f0a 77ab01 --dry-run
  holdfast share 5c1f0a --push
  holdfast share 5c1f0a --to ~/src/team-memory
  holdfast share 5c1f0a --to acme --scope organisation
  holdfast share --list""",
)
def share(
    memory: Holdfast,
    uri: RecordNames = (),
    note: Annotated[str, Arg("a note to the readers", metavar="TEXT")] = "",
    to: Destination = "",
    push: Push = False,
    scope: Annotated[
        SharedScope | None,
        Arg(
            "who may read it: on a branch always the project; on a server project, team (default) "
            "or organisation"
        ),
    ] = None,
    dry_run: DryRun = False,
    bank: OneBank = "",
    call: Call = OWNER,
) -> Shared:
    """Share records on a git branch or with a server

    Facts, memories, opinions, exchanges, digests, concepts, patterns, or a session as its digest
    and exchanges. They are written in your name, one JSON object per line, to the branch
    `holdfast-shared` of this repository, or of another one (--to PATH). Your files, index and
    other branches do not change.

    With --to SERVER (`holdfast remote`) they are sent there instead, in the name of your key, for
    everybody who may read the bank, or for everybody (--scope organisation). If the server cannot
    be reached, they are sent later, once.

    Everything is redacted again and shown first. Nothing leaves your machine without --push or
    the name of a server. `holdfast pull` imports what others share; `holdfast unshare` undoes
    this."""
    plan = call.agreed or _plan_share(
        memory, uri=uri, note=note, to=to, push=push, scope=scope, bank=bank
    )
    return _carry_out(memory, plan, to, push, dry_run)


@_admin(
    "unshare",
    text=_print_shared,
    announce=_announce_unshare,
    examples="""\
  holdfast unshare holdfast://fact/5c1f0a9be2d47c33
  holdfast unshare holdfast://shared/77ab01c3d2e4f586 --push
  holdfast unshare holdfast://fact/5c1f0a9be2d47c33 --to acme""",
)
def unshare(
    memory: Holdfast,
    uri: RecordNames,
    to: Destination = "",
    push: Push = False,
    dry_run: DryRun = False,
    call: Call = OWNER,
) -> Shared:
    """Withdraw what you shared

    Its text is removed from the branch, and a line marks it as gone, so that others lose it with
    their next pull. It stays in the history of the branch and of every clone: do not share what
    must never be seen.

    With --to SERVER it is withdrawn from that server, at the latest when it can be reached
    again."""
    plan = call.agreed or _plan_unshare(memory, uri=uri, to=to, push=push)
    return _carry_out(memory, plan, to, push, dry_run)


class SharedList(NamedTuple):
    """What is shared in a repository, with the lines that cannot be read; or with a server."""

    place: str
    shared: tuple[SharedRecord | OutboxItem, ...]
    refused: tuple[RefusedLine, ...] = ()


def _print_shared_list(screen: Screen, found: SharedList, **_: object) -> None:
    if not found.shared:
        screen.line(f"Nothing of yours is shared in {found.place} yet.")
    for one in found.shared:
        if isinstance(one, OutboxItem):
            back = ", to be withdrawn" if one.gone else ""
            why = f" ({one.problem})" if one.problem else ""
            name = screen.paint(one.origin, "cyan")
            screen.line(f"{name}  {day(one.queued)} {one.state.value}{back}{why}")
            continue
        screen.line(uri_of("shared", one.id), "cyan")
        screen.wrap(f"{one.kind} by {one.author} on {day(one.shared)}", "  ")
        screen.wrap(cut(one.text, _MAX_TEXT), "  ")
    for line in found.refused[:1]:
        count = number(len(found.refused), "line")
        where = f"{line.path}:{line.line} ({line.why})"
        screen.wrap(f"{count} cannot be read; the first is {where}.")


@_admin("shared", rest="GET /shared", work=Work.READ, text=_print_shared_list)
def shared(memory: Holdfast, to: Destination = "") -> SharedList:
    """List what is shared, by whom and since when

    In this repository or another one, or what you sent to a server, and its state."""
    if server := _server(memory, to):
        items = memory.reader.outbox.items(server.name)
        return SharedList(server.name, tuple(one._replace(line="") for one in items))
    return SharedList(*memory.sharing.list_shared(_place(to, True)[0]))


class Pulled(NamedTuple):
    """What others share and was imported, or would be; `pull` is the URI of the import, "" if there
    was none."""

    pull: str
    plan: ShareImportPlan


def _print_pulled(screen: Screen, done: Pulled, **_: object) -> None:
    plan = done.plan
    for sign, records in (("+", plan.added), ("~", plan.changed), ("-", plan.gone)):
        for one in records:
            head = f"{sign} {one.kind or 'taken back'} by {one.author} on {day(one.shared)}"
            screen.line(head, "bold")
            screen.wrap(truncate(one.text, _MAX_PULLED) or uri_of("shared", one.id), "    ")
    counts = {
        "known already": plan.known,
        "of your own": plan.own,
        "erased here before": plan.erased,
        "secrets redacted": plan.redacted,
        **{f"refused: {why}": count for why, count in plan.reasons.items()},
    }
    if plan.is_empty:
        screen.line(f"Nothing new in {plan.source.name}.")
    for what, count in counts.items():
        if count:
            screen.line(f"{count:,} {what}")
    if done.pull:
        new = number(len(plan.added) + len(plan.changed) + len(plan.gone), "record")
        id = done.pull.rpartition("/")[2]
        screen.wrap(f"Imported {new}. `holdfast pull --undo {id}` undoes this.")
    elif not plan.is_empty:
        screen.line("Nothing was changed.")


@_admin(
    "pull",
    creates=True,
    text=_print_pulled,
    examples="""\
  holdfast pull origin --dry-run
  holdfast pull origin
  holdfast pull ~/src/team-memory
  holdfast pull --list
  holdfast pull --undo 3f2a91c0""",
)
def pull(
    memory: Holdfast,
    place: Annotated[str, Arg("where to read it from", place="REMOTE|PATH", most=MAX_NAME)] = "",
    dry_run: DryRun = False,
    bank: OneBank = "",
    call: Call = OWNER,
) -> Pulled:
    """Import what others share

    From the branch `holdfast-shared`: fetched from a remote, or read from another repository;
    without a name, what was fetched already. Recall and ask then find it, with the trust `team`,
    who shared it and when; text from outside the project stays `external`. What its author took
    back is removed; what you forgot or erased stays forgotten or erased.

    Invalid lines (not JSON, too long, another version, an id that is not the hash of the text)
    are refused and counted. `holdfast pull --undo` undoes a whole pull."""
    plan: ShareImportPlan = memory.sharing.plan_pull(place, bank or None)
    imported = "" if dry_run else memory.sharing.pull(plan, bank or None, call.who)
    return Pulled(imported, plan)


class PullRecord(NamedTuple):
    """One pull of what others share: from where (`place`), up to which commits (`heads`), when, and
    whether it was undone."""

    bank: str
    id: str
    place: str
    heads: tuple[str, ...]
    time: str
    undone: bool


class PullList(NamedTuple):
    """Pulls that imported something."""

    pulls: tuple[PullRecord, ...]


def _print_pulls(screen: Screen, found: PullList, **_: object) -> None:
    if not found.pulls:
        screen.line("Nothing was pulled yet.")
    for one in found.pulls:
        note = " (undone)" if one.undone else ""
        screen.line(f"{one.id}  {minute(one.time)}  from {one.place}{note}")


@_admin("pulls", rest="GET /pulls", work=Work.READ, text=_print_pulls)
def pulls(memory: Holdfast, bank: OneBank = "") -> PullList:
    """List pulls

    Every pull of shared records, and whether it was undone."""
    found = memory.sharing.pulls(bank)
    return PullList(tuple(PullRecord(*one, not in_effect) for one, in_effect in found))


class PullUndone(NamedTuple):
    """The decision that undid a pull."""

    undone: Curation


def _print_pull_undone(screen: Screen, done: PullUndone, **_: object) -> None:
    screen.line(f"Undone: {done.undone.text}, of {day(done.undone.time)}.")


@_admin(
    "undo-pull",
    rest="POST /pulls/{id}/undo",
    text=_print_pull_undone,
)
def undo_pull(
    memory: Holdfast,
    id: Annotated[str, Arg("its id, or the start of it", place="ID", most=MAX_NAME)],
    bank: OneBank = "",
    call: Call = OWNER,
) -> PullUndone:
    """Undo a pull

    Also restores the records that it replaced."""
    return PullUndone(memory.sharing.undo_pull(id.rpartition("/")[2], bank, call.who))


class Receipts(NamedTuple):
    """What became of each line that was sent, in the same order."""

    shares: tuple[Receipt, ...]


class SharedHits(NamedTuple):
    """Shared records that match a question, best first."""

    bank: str
    hits: tuple[SharedHit, ...]


NamedBank = Annotated[
    str, Arg("the name or id of a bank", most=200, metavar="BANK", example="checkout")
]


@operation("receive-shares", Level.WRITE, rest="POST /shares", public_banks=(ORGANISATION_BANK,))
def receive_shares(
    memory: Holdfast,
    bank: NamedBank,
    shares: Annotated[
        tuple[dict[str, Any], ...],
        Arg(
            "lines in the format of docs/sharing.md, with a scope and hash, without the author",
            most=_MAX_SHARES,
        ),
    ],
    call: Call = OWNER,
) -> Receipts:
    """Receive shared records

    The author is the owner of the key. The same line is accepted once. A line with `gone` withdraws
    an earlier one."""
    return Receipts(tuple(receive(memory, bank, shares, call.key, call.who)))


@operation(
    "recall-shares",
    Level.READ,
    rest="POST /shares/recall",
    work=Work.RUN,
    public_banks=(ORGANISATION_BANK,),
)
def recall_shares(
    memory: Holdfast,
    question: Question,
    bank: NamedBank,
    limit: Annotated[int, Arg("how many at most", least=1, most=_MAX_HITS)] = 10,
) -> SharedHits:
    """Search shared records

    Those that are shared with the bank or with everybody, best first."""
    return SharedHits(bank, tuple(recall_shared(memory, question, bank, limit)))
