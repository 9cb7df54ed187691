"""A real server over a memory of the sample sessions, and requests to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.support.command_line import run_command
from tests.support.http.server_process import ServerProcess, running
from tests.support.run_folder import made_once

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "examples" / "sessions"
MAIN = (sys.executable, "-m", "holdfast")


class HttpResponse(NamedTuple):
    """A response of the server; status 0 if the connection was closed."""

    status: int
    text: str
    headers: Message


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any
    ) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


class Server(NamedTuple):
    """A running server; `token` signs in programs, the link `enter` one browser."""

    url: str
    enter: str
    token: str
    env: Mapping[str, str]

    @property
    def site(self) -> str:
        """Where a browser finds it: under a name of its own, at which cookies are taken."""
        return "{0.scheme}://{0.netloc}".format(urlsplit(self.enter))

    @property
    def as_browser(self) -> dict[str, str]:
        """The headers by which a request is one for the name that browsers use."""
        return {"Host": urlsplit(self.enter).netloc}

    def new_link(self) -> str:
        """A link that signs in one browser, as another `holdfast browse` prints it."""
        made = run_command(["browse", "--no-open", "--json"], self.env)
        assert made.returncode == 0, made.stderr
        told = json.loads(made.stdout)
        assert told["url"] == self.url
        return told["enter"]

    def ask(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        method: str | None = None,
    ) -> HttpResponse:
        """Send one request, with the token unless other headers are given."""
        with_token = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(
            self.url + path, body, dict(with_token if headers is None else headers), method=method
        )
        try:
            with _OPENER.open(request, timeout=60) as answer:
                return HttpResponse(answer.status, answer.read().decode(), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return HttpResponse(error.code, error.read().decode(), error.headers)
        except (urllib.error.URLError, ConnectionError):
            return HttpResponse(
                0, "", Message()
            )  # the server closed the connection before the request was complete


def empty_home(folder: Path) -> dict[str, str]:
    """Return an environment with an empty home."""
    (folder / "home").mkdir(mode=0o700)
    return {
        **os.environ,
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "HOME": str(folder),
    }


def make_home(folder: Path, *samples: Path, embed: bool = True) -> dict[str, str]:
    """Return an environment with a memory of sessions. The one of the sample sessions is made once
    in a test run and then copied. Without `embed`, further sessions are found by their words only,
    which takes a tenth of the time."""
    env = empty_home(folder)
    home = folder / "home"
    if SAMPLES in (samples or (SAMPLES,)):
        shutil.copytree(_sampled_home(), home, dirs_exist_ok=True)
    if more := [path for path in samples if path != SAMPLES]:
        _ingest(env, folder, *more, *(() if embed else ("--embed", "none")))
    return env


def _sampled_home() -> Path:
    """A home with the sample sessions, made once in a test run: embedding takes five seconds."""

    def make(folder: Path) -> None:
        _ingest(empty_home(folder), folder, SAMPLES)

    return made_once("sampled", make) / "home"


def _ingest(env: Mapping[str, str], folder: Path, *arguments: Path | str) -> None:
    run = run_command(["ingest", *map(str, arguments)], env, folder)
    assert run.returncode == 0, run.stderr


def read_startup_message(process: ServerProcess | subprocess.Popen[bytes]) -> dict[str, Any]:
    """Wait for the JSON that a server prints when it is ready, and return it."""
    assert process.stdout is not None
    told = ""
    while "}" not in told:
        line = process.stdout.readline().decode()
        assert line, process.stderr.read() if process.stderr else "the server did not start"
        told += line
    return json.loads(told)


@contextmanager
def serving(env: Mapping[str, str], folder: Path, *options: str) -> Generator[Server]:
    """Run a server over a memory."""
    command = ["browse", "--no-open", "--port", "0", "--json", *options]
    with running(command, env, folder) as process:
        found = read_startup_message(process)
        token = Path(found["token_file"]).read_text().strip()
        yield Server(found["url"], found["enter"], token, env)
