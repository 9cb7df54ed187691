"""Checks of the structure that no linter has: `make check` runs them over `src/holdfast`.

- Our own modules are imported by name, never by a string, except at the plugin points.
- Imports inside functions stand only in modules that `[tool.holdfast.lazy-imports]` of
  pyproject.toml lists with the reason.
- A package has at most 20 modules, a class at most 15 public methods (a subject of the store 25),
  and a class hierarchy at most two levels (protocols and errors apart).
- Nothing exceeds `[tool.holdfast.budget]` of pyproject.toml, and no number there was raised since
  the last release. `python tools/check_structure.py --budget` prints how much there is today.

Cycles, with imports inside functions counted, and layers are checked by import-linter.
"""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
# More than this and a reader has to know the package to find a module in it.
MAX_MODULES = 20
# More than this and a class has more than one reason to change.
MAX_PUBLIC_METHODS = 15
# A subject of the store has the statements of its tables, one a method.
MAX_SUBJECT_METHODS = 25
# A class, its base, and no third level: behaviour is composed, not inherited.
MAX_DEPTH = 2
# Modules that find others by looking into a folder or by a list of names: a new file there is all
# that a new agent, a new command, a new shell, a new subject of operations or of the store needs.
PLUGIN_POINTS = frozenset(
    {
        "holdfast.interfaces.cli.commands.completion",
        "holdfast.interfaces.cli.main",
        "holdfast.operations.registry",
        "holdfast.sources.registry",
        "holdfast.store.protocol",
    }
)
# Bases that do not count as a level.
_FREE_BASES = frozenset(
    "object Protocol Generic NamedTuple Subject TypedDict Enum StrEnum IntEnum Exception "
    "BaseModel".split()
)
# The functions that import a module by its name in a string.
_IMPORTS = re.compile("import_module|__import__")


class Module(NamedTuple):
    """A module of the package."""

    name: str
    path: Path
    text: str
    tree: ast.Module


def read_modules(package: Path) -> list[Module]:
    """Every module below a package folder."""
    found: list[Module] = []
    # The trees are no garbage, and looking for some among them takes longer than parsing.
    gc.disable()
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        text = path.read_text("utf-8")
        found.append(Module(name, path, text, ast.parse(text)))
    gc.enable()
    return found


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, at any depth."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                waiting += inner
                yield from inner


