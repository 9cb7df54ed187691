from __future__ import annotations

import pytest

from holdfast.refine.concepts.terms import (
    Place,
    commit_terms,
    file_term,
    find_terms,
    key_of,
    without_pasted_text,
)


def spellings(text: str, place: Place = Place.TITLE) -> list[str]:
    """The terms of a text, each once, in the order in which they occur."""
    return list(dict.fromkeys(term.spelling for term in find_terms(text, place)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gradient stop support was added for the palette", ["Gradient stop support", "palette"]),
        ("Certificate pinning, and the wiring of providers",
         ["Certificate pinning", "wiring", "providers"]),
        ("You implement colored buttons", ["colored buttons"]),
        ("The release pipeline fails since Tuesday", ["release pipeline"]),
        ("Show the REST button daily limit", ["REST button daily limit"]),
        ("Fix Diff Viewer Column Layout", ["Diff Viewer Column Layout"]),
        ("The tide gauge's readings", ["tide gauge readings"]),
        ("Fix Dart analysis issues", ["Dart analysis"]),
    ],
)  # fmt: skip
def test_terms_are_whole_noun_phrases(text: str, expected: list[str]) -> None:
    assert spellings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Have it fill in the gaps and report back",
        "Let me see what we have",
        "Help me identify this",
        "All tests pass",
        "Go ahead and commit this",
        "It was previously published",
        "The same thing again",
        "Fix the error in this file",
        "Tests are running",
        "Mon Apr 20 13:39",
        "7c9e6679f2 at 12:30, v1.2.3, #42",
        "Please do NOT do that",
    ],
)
def test_requests_and_phrases_of_every_project_have_no_terms(text: str) -> None:
    assert spellings(text) == []


def test_a_verb_between_nouns_ends_a_term() -> None:
    assert spellings("The release calls publish.yml") == ["publish.yml"]
    assert spellings("The coordinator ensures beads are clear") == ["coordinator", "beads"]
    assert spellings("Workers report the gradient") == ["Workers", "gradient"]


def test_half_a_word_at_the_end_of_a_cut_text_is_no_term() -> None:
    assert spellings("Restore it from the backup bra…") == ["backup"]


def test_addresses_and_prompts_of_shells_have_no_terms() -> None:
    assert spellings("See https://example.org/gradient/palette") == []
    assert spellings("maria@marias-laptop documentation") == []
    assert spellings("See #terminalSelection and #gaugePalette") == []


def test_a_long_address_is_read_in_time() -> None:
    printed = "https://example.org/app?v=1&t=2:88 loads the palette"
    assert without_pasted_text(f"The palette is gone\n{printed}") == "The palette is gone\n"
    assert without_pasted_text("?v=1&" * 3000) == "?v=1&" * 3000


@pytest.mark.parametrize(
    ("pasted", "left"),
    [
        ("[plugin:vite:css] [postcss] no gauge.css in styles", ""),
        (r"C:\quay\Gauge.Test\PaletteTests.cs(259): error test failed", ""),
        ('quay find "Ann Bell" --json', "quay find --json"),
        ('Quay find -e flux "Ann Bell" now', "Quay find -e flux now"),
        ('In the "Gauge editor" press -r to load it', 'In the "Gauge editor" press -r to load it'),
        (
            "quay find --json doesn't list it and shouldn't",
            "quay find --json doesn't list it and shouldn't",
        ),
        ("[feat:auth] Add a gauge palette", "[feat:auth] Add a gauge palette"),
        ('quay find "Ann Bell" ┏━━━━━━┓ ┃ Gauge ┃', ""),
        ("mend the gauge #terminalSelection crane", "mend the gauge  |  crane"),
        ('Add the "Night palette" button', 'Add the "Night palette" button'),
        ("Show [draft] pages", "Show [draft] pages"),
    ],
)
def test_what_a_program_or_an_editor_wrote_is_not_what_a_request_is_about(
    pasted: str, left: str
) -> None:
    assert without_pasted_text(pasted) == left


def test_identifiers_stay_whole_and_count_beside_the_phrase_they_are_in() -> None:
    text = "The `AddByUrlScreen` widget, run_jj_action() and src/shell/omp.ps1"
    assert spellings(text) == [
        "AddByUrlScreen widget",
        "AddByUrlScreen",
        "run_jj_action",
        "omp.ps1",
    ]


