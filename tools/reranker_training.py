"""The part of `train_reranker.py` that runs on a GPU: needs PyTorch and NumPy, nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, INNER = 384, 12, 1536
QUERY_TOKENS, PASSAGE_TOKENS = 64, 240
START, END = 101, 102
BY_MEANING = 24
# A passage this near to the right one says the same: it is not wrong.
SAME = 0.93
QUESTIONS, WRONG = 192, 9
DROPOUT = 0.1
# Weight of the loss that makes scores comparable between questions (0: half likely to answer).
ABSOLUTE = 0.1
# From which part of the training on the weights are averaged.
AVERAGED_FROM = 0.6
STUDENT_LAYERS = (0, 2, 5)
BIGGEST_FILE = 15_000_000
# Batches are sorted by length and cut into so many, so that little is padding.
PARTS = 6
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.o = nn.Linear(WIDTH, WIDTH)
        self.n1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.f = nn.Linear(WIDTH, INNER)
        self.g = nn.Linear(INNER, WIDTH)
        self.n2 = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, dropout: float) -> torch.Tensor:
        count, length, _ = x.shape
        parts = self.qkv(x).view(count, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(count, length, WIDTH)
        x = self.n1(x + F.dropout(self.o(mixed), dropout, self.training))
        inner = self.g(F.gelu(self.f(x)))
        return self.n2(x + F.dropout(inner, dropout, self.training))


class Encoder(nn.Module):
    """BERT with the words of the base, which are not trained."""

    def __init__(self, base: Mapping[str, Any], layers: int) -> None:
        super().__init__()
        words = torch.tensor(base["we_q"].astype(np.float32) * base["we_s"])
        self.we = nn.Embedding.from_pretrained(words, freeze=True)
        self.pe = nn.Parameter(_tensor(base, "embeddings.position_embeddings.weight"))
        self.te = nn.Parameter(_tensor(base, "embeddings.token_type_embeddings.weight"))
        self.n0 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.L = nn.ModuleList(Layer() for _ in range(layers))
        self.dropout = 0.0

    def take(self, base: Mapping[str, Any]) -> Encoder:
        """Take the layers of the base too."""
        self.n0.weight.data = _tensor(base, "embeddings.LayerNorm.weight")
        self.n0.bias.data = _tensor(base, "embeddings.LayerNorm.bias")
        names = {
            "o": "attention.output.dense", "n1": "attention.output.LayerNorm",
            "f": "intermediate.dense", "g": "output.dense", "n2": "output.LayerNorm",
        }  # fmt: skip
        for place, layer in enumerate(self.L):
            prefix = f"encoder.layer.{place}."
            for part in ("weight", "bias"):
                pieces = [
                    _tensor(base, f"{prefix}attention.self.{kind}.{part}")
                    for kind in ("query", "key", "value")
                ]
                setattr(layer.qkv, part, nn.Parameter(torch.cat(pieces)))
                for short, name in names.items():
                    value = nn.Parameter(_tensor(base, f"{prefix}{name}.{part}"))
                    setattr(getattr(layer, short), part, value)
        return self

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: Any = None) -> torch.Tensor:
        kind = self.te[0] if types is None else self.te[types]
        x = self.n0(self.we(ids) + self.pe[: ids.shape[1]] + kind)
        x = F.dropout(x, self.dropout, self.training)
        for layer in self.L:
            x = layer(x, mask[:, None, None, :], self.dropout)
        return x


class CrossEncoder(nn.Module):
    """The encoder over question and passage, and a score from its first and its mean vector."""

    def __init__(self, base: Mapping[str, Any], layers: int = 6) -> None:
        super().__init__()
        self.e = Encoder(base, layers)
        self.h = nn.Linear(2 * WIDTH, 1)
        nn.init.normal_(self.h.weight, std=0.02)
        nn.init.zeros_(self.h.bias)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        x = self.e(ids, mask, types)
        return self.h(torch.cat([x[:, 0], mean_of(x, mask)], -1))[:, 0]


def _tensor(weights: Mapping[str, Any], name: str) -> torch.Tensor:
    return torch.tensor(weights[name].astype(np.float32))


def mean_of(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    kept = mask[..., None].to(x.dtype)
    return (x * kept).sum(1) / kept.sum(1)


def autocast() -> Any:
    return torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda")


class Tokens:
    """Token ids of many texts on the device, padded to one table."""

    def __init__(self, flat: Any, ends: Any, width: int) -> None:
        lengths = np.diff(ends, prepend=0)
        table = np.zeros((len(ends), width), np.int32)
        filled = np.arange(width)[None] < lengths[:, None]
        table[filled] = flat
        self.ids = torch.from_numpy(table).to(DEVICE)
        self.lengths = torch.from_numpy(lengths.astype(np.int64)).to(DEVICE)


class Pairs:
    """The questions with their right and wrong passages, on the device."""

    def __init__(self, data: Mapping[str, Any], base: Mapping[str, Any], log: Any) -> None:
        self.queries = Tokens(data["query_tokens"], data["query_ends"], QUERY_TOKENS)
        self.passages = Tokens(data["passage_tokens"], data["passage_ends"], PASSAGE_TOKENS)
        self.positives = _rows(data["positives"])
        self.bounds = _rows(data["bounds"])
        self.positive_counts = (self.positives >= 0).sum(1)
        self.weights = torch.from_numpy(data["weights"]).to(DEVICE)
        log(f"{len(self.positives)} questions, {len(self.passages.lengths)} passages on {DEVICE}")
        self.pool = torch.cat([_rows(data["pool"]), self._near(base)], 1)
        self.pool_counts = (self.pool >= 0).sum(1)
        log(f"wrong passages of a question: {self.pool_counts.float().mean():.1f}")

    @torch.no_grad()
    def _near(self, base: Mapping[str, Any]) -> torch.Tensor:
        """Wrong passages by meaning; those that say the same as the right one are left out, also
        of those found by words."""
        encoder = Encoder(base, 6).take(base).to(DEVICE).eval()
        passages, queries = _encoded(encoder, self.passages), _encoded(encoder, self.queries)
        found = torch.full((len(queries), BY_MEANING), -1, dtype=torch.int64, device=DEVICE)
        changes = torch.nonzero(self.bounds[1:, 0] != self.bounds[:-1, 0])[:, 0].add(1).tolist()
        for first, last in zip([0, *changes], [*changes, len(queries)], strict=True):
            low, high = self.bounds[first].tolist()
            for start in range(first, last, 1024):
                rows = slice(start, min(last, start + 1024))
                near = queries[rows] @ passages[low:high].T
                best = near.topk(min(BY_MEANING, high - low), 1).indices + low
                is_right = (best[..., None] == self.positives[rows][:, None]).any(-1)
                found[rows, : best.shape[1]] = best.masked_fill(is_right, -1)
                right = self.positives[rows, :1]
                same = (passages[found[rows].clamp(min=0)] * passages[right.clamp(min=0)]).sum(-1)
                found[rows] = found[rows].masked_fill((same > SAME) & (right >= 0), -1)
        return found

    def draw(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Questions; a right passage (or a wrong one, where nothing answers) and wrong ones of
        each; which of these count."""
        chosen = torch.multinomial(self.weights, QUESTIONS, replacement=True)
        counts = self.positive_counts[chosen]
        place = (torch.rand(QUESTIONS, device=DEVICE) * counts).long()
        right = self.positives[chosen, place]
        pool = self.pool[chosen]
        order = torch.rand(pool.shape, device=DEVICE).masked_fill(pool < 0, -1).topk(WRONG, 1)
        wrong = pool.gather(1, order.indices)
        low, high = self.bounds[chosen].T
        share = torch.rand(wrong.shape, device=DEVICE)
        anywhere = low[:, None] + (share * (high - low)[:, None]).long()
        is_missing = wrong < 0
        is_missing[:, -1] = True  # one of any kind
        wrong = torch.where(is_missing, anywhere, wrong)
        right = torch.where(counts > 0, right, anywhere[:, 0])
        passages = torch.cat([right[:, None], wrong], 1)
        is_right = (passages[..., None] == self.positives[chosen][:, None]).any(-1)
        counted = ~is_right
        counted[:, 0] = True
        return chosen, passages, counted


