from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.learn.retained_text import read_dimensions
from holdfast.model.knowledge import Network
from holdfast.operations.entities import entity
from holdfast.settings import Settings

NOW = "2026-11-17T12:00:00.000Z"
REDIRECT = (
    "I fixed the auth redirect by moving AuthProvider to src/app/_layout.tsx at line 15 on "
    "January 2, 2025 because users were stuck in a redirect loop"
)


def test_a_text_gives_when_where_who_and_why_as_far_as_it_states_them() -> None:
    found = read_dimensions(REDIRECT, NOW)
    assert found.network is Network.EXPERIENCE
    assert found.when == "2025-01-02T00:00:00.000Z"
    assert found.where == "src/app/_layout.tsx:15" and found.who == "AuthProvider"
    assert found.why == "users were stuck in a redirect loop"
    bare = read_dimensions("Auth uses magic links for passwordless login", NOW)
    assert bare == (Network.WORLD, "", "", "", "")


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("Auth uses Supabase magic links for passwordless login", "world"),
        ("We decided on SQLite because one file is easy to back up", "world"),
        ("Test the importer before each release", "world"),
        ("We deploy on Tuesdays, never on Fridays", "world"),
        ("Moved the importer to src/jobs", "experience"),
        ("We've just rewritten nothing, but we renamed the mailer", "world"),
        ("I also renamed the mailer", "experience"),
        ("Auth changes often require corresponding navigation updates", "observation"),
        ("I noticed that the build tends to hang", "observation"),
        ("This codebase prefers explicit error handling over try-catch", "opinion"),
        ("I think that the parser should be generated", "opinion"),
    ],
)
def test_the_words_of_a_text_propose_its_network(text: str, network: str) -> None:
    assert read_dimensions(text, NOW).network == network


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("Moved the importer to src/jobs yesterday", "2026-11-16"),
        ("Fixed the login three days ago", "2026-11-14"),
        ("Fixed the login for every Friday release", ""),
        ("Fixed the login last year", ""),
        ("Releases need a tag since 2024", ""),
    ],
)
def test_only_a_stated_day_in_the_past_dates_what_was_done(text: str, when: str) -> None:
    assert read_dimensions(text, NOW).when[:10] == when


def test_a_retained_text_is_kept_with_what_it_states(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    with Holdfast(settings) as memory:
        kept = memory.retain(REDIRECT, bank="proj")
        assert (kept.network, kept.where) == (Network.EXPERIENCE, "src/app/_layout.tsx:15")
        assert kept.when.startswith("2025-01-02") and kept.why.startswith("users were stuck")
        about = entity(memory, "AuthProvider", "proj")
        assert f"holdfast://memory/{kept.id}" in str(about)
        told = memory.retain(REDIRECT, "world", where="login", why="the loop", bank="proj")
        assert (told.network, told.where, told.why) == (Network.WORLD, "login", "the loop")
        judged = memory.retain("I think that the staging cluster is flaky", bank="proj")
        assert (judged.network, judged.confidence) == (Network.OPINION, 0.7)
        sure = memory.retain("Ships on Tuesdays", confidence=0.9, bank="proj")
        assert (sure.network, sure.confidence) == (Network.OPINION, 0.9)
