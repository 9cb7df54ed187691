from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.core.models import load_semantic_search
from holdfast.settings import load_settings


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
