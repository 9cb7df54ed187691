from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.language import file_word, fold_name
from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.graph import EntityKind, ProvenAlias, SpellingSource
from holdfast.model.ids import content_id
from holdfast.model.uris import uri
from holdfast.refine.entities.alias_resolution import resolve_entities
from holdfast.store.knowledge.graph import DatedAlias, ResolvedEntity, Spelling


def spelling(number: int, sort: SpellingSource, text: str, records: int = 2) -> Spelling:
    paths = (SpellingSource.FILE, SpellingSource.PATH)
    key = file_word(text) if sort in paths else text.lower() if "@" in text else fold_name(text)
    return Spelling(number, sort, text, key, content_id(sort.value, text), records, records)


def spelled(*given: tuple[SpellingSource, str]) -> list[Spelling]:
    return [spelling(n, sort, text) for n, (sort, text) in enumerate(given, start=1)]


def groups(
    spellings: list[Spelling],
    same: list[DatedAlias] | None = None,
    log: list[Curation] | None = None,
) -> set[frozenset[str]]:
    by_number = {s.number: s.text for s in spellings}
    found = resolve_entities("b", spellings, same or [], log or [], [])
    return {frozenset(by_number[n] for n in one.spellings) for one in found}


def decided(action: Action, one: Spelling, other: Spelling) -> Curation:
    return Curation(1, "b", "", action, uri("entity", one.id), uri("entity", other.id))


def test_a_component_is_joined_with_its_file_and_its_name_in_prose() -> None:
    given = spelled(
        (SpellingSource.NAME, "AuthProvider"),
        (SpellingSource.PHRASE, "auth provider"),
        (SpellingSource.FILE, "src/providers/AuthProvider.tsx"),
        (SpellingSource.PATH, "AuthProvider.tsx"),
    )
    (one,) = resolve_entities("b", given, [], [], [])
    assert one.entity.name == "AuthProvider" and one.entity.kind is EntityKind.COMPONENT
    assert len(one.spellings) == 4


def test_a_name_that_two_files_have_stays_its_own_entity() -> None:
    given = spelled(
        (SpellingSource.NAME, "AuthProvider"),
        (SpellingSource.FILE, "web/AuthProvider.tsx"),
        (SpellingSource.FILE, "app/AuthProvider.tsx"),
        (SpellingSource.PATH, "AuthProvider.tsx"),
        (SpellingSource.PATH, "app/AuthProvider.tsx"),
    )
    assert groups(given) == {
        frozenset(["AuthProvider"]),
        frozenset(["web/AuthProvider.tsx"]),
        frozenset(["app/AuthProvider.tsx"]),
    }


def test_generic_file_names_are_not_joined_with_words() -> None:
    given = spelled(
        (SpellingSource.FILE, "src/index.ts"),
        (SpellingSource.FILE, "test/data.py"),
        (SpellingSource.NAME, "Index"),
        (SpellingSource.NAME, "Data"),
        (SpellingSource.PATH, "nowhere.ts"),
    )
    assert groups(given) == {
        frozenset([text]) for text in ("src/index.ts", "test/data.py", "Index", "Data")
    }


def test_a_renamed_file_is_one_under_its_latest_name() -> None:
    given = spelled(
        (SpellingSource.FILE, "a.py"),
        (SpellingSource.FILE, "b.py"),
        (SpellingSource.FILE, "lib/c.py"),
    )
    same = [
        DatedAlias("2026-01-01", ProvenAlias(SpellingSource.FILE, "a.py", "b.py")),
        DatedAlias("2026-01-02", ProvenAlias(SpellingSource.FILE, "b.py", "lib/c.py")),
    ]
    (one,) = resolve_entities("b", given, same, [], [])
    assert one.entity.name == "lib/c.py" and set(one.entity.aliases) == {"a.py", "b.py"}


