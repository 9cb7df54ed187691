"""Teaching and approving rules: what is written is what was seen, and agents only propose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.curation.rules import FileChangedError
from holdfast.app.memory import Holdfast
from holdfast.model.curation import AGENT
from holdfast.operations.decisions.rules import Learned, RuleApproved, RuleCandidates
from holdfast.operations.operation import OWNER, Announcement, Call
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform, result_text
from tests.learn.test_promotion import RULES, state_three_times
from tests.refine.rules.test_rules import open_at, project

LEARN, APPROVE = find_operation("learn"), find_operation("promote approve")
RULE = {"domain": "testing", "text": "Name the fixtures after animals."}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = project(tmp_path)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def memory(root: Path) -> Iterator[Holdfast]:
    with open_at(root.parent) as memory:
        yield memory


def learn(memory: Holdfast, call: Call = OWNER, **given: Any) -> Learned:
    return perform(LEARN, memory, {**RULE, **given}, call)


def test_a_rule_is_only_shown_until_it_is_confirmed(memory: Holdfast, root: Path) -> None:
    shown = learn(memory)
    assert not shown.written and not (root / RULES).exists()
    assert "Nothing is written" in result_text(LEARN, shown, RULE)
    written = learn(memory, confirm="write", seen=shown.diff)
    assert written.written and (written.file, written.diff) == (str(root / RULES), shown.diff)
    assert learn(memory, confirm="write").documented == f"{RULES}:1"


def test_no_other_diff_is_written_than_the_one_that_was_seen(memory: Holdfast, root: Path) -> None:
    announce = LEARN.announce
    assert announce is not None
    announced: Announcement = announce(memory, **RULE)
    (root / RULES).parent.mkdir(parents=True)
    (root / RULES).write_text("# Testing\n\n- Tables for parsers.\n")
    with pytest.raises(FileChangedError):
        learn(memory, confirm="write", seen=announced.diff)
    assert "animals" not in (root / RULES).read_text()


def test_an_agent_only_proposes_even_with_a_confirmation(memory: Holdfast, root: Path) -> None:
    call = Call(f"{AGENT} (codex)", by_agent=True)
    proposed = learn(memory, call, confirm="write")
    assert not proposed.written and proposed.waits and not (root / RULES).exists()
    text = result_text(LEARN, proposed, RULE)
    assert f"`holdfast promote approve {proposed.waits}`" in text and "+- Name the" in text


def test_a_candidate_whose_file_changed_is_approved_with_the_new_diff(
    memory: Holdfast, root: Path
) -> None:
    state_three_times(memory, root)
    (root / RULES).parent.mkdir(parents=True)
    (root / RULES).write_text("# Testing\n\n- Name the fixtures after animals.\n")
    found: RuleCandidates = perform(find_operation("promote candidates"), memory, {})
    (candidate,) = found.candidates
    assert candidate.changed
    with pytest.raises(FileChangedError):
        perform(APPROVE, memory, {"id": candidate.id, "seen": "another"})
    done: RuleApproved = perform(APPROVE, memory, {"id": candidate.id, "seen": candidate.diff})
    assert done.diff == candidate.diff and candidate.text in (root / RULES).read_text()
