from __future__ import annotations

import pytest

from holdfast.language import causal_relations, describes_failure, fold_name
from holdfast.model.graph import ProvenAlias, SpellingSource
from holdfast.refine.entities.name_finder import (
    find_names,
    find_packages,
    find_people,
    find_renames,
    person_mentions,
)


def found(text: str) -> set[tuple[str, str]]:
    return {(m.source.value, m.text) for m in find_names(text)}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("See src/ui/rest.js and `./docs/a.md`.", {
            ("path", "src/ui/rest.js"), ("path", "docs/a.md")}),
        ("Look at https://x.org/a/b.py please", set[tuple[str, str]]()),
        ("AuthProvider calls parse_http and useRest", {
            ("name", "AuthProvider"), ("name", "parse_http"), ("name", "useRest")}),
        ("run `fetchAll()` and `sift()` and `next`", {("name", "fetchAll"), ("name", "sift")}),
        ("POSH_THEME is unset", {("name", "POSH_THEME")}),
        ("Fixes #12 and GH-34, see ABC-77 but not UTF-8 nor task #9", {
            ("issue", "#12"), ("issue", "#34"), ("issue", "ABC-77")}),
        ("This reverts commit 1a2b3c4d5e6f", {("commit", "1a2b3c4")}),
        ("we asked Maria about it", {("proper", "Maria")}),
        ("The test fails", set[tuple[str, str]]()),
        ("then the auth provider was moved", {("phrase", "auth provider")}),
        ("fix the same file", set[tuple[str, str]]()),
        ("AGENTS.md/CLAUDE.md differ", set[tuple[str, str]]()),
        ("the `index` and `main` and `test`", set[tuple[str, str]]()),
    ],
)  # fmt: skip
def test_names_are_found_in_texts(text: str, named: set[tuple[str, str]]) -> None:
    assert found(text) == named


@pytest.mark.parametrize(
    "spelling",
    ["AuthProvider", "auth_provider", "auth-provider", "auth providers", "AUTH_PROVIDER"],
)
def test_a_name_has_one_key_in_every_spelling(spelling: str) -> None:
    assert fold_name(spelling) == "authprovider"


def test_endings_that_are_not_plurals_are_kept() -> None:
    assert (
        fold_name("class") == "class"
        and fold_name("status") == "status"
        and fold_name("Redis") == "redis"
    )


def test_packages_are_found_in_install_commands() -> None:
    named = [
        m.text for m in find_packages("pip install -U 'httpx>=2' rich && npm i @types/node -D")
    ]
    assert named == ["httpx", "rich", "@types/node"]


def test_renames_are_found_in_commands() -> None:
    assert list(find_renames("cd x && git mv -f src/old.py src/new.py")) == [
        ProvenAlias(SpellingSource.FILE, "src/old.py", "src/new.py")
    ]
    assert list(find_renames("git mv a.py lib/")) == [
        ProvenAlias(SpellingSource.FILE, "a.py", "lib/a.py")
    ]
    assert list(find_renames("git mv *.py lib/; git mv folder other")) == []


def test_people_are_found_in_commit_messages_and_bots_are_not() -> None:
    message = "Fix\n\nCo-authored-by: Ann Ex <ann@x.org>\nSigned-off-by: Bo <bo@x.org>"
    assert list(find_people(message)) == [("Ann Ex", "ann@x.org"), ("Bo", "bo@x.org")]
    assert (
        person_mentions("dependabot[bot]") == ([], [])
        and person_mentions("Claude", "noreply@anthropic.com")[0] == []
    )
    mentions, same = person_mentions("Ann  Ex", "Ann@x.org")
    assert [m.text for m in mentions] == ["Ann Ex", "ann@x.org"]
    assert same == [ProvenAlias(SpellingSource.PERSON, "Ann Ex", "ann@x.org")]


@pytest.mark.parametrize(
    ("sentence", "how", "first", "then"),
    [
        ("It was moved because the guard failed.", "causes", "the guard failed", "It was moved"),
        ("The crash was caused by the cache.", "causes", "the cache", "The crash"),
        ("The root cause was a slow clock.", "causes", "a slow clock", "The"),
        ("The old lock led to a loop.", "causes", "The old lock", "a loop"),
        ("The clock ran slow, so tokens died.", "causes", "The clock ran slow", "tokens died"),
        ("We moved it so that login works.", "enables", "We moved it", "login works"),
        ("The guard prevents double posts.", "prevents", "The guard", "double posts"),
        ("The lock keeps two writers from meeting.", "prevents", "The lock",
         "two writers from meeting"),
        ("It skips the cache so that a stale writer is never used.", "prevents",
         "It skips the cache", "a stale writer is never used"),
        ("It waits instead of silently dropping the request.", "prevents", "It waits",
         "silently dropping the request"),
        ("Sorted early to avoid a second pass.", "prevents", "Sorted early", "a second pass"),
        ("The new port unblocks the sync job.", "enables", "The new port", "the sync job"),
        ("Mocks make it possible to test the queue.", "enables", "Mocks", "to test the queue"),
        ("A token is needed for the upload.", "enables", "A token", "the upload"),
    ],
)  # fmt: skip
def test_causal_relations_are_found_in_sentences(
    sentence: str, how: str, first: str, then: str
) -> None:
    relations = [r for r in causal_relations(sentence) if r.how == how]
    assert [(r.first, r.then) for r in relations] == [(first, then)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Everything seems to work, so that's good.",
        "The store is gone, so that can be dropped too.",
        "It is allowed.",
        "The flag is enabled in the settings of the shop.",
        "There are no unblocked tasks left.",
        "I'd avoid titles like that.",
        "The lock does not prevent a second run.",
    ],
)
def test_sentences_that_only_look_like_a_purpose_give_no_relation(sentence: str) -> None:
    assert [r.how for r in causal_relations(sentence) if r.how != "causes"] == []


def test_a_question_states_no_cause() -> None:
    assert causal_relations("Did it fail because of the cache?") == []
    assert describes_failure("The build fails.") and not describes_failure("The build is green.")
