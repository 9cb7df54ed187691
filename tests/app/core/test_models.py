from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.core.models import load_semantic_search
from holdfast.app.memory import Holdfast
from holdfast.settings import load_settings
from tests.research.history.test_expertise import ANN, History


@pytest.mark.model
def test_threads_with_the_same_settings_share_models(tmp_path: Path) -> None:
    settings = load_settings({"HOLDFAST_HOME": str(tmp_path), "HOME": str(tmp_path)})
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(load_semantic_search, [settings] * 8))
    assert len({id(one) for one in made}) == 8
    parts = {id(one._parts) for one in made}  # pyright: ignore[reportPrivateUsage]
    assert len(parts) == 1
    elsewhere = load_semantic_search(replace(settings, home=tmp_path / "other", bank="other"))
    assert id(elsewhere._parts) in parts, "models are chosen by their own settings alone"  # pyright: ignore[reportPrivateUsage]
    without = load_semantic_search(replace(settings, embed_model="none"))
    assert without._parts.embedder is None  # pyright: ignore[reportPrivateUsage]


def test_without_time_to_embed_commits_wait_and_the_latest_come_first(tmp_path: Path) -> None:
    made = History(tmp_path)
    for number in range(1, 4):
        made.commit(ANN, f"2026-03-0{number}", f"Paint hull {number}", "hull.py", number)
    settings = load_settings({"HOLDFAST_HOME": str(tmp_path / "mine"), "HOME": str(tmp_path)})
    with Holdfast(replace(settings, bank="harbour")) as memory:
        memory.ingestion.ingest_git(made.top)
        assert memory.ingestion.embed(-1.0) == 3  # words find them until there is time
        first = memory.reader.vectors.unembedded("none", ("commit",), 1)
        assert first[0].time.startswith("2026-03-03"), "the latest come first"
        assert memory.ingestion.embed(None) == 0
    made.memory.close()
