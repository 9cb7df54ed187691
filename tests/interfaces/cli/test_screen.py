"""How texts from memory are printed: as they are written, with styles only at a terminal."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.operations.screen import Screen

_STYLE = re.compile(r"\x1b\[[\d;]*m")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(text: str, stream: io.StringIO) -> str:
    Screen(stream).wrap(text)
    return stream.getvalue().removesuffix("\n")


@pytest.mark.slow
@given(st.text("ab1_*`.()[]<>/#-|~$%&{}'\"\\:!?=+,^@;", min_size=1, max_size=12))
def test_a_token_of_code_is_printed_as_it_was_written(token: str) -> None:
    text = f"We keep lq {token} rq for good."
    assert printed(text, io.StringIO()) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Keep `__init__.py` **now**.", "Keep \x1b[36m__init__.py\x1b[0m \x1b[1mnow\x1b[0m."),
        ("1024**3 and 2**4 of *** and __all__", "1024**3 and 2**4 of *** and __all__"),
        ("```python", "```python"),
    ],
)
def test_a_terminal_shows_code_and_bold_print_in_styles(
    text: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert printed(text, Terminal()) == expected
    monkeypatch.setenv("NO_COLOR", "1")
    assert printed(text, Terminal()) == text
