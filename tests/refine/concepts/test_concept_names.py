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


def test_requests_that_share_only_phrases_of_requests_have_no_name() -> None:
    exchanges = [
        work(0, "Review this and report back"),
        work(1, "Report back when it is done"),
        work(2, "Let me know and report back"),
    ]
    assert names_of(exchanges) == []


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


def test_a_fragment_of_a_longer_term_is_no_name() -> None:
    exchanges = [work(n, f"Packmind product tour, part {n}") for n in range(3)]
    assert names_of(exchanges) == ["Packmind product tour"]


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


def test_a_slip_of_the_pen_in_a_repeated_request_is_no_name() -> None:
    exchanges = [
        work(n, "Ask a subagent accoridng to the lighthuose", summary="Done.") for n in range(3)
    ]
    assert names_of(exchanges) == []


def test_generic_words_name_nothing_unless_a_file_has_their_name() -> None:
    exchanges = [work(n, f"Look at the config file and the test suite, {n}") for n in range(3)]
    assert names_of(exchanges) == []
    files = ["src/ContextTab.tsx"]
    exchanges = [work(n, f"Open the context tab, {n}", files) for n in range(3)]
    assert names_of(exchanges)[0] == "context tab"


def test_words_of_the_work_process_name_nothing() -> None:
    exchanges = [work(n, f"Mark it ready-for-review, {n}") for n in range(3)]
    assert names_of(exchanges) == []


def test_a_heading_of_replies_is_no_name() -> None:
    exchanges = [
        work(n, f"Light of the mole {n}", summary="## Mole Highlights\n\nIt is dark.")
        for n in range(3)
    ]
    assert "Mole Highlights" not in names_of(exchanges)
    said = [work(3 + n, f"The mole highlights, {n}") for n in range(3)]
    assert names_of([*exchanges, *said])[0] == "mole highlights"


def test_what_only_replies_mention_is_no_name() -> None:
    summary = "The brass bell and the harbour lamp are out."
    exchanges = [work(n, f"Where is the mole {n}", summary=summary) for n in range(3)]
    assert names_of(exchanges) == []
    titled = [work(n, f"The harbour lamp {n}", summary=summary) for n in range(3)]
    assert names_of(titled) == ["harbour lamp"]


def test_what_few_titles_have_is_no_name_though_all_texts_mention_it() -> None:
    summary = "It is done. Vercel ran the brass bell."
    named = work(9, "The brass bell rings", summary=summary)
    others = ["Paint the mole", "Sweep the quay", "Mend the crane", "Grease the winch"]
    exchanges = [work(n, title, summary=summary) for n, title in enumerate(others)]
    assert names_of([named, *exchanges]) == []
    more = [work(10 + n, f"Ring the brass bell {n}", summary=summary) for n in range(3)]
    assert names_of([named, *exchanges, *more])[0] == "brass bell"


def test_what_titles_only_compare_with_is_no_name() -> None:
    ends = ["instead of the Vercel bell", "similar to the Vercel bell", "unlike the Vercel bell"]
    exchanges = [work(n, f"Mend crane {n} {end}", summary="Ok.") for n, end in enumerate(ends)]
    assert not any("Vercel" in name for name in names_of(exchanges))
    about = [work(n, f"Mend the Vercel bell {n} instead of crane") for n in range(3)]
    assert any("Vercel" in name for name in names_of(about))


def test_what_less_than_half_of_the_records_with_a_topic_are_about_is_no_name() -> None:
    summary = "The brass bell is done."
    named = [work(n, f"The brass bell {n}", summary=summary) for n in range(2)]
    without_topic = [work(3 + n, f"Address the feedback {n}", summary="Done.") for n in range(4)]
    assert names_of([*named, *without_topic]) == ["brass bell"]
    keywords = ["gorse", "heather", "bracken", "moss"]
    vacuous = [work(3 + n, f"What happens then? {n}", [], keywords, "Done.") for n in range(4)]
    assert names_of([*named, *vacuous]) == []
    assert names_of([*named, *vacuous[:2]]) == ["brass bell"]


def test_a_changed_file_names_less_than_titles_that_say_something_else() -> None:
    files = ["src/lampPanel.ts"]
    said = "`lampPanel` is lit."
    vacuous = [work(n, f"Address the feedback {n}", files, summary=said) for n in range(3)]
    assert names_of(vacuous) == ["lampPanel"]
    titles = ["Paint the mole", "Sweep the quay", "Mend the crane"]
    others = [work(n, title, files, summary=said) for n, title in enumerate(titles)]
    assert names_of(others) == []
    among = [*files, *(f"src/quay{letter}Winch.ts" for letter in "ABCDE")]
    among_others = [replace(x, files_modified=tuple(among)) for x in vacuous]
    assert names_of(among_others) == []


