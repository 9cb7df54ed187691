"""Runs an ONNX graph with little memory."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.errors import ModelError

_REINSTALL = "Install Holdfast again: pip install --force-reinstall holdfast-memory."

try:
    import onnxruntime as ort
    from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors
except ImportError as error:  # callers then do without a model
    raise ModelError(f"ONNX Runtime cannot be loaded: {error}.", _REINSTALL) from error

Output = npt.NDArray[np.float32]

_LOG_FATAL_ONLY = 4
# What ONNX Runtime raises for a file that it cannot use and for a run that fails.
_FAILURES = (
    ort_errors.EPFail,
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NoModel,
    ort_errors.NoSuchFile,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
    RuntimeError,
    ValueError,
)


class TokenRow(NamedTuple):
    """The ids of one text or pair, and to which text of a pair each belongs."""

    ids: list[int]
    types: list[int] | None = None


class OnnxSession:
    """A graph that runs on the CPU, row by row.

    8-bit graphs choose the scale of their activations from the whole batch, so that a row among
    others gets another result than alone: for the shipped model a cosine of .993 on average and
    .973 at worst. One row at a time is no slower on a CPU, and makes the result depend on the row
    alone.
    """

    def __init__(
        self,
        path: Path,
        expected_sha256: str | None = None,
        cpu_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """`cpu_clock` counts the processor time of a thread, in seconds."""
        self._path = path
        self._cpu_clock = cpu_clock
        # The processor time of a token where rows took least; 0 before any were run. Others who
        # use the machine change it little, so that it is nearly the same for every call.
        self.cpu_s_per_token = 0.0
        # With an expected hash, the bytes that were hashed are loaded. Without one the file is
        # opened by name, because large models keep their weights in files beside it.
        model = str(path) if expected_sha256 is None else read_verified(path, expected_sha256)
        if not path.is_file():
            raise ModelError(f"There is no {path}.", "Correct the path in the settings.")
        try:
            self._session = ort.InferenceSession(
                model, _options(), providers=["CPUExecutionProvider"]
            )
        except _FAILURES as error:
            raise ModelError(
                f"{path} cannot be opened as an ONNX model: {_first_line(error)}",
                "Copy the file again, or choose another model in the settings.",
            ) from error
        # The session keeps the bytes of the file, which it no longer needs.
        vars(self._session)["_model_bytes"] = None
        self.inputs = [str(given.name) for given in self._session.get_inputs()]

    def run(self, row: TokenRow) -> Output:
        """The graph's first output for one row."""
        ids = np.array([row.ids], np.int64)
        types = np.array([row.types], np.int64) if row.types else np.zeros_like(ids)
        offered = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        needed = {name: offered[name] for name in self.inputs if name in offered}
        try:
            first = self._session.run(None, needed)[0]
        except _FAILURES as error:
            raise ModelError(
                f"{self._path} does not run: {_first_line(error)}",
                f"It asks for {', '.join(self.inputs)}; choose another model in the settings.",
            ) from error
        return np.asarray(first, dtype=np.float32)

    def run_all(
        self, rows: Sequence[TokenRow], threads: int, late: Callable[[], bool]
    ) -> list[Output] | None:
        """The output for each row, `threads` of them at a time; None once `late` returns true."""

        def run_unless_late(row: TokenRow) -> tuple[Output, float] | None:
            if late():
                return None
            began = self._cpu_clock()
            return self.run(row), self._cpu_clock() - began

        workers = min(threads, len(rows))
        if workers < 2:
            found = [run_unless_late(row) for row in rows]
        else:
            pool = ThreadPoolExecutor(workers)
            try:
                found = list(pool.map(run_unless_late, rows))
            finally:
                pool.shutdown(cancel_futures=True)
        done = [one for one in found if one is not None]
        if len(done) < len(rows):
            return None
        if rows:
            each = sum(cpu_s for _, cpu_s in done) / sum(len(row.ids) for row in rows)
            self.cpu_s_per_token = min(each, self.cpu_s_per_token or each)
        return [output for output, _ in done]


def read_verified(path: Path, expected_sha256: str) -> bytes:
    """The bytes of a file, which must have the expected hash."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error}.", _REINSTALL) from error
    found = hashlib.sha256(content).hexdigest()
    if found != expected_sha256:
        raise ModelError(
            f"{path} is not the file it should be: SHA-256 {found}, expected {expected_sha256}.",
            _REINSTALL,
        )
    return content


def _options() -> ort.SessionOptions:
    options = ort.SessionOptions()
    # One thread a row and several rows at a time: the threads of one row would wait for each
    # other after every operation, and burn a core of the user's machine while they do.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _LOG_FATAL_ONLY
    # Row by row the arena keeps little, and threads share it: measured with two threads and
    # long texts 149 MB in all, against 268 when each thread asks the system for memory itself.
    options.enable_cpu_mem_arena = True
    # A pattern is kept for every length of text ever met.
    options.enable_mem_pattern = False
    return options


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300]
