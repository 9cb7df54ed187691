"""Banks are strictly apart: whatever is asked of one, in the words and by the ids of another, tells
nothing of that other. Every question that takes a bank is asked; a new one must be listed here."""

from __future__ import annotations

import inspect
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import HoldfastError
from holdfast.model.knowledge import Network
from holdfast.model.query import RecordFilter
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.store.across_tables.overview import CommitFilter
from holdfast.store.protocol import Reader
from tests.refine.rules.test_rules import git, open_at, project, put
from tests.support.transcripts import Script

# What is spoken of in each bank, and in no other.
WORDS = {
    "keel": ("Quillon", "quillon.py", "Quillons are always oiled before the quillon is packed."),
    "reef": ("Bramble", "bramble.py", "Brambles are always cut before the bramble is burned."),
}
ASKED = "Why is the Quillon slow, and how are quillons oiled in quillon.py?"


class Filled(NamedTuple):
    """A memory with two banks, and what belongs to the first of them alone."""

    memory: Holdfast
    own: str
    other: str
    ids: frozenset[str]
    session: str


def write_sessions(root: Path, name: str) -> Iterator[Path]:
    """Sessions of one bank: rulings, judgements, work that was tested, a cause."""
    thing, file, ruling = WORDS[name]
    for day in range(1, 5):
        script = Script(f"{day:04}{name}-0000-4000-8000-000000000001", cwd=str(root))
        script.start = script.start.replace(day=day)
        script.user(f"The {thing} of pier {day} is really slow. {ruling}")
        script.tool("Bash", f"KeyError: '{thing}'", error=True, command=f"pytest tests/{file}")
        script.tool("Edit", "ok", file_path=str(root / file), old_string=f"a{day}", new_string="b")
        script.tool("Bash", "3 passed", command=f"pytest tests/{file}")
        script.assistant(f"Fixed {thing}: the root cause was that {thing}Cache went stale.")
        yield script.write(root.parent / "claude" / "projects")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    home = tmp_path_factory.mktemp("banks")
    before = Path.cwd()
    roots = {name: project(home, name) for name in WORDS}
    with open_at(home) as memory:
        for name, root in roots.items():
            thing, file, _ = WORDS[name]
            os.chdir(root)
            put(root, file, "x = 1\n")
            put(root, f".claude/rules/{thing.lower()}.md", f"# {thing}\n\n- Polish the {thing}.\n")
            git(root, "add", ".")
            git(root, "commit", "-qm", f"Add {thing}", "-m", f"Because {thing}Cache was stale.")
            memory.ingest(memory.ingestion.find(list(write_sessions(root, name))))
            memory.ingestion.ingest_git(root)
            memory.remember(f"{thing} needs {thing}Cache in {file}.")
            memory.retain(f"{thing} is worth it.", Network.OPINION, 0.9)
            memory.rules.suggest("care", f"Store every {thing} dry.")
        memory.rules.sync_all()
        own, other = (memory.context.bank_id(name) or "" for name in WORDS)
        os.chdir(home)
        yield Filled(
            memory, own, other, _ids(home, own), f"0001keel-{'0000-4000-8000'}-000000000001"
        )
    os.chdir(before)


