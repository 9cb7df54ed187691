"""Team servers: the list a person keeps of them, and queries to them along with a recall.

Only the redacted query is sent, and only for banks that are listed with a server. Replies are data:
redacted, attributed, trusted no more than the team, and never stored. A server that fails or is
late is paused for a while, so that work without a network is not slowed down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Thread
from time import monotonic, perf_counter
from typing import NamedTuple, TypeVar

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError, RemoteError, RemoteRefusedError
from holdfast.learn.share_drafts import TextCleaner
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.ranking.external_hits import REMOTE_KIND, RETRIEVER_PREFIX
from holdfast.settings import Settings
from holdfast.sources.providers.reliability import PausePolicy, Reliability, ReliabilityFile
from holdfast.sources.remote.client import (
    SERVER_TEXT_START,
    RemoteClient,
    RemoteRecord,
    timeout_error,
)
from holdfast.sources.remote.remote_config import (
    Remote,
    check_key,
    check_name,
    checked_address,
    default_name,
    read_remotes,
    write_remotes,
)
from holdfast.sources.rule_locations import project_root
from holdfast.store.protocol import Reader

_T = TypeVar("_T")
RELIABILITY_FILE = "remotes-seen.json"
# One failure pauses a server at once, because every query would wait for its timeout again.
PAUSE_POLICY = PausePolicy(failures=1, rest_s=30, longest_s=600)
# A query is cut to this length: a server needs no more to search, and less text leaves the machine.
MAX_QUERY_CHARS = 1_000
# How long a check on a person's command waits for a server.
TEST_TIMEOUT_S = 10.0
# The same query within this time shares one request: a search by words and the full one after it.
_REUSE_S = 10.0
# Once its time is up, a request needs this long at most to say so.
_REPORT_S = 0.8
# Requests that are remembered for that; all are dropped when there are more.
_MAX_REQUESTS = 32


class RemoteStatus(NamedTuple):
    """A server with its reliability; one that `is_paused` after failures is not queried."""

    remote: Remote
    reliability: Reliability
    is_paused: bool


class RemoteTest(NamedTuple):
    """The result of a check: its duration, the banks that the key gives access to, and those that
    are listed with the server and are not among them."""

    ms: int
    banks: tuple[str, ...]
    missing: tuple[str, ...]


class Remotes:
    """The servers that are listed in a home."""

    def __init__(self, settings: Settings, now: Callable[[], str]) -> None:
        self._file = settings.remotes
        self._now = now
        self._reliability = ReliabilityFile(settings.home, RELIABILITY_FILE, PAUSE_POLICY)

    def listed(self) -> list[RemoteStatus]:
        """All servers with their reliability, in the order of the file."""
        known, now = self._reliability.read(), self._now()
        found: list[RemoteStatus] = []
        for remote in read_remotes(self._file):
            state = known.get(_reliability_key(remote), Reliability())
            found.append(RemoteStatus(remote, state, state.is_paused(now)))
        return found

    def named(self, name: str = "") -> Remote:
        """The server with this name; without a name, the only one."""
        found = read_remotes(self._file)
        known = ", ".join(one.name for one in found)
        if not found:
            raise NotFoundError("No server is configured.", "Name one: holdfast remote add URL")
        if not name and len(found) > 1:
            raise InputError("Several servers are configured.", f"Say which: {known}.")
        chosen = next((one for one in found if name in ("", one.name)), None)
        if chosen is None:
            raise NotFoundError(f"There is no server {name!r}.", f"There are: {known}.")
        return chosen

    def make(
        self,
        url: str,
        key: str,
        banks: Sequence[tuple[str, str]],
        name: str = "",
        insecure: bool = False,
    ) -> Remote:
        """A server made of these values, which are checked; it is not saved."""
        address = checked_address(url, insecure)
        chosen = check_name(name or default_name(address))
        if any(one.name == chosen for one in read_remotes(self._file)):
            raise InputError(
                f"There is a server {chosen!r} already.",
                f"Remove it first (holdfast remote remove {chosen}), or give another --name.",
            )
        return Remote(chosen, address, check_key(key), tuple(banks), insecure, self._now())

    def add(self, remote: Remote) -> None:
        """Save a server."""
        write_remotes(self._file, [*read_remotes(self._file), remote])

    def remove(self, remote: Remote) -> None:
        """Delete a server and its key."""
        left = [one for one in read_remotes(self._file) if one.name != remote.name]
        write_remotes(self._file, left)

    def check(self, remote: Remote, timeout_s: float = TEST_TIMEOUT_S) -> RemoteTest:
        """Query a server, paused or not, for the banks that the key gives access to."""
        banks, ms = self.call(remote, RemoteClient(remote, timeout_s).banks)
        missing = tuple(there for _, there in remote.banks if there not in banks)
        return RemoteTest(round(ms), tuple(banks), missing)

    def call(self, remote: Remote, request: Callable[[], _T]) -> tuple[_T, float]:
        """The result of a request and its duration in milliseconds; how it went is recorded."""
        started = perf_counter()
        try:
            result = request()
        except RemoteError as error:
            self.record(remote, 0.0, error)
            raise
        ms = (perf_counter() - started) * 1000
        self.record(remote, ms)
        return result, ms

    def record(self, remote: Remote, ms: float, error: RemoteError | None = None) -> None:
        """Record how a request went, without the server's own text. Success is written at most
        once a minute."""
        now = self._now()
        known = self._reliability.read().get(_reliability_key(remote), Reliability())
        if error is None and not known.failures and known.last[:16] == now[:16]:
            return
        problem = error.message.partition(SERVER_TEXT_START)[0] if error else ""
        self._reliability.record(_reliability_key(remote), now, ms, problem)


def _reliability_key(remote: Remote) -> str:
    """Name and address, so that another server with the same name starts anew."""
    return f"{remote.name} {remote.url}"


class RemoteSearch:
    """Queries the servers; equal queries share one request."""

    def __init__(self, settings: Settings, now: Callable[[], str]) -> None:
        self._remotes = Remotes(settings, now)
        self._redactor = Redactor(settings.redact_patterns)
        self._timeout_s = settings.remote.wait_ms / 1000
        self._requests: dict[tuple[str, str, str], _Request] = {}

    def retrievers(
        self, reader: Reader, query: str, bank: str | None, name: str
    ) -> list[Retriever]:
        """A retriever for each bank of a server that matches our bank, which is given by its id,
        or, if it does not exist yet, by its name; None matches all. The requests start at once."""
        try:
            listed = self._remotes.listed()
        except InputError as error:
            return [_failing_retriever("servers", error.message)]
        cleaner = TextCleaner(self._redactor, project_root(str(Path.cwd())))
        cleaned = cleaner.clean(query)[:MAX_QUERY_CHARS]
        found: list[Retriever] = []
        for item in listed:
            remote = item.remote
            banks = _remote_banks(remote, bank, name)
            if banks and item.is_paused:
                until = item.reliability.resting_until[11:19]
                why = f"paused until {until}Z: {item.reliability.problem}"
                found.append(_failing_retriever(remote.name, why))
                continue
            own = {sent.there for sent in reader.outbox.items(remote.name)} if banks else set[str]()
            for remote_bank in banks:
                label = remote.name if len(banks) == 1 else f"{remote.name} ({remote_bank})"
                request = self._request(remote, remote_bank, cleaned)
                found.append(self._retriever(label, request, own))
        return found

    def _request(self, remote: Remote, bank: str, query: str) -> _Request:
        key = (remote.name, bank, query)
        known = self._requests.get(key)
        if known is not None and monotonic() - known.started < _REUSE_S:
            return known
        if len(self._requests) >= _MAX_REQUESTS:
            self._requests.clear()
        request = _Request(remote, bank, query, self._timeout_s, self._remotes.record)
        self._requests[key] = request
        return request

    def _retriever(self, label: str, request: _Request, own: Collection[str]) -> Retriever:
        def run(reader: object) -> RetrieverResult:
            # What this memory sent there is found here already.
            records = [r for r in request.wait() if f"holdfast://{r.name}" not in own]
            return RetrieverResult([self._passage(request.remote, r) for r in records])

        timeout_s = self._timeout_s + _REPORT_S
        return Retriever(f"{RETRIEVER_PREFIX}{label}", run, is_external=True, timeout_s=timeout_s)

    def _passage(self, remote: Remote, record: RemoteRecord) -> ScoredPassage:
        text = self._redactor.redact(record.text).text
        id = f"{remote.name}/{record.name}"
        passage = Passage("", REMOTE_KIND, id, "", record.time, text, trust=record.trust)
        return ScoredPassage(passage, record.score, self._redactor.redact(record.shared).text)


class _Request:
    """A running query, in a thread of its own: the name lookup of a server that cannot be reached
    may take longer than the timeout."""

    def __init__(
        self,
        remote: Remote,
        bank: str,
        query: str,
        timeout_s: float,
        record: Callable[[Remote, float, RemoteError | None], None],
    ) -> None:
        self.remote = remote
        self.started = monotonic()
        self._timeout_s = timeout_s
        self._record = record
        self._records: list[RemoteRecord] = []
        self._error: RemoteError | None = None
        self._ms = 0.0
        self._recorded = False
        name = f"ask {remote.name}"
        self._thread = Thread(target=self._run, args=(bank, query), name=name, daemon=True)
        self._thread.start()

    def _run(self, bank: str, query: str) -> None:
        try:
            self._records = RemoteClient(self.remote, self._timeout_s).recall(query, bank)
        except RemoteError as error:
            self._error = error
        self._ms = (monotonic() - self.started) * 1000

    def wait(self) -> list[RemoteRecord]:
        """The records that the server found; raises `RemoteError` if it failed or is late."""
        self._thread.join(max(0.0, self.started + self._timeout_s - monotonic()))
        error = timeout_error(self._timeout_s) if self._thread.is_alive() else self._error
        if not self._recorded:
            self._recorded = True
            self._record(self.remote, self._ms, error)
        if error is not None:
            raise error
        return self._records


def _remote_banks(remote: Remote, bank: str | None, name: str) -> list[str]:
    """The banks of a server that match a bank of ours; all that are listed for None."""
    if bank is None:
        return list(dict.fromkeys(listed for _, listed in remote.banks))
    found = remote.bank_for(bank, name)
    return [found] if found else []


def _failing_retriever(name: str, why: str) -> Retriever:
    def run(reader: object) -> RetrieverResult:
        raise RemoteRefusedError(why)

    return Retriever(f"{RETRIEVER_PREFIX}{name}", run, is_external=True)
