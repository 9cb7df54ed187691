"""A memory with two banks that have as much to tell, and what only the second of them may tell."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Network
from holdfast.model.ledgers.injections import Injection, InjectionKind
from holdfast.settings import Settings, load_settings
from tests.refine.rules.test_rules import git, project, put
from tests.support.transcripts import Script

Row = tuple[object, ...]
# In which tables lies what can be asked for by name, and by which word.
_WORDS = {
    "session": "session", "turn": "turn", "exchange": "exchange", "digest": "digest",
    "commit": "commit", "fact": "fact", "concept": "concept", "entity": "entity",
    "remembered": "memory", "retained": "memory", "hidden": "memory", "rule": "rule",
    "pattern": "pattern", "review": "review", "proposal": "proposal", "injection": "injection",
    "pull": "pull", "issue": "issue", "opinion": "opinion", "research": "research",
}  # fmt: skip


class Side(NamedTuple):
    """One bank: its name, the word it is asked for by, and the word that stands in all its texts
    and that nobody asks for."""

    name: str
    asked: str
    hidden: str


OWN = Side("slipway", "Bramble", "Ossifrage")
OTHER = Side("strongroom", "Quillon", "Zyzzyva")


class Named(NamedTuple):
    """What a bank can be asked for by: its own names, and the ids of what is in it, by table."""

    id: str
    names: tuple[str, ...]
    ids: Mapping[str, tuple[str, ...]]

    def records(self) -> list[tuple[str, str]]:
        """The id of a record of every kind, and a word and the same id."""
        found = [(word, self.ids[table][-1]) for table, word in _WORDS.items() if table in self.ids]
        return [(id, f"{word}/{id}") for word, id in found]

    def kind_of(self, name: str) -> str:
        """The word for what a record is."""
        return next((uri.split("/")[0] for id, uri in self.records() if name in (id, uri)), "")

    def beside(self, name: str) -> str:
        """Another record of the same kind, if there is one."""
        word, slash, id = name.rpartition("/")
        many = next((ids for ids in self.ids.values() if id in ids), (id,))
        return f"{word}{slash}{many[0]}"


class World(NamedTuple):
    """Both, as they lie in one store."""

    env: Mapping[str, str]
    settings: Settings
    folder: Path
    own: Named
    other: Named

    def secrets(self) -> frozenset[str]:
        """Everything that only the other bank may tell."""
        ids = {id for many in self.other.ids.values() for id in many}
        words = {OTHER.hidden.lower(), OTHER.name}
        return frozenset(word for word in {*ids, *words, self.other.id} if len(word) >= 6)

    def rows(self, bank: str = "") -> dict[str, list[Row]]:
        """What lies in every table: of one bank, or all of it."""
        with self.connected() as connection:
            return {
                table: [*_rows(connection, table, bank if "bank" in columns else "")]
                for table, columns in _tables(connection).items()
                if not bank or "bank" in columns
            }

    def copy(self, folder: Path) -> World:
        """The same, as a memory of its own; the projects are again as they were at first."""
        projects, kept = self.folder / "projects", self.folder / "kept"
        if kept.exists():
            shutil.rmtree(projects)
        shutil.copytree(*((kept, projects) if kept.exists() else (projects, kept)))
        shutil.copytree(self.env["HOLDFAST_HOME"], folder / "home")
        env = {**self.env, "HOLDFAST_HOME": str(folder / "home")}
        return self._replace(env=env, settings=load_settings(env))

    @contextmanager
    def connected(self) -> Generator[Any]:
        """The store itself, past everything of ours."""
        if self.settings.store:
            with psycopg.connect(self.settings.store) as server:
                server.execute("SET search_path TO holdfast")
                yield server
        else:
            with closing(sqlite3.connect(self.settings.database)) as file:
                yield file


def _tables(connection: Any) -> dict[str, list[str]]:
    if isinstance(connection, sqlite3.Connection):
        named = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        columns = "SELECT name FROM pragma_table_info(?)"
        names = [name for (name,) in connection.execute(named)]
        return {t: [name for (name,) in connection.execute(columns, (t,))] for t in names}
    told = (
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'holdfast' ORDER BY 1, 2"
    )
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(told):
        found.setdefault(table, []).append(column)
    return found


def _rows(connection: Any, table: str, bank: str) -> Iterator[Row]:
    mark = "?" if isinstance(connection, sqlite3.Connection) else "%s"
    where = f" WHERE bank = {mark}" if bank else ""
    found = connection.execute(f'SELECT * FROM "{table}"{where}', (bank,) if bank else ())
    yield from sorted((tuple(row) for row in found), key=repr)


def make_environment(folder: Path, store: str = "") -> dict[str, str]:
    """A new home, whose server answers as often as it is asked."""
    (folder / "home").mkdir(mode=0o700)
    return {
        **os.environ,
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "HOME": str(folder),
        "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_STORE": store,
    }


def make_world(folder: Path, store: str = "") -> World:
    """Fill a memory: a file, or on the server that is named."""
    env = make_environment(folder, store)
    settings, before = load_settings(env), Path.cwd()
    try:
        with Holdfast(settings) as memory:
            talks = [
                _fill(memory, project(folder / "projects", side.name), side)
                for side in (OWN, OTHER)
            ]
            memory.rules.sync_all()
            own, other = (memory.context.bank_id(side.name) or "" for side in (OWN, OTHER))
    finally:
        os.chdir(before)
    bare = World(env, settings, folder, *(Named(id, (), {}) for id in (own, other)))
    return bare._replace(
        own=names_in(bare, own, OWN, talks[0]), other=names_in(bare, other, OTHER, talks[1])
    )


def _fill(memory: Holdfast, root: Path, side: Side) -> str:
    """Sessions, a history, rules, memories, opinions, decisions, and what waits for a person.
    Returns the name of an investigation."""
    os.chdir(root)
    thing, also = side.asked, side.hidden
    file = f"{thing.lower()}.py"
    put(root, file, f"{also.lower()} = 1\n")
    put(root, f".claude/rules/{thing.lower()}.md", f"# {thing}\n\n- Polish {thing} and {also}.\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", f"Add {thing} for {also}", "-m", f"Because {also} was stale.")
    memory.ingest(memory.ingestion.find(list(_reply(root, side))))
    memory.ingestion.ingest_git(root)
    memory.remember(f"{thing} needs the {also} cache in {file}.")
    gone = memory.remember(f"{thing} was painted, says {also}.")
    memory.forget(f"memory/{gone.id}")
    memory.retain(f"{thing} is worth {also}.", Network.OPINION, 0.9)
    memory.opinions.reflect(f"is {thing} worth {also}")
    memory.rules.suggest("care", f"Store every {thing} beside {also}.")
    asked = memory.ask(f"Why was {thing} of {also} slow?")
    bank = memory.context.bank_id() or ""
    injection = Injection(
        f"{also.lower()}-told", bank, _session(side, 1), "2026-09-01T09:00:00.000Z",
        InjectionKind.START, 10, (f"holdfast://rule/{also.lower()}",), because=f"said {also}",
    )  # fmt: skip
    with memory.store.transaction():
        memory.store.injections.add(injection)
    return asked.session_id


def _reply(root: Path, side: Side) -> Iterator[Path]:
    thing, also = side.asked, side.hidden
    file = f"{thing.lower()}.py"
    said = [
        f"{thing}s are always oiled with {also} before the {thing} is packed. It is really slow.",
        f"Always sign the {thing} invoices with the {also} key.",
        f"The rule about the {thing} invoices and the {also} key is outdated.",
        f"Why is {thing} so slow with {also}?",
    ]
    for day, words in enumerate(said, 1):
        script = Script(_session(side, day), cwd=str(root))
        script.start = script.start.replace(day=day)
        script.user(words)
        broken = f"KeyError: '{thing}' in {also}"
        script.tool("Bash", broken, error=True, command=f"pytest tests/{file}")
        script.tool("Edit", "ok", file_path=str(root / file), old_string=f"a{day}", new_string="b")
        script.tool("Bash", "3 passed", command=f"pytest tests/{file}")
        script.assistant(f"Fixed {thing}: the root cause was that {thing}Cache ({also}) was stale.")
        yield script.write(root.parents[1] / "claude" / "projects")


def _session(side: Side, day: int) -> str:
    return f"{day:04}{side.name[:4]}-{side.hidden[:4].lower()}-4000-8000-{side.hidden.lower()[:6]}"


def names_in(world: World, bank: str, side: Side, talk: str) -> Named:
    """What can be named of one bank alone."""
    mine: dict[str, set[str]] = {}
    others: set[str] = set()
    with world.connected() as connection:
        for table, columns in _tables(connection).items():
            if not {"id", "bank"} <= set(columns):
                continue
            for id, owner in connection.execute(f'SELECT id, bank FROM "{table}"'):
                if owner == bank:
                    mine.setdefault(table, set()).add(str(id))
                else:
                    others.add(str(id))
    ids = {kind: tuple(sorted(many - others)) for kind, many in mine.items()}
    ids["research"] = (talk,)
    return Named(bank, (bank, side.name), {k: v for k, v in ids.items() if v})
