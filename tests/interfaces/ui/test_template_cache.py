from __future__ import annotations

import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from holdfast.interfaces.ui.template_cache import TemplateCache


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python keeps compiled files, and keeps them beside their sources."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def _render(folder: Path, options: str = "") -> str:
    made = Environment(loader=FileSystemLoader(folder), bytecode_cache=TemplateCache(options))
    return made.get_template("page.html").render(name="Ada")


def test_a_template_is_compiled_once_until_its_text_or_the_options_change(tmp_path: Path) -> None:
    page, kept = tmp_path / "page.html", Path(cache_from_source(str(tmp_path / "page.html")))

    def number() -> int:
        return kept.stat().st_ino  # a file that is written anew replaces the one before

    page.write_text("Hello {{ name }}")
    assert _render(tmp_path) == "Hello Ada"
    with kept.open("rb"):  # so that its number is not given to another
        first = number()
        assert (_render(tmp_path), number()) == ("Hello Ada", first)
        page.write_text("Goodbye {{ name }}")
        assert _render(tmp_path) == "Goodbye Ada" and number() != first
    with kept.open("rb"):
        second = number()
        assert _render(tmp_path, "other options") == "Goodbye Ada" and number() != second


def test_what_is_kept_is_what_is_shown(tmp_path: Path) -> None:
    """The text is not compiled again: a compiled one in its place is shown."""
    (tmp_path / "page.html").write_text("Hello {{ name }}")
    _render(tmp_path)
    kept = Path(cache_from_source(str(tmp_path / "page.html")))
    kept.write_bytes(kept.read_bytes().replace(b"Hello", b"Howdy"))
    assert _render(tmp_path) == "Howdy Ada"


@pytest.mark.parametrize("kept", [b"", b"nonsense", b"\0" * 500])
def test_a_damaged_file_is_made_again(tmp_path: Path, kept: bytes) -> None:
    (tmp_path / "page.html").write_text("Hello {{ name }}")
    _render(tmp_path)
    file = Path(cache_from_source(str(tmp_path / "page.html")))
    good = file.read_bytes()
    for damaged in (kept, good[:16] + kept, good[:-9]):
        file.write_bytes(damaged)
        assert _render(tmp_path) == "Hello Ada"
        assert file.read_bytes() == good


def test_nothing_is_kept_where_python_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "page.html").write_text("Hello {{ name }}")
    assert _render(tmp_path) == "Hello Ada"
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_templates_are_shown_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("Hello {{ name }}")
    (tmp_path / "__pycache__").write_text("not a folder")
    assert _render(tmp_path) == "Hello Ada"