def test_a_file_that_nobody_talks_about_names_nothing() -> None:
    files, keywords = ["src/lamp_panel.ts"], ["gorse", "heather", "bracken"]
    silent = [work(n, f"What happens then? {n}", files, keywords, "Done.") for n in range(3)]
    assert names_of(silent) == []
    said = replace(silent[0], summary="The lamp panel is lit.")
    assert names_of([said, *silent[1:]]) == ["lamp_panel"]


def test_a_file_that_stands_for_its_folder_counts_as_the_folder() -> None:
    files = ["components/footerbar/index.tsx"]
    keywords = ["blue", "tone", "paint"]
    exchanges = [work(n, f"Paint the footerbar in blue {n}", files, keywords) for n in range(2)]
    assert names_of(exchanges) == ["footerbar"]
    files = ["skills/quay-wall/SKILL.md"]
    said = "The quay wall skill runs."
    exchanges = [work(n, f"What happens then? {n}", files, keywords, said) for n in range(3)]
    assert names_of(exchanges) == ["quay-wall"]


_KEYWORDS = ("gorse", "heather", "bracken")


def test_a_name_has_several_titles() -> None:
    titles = ["The Brass Bell is loud", "Where is the Brass Bell?"]
    exchanges = [work(n, title, [], _KEYWORDS) for n, title in enumerate(titles)]
    assert proven_name(exchanges) == "Brass Bell"
    assert proven_name([exchanges[0], replace(exchanges[0], id="x009")]) == ""


def test_a_concept_has_a_fair_share_of_what_uses_its_name_of_one_word() -> None:
    exchanges = [work(n, f"The Phoenix again, {n}", [], _KEYWORDS) for n in range(2)]
    elsewhere = [
        work(10 + n, f"Draw the mole {n}", summary="A Phoenix is there.") for n in range(7)
    ]
    assert proven_name(exchanges, elsewhere[:6]) == "Phoenix"
    assert proven_name(exchanges, elsewhere) == ""


def test_a_concept_that_a_person_decided_about_keeps_a_name_that_is_not_proven() -> None:
    files, said = ["src/winch.py"], "The Brass Bell rings."
    titles = ["The Brass Bell is loud", "Make it much louder"]
    exchanges = [work(10 + n, title, files, _KEYWORDS, said) for n, title in enumerate(titles)]
    items = sorted(map(item_of, (*exchanges, *OTHERS)), key=lambda item: item.order)
    founder = item_of(exchanges[0])
    assert shown_names(ConceptBuilder(items)) == []
    decided = ConceptBuilder(items, founders={founder.uri: founder.founded_id})
    assert shown_names(decided) == ["Brass Bell"]


def test_an_ordinary_word_is_no_name() -> None:
    exchanges = [work(n, f"The timeline is empty, {n}", ["src/timeline.html"]) for n in range(4)]
    assert names_of(exchanges) == []


@pytest.mark.parametrize(
    ("name", "share"), [("brass bell", 0.6), ("Brass Bell", 0.4), ("Phoenix", 0.4)]
)
def test_a_concept_has_a_fair_share_of_the_titles_with_its_name(name: str, share: float) -> None:
    about = [work(n, f"The {name} again, {n}", [], _KEYWORDS) for n in range(6)]
    most = int(len(about) / share) - len(about)
    others = [work(10 + n, f"Crane {n} of the {name}") for n in range(most + 1)]
    assert proven_name(about, others[:most]) == name
    assert proven_name(about, others) == ""


def test_a_name_is_used_by_others_than_those_who_ask() -> None:
    titles = ["Where is teh brass bell?", "Paint teh brass bell"]
    silent = [work(n, title, [], _KEYWORDS, "Done.") for n, title in enumerate(titles)]
    assert proven_name(silent) == ""
    once = replace(silent[0], summary="The teh brass bell is back.")
    assert proven_name([once, silent[1]]) == ""
    twice = replace(silent[1], summary="The teh brass bell is red.")
    assert proven_name([once, twice]) == "teh brass bell"
    third = work(2, "Ring teh brass bell", [], _KEYWORDS, "Done.")
    assert proven_name([once, silent[1], third]) == "teh brass bell"


