from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.model.curation import Action
from holdfast.model.knowledge import EvidenceKind
from holdfast.model.uris import uri
from holdfast.settings import Settings

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[3] / "examples" / "sessions"
KEYED = "how are alerts keyed, UTC or local time?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with Holdfast(Settings(home=tmp_path / "home", claude_dir=tmp_path)) as made:
        made.ingest(made.ingestion.find([SAMPLES]))
        yield made


def _used(memory: Holdfast) -> dict[str, float]:
    """The facts that were of use, each with how far it may be believed."""
    return {
        fact.id: fact.confidence
        for fact in memory.browse.facts("all", all=True)
        if any(b.how is EvidenceKind.USED for b in memory.show(uri("fact", fact.id)).bearings)
    }


def test_a_useful_answer_confirms_its_sources_once(memory: Holdfast) -> None:
    before = {fact.id: fact.confidence for fact in memory.browse.facts("all", all=True)}
    answer = memory.ask(KEYED, "all")
    assert _used(memory) == {}
    assert memory.answers.mark_useful(answer.session_id) > 0
    borne = _used(memory)
    assert borne and all(borne[id] > before[id] for id in borne)
    memory.answers.mark_useful(answer.session_id)
    assert _used(memory) == borne
    memory.ingestion.rebuild()
    assert _used(memory) == borne


def test_feedback_is_in_the_log_and_can_be_undone(memory: Holdfast) -> None:
    answer = memory.ask(KEYED, "all")
    count = memory.answers.mark_useful(answer.session_id, "ada")
    memory.answers.mark_useful(answer.session_id, "ben")
    undone = memory.undo(count)
    result = {(entry.action, entry.text, entry.who) for entry in undone}
    assert result == {(Action.VOUCH, answer.session_id, "ada")} and len(undone) == count
    assert _used(memory) == {} and memory.undo() == []


def test_an_abstention_cannot_be_marked_useful(memory: Holdfast) -> None:
    nothing = memory.ask("When did we move to Kubernetes?", "all")
    with pytest.raises(InputError):
        memory.answers.mark_useful(nothing.session_id)
