from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.model.records import Exchange
from holdfast.model.trust import Trust
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.descriptions import choose_names, describe
from holdfast.refine.concepts.file_names import file_topic, file_weight
from holdfast.refine.concepts.grouping import ConceptVectors
from holdfast.refine.concepts.items import concept_id
from holdfast.refine.concepts.process_words import is_process_stem
from tests.support.concept_banks import (
    BANK,
    BUTTONS,
    IMPORTS,
    OTHERS,
    build_concepts,
    ids,
    item_of,
    members,
    work,
)

ALL = [*IMPORTS, *BUTTONS, *OTHERS]


def concept_names(builder: ConceptBuilder) -> list[str]:
    groups = builder.groups
    names = choose_names(builder, groups)
    return [names[group.id] for group in groups]


def test_work_on_the_same_topic_is_one_concept_and_single_items_are_none() -> None:
    builder = build_concepts(ALL)
    assert members(builder) == [ids(IMPORTS), ids(BUTTONS)]


def test_names_are_phrases_that_recur_in_the_projects_own_spelling() -> None:
    assert concept_names(build_concepts(ALL)) == [
        "nightly import retries",
        "REST button daily limit",
    ]


def test_the_id_of_a_concept_comes_from_its_founder_and_stays() -> None:
    few = build_concepts([*IMPORTS[:2], *BUTTONS, *OTHERS])
    many = build_concepts(ALL)
    assert few.groups[0].id == many.groups[0].id == concept_id("holdfast://exchange/x000")


def test_generic_files_join_nothing() -> None:
    files = ["README.md", "package.json", "src/__init__.py", "uv.lock", "src/index.ts"]
    work_on = ["violet lamp shade", "diesel pump gauge", "marble stair rail", "copper roof drain"]
    builder = build_concepts(
        [work(n, f"The {what}", files, what.split()) for n, what in enumerate(work_on)]
    )
    assert members(builder) == []
    assert all(file_weight(file) < 0.2 for file in files)
    assert file_topic("src/test_nightly.py") == file_topic("src/nightly.spec.ts") == "nightly"
    assert file_topic("docs/0012-nightly.md") == file_topic("t26_nightly.test.ts") == "nightly"


def test_an_item_without_a_topic_joins_the_item_before_it() -> None:
    order = replace(
        work(0, "Commit this", [], ["commit", "lint", "passed"]), id="x000b", first_seq=9,
        session=IMPORTS[0].session,
    )  # fmt: skip
    again = replace(order, id="x001b", session=BUTTONS[0].session, started=BUTTONS[0].started)
    builder = build_concepts([*ALL, order, again])
    assert members(builder) == [
        ["x000", "x000b", "x003", "x006"], ["x001", "x001b", "x004", "x007"]
    ]  # fmt: skip
    assert is_process_stem("commit") and not is_process_stem("import")


def test_a_single_large_piece_of_work_is_a_concept_and_a_small_one_is_not() -> None:
    files = ["tide/table.py", "tide/clock.py", "tide/moon.py"]
    large = work(0, "Tide table by the moon", files, ["tide", "moon"], turns=80)
    builder = build_concepts([large, *OTHERS])
    assert members(builder) == [["x000"]] and concept_names(builder) == ["tide table"]
    assert members(build_concepts([replace(large, last_seq=3), *OTHERS])) == []


FAR = [
    work(60 + n, f"Errand{c} for somebody{c}", [f"far{c}/away{c}.py"], [f"errand{c}", f"far{c}"])
    for n, c in enumerate("abcdfghijklmnopqrtuv")
]
BRIDGED = [
    work(0, "Tide gauge readings drift", ["gauge/reader.py"], ["tide", "gauge", "drift"]),
    work(1, "Tide gauge loses readings at night", ["gauge/reader.py"], ["tide", "gauge", "night"]),
    work(10, "Update the pressure sensor", ["sensor/firmware.c"], ["pressure", "sensor"]),
    work(
        11,
        "The pressure sensor reports zero",
        ["sensor/firmware.c"],
        ["pressure", "sensor", "zero"],
    ),
]
BRIDGES = [
    work(
        20 + n, "Tide gauge reads the pressure sensor", ["gauge/reader.py", "sensor/firmware.c"],
        ["tide", "gauge", "pressure", "sensor"],
    )
    for n in range(5)
]  # fmt: skip


