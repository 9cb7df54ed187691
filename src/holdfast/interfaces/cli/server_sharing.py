"""The part of `share` and `unshare` that sends records to a server and takes them back."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.core.context import utc_now
from holdfast.app.memory import open_memory
from holdfast.app.remote.outbox import Outbox, PushReport, SendPlan
from holdfast.app.remote.remote_search import Remotes
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm
from holdfast.interfaces.cli.parser import Arguments
from holdfast.learn.share_drafts import Draft
from holdfast.model.team import Scope
from holdfast.operations.output.records import print_shared_record
from holdfast.operations.screen import Screen, day, number
from holdfast.settings import load_settings
from holdfast.sources.remote.remote_config import Remote
from holdfast.store.records.outbox import OutboxItem


def server_of(arguments: Arguments) -> Remote | None:
    """The server that `--to` names; None if it names a folder or a git remote. A server goes before
    a git remote of the same name."""
    given: str = arguments.to
    settings = load_settings()
    if not given or Path(given).expanduser().is_dir() or not settings.remotes.exists():
        return None
    listed = Remotes(settings, utc_now).listed()
    return next((item.remote for item in listed if item.remote.name == given), None)


def share(screen: Screen, server: Remote, arguments: Arguments) -> None:
    """Send some records to a server, or list what was sent."""
    with open_memory(create=False) as memory:
        post = Outbox(memory.context)
        if arguments.list:
            return _list(screen, memory.reader.outbox.items(server.name), server, arguments.json)
        if not arguments.uri:
            raise InputError(
                "No record is given.",
                "Name records by their URIs; `holdfast remote push` sends what waits.",
            )
        scope = Scope(arguments.scope or Scope.TEAM)
        planned = post.plan_send(arguments.uri, server, scope, arguments.note, arguments.bank)
        return _carry_out(screen, post, planned, arguments, scope.value)


def take_back(screen: Screen, server: Remote, arguments: Arguments) -> None:
    """Take records back from a server."""
    with open_memory(create=False) as memory:
        post = Outbox(memory.context)
        planned = post.plan_withdrawal(arguments.uri, server)
        return _carry_out(screen, post, planned, arguments, "")


def _carry_out(
    screen: Screen, post: Outbox, planned: SendPlan, arguments: Arguments, scope: str
) -> None:
    """Print what is planned, ask, queue it and try to send it."""
    name = planned.remote.name
    if not arguments.json:
        _show(screen, planned, scope)
    done = PushReport()
    if not arguments.dry_run:
        if not planned.is_empty and not confirm.confirm_change(
            screen, arguments.yes, default=False, what="what others can see"
        ):
            return
        post.queue(planned)
        done = post.push(name)[name]
    if arguments.json:
        screen.json(_plan_json(planned, scope, done))
    elif done.problem:
        screen.wrap(
            f"{name} did not take it yet: {done.problem}. {number(done.waiting, 'record')} to be "
            "sent; the worker tries again, or `holdfast remote push`."
        )
    elif not arguments.dry_run:
        gone = planned.withdrawn and not (planned.added or planned.changed)
        taken = "withdrew it: the server no longer shows it" if gone else "has it"
        screen.line(f"{name} {f'refused {done.refused}' if done.refused else taken}.")


def _show(screen: Screen, planned: SendPlan, scope: str) -> None:
    for sign, drafts in (("+", planned.added), ("±", planned.changed)):
        for one in drafts:
            print_shared_record(screen, one.shared, sign, one.redacted)
    for origin in planned.withdrawn:
        screen.line(f"- {origin}", "red")
    for origin in planned.unchanged:
        screen.line(f"= {origin} is already there with this text")
    if planned.added or planned.changed:
        screen.line()
        screen.wrap(
            f"For {scope}, in the bank {planned.remote_bank} of {planned.remote.name} "
            f"({planned.remote.url}), in the name of your key."
        )


def _plan_json(planned: SendPlan, scope: str, done: PushReport) -> dict[str, object]:
    def draft_json(one: Draft) -> dict[str, object]:
        s = one.shared
        return {"origin": s.origin, "kind": s.kind, "text": s.text, "redacted": one.redacted}

    return {
        "server": planned.remote.name,
        "bank": planned.remote_bank,
        "scope": scope,
        "added": [draft_json(one) for one in planned.added],
        "changed": [draft_json(one) for one in planned.changed],
        "same": planned.unchanged,
        "taken_back": planned.withdrawn,
        **done._asdict(),
    }


def _list(screen: Screen, items: list[OutboxItem], server: Remote, as_json: bool) -> None:
    if as_json:
        listed = [
            {"origin": p.origin, "uri": p.there, "state": p.state.value, "taken_back": p.gone,
             "time": p.queued, "attempts": p.attempts, "problem": p.problem}
            for p in items
        ]  # fmt: skip
        return screen.json({"server": server.name, "shared": listed})
    if not items:
        screen.line(f"Nothing of yours was sent to {server.name}.")
    for p in items:
        back = ", to be withdrawn" if p.gone else ""
        why = f" ({p.problem})" if p.problem else ""
        screen.line(f"{screen.paint(p.origin, 'cyan')}  {day(p.queued)} {p.state.value}{back}{why}")
