"""A multilingual model in the layout of the Hugging Face Hub, made here: a SentencePiece vocabulary
(Unigram), `onnx/model_quantized.onnx`, and vectors in which words of like meaning are alike in
whatever language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from holdfast.app.core.models import load_semantic_search
from holdfast.app.memory import Holdfast
from holdfast.inference.model_choice import choose_embedder
from holdfast.settings import Settings
from tests.support.onnx_graphs import INPUTS, save

pytestmark = pytest.mark.model

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
# Each row: words for one thing in several languages.
MEANINGS = (
    ("cache", "キャッシュ", "кэш", "缓存"),
    ("password", "パスワード", "пароль", "密码"),
    ("invoice", "請求書", "счёт", "发票"),
)
ANSWERS = {
    "キャッシュについて教えて": "The cache lives in Redis.",
    "Что у нас про пароль?": "A password has twelve characters.",
    "发票呢？": "Every invoice is kept for ten years.",
}


def write_folder(folder: Path) -> Path:
    """The folder of a model, as it is downloaded."""
    words = [f"▁{word}" for row in MEANINGS for word in row]
    bare = [word for row in MEANINGS for word in row]
    pieces = [*SPECIAL, *words, *bare, "▁"]
    tokenizer = Tokenizer(
        models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3, byte_fallback=False)
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": 512, "tokenizer_class": "XLMRobertaTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    vectors = np.full((len(pieces), len(MEANINGS) + 1), 0.0, np.float32)
    vectors[: len(SPECIAL), -1] = 0.01
    for n, row in enumerate(MEANINGS):
        for word in row:
            vectors[[pieces.index(f"▁{word}"), pieces.index(word)], n] = 1.0
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["out"])]
    save(folder / "onnx" / "model_quantized.onnx", nodes, {"table": vectors}, INPUTS[:2])
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    model = write_folder(tmp_path / "multilingual-tiny")
    return Settings(home=tmp_path / "home", claude_dir=tmp_path, embed_model=str(model))


@pytest.fixture
def memory(settings: Settings) -> Iterator[Holdfast]:
    with Holdfast(settings) as opened:
        for statement in ANSWERS.values():
            opened.remember(statement, "office")
        opened.ingestion.embed()
        yield opened


def test_a_folder_of_the_hub_with_a_sentencepiece_vocabulary_is_opened(settings: Settings) -> None:
    embedder = choose_embedder(settings)
    assert embedder is not None
    assert embedder.name.startswith("multilingual-tiny")
    english, japanese, other = embedder.embed(["cache", "キャッシュ", "пароль"])
    assert float(english @ japanese) > 0.99
    assert float(english @ other) < 0.1


@pytest.mark.parametrize("question", ANSWERS)
def test_a_multilingual_model_finds_what_was_said_in_another_language(
    memory: Holdfast, question: str
) -> None:
    found = memory.recall(question, "office")
    assert [hit.text for hit in found.hits][:1] == [ANSWERS[question]]


def test_a_model_that_was_chosen_is_trusted_in_every_language(settings: Settings) -> None:
    question = next(iter(ANSWERS))
    assert load_semantic_search(settings).understands(question)
    shipped = load_semantic_search(replace(settings, embed_model=""))
    assert not shipped.understands(question)
    assert shipped.understands("Where does the cache live?")
