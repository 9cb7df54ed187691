"""A server over a memory with pending items of every kind, and its log of decisions."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.model.curation import Curation
from holdfast.settings import load_settings
from tests.interfaces.http.pages.test_review_page import fill
from tests.interfaces.http.rest.test_rest import send
from tests.refine.rules.test_rules import project
from tests.support.http.forms import PageClient, open_server_memory
from tests.support.http.server import Server, empty_home, serving


class LoggedServer(NamedTuple):
    """A server, the folder of its project, and its bank."""

    server: Server
    root: Path
    bank: str

    def log(self) -> list[Curation]:
        """Return every decision, the oldest first."""
        with open_server_memory(self.server) as memory:
            banks = memory.reader.banks.all()
            log = [entry for bank in banks for entry in memory.reader.curation.log(bank.id)]
        return sorted(log, key=lambda entry: entry.seq)

    def remember(self, text: str) -> str:
        """Store a memory with this text; return its id."""
        sent = {"text": text, "bank": self.bank}
        made = json.loads(send(self.server, "/memories", sent).text)
        return str(made["uri"]).removeprefix("holdfast://")

    def change(self, path: str, body: object, how: str = "POST") -> Any:
        """Send a change by REST; return the response."""
        got = send(self.server, path, body, how=how)
        assert got.status in (200, 201, 202), (path, got)
        return json.loads(got.text)

    def submit_form(self, path: str, form: dict[str, str]) -> None:
        """Submit a form of a page and require that it is accepted."""
        got = PageClient(self.server).post(path, form)
        assert got.status == 303, (path, got.status, got.text[-2000:])


@contextmanager
def serve_with_log(folder: Path) -> Generator[LoggedServer]:
    """Run a server over a memory with pending items of every kind."""
    root = project(folder)
    env = empty_home(folder)
    with Holdfast(load_settings(env)) as memory:
        fill(memory, root)
        bank = memory.banks.all()[0].id
    with serving(env, folder) as made:
        yield LoggedServer(made, root, bank)
