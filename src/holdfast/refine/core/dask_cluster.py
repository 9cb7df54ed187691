"""Runs work on a Dask cluster. Imported only when a cluster is configured: needs the extra `dask`.

The workers get the redacted text of sessions and return what is derived from it; they have no
access to the database. They must run the same version of Holdfast, which is checked before any
work is sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import distributed

from holdfast.errors import HoldfastError, InputError

# How long to wait for the scheduler and for its first worker. A cluster on the same network answers
# within a second; a longer wait delays the error for a wrong address.
_TIMEOUT_S = 10.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class DaskExecutor:
    """The workers behind `dask://host:port`, or `dask+tls://` with Dask's own certificates."""

    def __init__(
        self, address: str, version: Callable[[], str], timeout_s: float = _TIMEOUT_S
    ) -> None:
        """Connect and check the workers. `version` returns the version of Holdfast in the process
        that calls it; it is run on every worker."""
        self._address = address
        scheme, _, location = address.partition("://")
        protocol = "tls" if scheme == "dask+tls" else "tcp"
        self._client: Any
        try:
            self._client = distributed.Client(
                f"{protocol}://{location}", timeout=timeout_s, set_as_default=False
            )
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"No Dask scheduler answers at {address}: {error}.",
                "Start one (dask scheduler), or give a number of processes: --workers 4.",
            ) from error
        try:
            self._check_workers(version, timeout_s)
        except BaseException:
            self.close()
            raise

    def _check_workers(self, version: Callable[[], str], timeout_s: float) -> None:
        """Raise `InputError` if there are no workers, or if one has another version."""
        try:
            self._client.wait_for_workers(1, timeout=timeout_s)
            versions: dict[str, object] = self._client.run(version, on_error="return")
        except TimeoutError as error:
            raise InputError(
                f"The scheduler at {self._address} has no workers.",
                "Start some (dask worker), in an environment that has Holdfast.",
            ) from error
        own = version()
        for name, found in versions.items():
            if found != own:
                raise InputError(
                    f"The worker {name} does not have Holdfast {own}: {found}.",
                    "Install the same version where the workers run.",
                )
        self.size = sum(self._client.nthreads().values())

    def map(
        self, do: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """See `Executor.map`."""
        waiting: deque[tuple[Item, Any]] = deque()
        try:
            for item in items:
                # The scheduler resubmits the work of a worker that died.
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
        """Disconnect. The cluster keeps running."""
        self._client.close()