def test_similar_concepts_are_merged_and_the_old_id_still_resolves() -> None:
    assert members(build_concepts([*BRIDGED, *FAR])) == [ids(BRIDGED[:2]), ids(BRIDGED[2:])]
    builder = build_concepts([*BRIDGED, *BRIDGES, *FAR])
    assert members(builder) == [ids([*BRIDGED, *BRIDGES])]
    group = builder.groups[0]
    younger = concept_id("holdfast://exchange/x010")
    assert any(event.what == "merged" and event.other == younger for event in group.events)
    assert younger in [item.founded_id for item in builder.members(group)]


def test_a_concept_with_two_topics_is_split() -> None:
    both = [
        work(n, "Harbour report with totals and printed header", ["totals.py", "printer.py"],
             ["report", "totals", "header", "printer"])
        for n in range(2)
    ]  # fmt: skip
    totals = [
        work(2 + 2 * n, "Totals of the harbour report", ["totals.py", "sums.py"],
             ["report", "totals", "sums", "columns"])
        for n in range(8)
    ]  # fmt: skip
    headers = [
        work(3 + 2 * n, f"Paper feed on the printer, {n}", ["printer.py", "paper.py"],
             ["header", "printer", "paper", "margin"])
        for n in range(8)
    ]  # fmt: skip
    far = [replace(x, started=f"2025-{x.started[5:]}") for x in FAR]
    few = build_concepts([*both, *totals[:2], *headers[:2], *far])
    assert members(few) == [ids([*both, *interleaved(totals[:2], headers[:2])])]
    builder = build_concepts([*both, *totals, *headers, *far])
    assert sorted(members(builder)) == [ids([*both, *headers]), ids(totals)] or sorted(
        members(builder)
    ) == [ids([*both, *totals]), ids(headers)]
    elder, younger = builder.groups
    assert elder.id == few.groups[0].id
    assert [event.other for event in elder.events if event.what == "split"] == [younger.id]
    assert [event.other for event in younger.events if event.what == "left"] == [elder.id]


def test_features_of_a_part_that_was_split_off_no_longer_lead_to_the_rest() -> None:
    exchanges = [work(n, f"tide gauge {n}", ["src/gauge.py"], ["gauge"]) for n in range(3)]
    exchanges += [work(n, f"lamp bulb {n}", ["src/lamp.py"], ["lamp"]) for n in range(3, 6)]
    grouping = build_concepts(exchanges).grouping
    first = next(iter(grouping.groups.values()))
    lamps = [n for n, item in enumerate(grouping.items) if "lamp" in item.title]
    for number in lamps:
        grouping._join(first, number)  # pyright: ignore[reportPrivateUsage]
    grouping.split_off(first, lamps, "another")
    posted = grouping._by_feature  # pyright: ignore[reportPrivateUsage]
    assert {f for f, ids in posted.items() if first.id in ids} <= {*first.files, *first.words}


def interleaved(one: list[Exchange], other: list[Exchange]) -> list[Exchange]:
    return [x for pair in zip(one, other, strict=True) for x in pair]


def test_the_history_of_a_concept_has_its_earlier_names() -> None:
    early = [
        work(0, "gauge drift", ["gauge.py"], ["gauge", "drift"]),
        work(1, "Gauge drift again", ["gauge.py"], ["gauge", "drift"]),
    ]
    late = [
        work(2 + n, f"Calibrate the harbour gauge, {n}", ["gauge.py"],
             ["gauge", "harbour", "calibrate"])
        for n in range(8)
    ]  # fmt: skip
    builder = build_concepts([*early, *late, *OTHERS])
    (group,) = builder.groups
    concept = describe(BANK, builder, group, concept_names(builder)[0], None)
    assert concept.name == "harbour gauge"
    events = [(g.what, g.why) for g in concept.history]
    assert ('named "gauge drift"', "what its records have in common") in events
    assert ('renamed "harbour gauge"', 'was "gauge drift"') in events
    assert concept.history[0].what == "founded" and concept.history[0].time == early[0].started


def test_the_history_of_a_concept_ends_with_its_name_if_it_was_never_named_before() -> None:
    keywords, summary = ["gauge", "drift", "tide", "pump"], "The harbour gauge is fine."
    first = [work(n, "Calibrate it", [], keywords, summary) for n in range(2)]
    titles = ["Calibrate the harbour gauge", "Is the harbour gauge fine?"]
    named = [work(6 + n, title, [], keywords, summary) for n, title in enumerate(titles)]
    builder = build_concepts([*first, *named, *OTHERS])
    (group,) = builder.groups
    assert not group.events
    concept = describe(BANK, builder, group, concept_names(builder)[0], None)
    assert concept.history[-1].what == 'named "harbour gauge"'


