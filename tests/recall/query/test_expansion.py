from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.language import stem
from holdfast.recall.query.expansion import (
    ABBREVIATIONS,
    MAX_ADDED_TERMS,
    MAX_NAME_LENGTH,
    MAX_NAMES,
    SYNONYMS,
    Expansion,
    exact_names,
    expand,
)


@pytest.mark.parametrize(
    ("said", "added"),
    [
        ("PR", "pull request"),
        ("pull request", "pr"),
        ("CI", "continuous integration"),
        ("continuous integration", "ci"),
        ("db", "database"),
        ("databases", "db"),
        ("auth", "authentication"),
        ("env", "environment"),
        ("config", "configuration"),
        ("repo", "repository"),
        ("k8s", "kubernetes"),
        ("internationalization", "i18n"),
        ("regex", "regular expression"),
        ("async", "asynchronous"),
        ("perf", "performance"),
        ("UI", "user interface"),
    ],
)
def test_an_abbreviation_and_its_long_form_find_each_other(said: str, added: str) -> None:
    assert added in expand(said.split(), Expansion.MINIMAL)
    assert added in expand(said.split(), Expansion.FULL)
    assert expand(said.split(), Expansion.NONE) == ()


@pytest.mark.parametrize(
    ("said", "added"),
    [
        ("bug", {"issue", "defect", "error"}),
        ("issue", {"bug", "defect"}),
        ("crashes", {"exception", "failure"}),
        ("remove", {"delete", "drop"}),
        ("dropped", {"remove", "delete"}),
        ("slow", {"performance", "latency"}),
        ("test", {"spec"}),
        ("fixing", {"repair", "resolve"}),
        ("folder", {"directory"}),
        ("directory", {"folder", "dir"}),
    ],
)
def test_synonyms_are_added_only_by_full_expansion(said: str, added: set[str]) -> None:
    assert added <= set(expand([said], Expansion.FULL))
    assert not (added - {"dir"}) & set(expand([said], Expansion.MINIMAL))


@pytest.mark.parametrize("said", ["api", "author", "set", "miss", "fold", "help", "type", "parser"])
def test_a_word_that_only_shares_a_stem_with_an_entry_is_not_expanded(said: str) -> None:
    assert expand([said], Expansion.FULL) == ()


def test_a_term_whose_stem_is_already_present_is_not_added() -> None:
    assert expand(["db", "databases"], Expansion.FULL) == ()
    assert expand(["bug", "issues", "errors"], Expansion.FULL)[0] == "defect"


def test_every_word_gets_its_first_term_before_any_gets_its_second() -> None:
    assert expand(["remove", "bug"], Expansion.FULL)[:2] == ("delete", "defect")


@pytest.mark.slow
@given(
    st.lists(st.one_of(st.text(max_size=12), st.sampled_from("bug fix slow add db pr".split()))),
    st.sampled_from(Expansion),
)
def test_an_expansion_is_bounded_and_adds_only_what_is_new(said: list[str], how: Expansion) -> None:
    added = expand(said, how)
    stems = [" ".join(map(stem, term.split())) for term in added]
    assert len(added) <= MAX_ADDED_TERMS
    assert len(set(stems)) == len(stems)
    assert not set(stems) & {stem(word.lower()) for word in said}


@pytest.mark.parametrize("line", (ABBREVIATIONS + SYNONYMS).split("\n"))
def test_every_listed_term_is_expanded(line: str) -> None:
    for term in filter(None, re.split(", |: ", line.partition(" > ")[0])):
        assert expand(term.split(), Expansion.FULL)


PYTHON = """why does this happen?
Traceback (most recent call last):
  File "/home/me/app.py", line 3, in <module>
    load_all()
KeyError: 'first'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/me/app.py", line 5, in <module>
ValueError: invalid literal for int() with base 10: 'x'
"""
JAVASCRIPT = """TypeError: Cannot read properties of undefined (reading 'map')
    at render (src/ui/rest.js:42:7)
    at main (index.js:1:1)"""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what does rest.js do", ("rest.js",)),
        ("see src/ui/rest.js:42.", ("src/ui/rest.js", "rest.js")),
        ("is next_token like parseHTTPRequest?", ("next_token", "parseHTTPRequest")),
        ('why "Cannot read properties of undefined"', ("Cannot read properties of undefined",)),
        ("“no such table: turn” again", ("no such table: turn",)),
        ("'no such table' isn't what I've seen", ("no such table",)),
        ("`ECONNREFUSED 127.0.0.1:5432`",
         ("ECONNREFUSED 127.0.0.1:5432", "127.0.0.1:5432", "ECONNREFUSED")),
        ("ERR_MODULE_NOT_FOUND", ("ERR_MODULE_NOT_FOUND",)),
        (PYTHON, ("ValueError: invalid literal for int() with base 10: 'x'",
                  "KeyError", "ValueError")),
        (JAVASCRIPT, ("TypeError: Cannot read properties of undefined (reading 'map')",
                      "TypeError")),
        ("panic: runtime error: index out of range", ("panic: runtime error: index out of range",)),
        ("Error handling in the parser", ()),
        ('a "word" and/or don\'t say can\'t, e.g. this', ()),
        ("", ()),
    ],
)  # fmt: skip
def test_exact_names_in_a_query_are_found(query: str, expected: tuple[str, ...]) -> None:
    assert exact_names(query) == expected


def test_a_long_quotation_is_cut_at_a_word() -> None:
    (name,) = exact_names(f'"{"word " * 60}"')
    assert name == " ".join(["word"] * 24)


def test_the_exception_at_the_end_of_a_long_paste_is_found() -> None:
    paste = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n' * 2000
    assert exact_names(f"{paste}OSError: disk full")[0] == "OSError: disk full"


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\"'`\n ./:_aZError"))))
def test_exact_names_are_few_and_short_whatever_the_text(query: str) -> None:
    found = exact_names(query)
    assert len(found) <= MAX_NAMES
    assert all(0 < len(name) <= MAX_NAME_LENGTH and "\n" not in name for name in found)
