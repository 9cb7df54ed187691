"""The executors of parallel work: processes of this machine, or a Dask cluster."""

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
    """How many local processes read files, which executor derives sessions (None: those processes),
    and which one embeds (None: threads of this process)."""

    readers: int
    derive: Executor | None = None
    embed: Executor | None = None


def worker_version() -> str:
    """The versions of the program and of its rules in the process that runs this. Workers of a
    cluster must have the same."""
    return f"{__version__}, rules {RULES_VERSION}"


def is_cluster(text: str) -> bool:
    """Whether a text is the address of a cluster."""
    return _CLUSTER_ADDRESS.fullmatch(text) is not None


@contextmanager
def open_executors(workers: int | str) -> Generator[Executors]:
    """Executors for so many local processes, or for the cluster at `dask://host:port`, which is
    disconnected at the end of the block."""
    if isinstance(workers, int):
        yield Executors(workers)
        return
    if not is_cluster(workers):
        raise InputError(
            f"{workers!r} is not a number of workers.",
            "Give a number, or a cluster as dask://host:port.",
        )
    try:
        from holdfast.refine.core import dask_cluster
    except ModuleNotFoundError as error:
        raise InputError(
            "A cluster needs Dask, which is not installed.",
            "pip install 'holdfast-memory[dask]', or give a number of processes: --workers 4.",
        ) from error
    executor = dask_cluster.DaskExecutor(workers.rstrip("/"), worker_version)
    try:
        yield Executors(os.cpu_count() or 1, executor, executor)
    finally:
        executor.close()
