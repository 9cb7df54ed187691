"""How much of what should be known after sessions was distilled, against labels in a set.

`labels.jsonl` has items (`session`, `kind`, `text`, `weight` from 1 to 3: without it the next
session would go wrong) and titles (`session`, `title`). An item is known if a record of the same
session says the same: if the cosine of their embeddings reaches `ALIKE`. Neither the kind nor the
truth of a record is compared. `python -m bench.knowledge DIR`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast.app.evaluation.asking import mean
from holdfast.app.evaluation.distilled import Distilled, read_distilled
from holdfast.app.evaluation.sets import LABELS, load_set, open_home, read_set
from holdfast.inference.embedder import Embedder, Vectors
from holdfast.inference.encoder import packaged_encoder
from holdfast.settings import load_settings

# Two independent labellings of the same eight sessions agreed at this cosine with a recall of 0.93
# and a precision of 0.89, so it is neither lax nor strict. It belongs to the packaged encoder.
ALIKE = 0.6
# Recall counts items from this weight on: lighter ones are nice to have.
WEIGHTY = 2
# The weight of an item without which the next session would go wrong.
NEEDED = 3


class LabelledItem(NamedTuple):
    """What should be known after a session."""

    session: str
    kind: str
    text: str
    weight: int


class Labels(NamedTuple):
    """The labels of a set: items, and titles by session."""

    items: Sequence[LabelledItem]
    titles: dict[str, str]

    @property
    def sessions(self) -> frozenset[str]:
        """The names of the sessions that are labelled."""
        return frozenset({*(one.session for one in self.items), *self.titles})


class KnowledgeReport(NamedTuple):
    """What was measured. `items` are those of weight 2 and 3, which `recall` counts."""

    recall: float | None
    recall_weight_3: float | None
    precision: float | None
    titles_alike: float | None
    items: int
    records: int
    sessions: int


def session_name(name: str) -> str:
    """The name that sessions are compared by: without the bank that may stand before it."""
    return name.rpartition("__")[2]


def read_labels(path: Path) -> Labels:
    """The labels in a file."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_bytes().splitlines()]
    return Labels(
        [
            LabelledItem(session_name(one["session"]), one["kind"], one["text"], one["weight"])
            for one in lines
            if "text" in one
        ],
        {session_name(one["session"]): one["title"] for one in lines if "title" in one},
    )


def measure_knowledge(labels: Labels, distilled: Distilled, encoder: Embedder) -> KnowledgeReport:
    """Compare what was distilled with labels."""
    items, wanted = labels.items, labels.sessions
    said = [one for one in distilled.records if session_name(one.session) in wanted]
    titles = {session_name(one.session): one.title for one in distilled.sessions}
    pairs = [(title, titles[name]) for name, title in labels.titles.items() if name in titles]
    known, right = find_alike(
        [one.session for one in items],
        encoder.embed([one.text for one in items]),
        [session_name(one.session) for one in said],
        encoder.embed([one.text for one in said]),
    )
    ours, theirs = (encoder.embed([pair[n] for pair in pairs]) for n in (0, 1))
    judged = list(zip(items, known, strict=True))
    return KnowledgeReport(
        recall=mean(k for one, k in judged if one.weight >= WEIGHTY),
        recall_weight_3=mean(k for one, k in judged if one.weight == NEEDED),
        # Where nothing was distilled, nothing of it is right.
        precision=mean(right) if said else 0.0,
        titles_alike=mean(map(float, (ours * theirs).sum(1) >= ALIKE)),
        items=sum(one.weight >= WEIGHTY for one in items),
        records=len(said),
        sessions=len(wanted),
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


def run(folder: Path) -> Iterator[str]:
    """Read a set, and give the line of a report."""
    wanted = read_set(folder)
    with open_home(load_settings()) as memory:
        load_set(memory, wanted)
        distilled = read_distilled(memory, wanted.conversations.values())
    encoder = packaged_encoder(os.cpu_count() or 1)
    yield report_line("", measure_knowledge(read_labels(folder / LABELS), distilled, encoder))


def report_line(how: str, r: KnowledgeReport) -> str:
    """The figures as a line."""
    return (
        f"knowledge: {r.sessions} sessions{how}: recall {r.recall:.2f} ({r.items} items of weight "
        f"2 and 3), of weight 3 {r.recall_weight_3:.2f}, precision {r.precision:.2f} "
        f"({r.records} records), titles alike {r.titles_alike:.2f}"
    )


if __name__ == "__main__":
    for line in run(Path(sys.argv[1])):
        print(line)