def test_a_concept_has_its_span_files_keywords_and_latest_item() -> None:
    mixed = [replace(IMPORTS[1], trust=Trust.EXTERNAL), *IMPORTS[::2], *OTHERS]
    builder = build_concepts(mixed)
    concept = describe(BANK, builder, builder.groups[0], "nightly import retries", None)
    assert concept.summary.startswith("3 exchanges from 2026-01-01 to 2026-01-07 about ")
    assert "Latest (2026-01-07, done): The nightly import retries forever" in concept.summary
    assert concept.files[0] == "jobs/nightly_import.py" and "import" in concept.keywords
    assert concept.trust is Trust.EXTERNAL
    assert (concept.founded, concept.updated) == (IMPORTS[0].started, IMPORTS[2].started)


def test_vectors_join_items_that_words_alone_would_not() -> None:
    first = work(0, "Heat of the oil valve", ["heat/boiler.py"], ["room", "heating", "oil"])
    other = work(
        1, "Warm the oil valve", ["heat/radiator.py"],
        ["machine", "deck", "warm", "oil", "engine", "pump", "valve", "brass", "pipe"],
    )  # fmt: skip
    items = [item_of(first), item_of(other), *(item_of(x) for x in OTHERS)]
    items.sort(key=lambda item: item.order)
    same = np.ones(4, dtype=np.float32)
    places = [n for n, item in enumerate(items) if item.uri[-4:] in ("x000", "x001")]
    assert members(ConceptBuilder(items)) == []
    assert members(ConceptBuilder(items, ConceptVectors(dict.fromkeys(places, same)))) == [
        ["x000", "x001"]
    ]


@pytest.mark.slow
def test_no_concept_grows_over_many_topics() -> None:
    rng = random.Random(5)
    topics = [[f"topic{t}word{w}" for w in range(6)] for t in range(12)]
    folders = [f"quay{letter}" for letter in "abcdefghijkl"]
    exchanges = [
        work(n, " ".join((folders[n % 12], *rng.sample(topics[n % 12], 3))),
             [f"src/{folders[n % 12]}/a{rng.randrange(3)}.py"],
             [*rng.sample(topics[n % 12], 4), "shared"])
        for n in range(240)
    ]  # fmt: skip
    builder = build_concepts(exchanges)
    assert 10 <= len(builder.groups) <= 16
    assert max(map(len, members(builder))) <= 24
    for group in members(builder):
        assert len({int(id[1:]) % 12 for id in group}) == 1


_words = st.sampled_from("tide gauge moon lamp pump rail stair roof drain sensor".split())


def _exchange_parts(
    title: list[str], files: list[str], keywords: list[str]
) -> tuple[str, list[str], list[str]]:
    return " ".join(title), [f"src/{file}.py" for file in files], keywords


_exchanges = st.lists(
    st.builds(
        _exchange_parts,
        st.lists(_words, min_size=1, max_size=3),
        st.lists(_words, max_size=3, unique=True),
        st.lists(_words, max_size=4, unique=True),
    ),
    max_size=24,
)


@pytest.mark.slow
@settings(max_examples=60)
@given(_exchanges, st.randoms(use_true_random=False))
def test_concepts_do_not_depend_on_the_order_of_reading(
    given_: list[tuple[str, list[str], list[str]]], rng: random.Random
) -> None:
    exchanges: list[Exchange] = [work(n, *one) for n, one in enumerate(given_)]
    mixed = list(exchanges)
    rng.shuffle(mixed)
    one, other = build_concepts(exchanges), build_concepts(mixed)
    assert members(one) == members(other) and concept_names(one) == concept_names(other)
    whole = [m for group in members(one) for m in group]
    assert len(whole) == len(set(whole)), "a record is in one concept"
    assert len(set(concept_names(one))) == len(one.groups), "no two names are alike"


