import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.language import (
    STOPWORDS,
    capitalize,
    code_names,
    collapse_spaces,
    cut,
    headings,
    sentences,
    split_identifier,
    stem,
    strip_markdown,
    truncate,
    without_links,
    without_open_label,
    words,
)

MARKDOWN = """# Title

Some **bold** and *light* text with a [link](https://x.org) and `code`.

```python
x = 1  # not prose.
```

| a | b |
|---|---|
| 1 | 2 |

- [x] first thing. Second thing.
- other <b>thing</b>
"""


def test_links_are_shown_by_their_names_and_code_as_it_is() -> None:
    text = "See [the run](https://x.example/a), `[a](b)` and [`f.py`](src/f.py:1)."
    assert without_links("rows[0] (see below)") == "rows[0] (see below)"
    assert without_links("It calls [x](y).") == "It calls [x](y)."
    assert without_links(text) == "See the run, `[a](b)` and `f.py`."


@pytest.mark.parametrize("text", ["[docs](https://x.y/z and ", "[a](./b\n", "[" * 9, "](("])
def test_links_that_nothing_closes_take_no_time(text: str) -> None:
    assert without_links(text * 3000) == text * 3000


def test_markdown_becomes_plain_lines() -> None:
    text = strip_markdown(MARKDOWN)

    assert "Some bold and light text with a link and `code`." in text
    assert "not prose" not in text
    assert "| 1 |" not in text
    assert "- other thing" in text


INSIGHT = (
    "Found it.\n\n`★ Insight ─────────────────────`\nThe guard comes before the lookup. It is why "
    "the list stays empty.\n`─────────────────────`\n\nNow the other one."
)


def test_a_line_of_a_frame_is_no_sentence() -> None:
    assert sentences(INSIGHT) == [
        "Found it.",
        "The guard comes before the lookup.",
        "It is why the list stays empty.",
        "Now the other one.",
    ]
    assert sentences("┌─ Summary ─────┐ of a box") == ["┌─ Summary ─────┐ of a box"]


def test_an_unclosed_fence_swallows_the_rest_and_a_closed_one_does_not() -> None:
    assert collapse_spaces(strip_markdown("before\n```\ncode\n")) == "before"
    assert collapse_spaces(strip_markdown("before\n~~~\ncode\n~~~\nafter")) == "before after"


@pytest.mark.parametrize(
    "text",
    [
        "a * b * c",
        "2 ** 3 ** 4",
        "snake_case_name",
        pytest.param("if a<b and c>d"),
    ],
)
def test_characters_that_are_not_markdown_are_kept(text: str) -> None:
    assert strip_markdown(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("Use e.g. Redis here. Then go.", ["Use e.g. Redis here.", "Then go."]),
        ("Version 1.2.3 is out. Get it.", ["Version 1.2.3 is out.", "Get it."]),
        ("See main.py now.", ["See main.py now."]),
        ("One line\nof a paragraph.\n\nAnother.", ["One line of a paragraph.", "Another."]),
        ("# Heading\nBody.", ["Body."]),
        ("Steps:\n1. First\n2. Second", ["Steps:", "First", "Second"]),
        ("- [ ] open task\n* done", ["open task", "done"]),
        ("第一句。第二句！", ["第一句。", "第二句！"]),
        ("Привет. Как дела?", ["Привет.", "Как дела?"]),
        ("He said (so.) Then left.", ["He said (so.)", "Then left."]),
        ("Checks (lint, etc.) run first. Go.", ["Checks (lint, etc.) run first.", "Go."]),
        ("It has tools (rg, etc.) Use them.", ["It has tools (rg, etc.)", "Use them."]),
        ('The "What next?" section shows it. Go.', ['The "What next?" section shows it.', "Go."]),
        ("It says “done!” and stops. Go.", ["It says “done!” and stops.", "Go."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("---\n===", []),
        ("", []),
    ],
)
def test_sentences_are_found_in_prose_and_lists(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_what_an_agent_tells_its_own_program_is_no_sentence() -> None:
    told = 'Committed the fix.\n\n::git-stage{cwd="/home/dev"} ::git-commit{cwd="/home/dev"}\n'
    assert sentences(told) == ["Committed the fix."]
    assert sentences("Call std::vector{1, 2} with care.") == ["Call std::vector{1, 2} with care."]


def test_a_list_of_sentences_belongs_to_its_caller() -> None:
    text = "The yawl is blue. The ketch is red."
    sentences(text).append("The caller added this.")
    assert sentences(text) == ["The yawl is blue.", "The ketch is red."]


@pytest.mark.slow
@given(st.text(alphabet=st.sampled_from("a\u00e9.\x1c\x85\u2028 \t\r\n\v\f\u00a0\u3000\u200b")))
def test_any_white_space_becomes_single_blanks(text: str) -> None:
    assert collapse_spaces(text) == re.sub(r"\s+", " ", text).strip()


@pytest.mark.slow
@settings(max_examples=100)
@given(st.text(max_size=200))
def test_sentences_are_never_empty_and_have_no_line_breaks(text: str) -> None:
    for sentence in sentences(text):
        assert sentence.strip() == sentence != ""
        assert "\n" not in sentence


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.from_regex(r"[A-Z][a-z]{1,8}( [a-z]{1,8}){0,4}[.!?]", fullmatch=True)))
def test_sentences_of_plain_prose_join_to_the_prose(parts: list[str]) -> None:
    prose = " ".join(parts)

    assert " ".join(sentences(prose)) == prose


