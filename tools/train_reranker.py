"""Train the reranker: a cross-encoder over all-MiniLM-L6-v2 that reads a question and a passage.

Three steps, of which the second wants a GPU and nothing but PyTorch and NumPy:

    python tools/train_reranker.py prepare DATA.json.xz … --out pairs.npz
    python tools/train_reranker.py train pairs.npz --base minilm.npz --out FOLDER --seconds 140
    python tools/train_reranker.py export FOLDER/average.*.npz --base minilm.npz --out model.onnx

The data is not in this repository: RERANKER.md beside the model says what it was and how to make
one's own. A file is JSON: a name of a group (passages that are searched together: one project, one
series of conversations) to {"P": [passage, …], "Q": [[question, [right passages], mode, source,
[wrong passages]], …]}. The mode "b" says that only the best of the right ones is meant. A question
with no right passage is one that nothing answers.
"""

from __future__ import annotations

import argparse
import collections
import json
import lzma
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Group = Mapping[str, Any]

QUERY_TOKENS, PASSAGE_TOKENS = 64, 240
# Wrong passages of a question: found by words while the data is prepared, by meaning when training.
BY_WORDS = 24
MAX_POSITIVES = 8
# How often a question of a source is drawn, relative to the others; sources not named: 0.01.
SHARES = {
    "written": 0.30, "item": 0.06, "chat": 0.20, "commit2sess": 0.05, "prompt": 0.025,
    "ans2prompt": 0.012, "rule": 0.025, "fact": 0.015, "did": 0.015, "errfix": 0.006,
    "fileq": 0.012, "corr": 0.01, "amend": 0.012, "synth": 0.05, "dlgrule": 0.03, "dlgqa": 0.05,
    "qmsum": 0.05, "qa": 0.03, "commit": 0.02, "commit-q": 0.02, "doc": 0.02, "ict-ag": 0.01,
}  # fmt: skip
# No question is drawn more often than one out of so many.
MOST_OFTEN = 4_000
_WORD = re.compile(r"[A-Za-z0-9]+")
_ENDINGS = ("ing", "ies", "ed", "es", "s")


# ---- prepare


def prepare(arguments: argparse.Namespace) -> None:
    """Tokenise everything and find wrong passages by their words."""
    from holdfast.inference.packaged import TOKENIZER
    from holdfast.inference.wordpiece import WordPiece

    chance = random.Random(1)
    tokenizer = WordPiece(json.loads(TOKENIZER.read_text("utf-8")))
    passages: list[str] = []
    queries: list[tuple[str, list[int], str, str]] = []
    pools: list[list[int]] = []
    bounds: list[tuple[int, int]] = []
    for name, group in _groups(arguments.data, arguments.leave_out):
        asked = _some(group["Q"], arguments.most, chance)
        if not asked:
            continue
        low = len(passages)
        passages += group["P"]
        index = WordIndex(group["P"])
        for text, right, mode, source, *wrong in asked:
            near = index.nearest(text, BY_WORDS + MAX_POSITIVES)
            kept = [one for one in near if one not in set(right)]
            pool = list(dict.fromkeys([*(wrong[0] if wrong else ()), *kept]))[:BY_WORDS]
            chosen = _positives(right, mode, index.scores(text))
            queries.append((text, [low + one for one in chosen], mode, source))
            pools.append([low + one for one in pool])
            bounds.append((low, len(passages)))
        print(f"{name}: {len(asked)} questions, {len(group['P'])} passages", flush=True)
    passage_tokens = [tokenizer.pieces(text, PASSAGE_TOKENS) for text in passages]
    query_tokens = [tokenizer.pieces(query[0], QUERY_TOKENS) for query in queries]
    np.savez_compressed(
        arguments.out,
        positives=_padded([query[1] for query in queries], MAX_POSITIVES),
        pool=_padded(pools, BY_WORDS),
        bounds=np.array(bounds, np.int32),
        weights=_draw_weights([query[3] for query in queries]),
        passage_tokens=np.array([*chain.from_iterable(passage_tokens)], np.uint16),
        passage_ends=np.cumsum([len(tokens) for tokens in passage_tokens]),
        query_tokens=np.array([*chain.from_iterable(query_tokens)], np.uint16),
        query_ends=np.cumsum([len(tokens) for tokens in query_tokens]),
    )
    print(f"{len(queries)} questions, {len(passages)} passages", flush=True)


def _groups(files: Sequence[Path], leave_out: str) -> Iterable[tuple[str, Group]]:
    unwanted = re.compile(leave_out) if leave_out else None
    for file in files:
        packed = file.read_bytes()
        text = lzma.decompress(packed) if file.suffix == ".xz" else packed
        for name, group in json.loads(text).items():
            if unwanted is None or not unwanted.search(name):
                yield name, group


def _some(queries: Sequence[Any], most: int, chance: random.Random) -> list[Any]:
    """All written questions, and at most so many of every other source."""
    by_source: dict[str, list[Any]] = collections.defaultdict(list)
    for query in queries:
        by_source[query[3]].append(query)
    found: list[Any] = []
    for source, some in by_source.items():
        is_written = source in ("written", "item", "chat")
        found += some if is_written or len(some) <= most else chance.sample(some, most)
    return found


def _positives(right: Sequence[int], mode: str, scores: Array) -> list[int]:
    ranked = sorted(right, key=lambda one: -scores[one])
    return ranked[:1] if mode == "b" else ranked[:MAX_POSITIVES]


