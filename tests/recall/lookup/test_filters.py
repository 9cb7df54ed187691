from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.model.query import matches_path
from holdfast.model.records import ExchangeType
from holdfast.operations.finding import find
from holdfast.recall.lookup.filters import make_filter
from holdfast.settings import Settings
from tests.support.foreign_exports import claude_mem
from tests.support.transcripts import Script, bug_hunt


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit, in which a bug was hunted and a page was read."""
    folder = tmp_path_factory.mktemp("finding")
    project = folder / "proj"
    (project / "src").mkdir(parents=True)
    git = ["git", "-C", str(project), "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    (project / "src" / "importer.py").write_text("load()\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "Import rows"], check=True)
    hunt = bug_hunt().dumps().replace(b"/home/dev/proj", str(project).encode())
    (folder / "p").mkdir()
    (folder / "p" / "22222222-0000-4000-8000-000000000001.jsonl").write_bytes(hunt)
    page = Script("33333333-0000-4000-8000-000000000001", cwd=str(project))
    page.user("What does the retrying page in docs say?")
    page.tool("Read", "1\ttext", file_path=f"{project}/docs/retry.md")
    page.assistant("It says that retries are idempotent.")
    page.write(folder / "p")
    with Holdfast(Settings(home=folder / "home", claude_dir=folder)) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
        memory.ingestion.ingest_git(project)
    return project


@pytest.fixture
def memory(project: Path) -> Iterator[Holdfast]:
    with Holdfast(Settings(project.parent / "home", project.parent), create=False) as opened:
        yield opened


def test_work_on_a_file_is_found_and_can_be_opened(memory: Holdfast) -> None:
    found = find(memory, file="retry.md", bank="all")
    (page,) = found.findings
    assert (page.kind, page.type, page.files, page.files_read) == (
        "exchange", "discovery", (), ("docs/retry.md",)
    )  # fmt: skip
    assert page.session == "33333333-0000-4000-8000-000000000001"
    assert memory.show(page.uri).record.id in page.uri


def test_commits_are_found_by_file_too(memory: Holdfast) -> None:
    kinds = {one.kind for one in find(memory, file="src/", bank="all").findings}
    assert kinds == {"exchange", "commit"}
    titles = [one.title for one in find(memory, file="importer.py", bank="all").findings]
    assert "Import rows" in titles and len(titles) == 2


def test_work_is_found_by_files_that_the_shell_changed(tmp_path: Path) -> None:
    script = Script(cwd="/home/ann/proj")
    script.user("Rename the rest button module and fix its label.")
    script.tool("Bash", "", command="git mv src/rest.js src/sleep.js")
    script.tool("Bash", "", command="cd /home/ann/proj/src && sed -i s/REST/SLEEP/ label.js")
    script.tool("Bash", "1 passed", command="cat > docs/sleep.md <<'EOF'\n# Sleep\nEOF\npytest -q")
    script.assistant("The module is src/sleep.js now, and the label says SLEEP.")
    script.write(tmp_path / "p")
    with Holdfast(Settings(home=tmp_path / "home", claude_dir=tmp_path)) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        for file in ("src/sleep.js", "rest.js", "src/label.js", "docs/"):
            (found,) = find(memory, file=file, bank="all").findings
            assert set(found.files) == {
                "src/rest.js", "src/sleep.js", "src/label.js", "docs/sleep.md"
            }  # fmt: skip


def test_imported_records_are_found_by_file_concept_and_type(tmp_path: Path) -> None:
    with Holdfast(Settings(home=tmp_path / "home", claude_dir=tmp_path)) as memory:
        memory.imports.import_records("claude-mem", claude_mem(tmp_path / "claude-mem.db"))
        cases: list[dict[str, Any]] = [
            {"file": "sails.py"},
            {"file": "rig"},
            {"concept": "trade-offs"},
            {"type": ExchangeType.DECISION, "since": "2026-03-01", "until": "2026-03-01"},
        ]
        for given in cases:
            (found,) = find(memory, **given, bank="yawl").findings
            assert (found.kind, found.type, found.session) == ("imported", "decision", "m-1")
            assert found.title == "Hemp sails for the yawl" and "rig/sails.py" in found.files
            assert find(memory, **given, bank="ketch").findings == ()
        (found,) = find(memory, file="sails.py", bank="yawl").findings
        memory.forget(found.uri)
        assert find(memory, file="sails.py", bank="yawl").findings == ()


def test_filters_combine(memory: Holdfast) -> None:
    (fix,) = find(memory, file="importer.py", type=ExchangeType.BUGFIX, bank="proj").findings
    assert "nightly import" in fix.title and fix.files == ("src/importer.py",)
    assert find(memory, file="importer.py", type=ExchangeType.FEATURE, bank="proj").findings == ()
    assert find(memory, type=ExchangeType.BUGFIX, until="2026-08", bank="proj").findings == ()
    assert find(memory, type=ExchangeType.BUGFIX, since="2026-09-01", bank="proj").findings == (
        fix,
    )
    assert find(memory, type=ExchangeType.BUGFIX, until="2026-09-01", bank="proj").findings == (
        fix,
    )


def test_a_concept_is_found_in_any_word_form(memory: Holdfast) -> None:
    found = [find(memory, concept=form, bank="proj") for form in ("retry", "retries", "Retried")]
    titles = [[one.title for one in each.findings] for each in found]
    assert titles == [["What does the retrying page in docs say?"]] * 3


def test_a_reached_limit_says_that_there_is_more(memory: Holdfast) -> None:
    some, every = (find(memory, since="2026-01", bank="proj", limit=n) for n in (1, 9))
    assert some.more and not every.more and some.findings == every.findings[:1]


def test_an_absolute_path_is_matched_relative_to_the_project(
    memory: Holdfast, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "src")
    relative = find(memory, file="src/importer.py")
    absolute = find(memory, file=str(project / "src" / "importer.py"))
    assert relative.findings and absolute.findings == relative.findings
    assert find(memory, file=f"{project}/src/").findings == relative.findings


def test_a_path_filter_matches_whole_path_parts() -> None:
    for path in ("src/ui/rest.js", "src\\ui\\rest.js", "./src/ui/rest.js"):
        assert all(
            matches_path(path, file) for file in ("rest.js", "ui/rest.js", "src/", "src/ui/")
        )
        assert not any(
            matches_path(path, file) for file in ("", "est.js", "ui/", "src", "/src/ui/")
        )


def test_a_search_without_any_filter_is_an_error() -> None:
    for given in ("", "  "):
        with pytest.raises(InputError, match="At least one filter is needed"):
            make_filter(file=given)
    with pytest.raises(InputError, match="is not a date"):
        make_filter(since="yesterday")


def test_a_rebuild_does_not_change_what_is_found(project: Path) -> None:
    with Holdfast(Settings(home=project.parent / "home", claude_dir=project.parent)) as memory:
        before = (
            find(memory, file="src/", bank="all"),
            find(memory, concept="retry", bank="all"),
        )
        memory.ingestion.rebuild()
        after = (
            find(memory, file="src/", bank="all"),
            find(memory, concept="retry", bank="all"),
        )
    assert before == after and before[0].findings