def test_headings_are_found_outside_of_code() -> None:
    assert headings("# One\n```\n# not\n```\n## **Two** ##\n#hash\ntext") == ["One", "**Two**"]


@pytest.mark.slow
@settings(max_examples=100)
@given(text=st.text(max_size=200), limit=st.integers(1, 80))
def test_a_shortened_text_is_marked_as_cut(text: str, limit: int) -> None:
    whole = collapse_spaces(text)
    short = truncate(text, limit)

    assert len(short) <= limit
    if len(whole) <= limit:
        assert short == whole
    else:
        assert short.endswith("…")
        assert whole.startswith(short.removesuffix("…"))


def test_a_text_is_cut_between_words() -> None:
    assert truncate("The quick brown fox jumps", 18) == "The quick brown…"
    assert truncate("The quick, brown", 12) == "The quick…"
    assert truncate("x" * 50, 10) == "x" * 9 + "…"
    assert truncate("  a \n b  ", 10) == "a b"


@pytest.mark.parametrize(
    "family",
    [
        "cache caches cached caching",
        "test tests tested testing",
        "query queries queried",
        "connect connects connected connecting connection connections",
        "run runs running",
        "file files",
        "parse parses parsed parsing",
        "retry retries retried",
        "deploy deploys deployed deploying deployment deployments",
    ],
)
def test_the_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("cache", "case"), ("test", "text"), ("class", "clas"), ("port", "post"), ("bus", "but")],
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.from_regex(r"[a-zà-ÿ]{1,20}", fullmatch=True))
def test_a_stem_is_never_empty_nor_longer_than_its_word(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read_lines and kebab-case", ["read", "lines", "and", "kebab", "case"]),
        ("Don't SHOUT", ["don't", "shout"]),
        ("src/a.py:12", ["src", "a", "py", "12"]),
        ("Größe 中文", ["größe", "中文"]),
        ("It’s done — isn't it? “yes” → 'ok'", ["it’s", "done", "isn't", "it", "yes", "ok"]),
        ("rock'n'roll of the '90s", ["rock'n", "roll", "of", "the", "90s"]),
        ("", []),
    ],
)
def test_words_are_split_at_punctuation(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(st.sampled_from("aB9_'’-—. \n\x1c\x7fé中"), max_size=60))
def test_words_of_every_text_are_those_of_one_pattern(text: str) -> None:
    assert words(text) == re.findall(r"[^\W_]+(?:['’][^\W\d_]+)?", text.lower())


