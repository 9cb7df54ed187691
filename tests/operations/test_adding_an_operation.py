"""docs/adding-an-operation.md, done as it stands there: one function and its name, and every face
offers it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from tests.support.http.server import make_home, read_startup_message

pytestmark = [pytest.mark.slow, pytest.mark.process]

PAGE = (Path(__file__).parents[2] / "docs" / "adding-an-operation.md").read_text("utf-8")
PACKAGE = Path(holdfast.__file__).parent
_ASK_ALL = """
import json, sys, urllib.request
from holdfast import open_memory
url, token = sys.argv[1], open(sys.argv[2]).read().strip()
def ask(path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    return json.load(urllib.request.urlopen(urllib.request.Request(url + path, data, headers)))
asked = {"query": '{ growth(bank: "all", limit: 1) { months { month sessions } } }'}
with open_memory() as memory:
    python = memory.growth(bank="all", limit=1)
described = ask("/api/v1/openapi.json")["paths"]["/api/v1/growth"]["get"]
print(json.dumps({
    "rest": ask("/api/v1/growth?bank=all&limit=1"),
    "graphql": ask("/graphql", asked)["data"]["growth"],
    "python": [python.months[0].month, python.months[0].sessions],
    "summary": described["summary"],
}))
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def _copy_with_the_operation(folder: Path) -> Path:
    """The package with the function of the page, and its name in the registry."""

    def link(source: str, target: str) -> None:
        Path(target).symlink_to(source)

    copy = folder / "holdfast"
    shutil.copytree(PACKAGE, copy, copy_function=link, ignore=shutil.ignore_patterns("__pycache__"))
    function, name = blocks("python")
    (copy / "operations" / "growth.py").write_text(function, "utf-8")
    registry = copy / "operations" / "registry.py"
    text = registry.read_text("utf-8")
    registry.unlink()
    start = "SUBJECTS: dict[str, tuple[str, ...]] = {\n"
    assert start in text and name.strip()
    registry.write_text(text.replace(start, start + name), "utf-8")
    return folder


def test_one_function_and_its_name_make_an_operation_on_every_face(tmp_path: Path) -> None:
    env = make_home(tmp_path) | {"PYTHONPATH": str(_copy_with_the_operation(tmp_path / "copy"))}
    env = {**os.environ, **env}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "holdfast", *arguments]
        return subprocess.run(
            command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    printed = run("growth", "--bank", "all")
    assert re.fullmatch(r"(\d{4}-\d\d  \d+ sessions?\n)+", printed)
    told = json.loads(run("growth", "--bank", "all", "--limit", "1", "--json"))
    assert told["bank"] == "all" and len(told["months"]) == 1
    assert "Count the sessions of each month" in run("growth", "--help")
    assert "growth" in run("help", "all")
    command = [sys.executable, "-m", "holdfast", "browse", "--no-open", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, cwd=tmp_path) as server:
        try:
            began = read_startup_message(server)
            ask = [sys.executable, "-c", _ASK_ALL, began["url"], began["token_file"]]
            done = subprocess.run(
                ask, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
            )
        finally:
            server.terminate()
    assert done.returncode == 0, done.stderr
    (month,) = told["months"]
    faces = json.loads(done.stdout)
    assert faces["rest"] == told
    assert faces["graphql"]["months"] == [month]
    assert faces["python"] == [month["month"], month["sessions"]]
    assert faces["summary"] == "Count the sessions of each month"
