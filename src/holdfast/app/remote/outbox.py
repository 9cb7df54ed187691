"""Sending chosen records to a server: queued here first, then sent, tried again, taken back.

What is to be sent lies in the store until the server has said that it has it, so neither a dead
network nor a dead process loses or doubles anything: a line is known by its hash, and handing it in
twice is handing it in once. Only what was queued on a person's word is ever sent, only for banks
that are listed with the server, and not if it was forgotten since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any, NamedTuple, cast

from holdfast.app.core.context import Context, current_folder
from holdfast.app.remote.remote_search import Remotes
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError, RemoteError, RemoteRefusedError
from holdfast.learn.share_drafts import Draft, Sharer, TextCleaner, dated_after, draft_shares
from holdfast.model.ids import content_id
from holdfast.model.team import SHARED_SCOPES, Scope, SharedRecord
from holdfast.model.uris import parse_uri
from holdfast.sources.remote.client import Receipt, RemoteClient
from holdfast.sources.remote.remote_config import Remote
from holdfast.sources.rule_locations import project_root
from holdfast.sources.share_format import decode_from_client, encode_for_server
from holdfast.store.protocol.outbox import OutboxItem, OutboxState

SEND_TIMEOUT_S = 20.0
FIRST_PAUSE_S = 30
MAX_PAUSE_S = 3600
_MAX_BATCH_ITEMS = 20
# A server takes a million in one request.
_MAX_BATCH_BYTES = 400_000
_ACCEPTED_STATES = ("taken", "known")


class SendPlan(NamedTuple):
    """What sending would change on a server: what is new there, what is said anew, what it has in
    these words already, by name, and what is taken back."""

    remote: Remote
    bank: str
    remote_bank: str
    added: tuple[Draft, ...] = ()
    changed: tuple[Draft, ...] = ()
    unchanged: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether all is as it should be already."""
        return not (self.added or self.changed or self.withdrawn)


class PushReport(NamedTuple):
    """How a round of sending went: how many parcels are there now, were refused for good, were
    forgotten here since and so not sent, and still wait; and what went wrong."""

    sent: int = 0
    refused: int = 0
    dropped: int = 0
    waiting: int = 0
    problem: str = ""


