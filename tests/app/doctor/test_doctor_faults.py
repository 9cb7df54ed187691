"""Every fault that a test can cause, on a home that is set up and in use: the doctor finds it,
`--fix` mends it, and a second look finds nothing; or it is told, and left to whom it belongs."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.app.background.runner import WorkerOptions
from holdfast.app.background.worker import run_worker
from holdfast.app.doctor.check import Check, DoctorContext, Grade
from holdfast.app.doctor.examine import run_checks, run_fixes
from holdfast.app.doctor.models import reranker
from holdfast.app.memory import Holdfast
from holdfast.app.transfer.backup import back_up, set_aside_damaged
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import SettingsError
from holdfast.hosts.claude_code import install
from holdfast.hosts.claude_code import locations as host
from holdfast.inference import packaged
from holdfast.interfaces.cli.main import main
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.settings import Settings, load_settings
from tests.support.installed_home import make_old
from tests.support.transcripts import bug_hunt

LONG_AGO_S = 7200.0


class Lab(NamedTuple):
    """A home in use, and a copy of it from when all was well."""

    folder: Path
    settings: Settings

    @property
    def home(self) -> Path:
        return self.settings.home

    @property
    def places(self) -> HomePaths:
        return HomePaths(self.home)

    def sql(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.settings.database)) as raw, raw:
            for statement in statements:
                raw.execute(statement)

    def claude(self, change: Callable[[Any], Any], name: str = "settings.json") -> None:
        path = self.settings.claude_dir / name
        path.write_text(json.dumps(change(json.loads(path.read_text()))))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("ill")
    env = {
        "HOME": str(folder),
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "HOLDFAST_EMBEDDER": "none",
    }
    settings = load_settings(env)
    bug_hunt().write(folder / "claude" / "projects" / "p")
    places, python = HomePaths(settings.home), install.find_interpreter()
    where = host.settings_files(settings, host.Scope.USER, folder)
    install.prepare_home(places, python)
    plan = install.plan_install(settings.home, where, python, host.default_home())
    install.apply_install(settings.home, plan.changes, host.default_home())
    run_worker(settings, WorkerOptions(start_delay_s=0, linger_s=0))
    (places.journals).mkdir(mode=0o700, exist_ok=True)
    back_up(settings)
    assert not failing_checks(settings), failing_checks(settings)
    for name in ("home", "claude"):
        shutil.copytree(folder / name, folder / f"{name} in order")
    yield Lab(folder, settings)
    if inbox := places.inbox():
        shutil.rmtree(inbox, ignore_errors=True)


@pytest.fixture(autouse=True)
def in_order(lab: Lab) -> None:
    """All as it was when it was well."""
    for name in ("home", "claude"):
        shutil.rmtree(lab.folder / name)
        shutil.copytree(lab.folder / f"{name} in order", lab.folder / name)


def failing_checks(settings: Settings, unsettled: SettingsError | None = None) -> dict[str, Check]:
    checks = run_checks(settings, None, unsettled)
    return {check.name: check for check in checks if check.grade is not Grade.OK}


def write(path: Path, data: bytes | str, mode: int = 0o600) -> Path:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    path.chmod(mode)
    return path


def old(path: Path) -> None:
    make_old(path, LONG_AGO_S)


def overwrite_middle(lab: Lab) -> None:
    size = lab.settings.database.stat().st_size
    with lab.settings.database.open("r+b") as file:
        file.seek(size // 3)
        file.write(b"\xff" * (size // 3))


def no_memory_no_backup(lab: Lab) -> None:
    write(lab.settings.database, b"not a database at all" * 500)
    for path in (lab.home / "backups").glob("*.db"):
        path.unlink()


def failed_task(lab: Lab) -> None:
    with Holdfast(lab.settings) as memory, memory.store.transaction():
        moment = "2026-11-01T10:00:00.000Z"
        memory.store.failed_tasks.put(
            FailedTask("derive", 3, "no room on the disk", moment, moment)
        )


def without(name: str) -> Callable[[Any], Any]:
    return lambda known: {key: value for key, value in known.items() if key != name}


def hooks(change: Callable[[Any], Any]) -> Callable[[Lab], None]:
    return lambda lab: lab.claude(lambda known: {**known, "hooks": change(known["hooks"])})


def no_python(known: Any) -> Any:
    known["mcpServers"]["holdfast"]["command"] = "/gone/bin/python"
    return known


def late_event(lab: Lab) -> None:
    inbox = lab.places.inbox()
    assert inbox is not None
    old(write(inbox / "1.Stop.11111111-0000-4000-8000-000000000001.5", "{}"))


MENDED: dict[str, tuple[str, Callable[[Lab], object]]] = {
    "a script is gone": ("scripts", lambda lab: (lab.places.hooks / "capture.sh").unlink()),
    "a script is of another version": (
        "scripts",
        lambda lab: write(lab.places.hooks / "answer.py", "pass\n"),
    ),
    "the folder of scripts is gone": ("scripts", lambda lab: shutil.rmtree(lab.places.hooks)),
    "hooks do not know the inbox": ("scripts", lambda lab: lab.places.inbox_pointer.unlink()),
    "no Python is named": ("interpreter", lambda lab: write(lab.places.interpreter, "")),
    "the Python is gone": (
        "interpreter",
        lambda lab: write(lab.places.interpreter, "/gone/bin/python\n-I\n"),
    ),
    "a hook is taken out of the settings": ("hooks", hooks(without("Stop"))),
    "a hook is there twice": (
        "duplicates",
        hooks(lambda known: {**known, "Stop": known["Stop"] + known["Stop"]}),
    ),
    "the server's entry is gone": (
        "server",
        lambda lab: lab.claude(without("mcpServers"), ".claude.json"),
    ),
    "the server's Python is gone": (
        "server",
        lambda lab: lab.claude(no_python, ".claude.json"),
    ),
    "others may look into the folder of scripts": (
        "hook folder",
        lambda lab: lab.places.hooks.chmod(0o755),
    ),
    "others may read the settings": (
        "privacy",
        lambda lab: write(lab.home / "config.toml", 'bank = "mine"\n', 0o644),
    ),
    "others may read the backups": (
        "privacy",
        lambda lab: [path.chmod(0o644) for path in (lab.home / "backups").glob("*.db")],
    ),
    "the settings are no TOML": ("settings", lambda lab: write(lab.home / "config.toml", "a = [")),
    "a setting is not known": ("settings", lambda lab: write(lab.home / "config.toml", "x = 1\n")),
    "a copy was left half-made": (
        "leftovers",
        lambda lab: old(write(lab.home / "backups" / ".memory-1.db.77.part", "half")),
    ),
    "a restore was left half-done": (
        "leftovers",
        lambda lab: (
            write(lab.home / ".restoring-x" / "memory.db", "half"),
            old(lab.home / ".restoring-x"),
        ),
    ),
    "a matrix was left half-written": (
        "leftovers",
        lambda lab: old(write(lab.home / "vectors" / ".b.vectors.9", "half")),
    ),
    "a journal has lines that are no events": (
        "journals",
        lambda lab: write(lab.places.journals / "s.jsonl", '{"v":1,"id":"a"}\n[1]\n{broken\n'),
    ),
    "a backup cannot be read": (
        "backups",
        lambda lab: write(lab.home / "backups" / "memory-20260101T000000000Z.db", "nothing"),
    ),
    "a worker died": ("worker", lambda lab: write(lab.places.worker_pid, f"{os.getpid()}\n1\n")),
    "events wait and nobody comes": ("events", late_event),
    "a step of the worker failed": ("tasks", failed_task),
    "a matrix is damaged": (
        "vectors",
        lambda lab: write(lab.home / "vectors" / "0.vectors", b"HOLDVEC1 and then nothing"),
    ),
    "derived rows are gone": (
        "derived",
        lambda lab: lab.sql("DELETE FROM passage WHERE kind = 'turn'"),
    ),
    "derived rows belong to nothing": (
        "derived",
        lambda lab: lab.sql("UPDATE exchange SET session = 'nowhere'"),
    ),
    "the index of words lost some": (
        "derived",
        lambda lab: lab.sql("INSERT INTO passage_fts (passage_fts) VALUES ('delete-all')"),
    ),
    "the memory is damaged in its middle": ("memory", overwrite_middle),
    "the memory is no database, and there is no backup": ("memory", no_memory_no_backup),
}


@pytest.mark.parametrize("fault", MENDED)
def test_a_fixable_fault_is_found_and_fixed_and_does_not_return(
    fault: str, lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, cause = MENDED[fault]
    cause(lab)
    for variable in ("HOLDFAST_HOME", "CLAUDE_CONFIG_DIR", "HOME"):
        place = {"HOLDFAST_HOME": "home", "CLAUDE_CONFIG_DIR": "claude", "HOME": "."}[variable]
        monkeypatch.setenv(variable, str(lab.folder / place))
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "none")
    monkeypatch.chdir(lab.folder)
    main(["doctor", "--json"])
    found = {c["name"]: c for c in json.loads(capsys.readouterr().out)["checks"]}
    assert found[name]["grade"] != "ok" and found[name]["fixable"], found[name]
    assert main(["doctor", "--fix", "--yes", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert any(one["name"] == name and one["done"] for one in told["mended"]), told["mended"]
    assert [c for c in told["checks"] if c["grade"] != "ok"] == []
    assert main(["doctor"]) == 0 and "Everything is in order." in capsys.readouterr().out


TOLD: dict[str, tuple[str, Callable[[Lab], object]]] = {
    "a newer program changed the memory": (
        "memory",
        lambda lab: lab.sql("PRAGMA user_version = 99"),
    ),
    "the settings of Claude Code are no JSON": (
        "hooks",
        lambda lab: write(lab.settings.claude_dir / "settings.json", "{"),
    ),
    "the user switched all hooks off": (
        "hooks",
        lambda lab: lab.claude(lambda known: {**known, "disableAllHooks": True}),
    ),
    "the plugin is enabled as well": (
        "duplicates",
        lambda lab: lab.claude(lambda k: {**k, "enabledPlugins": {"holdfast@here": True}}),
    ),
}


@pytest.mark.parametrize("fault", TOLD)
def test_a_fault_that_cannot_be_fixed_is_reported_with_a_remedy(fault: str, lab: Lab) -> None:
    name, cause = TOLD[fault]
    cause(lab)
    found = failing_checks(lab.settings)[name]
    assert found.remedy
    before = lab.settings.database.read_bytes()
    run_fixes(lab.settings, None, lambda check: check.name == name)
    assert failing_checks(lab.settings)[name].sentence == found.sentence
    assert lab.settings.database.read_bytes() == before


def test_a_missing_model_named_in_the_settings_is_reported(lab: Lab) -> None:
    found = failing_checks(replace(lab.settings, embed_model=str(lab.folder / "no model")))["model"]
    assert "does not exist" in found.sentence and found.fix is None


def test_a_named_embedding_model_that_cannot_be_opened_is_reported(lab: Lab) -> None:
    folder = lab.folder / "broken model"
    folder.mkdir(exist_ok=True)
    write(folder / "model.onnx", packaged.EMBEDDER.read_bytes()[:100_000])
    write(folder / "tokenizer.json", packaged.TOKENIZER.read_bytes())
    found = failing_checks(replace(lab.settings, embed_model=str(folder)))["model"]
    assert "cannot be opened" in found.sentence and "choose another model" in found.remedy
    shutil.copy(packaged.EMBEDDER, folder)
    assert "model" not in failing_checks(replace(lab.settings, embed_model=str(folder)))


def test_a_missing_or_changed_reranker_of_the_package_is_reported(lab: Lab) -> None:
    assert "reranker" not in failing_checks(lab.settings)
    for path in (lab.folder / "gone.onnx", write(lab.folder / "cut.onnx", b"\x08\x07")):
        (found,) = reranker(DoctorContext(lab.settings, None, None), path)
        assert f"{path} is missing or differs" in found.sentence
        assert found.grade is Grade.BROKEN and "Install Holdfast again" in found.remedy
        unused = replace(lab.settings, rerank_model="none")
        assert [one.grade for one in reranker(DoctorContext(unused, None, None), path)] == ["ok"]


def test_a_named_reranker_is_opened_to_see_whether_it_can_be_used(lab: Lab) -> None:
    path = lab.folder / "reranker.onnx"
    settings = replace(lab.settings, rerank_model=str(path))
    found = failing_checks(settings)["reranker"]
    assert found.sentence == f"There is no {path}." and "Correct the path" in found.remedy
    write(path, packaged.RERANKER.read_bytes()[:100_000])
    assert "cannot be opened" in failing_checks(settings)["reranker"].sentence
    # An embedding model: it opens, and gives a vector where one number is wanted.
    shutil.copy(packaged.EMBEDDER, path)
    assert "must give one number" in failing_checks(settings)["reranker"].remedy
    shutil.copy(packaged.RERANKER, path)
    assert "reranker" not in failing_checks(settings)


def test_a_replaced_memory_is_kept_aside_completely(lab: Lab) -> None:
    data = lab.settings.database.read_bytes()
    kept = set_aside_damaged(lab.settings)
    assert kept.read_bytes() == data and not lab.settings.database.exists()
