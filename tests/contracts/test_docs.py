from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from holdfast import settings as settings_module
from holdfast.app.memory import Holdfast as App
from holdfast.inference import packaged
from holdfast.interfaces.cli.main import COMMANDS
from holdfast.interfaces.python import Holdfast
from holdfast.model.ledgers.lines import FailureReason, SkipReason
from holdfast.settings import load_settings
from tests.support.sample_memory import memory_with_session

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Files whose names look like attributes of a memory.
MEMORY_FILES = ("md", "db", "jsonl")


def document(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_first_screen_of_the_readme_has_four_reasons_four_commands_and_an_example() -> None:
    screen = document("README.md").splitlines()[:25]
    assert screen[2].startswith("Holdfast is a ")
    assert len([line for line in screen if line.startswith("- **")]) == 4
    commands = "\n".join(screen).split("```\n")[1].splitlines()
    named = [command.partition("  ")[0] for command in commands]
    assert named == ["pipx install .", "holdfast setup", "make try", "make test"]
    assert any(line.startswith("$ holdfast ask") for line in screen)


def test_the_example_of_the_readme_is_in_the_tour() -> None:
    tour = document("docs/tour.md")
    example = document("README.md").split("```\n")[3].splitlines()
    assert len(example) > 4
    said = [line.removesuffix(" [1]") for line in example if not line.startswith("[1]")]
    assert [line for line in said if line not in tour] == []


def test_the_readme_links_to_every_page_of_the_documents() -> None:
    linked = set(re.findall(r"\]\((docs/[a-z-]+\.md)", document("README.md")))
    assert [page.name for page in DOCS.glob("*.md") if f"docs/{page.name}" not in linked] == []


def test_the_glossary_explains_ten_nouns_first() -> None:
    nouns = re.findall(r"^\| \*\*(\w+)\*\* \|", document("docs/glossary.md"), re.MULTILINE)
    assert len(nouns) == 10
    concepts = document("docs/concepts.md")
    assert [noun for noun in nouns if f"**{noun}**" not in concepts] == []


def test_every_command_is_documented() -> None:
    page, reference = document("docs/cli.md"), document("docs/reference.md")
    for name, (location, _) in COMMANDS.items():
        written = f"## holdfast {name}\n" in page if location else f"`holdfast {name}" in reference
        assert written, name


def test_every_skip_and_failure_reason_of_the_ledger_is_explained() -> None:
    page = document("docs/concepts.md")
    for reason in (*SkipReason, *FailureReason):
        assert f"`{reason.value}`" in page, reason


def test_the_example_settings_are_valid(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", document("docs/settings.md"), re.DOTALL)
    assert found is not None
    (tmp_path / "config.toml").write_text(found.group(1))
    settings = load_settings({"HOLDFAST_HOME": str(tmp_path), "HOME": str(tmp_path)})
    assert settings.bank == "work" and settings.exclude_tools[0] == "WebFetch"
    assert settings.redact_patterns == (("ticket", "TCK-[0-9]{6}"),)


def test_the_example_settings_have_every_key_with_its_default(tmp_path: Path) -> None:
    """Lines that are commented out count: their keys have no value by default."""
    found = re.search(r"```toml\n(.*?)```", document("docs/settings.md"), re.DOTALL)
    assert found is not None
    example = tomllib.loads(re.sub(r"^# (\w+ = )", r"\1", found[1], flags=re.MULTILINE))
    # The loader refuses any other key by this list.
    known = settings_module._KNOWN_KEYS  # pyright: ignore[reportPrivateUsage]
    for table, keys in known.items():
        assert set(keys) == set(example[table] if table else example), table
    default = load_settings({"HOLDFAST_HOME": str(tmp_path / "none"), "HOME": str(tmp_path)})
    for table in ("brief", "promote", "providers", "remote", "serve"):
        for key, value in example[table].items():
            has = getattr(getattr(default, table), key)
            assert (list(has) if isinstance(value, list) else has) == value, f"{table}.{key}"


def test_every_variable_of_the_environment_is_documented() -> None:
    page = document("docs/settings.md")
    read = re.findall(r'env\.get\("([A-Z_]+)"', document("src/holdfast/settings.py"))
    assert len(read) > 7
    for name in read:
        assert f"`{name}`" in page or name == "HOME", name


def test_the_model_notice_lists_the_hashes_that_are_checked() -> None:
    notice = document("src/holdfast/inference/minilm/NOTICE")
    assert packaged.EMBEDDER_SHA256 in notice and packaged.TOKENIZER_SHA256 in notice


def test_links_between_documents_are_valid() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"


def test_the_python_api_that_documents_name_exists() -> None:
    pages = {
        page.name: page.read_text("utf-8") for page in (*ROOT.glob("*.md"), *DOCS.glob("*.md"))
    }
    named = [
        (page, name)
        for page, text in pages.items()
        for name in re.findall(r"(?<![\w./-])memory\.([a-z_.]+)(?:\(|`)", text)
        # An operation works on that memory itself.
        if page not in ("CHANGELOG.md", "adding-an-operation.md")
        and name.split(".")[0] not in MEMORY_FILES
    ]
    assert len(named) > 20
    # What is not an operation is a part of the memory that operations work on.
    parts = {name for name in vars(App) if not name.startswith("_")}
    known = {*vars(Holdfast), *(f"opened.{one}" for one in parts)}
    wrong = [
        (page, name)
        for page, name in named
        if ".".join(name.split(".")[: 1 + name.startswith("opened.")]) not in known
    ]
    assert wrong == []


@pytest.mark.model
@pytest.mark.slow
def test_examples_that_open_a_memory_run_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_with_session(tmp_path).close()
    (tmp_path / "config.toml").write_text('[providers]\nuse = "asked"\n')
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    examples = [
        block
        for page in ("README.md", "docs/python.md", "docs/research.md", "docs/providers.md")
        for block in re.findall(r"```python\n(.*?)```", document(page), re.DOTALL)
    ]
    assert len(examples) == 5 and all("open_memory() as memory" in one for one in examples)
    for example in examples:
        exec(example, {})


def test_modules_imported_by_examples_exist() -> None:
    imported = [
        (page.name, module, name)
        for page in (*ROOT.glob("*.md"), *DOCS.glob("*.md"))
        for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        for module, names in re.findall(r"^ *from (holdfast\S*) import (.+)$", block, re.MULTILINE)
        for name in names.split(", ")
    ]
    assert len(imported) > 5
    assert [found for found in imported if not hasattr(import_module(found[1]), found[2])] == []


def test_claude_md_only_includes_agents_md() -> None:
    assert document("CLAUDE.md").strip() == "@AGENTS.md"


def test_every_module_named_in_the_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    source = ROOT / "src" / "holdfast"
    packages = {path.name for path in source.iterdir() if path.is_dir()}
    named = [n for n in re.findall(r"`([a-z_]+/[a-z_/.]+)`", text) if n.split("/")[0] in packages]
    assert len(named) > 40
    gone = [
        name
        for name in named
        if not (source / name).exists() and not (source / f"{name}.py").exists()
    ]
    assert gone == []
