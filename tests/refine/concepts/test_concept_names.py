from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from holdfast.model.records import Exchange
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.concept_names import ConceptNamer
from holdfast.refine.concepts.descriptions import choose_names
from holdfast.refine.concepts.vocabulary import BankNames
from tests.support.concept_banks import OTHERS, build_concepts, item_of, work


def names_of(
    exchanges: Sequence[Exchange], project: str = "", speakers: Sequence[str] = ()
) -> list[str]:
    """The names for a group of all these exchanges, in a bank with some others."""
    items = [item_of(x) for x in (*exchanges, *OTHERS)]
    bank = BankNames(project, speakers)
    return [n.text for n in ConceptNamer(items, bank).names(items[: len(exchanges)])]


def proven_name(exchanges: Sequence[Exchange], others: Sequence[Exchange] = ()) -> str:
    """The name that a concept of these exchanges is shown with, in a bank with some others."""
    items = [item_of(x) for x in (*exchanges, *others, *OTHERS)]
    name = ConceptNamer(items).proven_name(items[: len(exchanges)])
    return name.text if name is not None else ""


def shown_names(builder: ConceptBuilder) -> list[str]:
    chosen = choose_names(builder, builder.groups)
    return [chosen[group.id] for group in builder.groups if group.id in chosen]


def test_a_name_is_a_phrase_that_recurs_and_never_two_joined_words() -> None:
    exchanges = [
        work(0, "Lantern mast is dark", ["mast.py"]),
        work(1, "The mast of the lantern", ["mast.py"]),
        work(2, "Lantern mast wiring", ["mast.py"]),
    ]
    names = names_of(exchanges)
    assert names[0] == "lantern mast"
    assert not any(" and " in name for name in names)


def test_a_concept_without_a_name_is_not_shown() -> None:
    keywords = ["gorse", "heather", "bracken", "moss"]
    exchanges = [work(n, "Please go ahead with it", [], keywords) for n in range(3)]
    grouped = build_concepts([*exchanges, *OTHERS])
    assert any(len(group.members) == 3 for group in grouped.grouping.groups.values())
    assert shown_names(grouped) == []


def test_a_name_has_the_case_that_the_project_writes_most_often() -> None:
    exchanges = [
        work(0, "The langsmith tracing is gone", summary="Is LangSmith tracing on?"),
        work(1, "LangSmith tracing in CI", summary="The LangSmith tracing runs in CI."),
        work(2, "No LangSmith tracing", summary="The LangSmith tracing was off."),
    ]
    assert names_of(exchanges)[0] == "LangSmith tracing"
    assert names_of(
        [work(n, "Tide Gauge Drift", summary="See the tide gauge drift.") for n in range(2)]
    ) == ["tide gauge drift"]


def test_singular_and_plural_are_one_name_in_the_form_used_most() -> None:
    exchanges = [
        work(0, "Fix the gradient stops", summary="The gradient stops work."),
        work(1, "More about gradient stops", summary="The gradient stops are drawn."),
        work(2, "One gradient stop is off", summary="The gradient stop is back."),
    ]
    assert [name for name in names_of(exchanges) if "stop" in name] == ["gradient stops"]


def test_a_file_and_the_words_of_its_name_are_one_name_and_words_are_shown() -> None:
    files = ["src/RemediateTab.tsx"]
    exchanges = [
        work(0, "Open the Remediate tab", files, summary="The Remediate tab opens."),
        work(1, "Close the Remediate tab", files, summary="The Remediate tab closes."),
    ]
    assert names_of(exchanges)[0] == "Remediate tab"
    alone = [work(n, f"Do step {n}", files, summary="`RemediateTab` opens.") for n in range(2)]
    assert names_of(alone) == ["RemediateTab"]


def test_the_project_is_no_name_of_its_concepts() -> None:
    exchanges = [
        work(n, f"The Chef Chopsky codebase has a Soup Kettle, {n}", summary="Chef Chopsky cooks.")
        for n in range(2)
    ]
    assert names_of(exchanges, "chef-chopsky") == ["Soup Kettle"]
    assert "Chef Chopsky" in names_of(exchanges, "another")
    web = [work(n, f"`ChefChopskyWeb` is slow, {n}") for n in range(2)]
    assert names_of(web, "chef-chopsky") == []
    assert names_of(web, "another") == ["ChefChopskyWeb"]


