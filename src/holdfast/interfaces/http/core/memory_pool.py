"""The memory behind a server. A connection belongs to its thread, and models take much memory and
are wanted once: so light questions go to a few threads, each with a memory of its own, and what
needs models, or changes anything, goes to one thread that does one thing after the other. What can
take minutes has one of its own, so that nobody who asks waits behind it."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import replace
from time import perf_counter
from typing import TypeVar

from holdfast.app.core.database_identity import standing
from holdfast.app.curation.review_queue import count_waiting
from holdfast.app.memory import Holdfast
from holdfast.errors import BusyError, HoldfastError, InputError, StoreError
from holdfast.interfaces.http.core.request_principal import owner, principal
from holdfast.principal import Principal
from holdfast.settings import NO_MODEL, Settings

READERS = 4
# More than this waiting is not being served but being buried.
MOST_WAITING = 200
_REMEMBERED = 500

T = TypeVar("T")
What = Callable[[Holdfast], T]


class Desk:
    """Where questions are handed in."""

    def __init__(
        self, settings: Settings, readers: int = READERS, most_waiting: int = MOST_WAITING
    ) -> None:
        self._settings = settings
        self._most_waiting = most_waiting
        self._readers = ThreadPoolExecutor(readers, "reader")
        self._engine = ThreadPoolExecutor(1, "engine")
        self._errands = ThreadPoolExecutor(1, "errand")
        self._own = threading.local()
        self._open: set[Holdfast] = set()
        self._waiting = 0
        self._doing = 0
        self._lock = threading.Lock()
        # How often the store failed, by the kind of failure.
        self.failed: Counter[str] = Counter()
        # How much waits for a person, as every page tells; by the banks that are seen.
        self._counted: dict[tuple[str, ...] | None, int] = {}
        # How many milliseconds the latest took, by the threads they went to.
        self.took = {
            "looks": deque[float](maxlen=_REMEMBERED),
            "work": deque[float](maxlen=_REMEMBERED),
            "errands": deque[float](maxlen=_REMEMBERED),
        }

    @property
    def settings(self) -> Settings:
        """Those of the memory, for what is done in the name of whoever asks."""
        who = principal()
        return replace(self._settings, principal=who) if who.key else self._settings

    @property
    def queued(self) -> int:
        """How much was handed in and is not done yet."""
        return self._waiting

    @property
    def waiting(self) -> int:
        """How much waits for a person who asks."""
        return self._counted.get(principal().banks, 0)

    async def as_owner(self, what: What[T]) -> T:
        """A look or a note of the server's own, in nobody else's name."""
        return await self._hand_in(self._readers, "looks", what, owner())

    async def read(self, what: What[T]) -> T:
        """A look into what is stored."""
        return await self._hand_in(self._readers, "looks", what, principal())

    async def work(self, what: What[T], also: tuple[str, ...] = ()) -> T:
        """What recalls, thinks or changes something; in other banks `also`, where what is done sees
        to it that only what is for everybody is told of them."""
        who = principal()
        wider = who if who.banks is None else who._replace(banks=(*who.banks, *also))
        return await self._hand_in(self._engine, "work", what, wider)

    async def think(self, what: What[T]) -> T:
        """What a model service may be asked for, if the settings name one; they take their time."""
        by_rules = self._settings.models.use == NO_MODEL
        return await (self.work(what) if by_rules else self.run_errand(what))

    async def run_errand(self, what: What[T]) -> T:
        """What can take long: it reads files in, makes copies, or waits for a model service."""
        return await self._hand_in(self._errands, "errands", what, principal())

    @property
    def is_busy(self) -> bool:
        """Whether a thread is at work."""
        return self._doing > 0

    def give_up(self) -> None:
        """Break off what is being asked of the store."""
        for memory in list(self._open):
            memory.store.interrupt()

    def refuse(self) -> None:
        """Begin nothing any more; who waits is told so."""
        for threads in (self._readers, self._engine, self._errands):
            threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Let go of everything; what was begun is finished first."""
        for threads in (self._readers, self._engine, self._errands):
            threads.shutdown(wait=True, cancel_futures=True)
        self._open.clear()

    async def _hand_in(self, threads: Executor, sort: str, what: What[T], who: Principal) -> T:
        if self._waiting >= self._most_waiting:
            raise BusyError("Too many questions at once.", "Ask again in a moment.")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            context = copy_context()
            done = lambda: self._done(sort, what, who)  # noqa: E731 - its type is known
            return await loop.run_in_executor(threads, lambda: context.run(done))
        finally:
            self._waiting -= 1

    def _done(self, sort: str, what: What[T], who: Principal) -> T:
        """Do it, with the memory as whoever asks may see and change it: there is no other way to
        one."""
        begun = perf_counter()
        with self._at_work():
            return self._done_by(begun, sort, what, who)

    @contextmanager
    def _at_work(self) -> Generator[None]:
        with self._lock:
            self._doing += 1
        try:
            yield
        finally:
            with self._lock:
                self._doing -= 1

    def _done_by(self, begun: float, sort: str, what: What[T], who: Principal) -> T:
        try:
            memory = self._memory()
        except StoreError as error:
            self.failed[type(error).__name__] += 1
            raise
        with memory.kept_to(who):
            try:
                return what(memory)
            except StoreError as error:
                self.failed[type(error).__name__] += 1
                raise
            except UnicodeEncodeError as error:
                raise InputError("The text holds half a character.", "Send whole ones.") from error
            finally:
                self.took[sort].append((perf_counter() - begun) * 1000)
                self._count(memory, who.banks)

    def _count(self, memory: Holdfast, banks: tuple[str, ...] | None) -> None:
        """Count what waits for a person, whenever this thread finds that anything was written."""
        known: dict[tuple[str, ...] | None, str] = self._own.__dict__.setdefault("counted", {})
        with suppress(HoldfastError):
            seen = memory.reader.generation()
            if seen != known.get(banks):
                if len(known) >= _REMEMBERED:
                    known.clear()
                    self._counted.clear()
                self._counted[banks] = count_waiting(memory)
                known[banks] = seen

    def _memory(self) -> Holdfast:
        """This thread's own, opened anew when the file is another one."""
        seen = standing(self._settings.database)
        known: tuple[object, Holdfast] | None = getattr(self._own, "memory", None)
        if known is None or known[0] != seen:
            if known is not None:
                self._open.discard(known[1])
                known[1].close()
            made = Holdfast(self._settings, create=False)
            self._open.add(made)
            self._own.memory = known = (seen, made)
        return known[1]
