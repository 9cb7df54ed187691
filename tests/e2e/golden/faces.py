"""Asking every face of one memory the same, and what they answered as text."""
# Answers are whatever JSON has.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from holdfast import open_memory
from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext
from holdfast.operating_system import user_name
from holdfast.settings import load_settings
from tests.e2e.golden.calls import READING, WRITING, Call
from tests.support.command_line import changed_environment, run_command
from tests.support.http.server import Server, empty_home, read_startup_message

ROOT = Path(__file__).parents[3]
RECORDED = Path(__file__).with_name("recorded")
SAMPLES = ROOT / "examples" / "sessions"
BANK = "tidewatch"
# More than this of one answer tells nothing more: the beginning is kept, and how long it was.
_LONGEST = 6_000
_LONGEST_LIST = 6
# What differs from run to run or from processor to processor.
_VARYING = frozenset(
    {"score", "scores", "elapsed", "elapsed_ms", "took_ms", "ms", "seconds", "pid"}
)
_MASKS = (
    (re.compile(r"\bmem-[0-9a-f-]{8,}"), "mem-…"),
    (re.compile(r"http://[\w.-]+:\d+"), "http://HOST"),
    (re.compile(rf"{re.escape(tempfile.gettempdir())}/tmp\w+"), "TEMP"),
    (re.compile(r"\b\d+(\.\d+)? ?ms\b"), "… ms"),
    (re.compile(r"\b(just now|\d+ (second|minute|hour|day|week|month)s? ago)\b"), "… ago"),
)


class Answer(NamedTuple):
    """What a face said to a call."""

    call: str
    face: str
    asked: str
    told: str


def asked_of_all(
    folder: Path, sessions: Sequence[Path] = (), instead: Mapping[str, str] | None = None
) -> Iterable[Answer]:
    """Ask every face of a memory with the sample sessions, or others, and a small repository; with
    some words `instead` of those that the calls have."""
    found = sorted(sessions or SAMPLES.glob("*/*.jsonl"))
    home = _home(folder, sessions or [SAMPLES])
    return _answers(folder, home, found[0].stem, instead or {})


def _home(folder: Path, sessions: Sequence[Path]) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    env = empty_home(folder) | {
        "HOLDFAST_BANK": BANK,
        "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_RERANKER": "none",
        "TZ": "UTC",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "USER": "ada",
        "LOGNAME": "ada",
    }
    repository = _repository(folder / "tidewatch")
    done = run_command(["ingest", *map(str, (*sessions, repository))], env, folder)
    assert done.returncode == 0, done.stderr
    return env


def _repository(folder: Path) -> Path:
    folder.mkdir()
    _git(folder, "init", "--quiet", "--initial-branch", "main")
    for day, (author, file, subject) in enumerate(
        (
            ("Ada", "src/tidewatch/alerts.py", "Warn the harbour master of high water"),
            ("Bob", "src/tidewatch/cache.py", "Keep answers of the API in Redis"),
            ("Ada", "src/tidewatch/alerts.py", "Send each alert once"),
        ),
        1,
    ):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {subject}\n" * day, "utf-8")
        _git(folder, "add", ".")
        when = f"2026-10-{day:02}T12:00:00Z"
        _git(folder, "commit", "--quiet", "-m", subject, author=author, when=when)
    return folder


def _git(folder: Path, *arguments: str, author: str = "Ada", when: str = "") -> None:
    person = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (
            ("NAME", author),
            ("EMAIL", f"{author.lower()}@example.org"),
            ("DATE", when),
        )
        if value
    }
    env = {**os.environ, **person, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True)


def _answers(
    folder: Path, env: Mapping[str, str], session: str, instead: Mapping[str, str]
) -> Iterable[Answer]:
    named = {**samples(env, folder), "session": session}
    for face in FACES:
        own = folder / face
        shutil.copytree(folder / "home", own / "home")
        of_face = {**env, "HOLDFAST_HOME": str(own / "home")}
        with changed_environment(of_face), FACES[face](of_face, folder) as ask:
            known = dict(named)
            for call in (*READING, *WRITING):
                if (given := _filled(_given(call, face), known, instead)) is None:
                    continue
                told = ask(given)
                if call.name == "remember":
                    known |= {"new": _new_uri(told)}
                yield Answer(call.name, face, _shown(given), _masked(told, folder, own))


def samples(env: Mapping[str, str], folder: Path) -> dict[str, str]:
    """A record of each kind that calls name: the first by its URI."""
    listed = {
        kind: ["timeline", "--kind", kind, "--before", "200", "--after", "200"]
        for kind in ("exchange", "commit", "digest", "turn")
    }
    listed["memory"] = ["facts", "--kind", "decision"]
    return {kind: min(_uris(kind, command, env, folder)) for kind, command in listed.items()}


def _uris(kind: str, command: list[str], env: Mapping[str, str], folder: Path) -> list[str]:
    done = run_command([*command, "--json"], env, folder)
    assert done.returncode == 0, done.stderr
    return re.findall(rf"holdfast://{kind}/[\w-]+", done.stdout)


