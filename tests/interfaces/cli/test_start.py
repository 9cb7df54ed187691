"""What a question imports: most of the time of `holdfast recall` and `ask` is their start.

How long that takes is measured by `bench.startup`; here is what keeps it short.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.transcripts import bug_hunt

# Each takes milliseconds to import, and nothing of it is needed where words decide.
_SLOW_MODULES = frozenset(
    "asyncio dataclasses difflib email hashlib inspect locale logging numpy onnxruntime orjson "
    "pkgutil platform psycopg random Stemmer subprocess tempfile urllib.request".split()
)
_PRINT_MODULES = (
    "import gc, sys\n"
    "from holdfast.interfaces.cli.main import main\n"
    "before = sum(one['collections'] for one in gc.get_stats())\n"
    "status = main()\n"
    "after = sum(one['collections'] for one in gc.get_stats())\n"
    "print('COLLECTIONS', after - before, 'MODULES', *sorted(sys.modules))\n"
    "sys.exit(status)\n"
)


def modules_of(home: Path, *arguments: str) -> tuple[str, int, set[str]]:
    """What a command printed, how often the garbage collector ran, and the modules that were
    imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", _PRINT_MODULES, *arguments, "--bank", "one"],
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    printed, _, counted = done.stdout.rpartition("COLLECTIONS ")
    collections, _, *modules = counted.split()
    return printed, int(collections), set(modules)


# How many modules of ours a question may import. Each costs about a quarter of a millisecond.
@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        (("recall", "retry wrapper load timeout"), 143),
        (("ask", "what became of the retry wrapper"), 191),
    ],
)
def test_a_question_that_words_answer_imports_little(
    tmp_path: Path, arguments: tuple[str, str], most: int
) -> None:
    bug_hunt().write(tmp_path / "p")
    with Holdfast(Settings(home=tmp_path, claude_dir=tmp_path, bank="one")) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
    printed, collections, modules = modules_of(tmp_path, *arguments)
    assert "retry wrapper" in printed and "Not known" not in printed
    assert collections == 0
    assert modules & _SLOW_MODULES == set()
    own = [name for name in modules if name.partition(".")[0] == "holdfast"]
    assert 100 < len(own) <= most, sorted(own)
