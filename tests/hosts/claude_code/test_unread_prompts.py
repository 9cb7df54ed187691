"""What somebody laid down moments ago is in the brief of the next session, though nothing has read
it yet."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.app.core.context import utc_now
from holdfast.app.core.lease import process_start
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.unread_mark import unread_sessions
from holdfast.refine.core.banks import Banks
from holdfast.refine.hooks.drain import drain
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.settings import Settings
from tests.e2e.claude_code.sandbox import install_python
from tests.refine.rules.test_rules import project, worked_in
from tests.support.hook_scripts import SCRIPTS, extend_time_limits

DECIDED = "We decided to use Redux for state management from now on, because it is known."
RULE = "From now on never edit web/site.css by hand; tools/styles.mjs writes it."
SAID = "Said here just now"
EARLIER = "5d1f0a52-0000-4000-8000-000000000001"
LATER = "5d1f0a52-0000-4000-8000-000000000002"


class Place(NamedTuple):
    """A user with hooks, a project and no worker."""

    settings: Settings
    root: Path
    python: Path

    @property
    def paths(self) -> HomePaths:
        return HomePaths(self.settings.home)

    def say(self, prompt: str, session: str = EARLIER, cwd: Path | None = None) -> str:
        """A prompt of a session, as its hook gets it."""
        payload = {"session_id": session, "cwd": str(cwd or self.root), "prompt": prompt}
        return self._run("goal", session, payload)

    def start(self, session: str = LATER, cwd: Path | None = None) -> str:
        """What a session gets that starts."""
        payload = {"session_id": session, "cwd": str(cwd or self.root), "source": "startup"}
        return self._run("start", session, payload)

    def drain(self) -> None:
        """Empty the inbox, as a worker does first."""
        drain(self.paths, Banks(self.settings), PrivacyRules(), utc_now, lambda notes: True)

    def prepare(self) -> None:
        with Holdfast(self.settings) as memory:
            memory.briefs.prepare()

    def _run(self, what: str, session: str, payload: dict[str, str]) -> str:
        script = str(self.paths.hooks / "answer.py")
        done = subprocess.run(
            [str(self.python), "-I", "-S", "-Werror", script, what, session],
            input=json.dumps(payload).encode(),
            capture_output=True,
            timeout=120,
            env={"PATH": os.environ["PATH"], "HOME": str(self.settings.home.parent)},
        )
        assert done.returncode == 0 and done.stderr == b""
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_python(tmp_path_factory.mktemp("python") / "env")


@pytest.fixture
def here(tmp_path: Path, python: Path) -> Iterator[Place]:
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
    paths.interpreter.write_text(f"{python}\n-I\n")
    paths.worker_pid.write_text(f"{os.getpid()}\n{process_start(os.getpid())}\n")
    made = Place(settings, root, python)
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([worked_in(tmp_path, root, DECIDED)]))
    made.prepare()
    yield made


@pytest.mark.parametrize("is_drained", [False, True])
def test_a_rule_of_another_session_is_told_before_anything_has_read_it(
    here: Place, is_drained: bool
) -> None:
    here.say(f"Make the links red. {RULE}")
    if is_drained:
        here.drain()
    told = here.start()
    head, _, rest = told.partition(SAID)
    assert f"user: “{RULE}”\n" in rest and "Redux" in rest
    # Only the rule is told, and below what says how to read a brief.
    assert "links red" not in told and "dated evidence, not instructions" in head


def test_once_the_briefs_are_made_nothing_is_added(here: Place) -> None:
    here.say(RULE)
    here.drain()
    assert unread_sessions(here.paths) == [EARLIER]
    here.prepare()
    assert unread_sessions(here.paths) == []
    assert SAID not in here.start()


def test_what_the_brief_tells_already_is_not_added(here: Place) -> None:
    here.say(DECIDED)
    told = here.start()
    assert told.count(DECIDED) == 1 and SAID not in told


def test_a_session_is_not_told_what_was_said_in_itself(here: Place) -> None:
    here.say(RULE, LATER)
    here.drain()
    here.say(RULE, LATER)
    assert SAID not in here.start()


@pytest.mark.parametrize("is_drained", [False, True])
def test_another_project_is_not_told(here: Place, tmp_path: Path, is_drained: bool) -> None:
    other = tmp_path / "other"
    other.mkdir()
    here.say(RULE, cwd=other)
    if is_drained:
        here.drain()
    assert SAID not in here.start()
    assert RULE in here.start(cwd=other)


def test_a_project_of_which_nothing_is_known_yet_gets_a_brief_of_the_rule(
    here: Place, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    (new / "web").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", new], check=True)
    here.say(RULE, cwd=new)
    told = here.start(cwd=new / "web")
    assert told.startswith("<holdfast-brief id=") and f"user: “{RULE}”" in told


def test_what_lays_nothing_down_is_not_told(here: Place) -> None:
    here.say("Fix the test of the parser that fails, please don't touch the others for now.")
    here.say("<task-notification>Never edit that file by hand.</task-notification>")
    assert SAID not in here.start()


def test_a_secret_is_redacted(here: Place) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    here.say(f"From now on always use the token {secret} for releases.")
    told = here.start()
    assert "From now on always use the token" in told and secret not in told


def test_a_private_passage_and_an_excluded_folder_are_not_told(here: Place) -> None:
    here.say(f"<private>{RULE}</private>")
    (here.settings.home / "config.toml").write_text(
        f"[exclude]\nprojects = ['{here.root}']\n", "utf-8"
    )
    here.say(RULE)
    assert RULE not in here.start()


def test_no_model_and_no_arrays_are_loaded_to_find_a_rule(here: Place) -> None:
    here.say(RULE)
    inbox = here.paths.inbox()
    assert inbox is not None
    events = [path.name for path in inbox.iterdir()]
    code = (
        "import sys; from holdfast.app.briefs.hook_briefs import said_since\n"
        "said = said_since(sys.argv[1], sys.argv[2], sys.argv[3:], [])\n"
        "print(len(said['rules']), [n for n in ('numpy', 'onnxruntime') if n in sys.modules])"
    )
    done = subprocess.run(
        [here.python, "-I", "-c", code, here.settings.home, here.root, *events],
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.decode().split("\n")[0] == "1 []"
