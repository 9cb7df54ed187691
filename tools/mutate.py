"""Plants faults into copies of the modules and says which of them the tests find.

A fault is one small change of the code: a flipped comparison, a limit that is off by one, a
statement that is gone, `and` for `or`, a constant for a result, a dropped `not`, another number.
Faults are spread over the packages and chosen by a seed: the same seed over the same sources gives
the same faults. Each is planted into a scratch copy of the repository, never into the working tree,
and the tests closest to its module run there until one fails. That test must then pass without
the fault, or it proves nothing.

    python tools/mutate.py --seed 7 --count 20 --report mutations.md

A test that starts processes with an environment of its own runs the installed package there, not
the copy, and so does not see the fault in them.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple, cast

ROOT = Path(__file__).parents[1]
PACKAGE = "holdfast"
# What is not needed to run tests, and large or not ours.
_NOT_COPIED = (".git", ".venv*", ".try", "__pycache__", ".*_cache", ".hypothesis", "build", "dist")
# Tests that need a browser, a server or the Claude Code program take minutes: they run last.
_EXPENSIVE = re.compile(
    r"playwright|postgres_server|claude_agent_sdk|subprocess|tests\.support\.inbox_home"
)


class Kind(StrEnum):
    """What a fault changes."""

    COMPARISON = "flipped comparison"
    BOUNDARY = "off by one"
    STATEMENT = "removed statement"
    BOOLEAN = "swapped and/or"
    RETURN = "returned constant"
    NOT = "dropped not"
    CONSTANT = "changed constant"


class Fault(NamedTuple):
    """One change: the text between two offsets of a module becomes another."""

    path: Path
    line: int
    kind: Kind
    start: int
    end: int
    before: str
    after: str

    def plant(self, source: bytes) -> bytes:
        """The module's text with this fault in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


class Outcome(StrEnum):
    """What the tests made of a fault."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNDECIDED = "undecided"


class Result(NamedTuple):
    """A fault, what became of it, and by which test, or which test files passed."""

    fault: Fault
    outcome: Outcome
    by: str
    seconds: float


# Faults of one module

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_SHIFTED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_EMPTY = {"bool": "False", "int": "0", "float": "0.0", "str": "''", "list": "[]", "dict": "{}"}


def find_faults(path: Path, source: bytes) -> list[Fault]:
    """Every fault that can be planted into a module, in the order of its lines."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Fault] = []
    for node, kind, after in _changes(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        fault = Fault(path, node.lineno, kind, start, end, before, after)
        if _parses(fault.plant(source)):
            found.append(fault)
    return sorted(found, key=lambda fault: (fault.start, fault.end, fault.kind, fault.after))


def _parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


_Change = tuple[ast.expr | ast.stmt, Kind, str]


def _changes(tree: ast.Module) -> Iterator[_Change]:
    for node, returns in _live_nodes(tree, ""):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _change_comparison(node)
        elif isinstance(node, ast.BoolOp):
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, Kind.BOOLEAN, _text(ast.BoolOp(other, node.values))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, Kind.NOT, _text(node.operand)
        elif isinstance(node, ast.Constant):
            yield from _change_constant(node)
        elif isinstance(node, ast.Return):
            yield from _change_return(node, returns)
        elif _is_removable(node):
            yield node, Kind.STATEMENT, "pass"


def _live_nodes(parent: ast.AST, returns: str) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """The nodes that run, each with the return type of its function.

    Without annotations, docstrings, protocols, and f-strings, whose parts have no exact place.
    """
    skipped = {
        id(child)
        for field in ("annotation", "returns", "decorator_list", "bases")
        for child in _as_list(getattr(parent, field, None))
    }
    for child in ast.iter_child_nodes(parent):
        if id(child) in skipped or isinstance(child, ast.JoinedStr):
            continue
        if isinstance(child, ast.ClassDef) and "Protocol" in map(_text, child.bases):
            continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.If) and _is_never_run(child.test):
            continue
        inner = returns
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = _text(child.returns) if child.returns is not None else ""
        if isinstance(child, ast.expr | ast.stmt):
            yield child, inner
        yield from _live_nodes(child, inner)


def _as_list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _is_never_run(test: ast.expr) -> bool:
    return _text(test) == "TYPE_CHECKING" or "__name__" in _text(test)


def _text(node: ast.AST) -> str:
    text = ast.unparse(node)
    return f"({text})" if isinstance(node, ast.BoolOp | ast.Compare | ast.UnaryOp) else text