def test_a_document_is_called_without_its_number_and_the_ending_of_its_file() -> None:
    assert spellings("See docs/tide-tables.md for the gauge") == ["tide-tables", "gauge"]
    assert spellings("See S003-tide-tables.md for the gauge") == ["tide-tables", "gauge"]


def test_tests_of_a_file_have_its_name() -> None:
    (source,) = find_terms("tide_gauge.py", Place.TITLE)
    for tests in ("test_tide_gauge.py", "tide_gauge_test.py", "tide_gauge.test.ts"):
        assert {term.key for term in find_terms(tests, Place.TITLE)} == {source.key}


def test_the_kind_of_an_error_is_no_term() -> None:
    assert spellings("The gauge TypeError, an uncaught ValueError") == ["gauge"]


def test_the_message_of_an_error_in_a_request_has_no_terms() -> None:
    text = "The gauge page is dark. I get this error: no lamp clause matching in Tide.to_string/2"
    assert spellings(text, Place.REQUEST) == ["gauge page"]
    assert spellings("The mole: (ArithmeticError) bad lamp", Place.TITLE) == ["mole"]
    assert "lamp clause" in " ".join(spellings(text, Place.TEXT))


def test_what_is_mentioned_is_joined_to_nothing() -> None:
    assert spellings("Ask @harbour /setupGauge about the mole") == [
        "harbour",
        "setupGauge",
        "mole",
    ]


def test_words_that_only_describe_another_are_no_terms() -> None:
    assert spellings("The on-screen gauge is on-screen, the mole unseen") == [
        "on-screen gauge",
        "mole",
    ]


def test_a_command_in_backticks_ends_a_term() -> None:
    assert spellings("The palette `npm run build` gradient") == ["palette", "gradient"]


@pytest.mark.parametrize(
    "spelling", ["RemediateTab.tsx", "remediate_tab", "Remediate tabs", "remediate-tab"]
)
def test_spellings_of_one_name_have_the_same_key(spelling: str) -> None:
    assert key_of(spelling.split()) == key_of(["remediate", "tab"])


def test_headings_bold_and_quoted_words_are_marked() -> None:
    text = '## Tree View\n\nSee the "Open Studio" button and **Gradient Stops** there.'
    marked = {t.spelling for t in find_terms(text, Place.TEXT) if t.place is Place.MARKED}
    assert marked == {"Tree View", "Studio", "Gradient Stops"}
    said = {t.spelling for t in find_terms(text, Place.TEXT) if t.place is Place.TEXT}
    assert said == {"Studio", "button"}


def test_the_scope_of_a_commit_is_a_term_and_its_type_is_none() -> None:
    terms = list(commit_terms("perf(nushell)!: stream records of prompts"))
    assert (terms[0].spelling, terms[0].place) == ("nushell", Place.FILE)
    assert "perf" not in {t.spelling for t in terms}
    assert [t.spelling for t in commit_terms("fix: gauge drift")] == ["gauge drift"]


def test_names_of_files_are_terms_unless_they_are_numbers_or_codes() -> None:
    assert [t.spelling for t in file_term("docs-finder")] == ["docs-finder"]
    assert not list(file_term("")) and not list(file_term("0a1b2c3d4e"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("«Загрузка подписок» не работает", ["Загрузка подписок"]),
        ("Продолжай, необходимо сделать поддержку подписок", []),
        ("Revset 入力の実装を追加する", ["Revset 入力"]),
        ("辞書の検索を直してください", ["辞書", "検索"]),
        ("Die Anmeldung mit dem Kennwort", ["Anmeldung", "Kennwort"]),
        ("Le cache de la traduction", ["cache", "traduction"]),
        ("Η «ρύθμιση ήχου» δεν λειτουργεί", ["ρύθμιση ήχου"]),
        ("Vytvořím nový soubor", []),
        ("„tisk ceníku“ nefunguje správně", ["tisk ceníku"]),
    ],
)
def test_terms_are_found_in_other_languages_and_scripts(text: str, expected: list[str]) -> None:
    assert spellings(text, Place.TITLE) == expected
