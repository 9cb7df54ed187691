"""Trains the model of kinds: of which kind a statement is that was distilled of a session.

    python tools/train_kinds.py draw FOLDER FILE
    python tools/train_kinds.py train FILE KINDS [--check] [--write]

`draw` reads the transcripts of a folder into a memory of its own, distils them with wide limits and
writes each statement to FILE, one JSON object a line: its "id", "session", "bank", "text" for the
reader, and the numbers that it was chosen by. Readers then write KINDS, one object for each
statement: {"id", "kind"}, "kind" being one of the seven, or "none" where it is of no use. Whoever
does that reads the whole session.

`--check` trains on all banks but a sixth, six times, and prints how many kinds of the rest are
right. `--write` trains on everything and writes src/holdfast/refine/distil/learned_kinds.npz.
Nothing but numpy and the encoder is needed. A minute of processor time for 4,900 statements.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.inference.encoder import packaged_encoder
from holdfast.interfaces.cli.main import main as holdfast
from holdfast.refine.distil import distil as distilling
from holdfast.refine.distil.learned_kinds import (
    WEIGHTS,
    describe_form,
    kind_likelihoods,
    model_inputs,
)
from holdfast.refine.distil.selector import KINDS, Scored, SelectionLimits, select
from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.utterances import Utterance
from holdfast.refine.distil.wording import Context, Distilled, word_statements

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

FOLDS = 6
# How strongly large weights are held back.
PENALTY = 60.0
STEPS = 400
# How much wider the limits are, so that what was left out is read, too.
LOWER = 2.5
MOST = 40


class Draw:
    """Takes the place of the choice in `distil`, and writes what it chooses from."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._count = 0
        self._kept: set[int] = set()

    def select(
        self,
        scored: Sequence[Scored],
        limits: SelectionLimits,
        notes: Collection[int],
    ) -> list[Scored]:
        """More than would be selected."""
        self._kept = {id(one.candidate) for one in select(scored, limits, notes)}
        wide = limits._replace(
            threshold=limits.threshold - LOWER, most=MOST, items_of_list=5, outcomes=5
        )
        return select(scored, wide, notes)

    def keep(self, scored: Sequence[Scored], *_: object) -> list[Scored]:
        """The statements with the kinds that words show."""
        return list(scored)

    def word(
        self, chosen: Sequence[Scored], utterances: Sequence[Utterance], context: Context
    ) -> list[Distilled]:
        """The words of the statements, which are also written down."""
        worded = word_statements(chosen, utterances, context)
        texts = {(one.turn.id, one.said): one.text for one in worded}
        forms = describe_form(chosen, utterances)
        for one, form in zip(chosen, forms, strict=True):
            turn = utterances[one.candidate.utterance].turn
            said = standalone(one.candidate.statement)
            if (turn.id, said) not in texts:
                continue
            row: dict[str, Any] = {
                "id": self._count,
                "session": turn.session,
                "bank": turn.bank,
                "seq": turn.seq,
                "text": texts[turn.id, said],
                "said": said,
                "kind": one.kind.value,
                "is_kept": id(one.candidate) in self._kept,
                "form": [round(float(value), 4) for value in form],
            }
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._count += 1
        self._file.flush()
        return worded


def draw(folder: Path, out: Path) -> None:
    """Distil the transcripts of a folder and write their statements."""
    drawing = Draw(out)
    # In place of the parts of the same names, in this process alone: hence one worker.
    setattr(distilling, "select", drawing.select)
    setattr(distilling, "word_statements", drawing.word)
    setattr(distilling, "learned_kinds", drawing.keep)
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOLDFAST_HOME"] = home
        sys.argv = ["holdfast", "ingest", str(folder), "--workers", "1"]
        holdfast()


class Statements(NamedTuple):
    """Statements with their numbers, vectors and banks, the kinds that readers gave them (-1 for
    none) and those that words show."""

    numbers: Floats
    vectors: Floats
    banks: list[str]
    kinds: npt.NDArray[np.int64]
    kinds_by_words: npt.NDArray[np.int64]