def _given(call: Call, face: str) -> Any:
    match face:
        case "cli" | "cli-json":
            return (*call.cli, *(("--json",) if face == "cli-json" else ())) if call.cli else None
        case "rest":
            return call.rest
        case "graphql":
            return call.graphql or None
        case "mcp":
            return call.mcp
        case _:
            return call.python


def _filled(given: Any, known: Mapping[str, str], instead: Mapping[str, str]) -> Any:
    """The same with URIs for the names in braces, and with other words instead of some."""
    if given is None:
        return None
    text = json.dumps(given)
    for words, other in instead.items():
        text = text.replace(words, other).replace(quote(words), quote(other))
    for name, uri in known.items():
        text = text.replace(f"{{{name}}}", uri)
    return json.loads(text)


def _new_uri(told: Any) -> str:
    found = re.findall(r"holdfast://memory/[\w.-]+", json.dumps(told))
    return found[0] if found else f"holdfast://memory/{told['id']}"


@contextmanager
def _cli(env: Mapping[str, str], folder: Path) -> Generator[Callable[[Any], Any]]:
    def ask(given: list[str]) -> object:
        done = run_command(given, env, folder)
        return _parsed(done.stdout) if "--json" in given else done.stdout + done.stderr

    yield ask


@contextmanager
def _server(env: Mapping[str, str], folder: Path) -> Generator[Server]:
    command = [sys.executable, "-m", "tests.e2e.golden.fixed_clock", "browse", "--no-open"]
    command += ["--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, cwd=ROOT) as process:
        try:
            found = read_startup_message(process)
            token = Path(found["token_file"]).read_text().strip()
            yield Server(found["url"], found["enter"], token, env)
        finally:
            process.terminate()


@contextmanager
def _rest(env: Mapping[str, str], folder: Path) -> Generator[Callable[[Any], Any]]:
    with _server(env, folder) as server:

        def ask(given: tuple[str, str, object]) -> object:
            method, path, body = given
            return _sent(server, method, f"/api/v1{path}", body)

        yield ask


@contextmanager
def _graphql(env: Mapping[str, str], folder: Path) -> Generator[Callable[[Any], Any]]:
    with _server(env, folder) as server:
        yield lambda query: _sent(server, "POST", "/graphql", {"query": query})


def _sent(server: Server, method: str, path: str, body: object) -> object:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    answer = server.ask(path, headers, data, method)
    return {"status": answer.status, "body": _parsed(answer.text)}


@contextmanager
def _mcp(env: Mapping[str, str], folder: Path) -> Generator[Callable[[Any], Any]]:
    engine = ToolEngine()

    def ask(given: tuple[str, dict[str, Any]]) -> object:
        tool, arguments = given
        return engine.call(tool, arguments, CallContext(client="a client"))

    try:
        yield ask
    finally:
        engine.close()


@contextmanager
def _python(env: Mapping[str, str], folder: Path) -> Generator[Callable[[Any], Any]]:
    with open_memory(load_settings()) as memory:

        def ask(given: tuple[str, dict[str, Any]]) -> object:
            method, arguments = given
            try:
                return plain(getattr(memory, method)(**arguments))
            except HoldfastError as error:
                return {"error": error.full_text}

        yield ask


FACES: dict[str, Callable[..., Any]] = {
    "cli": _cli,
    "cli-json": _cli,
    "rest": _rest,
    "graphql": _graphql,
    "mcp": _mcp,
    "python": _python,
}


def plain(value: Any) -> Any:
    """Records as what JSON has, without what is empty."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        value = {name: getattr(value, name) for name in getattr(value, "_fields")}  # noqa: B009
    elif is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        told = {str(key): plain(one) for key, one in value.items()}
        return {key: one for key, one in told.items() if one not in (None, "", [], {})}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else type(value).__name__


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _masked(told: Any, folder: Path, own: Path) -> str:
    text = (
        told if isinstance(told, str) else json.dumps(_without(told), indent=1, ensure_ascii=False)
    )
    for path, name in ((own / "home", "HOLDFAST_HOME"), (folder, "FOLDER"), (ROOT, "PROJECT")):
        text = text.replace(str(path), name)
    text = re.sub(rf"\bby {re.escape(user_name())}\b", "by USER", text)
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…\n({len(text)} characters)"


def _without(told: Any) -> Any:
    """Without what varies; of long lists the beginning, and how many there are."""
    if isinstance(told, dict):
        return {
            key: "…" if key in _VARYING and not isinstance(one, dict | list) else _without(one)
            for key, one in told.items()
        }
    if isinstance(told, list):
        kept = [_without(one) for one in told[:_LONGEST_LIST]]
        return kept + ([f"({len(told)} in all)"] if len(told) > _LONGEST_LIST else [])
    return "USER" if told == user_name() else told


def as_files(answers: Iterable[Answer]) -> dict[str, str]:
    """A text for each call: what every face was asked, and what it said."""
    files: dict[str, str] = {}
    for answer in answers:
        said = f"=== {answer.face}: {answer.asked}\n{answer.told}\n\n"
        files[answer.call] = files.get(answer.call, "") + said
    return {name: text.rstrip() + "\n" for name, text in files.items()}
