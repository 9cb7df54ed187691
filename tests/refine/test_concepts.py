from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refine.concept_banks import (
    BANK,
    BUTTONS,
    IMPORTS,
    OTHERS,
    ids,
    item_of,
    members,
    tell,
    work,
)

from holdfast.model.records import Exchange
from holdfast.model.trust import Trust
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.concept_vectors import ConceptVectors
from holdfast.refine.concepts.descriptions import choose_names, describe
from holdfast.refine.concepts.items import concept_id, file_topic, file_weight, is_process_stem

ALL = [*IMPORTS, *BUTTONS, *OTHERS]


def named(story: ConceptBuilder) -> list[str]:
    groups = story.groups
    names = choose_names(story, groups)
    return [names[group.id] for group in groups]


def test_work_on_the_same_matter_is_one_concept_and_other_work_is_none() -> None:
    story = tell(ALL)
    assert members(story) == [ids(IMPORTS), ids(BUTTONS)]


def test_names_are_phrases_that_recur_in_the_projects_own_spelling() -> None:
    assert named(tell(ALL)) == ["Nightly import retries", "REST button daily limit"]


def test_a_concept_is_known_by_its_founder_however_it_grows() -> None:
    few = tell([*IMPORTS[:2], *BUTTONS, *OTHERS])
    many = tell(ALL)
    assert few.groups[0].id == many.groups[0].id == concept_id("holdfast://exchange/x000")


def test_generic_files_join_nothing() -> None:
    files = ["README.md", "package.json", "src/__init__.py", "uv.lock", "src/index.ts"]
    work_on = ["violet lamp shade", "diesel pump gauge", "marble stair rail", "copper roof drain"]
    story = tell([work(n, f"The {what}", files, what.split()) for n, what in enumerate(work_on)])
    assert members(story) == []
    assert all(file_weight(file) < 0.2 for file in files)
    assert file_topic("src/test_nightly.py") == file_topic("src/nightly.spec.ts") == "nightly"


def test_an_order_that_says_nothing_goes_with_what_it_follows_upon() -> None:
    order = replace(
        work(0, "Commit this", [], ["commit", "lint", "passed"]), id="x000b", first_seq=9,
        session=IMPORTS[0].session,
    )  # fmt: skip
    again = replace(order, id="x001b", session=BUTTONS[0].session, started=BUTTONS[0].started)
    story = tell([*ALL, order, again])
    assert members(story) == [
        ["x000", "x000b", "x003", "x006"], ["x001", "x001b", "x004", "x007"]
    ]  # fmt: skip
    assert is_process_stem("commit") and not is_process_stem("import")


def test_a_single_large_piece_of_work_is_a_concept_and_a_small_one_is_not() -> None:
    files = ["tide/table.py", "tide/clock.py", "tide/moon.py"]
    large = work(0, "Tide table by the moon", files, ["tide", "moon"], turns=80)
    story = tell([large, *OTHERS])
    assert members(story) == [["x000"]] and named(story) == ["Tide table"]
    assert members(tell([replace(large, last_seq=3), *OTHERS])) == []


FAR = [
    work(60 + n, f"Errand{c} for somebody{c}", [f"far{c}/away{c}.py"], [f"errand{c}", f"far{c}"])
    for n, c in enumerate("abcdfghijklmnopqrtuv")
]
BRIDGED = [
    work(0, "Tide gauge readings drift", ["gauge/reader.py"], ["tide", "gauge", "drift"]),
    work(1, "Tide gauge loses readings at night", ["gauge/reader.py"], ["tide", "gauge", "night"]),
    work(10, "Pressure sensor firmware update", ["sensor/firmware.c"], ["pressure", "sensor"]),
    work(11, "Pressure sensor reports zero", ["sensor/firmware.c"], ["pressure", "sensor", "zero"]),
]
BRIDGES = [
    work(
        20 + n, "Tide gauge reads the pressure sensor", ["gauge/reader.py", "sensor/firmware.c"],
        ["tide", "gauge", "pressure", "sensor"],
    )
    for n in range(5)
]  # fmt: skip


def test_two_concepts_that_come_to_be_one_are_merged_and_the_old_name_still_leads_there() -> None:
    assert members(tell([*BRIDGED, *FAR])) == [ids(BRIDGED[:2]), ids(BRIDGED[2:])]
    story = tell([*BRIDGED, *BRIDGES, *FAR])
    assert members(story) == [ids([*BRIDGED, *BRIDGES])]
    group = story.groups[0]
    younger = concept_id("holdfast://exchange/x010")
    assert any(told.what == "merged" and told.other == younger for told in group.events)
    assert younger in [item.founded_id for item in story.members(group)]


def test_a_concept_that_comes_to_hold_two_things_is_split() -> None:
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
        work(3 + 2 * n, "Header on the printer", ["printer.py", "paper.py"],
             ["header", "printer", "paper", "margin"])
        for n in range(8)
    ]  # fmt: skip
    far = [replace(x, started=f"2025-{x.started[5:]}") for x in FAR]
    few = tell([*both, *totals[:2], *headers[:2], *far])
    assert members(few) == [ids([*both, *interleaved(totals[:2], headers[:2])])]
    story = tell([*both, *totals, *headers, *far])
    assert sorted(members(story)) == [ids([*both, *headers]), ids(totals)] or sorted(
        members(story)
    ) == [ids([*both, *totals]), ids(headers)]
    elder, younger = story.groups
    assert elder.id == few.groups[0].id
    assert [told.other for told in elder.events if told.what == "split"] == [younger.id]
    assert [told.other for told in younger.events if told.what == "left"] == [elder.id]