def read(statements: Path, kinds: Path) -> Statements:
    """The statements that readers gave a kind, or none."""
    given = {one["id"]: one["kind"] for one in map(json.loads, _lines(kinds))}
    rows = [row for row in map(json.loads, _lines(statements)) if row["id"] in given]
    places = {kind.value: n for n, kind in enumerate(KINDS)}
    return Statements(
        np.array([row["form"] for row in rows], np.float32),
        packaged_encoder(threads=2).embed([row["said"] for row in rows]),
        [row["bank"] for row in rows],
        np.array([places.get(given[row["id"]], -1) for row in rows]),
        np.array([places[row["kind"]] for row in rows]),
    )


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def train(given: Statements, chosen: npt.NDArray[np.int64]) -> dict[str, Floats]:
    """The weights, of the chosen statements that have a kind."""
    chosen = chosen[given.kinds[chosen] >= 0]
    numbers = given.numbers[chosen]
    mean, spread = numbers.mean(axis=0), numbers.std(axis=0)
    spread = np.where(spread > 1e-4, spread, np.float32(1e4))
    rows = model_inputs({"mean": mean, "spread": spread}, numbers, given.vectors[chosen])
    out = _descend(rows, np.eye(len(KINDS))[given.kinds[chosen]]).astype(np.float32)
    return {"mean": mean, "spread": spread, "out": out[:-1], "out_bias": out[-1]}


def _shares(guess: Doubles) -> Doubles:
    found = np.exp(guess - guess.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def _descend(given: Floats, wanted: Doubles) -> Doubles:
    """Weights and, last, their bias by accelerated gradient descent."""
    rows = np.hstack([given, np.ones((len(given), 1))]).astype(np.float64)
    rate = 2 / (0.5 * float(np.linalg.norm(rows, 2)) ** 2 + PENALTY)
    held = np.full((rows.shape[1], 1), PENALTY)
    held[-1] = 0
    weights = ahead = np.zeros((rows.shape[1], wanted.shape[1]))
    for step in range(STEPS):
        moved = ahead - rate * (rows.T @ (_shares(rows @ ahead) - wanted) + held * ahead)
        ahead = moved + step / (step + 3) * (moved - weights)
        weights = moved
    return weights


def check(given: Statements) -> None:
    """Print how many kinds of banks are right that were not trained on."""
    sizes = Counter(given.banks)
    load = [0] * FOLDS
    folds: dict[str, int] = {}
    for bank, size in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])):
        folds[bank] = load.index(min(load))
        load[folds[bank]] += size
    fold_of = np.array([folds[bank] for bank in given.banks])
    likelihoods = np.zeros((len(fold_of), len(KINDS)), np.float32)
    for fold in range(FOLDS):
        rest = np.flatnonzero(fold_of == fold)
        weights = train(given, np.flatnonzero(fold_of != fold))
        likelihoods[rest] = kind_likelihoods(weights, given.numbers[rest], given.vectors[rest])
    has_kind = given.kinds >= 0
    guessed = likelihoods.argmax(axis=1)
    for name, kinds in (("words", given.kinds_by_words), ("this model", guessed)):
        right = (kinds == given.kinds)[has_kind].mean()
        print(f"by {name}: {right:.3f} of {has_kind.sum()} kinds right")
    names = np.array([kind.value for kind in KINDS])
    confused: dict[str, Counter[str]] = defaultdict(Counter)
    pairs = zip(names[given.kinds[has_kind]], names[guessed[has_kind]], strict=True)
    for wanted, guess in pairs:
        confused[str(wanted)][str(guess)] += 1
    for wanted, counts in confused.items():
        print(f"  {wanted}: {dict(counts.most_common(4))}")


def main() -> None:
    """Draw, check and write as the command line says."""
    parser = argparse.ArgumentParser(description="Train the model of kinds.")
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="write the statements of transcripts, to be read")
    drawing.add_argument("folder", type=Path)
    drawing.add_argument("file", type=Path)
    training = commands.add_parser("train", help="train on statements with kinds")
    training.add_argument("file", type=Path)
    training.add_argument("kinds", type=Path)
    training.add_argument("--check", action="store_true", help="cross-validate over banks")
    training.add_argument("--write", action="store_true", help="train on all, write the weights")
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.folder, arguments.file)
        return
    given = read(arguments.file, arguments.kinds)
    if arguments.check:
        check(given)
    if arguments.write:
        weights = train(given, np.arange(len(given.banks)))
        halves = {name: values.astype(np.float16) for name, values in weights.items()}
        halves["spread"] = np.minimum(weights["spread"], 6e4).astype(np.float16)
        np.savez_compressed(WEIGHTS, allow_pickle=False, **halves)
        print(f"Wrote {WEIGHTS} ({WEIGHTS.stat().st_size // 1024} KB).")


if __name__ == "__main__":
    main()
