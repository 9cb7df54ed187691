"""Words are kept as they are: what any interface quotes has the code in it unchanged.

Every token stands between two words of its own, in rules, requests, replies, results of tools,
commits and remembered texts. Wherever both words are told, the token must be what is between them.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from markdown_it import MarkdownIt

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Network
from holdfast.settings import load_settings
from tests.e2e.access.key_client import INTERFACES, KeyClient, ServerOperations
from tests.e2e.access.operations import own_calls
from tests.e2e.access.serving import Served, make_keys, served
from tests.e2e.access.two_banks import Named, Side, World, make_environment, names_in
from tests.refine.rules.test_rules import git, project, put
from tests.support.command_line import runner
from tests.support.transcripts import Script

TOKENS = (
    "__version__", "__init__.py", "1024**3", "2**4*3**2", "***", "**options", "*args", "_private_",
    "src/**/*.py", "handlers[name](event)", "rows[1]", "Vec<T>", "Map<String,Id>", "a*b*c", ">>>",
    "$HOME/.env", "~/.bashrc", "!important", "&mut", "%s", "{name}", "C:\\temp", "--no-verify",
    "`__all__`", "f(*a,**k)", "[x](y)", "x.__dict__", "#define", "|", "a_*_b", "'**'", "\\*\\*",
)  # fmt: skip
SIDE = Side("slipway", "Bramble", "Ossifrage")
_NAMED = re.compile(r"lq(\d+)x\s+(\S+)\s+rq\1x")
_TAG = re.compile(r"<[^>]*>")
# Markdown to copy from a page, in which code is escaped so that it is shown as it was written.
_MARKDOWN = re.compile(r'<pre id="markdown"[^>]*>(.*?)</pre>', re.DOTALL)
_RENDERER = MarkdownIt("gfm-like", {"linkify": False})
# A link between notes names a file, and names of files have no asterisks.
_LINK = re.compile(r"\[\[[^\]]*\]\]")


def marked(number: int) -> str:
    return f"lq{number}x {TOKENS[number]} rq{number}x"


def rendered(markdown: str) -> str:
    """What somebody reads where Markdown is shown."""
    return html.unescape(_TAG.sub("", _RENDERER.render(markdown)))


def wrong_in(text: str) -> list[tuple[str, str]]:
    """The tokens that a text tells otherwise than they were written. Backticks may be rendered, a
    raw line of a transcript is JSON, and a list of keywords quotes nothing."""
    found = [(TOKENS[int(number)], word) for number, word in _NAMED.findall(text)]
    found = [(token, word) for token, word in found if word != "-"]
    return [
        (token, word)
        for token, word in found
        if word.replace("`", "") not in (token.replace("`", ""), json.dumps(token)[1:-1])
    ]


class Texts:
    """The texts of a reply: the strings of JSON, also of JSON in a string; what a page shows."""

    def __init__(self) -> None:
        self.count = 0
        self.wrong: list[object] = []

    def add(self, source: str, reply: str) -> None:
        for text in _strings(reply):
            self.count += len(_NAMED.findall(text))
            self.wrong += [(source, *pair, text[:200]) for pair in wrong_in(text)]


def _strings(reply: str) -> Iterator[str]:
    if reply.lstrip().startswith("<!"):
        for source in _MARKDOWN.findall(reply):
            yield rendered(html.unescape(source))
        yield html.unescape(_TAG.sub("", _MARKDOWN.sub("", reply)))
    elif reply.lstrip()[:1] in ("{", "["):
        try:
            parsed = json.loads(reply)
        except ValueError:
            yield reply
        else:
            yield from _strings_of(parsed)
    else:
        yield reply


def _strings_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _strings(value)
    elif isinstance(value, dict):
        for one in cast(dict[str, Any], value).values():
            yield from _strings_of(one)
    elif isinstance(value, list):
        for one in cast(list[Any], value):
            yield from _strings_of(one)


def fill(memory: Holdfast, root: Path) -> str:
    os.chdir(root)
    many = range(len(TOKENS))
    put(root, "bramble.py", "x = 1\n")
    rules = "".join(f"- Bramble {n} keeps {marked(n)} at hand.\n" for n in many)
    put(root, ".claude/rules/bramble.md", f"# Bramble\n\n{rules}")
    put(root, ".claude/memory.md", f"# Bramble\n\n{rules}")
    git(root, "add", ".")
    for n in many[::4]:
        message = f"Bramble takes {marked(n)}"
        reason = f"Because {marked(n + 1)} was stale."
        git(root, "commit", "-q", "--allow-empty", "-m", message, "-m", reason)
    # What is remembered while the bank is small is derived in a moment.
    for n in many[::2]:
        memory.remember(f"Bramble needs {marked(n)} in every harbour of colour {n}.")
    for n in many[1::2]:
        memory.retain(f"Bramble {n} is worth {marked(n)} to us.", Network.OPINION, 0.9)
    memory.ingest(memory.ingestion.find(list(sessions(root))))
    memory.ingestion.ingest_git(root)
    memory.rules.suggest("care", f"Store every Bramble beside {marked(0)}.")
    asked = memory.ask("Why was Bramble slow?")
    memory.opinions.reflect("is Bramble worth it")
    return asked.session_id


def sessions(root: Path) -> Iterator[Path]:
    """A session for each token: asked for, ruled, tried, seen in a result, found as the cause."""
    for n, _ in enumerate(TOKENS):
        script = Script(f"{n:08d}-0000-4000-8000-000000000001", cwd=str(root))
        script.start = script.start.replace(day=1 + n % 28, hour=9 + n // 28)
        script.user(f"{marked(n)} is why Bramble {n} fails. Please fix Bramble {n} of {marked(n)}.")
        broken = f"KeyError: 'Bramble'\n    {marked(n)}\n  at line {n}"
        script.tool("Bash", broken, error=True, command=f"pytest -k 'Bramble {marked(n)}'")
        script.tool(
            "Edit", "ok", file_path=str(root / "bramble.py"), old_string=f"a{n}", new_string="b"
        )
        script.tool("Bash", "3 passed", command="pytest")
        script.assistant(
            f"Fixed Bramble {n}: the root cause was that {marked(n)} of the Bramble went stale.\n\n"
            f"- **Bramble {n}** now takes {marked(n)} first.\n"
            f"- Next steps: remove {marked(n)} later."
        )
        script.user(f"From now on Bramble {n} must always keep {marked(n)} before it is packed.")
        script.assistant(f"Understood: {marked(n)} is kept for Bramble {n} from now on.")
        yield script.write(root.parents[1] / "claude" / "projects")


class Filled(NamedTuple):
    world: World
    served: Served


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder, before = tmp_path_factory.mktemp("verbatim"), Path.cwd()
    env = make_environment(folder)
    settings = load_settings(env)
    try:
        with Holdfast(settings) as memory:
            talk = fill(memory, project(folder / "projects", SIDE.name))
            memory.rules.sync_all()
            bank = memory.context.bank_id(SIDE.name) or ""
    finally:
        os.chdir(before)
    bare = World(env, settings, folder, Named(bank, (bank, SIDE.name), {}), Named("", ("",), {}))
    world = bare._replace(own=names_in(bare, bank, SIDE, talk))
    keys = make_keys(world._replace(other=world.own))
    with served(world) as url:
        yield Filled(world, Served(world, keys, url))


@pytest.mark.slow
@pytest.mark.parametrize("sort", INTERFACES)
def test_a_server_quotes_code_as_it_was_written(filled: Filled, sort: str) -> None:
    texts = Texts()
    with KeyClient(filled.served.url, filled.served.keys.chief) as client:
        described = ServerOperations(client)
        reads = {t["name"] for t in described.tools if t["annotations"]["readOnlyHint"]}
        for operation, ask in described.ways(sort, client):
            is_read = operation.method in ("GET", "query") or operation.path in reads
            if not is_read and operation.path != "/api/v1/ask":
                continue
            for call in own_calls(operation, filled.world.own, SIDE):
                texts.add(f"{operation.name} {dict(call.values)}", ask(call).text)
    assert not texts.wrong, "\n".join(map(str, texts.wrong[:30]))
    assert texts.count > 200, texts.count


@pytest.mark.slow
def test_commands_quote_code_as_it_was_written(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in filled.world.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(filled.world.folder / "projects" / SIDE.name)
    run = runner(capsys)
    out = filled.world.folder / "out"
    names = [f"holdfast://{uri}" for _, uri in filled.world.own.records()]
    texts = Texts()
    for command in (
        *(("ask", f"Why did {about} fail?") for about in ("Bramble 1", "Bramble 9")),
        *(("recall", "Bramble", "--layer", layer) for layer in ("rules", "observations")),
        *(("recall", "Bramble", "--layer", layer) for layer in ("transcripts", "summaries")),
        ("recall", "KeyError Bramble at line"), ("recall", "lq13x", "--limit", "30"),
        ("facts",), ("timeline",), ("find", "--file", "bramble.py"),
        ("timeline", "--query", "Bramble"), ("opinions",), ("reflect", "is Bramble worth it"),
        ("concepts",), ("team", "Bramble"), ("handoff", "Bramble"), ("brief",),
        ("brief", "--prompt", "Fix Bramble 3 please, it fails"), ("review",), ("promote",),
        ("export", "--format", "markdown", str(out / "notes")),
        ("export", "--derived", str(out / "all.jsonl")),
        *(("show", name) for name in names),
    ):  # fmt: skip
        for form in ((), ("--json",)):
            name = " ".join((*command, *form))
            status, text = run(*command, *form)
            assert status == 0 or command[0] == "show", (name, text)
            texts.add(name, text)
    shown = texts.count
    exported = [path for path in out.rglob("*") if path.is_file()]
    for path in exported:
        lines = path.read_text().split("\n") if path.suffix == ".jsonl" else [path.read_text()]
        for line in lines:
            texts.add(path.name, _LINK.sub("", line) if path.suffix == ".md" else line)
    assert not texts.wrong, "\n".join(map(str, texts.wrong[:30]))
    assert shown > 500 and texts.count > 2 * shown, (shown, texts.count)