class Outbox:
    """The way from a memory to servers."""

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
    ) -> SendPlan:
        """What sending some records would change."""
        if scope.value not in SHARED_SCOPES:
            raise InputError("What is personal is not sent.", "Choose project, team, organisation.")
        id = self._context.bank(bank).id
        told = SendPlan(remote, id, self._bank_there(remote, id))
        words = TextCleaner(
            Redactor(self._context.settings.redact_patterns), project_root(current_folder())
        )
        sharer = Sharer("", "", self._context.now(), note, scope)
        known = self._latest(remote.name, id)
        for one in draft_shares(self._store, id, names, words, sharer):
            before = known.get(one.shared.origin)
            if before is None:
                told = told._replace(added=(*told.added, one))
            elif before.mark == _content_hash(one.shared):
                told = told._replace(same=(*told.unchanged, one.shared.origin))
            else:
                dated = one._replace(shared=_dated_after(one.shared, before))
                told = told._replace(changed=(*told.changed, dated))
        return told

    def plan_withdrawal(self, names: Sequence[str], remote: Remote) -> SendPlan:
        """What taking back would change."""
        told = SendPlan(remote, "", "")
        for name in dict.fromkeys(names):
            found = _find_origin(self._store.outbox(remote.name), name)
            told = told._replace(gone=(*told.withdrawn, found))
        return told

    def queue(self, planned: SendPlan) -> None:
        """Put what was planned where it waits to be sent."""
        parcels = [self._parcel(planned, one.shared) for one in (*planned.added, *planned.changed)]
        with self._store.transaction():
            for parcel in parcels:
                self._drop_older(parcel, (OutboxState.WAITING, OutboxState.REFUSED))
                self._store.put_outbox_item(parcel)
            for origin in planned.withdrawn:
                self._take_back(planned.remote.name, origin)

    def withdraw_everywhere(self, bank: str, origins: Iterable[str]) -> None:
        """Have every server forget records that are erased here."""
        meant = set(origins)
        with self._store.transaction():
            held = [p for p in self._store.outbox() if p.bank == bank and not p.gone]
            for remote, origin in {(p.remote, p.origin) for p in held if p.origin in meant}:
                self._take_back(remote, origin)

    def push(self, name: str = "", due_only: bool = False) -> dict[str, PushReport]:
        """Send what waits, to one server or to all; with `due_only` not what failed just now. What
        became of it, by server."""
        known = [item.remote for item in self._remotes.listed()]
        chosen = [self._remotes.named(name)] if name else known
        return {remote.name: self._pushed(remote, due_only) for remote in chosen}

    def _pushed(self, remote: Remote, due_only: bool) -> PushReport:
        dropped = self._drop_forgotten(remote)
        told = PushReport(dropped=dropped)
        now = self._context.now()
        waiting = [p for p in self._store.outbox(remote.name) if p.state is OutboxState.WAITING]
        due = [p for p in waiting if not due_only or p.not_before <= now]
        for some in _batches(due):
            there = remote.bank_for(some[0].bank, self._context.bank_name(some[0].bank))
            try:
                told = self._sent(remote, there, some, told)
            except RemoteError as error:
                told = told._replace(problem=error.message)
                self._put_off(some, error.message)
                if not isinstance(error, RemoteRefusedError):
                    break  # one that is refused says nothing about the others
        left = [p for p in self._store.outbox(remote.name) if p.state is OutboxState.WAITING]
        return told._replace(waiting=len(left))

    def _sent(self, remote: Remote, there: str, some: Sequence[OutboxItem], told: PushReport) -> PushReport:
        """Send a portion, all of one bank. That it was tried is written down before."""
        if not there:
            raise RemoteRefusedError("the bank is not listed with it any more")
        self._put_off(some, "it was sent, and no answer has come yet")
        started = perf_counter()
        try:
            lines = [cast(dict[str, Any], json.loads(parcel.line)) for parcel in some]
            receipts = RemoteClient(remote, SEND_TIMEOUT_S).push(there, lines)
        except RemoteError as error:
            self._remotes.note(remote, 0.0, error)
            raise
        self._remotes.note(remote, (perf_counter() - started) * 1000)
        by_id = {receipt.id: receipt for receipt in receipts}
        with self._store.transaction():
            for parcel in some:
                told = self._settled(parcel, by_id.get(parcel.id), told)
        return told

    def _settled(self, parcel: OutboxItem, receipt: Receipt | None, told: PushReport) -> PushReport:
        if receipt is None:
            return told._replace(problem="it does not say what became of all that was sent")
        if receipt.state not in _ACCEPTED_STATES:
            why = receipt.why or receipt.state
            kept = parcel._replace(state=OutboxState.REFUSED, line="", problem=why)
            self._store.put_outbox_item(kept)
            return told._replace(refused=told.refused + 1)
        self._drop_older(parcel, tuple(OutboxState))
        if not parcel.gone:
            kept = parcel._replace(state=OutboxState.SENT, line="", problem="", there=receipt.name)
            self._store.put_outbox_item(kept)
        return told._replace(sent=told.sent + 1)

    def _put_off(self, some: Iterable[OutboxItem], problem: str) -> None:
        """Note that these were tried, and when they are tried again: later each time."""
        current = {(p.remote, p.id): p for p in self._store.outbox()}
        now = datetime.fromisoformat(self._context.now())
        with self._store.transaction():
            for parcel in some:
                known = current.get((parcel.remote, parcel.id))
                if known is None or known.state is not OutboxState.WAITING:
                    continue
                attempts = parcel.attempts + 1
                pause = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2 ** min(attempts - 1, 20))
                then = (now + timedelta(seconds=pause)).isoformat(timespec="milliseconds")
                self._store.put_outbox_item(
                    known._replace(
                        attempts=attempts,
                        not_before=then.replace("+00:00", "Z"),
                        problem=problem,
                    )
                )

    def _drop_forgotten(self, remote: Remote) -> int:
        """What was forgotten here since it was queued is not sent. One that was tried may be there
        already, and is sent on, so that it can be taken back."""
        new = [p for p in self._store.outbox(remote.name) if not (p.gone or _may_be_on_server(p))]
        gone = [p for p in new if p.state is OutboxState.WAITING and not self._is_shown(p)]
        with self._store.transaction():
            for parcel in gone:
                self._store.drop_outbox_item(parcel)
        return len(gone)

    def _is_shown(self, parcel: OutboxItem) -> bool:
        named = parse_uri(parcel.origin)
        found = self._store.find(parcel.bank, named.kind, named.id, 1) if named else []
        return any(named is not None and record.id == named.id for record in found)

    def _take_back(self, remote: str, origin: str) -> None:
        """Have a server forget what it was sent; what it cannot have got is only not sent."""
        parcels = self._of(remote, origin)
        tried = [p for p in parcels if p.state is not OutboxState.REFUSED and _may_be_on_server(p)]
        for parcel in parcels:
            if parcel.state is not OutboxState.SENT:
                self._store.drop_outbox_item(parcel)
        if not tried:
            return
        latest = max(tried, key=lambda parcel: parcel.queued)
        now = self._context.now()
        gone = SharedRecord("", "", "", "", "", "", "", now, origin, gone=True, scope=Scope.TEAM)
        line = encode_for_server(_dated_after(gone, latest))
        self._store.put_outbox_item(
            OutboxItem(
                latest.bank, remote, str(line["id"]), origin, json.dumps(line), "", True,
                OutboxState.WAITING, str(line["shared"]),
            )
        )  # fmt: skip

    def _of(self, remote: str, origin: str) -> list[OutboxItem]:
        return [parcel for parcel in self._store.outbox(remote) if parcel.origin == origin]

    def _drop_older(self, parcel: OutboxItem, states: Sequence[OutboxState]) -> None:
        for known in self._of(parcel.remote, parcel.origin):
            older = known.bank == parcel.bank and known.queued <= parcel.queued
            if older and known.state in states:
                self._store.drop_outbox_item(known)

    def _latest(self, remote: str, bank: str) -> dict[str, OutboxItem]:
        """What a server has, or will have, of each record."""
        found: dict[str, OutboxItem] = {}
        for parcel in self._store.outbox(remote):
            if parcel.bank == bank and parcel.state is not OutboxState.REFUSED:
                found[parcel.origin] = parcel
        return found

    def _bank_there(self, remote: Remote, id: str) -> str:
        name = self._context.bank_name(id)
        there = remote.bank_for(id, name)
        if not there:
            raise InputError(
                f"The bank {name} is not listed with {remote.name}. Nothing was sent.",
                f"`holdfast remote remove {remote.name}`, then add it with --bank {name}=REMOTE.",
            )
        return there

    def _parcel(self, planned: SendPlan, shared: SharedRecord) -> OutboxItem:
        line = encode_for_server(shared)
        if isinstance(why := decode_from_client(line, "me"), str):
            raise InputError(f"This cannot be shared: {why}.", "Share less at once.")
        return OutboxItem(
            planned.bank, planned.remote.name, str(line["id"]), shared.origin, json.dumps(line),
            _content_hash(shared), False, OutboxState.WAITING, shared.shared,
        )  # fmt: skip