@pytest.mark.slow
@settings(max_examples=100)
@given(st.text(max_size=100))
def test_splitting_words_again_changes_nothing(text: str) -> None:
    found = words(text)

    assert all(found)
    assert words(" ".join(found)) == found


def test_stopwords_are_in_lower_case() -> None:
    assert all(word == word.lower() for word in STOPWORDS)
    assert "the" in STOPWORDS and "cache" not in STOPWORDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("why does parseHTTPRequest fail", ["parseHTTPRequest"]),
        ("see src/ui/rest.js:42 and Module::method", ["src/ui/rest.js:42", "Module::method"]),
        ("no names here, only words.", []),
        ("a_b " * 3 + "x" * 200 + "_y", ["a_b"]),
    ],
)
def test_code_identifiers_are_found_in_prose(text: str, expected: list[str]) -> None:
    assert code_names(text) == expected


def test_an_identifier_is_split_at_its_case_changes() -> None:
    assert split_identifier("XMLHttpRequest2") == ["XML", "Http", "Request", "2"]
    assert split_identifier("parse_http-request") == ["parse", "http", "request"]


# Names, powers, masks, globs, generics, indices: whatever stands in code without a blank.
CODE = st.text("ab1_*`.()[]<>/#-|~$%&{}'\"\\\\:!?=+,^@;", min_size=1, max_size=12)


@pytest.mark.slow
@given(CODE)
def test_a_token_of_code_is_never_changed_in_what_is_quoted(token: str) -> None:
    said = f"We keep lq {token} rq for good, and more of it. Then lq {token} rq again."
    kept = f"lq {token} rq"
    assert " ".join(sentences(said)).count(kept) == 2
    assert truncate(said, 500).count(kept) == cut(said, 500).count(kept) == 2
    assert headings(f"# {said}") == [said]
    assert capitalize(said) == said


@pytest.mark.slow
@given(st.lists(CODE, min_size=1, max_size=8))
def test_a_cut_text_is_the_start_of_what_was_written(tokens: list[str]) -> None:
    text = "\n    ".join(f"x {token} y" for token in tokens)
    assert cut(text, 1000) == text
    short = cut(text, 20)
    assert len(short) <= 20 and text.startswith(short.removesuffix("…"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fix the login", "Fix the login"),
        ("don't retry", "Don't retry"),
        ("foo_bar fails", "foo_bar fails"),
        ("iPhone app", "iPhone app"),
        ("src/app.py fails", "src/app.py fails"),
        ("`make` fails", "`make` fails"),
        ("", ""),
    ],
)
def test_a_title_gets_a_capital_letter_unless_it_starts_with_code(text: str, expected: str) -> None:
    assert capitalize(text) == expected


def test_no_sentence_ends_within_code() -> None:
    text = "It reads `env.A ?? env.B ?? DEFAULT`. If `env.A` is empty, that is kept."
    assert sentences(text) == [
        "It reads `env.A ?? env.B ?? DEFAULT`.",
        "If `env.A` is empty, that is kept.",
    ]
    stray = "A stray ` is here. The next is `code`. It ends."
    assert sentences(stray) == ["A stray ` is here.", "The next is `code`.", "It ends."]


@pytest.mark.parametrize("label", ["", "open: ", "Still open: ", "still open: "])
def test_a_task_is_listed_without_the_label_that_it_begins_with(label: str) -> None:
    assert without_open_label(f"{label}the phone number, open: no") == "the phone number, open: no"


def test_a_cut_text_does_not_end_with_a_word_of_the_next_paragraph() -> None:
    text = (
        "The cause is the offset of the day of planning.\n\nhe asked for a test first, then a fix."
    )
    assert cut(text, 54) == "The cause is the offset of the day of planning…"
    assert cut(text, 80).endswith("\n\nhe asked for a test first…")
