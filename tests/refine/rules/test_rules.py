"""Files of rules as records: sections, edits, removals, worktrees, banks of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.goal.goal_brief import goal_brief
from holdfast.brief.session_brief import session_brief
from holdfast.errors import InputError
from holdfast.model.knowledge import Rule
from holdfast.model.query import Layer
from holdfast.settings import Settings
from tests.support.transcripts import Script


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True)


def project(folder: Path, name: str = "proj") -> Path:
    root = folder / name
    root.mkdir(parents=True)
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", f"Start {name}")
    return root


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def worked_in(home: Path, root: Path, words: str, session: str = "4" * 8) -> Path:
    script = Script(f"{session}-0000-4000-8000-000000000001", cwd=str(root))
    script.user(words)
    script.assistant("Done, and the tests pass.")
    return script.write(home / "claude" / "projects")


def open_at(home: Path, **more: str) -> Holdfast:
    ticks = count()
    return Holdfast(
        Settings(home=home, claude_dir=home / "claude", **more),  # type: ignore[arg-type]
        now=lambda: f"2026-11-01T00:{next(ticks) // 60 % 60:02}:00.000Z",
    )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    before = Path.cwd()
    yield tmp_path
    os.chdir(before)


def known(memory: Holdfast, root: Path) -> dict[tuple[str, str], str]:
    bank = memory.context.banks.find(memory.reader, str(root))
    assert bank
    return {(rule.path, rule.heading): rule.text for rule in memory.reader.rules.all(bank)}


def test_sections_are_found_with_their_file_and_line(home: Path) -> None:
    root = project(home)
    put(root, "CLAUDE.md", "# Guide\n\nThe zebra crossing is painted weekly.\n")
    put(
        root,
        ".claude/rules/testing.md",
        '---\npaths:\n  - "tests/**/*.py"\n  - src/a.py\n---\n\n# Testing\n\n- Use the okapi '
        "fixture.\n\n```sh\n# not a heading\n```\n\n## Slow ones\n\n- Mark them. "
        "<!-- holdfast://turn/1 -->\n",
    )
    put(root, ".claude/memory.md", "## Stack\r\n- Quokka for queues\r\n")
    put(home / "claude", "CLAUDE.md", "Answer in plain English, numbat style.\n")
    with open_at(home) as memory:
        memory.ingest(memory.ingestion.find([worked_in(home, root, "Please look at the giraffe.")]))
        os.chdir(root)
        found = memory.recall("okapi fixture", layers=[Layer.RULES])
        hit = found.hits[0]
        assert hit.kind == "rule" and hit.layer is Layer.RULES
        assert hit.source.path == str(root / ".claude/rules/testing.md") and hit.source.line == 7
        rule = memory.show(hit.uri).record
        assert isinstance(rule, Rule)
        assert (rule.domain, rule.paths) == ("testing", ("tests/**/*.py", "src/a.py"))
        assert known(memory, root) == {
            ("CLAUDE.md", "Guide"): "The zebra crossing is painted weekly.",
            (".claude/memory.md", "Stack"): "- Quokka for queues",
            (".claude/rules/testing.md", "Testing"): "- Use the okapi fixture.\n\n```sh\n"
            "# not a heading\n```",
            (".claude/rules/testing.md", "Testing > Slow ones"): "- Mark them.",
            ("~/CLAUDE.md", ""): "Answer in plain English, numbat style.",
        }
        assert "rules" in memory.ask("What about the okapi fixture?").layers_searched
        with pytest.raises(InputError, match=r"testing\.md"):
            memory.forget(hit.uri)


def test_an_edit_is_noticed_before_the_next_question(home: Path) -> None:
    root = project(home)
    path = put(root, ".claude/rules/api.md", "# API\n\n- The wombat endpoint pages by cursor.\n")
    with open_at(home) as memory:
        memory.ingest(memory.ingestion.find([worked_in(home, root, "Please look at the giraffe.")]))
        memory.rules.sync_all()
        os.chdir(root)
        assert memory.recall("wombat endpoint").hits[0].kind == "rule"
        path.write_text("# API\n\n- The dugong endpoint pages by number.\n")
        assert memory.recall("dugong endpoint pages").hits[0].kind == "rule"
        assert not [h for h in memory.recall("wombat").hits if h.kind == "rule"]
        path.unlink()
        assert not [h for h in memory.recall("dugong endpoint").hits if h.kind == "rule"]
        assert known(memory, root) == {}


def test_rebuilding_gives_the_same_rules(home: Path) -> None:
    root = project(home)
    put(root, "CLAUDE.md", "# One\n\ntapir\n\n# One\n\ntapir again\n")
    with open_at(home) as memory:
        memory.ingest(memory.ingestion.find([worked_in(home, root, "Please look at the giraffe.")]))
        memory.rules.sync_all()
        bank = memory.context.banks.find(memory.reader, str(root))
        assert bank
        before = memory.reader.rules.all(bank)
        assert len(before) == 2 and len({rule.id for rule in before}) == 2
        memory.ingestion.rebuild()
        assert memory.reader.rules.all(bank) == []
        memory.rules.sync_all()
        assert memory.reader.rules.all(bank) == before


def test_the_current_worktree_comes_first(home: Path) -> None:
    root = project(home)
    put(root, "CLAUDE.md", "The ocelot is fed at nine.\n")
    git(root, "worktree", "add", "-q", str(home / "other"), "-b", "other")
    put(home / "other", "CLAUDE.md", "The ocelot is fed at ten.\n")
    with open_at(home) as memory:
        memory.ingest(memory.ingestion.find([worked_in(home, root, "Please look at the giraffe.")]))
        os.chdir(root)
        assert "nine" in memory.recall("when is the ocelot fed").hits[0].text
        os.chdir(home / "other")
        hits = memory.recall("when is the ocelot fed").hits
        assert "ten" in hits[0].text and not any("nine" in hit.text for hit in hits)


def test_rules_of_one_project_are_not_seen_in_another(home: Path) -> None:
    one, two = project(home, "one"), project(home, "two")
    put(one, ".claude/rules/x.md", "- The narwhal ships on Monday.\n")
    put(two, ".claude/rules/x.md", "- The kiwi ships on Friday.\n")
    with open_at(home) as memory:
        memory.ingest(
            memory.ingestion.find([worked_in(home, one, "Look at the giraffe.", "1" * 8)])
        )
        memory.ingest(memory.ingestion.find([worked_in(home, two, "Look at the gnu.", "2" * 8)]))
        memory.rules.sync_all()
        os.chdir(two)
        found = memory.recall("when does the narwhal ship").hits
        assert not [hit for hit in found if "narwhal" in hit.text]
        assert memory.recall("when does the kiwi ship").hits[0].kind == "rule"


def test_links_out_of_the_project_and_excluded_projects_are_left_alone(home: Path) -> None:
    root = project(home)
    put(home, "secret.md", "The axolotl password\n")
    (root / ".claude/rules").mkdir(parents=True)
    (root / ".claude/rules/a.md").symlink_to(home / "secret.md")
    put(root, ".claude/rules/b.md", "AWS key AKIAIOSFODNN7EXAMPLE for the lemur\n")
    put(root, ".claude/rules/private/c.md", "The secret handshake of the tapir\n")
    settings = Settings(home=home, claude_dir=home / "claude", exclude_paths=("*/private/",))
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([worked_in(home, root, "Please look at the giraffe.")]))
        memory.rules.sync_all()
        texts = list(known(memory, root).values())
        assert len(texts) == 1 and "lemur" in texts[0] and "AKIA" not in texts[0]


def test_memory_md_ranks_above_other_records(home: Path) -> None:
    root = project(home)
    put(root, ".claude/memory.md", "## Key decisions\n\n- State management uses Zustand.\n")
    with open_at(home) as memory:
        text = "We decided to use Redux for state management from now on."
        memory.ingest(memory.ingestion.find([worked_in(home, root, text)]))
        os.chdir(root)
        found = memory.recall("What do we use for state management?")
        assert found.hits[0].kind == "rule" and "Zustand" in found.hits[0].text
        answer = memory.ask("What do we use for state management?")
        assert answer.citations[0].layer is Layer.RULES
        assert "memory.md" in answer.answer.splitlines()[0]
        assert any("memory.md holds" in caveat for caveat in answer.caveats)


def test_briefs_show_memory_md_and_what_it_contradicts(home: Path) -> None:
    root = project(home)
    put(root, ".claude/memory.md", "## Key decisions\n\n- State management uses Zustand.\n")
    with open_at(home) as memory:
        text = "We decided to use Redux for state management from now on, because it is known."
        memory.ingest(memory.ingestion.find([worked_in(home, root, text)]))
        memory.rules.sync_all()
        os.chdir(root)
        bank = memory.context.banks.find(memory.reader, str(root))
        assert bank
        brief = session_brief(memory.reader, bank, 2000, 12).text
        assert "From .claude/memory.md" in brief
        assert "Redux" in brief and "But .claude/memory.md says: “State management uses" in brief
        goal = goal_brief(memory.reader, bank, "Please rework the state management of the app")
        assert "But .claude/memory.md says" in goal.text
        put(root, "CLAUDE.md", "See @.claude/memory.md for what was decided.\n")
        memory.rules.sync_all()
        assert "From .claude/memory.md" not in session_brief(memory.reader, bank, 2000, 12).text
