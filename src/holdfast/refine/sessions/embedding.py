"""Vectors for passages that have none yet. The work list is derived from what is stored, so it
can be stopped anywhere, run by anyone, and run again; a new model simply finds all of it undone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from holdfast.settings import Settings
from holdfast.store.protocol import Writer

PART = 1200
PARTS = 12
_ALONE = 400
_CONTEXT = 400
_LISTED = 2000
_HELD = 8_000_000
_AT_ONCE = 64
_GROUPED = ("exchange", "memory")
_BREAK = re.compile(r"\n+|(?<=[.!?])\s+")


class _Unit(NamedTuple):
    bank: str
    hash: str
    part: int
    texts: tuple[str, ...]


class Hands(NamedTuple):
    """Who embeds, with which model of the settings ("" is the packaged one)."""

    crew: Executor
    model: str = ""


class Wanted(NamedTuple):
    """Texts, and the model that is to embed them."""

    model: str
    texts: tuple[str, ...]


def embed_waiting(
    writer: Writer,
    embedder: Embedder,
    kinds: Sequence[str] = (*EMBEDDED_FIRST, *EMBEDDED_LATER),
    seconds: float | None = None,
    tick: Callable[[int], None] = lambda done: None,
    hands: Hands | None = None,
) -> int:
    """Embed what waits, for at most `seconds`; returns how many passages got their vectors. What
    `hands` cannot do is done here."""
    until = None if seconds is None else monotonic() + seconds
    done = 0
    for kind in kinds:
        limit = _AT_ONCE
        while listed := writer.unembedded(embedder.name, (kind,), limit):
            limit = _listable(listed)
            # What several passages say is embedded once for all of them.
            sayers = Counter((p.bank, p.hash) for p in listed)
            distinct = list({(p.bank, p.hash): p for p in listed}.values())
            starts = range(0, len(distinct), _AT_ONCE)
            batches = [distinct[start : start + _AT_ONCE] for start in starts]
            for batch, vectors in _by_hands(embedder, batches, hands or Hands(NoExecutor())):
                if until is not None and monotonic() > until:
                    return done
                _embed(writer, embedder, batch, vectors)
                done += sum(sayers[p.bank, p.hash] for p in batch)
                tick(done)
    return done


def _listable(listed: Sequence[Passage]) -> int:
    """How many passages to list next, if they are as long as these: a list costs a pass over all
    that is done, but long texts must not fill the memory."""
    mean = sum(len(p.body) + len(p.context) for p in listed) // len(listed) + 1
    return min(_LISTED, max(_AT_ONCE, _HELD // mean))


def _by_hands(
    embedder: Embedder, batches: Sequence[Sequence[Passage]], hands: Hands
) -> Iterator[tuple[Sequence[Passage], Any]]:
    """Each batch with its vectors, as far as others could make them with the same model."""
    wanted = (Wanted(hands.model, tuple(_texts(batch))) for batch in batches)
    for batch, (_, made) in zip(batches, hands.crew.map(vectors_of, wanted), strict=True):
        yield batch, made[1] if made is not None and made[0] == embedder.name else None


def vectors_of(wanted: Wanted) -> tuple[str, Any]:
    """The name of the model and its vectors, a row each; runs in any process, and anywhere."""
    try:
        embedder = _open(wanted.model)
    except HoldfastError:
        return "", None
    return embedder.name, embedder.embed(list(wanted.texts))


@lru_cache(maxsize=1)
def _open(model: str) -> Embedder:
    embedder = choose_embedder(Settings(Path(), Path(), embed_model=model))
    assert embedder is not None
    return embedder


def _texts(passages: Sequence[Passage]) -> Iterator[str]:
    return (text for passage in passages for unit in _units(passage) for text in unit.texts)


def _embed(writer: Writer, embedder: Embedder, passages: Sequence[Passage], made: Any) -> None:
    units = [unit for passage in passages for unit in _units(passage)]
    vectors = embedder.embed(list(_texts(passages))) if made is None else made
    at = 0
    rows: dict[str, list[tuple[str, int, bytes]]] = {}
    for unit in units:
        # The product with a mean of vectors is the mean of the products with each.
        mean = vectors[at : at + len(unit.texts)].mean(axis=0)
        at += len(unit.texts)
        rows.setdefault(unit.bank, []).append((unit.hash, unit.part, mean.tobytes()))
    with writer.transaction():
        for bank, own in rows.items():
            writer.put_vectors(bank, embedder.name, own)
        for bank in {passage.bank for passage in passages if passage.kind in _GROUPED}:
            # Concepts are told by meaning too.
            writer.note_change(bank, "")


def _units(passage: Passage) -> Iterator[_Unit]:
    parts = parts_of(passage.body)
    for number, part in enumerate(parts):
        texts: tuple[str, ...] = (part,)
        if passage.kind == "turn" and len(parts) == 1 and len(part) <= _ALONE:
            # A short turn says little without the one before it.
            texts = (part, f"{passage.context[:_CONTEXT]} {part}")
        yield _Unit(passage.bank, passage.hash, number, texts)


def parts_of(text: str) -> list[str]:
    """A text in parts that a model can take in whole, cut between lines or sentences."""
    if len(text) <= PART:
        return [text]
    parts: list[str] = []
    held = ""
    for sentence in _BREAK.split(text):
        while len(held) + len(sentence) + 1 > PART:
            if held:
                parts.append(held)
                held = ""
            else:
                parts.append(sentence[:PART])
                sentence = sentence[PART:]
        held = f"{held} {sentence}" if held else sentence
    parts.append(held)
    return [part for part in parts if part.strip()][:PARTS] or [text[:PART]]
