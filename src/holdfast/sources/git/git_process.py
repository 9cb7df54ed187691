"""Runs git on a repository that is not trusted.

Nothing in the repository's settings may start a program or reach the network: no file monitor, no
hook, no external diff, no fetch of what a partial clone lacks. The caller's GIT_* variables mean
another repository and are not passed on.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from holdfast.errors import InputError

# For short commands. `stream` has no limit: reading a long history takes minutes.
TIMEOUT_S = 20.0
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    # Larger files are treated as binary: their diffs would only be cut.
    "core.bigFileThreshold=512k",
    "diff.renameLimit=400",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
)
_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}


class Git:
    """Git in one folder, without network."""

    _timeout_s = TIMEOUT_S
    _settings = (*_SETTINGS, "protocol.allow=never")
    _protocols: str | None = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = [part for setting in self._settings for part in ("-c", setting)]
        self._command = ["git", "-C", str(folder), *settings]
        self._environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self._environment |= _ENVIRONMENT
        if self._protocols is not None:
            self._environment["GIT_ALLOW_PROTOCOL"] = self._protocols

    def query(self, *arguments: str, stdin: str = "") -> str:
        """The output of a short command, or "" where it fails."""
        try:
            done = self.attempt(*arguments, stdin=stdin.encode())
        except InputError:
            return ""
        return "" if done.returncode else done.stdout.decode("utf-8", "replace")

    def run(self, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
        """The output of a command; raises InputError where it fails."""
        done = self.attempt(*arguments, stdin=stdin, env=env)
        if done.returncode:
            raise InputError(
                f"git {arguments[0]} failed in {self.folder}: {error_line(done.stderr)}.",
                "Nothing was changed there; see what `git status` and `git fsck` say.",
            )
        return done.stdout

    def attempt(
        self, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command, and return its output and exit code."""
        try:
            return subprocess.run(
                [*self._command, *arguments],
                capture_output=True,
                timeout=self._timeout_s,
                env={**self._environment, **(env or {})},
                check=False,
                input=stdin,
            )
        except OSError as error:
            raise InputError(f"git cannot be run: {error.strerror}.", "Install git.") from error
        except subprocess.TimeoutExpired as error:
            raise InputError(
                f"git {arguments[0]} took longer than {self._timeout_s:.0f} seconds.",
                "Try again; nothing was changed.",
            ) from error

    @contextmanager
    def stream(self, *arguments: str, stdin: Iterable[str] = ()) -> Generator[IO[bytes]]:
        """The output of a long command, to be read while it runs; raises InputError if it fails in
        the end. Leaving the block stops the command."""
        with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as errors:
            lines.writelines(f"{line}\n".encode() for line in stdin)
            lines.seek(0)
            try:
                process = subprocess.Popen(
                    [*self._command, *arguments],
                    stdin=lines,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=self._environment,
                )
            except OSError as error:
                raise InputError(
                    f"git cannot be run: {error.strerror}.",
                    "Install git to read a repository's history.",
                ) from error
            assert process.stdout is not None
            try:
                yield process.stdout
                process.stdout.read()  # the rest, so that git does not wait for a reader
            finally:
                process.stdout.close()
                if process.poll() is None:
                    process.terminate()
                process.wait()
            if process.returncode > 0:
                errors.seek(0)
                self._fail(errors.read())

    def _fail(self, stderr: bytes) -> None:
        remedy = "Check it with `git fsck` and `git log` in that folder."
        if b"dubious ownership" in stderr:
            command = f"git config --global --add safe.directory {self.folder}"
            remedy = f"It belongs to another user. If you trust it: {command}"
        why = _prefixed_line(stderr) or "git failed"
        raise InputError(f"The history of {self.folder} cannot be read: {why}.", remedy)


class ConnectedGit(Git):
    """Git that may reach a remote, because the user asked for it; it never asks for a password."""

    # A fetch or a push over a slow line.
    _timeout_s = 120.0
    _settings = (*_SETTINGS, "protocol.ext.allow=never")
    _protocols = None


def error_line(stderr: bytes) -> str:
    """The line in which git says why it failed."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return _prefixed_line(stderr) or (lines[-1] if lines else "it did not say why")


def _prefixed_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    found = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    return found.partition(": ")[2]
