from __future__ import annotations

import importlib
import subprocess
import sys

import holdfast


def test_every_export_can_be_imported_and_the_list_is_sorted() -> None:
    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None
    assert holdfast.__all__ == sorted(holdfast.__all__)


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    try:
        getattr(holdfast, "nothing_of_the_sort")  # noqa: B009 - the lookup is the test
    except AttributeError as error:
        assert "nothing_of_the_sort" in str(error)
    else:
        raise AssertionError("no error")


def imported_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_recall_starts_without_what_only_ingest_needs() -> None:
    loaded = imported_by("holdfast.operations.search")
    heavy = {"orjson", "rich", "multiprocessing", "concurrent.futures", "hashlib", "shutil"}
    assert not loaded & heavy
    assert "holdfast.refine.ingest.ingest" not in loaded


def test_status_starts_without_what_only_ingest_and_models_need() -> None:
    loaded = imported_by("holdfast.operations.admin.status")
    assert not loaded & {"orjson", "rich", "multiprocessing", "numpy"}
    assert not loaded & {"holdfast.refine.ingest.ingest", "holdfast.app.background.worker"}


def test_the_worker_starts_without_models() -> None:
    assert not imported_by("holdfast.interfaces.cli.commands.worker") & {
        "numpy",
        "onnxruntime",
    }


def test_redaction_needs_only_the_standard_library() -> None:
    ours = {name for name in imported_by("holdfast.capture.redact") if "." not in name}
    outside = {name for name in ours if name not in sys.stdlib_module_names and name[0] != "_"}
    assert outside <= {"holdfast", "sitecustomize", "usercustomize"}


def test_every_module_can_be_imported_alone() -> None:
    for name in ("holdfast.app.memory", "holdfast.research.answering.answer"):
        assert importlib.import_module(name)