def _change_comparison(node: ast.Compare) -> Iterator[_Change]:
    for kind, table in ((Kind.COMPARISON, _FLIPPED), (Kind.BOUNDARY, _SHIFTED)):
        other = table.get(type(node.ops[0]))
        if other is not None:
            yield node, kind, _text(ast.Compare(node.left, [other()], node.comparators))


def _change_constant(node: ast.Constant) -> Iterator[_Change]:
    if isinstance(node.value, bool):
        yield node, Kind.CONSTANT, str(not node.value)
    elif isinstance(node.value, int):
        yield node, Kind.BOUNDARY, str(node.value + 1)
        yield node, Kind.CONSTANT, str(node.value * 3 + 7)
    elif isinstance(node.value, float):
        yield node, Kind.CONSTANT, str(node.value * 3 + 7)


def _change_return(node: ast.Return, returns: str) -> Iterator[_Change]:
    if node.value is None or isinstance(node.value, ast.Constant):
        return
    kind = returns.split("[")[0]
    constants = ("True", "False") if kind == "bool" else (_EMPTY.get(kind, "None"),)
    for constant in constants:
        if _text(node.value) != constant:
            yield node, Kind.RETURN, f"return {constant}"


def _is_removable(node: ast.expr | ast.stmt) -> bool:
    """Whether a statement can go without the names that follow being unknown."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom)
    if isinstance(node, ast.Assign):
        return all(isinstance(one, ast.Attribute | ast.Subscript) for one in node.targets)
    return isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete)


# The choice of faults and of tests


def choose_faults(package: Path, count: int, seed: int, within: str = "") -> list[Fault]:
    """As many faults as asked, the packages and then the kinds in turn, one for a module."""
    rng = random.Random(seed)
    groups: dict[str, list[Path]] = {}
    for path in sorted(package.rglob("*.py")):
        name = module_name(path, package)
        if name == within or name.startswith(f"{within or package.name}."):
            groups.setdefault(name.split(".")[1] if name.count(".") > 1 else "", []).append(path)
    for name in sorted(groups):
        rng.shuffle(groups[name])
    order = sorted(groups)
    rng.shuffle(order)
    seen: Counter[Kind] = Counter()
    chosen: list[Fault] = []
    rounds = 0
    while order and len(chosen) < count:
        name = order[rounds % len(order)]
        rounds += 1
        fault = _choose_from(groups[name], rng, seen, chosen, one_each=not within)
        if fault is None:
            order.remove(name)
            continue
        seen[fault.kind] += 1
        chosen.append(fault)
    return chosen


@cache
def _faults_of(path: Path) -> list[Fault]:
    return find_faults(path, path.read_bytes())


def _choose_from(
    paths: list[Path],
    rng: random.Random,
    seen: Counter[Kind],
    chosen: list[Fault],
    one_each: bool,
) -> Fault | None:
    """A fault of the kind seen least so far, from the first of these modules that has one left."""
    while paths:
        path = paths.pop(0)
        faults = [fault for fault in _faults_of(path) if fault not in chosen]
        if not faults:
            continue
        if not one_each:
            paths.append(path)
        kind = min(sorted({fault.kind for fault in faults}), key=lambda kind: seen[kind])
        return rng.choice([fault for fault in faults if fault.kind is kind])
    return None


def module_name(path: Path, package: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def imported_modules(path: Path) -> set[str]:
    """The dotted names that a file imports, also inside its code strings."""
    text = path.read_text("utf-8")
    names = set(re.findall(rf"\b(?:{PACKAGE}|tests)(?:\.\w+)+", text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


class TestFiles:
    """The test files of a repository, with what each imports itself and through its helpers, and
    the modules that import each module of the package."""

    __test__ = False

    def __init__(self, root: Path, package: Path) -> None:
        self.root = root
        self._callers: dict[str, set[str]] = defaultdict(set)
        for path in sorted(package.rglob("*.py")):
            for name in imported_modules(path):
                self._callers[name].add(module_name(path, package))
        own = {path: imported_modules(path) for path in sorted((root / "tests").rglob("*.py"))}
        helpers = {self._dotted(path): names for path, names in own.items()}
        self._direct = {path: n for path, n in own.items() if path.name.startswith("test_")}
        self._through = {
            path: names.union(*(helpers.get(name, set[str]()) for name in names))
            for path, names in self._direct.items()
        }
        self._cheap = {path: not _EXPENSIVE.search(path.read_text("utf-8")) for path in own}

    def _dotted(self, path: Path) -> str:
        return ".".join(path.relative_to(self.root).with_suffix("").parts)

    def closest(self, module: str, limit: int) -> list[Path]:
        """The test files that concern a module most, the best and cheapest first."""
        ranked = [
            (-self._closeness(path, module), not self._cheap[path], path) for path in self._direct
        ]
        return [path for closeness, _, path in sorted(ranked) if closeness < 0][:limit]

    def _closeness(self, path: Path, module: str) -> int:
        subject, stem = path.stem.removeprefix("test_"), module.rpartition(".")[2]
        callers = self._callers.get(module, set[str]())
        points = 0
        if module in self._direct[path]:
            points += 8
        elif module in self._through[path]:
            points += 4
        if subject == stem:
            points += 8
        elif _share_a_word(stem, subject):
            points += 3
        if callers & self._direct[path]:
            points += 3
        if any(_share_a_word(caller.rpartition(".")[2], subject) for caller in callers):
            points += 2
        folders = path.relative_to(self.root / "tests").parts[:-1]
        if points and folders and folders[0] in module.split("."):
            points += 1
        return points


def _share_a_word(one: str, other: str) -> bool:
    """Whether two names have a word in common, but for its ending: `imports`, `import_intake`."""
    return any(
        a[:5] == b[:5] for a in one.split("_") for b in other.split("_") if min(len(a), len(b)) > 3
    )


# Running


class Limits(NamedTuple):
    """How much may be run for one fault; `tests` are test files instead of the closest ones."""

    files: int = 6
    seconds: float = 180.0
    tests: tuple[str, ...] = ()


class Scratch:
    """A copy of the repository in which faults are planted and tests run."""

    def __init__(self, root: Path, folder: Path, package: str = PACKAGE) -> None:
        self.root = folder / "copy"
        shutil.copytree(root, self.root, ignore=shutil.ignore_patterns(*_NOT_COPIED), symlinks=True)
        self.package = self.root / "src" / package
        self.tests = TestFiles(self.root, self.package)
        # The copy must win over the installed package, and no test may write into the caller's
        # temporary folder.
        (folder / "tmp").mkdir()
        self._env = {
            **os.environ,
            "PYTHONPATH": str(self.root / "src"),
            "TMPDIR": str(folder / "tmp"),
        }
        self.check_import(package)

    def check_import(self, package: str) -> None:
        """Raise RuntimeError if tests here would import another copy of the package."""
        code = f"import {package}; print({package}.__file__)"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=self._env,
            cwd=self.root,
            capture_output=True,
            text=True,
        )
        if not done.stdout.startswith(str(self.root)):
            raise RuntimeError(f"the copy is not what tests import: {done.stdout}{done.stderr}")

    def judge(self, fault: Fault, limits: Limits) -> Result:
        """Plant a fault, run the tests that concern its module, take the fault out again."""
        began = time.monotonic()
        source = fault.path.read_bytes()
        passed, unsound = list[str](), list[str]()
        for name in limits.tests or self._closest(fault.path, limits.files):
            left = limits.seconds - (time.monotonic() - began)
            if left <= 0:
                break
            write_module(fault.path, fault.plant(source))
            try:
                failed = self._first_failure(name, left)
            finally:
                write_module(fault.path, source)
            if failed is None:
                passed.append(name)
                continue
            by, rerun = failed
            # What was too slow must be quick without the fault, or the machine was slow.
            if self._first_failure(rerun, left / 2 if rerun == name else limits.seconds) is None:
                return Result(fault, Outcome.KILLED, by, time.monotonic() - began)
            unsound.append(f"{by} fails without the fault as well")
        outcome = Outcome.SURVIVED if passed else Outcome.UNDECIDED
        by = ", ".join(passed + unsound) or "no test file concerns this module"
        return Result(fault, outcome, by, time.monotonic() - began)

    def _closest(self, module: Path, limit: int) -> list[str]:
        paths = self.tests.closest(module_name(module, self.package), limit)
        return [str(path.relative_to(self.root)) for path in paths]

    def _first_failure(self, target: str, limit_s: float) -> tuple[str, str] | None:
        """What fails and what to run to see it again, or None if everything passes."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", target]
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return f"{target} (did not end within {limit_s:.0f} s)", target
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode in (0, 5):  # 5: nothing collected, as where every test is skipped
            return None
        named = re.search(r"^(?:FAILED|ERROR) (\S+?::[^\n]+?)(?: - .*)?$", output, re.MULTILINE)
        return (named[1], named[1]) if named else (target, target)


