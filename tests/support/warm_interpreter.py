"""The source of a Python that has imported the command line, and forks for each command it is sent.

Instead of a command it can be sent code. It runs as `python -c SOURCE FD [MODULE…]`, so that a fork
of it looks to Python like any other program; FD is a socket that listens. With modules it imports
those, otherwise what commands use.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import json
import os
import pkgutil
import resource
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from holdfast.interfaces.cli.main import main
from holdfast.regex import LazyPattern

# What commands import when they need it. Nothing here starts a thread, which a fork would lose.
PACKAGES = ("app", "brief", "capture", "hosts", "learn", "recall", "refine", "sources", "spend")
PACKAGES_BELOW = ("store.sqlite", "store.across_tables", "interfaces.cli")
MODULES = (
    "holdfast.inference.http_chat",
    "httpcore2",
    "httpx2",
    "holdfast.interfaces.cli.commands.worker",
)
# Dask, psycopg and FastAPI take longer than all the rest, and few commands use them.
LEFT_OUT = ("dask", ".scripts.", "evaluation", ".servers", "app.server", "migrate", "upgrade")
MOST_BYTES = 1 << 20
STREAMS = 4
READY = b"ready"


def import_all(wanted: list[str]) -> None:
    """Import some modules, or all that commands use."""
    for package in () if wanted else (*PACKAGES, *PACKAGES_BELOW):
        top = importlib.import_module(f"holdfast.{package}")
        for found in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
            if not any(part in found.name for part in LEFT_OUT):
                importlib.import_module(found.name)
    for module in wanted or MODULES:
        importlib.import_module(module)
    compile_patterns()
    gc.collect()
    gc.freeze()


def compile_patterns() -> None:
    """Compile the patterns that a command would compile on first use, a fifth of its time."""
    for found in gc.get_objects():
        if isinstance(found, LazyPattern):
            assert found.pattern is not None


def serve(listener: socket.socket) -> dict[str, Any] | None:
    """Fork for each request of the test processes that connect. Returns the request in the child,
    and None here when the last test process is gone. The last of the four open files of a request
    gets the child's id, and its status when it has ended."""
    listener.setblocking(False)
    woken = woken_by_children()
    running: dict[int, int] = {}
    clients: set[socket.socket] = set()
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if woken in ready:
                woken.recv(4096)
                report_ended(running)
            for client in clients.intersection(ready):
                request = receive(client)
                if request is None:
                    selector.unregister(client)
                    clients.remove(client)
                    client.close()
                elif fork(request["files"], running) == 0:
                    become_child([listener, *clients], running)
                    return request
            for client in waiting_clients(listener):
                selector.register(client, selectors.EVENT_READ)
                clients.add(client)
            if not clients:
                return None


def woken_by_children() -> socket.socket:
    """A socket that can be read from when a child has ended."""
    woken, wake = socket.socketpair()
    for end in (woken, wake):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake.detach())
    return woken


def waiting_clients(listener: socket.socket) -> Iterator[socket.socket]:
    """The test processes that want to connect, after they were greeted."""
    with suppress(BlockingIOError):
        while True:
            client, _ = listener.accept()
            with suppress(BrokenPipeError):  # its end is noticed when it is read from
                client.send(READY)
            yield client


def receive(client: socket.socket) -> dict[str, Any] | None:
    """A request and its open files, or None if the test process is gone."""
    files = array.array("i")
    try:
        space = socket.CMSG_SPACE(STREAMS * files.itemsize)
        data, messages, *_ = client.recvmsg(MOST_BYTES, space)
    except ConnectionResetError:
        return None
    if not data:
        return None
    files.frombytes(messages[0][2])
    return {**json.loads(data), "files": list(files)}


def fork(files: list[int], running: dict[int, int]) -> int:
    """Fork; returns 0 in the child. Here the files of the child are closed, but for the last."""
    child = os.fork()
    if child:
        for stream in files[:-1]:
            os.close(stream)
        running[child] = files[-1]
        os.write(files[-1], b"%d\n" % child)
    return child


def become_child(sockets: list[socket.socket], running: dict[int, int]) -> None:
    """Close what belongs to the parent, and handle signals as a new process does."""
    os.close(signal.set_wakeup_fd(-1))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for open_file in running.values():
        os.close(open_file)
    for open_socket in sockets:
        open_socket.close()


def report_ended(running: dict[int, int]) -> None:
    """Tell of every child that has ended how it did."""
    for child in list(running):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            report = running.pop(child)
            with suppress(BrokenPipeError):  # nobody waits for it
                os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
            os.close(report)


def run(request: dict[str, Any]) -> int:
    """Run the command or the code of a request, in its environment and with its files."""
    *streams, report = request["files"]
    os.set_inheritable(report, False)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Made anew: the old ones remember whether their file could be sought in.
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    # Whoever runs the tests may ignore Ctrl-C, and what is started then does so too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["file_size"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"], -1))
    if request["dies_after_s"] is not None:
        # Nothing handles this signal: the system ends the process where it is.
        signal.setitimer(signal.ITIMER_PROF, request["dies_after_s"])
    if request["code"] is None:
        sys.argv = ["holdfast", *request["arguments"]]
        status = main()
    else:
        sys.argv = ["-c", *request["arguments"]]
        exec(request["code"], {"__name__": "__main__"})
        status = 0
    used = resource.getrusage(resource.RUSAGE_SELF)
    os.write(report, b"cpu %f\n" % (used.ru_utime + used.ru_stime))
    return status


def leave(status: int) -> None:
    """End as Python does, but without taking apart all modules, most of which were never used."""
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    import_all(sys.argv[2:])
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        leave(run(asked))
