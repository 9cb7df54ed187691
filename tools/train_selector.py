"""Trains the selector: which statements of a session are worth remembering, and of which kind.

    python tools/train_selector.py SET [SET ...] --likeness FILE [--check] [--write]

A SET is a folder of labelled sessions:

- `sessions.jsonl`: {"session", "project", "events": [{"role": "user" or "assistant", "text",
  "place": "" or one of `utterances.Place`}]}
- `labels.jsonl`: {"session", "kind", "text", "weight"}, what a careful reader would remember

A statement is worth as much as it is like one of the labelled items: the cosine of their vectors,
by the encoder that comes with Holdfast. That takes a few milliseconds a statement, so it is kept in
the file `--likeness` and only computed for statements that are not in it; the vectors of the best
statements, for the second look, are kept beside it (`.npz`).

`--check` trains on all projects but a sixth, six times, and prints how well the rest is selected:
recall of items of weight 2 and 3, precision of statements, statements a session; by words alone and
with the second look. Projects are never split. `--write` trains on everything and writes
src/holdfast/refine/distil/selector.npz.
Nothing but numpy and the encoder is needed; the seed is fixed. Processor time for 193 sessions:
cosines and vectors for the first time eight minutes, `--write` two more, `--check` seventeen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.inference.encoder import packaged_encoder
from holdfast.language import plain
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.distil import best_statements
from holdfast.refine.distil.features import (
    BUCKETS,
    Candidate,
    describe,
    find_candidates,
    hashed_words,
)
from holdfast.refine.distil.second_look import (
    LIMITS_BY_VECTORS,
    PREFIX,
    SECOND_LOOK,
    Embed,
    describe_again,
    look_again,
)
from holdfast.refine.distil.selector import (
    KINDS,
    LIMITS,
    WEIGHTS,
    Scored,
    SelectionLimits,
    Selector,
    network,
    scale,
    select,
)
from holdfast.refine.distil.utterances import Place, Utterance, find_utterances

Floats = npt.NDArray[np.float32]
Weights = dict[str, Floats]

SEED = 7
FOLDS = 6
# In so many parts the words are trained without, to train the network on their scores.
INNER_FOLDS = 3
# From this cosine on two texts say the same.
ALIKE = 0.6
# How sharply the worth of a statement rises around that.
SOFTNESS = 0.04
# A session with more statements than this counts no more than one with as many.
FULL_SESSION = 250
HIDDEN = 48
# The second look is the mean of so many networks of this size: one alone varies with its seed.
SECOND_NETWORKS = 4
SECOND_HIDDEN = 24


class KeptVectors:
    """Vectors of texts, kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Floats] = {}
        if path.exists():
            with np.load(path) as kept:
                self._known = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))

    def embed(self, texts: Sequence[str]) -> Floats:
        """One vector for each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            made = packaged_encoder(threads=2).embed(missing)
            self._known |= dict(zip(missing, made, strict=True))
        return np.array([self._known[text] for text in texts], np.float32)

    def save(self) -> None:
        """Write the file."""
        texts, vectors = list(self._known), np.array(list(self._known.values()), np.float32)
        np.savez_compressed(self._path, allow_pickle=False, texts=np.array(texts), vectors=vectors)


class Session(NamedTuple):
    """A labelled session: its statements, and how like each is to a labelled item of which kind."""

    name: str
    project: str
    utterances: list[Utterance]
    candidates: list[Candidate]
    likeness: Floats
    kinds: list[str]
    items: list[dict[str, Any]]


def utterances_of(events: Sequence[dict[str, Any]], session: str) -> list[Utterance]:
    """The events of a session as the product sees what was said."""
    turns: list[Turn] = []
    placed: dict[str, tuple[Place, bool]] = {}
    for seq, event in enumerate(events):
        is_person = event["role"] == "user"
        id = f"{session}/{seq}"
        role, trust = (Role.USER, Trust.USER) if is_person else (Role.ASSISTANT, Trust.ASSISTANT)
        turns.append(Turn("", id, session, seq, "", role, trust, event["text"]))
        if event.get("place"):
            placed[id] = Place(event["place"]), is_person
    said = find_utterances([turn for turn in turns if turn.id not in placed])
    extra = [Utterance(t, t.text, *placed[t.id]) for t in turns if t.id in placed]
    return sorted([*said, *extra], key=lambda u: u.turn.seq)


def read_lines(path: Path) -> Iterator[Any]:
    """The JSON values of a file, one a line."""
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def remembered_text(candidate: Candidate) -> str:
    """The words that are compared with the labels."""
    s = candidate.statement
    repeats = s.text.lower().startswith(s.lead.lower()[:12])
    return f"{s.lead}: {plain(s.text)}" if s.lead and not repeats else plain(s.text)


def read_sets(folders: Sequence[Path], cache: Path) -> list[Session]:
    """All labelled sessions, with the likeness of their statements."""
    known = (
        {tuple(row[:3]): (row[3], row[4]) for row in read_lines(cache)} if cache.exists() else {}
    )
    sessions: list[Session] = []
    new: list[list[Any]] = []
    encoder = packaged_encoder(threads=2)
    for folder in folders:
        items: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for label in read_lines(folder / "labels.jsonl"):
            if "kind" in label:
                items[label["session"]].append(label)
        for record in read_lines(folder / "sessions.jsonl"):
            name, own = record["session"], items[record["session"]]
            utterances = utterances_of(record["events"], name)
            candidates = find_candidates(utterances)
            keys = [(name, c.statement.lead, c.statement.text) for c in candidates]
            missing = [n for n, key in enumerate(keys) if key not in known]
            if missing and own:
                labels = encoder.embed([item["text"] for item in own])
                said = encoder.embed([remembered_text(candidates[n]) for n in missing])
                for n, row in zip(missing, said @ labels.T, strict=True):
                    best = int(row.argmax())
                    known[keys[n]] = round(float(row[best]), 3), own[best]["kind"]
                    new.append([*keys[n], *known[keys[n]]])
                print(f"{name}: {len(missing)} statements compared", file=sys.stderr)
            found = [known.get(key, (-1.0, "")) for key in keys]
            likeness = np.array([value for value, _ in found], np.float32)
            kinds = [kind for _, kind in found]
            project = record["project"].replace("/", "_")
            sessions.append(Session(name, project, utterances, candidates, likeness, kinds, own))
    with cache.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in new)
    return sessions


class Rows(NamedTuple):
    """All statements of some sessions as numbers: forms, hashed words, worth, kind (-1 for none)
    and how much each counts."""

    numbers: Floats
    buckets: list[npt.NDArray[np.int64]]
    values: list[Floats]
    worth: Floats
    kinds: npt.NDArray[np.int64]
    counts: Floats


def _sigmoid(values: Floats) -> Floats:
    return (1 / (1 + np.exp(-values))).astype(np.float32)


def rows_of(session: Session) -> Rows:
    """The statements of one session as numbers."""
    hashed = [
        hashed_words(c.statement, session.utterances[c.utterance].is_person)
        for c in session.candidates
    ]
    names = [kind.value for kind in KINDS]
    alike = session.likeness >= ALIKE
    kinds = [
        names.index(kind) if good else -1 for kind, good in zip(session.kinds, alike, strict=True)
    ]
    count = len(session.candidates)
    return Rows(
        describe(session.utterances, session.candidates),
        [np.fromiter(h, np.int64, len(h)) for h in hashed],
        [np.fromiter(h.values(), np.float32, len(h)) for h in hashed],
        _sigmoid((session.likeness - ALIKE) / SOFTNESS),
        np.array(kinds, np.int64),
        np.full(count, min(1.0, FULL_SESSION / max(1, count)), np.float32),
    )


def together(parts: Sequence[Rows]) -> Rows:
    """The rows of several sessions."""
    return Rows(
        np.concatenate([p.numbers for p in parts]),
        [b for p in parts for b in p.buckets],
        [v for p in parts for v in p.values],
        np.concatenate([p.worth for p in parts]),
        np.concatenate([p.kinds for p in parts]),
        np.concatenate([p.counts for p in parts]),
    )


def train_words(rows: Rows, epochs: int = 4, rate: float = 0.5) -> tuple[Floats, Floats]:
    """Weights of the hashed words by gradient descent (Adagrad): worth, and each kind."""
    rng = np.random.default_rng(SEED)
    size = 1 + len(KINDS)
    weights = np.zeros((BUCKETS, size), np.float32)
    bias = np.zeros(size, np.float32)
    spread = np.full((BUCKETS, size), 1.0, np.float32)
    for _ in range(epochs):
        drawn = np.flatnonzero(rng.random(len(rows.worth)) < rows.counts)
        rng.shuffle(drawn)
        for start in range(0, len(drawn), 128):
            batch: list[int] = drawn[start : start + 128].tolist()
            lengths = [len(rows.buckets[n]) for n in batch]
            at = np.concatenate([rows.buckets[n] for n in batch])
            values = np.concatenate([rows.values[n] for n in batch])[:, None]
            ends = np.cumsum([0, *lengths[:-1]])
            guess = np.add.reduceat(values * weights[at], ends, axis=0) + bias
            error = np.zeros_like(guess)
            error[:, 0] = _sigmoid(guess[:, 0]) - rows.worth[batch]
            kinds = rows.kinds[batch]
            known = np.flatnonzero(kinds >= 0)
            share = np.exp(guess[known, 1:] - guess[known, 1:].max(axis=1, keepdims=True))
            error[known, 1:] = share / share.sum(axis=1, keepdims=True)
            error[known, 1 + kinds[known]] -= 1
            touched, place = np.unique(at, return_inverse=True)
            gradient = 1e-5 * weights[touched]
            np.add.at(gradient, place, values * np.repeat(error, lengths, axis=0))
            spread[touched] += gradient**2
            weights[touched] -= rate * gradient / np.sqrt(spread[touched])
            bias -= 0.02 * error.mean(axis=0)
    return weights, bias


def by_words(weights: Floats, bias: Floats, rows: Rows) -> Floats:
    """The worth of each statement by its words alone."""
    found = (v @ weights[b, 0] for b, v in zip(rows.buckets, rows.values, strict=True))
    return np.fromiter(found, np.float32, len(rows.worth)) + bias[0]


class Network(NamedTuple):
    """How a network is trained."""

    hidden: int = HIDDEN
    epochs: int = 10
    batch: int = 512
    seed: int = SEED
    rate: float = 2e-3


FIRST_NETWORK = Network()
SECOND_NETWORK = Network(SECOND_HIDDEN, epochs=12, batch=256)


def train_network(
    numbers: Floats, worth: Floats, counts: Floats, how: Network = FIRST_NETWORK
) -> Weights:
    """The weights of a network with one hidden layer (Adam), from rows of numbers to their worth.
    `counts` is how much each row counts."""
    rng = np.random.default_rng(how.seed)
    width, rate = numbers.shape[1], how.rate
    weights: Weights = {
        "mean": numbers.mean(axis=0),
        # A number that never varies tells nothing: it is scaled to nothing.
        "spread": np.where(numbers.std(axis=0) > 1e-4, numbers.std(axis=0), np.float32(1e4)),
        "hidden": (rng.standard_normal((width, how.hidden)) / np.sqrt(width)).astype(np.float32),
        "hidden_bias": np.zeros(how.hidden, np.float32),
        "out": (rng.standard_normal(how.hidden) / np.sqrt(how.hidden)).astype(np.float32),
        "out_bias": np.zeros((), np.float32),
    }
    trained = ("hidden", "hidden_bias", "out", "out_bias")
    first = {name: np.zeros_like(weights[name]) for name in trained}
    second = {name: np.zeros_like(weights[name]) for name in trained}
    scaled = scale(weights, numbers)
    steps = 0
    for _ in range(how.epochs):
        drawn = np.flatnonzero(rng.random(len(scaled)) < counts)
        rng.shuffle(drawn)
        for start in range(0, len(drawn), how.batch):
            batch = drawn[start : start + how.batch]
            steps += 1
            given = scaled[batch] * (rng.random((len(batch), width)) > 0.1) / 0.9
            hidden = np.tanh(given @ weights["hidden"] + weights["hidden_bias"])
            kept = (rng.random(hidden.shape) > 0.2) / 0.8
            guess = np.asarray((hidden * kept) @ weights["out"] + weights["out_bias"], np.float32)
            error = (_sigmoid(guess) - worth[batch]) / len(batch)
            back = (error[:, None] * weights["out"]) * kept * (1 - hidden**2)
            gradients = {
                "out": (hidden * kept).T @ error,
                "out_bias": error.sum(),
                "hidden": given.T @ back,
                "hidden_bias": back.sum(axis=0),
            }
            for name, gradient in gradients.items():
                first[name] = np.asarray(0.9 * first[name] + 0.1 * gradient, np.float32)
                second[name] = np.asarray(0.999 * second[name] + 0.001 * gradient**2, np.float32)
                moved = first[name] / (1 - 0.9**steps)
                size = np.sqrt(second[name] / (1 - 0.999**steps)) + 1e-8
                weights[name] = (weights[name] * (1 - rate * 0.01) - rate * moved / size).astype(
                    np.float32
                )
    return weights


def folds_of(sessions: Sequence[Session], count: int = FOLDS) -> dict[str, int]:
    """The projects in parts of about as many sessions each."""
    sizes = Counter(session.project for session in sessions)
    load = [0] * count
    folds: dict[str, int] = {}
    for project, size in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])):
        folds[project] = load.index(min(load))
        load[folds[project]] += size
    return folds


def train(sessions: Sequence[Session], embed: Embed) -> Weights:
    """The weights of a selector. The network is trained on scores of words that were trained
    without the project itself, as they will be of a project that nobody has seen; the second look
    on scores of such a network."""
    folds = folds_of(sessions, INNER_FOLDS)
    rows = [rows_of(session) for session in sessions]
    parts = [
        {n for n, s in enumerate(sessions) if folds[s.project] == fold}
        for fold in range(INNER_FOLDS)
    ]
    parts = [part for part in parts if 0 < len(part) < len(sessions)]
    by_word: list[Floats] = [np.zeros(len(r.worth), np.float32) for r in rows]
    for part in parts:
        weights, bias = train_words(together([r for n, r in enumerate(rows) if n not in part]))
        for n in part:
            by_word[n] = by_words(weights, bias, rows[n])
    numbers = [np.hstack([r.numbers, w[:, None]]) for r, w in zip(rows, by_word, strict=True)]
    scores: list[Floats] = [np.zeros(len(r.worth), np.float32) for r in rows]
    for part in parts:
        others = [n for n in range(len(rows)) if n not in part]
        weights = _first_network([numbers[n] for n in others], [rows[n] for n in others])
        for n in part:
            scores[n] = network(weights, numbers[n])
    found = _first_network(numbers, rows)
    found["words"], found["words_bias"] = train_words(together(rows))
    return found | train_second_look(sessions, numbers, scores, embed)


def _first_network(numbers: Sequence[Floats], rows: Sequence[Rows]) -> Weights:
    worth = np.concatenate([one.worth for one in rows])
    counts = np.concatenate([one.counts for one in rows])
    return train_network(np.concatenate(numbers), worth, counts)


def train_second_look(
    sessions: Sequence[Session],
    numbers: Sequence[Floats],
    scores: Sequence[Floats],
    embed: Embed,
) -> Weights:
    """The weights of the second look: the mean of several networks, as one network."""
    described: list[Floats] = []
    worth: list[Floats] = []
    for session, own, score in zip(sessions, numbers, scores, strict=True):
        scored = [
            Scored(candidate, float(value), KINDS[0], tuple(row.tolist()))
            for candidate, value, row in zip(session.candidates, score, own, strict=True)
        ]
        best = best_statements(scored, session.utterances)
        if not best or not session.items:
            continue
        place = {id(c): n for n, c in enumerate(session.candidates)}
        like = session.likeness[[place[id(one.candidate)] for one in best]]
        described.append(describe_again(best, session.utterances, embed))
        worth.append(_sigmoid((like - ALIKE) / SOFTNESS))
    rows, wanted = np.concatenate(described), np.concatenate(worth)
    made = [
        train_network(rows, wanted, np.ones_like(wanted), SECOND_NETWORK._replace(seed=SEED + n))
        for n in range(SECOND_NETWORKS)
    ]
    whole: Weights = {
        "mean": made[0]["mean"],
        "spread": made[0]["spread"],
        "hidden": np.hstack([one["hidden"] for one in made]),
        "hidden_bias": np.concatenate([one["hidden_bias"] for one in made]),
        "out": (np.concatenate([one["out"] for one in made]) / len(made)).astype(np.float32),
        "out_bias": np.asarray(np.mean([one["out_bias"] for one in made]), np.float32),
    }
    return {PREFIX + name: values for name, values in whole.items()}


class Result(NamedTuple):
    """Of some sessions: items of weight 2 and 3, how many are found, statements, how many are
    right, and for how many of these the kind is."""

    items: int
    found: int
    statements: int
    right: int
    right_kind: int


def judge(sessions: Sequence[Session], chosen: Sequence[Sequence[Scored]]) -> Result:
    """How well statements were chosen."""
    encoder = packaged_encoder(threads=2)
    items = found = statements = right = right_kind = 0
    for session, own in zip(sessions, chosen, strict=True):
        weighty = [item for item in session.items if item["weight"] >= 2]
        items, statements = items + len(weighty), statements + len(own)
        if not own or not session.items:
            continue
        said = encoder.embed([remembered_text(one.candidate) for one in own])
        alike = said @ encoder.embed([item["text"] for item in session.items]).T
        good = alike.max(axis=1) >= ALIKE
        right += int(good.sum())
        right_kind += sum(
            one.kind.value == session.items[int(row.argmax())]["kind"]
            for one, row, is_good in zip(own, alike, good, strict=True)
            if is_good
        )
        weights = np.array([item["weight"] for item in session.items])
        found += int((alike.max(axis=0) >= ALIKE)[weights >= 2].sum())
    return Result(items, found, statements, right, right_kind)


def check(sessions: Sequence[Session], groups: dict[str, set[str]], embed: Embed) -> None:
    """Print how well sessions of unseen projects are selected, by threshold."""
    folds = folds_of(sessions)
    first: dict[str, list[Scored]] = {}
    second: dict[str, list[Scored]] = {}
    for fold in range(FOLDS):
        others = [s for s in sessions if folds[s.project] != fold]
        selector = Selector(train(others, embed))
        for session in (s for s in sessions if folds[s.project] == fold):
            scored = selector.score(session.utterances, session.candidates)
            best = best_statements(scored, session.utterances)
            first[session.name] = scored
            if len(best) > SECOND_LOOK.few:
                best = look_again(selector.weights, best, session.utterances, embed)
            second[session.name] = best
        print(f"part {fold + 1} of {FOLDS} done", file=sys.stderr)
    print("| set | by | threshold | recall | precision | statements a session | right kind |")
    print("|---|---|---|---|---|---|---|")
    for name, group in groups.items():
        own = [s for s in sessions if s.name in group]
        for threshold in np.arange(-1.4, 0.5, 0.2):
            limits = LIMITS._replace(threshold=float(threshold))
            _print_row(name, "words", limits, own, first)
        for threshold in np.arange(-3.2, -0.9, 0.2):
            limits = LIMITS_BY_VECTORS._replace(threshold=float(threshold))
            _print_row(name, "vectors", limits, own, second)


def _print_row(
    name: str,
    by: str,
    limits: SelectionLimits,
    sessions: Sequence[Session],
    scored: dict[str, list[Scored]],
) -> None:
    r = judge(sessions, [select(scored[s.name], limits) for s in sessions])
    print(
        f"| {name} | {by} | {limits.threshold:.1f} | {r.found / max(1, r.items):.3f} "
        f"| {r.right / max(1, r.statements):.3f} | {r.statements / len(sessions):.1f} "
        f"| {r.right_kind / max(1, r.right):.2f} |"
    )


def _halves(weights: Weights) -> dict[str, npt.NDArray[np.float16]]:
    """Weights in half the room."""
    return {name: values.astype(np.float16) for name, values in weights.items()}


def main() -> None:
    """Train, check and write as the command line says."""
    parser = argparse.ArgumentParser(description="Train the selector of statements.")
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--likeness", type=Path, required=True, help="where cosines are kept")
    parser.add_argument("--check", action="store_true", help="cross-validate over projects")
    parser.add_argument("--write", action="store_true", help="train on all and write the weights")
    arguments = parser.parse_args()
    sessions = read_sets(arguments.sets, arguments.likeness)
    vectors = KeptVectors(arguments.likeness.with_suffix(".npz"))
    if arguments.check:
        groups = {
            folder.name: {label["session"] for label in read_lines(folder / "labels.jsonl")}
            for folder in arguments.sets
        }
        check(sessions, groups, vectors.embed)
    if arguments.write:
        weights = train(sessions, vectors.embed)
        np.savez_compressed(WEIGHTS, allow_pickle=False, **_halves(weights))
        print(f"Wrote {WEIGHTS} ({WEIGHTS.stat().st_size // 1024} KB).")
    vectors.save()


if __name__ == "__main__":
    main()
