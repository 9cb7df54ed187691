"""A server over a memory in which something of every kind waits, and its log of decisions."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.model.curation import Curation
from holdfast.settings import load_settings
from tests.interfaces.http.api.test_api import send
from tests.interfaces.http.pages.test_review_page import fill
from tests.refine.rules.test_rules import project
from tests.support.http.forms import Visitor, remembering
from tests.support.http.server import Server, empty_home, serving


class Place(NamedTuple):
    """A server, the folder of its project, and its bank."""

    server: Server
    root: Path
    bank: str

    def log(self) -> list[Curation]:
        """All that was decided, oldest first."""
        with remembering(self.server) as memory:
            banks = memory.reader.banks.all()
            log = [entry for bank in banks for entry in memory.reader.curation.log(bank.id)]
        return sorted(log, key=lambda entry: entry.seq)

    def kept(self, text: str) -> str:
        """A memory of these words, made for it; its name."""
        sent = {"text": text, "bank": self.bank}
        made = json.loads(send(self.server, "/memories", sent).text)
        return str(made["uri"]).removeprefix("holdfast://")

    def did(self, path: str, body: object, how: str = "POST") -> Any:
        """What a program is told that changes something."""
        got = send(self.server, path, body, how=how)
        assert got.status in (200, 201, 202), (path, got)
        return json.loads(got.text)

    def visit(self, path: str, form: dict[str, str]) -> None:
        """A form that was filled in on a page, and taken."""
        got = Visitor(self.server).post(path, form)
        assert got.status == 303, (path, got.status, got.text[-2000:])


@contextmanager
def placed(folder: Path) -> Generator[Place]:
    """One for as long as it is wanted."""
    root = project(folder)
    env = empty_home(folder)
    with Holdfast(load_settings(env)) as memory:
        fill(memory, root)
        bank = memory.banks.all()[0].id
    with serving(env, folder) as made:
        yield Place(made, root, bank)
