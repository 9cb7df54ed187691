"""ONNX Runtime must neither report to its maker nor leave anything on the disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import onnxruntime

from holdfast import inference


def test_telemetry_is_disabled_before_the_runtime_is_loaded() -> None:
    assert inference.__doc__
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_the_installed_runtime_contains_no_telemetry_address() -> None:
    folder = Path(onnxruntime.__file__).parent / "capi"
    libraries = [path for path in folder.iterdir() if ".so" in path.name]
    assert libraries
    assert not any(b"OneCollector" in path.read_bytes() for path in libraries)


def test_opening_a_model_leaves_nothing_in_the_temporary_folder(tmp_path: Path) -> None:
    code = "from holdfast.inference.encoder import packaged_encoder as e; e().embed(['hi'])"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=120)
    assert list(tmp_path.iterdir()) == []
