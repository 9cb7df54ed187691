"""Each check of `tools/check_structure.py` fails on a planted violation; `make check` runs them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from check_structure import (
    MAX_MODULES,
    MAX_PUBLIC_METHODS,
    check,
    check_budget,
    earlier_budgets,
    main,
    measure,
)

ROOT = Path(__file__).parents[2]


def package(folder: Path, **modules: str) -> Path:
    """A package called `holdfast` with these modules."""
    made = folder / "holdfast"
    made.mkdir()
    (made / "__init__.py").write_text("")
    for name, text in modules.items():
        (made / f"{name}.py").write_text(text)
    return made


def test_a_plain_package_passes(tmp_path: Path) -> None:
    assert check(package(tmp_path, a="import json\n\n\ndef f() -> str:\n    return ''\n"), {}) == []


@pytest.mark.parametrize(
    "call",
    [
        'import_module("holdfast.a")',
        'import_module(f"holdfast.{name}")',
        "import_module(PLACE + name)",
        "import_module(OURS)",
        '__import__("holdfast.a")',
    ],
)
def test_an_internal_import_by_a_string_is_found(tmp_path: Path, call: str) -> None:
    text = f'from importlib import import_module\n\nOURS = "holdfast.a"\nm = {call}\n'
    (found,) = check(package(tmp_path, a=text), {})
    assert found.startswith("holdfast.a:4:") and "by a string" in found


def test_an_external_import_by_a_string_is_allowed(tmp_path: Path) -> None:
    text = 'from importlib import import_module\n\nYAML = "yaml"\nm = import_module(YAML)\n'
    assert check(package(tmp_path, a=text), {}) == []


def test_an_import_inside_a_function_needs_a_listed_reason(tmp_path: Path) -> None:
    made = package(tmp_path, a="def f() -> None:\n    import json\n")
    (found,) = check(made, {})
    assert found.startswith("holdfast.a:2:") and "lazy-imports" in found
    assert check(made, {"holdfast.a": "json takes 3 ms"}) == []
    (without,) = check(made, {"holdfast.a": " "})
    assert "without a reason" in without


def test_a_listed_module_without_such_an_import_is_found(tmp_path: Path) -> None:
    (found,) = check(package(tmp_path, a=""), {"holdfast.a": "json takes 3 ms"})
    assert found == "holdfast.a: listed under lazy-imports, but has none"


def test_a_package_with_too_many_modules_is_found(tmp_path: Path) -> None:
    made = package(tmp_path, **{f"m{number}": "" for number in range(MAX_MODULES)})
    assert check(made, {}) == []
    (made / "one_more.py").write_text("")
    (found,) = check(made, {})
    assert found.startswith(f"holdfast: {MAX_MODULES + 1} modules")


def test_a_class_with_too_many_public_methods_is_found(tmp_path: Path) -> None:
    def methods(count: int) -> str:
        return "".join(f"    def m{n}(self) -> None: ...\n" for n in range(count))

    private = "    def _p(self) -> None: ...\n    @property\n    def q(self) -> int: ...\n"
    made = package(tmp_path, a=f"class A:\n{methods(MAX_PUBLIC_METHODS)}{private}")
    assert check(made, {}) == []
    (made / "a.py").write_text(f"class A:\n{methods(MAX_PUBLIC_METHODS + 1)}")
    (found,) = check(made, {})
    assert f"A has {MAX_PUBLIC_METHODS + 1} public methods" in found
    protocol = "from typing import Protocol\n\n\nclass A(Protocol):\n"
    (made / "a.py").write_text(protocol + methods(MAX_PUBLIC_METHODS + 1))
    assert check(made, {}) == []


def test_a_hierarchy_of_three_levels_is_found_across_modules(tmp_path: Path) -> None:
    made = package(
        tmp_path,
        a="class A: ...\n",
        b="from holdfast.a import A\n\n\nclass B(A): ...\n",
    )
    assert check(made, {}) == []
    (made / "c.py").write_text("from holdfast.b import B\n\n\nclass C(B): ...\n")
    (found,) = check(made, {})
    assert found.startswith("holdfast.c:4: C inherits over 3 levels")


def test_exceptions_may_have_a_deeper_hierarchy(tmp_path: Path) -> None:
    bases = {"AError": "Exception", "BError": "AError", "CError": "BError"}
    text = "\n\n".join(f"class {name}({base}): ...\n" for name, base in bases.items())
    assert check(package(tmp_path, a=text), {}) == []


PLANTED = (
    ("app.search.browse", "app.memory", "Layers of app"),
    ("recall.core.plan", "recall.engine", "Layers of recall"),
    ("refine.core.keywords", "refine.facts.fact_builder", "Layers of refine"),
    ("interfaces.http.core.logs", "interfaces.http.app", "Layers of interfaces.http"),
)


def test_an_import_of_a_higher_layer_breaks_the_contracts(tmp_path: Path) -> None:
    """The contracts of pyproject.toml, over a copy of the package with an import planted for
    each."""
    copy = tmp_path / "src" / "holdfast"
    shutil.copytree(ROOT / "src" / "holdfast", copy, ignore=only_python)
    for module, planted, _ in PLANTED:
        with (copy / f"{module.replace('.', '/')}.py").open("a", encoding="utf-8") as file:
            file.write(f"\n\ndef planted() -> None:\n    import holdfast.{planted}\n")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout
    broken = done.stdout.partition("Broken contracts")[2]
    for module, planted, contract in PLANTED:
        told = broken.partition(f"\n{contract}\n---")[2].partition("\n---")[0]
        assert f"holdfast.{module} -> holdfast.{planted} (" in told, done.stdout


def only_python(folder: str, names: list[str]) -> set[str]:
    """What is left out of a copy."""
    paths = {name: Path(folder, name) for name in names}
    return {n for n, path in paths.items() if not path.is_dir() and path.suffix != ".py"}


@pytest.mark.slow
def test_this_repository_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(), capsys.readouterr().err) == (0, "")


def repository(folder: Path, module: str, test: str = "") -> Path:
    """What of a repository the budget is about."""
    (folder / "src").mkdir()
    package(folder / "src", a=module)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_a.py").write_text(test)
    (folder / "docs").mkdir()
    (folder / "docs" / "cli.md").write_text("## holdfast ask\n\n## holdfast show\n")
    (folder / "docs" / "schema.md").write_text("## Banks\n\n### bank\n")
    return folder


def test_the_budget_counts_what_there_is(tmp_path: Path) -> None:
    module = 'import re\n\nA = re.compile("a")\n\n\n@router.get("/a")\ndef a() -> None: ...\n'
    found = measure(repository(tmp_path, module, "def test_a() -> None: ...\n"))
    assert found == {
        "lines": 7,
        "files": 2,
        "test-lines": 1,
        "tests": 1,
        "regexes": 1,
        "commands": 2,
        "settings": 0,
        "routes": 1,
        "tables": 1,
        "packages": {"holdfast": {"lines": 7, "files": 2}},
    }


def test_more_than_the_budget_allows_is_found() -> None:
    budget = {"lines": 10, "packages": {"app": {"lines": 6}}}
    assert check_budget(budget, {"lines": 10, "packages": {"app": {"lines": 6}}}, []) == []
    total, app = check_budget(budget, {"lines": 11, "packages": {"app": {"lines": 7}}}, [])
    assert total.startswith("lines: 11, but the budget is 10")
    assert app.startswith("packages.app.lines: 7, but the budget is 6")
    (missing,) = check_budget(budget, {"lines": 10, "packages": {"web": {"lines": 1}}}, [])
    assert "has no packages.web.lines" in missing


def test_a_raised_budget_is_found() -> None:
    earlier = [{"lines": 12}, {"lines": 9, "packages": {"app": {"lines": 3}}}]
    (raised,) = check_budget({"lines": 10, "packages": {"new": {"lines": 5}}}, {}, earlier)
    assert "lines was raised from 9 to 10" in raised


def test_budgets_are_compared_with_the_last_release_or_all_before(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", *person, *arguments], cwd=tmp_path, check=True, capture_output=True)

    assert earlier_budgets(tmp_path) == []
    git("init")
    for lines in (9, 8, 7):
        text = f"[tool.holdfast.budget]\nlines = {lines}\n"
        (tmp_path / "pyproject.toml").write_text(text)
        git("add", ".")
        git("commit", "-m", f"{lines} lines")
        if lines == 8:
            found = [budget["lines"] for budget in earlier_budgets(tmp_path)]
            assert found == [8, 9]
            git("tag", "v1.0.0")
    assert [budget["lines"] for budget in earlier_budgets(tmp_path)] == [8]
