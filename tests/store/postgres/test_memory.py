"""A whole memory on a server: the same answers as from a file, through the public doors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.answers.ask import AskOptions
from holdfast.app.briefs.hook_briefs import goal_brief_by_words
from holdfast.app.core.backends import (
    location_of,
    open_read_only,
    open_store,
    open_without_migrating,
)
from holdfast.app.evaluation.sets import neutral_settings
from holdfast.app.memory import Holdfast
from holdfast.errors import SettingsError, StoreError
from holdfast.settings import Settings, load_settings
from tests.support.postgres_server import Server
from tests.support.transcripts import bug_hunt


def settings_of(home: Path, store: str = "", embedder: str = "none") -> Settings:
    given = {"HOME": str(home), "HOLDFAST_EMBEDDER": embedder, "HOLDFAST_STORE": store}
    return load_settings(given)


@pytest.mark.parametrize("embedder", ["none", ""], ids=["words", "meaning"])
def test_a_memory_on_a_server_answers_like_one_in_a_file(
    postgres: Server, tmp_path: Path, embedder: str
) -> None:
    told: list[set[tuple[str, str]]] = []
    session = bug_hunt().write(tmp_path / "said")
    for name, store in (("file", ""), ("server", postgres.database())):
        settings = settings_of(tmp_path / name, store, embedder)
        with Holdfast(settings, now=lambda: "2026-09-02T12:00:00Z") as m:
            m.ingest(m.ingestion.find([session], "proj"))
            m.ingestion.embed()
            m.remember("Imports pass an idempotency key, always.", bank="proj")
            asked = [m.recall(q, "proj") for q in ("rows twice", "idempotency key", "importer.py")]
            told.append({(hit.uri, hit.text) for found in asked for hit in found.hits})
            answer = m.ask("Why did the nightly import load every row twice?", "proj")
            told[-1].add(("answer", answer.answer))
        assert (tmp_path / name / ".holdfast" / "memory.db").exists() is not bool(store)

    assert len(told[0]) > 3 and told[0] == told[1]
    assert len(told[0]) > 5


def test_a_question_to_a_server_has_a_session_although_there_is_no_home_yet(
    postgres: Server, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path, postgres.database())
    with Holdfast(settings, now=lambda: "2026-09-02T12:00:00Z") as memory:
        memory.remember("We deploy on Tuesdays.", bank="proj")
        asked = memory.answers.investigate(AskOptions("When do we deploy?", "proj"))
        answer = asked.answer()
        again = list(memory.answers.investigate(AskOptions("When do we deploy?", "proj"), asked.id))
        assert len(again) == 1 and again[0].answer == answer


def test_the_command_line_uses_the_configured_server(postgres: Server, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_STORE": postgres.database(),
    }

    def run(*words: str) -> Any:
        said = subprocess.run(
            [sys.executable, "-m", "holdfast", *words, "--bank", "proj", "--json"],
            env=environment,
            capture_output=True,
            check=True,
        )
        return json.loads(said.stdout)

    kept = run("remember", "We deploy on Tuesdays.")
    found = run("recall", "when do we deploy")

    assert [hit["uri"] for hit in found["hits"]] == [kept["uri"]]
    assert not (tmp_path / ".holdfast" / "memory.db").exists()


def test_a_read_only_store_cannot_write_and_needs_an_existing_memory(
    postgres: Server, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path, postgres.empty_database())
    for opened in (open_read_only, open_without_migrating):
        with pytest.raises(StoreError, match="not there yet"):
            opened(settings)
    with Holdfast(settings) as memory:
        memory.remember("We deploy on Tuesdays.", bank="proj")

    reader = open_read_only(settings)
    try:
        other = reader.borrow_reader()
        assert other is not None
        assert other.records.counts().memories == reader.records.counts().memories == 1
        reader.return_reader(other)
        with pytest.raises(StoreError, match=r"can only be read: .*read-only") as raised:
            reader.__dict__["database"].run("DELETE FROM remembered_memory")
        assert "standby" in raised.value.remedy and "Try again" not in raised.value.remedy
    finally:
        reader.close()


def test_a_hook_without_a_local_file_queries_the_server(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.database()
    monkeypatch.setenv("HOLDFAST_STORE", url)
    settings = settings_of(tmp_path, url)
    with Holdfast(settings) as memory:
        memory.remember("Imports pass an idempotency key, always.", bank="proj")
        bank = memory.context.bank_id("proj")

    told = goal_brief_by_words(
        str(settings.home), str(bank), "Should imports pass an idempotency key?"
    )

    assert "idempotency key" in str(told["text"])


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "postgresql://me:secret@db.example.org:5433/memory?a=b")

    assert "secret" not in f"{settings} {location_of(settings)} {settings.vectors}"
    assert location_of(settings) == "postgresql://db.example.org:5433/memory"


def test_another_kind_of_store_is_refused_without_showing_its_url(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "mysql://me:secret@db/memory")

    with pytest.raises(SettingsError) as raised:
        open_store(settings)

    assert "secret" not in f"{raised.value.message} {raised.value.remedy}"


def test_stores_do_not_share_vector_files_and_evaluations_use_no_server(tmp_path: Path) -> None:
    one = settings_of(tmp_path)
    other = replace(one, store="postgresql://db/memory")

    assert one.vectors != other.vectors
    assert neutral_settings(other, tmp_path).store == ""
    assert location_of(one) == str(one.database)
    store = open_store(one)
    store.close()
    assert one.database.exists()
