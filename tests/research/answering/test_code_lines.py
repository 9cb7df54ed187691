"""A quote has the line of code that its sentence announces or stands above."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script
from tests.support.ways_in import command_ways, http_ways, mcp_ways, python_ways


def open_with(folder: Path, *said: str) -> Holdfast:
    """A memory of one session, in which person and agent take turns."""
    script = Script("aaaaaaaa-0000-4000-8000-000000000001", cwd="/home/dev/proj")
    for number, text in enumerate(said):
        script.assistant(text) if number % 2 else script.user(text)
    script.write(folder / "p")
    memory = Holdfast(with_empty_memory(Settings(folder / "home", folder, bank="proj")))
    memory.ingest(memory.ingestion.find([folder / "p"]))
    return memory


def asked(folder: Path, question: str, *said: str) -> str:
    with open_with(folder, *said) as memory:
        return memory.ask(question, bank="all").answer


SETTINGS = """The upload limit of the harbour portal is set here:

```python
# settings of the portal
DEBUG = False
MAX_UPLOAD_MB = 20
TIMEOUT_S = 30
```

It is read when the portal starts."""


@pytest.mark.parametrize(
    ("question", "reply", "line"),
    [
        ("What is the upload limit of the harbour portal?", SETTINGS, "`MAX_UPLOAD_MB = 20`"),
        (
            "How are the tide tables of the harbour loaded?",
            "The tide tables of the harbour are loaded with this command:\n\n"
            "~~~sh\nmake tides YEAR=2026\n~~~",
            "`make tides YEAR=2026`",
        ),
        (
            "Where does the lighthouse service listen?",
            "The lighthouse service listens on the address of its unit file.\n\n"
            "```ini\n[Service]\nlisten = 127.0.0.1:8765\nUser = keeper\n```",
            "`listen = 127.0.0.1:8765`",
        ),
        (
            "Which pattern do berth numbers have to match?",
            "Berth numbers have to match this pattern:\n\n"
            "```js\nconst p = `^[A-F]${digits}$`;\n```",
            "`` const p = `^[A-F]${digits}$`; ``",
        ),
    ],
    ids=["a setting among others", "a command", "a sentence without a colon", "backticks in it"],
)
def test_the_line_that_holds_the_value_is_quoted_with_its_sentence(
    tmp_path: Path, question: str, reply: str, line: str
) -> None:
    answer = asked(tmp_path, question, "How is that done at the moment?", reply)
    assert line in answer
    assert "DEBUG" not in answer and "User = keeper" not in answer


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        # Which of several lines is meant cannot be told.
        (
            "How are the nets of the fishing fleet mended?",
            "The nets of the fishing fleet are mended by hand.\n\n"
            "```python\nretries = 3\ntimeout = 4\n```",
        ),
        # The block belongs to the sentence above it, which is not the one that is quoted.
        (
            "Who mends the nets of the fishing fleet?",
            "Joan mends the nets of the fishing fleet on Mondays, in the shed at the pier.\n\n"
            + "The boats of the fleet were painted in the spring of that year. " * 8
            + "\n\n## Settings\n\nSomething else altogether, of which nobody asked:\n\n"
            "```python\nretries = 3\n```",
        ),
    ],
    ids=["several values", "another sentence"],
)
def test_code_about_something_else_is_not_quoted(tmp_path: Path, question: str, reply: str) -> None:
    assert "retries = 3`" not in asked(tmp_path, question, "Tell me about the fleet.", reply)


def test_every_way_to_ask_gives_the_line_and_the_citation_shows_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    question = "What is the upload limit of the harbour portal?"
    with open_with(tmp_path, "How is that done at the moment?", SETTINGS) as memory:
        cited = memory.ask(question).citations[0]
        assert "The upload limit" in cited.excerpt
        told = {
            name: str(text)
            for ways in (
                python_ways(memory, [question], []),
                command_ways([question], []),
                http_ways(memory.settings, [question], [], []),
                mcp_ways([question]),
            )
            for name, text in ways
            if re.match(r"ask |holdfast ask |POST ask |page /\?q=|memory \{", name)
        }
    assert len(told) == 5
    assert [name for name, text in told.items() if "MAX_UPLOAD_MB = 20" not in text] == []
