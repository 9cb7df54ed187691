from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from holdfast.app.models import load_meaning
from holdfast.settings import load_settings


def test_threads_share_the_models_of_the_same_settings(tmp_path: Path) -> None:
    settings = load_settings({"HOLDFAST_HOME": str(tmp_path), "HOME": str(tmp_path)})
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: load_meaning(settings), range(8)))
    assert len({id(one) for one in made}) == 8
    parts = {id(one._parts) for one in made}  # pyright: ignore[reportPrivateUsage]
    assert len(parts) == 1
    without = load_meaning(replace(settings, embed_model="none"))
    assert without._parts.embedder is None  # pyright: ignore[reportPrivateUsage]
