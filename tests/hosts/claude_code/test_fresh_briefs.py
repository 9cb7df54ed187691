"""A session is told what holds when it starts, not what held when its brief was prepared."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import venv
from ast import literal_eval
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import holdfast
from holdfast.app.core.lease import process_start
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.settings import Settings
from tests.refine.rules.test_rules import project, put, worked_in
from tests.support.hook_scripts import SCRIPTS, extend_time_limits
from tests.support.waiting import wait_until

RECORDED = Path(__file__).parents[2] / "recorded" / "hooks"
DECIDED = "We decided to use Redux for state management from now on, because it is known."
LATER = "We decided to pack every container twice from now on, because ropes wear out."
FILE = ".claude/memory.md"
OLD = "# State\n\nState management uses Signals.\n"
NEW = "# State\n\nState management uses Zustand.\n\nIts `__version__` is 1024**3.\n"


class Project(NamedTuple):
    """A project with a memory and hooks, as setup leaves them."""

    settings: Settings
    root: Path
    with_package: Path
    without_package: Path

    def open(self) -> Holdfast:
        return Holdfast(self.settings)

    def start(self, python: Path | None = None, script: str = "answer.py") -> str:
        """What a session gets that starts here: the recorded payload, with this folder in it."""
        payload = {**json.loads((RECORDED / "SessionStart.startup.json").read_text())}
        payload["cwd"] = str(self.root)
        words = ["start", payload["session_id"]] if script == "answer.py" else ["SessionStart"]
        return self._run(script, words, payload, python or self.with_package)

    def prompt(self, words: str) -> str:
        payload = {**json.loads((RECORDED / "UserPromptSubmit.json").read_text())}
        payload |= {"cwd": str(self.root), "prompt": words}
        return self._run("answer.py", ["goal", payload["session_id"]], payload, self.with_package)

    def _run(self, script: str, words: list[str], payload: dict[str, Any], python: Path) -> str:
        hooks = HomePaths(self.settings.home).hooks
        done = subprocess.run(
            [str(python), "-I", "-S", "-Werror", str(hooks / script), *words],
            input=json.dumps(payload).encode(),
            capture_output=True,
            timeout=120,
            env={"PATH": os.environ["PATH"], "HOME": str(self.settings.home.parent)},
        )
        assert done.returncode == 0 and done.stderr == b""
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two interpreters: this code is installed in the first, and nothing in the second."""
    folders = [tmp_path_factory.mktemp(name) for name in ("with", "without")]
    for folder in folders:
        venv.create(folder, symlinks=True, with_pip=False)
    (site,) = (folders[0] / "lib").glob("python3*/site-packages")
    (site / "holdfast.pth").write_text(str(Path(holdfast.__file__).parents[1]))
    return folders[0] / "bin" / "python", folders[1] / "bin" / "python"


@pytest.fixture
def here(tmp_path: Path, pythons: tuple[Path, Path]) -> Iterator[Project]:
    root = project(tmp_path)
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    paths = HomePaths(settings.home)
    inbox = tmp_path / "inbox"
    for folder in (paths.hooks, inbox):
        folder.mkdir(mode=0o700, parents=True)
    for script in SCRIPTS.glob("*.py"):
        shutil.copy(script, paths.hooks)
    extend_time_limits(paths.hooks / "answer.py")
    paths.inbox_pointer.write_text(f"{inbox}\n")
    paths.interpreter.write_text(f"{pythons[0]}\n-I\n")
    paths.worker_pid.write_text(f"{os.getpid()}\n{process_start(os.getpid())}\n")
    made = Project(settings, root, *pythons)
    with made.open() as memory:
        memory.ingest(memory.ingestion.find([worked_in(tmp_path, root, DECIDED)]))
    yield made


def write_file(here: Project, text: str) -> None:
    put(here.root, FILE, text)


def prepare(here: Project) -> None:
    with here.open() as memory:
        memory.briefs.prepare()


def test_what_was_read_is_told_to_the_very_next_session(here: Project) -> None:
    assert "Redux" in here.start()


def test_a_prepared_brief_that_is_current_is_told_without_the_package(here: Project) -> None:
    write_file(here, OLD)
    prepare(here)
    told = here.start(here.without_package)
    assert "Redux" in told and "Signals" in told


