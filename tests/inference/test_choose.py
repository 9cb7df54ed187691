from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ModelError, SettingsError
from holdfast.inference.model_choice import choose_embedder, choose_reranker
from holdfast.settings import FILE_NAME, Settings, load_settings
from tests.support.onnx_graphs import count_of_second, token_states


def configured(home: Path, text: str = "", **variables: str) -> Settings:
    (home / FILE_NAME).write_text(text, "utf-8")
    return load_settings({"HOLDFAST_HOME": str(home), "HOME": str(home), **variables})


@pytest.mark.model
def test_without_settings_the_packaged_models_embed_and_rerank(tmp_path: Path) -> None:
    settings = configured(tmp_path)
    embedder, reranker = choose_embedder(settings), choose_reranker(settings)

    assert embedder is not None and embedder.name == "all-MiniLM-L6-v2-int8"
    assert reranker is not None
    scores = reranker.score("Why was Redis dropped?", ["The cake has eggs.", "Redis lost counts."])
    assert scores is not None and scores[0] < scores[1]


def test_a_model_can_be_turned_off(tmp_path: Path) -> None:
    settings = configured(
        tmp_path,
        '[embed]\nmodel = "none"\nendpoint = "http://127.0.0.1:1/v1"\n[rerank]\nmodel = "none"',
    )
    assert choose_embedder(settings) is None
    assert choose_reranker(settings) is None


def test_a_folder_or_file_can_be_named_in_the_settings_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    token_states(tmp_path / "mine")
    count_of_second(tmp_path / "pairs.onnx")
    filed = configured(tmp_path, '[embed]\nmodel = "~/mine"\n[rerank]\nmodel = "~/pairs.onnx"')
    named = configured(
        tmp_path,
        '[embed]\nmodel = "none"\n[rerank]\nmodel = "none"',
        HOLDFAST_EMBEDDER=str(tmp_path / "mine"),
        HOLDFAST_RERANKER=str(tmp_path / "pairs.onnx"),
    )
    for settings in (filed, named):
        embedder, reranker = choose_embedder(settings), choose_reranker(settings)
        assert embedder is not None and embedder.dimension == 3
        assert reranker is not None and reranker.score("a", ["b"]) == [2]


def test_a_missing_model_is_an_error_and_no_other_is_used(tmp_path: Path) -> None:
    settings = configured(
        tmp_path, '[embed]\nmodel = "/nowhere/m"\n[rerank]\nmodel = "/nowhere/r.onnx"'
    )
    with pytest.raises(ModelError, match="/nowhere/m"):
        choose_embedder(settings)
    with pytest.raises(ModelError, match=r"/nowhere/r\.onnx"):
        choose_reranker(settings)


def test_the_key_of_an_endpoint_is_read_from_where_it_is_named_and_never_shown(
    tmp_path: Path,
) -> None:
    text = """
        [embed]
        endpoint = "http://127.0.0.1:1/v1"
        endpoint_model = "small"
        api_key_env = "MY_KEY"
        """
    settings = configured(tmp_path, text, MY_KEY="k-123")

    assert settings.embed_api_key == "k-123" and "k-123" not in repr(settings)
    embedder = choose_embedder(settings)
    assert embedder is not None
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:1"):
        embedder.embed(["a"])
    with pytest.raises(SettingsError, match="MY_KEY"):
        choose_embedder(configured(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('endpoint = "http://127.0.0.1:1/v1"', "which model"),
        ('endpoint = "http://127.0.0.1:1/v1"\nmodel = "/m"', "both set"),
    ],
)
def test_contradictory_settings_are_an_error(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint) as caught:
        choose_embedder(configured(tmp_path, f"[embed]\n{text}"))
    assert caught.value.remedy
