"""An answer quotes what was said later before what it amends, though it has fewer words of the
question."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.amendments import Pair, read_pairs

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.refine_banks import open_filled, session_on
from tests.support.sample_rankings import SESSIONS
from tests.support.transcripts import Script

pytestmark = pytest.mark.slow

PAIRS = [
    pair
    for pair in read_pairs("tuning")
    if pair.id
    in (
        "bugfix-tests",
        "new-dependencies",
        "screen-flags",
        "pre-commit",
        "phone-format",
        "audit-log",
    )
]


def scripts(pair: Pair) -> list[Script]:
    found: list[Script] = []
    for number, side in enumerate((pair.earlier, pair.later), start=1):
        script = session_on(side.day, number)
        for speaker, text in side.turns:
            script.user(text) if speaker == "user" else script.assistant(text)
        found.append(script)
    return found


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.id)
def test_an_answer_quotes_the_later_statement_first(tmp_path: Path, pair: Pair) -> None:
    with open_filled(tmp_path, *scripts(pair)) as memory:
        cited = [citation.time[:10] for citation in memory.ask(pair.question).citations]
        assert cited[0] == pair.later.day, cited


def test_a_later_statement_is_quoted_once(tmp_path: Path) -> None:
    (pair,) = (pair for pair in PAIRS if pair.id == "screen-flags")
    with open_filled(tmp_path, *scripts(pair)) as memory:
        lines = memory.ask(pair.question).answer.split("\n")
        quoted = [line.rpartition(" [")[0].lower() for line in lines]
        assert len(quoted) > 1 and len(set(quoted)) == len(quoted)


def test_a_longer_quote_of_a_later_statement_is_that_statement(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path, bank="tidewatch")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([SESSIONS]))
        answer = memory.ask("Do we still cache API responses in Redis?").answer
        assert answer.count("they are a table in SQLite now") == 1, answer