def _rows(values: Any) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.int64)).to(DEVICE)


@torch.no_grad()
def _encoded(encoder: Encoder, tokens: Tokens) -> torch.Tensor:
    out = torch.zeros(len(tokens.lengths), WIDTH, device=DEVICE)
    order = tokens.lengths.argsort()
    for start in range(0, len(order), 2048):
        rows = order[start : start + 2048]
        ids, mask = _framed(tokens, rows)
        with autocast():
            x = encoder(ids, mask)
        out[rows] = F.normalize(mean_of(x.float(), mask), dim=-1)
    return out


def _framed(tokens: Tokens, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = tokens.lengths[rows][:, None]
    width = int(lengths.max()) + 2
    place = torch.arange(width, device=DEVICE)[None]
    inner = (place - 1).clamp(0, tokens.ids.shape[1] - 1).expand(len(rows), -1)
    ids = tokens.ids[rows].gather(1, inner)
    ids = torch.where(place == 0, START, torch.where(place == lengths + 1, END, ids))
    mask = place < lengths + 2
    return torch.where(mask, ids, 0).long(), mask


def scores(model: CrossEncoder, pairs: Pairs, chosen: Any, passages: Any) -> torch.Tensor:
    """The model's score of every passage for its question, computed in parts of like length."""
    questions = chosen.repeat_interleave(passages.shape[1])
    texts = passages.reshape(-1)
    lengths = pairs.queries.lengths[questions] + pairs.passages.lengths[texts] + 3
    order = lengths.argsort()
    found: list[torch.Tensor] = []
    for rows in order.chunk(PARTS):
        ids, mask, types = _joined(pairs, questions[rows], texts[rows])
        with autocast():
            found.append(model(ids, mask, types).float())
    flat = torch.zeros(len(order), device=DEVICE).index_copy(0, order, torch.cat(found))
    return flat.view(passages.shape)


def _joined(
    pairs: Pairs, questions: torch.Tensor, texts: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    first = pairs.queries.lengths[questions][:, None]
    second = pairs.passages.lengths[texts][:, None]
    place = torch.arange(int((first + second).max()) + 3, device=DEVICE)[None]
    question = pairs.queries.ids[questions].gather(
        1, (place - 1).clamp(0, QUERY_TOKENS - 1).expand(len(questions), -1)
    )
    passage = pairs.passages.ids[texts].gather(1, (place - first - 2).clamp(0, PASSAGE_TOKENS - 1))
    ids = torch.where(place <= first, question, passage)
    ids = torch.where(place == 0, START, ids)
    ids = torch.where((place == first + 1) | (place == first + second + 2), END, ids)
    mask = place < first + second + 3
    types = ((place >= first + 2) & mask).long()
    return torch.where(mask, ids, 0).long(), mask, types


def train(
    data: Mapping[str, Any],
    base: Mapping[str, Any],
    start: Mapping[str, Any],
    out: Path,
    seconds: float,
    student_seconds: float,
    rate: float,
) -> None:
    """See `train_reranker.train`."""
    began = time.time()

    def log(text: str) -> None:
        print(f"[{time.time() - began:6.1f}] {text}", flush=True)

    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    out.mkdir(parents=True, exist_ok=True)
    pairs = Pairs(data, base, log)
    model = CrossEncoder(base)
    model.e.take(base)
    if start:
        known = {name: torch.tensor(value.astype(np.float32)) for name, value in start.items()}
        model.load_state_dict(known, strict=False)
    model = model.to(DEVICE)
    average = fit(model, pairs, seconds, rate, log)
    save(model.state_dict(), out, "last")
    save(average, out, "average")
    log("saved")
    if student_seconds > 0:
        model.load_state_dict(average)
        student = CrossEncoder(base, len(STUDENT_LAYERS)).to(DEVICE)
        student.load_state_dict(dict(_of_layers(average)))
        best = fit(student, pairs, student_seconds, 3e-4, log, model.eval())
        save(best, out, "student")
        log("saved the student")


def _of_layers(weights: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in weights.items():
        if not name.startswith("e.L."):
            yield name, value
        elif (layer := int(name.split(".")[2])) in STUDENT_LAYERS:
            yield name.replace(f"e.L.{layer}.", f"e.L.{STUDENT_LAYERS.index(layer)}."), value


def fit(
    model: CrossEncoder,
    pairs: Pairs,
    seconds: float,
    rate: float,
    log: Any,
    teacher: CrossEncoder | None = None,
) -> dict[str, torch.Tensor]:
    """Train for so many seconds; the weights averaged over the last part are returned."""
    model.train()
    model.e.dropout = 0.0 if teacher else DROPOUT
    trained = [one for one in model.parameters() if one.requires_grad]
    groups = [
        {"params": [one for one in trained if one.ndim > 1]},
        {"params": [one for one in trained if one.ndim < 2], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
    began, step, averaged = time.time(), 0, 0
    total: dict[str, torch.Tensor] = {}
    losses: list[float] = []
    while (done := (time.time() - began) / seconds) < 1:
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, step / 100 + 0.01) * max(0.02, 1 - done)
        with torch.no_grad():
            chosen, passages, counted = pairs.draw()
        loss = _loss(model, pairs, chosen, passages, counted, teacher)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        step += 1
        if step % 10 == 0 and done > AVERAGED_FROM:
            averaged += 1
            for name, value in model.state_dict().items():
                kept = total.setdefault(name, torch.zeros_like(value, dtype=torch.float32))
                kept += value
        if step % 20 == 0:
            losses.append(loss.item())
        if step % 200 == 0:
            log(f"step {step}: loss {np.mean(losses[-10:]):.4f}")
    log(f"{step} steps, {step * QUESTIONS} questions, loss {np.mean(losses[-10:]):.4f}")
    return {name: value / averaged for name, value in total.items()} or model.state_dict()


def _loss(
    model: CrossEncoder, pairs: Pairs, chosen: Any, passages: Any, counted: Any, teacher: Any
) -> torch.Tensor:
    is_answered = (pairs.positive_counts[chosen] > 0).float()
    judged = scores(model, pairs, chosen, passages)
    masked = judged.masked_fill(~counted, -1e4)
    first = torch.zeros(len(chosen), dtype=torch.long, device=DEVICE)
    ranked = F.cross_entropy(masked, first, reduction="none")
    wanted = torch.zeros_like(judged)
    wanted[:, 0] = is_answered
    absolute = F.binary_cross_entropy_with_logits(judged, wanted, reduction="none")
    absolute = (absolute * counted).sum(1) / counted.sum(1)
    loss = (ranked * is_answered).mean() + ABSOLUTE * absolute.mean() + 1e-3 * (judged**2).mean()
    if teacher is None:
        return loss
    with torch.no_grad():
        taught = scores(teacher, pairs, chosen, passages).masked_fill(~counted, -1e4)
    alike = F.kl_div(masked.log_softmax(1), taught.softmax(1), reduction="batchmean")
    level = ((judged - taught).masked_fill(~counted, 0.0) ** 2).mean()
    return 0.2 * loss + alike + 0.05 * level


def save(weights: Mapping[str, torch.Tensor], out: Path, name: str) -> None:
    """Write the weights but the words', in halves of precision, in files of limited size."""
    part: dict[str, Any] = {}
    number = size = 0
    for key, value in weights.items():
        if key.endswith("we.weight"):
            continue
        half = value.detach().half().cpu().numpy()
        if size + half.nbytes > BIGGEST_FILE:
            np.savez(out / f"{name}.{number}.npz", **part)
            part, number, size = {}, number + 1, 0
        part[key] = half
        size += half.nbytes
    np.savez(out / f"{name}.{number}.npz", **part)
