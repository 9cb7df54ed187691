"""Measures what a memory distilled of sessions against labels of what it should know.

An item is known if a record of the same session says the same: if the cosine of their embeddings
reaches `ALIKE`. Neither the kind nor the truth of a record is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from holdfast.app.evaluation.distilled import Distilled
from holdfast.app.evaluation.labels import Labels, session_name
from holdfast.app.evaluation.limits import limits_of_knowledge
from holdfast.app.evaluation.metrics import mean
from holdfast.inference.embedder import Embedder, Vectors
from holdfast.model.knowledge import Kind

# Two independent labellings of the same eight sessions agreed at this cosine with a recall of 0.93
# and a precision of 0.89, so it is neither lax nor strict. It belongs to the packaged encoder.
ALIKE = 0.6
# Recall counts items from this weight on: lighter ones are nice to have.
WEIGHTY = 2
# The weight of an item without which the next session would go wrong.
NEEDED = 3
# Texts embedded between two reports of progress.
_BATCH = 32


@dataclass(frozen=True, slots=True)
class KnowledgeReport:
    """What was measured against labels. The field names are JSON keys.

    `items` are those of weight 2 and 3, which `recall` counts; `recall_by_kind` counts all of them.
    `records` are those of labelled sessions, and `titles` the labelled titles of sessions that were
    read."""

    recall: float | None
    precision: float | None
    titles_alike: float | None
    recall_weight_3: float | None
    recall_by_kind: dict[str, float | None]
    items: int
    all_items: int
    items_weight_3: int
    items_by_kind: dict[str, int]
    records: int
    sessions: int
    titles: int
    sessions_without_transcript: tuple[str, ...]
    threshold: float
    encoder: str
    cannot_claim: tuple[str, ...]


def measure_knowledge(
    labels: Labels,
    distilled: Distilled,
    encoder: Embedder,
    missing: Sequence[str] = (),
    failed_lines: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> KnowledgeReport:
    """Compare what was distilled with labels. `missing` are the labelled sessions that have no
    transcript: what they should have given counts as not known. `progress` gets the number of
    texts compared, and of all."""
    items = labels.items
    wanted = labels.sessions
    said = [one for one in distilled.records if session_name(one.session) in wanted]
    titles = {session_name(one.session): one.title for one in distilled.sessions}
    pairs = [(one.title, titles[one.session]) for one in labels.titles if one.session in titles]
    texts = [one.text for one in (*items, *said)]
    texts += [title for pair in pairs for title in pair]
    vectors = _embed(encoder, texts, progress)
    of_items, of_said = vectors[: len(items)], vectors[len(items) : len(items) + len(said)]
    of_titles = vectors[len(items) + len(said) :]
    known, right = find_alike(
        [one.session for one in items],
        of_items,
        [session_name(one.session) for one in said],
        of_said,
    )
    titled = (of_titles[0::2] * of_titles[1::2]).sum(1) >= ALIKE
    judged = list(zip(items, known, strict=True))
    by_kind = {kind: [k for one, k in judged if one.kind is kind] for kind in sorted(Kind)}
    weighty = [k for one, k in judged if one.weight >= WEIGHTY]
    needed = [k for one, k in judged if one.weight == NEEDED]
    return KnowledgeReport(
        recall=mean(weighty),
        # Where nothing was distilled, nothing of it is right.
        precision=mean(right) if said else 0.0,
        titles_alike=mean(map(float, titled)),
        recall_weight_3=mean(needed),
        recall_by_kind={kind.value: mean(found) for kind, found in by_kind.items() if found},
        items=len(weighty),
        all_items=len(items),
        items_weight_3=len(needed),
        items_by_kind={kind.value: len(found) for kind, found in by_kind.items() if found},
        records=len(said),
        sessions=len(wanted),
        titles=len(pairs),
        sessions_without_transcript=tuple(missing),
        threshold=ALIKE,
        encoder=encoder.name,
        cannot_claim=tuple(limits_of_knowledge(len(weighty), missing, failed_lines)),
    )


def find_alike(
    sessions_of_items: Sequence[str],
    items: Vectors,
    sessions_of_records: Sequence[str],
    records: Vectors,
) -> tuple[list[float], list[float]]:
    """1 for each item that a record of its session says, else 0; and 1 for each record that says
    an item of its session."""
    known, right = np.zeros(len(items)), np.zeros(len(records))
    for session in set(sessions_of_items) & set(sessions_of_records):
        own = [i for i, name in enumerate(sessions_of_items) if name == session]
        said = [i for i, name in enumerate(sessions_of_records) if name == session]
        alike = items[own] @ records[said].T >= ALIKE
        known[own], right[said] = alike.any(1), alike.any(0)
    return known.tolist(), right.tolist()


def _embed(
    encoder: Embedder, texts: Sequence[str], progress: Callable[[int, int], None]
) -> Vectors:
    vectors = np.zeros((len(texts), encoder.dimension), np.float32)
    for start in range(0, len(texts), _BATCH):
        some = texts[start : start + _BATCH]
        vectors[start : start + len(some)] = encoder.embed(some)
        progress(start + len(some), len(texts))
    return vectors
