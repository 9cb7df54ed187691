from __future__ import annotations

import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.interfaces.ui.hidden_characters import show_hidden
from holdfast.interfaces.ui.render import Pages

RLO = "\u202e"


def shown(text: str) -> str:
    """What is seen of a text on a page."""
    return re.sub("<[^>]*>", "", show_hidden(f"<p>{text}</p>"))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (f"safe{RLO}gpj.exe", "safeU+202Egpj.exe"),
        ("pass\u200bword", "passU+200Bword"),
        ("\u2066a\u2069", "U+2066aU+2069"),
        ("a\u00adb", "aU+00ADb"),
        ("bell\x07", "bellU+0007"),
        ("half\u200dway", "halfU+200Dway"),
        ("six" + "\u200b" * 6, "six6 hidden characters"),
        (
            "Hi" + "".join(chr(0xE0000 + ord(c)) for c in "obey <b>"),
            "Hihidden text: obey &lt;b&gt;",
        ),
        ("x" + "\ufe01\ufe02\ufe03", "xU+FE01U+FE02U+FE03"),
    ],
)
def test_a_character_that_cannot_be_seen_is_shown_as_a_badge(text: str, seen: str) -> None:
    assert shown(text) == seen
    assert 'class="hidden-sign"' in show_hidden(f"<p>{text}</p>")


@pytest.mark.parametrize(
    "text",
    [
        "plain words, tabs\tand\nlines",
        "a family \U0001f468\u200d\U0001f469\u200d\U0001f467 and a heart \u2764\ufe0f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u05e9\u05dc\u05d5\u05dd",
    ],
)
def test_text_that_needs_joiners_or_runs_from_right_to_left_stays_as_it_is(text: str) -> None:
    assert show_hidden(f"<p>{text}</p>") == f"<p>{text}</p>"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;208mwarm\x1b[m", "warm"),
        (escape("\x1b[>4;2mkeys\x1b[?25l"), "keys"),
        ("\x1b]8;;http://x.example\x07link\x1b]8;;\x07", "link"),
        ("\x1b(Bplain", "plain"),
    ],
)
def test_sequences_for_a_terminal_are_left_out(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_what_is_sent_back_is_not_changed_and_what_is_read_aloud_is() -> None:
    page = (
        f'<title>a{RLO}b</title><textarea name="text">a{RLO}b</textarea>'
        f'<input value="a{RLO}b" aria-label="of a{RLO}b"><option value="a{RLO}b">a{RLO}b</option>'
        f'<svg><text>a{RLO}b</text></svg><a href="/x?q=a{RLO}b" title="a{RLO}b">a{RLO}b</a>'
    )
    made = show_hidden(page)
    assert f'<textarea name="text">a{RLO}b</textarea>' in made
    assert f'<input value="a{RLO}b" aria-label="of a[U+202E]b">' in made
    assert f'<option value="a{RLO}b">a[U+202E]b</option>' in made
    assert "<title>a[U+202E]b</title>" in made and "<text>a[U+202E]b</text>" in made
    assert f'<a href="/x?q=a{RLO}b" title="a[U+202E]b">a<span' in made


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=30))
def test_no_text_brings_markup_into_a_page(text: str) -> None:
    page = show_hidden(f"<p>{escape(text)}</p>")
    tags = re.sub(r'<span class="hidden-sign" title="[^"<>]*">|</span>', "", page)
    assert tags.count("<") == tags.count(">") == 2
    assert RLO not in page


def test_every_page_is_looked_at() -> None:
    page = Pages().render("error.html", title="x", message=f"a{RLO}b", remedy="", status=404)
    assert RLO not in page and 'title="right-to-left override"' in page