class WordIndex:
    """BM25 over the passages of a group."""

    def __init__(self, passages: Sequence[str]) -> None:
        found = [collections.Counter(_words(text)) for text in passages]
        lengths = np.array([sum(counts.values()) for counts in found], np.float32)
        mean = max(1.0, float(lengths.mean())) if len(found) else 1.0
        self._size = len(passages)
        self._rows: dict[str, tuple[Array, Array]] = {}
        places: dict[str, list[tuple[int, int]]] = collections.defaultdict(list)
        for row, counts in enumerate(found):
            for word, count in counts.items():
                places[word].append((row, count))
        for word, entries in places.items():
            rows = np.array([row for row, _ in entries])
            counts = np.array([count for _, count in entries], np.float32)
            rarity = math.log(1 + (self._size - len(rows) + 0.5) / (len(rows) + 0.5))
            weight = counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * lengths[rows] / mean)) * rarity
            self._rows[word] = rows, weight

    def scores(self, query: str) -> Array:
        total = np.zeros(self._size, np.float32)
        for word in set(_words(query)):
            if word in self._rows:
                rows, weight = self._rows[word]
                total[rows] += weight
        return total

    def nearest(self, query: str, count: int) -> list[int]:
        scores = self.scores(query)
        return [int(one) for one in np.argsort(-scores, kind="stable")[:count] if scores[one] > 0]


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        ending = next((e for e in _ENDINGS if len(word) > len(e) + 2 and word.endswith(e)), "")
        found.append(word[: -len(ending)] if ending else word)
    return found


def _padded(rows: Sequence[Sequence[int]], width: int) -> Array:
    table = np.full((len(rows), width), -1, np.int32)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row[:width]
    return table


def _draw_weights(sources: Sequence[str]) -> Array:
    counts = collections.Counter(sources)
    weights = np.array([SHARES.get(source, 0.01) / counts[source] for source in sources])
    weights = np.minimum(weights, weights.sum() / MOST_OFTEN)
    shares = {name: float(weights[[s == name for s in sources]].sum()) for name in counts}
    print({name: round(share / sum(shares.values()), 3) for name, share in shares.items()})
    return (weights / weights.sum()).astype(np.float32)


# ---- train


def train(arguments: argparse.Namespace) -> None:
    """Train the six layers, then distil three of them; save the weights as they were last, and
    averaged over the last part of the training."""
    import reranker_training

    reranker_training.train(
        dict(np.load(arguments.pairs)),
        dict(np.load(arguments.base)),
        _loaded(arguments.start),
        arguments.out,
        arguments.seconds,
        arguments.student_seconds,
        arguments.rate,
    )


def _loaded(files: Sequence[Path]) -> dict[str, Array]:
    return {name: value for file in files for name, value in np.load(file).items()}


# ---- export


def export(arguments: argparse.Namespace) -> None:
    """Write the network as an ONNX graph of integers."""
    from bert_graph import Bert

    base = dict(np.load(arguments.base))
    weights = _loaded(arguments.weights)
    layers = 1 + max(int(found[1]) for name in weights if (found := re.search(r"L\.(\d+)\.", name)))
    config = {
        "num_hidden_layers": layers, "hidden_size": 384, "num_attention_heads": 12,
        "layer_norm_eps": 1e-12,
    }  # fmt: skip
    graph = Bert(bert_weights(base, weights), config).pair_model(quantised=True)
    arguments.out.write_bytes(graph.SerializeToString())
    print(f"{arguments.out}: {layers} layers, {arguments.out.stat().st_size / 1e6:.1f} MB")


def bert_weights(base: Mapping[str, Array], trained: Mapping[str, Array]) -> dict[str, Array]:
    """The weights under the names that BERT has for them; words are those of the base."""
    found = {"embeddings.word_embeddings.weight": base["we_q"].astype(np.float32) * base["we_s"]}
    found["embeddings.position_embeddings.weight"] = trained["e.pe"]
    found["embeddings.token_type_embeddings.weight"] = trained["e.te"]
    names = {"o": "attention.output.dense", "n1": "attention.output.LayerNorm",
             "f": "intermediate.dense", "g": "output.dense", "n2": "output.LayerNorm"}  # fmt: skip
    for part in ("weight", "bias"):
        found[f"embeddings.LayerNorm.{part}"] = trained[f"e.n0.{part}"]
        found[f"head.{part}"] = trained[f"h.{part}"]
    for name, value in trained.items():
        match = re.fullmatch(r"e\.L\.(\d+)\.(\w+)\.(weight|bias)", name)
        if match is None:
            continue
        layer, short, part = match.groups()
        if short == "qkv":
            for kind, piece in zip(("query", "key", "value"), np.split(value, 3), strict=True):
                found[f"encoder.layer.{layer}.attention.self.{kind}.{part}"] = piece
        else:
            found[f"encoder.layer.{layer}.{names[short]}.{part}"] = value
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("prepare")
    step.add_argument("data", nargs="+", type=Path)
    step.add_argument("--out", type=Path, required=True)
    step.add_argument("--leave-out", default="", metavar="PATTERN", help="groups not to use")
    step.add_argument("--most", type=int, default=400, help="questions of a source in a group")
    step.set_defaults(run=prepare)
    step = steps.add_parser("train")
    step.add_argument("pairs", type=Path)
    step.add_argument("--base", type=Path, required=True)
    step.add_argument("--start", type=Path, nargs="*", default=[], help="weights to go on from")
    step.add_argument("--out", type=Path, required=True)
    step.add_argument("--seconds", type=float, default=140)
    step.add_argument("--student-seconds", type=float, default=30)
    step.add_argument("--rate", type=float, default=2e-4)
    step.set_defaults(run=train)
    step = steps.add_parser("export")
    step.add_argument("weights", nargs="+", type=Path)
    step.add_argument("--base", type=Path, required=True)
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(run=export)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
