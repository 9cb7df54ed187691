from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.uris import uri
from holdfast.recall.lookup.page_url import page_url
from holdfast.settings import Settings

SAMPLES = Path(__file__).parents[3] / "examples" / "sessions"


@pytest.mark.slow
def test_a_record_of_a_subagent_links_to_the_page_of_its_session(tmp_path: Path) -> None:
    with Holdfast(Settings(home=tmp_path / "home", claude_dir=tmp_path)) as memory:
        memory.ingestion.ingest(memory.ingestion.find([SAMPLES]), then_know=False)
        reader = memory.reader
        for session in reader.sessions.latest(None, 50):
            turn = reader.turns.of_session(session.bank, session.id)[0]
            told = page_url(reader, session.bank, uri("turn", turn.id), session.host)
            assert told == f"/sessions/{session.id}#msg-{turn.seq}"
            assert reader.sessions.named(told.split("/")[2].partition("#")[0]) == [session]


@pytest.mark.slow
def test_a_deleted_record_links_to_a_page_that_says_so(tmp_path: Path) -> None:
    with Holdfast(Settings(home=tmp_path / "home", claude_dir=tmp_path)) as memory:
        memory.ingestion.ingest(memory.ingestion.find([SAMPLES]), then_know=False)
        session = memory.reader.sessions.latest(None, 1)[0]
        gone = uri("turn", memory.reader.turns.of_session(session.bank, session.id)[0].id)
        memory.erasure.purge(gone, session.bank)
        address = page_url(memory.reader, session.bank, gone, session.host)
        assert address == gone.replace("holdfast://", "/record/")
        assert page_url(memory.reader, session.bank, "holdfast://turn/never-there", "") == (
            "/record/turn/never-there"
        )