def _functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in _statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def check_string_imports(modules: list[Module], package: str) -> list[str]:
    """Calls of `import_module` that name, or may name, a module of ours."""
    found: list[str] = []
    for module in modules:
        if module.name in PLUGIN_POINTS or not _IMPORTS.search(module.text):
            continue
        constants = {
            target.id: node.value.value
            for node in module.tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if not _IMPORTS.fullmatch(called):
                continue
            given = node.args[0] if node.args else None
            name = given.value if isinstance(given, ast.Constant) else None
            name = constants.get(given.id) if isinstance(given, ast.Name) else name
            if not isinstance(name, str) or name.split(".")[0] in (package, ""):
                found.append(
                    f"{module.name}:{node.lineno}: imports a module of ours by a string; write an "
                    "ordinary import, in the function if start-up needs that"
                )
    return found


def check_lazy_imports(modules: list[Module], allowed: dict[str, str]) -> list[str]:
    """Imports inside functions in modules that are not listed, and listed modules without any."""
    lazy: dict[str, int] = {}
    for module in modules:
        for function in _functions(module.tree):
            for node in _statements(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    lazy.setdefault(module.name, node.lineno)
    found = [
        f"{name}:{line}: imports inside a function; move the import to the top, or list the module "
        "with the measured reason under [tool.holdfast.lazy-imports] in pyproject.toml"
        for name, line in lazy.items()
        if name not in allowed
    ]
    found += [f"{name}: listed under lazy-imports, but has none" for name in allowed.keys() - lazy]
    found += [
        f"{name}: listed under lazy-imports without a reason"
        for name in allowed
        if not allowed[name].strip()
    ]
    return sorted(found)


def check_package_sizes(modules: list[Module]) -> list[str]:
    """Packages with too many modules."""
    counts: dict[str, int] = {}
    for module in modules:
        if module.path.name != "__init__.py":
            package = module.name.rpartition(".")[0]
            counts[package] = counts.get(package, 0) + 1
    return [
        f"{package}: {count} modules, at most {MAX_MODULES}: split it by capability"
        for package, count in counts.items()
        if count > MAX_MODULES
    ]


def _base_names(node: ast.ClassDef) -> list[str]:
    names: list[str] = []
    for base in node.bases:
        if isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name):
            names.append(base.id)
        elif isinstance(base, ast.Attribute):
            names.append(base.attr)
    return names


def check_classes(modules: list[Module]) -> list[str]:
    """Classes with too many public methods, or too deep a hierarchy."""
    classes: dict[str, list[tuple[Module, ast.ClassDef]]] = {}
    for module in modules:
        for node in _statements(module.tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append((module, node))
    found: list[str] = []
    for name, places in classes.items():
        for module, node in places:
            if _is_protocol(node, classes) or _is_error(node, classes):
                continue
            methods = [n for n in node.body if _is_public_method(n)]
            is_subject = any(isinstance(b, ast.Name) and b.id == "Subject" for b in node.bases)
            most = MAX_SUBJECT_METHODS if is_subject else MAX_PUBLIC_METHODS
            if len(methods) > most:
                found.append(
                    f"{module.name}:{node.lineno}: {name} has {len(methods)} public methods, at "
                    f"most {most}: give it parts"
                )
            depth = _depth(node, classes, frozenset())
            if depth > MAX_DEPTH:
                found.append(
                    f"{module.name}:{node.lineno}: {name} inherits over {depth} levels, at most "
                    f"{MAX_DEPTH}: compose"
                )
    return found


_Classes = dict[str, list[tuple[Module, ast.ClassDef]]]


def _is_public_method(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
        return False
    kinds = {
        d.id if isinstance(d, ast.Name) else getattr(d, "attr", "") for d in node.decorator_list
    }
    return not kinds & {"property", "cached_property", "setter", "overload"}


def _is_protocol(node: ast.ClassDef, classes: _Classes) -> bool:
    return "Protocol" in _base_names(node)


def _is_error(node: ast.ClassDef, classes: _Classes) -> bool:
    return node.name.endswith(("Error", "Exception"))


def _depth(node: ast.ClassDef, classes: _Classes, seen: frozenset[str]) -> int:
    """Levels of our own classes from this one up, protocols apart."""
    below = 0
    for name in _base_names(node):
        if name in _FREE_BASES or name in seen:
            continue
        for _, base in classes.get(name, [])[:1]:
            if not _is_protocol(base, classes):
                below = max(below, _depth(base, classes, seen | {node.name}))
    return 1 + below


# What a budget limits: the totals by name, and lines and files of each package.
Budget = dict[str, Any]


def measure(root: Path) -> Budget:
    """How much there is of everything that the budget limits."""
    package = root / "src" / "holdfast"
    modules = read_modules(package)
    of_packages: dict[str, dict[str, int]] = {}
    for module in modules:
        inner = module.path.relative_to(package).parts
        counted = of_packages.setdefault(inner[0] if inner[1:] else "holdfast", Counter())
        counted["lines"] += module.text.count("\n")
        counted["files"] += 1
    tests = [path.read_text("utf-8") for path in sorted((root / "tests").rglob("*.py"))]
    docs = root / "docs"
    return {
        "lines": sum(one["lines"] for one in of_packages.values()),
        "files": len(modules),
        "test-lines": sum(text.count("\n") for text in tests),
        "tests": sum(len(_TEST.findall(text)) for text in tests),
        "regexes": sum(_count_calls(module, ("regex", "re.compile")) for module in modules),
        "commands": _headings(docs / "cli.md", "## holdfast "),
        "settings": sum(_count_fields(module) for module in modules if ".settings" in module.name),
        "routes": sum(_count_routes(module) for module in modules),
        "tables": _headings(docs / "schema.md", "### "),
        "packages": {name: dict(counted) for name, counted in sorted(of_packages.items())},
    }


_TEST = re.compile(r"^(?:async )?def test_", re.MULTILINE)


def _headings(file: Path, start: str) -> int:
    """How many lines of a generated page begin so."""
    return sum(line.startswith(start) for line in file.read_text("utf-8").splitlines())


def _count_calls(module: Module, names: tuple[str, ...]) -> int:
    calls = [node for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
    return sum(ast.unparse(node.func) in names for node in calls)


def _count_fields(module: Module) -> int:
    """The fields of the records in a module."""
    classes = [node for node in module.tree.body if isinstance(node, ast.ClassDef)]
    return sum(isinstance(one, ast.AnnAssign) for node in classes for one in node.body)


def _count_routes(module: Module) -> int:
    decorators = [
        ast.unparse(one.func)
        for node in _functions(module.tree)
        for one in getattr(node, "decorator_list", [])
        if isinstance(one, ast.Call)
    ]
    return sum(name.startswith("router.") for name in decorators)


def _flat(budget: Budget) -> dict[str, int]:
    """Every number of a budget by its name."""
    found = {name: count for name, count in budget.items() if isinstance(count, int)}
    for package, counts in budget.get("packages", {}).items():
        found |= {f"packages.{package}.{what}": count for what, count in counts.items()}
    return found


def check_budget(budget: Budget, measured: Budget, earlier: list[Budget]) -> list[str]:
    """What exceeds the budget, is missing in it, or was raised in it."""
    allowed = _flat(budget)
    found: list[str] = []
    for name, count in _flat(measured).items():
        if name not in allowed:
            found.append(f"[tool.holdfast.budget] has no {name}: it is {count} today")
        elif count > allowed[name]:
            found.append(
                f"{name}: {count}, but the budget is {allowed[name]}: what can go? It only falls"
            )
    flat = [_flat(one) for one in earlier]
    for name, count in allowed.items():
        before = [one[name] for one in flat if name in one]
        # A package may grow where the whole does not.
        whole = name.rpartition(".")[2] if "." in name else ""
        taken = whole and all(allowed.get(whole, 0) <= one[whole] for one in flat if whole in one)
        if before and count > min(before) and not taken:
            found.append(
                f"[tool.holdfast.budget] {name} was raised from {min(before)} to {count}: take "
                "the room from somewhere"
            )
    return found


def earlier_budgets(root: Path) -> list[Budget]:
    """The budget of the last release; where none is tagged, all that this history had before."""
    tags = _git(root, "tag", "--list", "v*", "--sort=-creatordate", "--merged", "HEAD")
    commits = tags[:1] or _git(root, "rev-list", "--max-count=100", "HEAD", "--", "pyproject.toml")
    found: list[Budget] = []
    for commit in commits:
        text = "\n".join(_git(root, "show", f"{commit}:pyproject.toml"))
        settings = tomllib.loads(text).get("tool", {}).get("holdfast", {})
        if "budget" not in settings:
            break
        found.append(settings["budget"])
    return found


def _git(root: Path, *arguments: str) -> list[str]:
    """The lines that git prints; none where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError:
        return []
    return done.stdout.decode().splitlines() if done.returncode == 0 else []


def written(budget: Budget) -> str:
    """A budget as it stands in pyproject.toml."""
    lines = ["[tool.holdfast.budget]"]
    lines += [f"{name} = {count:_}" for name, count in budget.items() if isinstance(count, int)]
    lines += ["", "[tool.holdfast.budget.packages]"]
    lines += [
        f"{name} = {{ lines = {counts['lines']:_}, files = {counts['files']} }}"
        for name, counts in budget["packages"].items()
    ]
    return "\n".join(lines) + "\n"


def check(package: Path, allowed_lazy: dict[str, str]) -> list[str]:
    """Every violation, as a line with its place and what to do."""
    modules = read_modules(package)
    return [
        *check_string_imports(modules, package.name),
        *check_lazy_imports(modules, allowed_lazy),
        *check_package_sizes(modules),
        *check_classes(modules),
    ]


def main() -> int:
    """Check this repository; returns the exit status."""
    if sys.argv[1:] == ["--budget"]:
        sys.stdout.write(written(measure(ROOT)))
        return 0
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    ours = settings["tool"]["holdfast"]
    found = check(ROOT / "src" / "holdfast", ours["lazy-imports"])
    found += check_budget(ours["budget"], measure(ROOT), earlier_budgets(ROOT))
    for line in found:
        sys.stderr.write(f"{line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
