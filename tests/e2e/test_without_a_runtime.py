"""A machine on which ONNX Runtime cannot be loaded: memory works by words, and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_memory_works_by_words_where_the_runtime_cannot_be_loaded(tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "onnxruntime"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('libfoo.so is missing')")
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "HOLDFAST_HOME": str(tmp_path / "memory"),
        "PYTHONPATH": str(broken.parent),
    }

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "holdfast", *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    status, told = run("ingest", str(SAMPLES))
    assert status == 0 and "ONNX Runtime cannot be loaded" in told
    for budget in ("low", "mid", "high"):
        status, told = run("recall", "--bank", "all", "--budget", budget, "cache in redis")
        assert status == 0 and "six minutes" in told and "bug in Holdfast" not in told
    status, told = run("ask", "--bank", "all", "Do we still cache API responses in Redis?")
    assert status == 0 and "no longer cache API responses in Redis" in told
    assert "libfoo.so is missing" in run("worker")[1] + run("doctor")[1]