# Telling


def write_module(path: Path, source: bytes) -> None:
    """Write a module so that the next run compiles it: bytecode counts as fresh if the source has
    the same size and was written in the same second."""
    path.write_bytes(source)
    Path(cache_from_source(path)).unlink(missing_ok=True)


def render_report(results: list[Result], package: Path, seed: int) -> str:
    """The results as Markdown: how many were killed, then each survivor, then each kill."""
    count = Counter(result.outcome for result in results)
    lines = [
        f"Seed {seed}: {len(results)} faults planted, {count[Outcome.KILLED]} killed, "
        f"{count[Outcome.SURVIVED]} survived, {count[Outcome.UNDECIDED]} undecided.",
        "",
        "| outcome | where | what | found by |",
        "|---|---|---|---|",
    ]
    order = (Outcome.SURVIVED, Outcome.UNDECIDED, Outcome.KILLED)
    for result in sorted(results, key=lambda result: order.index(result.outcome)):
        where = f"`{result.fault.path.relative_to(package)}:{result.fault.line}`"
        by = f"`{_short(result.by, 110)}`" if result.outcome is Outcome.KILLED else "–"
        lines.append(f"| {result.outcome} | {where} | {describe(result.fault)} | {by} |")
    return "\n".join(lines) + "\n"


