"""Who does what many can do at once: processes of this machine, or a Dask cluster that is named."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.refine.core.executor import Executor
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.regex import regex
from holdfast.version import __version__

_CLUSTER_ADDRESS = regex(r"dask(\+tls)?://[^/\s@?#]+:\d{1,5}/?")


class Executors(NamedTuple):
    """How many processes read files here, who derives (None: the same), and who embeds (None:
    threads of this process)."""

    readers: int
    derive: Executor | None = None
    embed: Executor | None = None


def worker_version() -> str:
    """The version of this program and of its rules, where this is called."""
    return f"{__version__}, rules {RULES_VERSION}"


def is_cluster(text: str) -> bool:
    """Whether a text names a cluster."""
    return _CLUSTER_ADDRESS.fullmatch(text) is not None


@contextmanager
def open_executors(workers: int | str) -> Generator[Executors]:
    """Hire so many processes, or the cluster at `dask://host:port`, for as long as this lasts."""
    if isinstance(workers, int):
        yield Executors(workers)
        return
    if not is_cluster(workers):
        raise InputError(
            f"{workers!r} names no workers.", "Give a number, or a cluster as dask://host:port."
        )
    crew = _connect(workers.rstrip("/"))
    try:
        yield Executors(os.cpu_count() or 1, crew, crew)
    finally:
        crew.close()


def _connect(address: str) -> Executor:
    try:
        from holdfast.refine.core import dask_cluster
    except ModuleNotFoundError as error:
        raise InputError(
            "A cluster needs Dask, which is not installed.",
            "pip install 'holdfast-memory[dask]', or give a number of processes: --workers 4.",
        ) from error
    crew: Executor = dask_cluster.DaskExecutor(address, worker_version)
    return crew
