from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markupsafe import Markup

from holdfast.interfaces.ui.prose import diff, highlight, inline, prose, without_block_marks
from holdfast.language import BOLD

CHANGE = """\
diff --git a/q.sql b/q.sql
--- a/q.sql
+++ b/q.sql
@@ -1,3 +1,2 @@
 select 1
--- a comment of SQL
+++ not a name
-- <b>
--- a/last.sql"""


def test_file_headers_of_a_diff_are_not_shown_as_changes() -> None:
    told = re.findall(r'<span class="(\w+)">', str(diff(CHANGE)))
    assert told[:5] == ["file", "file", "file", "hunk", "same"]
    assert told[7:] == ["removed", "removed"]
    assert "&lt;b&gt;" in diff(CHANGE)


def shown(page: Markup) -> str:
    return page.striptags()


def highlighted(text: str) -> Markup:
    return highlight(text, "kept words")


@pytest.mark.parametrize("render", [prose, inline, highlighted])
@given(st.text("ab1_*.()[]<>/#-|~$%&{}'\"\\\\:!?=+,^@;", min_size=1, max_size=12))
def test_a_token_of_code_is_shown_as_it_was_written(
    render: Callable[[str], Markup], token: str
) -> None:
    text = f"We kept lq {token} rq for good."
    assume(not re.search(BOLD, text))
    assert shown(render(text)) == " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "1024**3 and 2**4",
        "__init__.py and __version__",
        "a mask *** here",
        "*args, **kw",
        "split at '**' or at '**'",
        'pass **kw and join by "**"',
    ],
)
def test_powers_names_and_masks_are_not_taken_for_emphasis(text: str) -> None:
    assert shown(prose(text)) == shown(inline(text)) == text
    assert "<strong>" not in inline(text)


def test_code_and_bold_print_are_rendered_in_titles_and_hits() -> None:
    assert inline("Keep **all** of `a*b`") == "Keep <strong>all</strong> of <code>a*b</code>"
    found = highlight("Keep **all** of `a_b` here", "all here")
    assert found == ("Keep <strong><mark>all</mark></strong> of <code>a_b</code> <mark>here</mark>")


def test_numbered_lists_keep_their_numbers() -> None:
    assert prose("3. three\n4. four") == '<ol><li value="3">three</li><li value="4">four</li></ol>'


def test_a_link_is_shown_as_its_words_and_where_it_leads() -> None:
    assert inline("see [store.py](src/store.py)") == "see src/store.py"
    assert inline("[the `tide`](https://x.example/a)") == (
        "the <code>tide</code> (https://x.example/a)"
    )
    assert inline('[x](javascript:a"b)') == "x (javascript:a&#34;b)"
    for text in ("rows[0](1)", "![a](b.png)", "[redacted:token](x)"):
        assert "href" not in inline(text)
    assert inline("rows[0](1)") == "rows[0](1)"


def test_code_within_bold_print_is_code() -> None:
    assert inline("**`tide.py`** reads") == "<strong><code>tide.py</code></strong> reads"


def test_a_hit_of_several_blocks_is_shown_without_their_marks() -> None:
    text = "## Done\n\n- **one**\n* two\n\n---\n```py\nx = 1\n```\n3. three"
    assert without_block_marks(text) == "Done\n• **one**\n• two\nx = 1\n3. three"


@pytest.mark.parametrize(
    "text",
    [
        "before\n```\ncode\n``` after the fence",
        "before\n```py with more words\ncode\n```\nafter",
        "before\n```one line``` of code\nafter",
        "before\n````\n```\ncode\n```\n````\nafter",
        "before\n~~~ `some` words\ncode\n~~~~\nafter",
    ],
)
def test_no_words_beside_a_fence_are_left_out(text: str) -> None:
    words = re.findall(r"\w+", text)
    assert re.findall(r"\w+", re.sub("<[^>]*>", " ", prose(text))) == words
    assert re.findall(r"\w+", without_block_marks(text)) == words


def test_code_of_a_hit_is_shown_as_it_was_written() -> None:
    text = "```sh\n# tides\n- one\n---\n```\n# Done"
    assert without_block_marks(text) == "# tides\n- one\n---\nDone"
