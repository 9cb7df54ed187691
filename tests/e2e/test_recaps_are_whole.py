"""The recap of a conversation comes first and whole, whichever way somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.search import hit_view
from tests.support.harbour import harbour_matters, harbour_memory

# The first is longer than a quote, the second was changed by a later conversation, the third has an
# exception that was said afterwards.
WANTED = ("pax-column", "quiet-hours", "fleet-import")
WAYS: dict[str, Callable[[Holdfast, str], str]] = {
    "recall": lambda memory, text: memory.recall(text, limit=1).hits[0].text,
    "recall as shown": lambda memory, text: hit_view.excerpt(
        memory.recall(text, limit=1).hits[0], 320
    ),
    "ask": lambda memory, text: memory.ask(text).answer.split("\n")[0],
    "citation": lambda memory, text: memory.ask(text).citations[0].excerpt,
    "goal brief": lambda memory, text: memory.briefs.goal_brief(text).text.split("\n- ")[1],
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    with harbour_memory(tmp_path_factory.mktemp("harbour")) as memory:
        yield memory


@pytest.mark.model
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("id", WANTED)
def test_a_report_in_other_words_is_told_the_whole_rule_first(
    harbour: Holdfast, id: str, way: str
) -> None:
    matter = harbour_matters()[id]
    text = WAYS[way](harbour, matter.prompt).replace("’", "'")
    assert [words for words in matter.must if words not in text] == []
    assert [words for words in matter.must_not if words in text] == []


@pytest.mark.model
def test_a_long_question_is_not_answered_by_the_nearest_conversation(harbour: Holdfast) -> None:
    question = (
        "Which supplier delivers the diesel for the boats of the harbour, how often do they come "
        "each week, and who signs for the notifications?"
    )
    assert harbour.ask(question).weak
    assert harbour.recall(question).abstained


@pytest.mark.model
def test_a_changed_recap_comes_after_the_one_that_changed_it(harbour: Holdfast) -> None:
    hits = harbour.recall("What are the quiet hours for push notifications?", limit=10).hits
    texts = [hit.text for hit in hits]
    later = next(n for n, text in enumerate(texts) if "22:00 to 06:30" in text)
    earlier = [n for n, text in enumerate(texts) if "22:00 to 07:00" in text]
    assert all(later < place for place in earlier)
    assert all(hits[place].status.value == "superseded" for place in earlier)
