"""A Dask cluster as a crew. Loaded only where one is named: it needs the extra `dask`.

What is sent there are the words of sessions, with secrets taken out, and what comes back is
derived from them; the cluster neither needs nor gets the memory itself. Its workers must have this
very version of Holdfast, which is looked at before anything is sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import distributed

from holdfast.errors import HoldfastError, InputError

_TIMEOUT_S = 10.0

Item = TypeVar("Item")
Result = TypeVar("Made")


class DaskExecutor:
    """The workers behind a scheduler: `dask://host:port`, or `dask+tls://` with the certificates
    of Dask's own configuration."""

    def __init__(self, address: str, who: Callable[[], str], wait_s: float = _TIMEOUT_S) -> None:
        """Find the cluster; `who` tells the version of this program wherever it is called."""
        self._address = address
        scheme, _, place = address.partition("://")
        protocol = "tls" if scheme == "dask+tls" else "tcp"
        self._client: Any
        try:
            self._client = distributed.Client(
                f"{protocol}://{place}", timeout=wait_s, set_as_default=False
            )
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"No Dask scheduler answers at {address}: {error}.",
                "Start one (dask scheduler), or give a number of processes: --workers 4.",
            ) from error
        try:
            self._check_workers(who, wait_s)
        except BaseException:
            self.close()
            raise

    def _check_workers(self, who: Callable[[], str], wait_s: float) -> None:
        """Refuse a cluster without workers, or with those of another version."""
        try:
            self._client.wait_for_workers(1, timeout=wait_s)
            told: dict[str, object] = self._client.run(who, on_error="return")
        except TimeoutError as error:
            raise InputError(
                f"The scheduler at {self._address} has no workers.",
                "Start some (dask worker), in an environment that has Holdfast.",
            ) from error
        other = {name: what for name, what in told.items() if what != who()}
        if other:
            name, what = next(iter(other.items()))
            raise InputError(
                f"The worker {name} does not have Holdfast {who()}: {what}.",
                "Install the same version where the workers run.",
            )
        self.size = sum(self._client.nthreads().values())

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """Do it with each thing; each with what was made of it, in order."""
        waiting: deque[tuple[Item, Any]] = deque()
        try:
            for item in items:
                # The scheduler gives out anew what a worker had that died.
                future = self._client.submit(do, item, pure=False, retries=1)
                waiting.append((item, future))
                if len(waiting) > self.size + 1:
                    yield self._next_result(waiting)
            while waiting:
                yield self._next_result(waiting)
        finally:
            for _, future in waiting:
                future.cancel()

    def _next_result(self, waiting: deque[tuple[Item, Any]]) -> tuple[Item, Any]:
        item, future = waiting.popleft()
        try:
            return item, future.result()
        except distributed.KilledWorker:
            return item, None
        except (OSError, distributed.CancelledError, distributed.TimeoutError) as error:
            raise HoldfastError(
                f"The cluster at {self._address} is gone: {type(error).__name__}.",
                "Run the same command again; it goes on where it was.",
            ) from error

    def close(self) -> None:
        """Let the cluster go; it stays for others."""
        self._client.close()
