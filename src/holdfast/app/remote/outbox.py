"""The outbox: records that a person chose to send to a team server, queued, sent and withdrawn.

An item stays in the store until the server has confirmed it, so neither a network failure nor a
crash loses or duplicates anything: the server knows a line by its hash, and a line that is sent
twice is stored once. Only what a person queued is sent, only for banks that are listed with the
server, and not if it was forgotten since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from holdfast.app.core.context import Context, current_folder
from holdfast.app.remote.remote_search import Remotes
from holdfast.errors import InputError, NotFoundError, RemoteError, RemoteRefusedError
from holdfast.learn.share_drafts import Draft, Sharer, TextCleaner, dated_after, draft_shares
from holdfast.model.ids import content_id
from holdfast.model.team import SHARED_SCOPES, Scope, SharedRecord
from holdfast.model.uris import parse_uri
from holdfast.sources.remote.client import Receipt, RemoteClient
from holdfast.sources.remote.remote_config import Remote
from holdfast.sources.rule_locations import project_root
from holdfast.sources.share_format import decode_from_client, encode_for_server
from holdfast.store.records.outbox import OutboxItem, OutboxState
from holdfast.times import add_seconds

# How long one request of sending may take; it runs in the background or on a person's command.
SEND_TIMEOUT_S = 20.0
# The pause after the first failure; it doubles with each further one up to the longest. Shorter
# pauses notice sooner that a server is back, and query a dead one more often.
FIRST_PAUSE_S = 30
MAX_PAUSE_S = 3600
# Items in one request, and their bytes: a server accepts a million bytes.
_MAX_BATCH_ITEMS = 20
_MAX_BATCH_BYTES = 400_000
# What a server replies about an item that it has now.
_ACCEPTED_STATES = ("taken", "known")


class SharePlan(NamedTuple):
    """What sharing records changes: drafts that are new or changed, names that are the same as
    before, and records that are taken back. `place` is a repository, or the name of a server with
    the bank `there`; `name` is in whose name."""

    bank: str
    place: str
    name: str
    scope: Scope
    there: str = ""
    added: tuple[Draft, ...] = ()
    changed: tuple[Draft, ...] = ()
    same: tuple[str, ...] = ()
    taken_back: tuple[SharedRecord, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to change."""
        return not (self.added or self.changed or self.taken_back)


class PushReport(NamedTuple):
    """How many items the server accepted or refused, how many were dropped because they were
    forgotten here, and how many still wait; and the last problem."""

    sent: int = 0
    refused: int = 0
    dropped: int = 0
    waiting: int = 0
    problem: str = ""