def test_who_speaks_in_a_project_is_no_name() -> None:
    exchanges = [work(n, f"The wharf-dev has it now, {n}") for n in range(3)]
    assert names_of(exchanges) == ["wharf-dev"]
    assert names_of(exchanges, speakers=["wharf-dev"]) == []
    assert names_of([work(n, f"Ask Marlow {n}") for n in range(3)], speakers=["Marlow"]) == []


def test_words_of_many_projects_do_not_name_a_single_request_and_its_report() -> None:
    request = work(0, "Fix casts in the production frontend")
    report = work(1, "Task #4 (casts) is done: production frontend")
    assert names_of([request, report]) == []
    assert names_of([request, replace(report, title="Build the production frontend")]) != []


def test_a_single_request_is_named_by_its_title_and_not_by_a_commit_alone() -> None:
    files, facts = ["src/crane.py"], ["Committed: Drop the brass-bell harness"]
    assert names_of([work(0, "Do all of it", files, facts=facts)]) == []
    assert names_of([work(0, "Drop the brass-bell", files, facts=facts)]) == ["brass-bell"]


@pytest.mark.parametrize(
    "pasted",
    [
        "sailor@pier-mac brass-bell % ls",
        "I see this: sailor@pier-mac brass-bell % ls",
        "➜  brass-bell git:(main) ✗ ls",
        "Why? brass-bell git:(main) ✗ ls",
        "❯ brass-bell --list",
        "uv run brass-bell",
        "It says: [Harbour] brass-bell is out",
        "You are the brass-bell reviewer",
        "TypeError: brass-bell is out",
        "It stops 18:38:36: brass-bell.Update () is out",
        r"PS C:\Users\ada\repos> brass-bell --ring",
        "It is empty tide-block.js:8 🔄 brass-bell loaded",
        "stats?season=24&league=brass-bell&database=real.csv:3314 ✅ Application started",
        "It did not change: srwxr-x-wx 1 brass-bell 0 Jan 29 11:58 app.sock",
        '{ "task_id": "b4", "status": "done", "brass-bell": 1',
        'Why is it so? [ { "output": { "tool": "brass-bell"',
    ],
)
def test_what_was_pasted_into_a_title_is_no_name(pasted: str) -> None:
    exchanges = [work(n, f"{pasted} {n}", summary="Done.") for n in range(3)]
    assert not any("bell" in name for name in names_of(exchanges))


@pytest.mark.parametrize("is_titled", [True, False])
def test_what_was_only_pasted_into_requests_is_no_name(is_titled: bool) -> None:
    pasted = "Asked: It is out. Log of the brass bell.\nResult: It rings."
    title = "Where is the brass bell" if is_titled else "Where is it"
    exchanges = [replace(work(n, f"{title} {n}"), details=pasted) for n in range(3)]
    assert ("brass bell" in names_of(exchanges)) is is_titled


def test_the_name_of_the_project_in_other_letters_is_no_name() -> None:
    exchanges = [work(n, f"The harbour-lamp again, {n}", ["harbour-lamp.py"]) for n in range(3)]
    assert names_of(exchanges)
    assert names_of(exchanges, "acme_harbourlamp") == []


def test_what_people_do_with_a_thing_is_no_name() -> None:
    exchanges = [work(n, f"Harbour lamp verification {n}") for n in range(3)]
    exchanges += [work(3, "The harbour lamp is out"), work(4, "A new harbour lamp")]
    assert names_of(exchanges)[0] == "harbour lamp"
    assert not any("verification" in name for name in names_of(exchanges))


def test_an_ordinary_word_of_another_script_or_an_acronym_is_no_name() -> None:
    assert names_of([work(n, f"{n} 入力を直す") for n in range(3)]) == []
    assert names_of([work(n, f"Для всех задач {n}") for n in range(3)]) == []
    assert names_of([work(n, f"The PRD again, {n}") for n in range(3)]) == []
    files = ["src/prd.py"]
    assert names_of([work(n, f"The PRD again, {n}", files) for n in range(3)]) == ["PRD"]


def test_a_term_of_few_members_names_them_only_if_they_are_titled_with_it() -> None:
    others = [work(10 + n, f"Do step {n}") for n in range(5)]
    said = [work(n, f"Do item {n}", summary="See the brass bell.") for n in range(2)]
    assert names_of([*said, *others]) == []
    titled = [work(n, f"The brass bell, {n}") for n in range(2)]
    assert names_of([*titled, *others]) == ["brass bell"]


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
