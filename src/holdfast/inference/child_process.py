"""A child process that ends with this process, however that ends.

It is started by a few lines of shell that leave a watcher behind. The watcher reads a pipe that
this process holds open. When the pipe closes, be it by `kill -9`, the watcher kills the program and
removes its folder.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_DONE = b"done\n"
# The shell opens the pipe for writing too, so that opening does not wait for the other end.
_SCRIPT = """\
#!/bin/sh
exec 3<>{pipe} 4<{pipe} 3>&-
(read word <&4; [ "$word" = done ] || {{ kill -9 $$; rm -rf {folder}; }}) \\
  </dev/null >/dev/null 2>&1 &
exec {program} "$@" 4<&-
"""


class SupervisedProgram:
    """The command to start instead of a program, and an empty folder for it to work in."""

    def __init__(self, folder: Path, program: str) -> None:
        self.work_folder = folder / "here"
        self.work_folder.mkdir()
        self._pipe = -1
        self.command = program
        if not hasattr(os, "mkfifo"):  # Windows: the program is started without a watcher
            return
        script, pipe = folder / "start", folder / "pipe"
        parts = {"pipe": pipe, "folder": folder, "program": program}
        quoted = {name: shlex.quote(str(part)) for name, part in parts.items()}
        script.write_text(_SCRIPT.format(**quoted))
        script.chmod(0o700)
        # Where scripts cannot be executed, there is no watcher either.
        if os.access(script, os.X_OK):
            self.command = str(script)
        os.mkfifo(pipe, 0o600)
        # Opened for reading too, because opening would otherwise wait for a reader.
        self._pipe = os.open(pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def kill(self) -> None:
        """Kill the program now."""
        pipe, self._pipe = self._pipe, -1
        if pipe >= 0:
            os.close(pipe)

    def release(self) -> None:
        """Stop supervising a program that has ended by itself."""
        if self._pipe >= 0:
            with suppress(OSError):
                os.write(self._pipe, _DONE)
        self.kill()


@contextmanager
def supervise(program: str) -> Generator[SupervisedProgram]:
    """Supervise a program that is started once."""
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as folder:
        supervised = SupervisedProgram(Path(folder), program)
        try:
            yield supervised
        finally:
            supervised.kill()