def test_a_part_that_was_split_off_leaves_no_lead_to_what_it_took() -> None:
    made = [work(n, f"tide gauge {n}", ["src/gauge.py"], ["gauge"]) for n in range(3)]
    made += [work(n, f"lamp bulb {n}", ["src/lamp.py"], ["lamp"]) for n in range(3, 6)]
    grouping = tell(made).grouping
    first = next(iter(grouping.groups.values()))
    lamps = [n for n, item in enumerate(grouping.items) if "lamp" in item.title]
    for number in lamps:
        grouping._join(first, number)  # pyright: ignore[reportPrivateUsage]
    grouping.split_off(first, lamps, "another")
    posted = grouping._by_feature  # pyright: ignore[reportPrivateUsage]
    assert {f for f, ids in posted.items() if first.id in ids} <= {*first.files, *first.words}


def interleaved(one: list[Exchange], other: list[Exchange]) -> list[Exchange]:
    return [x for pair in zip(one, other, strict=True) for x in pair]


def test_a_rename_is_told_with_what_it_was_called_before() -> None:
    early = [
        work(0, "Gauge drift", ["gauge.py"], ["gauge", "drift"]),
        work(1, "Gauge drift again", ["gauge.py"], ["gauge", "drift"]),
    ]
    late = [
        work(2 + n, "Calibrate the harbour gauge", ["gauge.py"], ["gauge", "harbour", "calibrate"])
        for n in range(8)
    ]
    story = tell([*early, *late, *OTHERS])
    (group,) = story.groups
    concept = describe(BANK, story, group, named(story)[0], None)
    assert concept.name == "Harbour gauge"
    told = [(g.what, g.why) for g in concept.history]
    assert ('named "Gauge drift"', "what its records have in common") in told
    assert ('renamed "Harbour gauge"', 'was "Gauge drift"') in told
    assert concept.history[0].what == "founded" and concept.history[0].time == early[0].started


def test_a_concept_tells_its_span_files_keywords_and_what_came_last() -> None:
    mixed = [replace(IMPORTS[1], trust=Trust.EXTERNAL), *IMPORTS[::2], *OTHERS]
    story = tell(mixed)
    concept = describe(BANK, story, story.groups[0], "Nightly import retries", None)
    assert concept.summary.startswith("3 exchanges from 2026-01-01 to 2026-01-07 about ")
    assert "Latest (2026-01-07, done): The nightly import retries forever" in concept.summary
    assert concept.files[0] == "jobs/nightly_import.py" and "import" in concept.keywords
    assert concept.trust is Trust.EXTERNAL
    assert (concept.founded, concept.updated) == (IMPORTS[0].started, IMPORTS[2].started)


def test_meaning_joins_what_words_alone_would_not() -> None:
    first = work(0, "Engine room heating", ["heat/boiler.py"], ["engine", "room", "heating", "oil"])
    other = work(
        1, "Warm the machine deck", ["heat/radiator.py"],
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


def test_no_concept_swallows_a_bank_of_many_topics() -> None:
    rng = random.Random(5)
    topics = [[f"topic{t}word{w}" for w in range(6)] for t in range(12)]
    made = [
        work(n, " ".join(rng.sample(topics[n % 12], 3)), [f"src/t{n % 12}/a{rng.randrange(3)}.py"],
             [*rng.sample(topics[n % 12], 4), "shared"])
        for n in range(240)
    ]  # fmt: skip
    story = tell(made)
    assert 10 <= len(story.groups) <= 16
    assert max(map(len, members(story))) <= 24
    for group in members(story):
        assert len({int(id[1:]) % 12 for id in group}) == 1


_words = st.sampled_from("tide gauge moon lamp pump rail stair roof drain sensor".split())


def _told(title: list[str], files: list[str], told: list[str]) -> tuple[str, list[str], list[str]]:
    return " ".join(title), [f"src/{file}.py" for file in files], told


_exchanges = st.lists(
    st.builds(
        _told,
        st.lists(_words, min_size=1, max_size=3),
        st.lists(_words, max_size=3, unique=True),
        st.lists(_words, max_size=4, unique=True),
    ),
    max_size=24,
)


@settings(max_examples=60, deadline=None)
@given(_exchanges, st.randoms(use_true_random=False))
def test_concepts_do_not_depend_on_the_order_of_reading(
    given_: list[tuple[str, list[str], list[str]]], rng: random.Random
) -> None:
    made: list[Exchange] = [work(n, *one) for n, one in enumerate(given_)]
    mixed = list(made)
    rng.shuffle(mixed)
    one, other = tell(made), tell(mixed)
    assert members(one) == members(other) and named(one) == named(other)
    whole = [m for group in members(one) for m in group]
    assert len(whole) == len(set(whole)), "a record is in one concept"
    assert len(set(named(one))) == len(one.groups), "no two names are alike"