class Outbox:
    """The outbox of a memory, for all servers."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store
        self._remotes = Remotes(context.settings, context.now)

    def plan_send(
        self,
        names: Sequence[str],
        remote: Remote,
        scope: Scope = Scope.TEAM,
        note: str = "",
        bank: str | None = None,
    ) -> SharePlan:
        """What sending these records would change."""
        if scope.value not in SHARED_SCOPES:
            raise InputError(
                "Personal records are not sent.", "Choose project, team, organisation."
            )
        id = self._context.bank(bank).id
        name = self._context.bank_name(id)
        there = remote.bank_for(id, name)
        if not there:
            raise InputError(
                f"The bank {name} is not listed with {remote.name}. Nothing was sent.",
                f"`holdfast remote remove {remote.name}`, then add it with --bank {name}=REMOTE.",
            )
        cleaner = TextCleaner(self._context.redactor(), project_root(current_folder()))
        sharer = Sharer("", "", self._context.now(), note, scope)
        known = {
            item.origin: item
            for item in self._store.outbox.items(remote.name)
            if item.bank == id and item.state is not OutboxState.REFUSED
        }
        added: list[Draft] = []
        changed: list[Draft] = []
        same: list[str] = []
        for draft in draft_shares(self._store, id, names, cleaner, sharer):
            sent = known.get(draft.shared.origin)
            if sent is None:
                added.append(draft)
            elif sent.mark == _content_hash(draft.shared):
                same.append(draft.shared.origin)
            else:
                changed.append(draft._replace(shared=_dated_after(draft.shared, sent)))
        return SharePlan(
            id, remote.name, "your key", scope, there, tuple(added), tuple(changed), tuple(same)
        )

    def plan_withdrawal(self, names: Sequence[str], remote: Remote) -> SharePlan:
        """What withdrawing these records would change."""
        sent = self._store.outbox.items(remote.name)
        gone = tuple(_gone(_find_origin(sent, name)) for name in dict.fromkeys(names))
        return SharePlan("", remote.name, "your key", Scope.TEAM, taken_back=gone)

    def queue(self, plan: SharePlan) -> None:
        """Queue the changes of a plan; `push` sends them."""
        items = [_item(plan, draft.shared) for draft in (*plan.added, *plan.changed)]
        with self._store.transaction():
            for item in items:
                self._drop_older(item, (OutboxState.WAITING, OutboxState.REFUSED))
                self._store.outbox.put(item)
            for one in plan.taken_back:
                self._withdraw(plan.place, one.origin)

    def withdraw_everywhere(self, bank: str, origins: Iterable[str]) -> None:
        """Queue the withdrawal, from every server, of records that are erased here."""
        erased = set(origins)
        with self._store.transaction():
            sent = [
                item for item in self._store.outbox.items() if item.bank == bank and not item.gone
            ]
            for remote, origin in {(s.remote, s.origin) for s in sent if s.origin in erased}:
                self._withdraw(remote, origin)

    def push(self, name: str = "", due_only: bool = False) -> dict[str, PushReport]:
        """Send the waiting items to one server, or to all; with `due_only` not those that pause
        after a failure. Returns a report by server."""
        listed = self._remotes.listed()
        chosen = [self._remotes.named(name)] if name else [item.remote for item in listed]
        return {remote.name: self._push(remote, due_only) for remote in chosen}

    def _push(self, remote: Remote, due_only: bool) -> PushReport:
        report = PushReport(dropped=self._drop_forgotten(remote))
        now = self._context.now()
        due = [item for item in self._waiting(remote) if not due_only or item.not_before <= now]
        for batch in _batches(due):
            remote_bank = remote.bank_for(batch[0].bank, self._context.bank_name(batch[0].bank))
            try:
                report = self._send(remote, remote_bank, batch, report)
            except RemoteError as error:
                report = report._replace(problem=error.message)
                self._put_off(batch, error.message)
                if not isinstance(error, RemoteRefusedError):
                    break  # a refusal concerns only this batch, another failure all of them
        return report._replace(waiting=len(self._waiting(remote)))

    def _waiting(self, remote: Remote) -> list[OutboxItem]:
        items = self._store.outbox.items(remote.name)
        return [item for item in items if item.state is OutboxState.WAITING]

    def _send(
        self, remote: Remote, remote_bank: str, batch: Sequence[OutboxItem], report: PushReport
    ) -> PushReport:
        """Send a batch of one bank. The attempt is recorded first, so that it counts even if this
        process dies."""
        if not remote_bank:
            raise RemoteRefusedError("the server no longer lists the bank")
        self._put_off(batch, "it was sent, and no answer has come yet")
        lines = [cast(dict[str, Any], json.loads(item.line)) for item in batch]
        client = RemoteClient(remote, SEND_TIMEOUT_S)
        receipts, _ = self._remotes.call(remote, lambda: client.push(remote_bank, lines))
        by_id = {receipt.id: receipt for receipt in receipts}
        with self._store.transaction():
            for item in batch:
                report = self._record_receipt(item, by_id.get(item.id), report)
        return report

    def _record_receipt(
        self, item: OutboxItem, receipt: Receipt | None, report: PushReport
    ) -> PushReport:
        if receipt is None:
            return report._replace(problem="its answer does not list all that was sent")
        if receipt.state not in _ACCEPTED_STATES:
            why = receipt.why or receipt.state
            updated = item._replace(state=OutboxState.REFUSED, line="", problem=why)
            self._store.outbox.put(updated)
            return report._replace(refused=report.refused + 1)
        self._drop_older(item, tuple(OutboxState))
        if not item.gone:
            updated = item._replace(state=OutboxState.SENT, line="", problem="", there=receipt.name)
            self._store.outbox.put(updated)
        return report._replace(sent=report.sent + 1)

    def _put_off(self, items: Iterable[OutboxItem], problem: str) -> None:
        """Record an attempt for these items, and when the next one is due: later each time."""
        current = {(p.remote, p.id): p for p in self._store.outbox.items()}
        now = self._context.now()
        with self._store.transaction():
            for item in items:
                known = current.get((item.remote, item.id))
                if known is None or known.state is not OutboxState.WAITING:
                    continue
                # The exponent is limited only to keep the number small.
                pause = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2 ** min(item.attempts, 20))
                self._store.outbox.put(
                    known._replace(
                        attempts=item.attempts + 1,
                        not_before=add_seconds(now, pause),
                        problem=problem,
                    )
                )

    def _drop_forgotten(self, remote: Remote) -> int:
        """Drop items whose record was forgotten here since. One that was tried before stays: the
        server may have it, and only an item that was sent can be withdrawn."""
        new = [
            p for p in self._store.outbox.items(remote.name) if not (p.gone or _may_be_on_server(p))
        ]
        gone = [p for p in new if p.state is OutboxState.WAITING and not self._is_shown(p)]
        with self._store.transaction():
            for item in gone:
                self._store.outbox.drop(item)
        return len(gone)

    def _is_shown(self, item: OutboxItem) -> bool:
        named = parse_uri(item.origin)
        found = self._store.records.find(item.bank, named.kind, named.id, 1) if named else []
        return any(named is not None and record.id == named.id for record in found)

    def _withdraw(self, remote: str, origin: str) -> None:
        """Queue the withdrawal of a record; an item that the server cannot have is only dropped."""
        items = self._items_of(remote, origin)
        tried = [p for p in items if p.state is not OutboxState.REFUSED and _may_be_on_server(p)]
        for item in items:
            if item.state is not OutboxState.SENT:
                self._store.outbox.drop(item)
        if not tried:
            return
        latest = max(tried, key=lambda item: item.queued)
        gone = _gone(origin, self._context.now())
        line = encode_for_server(_dated_after(gone, latest))
        self._store.outbox.put(
            OutboxItem(
                latest.bank, remote, str(line["id"]), origin, json.dumps(line), "", True,
                OutboxState.WAITING, str(line["shared"]),
            )
        )  # fmt: skip

    def _items_of(self, remote: str, origin: str) -> list[OutboxItem]:
        return [item for item in self._store.outbox.items(remote) if item.origin == origin]

    def _drop_older(self, item: OutboxItem, states: Sequence[OutboxState]) -> None:
        for known in self._items_of(item.remote, item.origin):
            older = known.bank == item.bank and known.queued <= item.queued
            if older and known.state in states:
                self._store.outbox.drop(known)


def _gone(origin: str, now: str = "") -> SharedRecord:
    """A record that is taken back."""
    return SharedRecord("", "", "", "", "", "", "", now, origin, gone=True, scope=Scope.TEAM)


def _item(plan: SharePlan, shared: SharedRecord) -> OutboxItem:
    line = encode_for_server(shared)
    if isinstance(problem := decode_from_client(line, "me"), str):
        raise InputError(f"This cannot be shared: {problem}.", "Share less at once.")
    return OutboxItem(
        plan.bank, plan.place, str(line["id"]), shared.origin, json.dumps(line),
        _content_hash(shared), False, OutboxState.WAITING, shared.shared,
    )  # fmt: skip


def _content_hash(shared: SharedRecord) -> str:
    """A hash of the content, without the time of sharing."""
    s = shared
    return content_id(s.kind, s.text, s.time, s.lineage, s.note, s.scope, *s.files)


def _dated_after(shared: SharedRecord, item: OutboxItem) -> SharedRecord:
    """The record with a time of sharing after the item's, even if the clock was set back."""
    known = SharedRecord("", "", "", "", "", "", "", item.queued, item.origin)
    return dated_after(shared, known)