def test_a_part_of_a_mixed_concept_that_a_name_is_about_becomes_a_concept() -> None:
    files = ["src/port.py", "src/quay.py"]
    keywords = ["port", "quay", "crane"]
    bells = [work(10 + 2 * n, f"The brass bell is {word}", files, keywords)
             for n, word in enumerate(("loud", "lost", "back"))]  # fmt: skip
    titles = ["Paint a wall", "Sweep a floor", "Mend a roof", "Grease a door"]
    others = [work(11 + 2 * n, title, files, keywords) for n, title in enumerate(titles)]
    builder = build_concepts([*bells, *others, *OTHERS])
    assert members(builder) == [ids(bells)] and concept_names(builder) == ["brass bell"]
    (group,) = builder.groups
    assert group.id == concept_id("holdfast://exchange/x010")
    rest = next(g for g in builder.grouping.groups.values() if len(g.members) == len(others))
    assert [event.other for event in group.events if event.what == "split"] == [rest.id]
    assert [event.other for event in rest.events if event.what == "left"] == [group.id]


def test_a_concept_that_a_person_decided_about_is_neither_parted_nor_taken_in() -> None:
    files, keywords = ["src/port.py", "src/quay.py"], ["port", "quay", "crane"]
    titles = ["The brass bell is loud", "Paint a wall", "A brass bell is lost", "Sweep a floor",
              "Mend a roof", "Grease a door", "Wash a window"]  # fmt: skip
    mixed = [work(10 + n, title, files, keywords) for n, title in enumerate(titles)]
    items = sorted((item_of(x) for x in (*mixed, *OTHERS)), key=lambda item: item.order)
    assert members(ConceptBuilder(items)) == [["x010", "x012"]]
    founder = item_of(mixed[0])
    founders = {founder.uri: founder.founded_id}
    assert members(ConceptBuilder(items, founders=founders)) == [ids(mixed)]


def bell_work(first: int, title: str, topic: str) -> list[Exchange]:
    """Three exchanges about something, with their own files and keywords."""
    files = [f"{topic}/{part}{topic}.py" for part in "abc"]
    keywords = [f"{part}{topic}" for part in ("big", "old", "red", "wet", "far", "low")]
    return [work(first + n, f"{title} {n}", files, keywords) for n in range(3)]


def test_concepts_with_the_same_name_are_one() -> None:
    one = bell_work(6, "The brass bell", "crane")
    same = bell_work(10, "Brass bells", "winch")
    builder = build_concepts([*one, *same, *OTHERS])
    assert members(builder) == [ids([*one, *same])]
    assert any(event.what == "merged" for event in builder.groups[0].events)


def test_concepts_whose_names_differ_by_a_word_are_one_if_they_share_two() -> None:
    one = bell_work(6, "The brass bell", "crane")
    longer = bell_work(10, "The brass bell tower", "winch")
    assert members(build_concepts([*one, *longer, *OTHERS])) == [ids([*one, *longer])]
    other = bell_work(10, "The brass lamp", "winch")
    assert members(build_concepts([*one, *other, *OTHERS])) == [ids(one), ids(other)]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_word_and_a_longer_name_that_says_what_both_are_about_are_one(is_first: bool) -> None:
    longer = bell_work(10, "The Jetty lamp", "winch")
    first = 6 if is_first else 20
    same = bell_work(first, "A lamp for the Jetty", "crane")
    (joined,) = members(build_concepts([*longer, *same, *OTHERS]))
    assert sorted(joined) == sorted(ids([*longer, *same]))
    other = bell_work(first, "Paint the Jetty", "crane")
    assert len(members(build_concepts([*longer, *other, *OTHERS]))) == 2


def test_a_name_of_much_of_a_bank_does_not_join_large_concepts() -> None:
    one = [x for n in range(3) for x in bell_work(6 + 3 * n, f"The Brass Bell {n}", "crane")]
    same = [x for n in range(3) for x in bell_work(30 + 3 * n, f"A Brass Bell {n}", "winch")]
    found = members(build_concepts([*one, *same, *OTHERS]))
    assert ids(one) in found and ids([*one, *same]) not in found


def test_a_task_and_the_report_of_it_are_no_concept() -> None:
    files = ["jobs/quay_wall.py"]
    task = work(0, "Mend the quay_wall where it leaks", files, ["quay", "wall"])
    report = work(1, "Task #5 (quay_wall) is done", files, ["quay", "wall"])
    assert members(build_concepts([task, report, *OTHERS])) == []
    later = work(3, "Paint the quay_wall", files, ["quay", "wall"])
    assert members(build_concepts([task, report, later, *OTHERS])) == [["x000", "x001", "x003"]]
    asked = replace(report, title="Task #5 must be done on the quay_wall")
    assert members(build_concepts([task, asked, *OTHERS])) == [["x000", "x001"]]
