"""Who knows what, by a history made with real git."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.research.history.expertise import Expert
from holdfast.research.history.question_kinds import expert_topic
from holdfast.settings import Settings

NOW = "2026-11-15T12:00:00.000Z"
ANN, BEN = ("Ann Ex", "ann@x.org"), ("Ben Wu", "ben@x.org")


class History:
    def __init__(self, folder: Path) -> None:
        self.top = folder / "harbour"
        self.top.mkdir()
        self.git(ANN, "2020-01-01", "init", "-q", "-b", "main")
        settings = Settings(folder / "home", folder / "claude", embed_model="none", bank="harbour")
        self.memory = Holdfast(settings, lambda: NOW)

    def git(self, who: tuple[str, str], day: str, *arguments: str) -> None:
        when = f"{day}T12:00:00Z"
        environment = {
            "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.top.parent),
            "GIT_AUTHOR_NAME": who[0], "GIT_AUTHOR_EMAIL": who[1], "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": who[0], "GIT_COMMITTER_EMAIL": who[1],
            "GIT_COMMITTER_DATE": when,
        }  # fmt: skip
        command = ["git", "-C", str(self.top), *arguments]
        subprocess.run(command, check=True, capture_output=True, env=environment)

    def commit(self, who: tuple[str, str], day: str, message: str, file: str, lines: int) -> None:
        path = self.top / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{message} {n}\n" for n in range(lines)))
        self.git(who, day, "add", "-A")
        self.git(who, day, "commit", "-q", "-m", message)

    def commit_id(self, who: tuple[str, str], day: str, message: str, file: str, lines: int) -> str:
        self.commit(who, day, message, file, lines)
        command = ["git", "-C", str(self.top), "rev-parse", "HEAD"]
        return subprocess.run(command, check=True, capture_output=True).stdout.decode().strip()

    def who(self, about: str) -> list[Expert]:
        self.memory.ingestion.ingest_git(self.top, "harbour")
        return self.memory.browse.who_knows(about)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path)
    yield made
    made.memory.close()


def names(found: list[Expert]) -> list[str]:
    return [expert.name for expert in found]


def test_recent_work_counts_more_than_old(history: History) -> None:
    history.commit(ANN, "2021-01-01", "Build the payments", "pay/card.py", 30)
    history.commit(ANN, "2021-01-02", "Payments again", "pay/card.py", 40)
    history.commit(BEN, "2026-10-01", "Payments by invoice", "pay/invoice.py", 20)
    found = history.who("payments")
    assert names(found) == ["Ben Wu", "Ann Ex"]
    assert found[0].evidence[0].startswith("holdfast://commit/") and found[1].commits == 2
    assert sum(expert.share for expert in found) == pytest.approx(1, abs=0.01)


def test_experts_on_a_file_or_folder_are_those_who_changed_it(history: History) -> None:
    history.commit(ANN, "2026-09-01", "One", "pay/card.py", 30)
    history.commit(BEN, "2026-09-01", "Two", "ui/page.py", 300)
    assert names(history.who("pay/card.py")) == ["Ann Ex"]
    assert names(history.who("ui/")) == ["Ben Wu"]
    assert history.who("ui/")[0].areas == ("ui/",)


def test_the_mailmap_is_applied_and_one_name_is_one_person(history: History) -> None:
    history.commit(("annie", "annie@home"), "2026-09-01", "Payments one", "a.py", 3)
    history.commit(ANN, "2026-09-02", "Payments two", "b.py", 3)
    history.commit(("Ann Ex", "ann@new.org"), "2026-09-03", "Payments three", "c.py", 3)
    (history.top / ".mailmap").write_text("Ann Ex <ann@x.org> <annie@home>\n")
    (only,) = history.who("payments")
    assert (only.name, only.commits) == ("Ann Ex", 3)


def test_bots_are_listed_separately_and_reviews_count(history: History) -> None:
    bot = ("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com")
    for day in range(1, 9):
        history.commit(bot, f"2026-09-0{day}", f"Bump payments to {day}", "a.py", day)
    trailers = "Reviewed-by: Ben Wu <ben@x.org>\nCo-Authored-By: Claude <noreply@anthropic.com>"
    body = f"Payments\n\n{trailers}"
    history.commit(ANN, "2026-09-09", body, "b.py", 3)
    found = history.who("payments")
    assert names(found)[:2] == ["Ann Ex", "Ben Wu"] and found[1].reviews == 1
    assert {expert.name for expert in found[2:]} == {"dependabot[bot]", "Claude"}
    assert all(expert.is_bot and not expert.share for expert in found[2:])


def test_no_expert_is_named_without_a_commit_on_the_subject(history: History) -> None:
    history.commit(ANN, "2026-09-01", "One", "a.py", 3)
    assert history.who("kubernetes") == []


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Who knows about payments?", "payments"),
        ("who knows most about the retry logic?", "the retry logic"),
        ("Who wrote src/ui/rest.js?", "src/ui/rest.js"),
        ("who should I ask about the importer", "the importer"),
        ("Whom can we talk to about billing?", "billing"),
        ("who is the maintainer of the crane?", "the crane"),
        ("Why did we choose X?", ""),
        ("who?", ""),
    ],
)
def test_questions_about_people_are_recognised(question: str, topic: str) -> None:
    assert expert_topic(question) == topic


def test_merging_alone_is_no_expertise(history: History) -> None:
    history.commit(ANN, "2026-09-01", "Build the harbour", "a.txt", 3)
    history.git(ANN, "2026-09-02", "checkout", "-q", "-b", "cranes")
    history.commit(ANN, "2026-09-02", "Build the cranes", "cranes.py", 9)
    history.git(ANN, "2026-09-03", "checkout", "-q", "main")
    history.git(BEN, "2026-09-03", "merge", "-q", "--no-ff", "-m", "Merge the cranes", "cranes")
    assert names(history.who("cranes")) == ["Ann Ex"]
