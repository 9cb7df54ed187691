"""Servers of the team's: named by a person, asked along with this memory, left alone if they fail.

Only the question goes to them, without secrets, and only for banks that were listed with them. What
they say is data: redacted, attributed, trusted no better than the team, and never stored. One that
fails or is late is not asked again for a while, so that work without a network is not slowed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Thread
from time import monotonic, perf_counter
from typing import NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError, RemoteError, RemoteRefusedError
from holdfast.learn.share_drafts import TextCleaner
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.ranking.remote_hits import KIND, STRATEGY_PREFIX
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

RELIABILITY_FILE = "remotes-seen.json"
PAUSE_POLICY = PausePolicy(failures=1, rest_s=30, longest_s=600)
MAX_QUERY_CHARS = 1_000
TEST_TIMEOUT_S = 10.0
# The same question within so many seconds is one question.
_REUSE_S = 10.0
_MAX_REQUESTS = 32


class RemoteStatus(NamedTuple):
    """A server and what is known of it; one that is `resting` is not asked now."""

    remote: Remote
    reliability: Reliability
    is_paused: bool


class RemoteTest(NamedTuple):
    """How a test went: in how many milliseconds, the banks that the key opens, and those of ours
    that are listed with the server and are not among them."""

    ms: int
    banks: tuple[str, ...]
    missing: tuple[str, ...]


class Remotes:
    """The servers of a home."""

    def __init__(self, settings: Settings, now: Callable[[], str]) -> None:
        self._file = settings.remotes
        self._now = now
        self._book = ReliabilityFile(settings.home, RELIABILITY_FILE, PAUSE_POLICY)

    def listed(self) -> list[RemoteStatus]:
        """All of them, by name."""
        known, now = self._book.read(), self._now()
        found = [(one, known.get(_reliability_key(one), Reliability())) for one in read_remotes(self._file)]
        return [RemoteStatus(one, standing, standing.is_paused(now)) for one, standing in found]

    def named(self, name: str = "") -> Remote:
        """The one of a name; without a name, the only one."""
        found = read_remotes(self._file)
        known = ", ".join(one.name for one in found)
        if not found:
            raise NotFoundError("No server is named here.", "Name one: holdfast remote add URL")
        if not name and len(found) > 1:
            raise InputError("Several servers are named here.", f"Say which: {known}.")
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
        """A server as it would be kept."""
        kept = checked_address(url, insecure)
        chosen = check_name(name or default_name(kept))
        if any(one.name == chosen for one in read_remotes(self._file)):
            raise InputError(
                f"There is a server {chosen!r} already.",
                f"Remove it first (holdfast remote remove {chosen}), or give another --name.",
            )
        return Remote(chosen, kept, check_key(key), tuple(banks), insecure, self._now())

    def add(self, remote: Remote) -> None:
        """Keep a server."""
        write_remotes(self._file, [*read_remotes(self._file), remote])

    def remove(self, remote: Remote) -> None:
        """Keep it no longer, nor its key."""
        left = [one for one in read_remotes(self._file) if one.name != remote.name]
        write_remotes(self._file, left)

    def check(self, remote: Remote, patience_s: float = TEST_TIMEOUT_S) -> RemoteTest:
        """Ask a server which banks the key opens, whether it rests or not."""
        started = perf_counter()
        try:
            banks = RemoteClient(remote, patience_s).banks()
        except RemoteError as error:
            self.note(remote, 0.0, error)
            raise
        ms = (perf_counter() - started) * 1000
        self.note(remote, ms)
        missing = tuple(there for _, there in remote.banks if there not in banks)
        return RemoteTest(round(ms), tuple(banks), missing)

    def note(self, remote: Remote, ms: float, error: RemoteError | None = None) -> None:
        """Note how a server did, without its words. That it does well is written once a minute."""
        now = self._now()
        known = self._book.read().get(_reliability_key(remote), Reliability())
        if error is None and not known.failures and known.last[:16] == now[:16]:
            return
        problem = error.message.partition(SERVER_TEXT_START)[0] if error else ""
        self._book.record(_reliability_key(remote), now, ms, problem)


def _reliability_key(remote: Remote) -> str:
    """A server is known by its address as well: another one of the same name has another record."""
    return f"{remote.name} {remote.url}"


class RemoteSearch:
    """Puts questions to the servers, each question once."""

    def __init__(self, settings: Settings, now: Callable[[], str]) -> None:
        self._remotes = Remotes(settings, now)
        self._redactor = Redactor(settings.redact_patterns)
        self._patience_s = settings.remote.wait_ms / 1000
        self._requests: dict[tuple[str, str, str], _Request] = {}

    def retrievers(
        self, reader: Reader, question: str, bank: str | None, name: str
    ) -> list[Retriever]:
        """One for each bank of a server that is to be asked; they begin at once. Ours is meant by
        its id, or, where it is not there yet, by its name; None means all that are listed."""
        try:
            listed = self._remotes.listed()
        except InputError as error:
            return [_failing_retriever("servers", error.message)]
        asked = TextCleaner(self._redactor, project_root(str(Path.cwd()))).clean(question)[
            :MAX_QUERY_CHARS
        ]
        arms: list[Retriever] = []
        for item in listed:
            remote = item.remote
            there = _all(remote) if bank is None else _some(remote.bank_for(bank, name))
            if there and item.is_paused:
                until = item.reliability.resting_until[11:19]
                why = f"left alone until {until}Z: {item.reliability.problem}"
                arms.append(_failing_retriever(remote.name, why))
                continue
            ours = {parcel.there for parcel in reader.outbox(remote.name)} if there else set[str]()
            for one in there:
                label = remote.name if len(there) == 1 else f"{remote.name} ({one})"
                arms.append(self._arm(label, self._asked(remote, one, asked), ours))
        return arms

    def _asked(self, remote: Remote, bank: str, question: str) -> _Request:
        key = (remote.name, bank, question)
        known = self._requests.get(key)
        if known is not None and monotonic() - known.begun < _REUSE_S:
            return known
        if len(self._requests) >= _MAX_REQUESTS:
            self._requests.clear()
        made = _Request(remote, bank, question, self._patience_s, self._remotes.note)
        self._requests[key] = made
        return made

    def _arm(self, label: str, request: _Request, ours: Collection[str]) -> Retriever:
        def run(reader: object) -> RetrieverResult:
            said = [one for one in request.wait() if f"holdfast://{one.name}" not in ours]
            return RetrieverResult([self._find(request.remote, one) for one in said])

        return Retriever(f"{STRATEGY_PREFIX}{label}", run, is_external=True)

    def _find(self, remote: Remote, said: RemoteRecord) -> ScoredPassage:
        text = self._redactor.redact(said.text).text
        id = f"{remote.name}/{said.name}"
        passage = Passage("", KIND, id, "", said.time, text, trust=said.trust)
        return ScoredPassage(passage, said.score, self._redactor.redact(said.shared).text)


class _Request:
    """A question on its way, in a thread of its own: to look up the name of a server that cannot be
    reached may take longer than anybody waits."""

    def __init__(
        self,
        remote: Remote,
        bank: str,
        question: str,
        patience_s: float,
        note: Callable[[Remote, float, RemoteError | None], None],
    ) -> None:
        self.remote = remote
        self.begun = monotonic()
        self._bank = bank
        self._question = question
        self._patience_s = patience_s
        self._note = note
        self._said: list[RemoteRecord] = []
        self._error: RemoteError | None = None
        self._ms = 0.0
        self._noted = False
        self._thread = Thread(target=self._go, name=f"ask {remote.name}", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        try:
            self._said = RemoteClient(self.remote, self._patience_s).recall(
                self._question, self._bank
            )
        except RemoteError as error:
            self._error = error
        self._ms = (monotonic() - self.begun) * 1000

    def wait(self) -> list[RemoteRecord]:
        """What was said; an error where the server failed, or is late."""
        self._thread.join(max(0.0, self.begun + self._patience_s - monotonic()))
        error = timeout_error(self._patience_s) if self._thread.is_alive() else self._error
        if not self._noted:
            self._noted = True
            self._note(self.remote, self._ms, error)
        if error is not None:
            raise error
        return self._said


def _all(remote: Remote) -> list[str]:
    return list(dict.fromkeys(there for _, there in remote.banks))


def _some(name: str) -> list[str]:
    return [name] if name else []


def _failing_retriever(name: str, why: str) -> Retriever:
    def run(reader: object) -> RetrieverResult:
        raise RemoteRefusedError(why)

    return Retriever(f"{STRATEGY_PREFIX}{name}", run, is_external=True)
