"""Adding a rule keeps every byte that people wrote, and their style."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import InputError
from holdfast.learn.rule_text import RuleAddition, add_rule
from holdfast.learn.rule_writing import plan_addition, write

RULE = RuleAddition("Use the okapi fixture.", ("holdfast://turn/1",), "testing")
ADDED = "Use the okapi fixture. <!-- holdfast://turn/1 -->"


def added(text: str, addition: RuleAddition = RULE) -> str:
    return add_rule(text.encode(), addition).decode()


def test_a_new_file_gets_a_heading_and_its_paths() -> None:
    made = add_rule(None, RULE._replace(paths=("tests/**", "src/a.py"))).decode()
    assert made == (f'---\npaths:\n  - "tests/**"\n  - "src/a.py"\n---\n\n# Testing\n\n- {ADDED}\n')


@pytest.mark.parametrize("glob", ['a"b', "a\n---\n", "a\\b", "a\r"])
def test_a_glob_that_would_break_the_frontmatter_is_refused(glob: str) -> None:
    with pytest.raises(InputError, match="glob"):
        add_rule(None, RULE._replace(paths=("src/**", glob)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# T\n\n* one\n* two\n", f"# T\n\n* one\n* two\n* {ADDED}\n"),
        ("# T\r\n\r\n- one\r\n", f"# T\r\n\r\n- one\r\n- {ADDED}\r\n"),
        ("- one", f"- one\n- {ADDED}"),
        ("  - one\n    more\n", f"  - one\n    more\n  - {ADDED}\n"),
        ("- one\n\n- two\n", f"- one\n\n- two\n\n- {ADDED}\n"),
        ("1. one\n2. two\n", f"1. one\n2. two\n3. {ADDED}\n"),
        ("- a\n  - detail\n", f"- a\n  - detail\n- {ADDED}\n"),
        ("+   wide\n", f"+   wide\n+   {ADDED}\n"),
        ("Prose only.\n", f"Prose only.\n\n- {ADDED}\n"),
        ("Prose only.", f"Prose only.\n\n- {ADDED}"),
        ("- a\n\n## Next\n\nProse.\n", f"- a\n- {ADDED}\n\n## Next\n\nProse.\n"),
        ("# T\n\n- a\n\n\n", f"# T\n\n- a\n- {ADDED}\n\n\n"),
        ("- a\n\n```sh\n- not an item\n```\n", f"- a\n\n```sh\n- not an item\n```\n\n- {ADDED}\n"),
        ("\ufeff- one\n", f"\ufeff- one\n- {ADDED}\n"),
        (
            "---\npaths: [odd\n  : :\n---\n- one\n",
            f"---\npaths: [odd\n  : :\n---\n- one\n- {ADDED}\n",
        ),
        ("---\nnever: closed\n- one\n", f"---\nnever: closed\n- one\n- {ADDED}\n"),
    ],
)
def test_a_rule_is_added_in_the_style_of_the_file(before: str, after: str) -> None:
    assert added(before) == after


def test_a_decision_is_added_to_the_memory_file_under_its_own_heading() -> None:
    decided = RULE._replace(section="Key Decisions")
    text = "## Key decisions\n\n- one\n\n## Patterns\n\n- two\n"
    assert added(text, decided) == (
        f"## Key decisions\n\n- one\n- {ADDED}\n\n## Patterns\n\n- two\n"
    )
    assert added("## Patterns\n\n- two\n", decided) == (
        f"## Patterns\n\n- two\n\n## Key Decisions\n\n- {ADDED}\n"
    )
    assert added("## Key decisions\n\n## Patterns\n", decided) == (
        f"## Key decisions\n\n- {ADDED}\n\n## Patterns\n"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> x\n", "conflict"),
        ("- a\n\n```\nopen\n", "code block"),
        ("- a\n<!-- open\n", "comment"),
        ("a\x00b\n", "not a text"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        added(text)


_LINES = st.sampled_from(
    [
        "# Heading", "## Key decisions", "- item", "* star", "  - nested", "1. first", "10) tenth",
        "prose", "", "", "   ", "\tcode", "---", "paths: [a, b", "```", "~~~", "| a | b |",
        "> quote", "- [ ] task", "<!-- c -->", "é ü 漢字", "ends with\r", "***", "#not", "-", "- ",
    ]
)  # fmt: skip


def text_of(bom: str, lines: list[str], ends: list[str], last: str) -> str:
    return bom + "".join(f"{x}{y}" for x, y in zip(lines, ends, strict=False)) + last


_TEXTS = st.builds(
    text_of,
    st.sampled_from(["", "\ufeff"]),
    st.lists(_LINES, max_size=14),
    st.lists(st.sampled_from(["\n", "\n", "\r\n", "\r"]), min_size=14, max_size=14),
    st.sampled_from(["", "- last", "word"]),
)


@pytest.mark.slow
@settings(max_examples=400)
@given(
    _TEXTS | st.binary(max_size=60).map(lambda b: b.decode("utf-8", "surrogateescape")),
    st.sampled_from(["", "Key Decisions"]),
)
def test_text_written_by_people_is_kept_byte_for_byte(text: str, section: str) -> None:
    raw = text.encode("utf-8", "surrogateescape")
    try:
        made = add_rule(raw, RULE._replace(section=section))
    except InputError:
        return
    grown = len(made) - len(raw)
    assert grown >= len(ADDED)
    assert any(made[:n] + made[n + grown :] == raw for n in range(len(raw) + 1))
    assert ADDED.encode() in made


def test_a_file_is_replaced_atomically_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / ".claude/rules/testing.md"
    file.parent.mkdir(parents=True)
    file.write_text("- one\n")
    file.chmod(0o640)
    change = plan_addition(tmp_path, ".claude/rules/testing.md", RULE)
    assert f"+- {ADDED}" in change.diff and "-- one" not in change.diff
    write(change)
    assert file.read_text() == f"- one\n- {ADDED}\n" and file.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in file.parent.iterdir()] == ["testing.md"]


def test_a_file_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    change = plan_addition(tmp_path, ".claude/rules/testing.md", RULE)
    file = tmp_path / ".claude/rules/testing.md"
    file.parent.mkdir(parents=True)
    file.write_text("- mine\n")
    with pytest.raises(InputError, match="changed just now"):
        write(change)
    assert file.read_text() == "- mine\n"


def test_a_read_only_file_or_one_outside_the_project_is_not_changed(tmp_path: Path) -> None:
    root = tmp_path / "proj"
    rules = root / ".claude/rules"
    rules.mkdir(parents=True)
    (rules / "testing.md").write_text("- one\n")
    (rules / "testing.md").chmod(0o444)
    with pytest.raises(InputError, match="read-only"):
        write(plan_addition(root, ".claude/rules/testing.md", RULE))
    assert (rules / "testing.md").read_text() == "- one\n"
    (tmp_path / "outside.md").write_text("- theirs\n")
    (rules / "api.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(InputError, match="leads out of the project"):
        plan_addition(root, ".claude/rules/api.md", RULE)
    assert (tmp_path / "outside.md").read_text() == "- theirs\n"
