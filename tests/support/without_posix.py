"""Takes away from this process what Python on Windows does not have, then runs a command of
Holdfast: `python -m tests.support.without_posix COMMAND…`.

The standard library and the packages of others are imported first: they know Windows by other
means. What stays as on Linux: paths, and how processes are started.
"""

from __future__ import annotations

import _socket
import asyncio
import importlib
import importlib.abc
import multiprocessing.connection
import os
import pkgutil
import select
import selectors
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType

from tests.support.posix_tests import POSIX_MODULES

# Names that the documents of Python say to be for Unix alone, as far as anybody here
# could want them and the standard library does not need them itself to run on Linux.
NAMES = {
    os: "chown fchmod fchown fork forkpty getegid geteuid getgid getloadavg getpgid getpgrp getsid "
    "getuid killpg lchown mkfifo nice O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC pipe2 "
    "posix_spawn posix_spawnp sched_getaffinity setpgid setsid setuid sysconf",
    signal: "SIGALRM SIGCHLD SIGHUP SIGPIPE SIGQUIT SIGUSR1 SIGUSR2 SIGWINCH alarm "
    "getitimer pause pthread_kill pthread_sigmask setitimer",
    socket: "AF_UNIX",
    _socket: "AF_UNIX",
}
# Started as programs of their own, where there is a POSIX system only.
POSIX_PROGRAMS = ("holdfast.hosts.claude_code.scripts",)
_USED_FIRST = (asyncio, multiprocessing.connection, select, selectors, shutil, ssl, subprocess)


class _Absent(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in POSIX_MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def take_away() -> None:
    """Let this process have what Windows has. Locks know the system by its name, and are tried with
    a stand-in for `msvcrt` elsewhere, so they stay."""
    tempfile.gettempdir()
    importlib.import_module("holdfast.locks")
    del sys.modules["holdfast.operating_system"]
    pair = partial(socket.socketpair, socket.AF_UNIX)
    socket.socketpair = lambda: pair()  # as on Windows, where it is made of other sockets
    for module, names in NAMES.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for name in POSIX_MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Absent())


def import_everything() -> list[str]:
    """Import every module of Holdfast; returns what failed."""
    package = importlib.import_module("holdfast")
    failed: list[str] = []
    for found in pkgutil.walk_packages(package.__path__, "holdfast.", failed.append):
        if found.name.startswith(POSIX_PROGRAMS) or found.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(found.name)
        except (ImportError, AttributeError) as error:
            failed.append(f"{found.name}: {error}")
    return failed


def main() -> int:
    """Run what the command line says."""
    if sys.argv[1:] == ["import everything"]:
        with suppress(ImportError):
            importlib.import_module("distributed")  # takes `resource` for granted on Linux
        take_away()
        failed = import_everything()
        sys.stdout.write("\n".join(failed))
        return bool(failed)
    take_away()
    return importlib.import_module("holdfast.interfaces.cli.main").main()


if __name__ == "__main__":
    sys.exit(main())