def _may_be_on_server(item: OutboxItem) -> bool:
    return item.state is OutboxState.SENT or item.attempts > 0


def _batches(items: Sequence[OutboxItem]) -> list[list[OutboxItem]]:
    """The items in order, in batches of one bank each that fit into a request."""
    batches: list[list[OutboxItem]] = []
    room = 0
    for item in items:
        last = batches[-1] if batches else []
        room -= len(item.line)
        if not last or len(last) >= _MAX_BATCH_ITEMS or room < 0 or last[0].bank != item.bank:
            batches.append([])
            room = _MAX_BATCH_BYTES - len(item.line)
        batches[-1].append(item)
    return batches


def _find_origin(items: Sequence[OutboxItem], name: str) -> str:
    """The origin of the item whose URI, here or on the server, is or starts with `name`."""
    named = parse_uri(name)
    if named is None:
        raise InputError(f"{name!r} is not the name of a record.", "See `holdfast share --list`.")
    sent = [p for p in items if not p.gone and p.state is not OutboxState.REFUSED]
    found = {
        item.origin
        for item in sent
        for uri in (parse_uri(item.origin), parse_uri(item.there))
        if uri and named.kind in ("", uri.kind) and uri.id.startswith(named.id)
    }
    if len(found) == 1:
        return found.pop()
    if not found:
        raise NotFoundError(
            f"No record {name!r} was sent there.", "See `holdfast share --list --to`."
        )
    raise NotFoundError(
        f"Several records start with {name!r}.", f"One of: {', '.join(sorted(found)[:5])}."
    )


def push_due(context: Context) -> str:
    """Send the items that are due; returns a sentence about it, "" if none was."""
    waiting = [p for p in context.store.outbox.items() if p.state is OutboxState.WAITING]
    now = context.now()
    if not any(item.not_before <= now for item in waiting):
        return ""
    parts: list[str] = []
    for name, done in Outbox(context).push(due_only=True).items():
        parts += [f"{done.sent} sent to {name}"] * bool(done.sent)
        parts += [f"{done.refused} refused by {name}"] * bool(done.refused)
        parts += [f"{done.waiting} wait for {name}: {done.problem}"] * bool(done.problem)
    return "; ".join(parts)
