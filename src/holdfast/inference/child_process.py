"""A program on a leash: it goes when we do, however we go, and at once when nobody wants it.

It is started by a few lines of shell that leave a watcher behind. The watcher reads a pipe that we
hold open; when that closes, be it by `kill -9`, it ends the program and removes the folder.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_DONE = b"done\n"
# Opened for writing too, the pipe can be opened without waiting for whoever holds the other end.
_SCRIPT = """\
#!/bin/sh
exec 3<>{pipe} 4<{pipe} 3>&-
(read word <&4; [ "$word" = done ] || {{ kill -9 $$; rm -rf {folder}; }}) \\
  </dev/null >/dev/null 2>&1 &
exec {program} "$@" 4<&-
"""


class Leash:
    """What to start instead of a program, and an empty folder for it to stand in."""

    def __init__(self, folder: Path, program: str) -> None:
        self.stand = folder / "here"
        self.stand.mkdir()
        self._end = -1
        script, pipe = folder / "start", folder / "pipe"
        parts = {"pipe": pipe, "folder": folder, "program": program}
        quoted = {name: shlex.quote(str(part)) for name, part in parts.items()}
        script.write_text(_SCRIPT.format(**quoted))
        script.chmod(0o700)
        # Where nothing may be executed, the program is started as it is.
        self.start = str(script) if os.access(script, os.X_OK) else program
        os.mkfifo(pipe, 0o600)
        # For reading too, or it would wait for somebody who reads.
        self._end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def cut(self) -> None:
        """Make the program end now."""
        end, self._end = self._end, -1
        if end >= 0:
            os.close(end)

    def drop(self) -> None:
        """Let go of a program that ended by itself."""
        if self._end >= 0:
            with suppress(OSError):
                os.write(self._end, _DONE)
        self.cut()


@contextmanager
def leashed(program: str) -> Generator[Leash]:
    """A leash for a program that is to be started once."""
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as folder:
        leash = Leash(Path(folder), program)
        try:
            yield leash
        finally:
            leash.cut()