def _content_hash(shared: SharedRecord) -> str:
    """A hash of what is said, whenever it is."""
    s = shared
    return content_id(s.kind, s.text, s.time, s.lineage, s.note, s.scope, *s.files)


def _dated_after(shared: SharedRecord, parcel: OutboxItem) -> SharedRecord:
    """A record dated behind a parcel, whatever the clock says."""
    known = SharedRecord("", "", "", "", "", "", "", parcel.queued, parcel.origin)
    return dated_after(shared, known)


def _may_be_on_server(parcel: OutboxItem) -> bool:
    return parcel.state is OutboxState.SENT or parcel.attempts > 0


def _batches(parcels: Sequence[OutboxItem]) -> list[list[OutboxItem]]:
    """Parcels in their order, some at once, each time those of one bank, and no more than a server
    takes in one request."""
    portions: list[list[OutboxItem]] = []
    room = 0
    for parcel in parcels:
        last = portions[-1] if portions else []
        room -= len(parcel.line)
        if not last or len(last) >= _MAX_BATCH_ITEMS or room < 0 or last[0].bank != parcel.bank:
            portions.append([])
            room = _MAX_BATCH_BYTES - len(parcel.line)
        portions[-1].append(parcel)
    return portions


def _find_origin(parcels: Sequence[OutboxItem], name: str) -> str:
    """The origin of what was sent and is called so, here or there, or begins so."""
    named = parse_uri(name)
    if named is None:
        raise InputError(f"{name!r} is not the name of a record.", "See `holdfast share --list`.")
    held = [p for p in parcels if not p.gone and p.state is not OutboxState.REFUSED]
    found = {
        parcel.origin
        for parcel in held
        for uri in (parse_uri(parcel.origin), parse_uri(parcel.there))
        if uri and named.kind in ("", uri.kind) and uri.id.startswith(named.id)
    }
    if len(found) == 1:
        return found.pop()
    if not found:
        raise NotFoundError(
            f"Nothing that was sent there is called {name}.", "See `holdfast share --list --to`."
        )
    raise NotFoundError(
        f"Several records start with {name!r}.", f"One of: {', '.join(sorted(found)[:5])}."
    )


def push_due(context: Context) -> str:
    """Send what waits and is due; what was done, in words."""
    waiting = [p for p in context.store.outbox() if p.state is OutboxState.WAITING]
    now = context.now()
    if not any(parcel.not_before <= now for parcel in waiting):
        return ""
    told: list[str] = []
    for name, done in Outbox(context).push(due_only=True).items():
        told += [f"{done.sent} sent to {name}"] * bool(done.sent)
        told += [f"{done.refused} refused by {name}"] * bool(done.refused)
        told += [f"{done.waiting} wait for {name}: {done.problem}"] * bool(done.problem)
    return "; ".join(told)
