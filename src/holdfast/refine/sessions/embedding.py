"""Computes vectors for passages that have none yet.

The work list is what the store holds without a vector of the current model, so a run can be stopped
at any point and repeated, and after a change of the model everything is computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.inference.embedder import Embedder
from holdfast.inference.model_choice import choose_embedder
from holdfast.model.query import Passage
from holdfast.refine.core.executor import Executor, NoExecutor
from holdfast.refine.core.passages import EMBEDDED_FIRST, EMBEDDED_LATER
from holdfast.regex import regex
from holdfast.settings import Settings
from holdfast.store.protocol import Reader, Writer

# The packaged model reads 256 tokens, about this many characters.
MAX_PART_CHARACTERS = 1200
# Parts of one passage that get vectors: bounds the vectors of pasted logs and files.
MAX_PARTS = 12
# A turn of at most this many characters is also embedded together with so much of its context,
# because it says little without the turn before it.
_SHORT_TURN_CHARACTERS = 400
_CONTEXT_CHARACTERS = 400
# Passages that are listed at once: up to the first number, but no more than the second number of
# characters. A longer list saves passes over what is done already, and takes memory.
_MAX_LISTED = 2000
_MAX_LISTED_CHARACTERS = 8_000_000
# Passages that are embedded and stored together.
_BATCH = 64
# Up to so many passages that wait are listed by one look for all kinds: more than a long session
# has. A look goes through the index of all passages, 28 ms at 62,000 of them.
_LISTED_AT_ONCE = 500
# Kinds that concepts are built from: new vectors change the grouping.
_GROUPED_KINDS = ("exchange", "memory")
_BREAK = regex(r"\n+|(?<=[.!?])\s+")


class _EmbeddingUnit(NamedTuple):
    """One vector to compute: the mean of the vectors of its texts."""

    bank: str
    hash: str
    part: int
    texts: tuple[str, ...]


class EmbeddingWorkers(NamedTuple):
    """An executor, and the model that its processes open ("" is the packaged one)."""

    executor: Executor
    model: str = ""


class WaitingPassages:
    """The passages of some kinds that have no vector of a model yet. Where there are few, all are
    listed once; else each list is a look of its own."""

    def __init__(self, reader: Reader, model: str, kinds: Sequence[str]) -> None:
        self._reader = reader
        self._model = model
        self._kinds = kinds
        listed = reader.vectors.unembedded(model, kinds, _LISTED_AT_ONCE)
        self._listed = listed if len(listed) < _LISTED_AT_ONCE else None

    def counts(self) -> Mapping[str, int]:
        """How many of each kind wait."""
        if self._listed is not None:
            return Counter(passage.kind for passage in self._listed)
        found = self._reader.vectors.unembedded_kinds(self._model)
        return {kind: count for kind, count in found.items() if kind in self._kinds}

    def take(self, kind: str, limit: int) -> list[Passage]:
        """The latest of a kind. They, and others with their texts, do not wait any more: to be
        called once their vectors, or those taken before, are stored."""
        if self._listed is None:
            return self._reader.vectors.unembedded(self._model, (kind,), limit)
        taken = [passage for passage in self._listed if passage.kind == kind][:limit]
        texts = {(passage.bank, passage.hash) for passage in taken}
        self._listed = [p for p in self._listed if (p.bank, p.hash) not in texts]
        return taken


def embed_pending(
    writer: Writer,
    embedder: Embedder,
    kinds: Sequence[str] = (*EMBEDDED_FIRST, *EMBEDDED_LATER),
    timeout_s: float | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
    workers: EmbeddingWorkers | None = None,
    waiting: WaitingPassages | None = None,
) -> int:
    """Embed the passages of these kinds that have no vector, for at most `timeout_s`; returns how
    many passages got one. What the workers cannot do is done here."""
    until = None if timeout_s is None else monotonic() + timeout_s
    workers = workers or EmbeddingWorkers(NoExecutor())
    done = 0
    waiting = waiting or WaitingPassages(writer, embedder.name, kinds)
    missing = waiting.counts()
    for kind in kinds:
        limit, is_last = _BATCH, kind not in missing
        while not is_last:
            listed = waiting.take(kind, limit)
            # Looking once more takes as long, however few there are.
            is_last = len(listed) < limit
            limit = _next_list_size(listed)
            # Passages with the same text share a vector.
            copies = Counter((p.bank, p.hash) for p in listed)
            distinct = list({(p.bank, p.hash): p for p in listed}.values())
            batches = [distinct[at : at + _BATCH] for at in range(0, len(distinct), _BATCH)]
            for batch, vectors in _compute_in_parallel(embedder, batches, workers):
                if until is not None and monotonic() > until:
                    return done
                _store_vectors(writer, embedder, batch, vectors)
                done += sum(copies[p.bank, p.hash] for p in batch)
                on_progress(done)
    return done


def _next_list_size(listed: Sequence[Passage]) -> int:
    """How many passages to list next, if they are as long as these."""
    mean = sum(len(p.body) + len(p.context) for p in listed) // max(1, len(listed)) + 1
    return min(_MAX_LISTED, max(_BATCH, _MAX_LISTED_CHARACTERS // mean))


def _compute_in_parallel(
    embedder: Embedder, batches: Sequence[Sequence[Passage]], workers: EmbeddingWorkers
) -> Iterator[tuple[Sequence[Passage], Any]]:
    """Each batch with its vectors; None if the workers could not compute them with this model."""
    requests = ((workers.model, tuple(_texts(batch))) for batch in batches)
    results = workers.executor.map(compute_vectors, requests)
    for batch, (_, result) in zip(batches, results, strict=True):
        name, vectors = result if result is not None else ("", None)
        yield batch, vectors if name == embedder.name else None


def compute_vectors(request: tuple[str, tuple[str, ...]]) -> tuple[str, Any]:
    """The name of a model and its vectors for some texts; ("", None) if the model cannot be
    opened. Runs in any process."""
    model, texts = request
    try:
        embedder = _open_embedder(model)
    except HoldfastError:
        return "", None
    return embedder.name, embedder.embed(list(texts))


@lru_cache(maxsize=1)
def _open_embedder(model: str) -> Embedder:
    embedder = choose_embedder(Settings(Path(), Path(), embed_model=model))
    assert embedder is not None
    return embedder


def _texts(passages: Sequence[Passage]) -> Iterator[str]:
    return (text for passage in passages for unit in _units(passage) for text in unit.texts)


def _store_vectors(
    writer: Writer, embedder: Embedder, passages: Sequence[Passage], computed: Any
) -> None:
    units = [unit for passage in passages for unit in _units(passage)]
    vectors = embedder.embed(list(_texts(passages))) if computed is None else computed
    at = 0
    rows: dict[str, list[tuple[str, int, bytes]]] = {}
    for unit in units:
        # The dot product with a mean of vectors is the mean of the dot products.
        mean = vectors[at : at + len(unit.texts)].mean(axis=0)
        at += len(unit.texts)
        rows.setdefault(unit.bank, []).append((unit.hash, unit.part, mean.tobytes()))
    with writer.transaction():
        for bank, own in rows.items():
            # A passage may have been erased since it was listed: nothing of it must be left.
            known = writer.passages.known_hashes(bank, list({hash for hash, _, _ in own}))
            writer.vectors.put(bank, embedder.name, [row for row in own if row[0] in known])
        for bank in {passage.bank for passage in passages if passage.kind in _GROUPED_KINDS}:
            writer.progress.mark_vectors_changed(bank)


def _units(passage: Passage) -> Iterator[_EmbeddingUnit]:
    parts = split_text(passage.body)
    for number, part in enumerate(parts):
        texts: tuple[str, ...] = (part,)
        if passage.kind == "turn" and len(parts) == 1 and len(part) <= _SHORT_TURN_CHARACTERS:
            texts = (part, f"{passage.context[:_CONTEXT_CHARACTERS]} {part}")
        yield _EmbeddingUnit(passage.bank, passage.hash, number, texts)


def split_text(text: str) -> list[str]:
    """A text in parts that a model can embed, split between lines or sentences."""
    if len(text) <= MAX_PART_CHARACTERS:
        return [text]
    parts: list[str] = []
    held = ""
    for sentence in _BREAK.split(text):
        while len(held) + len(sentence) + 1 > MAX_PART_CHARACTERS:
            if held:
                parts.append(held)
                held = ""
            else:
                parts.append(sentence[:MAX_PART_CHARACTERS])
                sentence = sentence[MAX_PART_CHARACTERS:]
        held = f"{held} {sentence}" if held else sentence
    parts.append(held)
    return [part for part in parts if part.strip()][:MAX_PARTS] or [text[:MAX_PART_CHARACTERS]]
