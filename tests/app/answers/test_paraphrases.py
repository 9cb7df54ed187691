"""What a small bank knows is answered in other words; what it does not know is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.app.memory import Holdfast
from holdfast.recall.core.plan import Budget
from holdfast.settings import Settings
from tests.support.transcripts import Script

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    folder = tmp_path_factory.mktemp("orchard")
    script = Script(cwd="/home/dev/orchard")
    script.user("People keep forgetting their credentials. Let's go with links that are mailed.")
    script.assistant("Signing in works by a mailed link now. Nobody needs a password any more.")
    script.user("We dropped Airflow because nobody could operate it.")
    script.assistant("Jobs are rows of a Postgres table now.")
    script.tool("Grep", "kubernetes.md\nk8s/move.yaml", pattern="move.*kubernetes")
    script.tool("Bash", "no move to kubernetes here\ndone", command="grep -rn kubernetes docs")
    script.write(folder / "p")
    with Holdfast(Settings(home=folder / "home", claude_dir=folder)) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
        memory.remember("Packages are installed with yarn.", "orchard")
        memory.remember("Releases happen on Tuesdays, never on a Friday.", "orchard")
        memory.ingestion.embed()
        yield memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which tool are packages installed with?", "yarn"),
        ("login without passwords", "Nobody needs a password"),
        ("On which day do we ship?", "Tuesdays"),
        ("Why was Airflow abandoned?", "nobody could operate it"),
    ],
)
def test_a_paraphrase_is_answered(orchard: Holdfast, question: str, answer: str) -> None:
    found = orchard.ask(question, "orchard")
    assert not found.abstained and answer in found.answer


@pytest.mark.parametrize("budget", [Budget.LOW, Budget.MID])
@pytest.mark.parametrize(
    "question",
    [
        "When did we move to Kubernetes?",
        "Why did we drop Kafka?",
        "How are invoices numbered?",
        "Which browser versions are supported?",
    ],
)
def test_a_question_about_something_else_is_not(
    orchard: Holdfast, question: str, budget: Budget
) -> None:
    found = orchard.ask(question, "orchard", budget=budget)
    assert found.abstained or (found.weak and found.answer.startswith("Perhaps: "))


def test_a_text_without_the_name_that_is_asked_for_needs_more(orchard: Holdfast) -> None:
    def needed(question: str) -> set[float]:
        ranked = orchard.search.rank(question, "orchard").candidates
        return {c.notes["needed"] for c in ranked if "dropped Airflow" in c.passage.body}

    named, swapped = needed("Why did we drop Airflow?"), needed("Why did we drop Kafka?")
    assert named and swapped and min(swapped) > max(named)