def test_generic_words_name_nothing_unless_a_file_has_their_name() -> None:
    exchanges = [work(n, f"Look at the config file and the test suite, {n}") for n in range(3)]
    assert names_of(exchanges) == []
    files = ["src/ContextTab.tsx"]
    exchanges = [work(n, f"Open the context tab, {n}", files) for n in range(3)]
    assert names_of(exchanges)[0] == "context tab"


def test_what_few_titles_have_is_no_name_though_all_texts_mention_it() -> None:
    summary = "It is done. Vercel ran the brass bell."
    named = work(9, "The brass bell rings", summary=summary)
    others = ["Paint the mole", "Sweep the quay", "Mend the crane", "Grease the winch"]
    exchanges = [work(n, title, summary=summary) for n, title in enumerate(others)]
    assert names_of([named, *exchanges]) == []
    more = [work(10 + n, f"Ring the brass bell {n}", summary=summary) for n in range(3)]
    assert names_of([named, *exchanges, *more])[0] == "brass bell"


def test_what_less_than_half_of_the_records_with_a_topic_are_about_is_no_name() -> None:
    summary = "The brass bell is done."
    named = [work(n, f"The brass bell {n}", summary=summary) for n in range(2)]
    without_topic = [work(3 + n, f"Address the feedback {n}", summary="Done.") for n in range(4)]
    assert names_of([*named, *without_topic]) == ["brass bell"]
    keywords = ["gorse", "heather", "bracken", "moss"]
    vacuous = [work(3 + n, f"What happens then? {n}", [], keywords, "Done.") for n in range(4)]
    assert names_of([*named, *vacuous]) == []
    assert names_of([*named, *vacuous[:2]]) == ["brass bell"]


_KEYWORDS = ("gorse", "heather", "bracken")


def test_a_concept_that_a_person_decided_about_keeps_a_name_that_is_not_proven() -> None:
    files, said = ["src/winch.py"], "The Brass Bell rings."
    titles = ["The Brass Bell is loud", "Make it much louder"]
    exchanges = [work(10 + n, title, files, _KEYWORDS, said) for n, title in enumerate(titles)]
    items = sorted(map(item_of, (*exchanges, *OTHERS)), key=lambda item: item.order)
    founder = item_of(exchanges[0])
    assert shown_names(ConceptBuilder(items)) == []
    decided = ConceptBuilder(items, founders={founder.uri: founder.founded_id})
    assert shown_names(decided) == ["Brass Bell"]


def test_no_two_concepts_have_the_same_name_in_two_spellings() -> None:
    one = [work(n, "OpenAI endpoint", ["a/openai.py"], ["openai", "endpoint"]) for n in range(3)]
    other = [
        replace(x, id=f"y{n:03}", title="The openAI endpoints", files_modified=("b/harbour.py",),
                keywords=("harbour", "mole", "quay"), session=f"t{n}", started=f"2026-02-0{n}")
        for n, x in enumerate(one)
    ]  # fmt: skip
    names = shown_names(build_concepts([*one, *other, *OTHERS]))
    folded = ["".join(name.lower().split()).rstrip("s") for name in names]
    assert "openaiendpoint" in folded and len(folded) == len(set(folded))


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["«Загрузка подписок» не работает", "Ускорь, «загрузка подписок» медленная"],
         "загрузка подписок"),
        (["revset 入力の実装", "この revset 入力を直す"], "revset 入力"),
        (["辞書検索の修正", "辞書検索を速くする"], "辞書検索"),
        (["Η «ρύθμιση ήχου» δεν λειτουργεί", "Πού είναι η «ρύθμιση ήχου»;"], "ρύθμιση ήχου"),
    ],
)  # fmt: skip
def test_concepts_are_named_in_other_scripts(titles: Sequence[str], expected: str) -> None:
    assert names_of([work(n, title) for n, title in enumerate(titles)])[0] == expected


def test_names_whose_cases_are_not_known_are_in_titles_as_they_are() -> None:
    titles = ["«Загрузка подписок» не работает", "Ускорь, «загрузка подписок» медленная"]
    assert (
        proven_name([work(n, t, [], _KEYWORDS) for n, t in enumerate(titles)])
        == "загрузка подписок"
    )
    other_case = [titles[0], "Проблема с «загрузкой подписок»"]
    assert proven_name([work(n, t, [], _KEYWORDS) for n, t in enumerate(other_case)]) == ""
    stages = [f"Продолжай «Этап» {n}" for n in range(4)]
    assert proven_name([work(n, t, [], _KEYWORDS) for n, t in enumerate(stages)]) == ""