def test_people_are_joined_by_address_and_by_a_unique_first_name() -> None:
    given = spelled(
        (SpellingSource.PERSON, "Ann Ex"),
        (SpellingSource.PERSON, "ann@x.org"),
        (SpellingSource.PERSON, "A. Ex"),
        (SpellingSource.PROPER, "Ann"),
        (SpellingSource.PERSON, "Bo One"),
        (SpellingSource.PERSON, "Bo Two"),
        (SpellingSource.PROPER, "Bo"),
    )
    same = [
        DatedAlias("", ProvenAlias(SpellingSource.PERSON, "Ann Ex", "ann@x.org")),
        DatedAlias("", ProvenAlias(SpellingSource.PERSON, "A. Ex", "ann@x.org")),
    ]
    found = groups(given, same)
    assert frozenset(["Ann Ex", "ann@x.org", "A. Ex", "Ann"]) in found
    assert frozenset(["Bo One"]) in found and frozenset(["Bo Two"]) in found


def test_prose_names_need_two_sessions() -> None:
    once = [
        spelling(1, SpellingSource.PHRASE, "tide table", 1),
        spelling(2, SpellingSource.PHRASE, "red buoy", 2),
    ]
    assert groups(once) == {frozenset(["red buoy"])}


def test_a_split_wins_over_rules_and_a_later_merge_over_a_split() -> None:
    given = spelled((SpellingSource.NAME, "AuthProvider"), (SpellingSource.PHRASE, "auth provider"))
    split = decided(Action.SPLIT, given[1], given[0])
    assert groups(given, log=[split]) == {frozenset(["AuthProvider"]), frozenset(["auth provider"])}
    merge = decided(Action.MERGE, given[1], given[0])
    assert groups(given, log=[split, merge]) == {frozenset(["AuthProvider", "auth provider"])}
    assert len(groups(given, log=[merge, split])) == 2


def test_a_forgotten_entity_is_gone_and_a_corrected_one_has_its_new_name() -> None:
    given = spelled((SpellingSource.NAME, "AuthProvider"), (SpellingSource.PHRASE, "auth provider"))
    gone = CurationState("b", "entity", given[1].id, forgotten=True)
    assert resolve_entities("b", given, [], [], [gone]) == []
    named = CurationState("b", "entity", given[1].id, text="Login")
    (one,) = resolve_entities("b", given, [], [], [named])
    assert one.entity.name == "Login" and "AuthProvider" in one.entity.aliases


TEXTS = st.sampled_from(
    [
        (SpellingSource.NAME, "AuthProvider"),
        (SpellingSource.NAME, "auth_provider"),
        (SpellingSource.PHRASE, "auth provider"),
        (SpellingSource.FILE, "a/AuthProvider.tsx"),
        (SpellingSource.FILE, "b/AuthProvider.tsx"),
        (SpellingSource.PATH, "AuthProvider.tsx"),
        (SpellingSource.NAME, "TokenCache"),
        (SpellingSource.PROPER, "Ann"),
        (SpellingSource.PERSON, "Ann Ex"),
        (SpellingSource.PERSON, "Ann Other"),
        (SpellingSource.ISSUE, "#12"),
        (SpellingSource.FILE, "token_cache.py"),
        (SpellingSource.PACKAGE, "redis"),
        (SpellingSource.PROPER, "Redis"),
    ]
)


@pytest.mark.slow
@given(
    st.lists(TEXTS, unique=True, min_size=2),
    st.lists(st.tuples(st.booleans(), st.integers(0, 20), st.integers(0, 20)), max_size=6),
    st.randoms(use_true_random=False),
)
def test_entities_do_not_depend_on_order_and_undoing_is_exact(
    texts: list[tuple[SpellingSource, str]], wishes: list[tuple[bool, int, int]], chance: object
) -> None:
    given = spelled(*texts)
    log = [
        decided(
            Action.MERGE if merges else Action.SPLIT,
            given[one % len(given)],
            given[other % len(given)],
        )
        for merges, one, other in wishes
    ]
    before = resolve_entities("b", given, [], [], [])
    decided_on = resolve_entities("b", given, [], log, [])
    assert resolve_entities("b", given, [], [], []) == before
    numbers = [n for one in decided_on for n in one.spellings]
    assert len(numbers) == len(set(numbers)), "a spelling means one entity at most"
    turned = [s._replace(number=100 - s.number) for s in reversed(given)]

    def summary(found: list[ResolvedEntity]) -> list[object]:
        return [one.entity for one in found]

    assert summary(resolve_entities("b", turned, [], log, [])) == summary(decided_on)