@pytest.mark.parametrize("script", ["answer.py", "other_agents.py"])
@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (OLD, ""), ("", NEW)])
def test_a_changed_memory_file_is_told_as_it_is_now(
    here: Project, before: str, after: str, script: str
) -> None:
    if before:
        write_file(here, before)
    prepare(here)
    if after:
        write_file(here, after)
    else:
        (here.root / FILE).unlink()
    told = here.start(script=script)
    assert "Redux" in told and "Signals" not in told
    assert ("Zustand. · Its `__version__` is 1024**3." in told) is bool(after)
    assert (f"But {FILE} says: “State management uses Zustand" in told) is bool(after)


def test_a_changed_memory_file_that_cannot_be_read_in_time_is_left_out(here: Project) -> None:
    write_file(here, OLD)
    prepare(here)
    write_file(here, NEW)
    told = here.start(here.without_package)
    assert "Redux" in told and "Signals" not in told and "Zustand" not in told


def test_a_new_memory_file_does_not_hide_what_was_prepared(here: Project) -> None:
    prepare(here)
    write_file(here, NEW)
    assert "Redux" in here.start(here.without_package)


def test_a_secret_in_a_changed_memory_file_is_redacted(here: Project) -> None:
    prepare(here)
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    write_file(here, f"# State\n\nThe token of state management is {secret} for now.\n")
    told = here.start()
    assert "The token of state management is" in told and secret not in told


def ingest_later(here: Project) -> None:
    """As another process does that does not prepare briefs."""
    with here.open() as memory:
        path = worked_in(here.root.parent, here.root, LATER, "5" * 8)
        memory.ingestion.ingest(memory.ingestion.find([path]))


def remember_later(here: Project) -> None:
    before = Path.cwd()
    os.chdir(here.root)
    with here.open() as memory:
        memory.remember(LATER)
    os.chdir(before)


@pytest.mark.parametrize("change", [ingest_later, remember_later])
def test_what_changed_in_a_bank_is_told_at_once(
    here: Project, change: Callable[[Project], None]
) -> None:
    prepare(here)
    assert "container twice" not in here.start()
    change(here)
    assert "container twice" in here.start()


def test_a_brief_that_is_out_of_date_starts_a_worker(here: Project) -> None:
    prepare(here)
    paths = HomePaths(here.settings.home)
    paths.worker_pid.unlink()
    noted = here.root.parent / "started"
    program = here.root.parent / "python"
    program.write_text(f'#!/bin/sh\necho "$@" >> {noted}\n')
    program.chmod(0o700)
    paths.interpreter.write_text(f"{program}\n-I\n")
    assert "Redux" in here.start(here.without_package) and not noted.exists()
    write_file(here, NEW)
    here.start(here.without_package)
    paths.worker_pid.write_text(f"{os.getpid()}\n{process_start(os.getpid())}\n")
    assert "worker --nudged" in _wait_for(noted)


def _wait_for(path: Path) -> str:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"), "the worker started")
    return path.read_text()


def test_the_goal_brief_quotes_the_memory_file_as_it_is_now(here: Project) -> None:
    write_file(here, OLD)
    prepare(here)
    write_file(here, NEW)
    told = here.prompt("Please rework the state management of the app")
    assert "says: “State management uses Zustand" in told and "Signals" not in told


def test_the_command_shows_the_brief_with_the_memory_file_as_it_is_now(here: Project) -> None:
    write_file(here, OLD)
    prepare(here)
    write_file(here, NEW)
    with here.open() as memory:
        (known,) = memory.reader.banks.all()
        told = memory.briefs.session_brief(known.id).text
    assert "Zustand" in told and "Signals" not in told


# Each takes a first prompt some milliseconds to import.
_SLOW_MODULES = frozenset(
    "dataclasses datetime email inspect ipaddress json logging pathlib subprocess threading typing "
    "urllib.parse "
    "holdfast.refine.facts.amendments holdfast.store.sqlite.store".split()
)


def test_a_prompt_about_nothing_known_loads_no_module_that_it_does_not_need(here: Project) -> None:
    home = str(here.settings.home)
    with here.open() as memory:
        bank = memory.reader.banks.all()[0].id
    code = (
        "import sys; from holdfast.app.briefs.hook_briefs import goal_brief_by_words\n"
        "told = goal_brief_by_words(*sys.argv[1:])\n"
        "print([told['text'], *sys.modules])"
    )
    prompt = "Please translate the greeting on the landing page into Danish"
    done = subprocess.run(
        [here.with_package, "-I", "-c", code, home, bank, prompt],
        capture_output=True,
        check=True,
        timeout=60,
    )
    text, *modules = literal_eval(done.stdout.decode())
    assert not text and not _SLOW_MODULES & set(modules)