def _ids(home: Path, own: str) -> frozenset[str]:
    """The ids of what one bank has and no other."""
    mine: set[str] = {own}
    others: set[str] = set()
    with closing(sqlite3.connect(home / "memory.db")) as raw:
        for (table,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            columns = [row[1] for row in raw.execute(f'PRAGMA table_info("{table}")')]
            if "id" in columns and "bank" in columns:
                for id, bank in raw.execute(f'SELECT id, bank FROM "{table}"'):
                    (mine if bank == own else others).add(str(id))
    return frozenset(id for id in mine - others if len(id) >= 8)


def leaks(filled: Filled, answer: object) -> list[str]:
    """What of the one bank stands in an answer for the other."""
    text = repr(answer).replace(ASKED, "")
    words = [word for word in ("quillon", "Quillon") if word in text]
    return words + sorted(id for id in filled.ids if id in text)


def questions(face: type, left_out: set[str]) -> list[str]:
    return [
        name
        for name, function in inspect.getmembers(face, inspect.isfunction)
        if not name.startswith("_")
        and "bank" in inspect.signature(function).parameters
        and name not in left_out
    ]


def store_arguments(filled: Filled) -> dict[str, list[Any]]:
    """What a store may be asked with: all of it belongs to the first bank."""
    reader, own = filled.memory.reader, filled.own
    entities = [
        known.number
        for _, known in reader.graph.entities_by_spelling(own, ["quillon", "quilloncache"])
    ]
    nodes = [bond.node for entity in entities for bond in reader.graph.mentions_of(own, entity, 50)]
    places = reader.graph.records(own, nodes)
    commits = [place.id for place in places if place.kind == "commit"]
    assert entities and nodes and commits
    ids = sorted(filled.ids)
    return {
        "after": [5], "before": [5], "commit": commits, "commit_filter": [CommitFilter()],
        "commits": [commits], "each": [5],
        "entities": [entities], "entity": entities, "fact": ids, "filter": [RecordFilter()],
        "hashes": [ids], "id": ids, "issue": [1], "keys": [["quillon", "quillonpy"]],
        "kind": ["", "memory", "exchange", "fact", "entity", "commit", "concept", "turn"],
        "kinds": [["turn", "exchange", "memory", "commit", "digest"]], "limit": [50],
        "marks": [ids], "model": ["any"], "position": [], "most": [1000],
        "names": [[("fact", id) for id in ids]], "nodes": [nodes], "number": [1, 2],
        "numbers": [list(range(200))], "opinion": ids, "path": ["quillon.py"], "record": places[:3],
        "seqs": [[1, 2, 3]], "session": [filled.session], "since": [""], "terms": [["quillon"]],
        "text": ["Quillon", "quillon.py"], "thread": ids[:5], "tip": commits, "turn": ids,
        "until": ["~"],
        "uri": [f"holdfast://{kind}/{id}" for kind in ("turn", "fact") for id in ids],
        "words": ["quillon"],
    }  # fmt: skip


def argument_sets(
    function: Callable[..., Any], known: dict[str, list[Any]]
) -> Iterator[dict[str, Any]]:
    """Every way to ask, as far as it must be said."""
    needed = {
        name: parameter.annotation
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("self", "bank")
        and parameter.default is inspect.Parameter.empty
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }
    usual = {"int": [1], "str": known["id"], "Sequence[str]": [known["id"]]}
    known = {name: usual[kind] for name, kind in needed.items() if kind in usual} | known
    lacking = needed.keys() - known.keys()
    if lacking:
        pytest.skip(f"nothing says with what it is asked: {lacking}")
    for values in product(*(known[name] for name in needed)):
        yield dict(zip(needed, values, strict=True))


@pytest.mark.parametrize("name", questions(Reader, set()))
def test_no_store_method_returns_records_of_another_bank(filled: Filled, name: str) -> None:
    ask = getattr(filled.memory.reader, name)
    for values in argument_sets(ask, store_arguments(filled)):
        answer = ask(bank=filled.other, **values)
        assert not leaks(filled, _without(answer, values)), (name, values)
        if name in ("mentions_of", "mentions_in", "graph_records", "cooccurring_entities"):
            assert list(answer) == [], (name, values)


# What changes something, and what is about no bank.
_CHANGES = {
    "approve", "correct", "decide", "find", "forget", "import_conversation",
    "import_records", "ingest", "ingest_git", "merge", "merge_entities", "plan_learn",
    "plan_share", "pull", "purge", "reject", "remember", "restore", "retain", "set_bank", "share",
    "split_entity", "suggest", "undo", "write_rule",
}  # fmt: skip


def facade_arguments(filled: Filled) -> dict[str, list[Any]]:
    ids = sorted(filled.ids)
    return {
        "about": ["quillon.py", "Quillon"], "action": ["status", "candidates", "promote"],
        "candidates": [[]], "id": ids, "name": ["Quillon", "quillon.py", *ids],
        "networks": [list(Network)], "plan": [RecallPlan(budget=Budget.HIGH)], "prompt": [ASKED],
        "query": [ASKED], "question": [ASKED], "uri": ids, "words": ["quillon"],
    }  # fmt: skip


@pytest.mark.parametrize("name", [*questions(Holdfast, _CHANGES), "show", "timeline"])
def test_no_public_method_returns_records_of_another_bank(filled: Filled, name: str) -> None:
    ask = getattr(filled.memory, name)
    for values in argument_sets(ask, facade_arguments(filled)):
        try:
            answer = ask(bank=filled.other, **values)
        except HoldfastError as error:
            answer = f"{error.message} {error.remedy}"
            for value in values.values():
                answer = answer.replace(str(value), "")
        assert not leaks(filled, _without(answer, values)), (name, values)


def _without(answer: Any, values: dict[str, Any]) -> str:
    """An answer may repeat what was asked."""
    whole: Any = list(answer) if hasattr(answer, "__next__") else answer
    text = repr(whole)
    for value in values.values():
        if isinstance(value, str) and value:
            text = text.replace(repr(value), "").replace(f"query='{value}'", "")
    return text


def test_both_banks_have_records_that_could_leak(filled: Filled) -> None:
    """So that the silence above is not for want of anything."""
    memory = filled.memory
    for bank, word in (("keel", "Quillon"), ("reef", "Bramble")):
        assert (
            memory.rules.candidates(bank)
            and memory.opinions.opinions(bank)
            and memory.browse.facts(bank)
        )
        assert word in repr(memory.recall(f"Why is the {word} slow?", bank).hits)
        assert memory.browse.entity(word, bank).mentions > 2
        assert word in repr(memory.opinions.reflect(f"is the {word} slow", bank, store=False))
        asked = f"Why does pytest fail with KeyError in {word}, is {word}Cache stale again?"
        with Holdfast(memory.settings, create=False) as briefing:
            assert word.lower() in briefing.briefs.session_brief(bank).text.lower()
            assert word.lower() in briefing.briefs.goal_brief(asked, bank).text.lower()