def describe(fault: Fault) -> str:
    """A fault in one line: its kind, and the code before and after."""
    before, after = _short(fault.before, 60), _short(fault.after, 60)
    return f"{fault.kind}: `{before}` → `{after}`"


def _short(text: str, length: int) -> str:
    line = " ".join(text.split()).replace("|", "\\|").removeprefix("tests/")
    return line if len(line) <= length else line[: length - 1] + "…"


def run_all(
    scratch: Scratch,
    faults: list[Fault],
    limits: Limits,
    tell: Callable[[str], object],
) -> list[Result]:
    """Judge faults one after another and say after each how it went."""
    results: list[Result] = []
    for number, fault in enumerate(faults, 1):
        where = f"{fault.path.relative_to(scratch.package)}:{fault.line}"
        tell(f"[{number}/{len(faults)}] {where}  {describe(fault)}\n")
        result = scratch.judge(fault, limits)
        results.append(result)
        tell(f"        {result.outcome} in {result.seconds:.0f} s: {_short(result.by, 200)}\n")
    return results


def tell(text: str) -> None:
    """Progress, for whoever waits at the terminal."""
    sys.stderr.write(text)
    sys.stderr.flush()


def _stop(number: int, frame: object) -> None:
    sys.exit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; the exit status is 1 if a fault was not killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="which faults (default: 1)")
    parser.add_argument("--count", type=int, default=20, help="how many faults (default: 20)")
    parser.add_argument("--within", default="", help="only this module or package (dotted name)")
    parser.add_argument("--files", type=int, default=6, help="test files for a fault (default: 6)")
    parser.add_argument("--tests", nargs="*", default=[], help="these test files for every fault")
    parser.add_argument("--limit-s", type=float, default=180.0, help="seconds for a fault")
    parser.add_argument("--report", type=Path, help="write the Markdown report to this file")
    parser.add_argument("--list", action="store_true", help="name the faults, run nothing")
    options = parser.parse_args(arguments)
    # So that the scratch copy and running tests go when this is stopped.
    signal.signal(signal.SIGTERM, _stop)
    with tempfile.TemporaryDirectory(prefix="holdfast-mutate-") as folder:
        scratch = Scratch(ROOT, Path(folder))
        faults = choose_faults(scratch.package, options.count, options.seed, options.within)
        if options.list:
            for fault in faults:
                where = f"{fault.path.relative_to(scratch.package)}:{fault.line}"
                sys.stdout.write(f"{where}  {describe(fault)}\n")
            return 0
        limits = Limits(options.files, options.limit_s, tuple(options.tests))
        results = run_all(scratch, faults, limits, tell)
        report = render_report(results, scratch.package, options.seed)
    if options.report:
        options.report.write_text(report, "utf-8")
    else:
        sys.stdout.write(report)
    return int(any(result.outcome is not Outcome.KILLED for result in results))


if __name__ == "__main__":
    sys.exit(main())
