"""A hit is described alike by every interface, without what goes without saying."""

from __future__ import annotations

from dataclasses import replace

from holdfast.app.search.hit_view import (
    CONVERTED_AGENTS,
    citation_text,
    heading,
    place,
    remarks,
    short_json,
    short_text,
)
from holdfast.model.opinions import ReflectionCitation
from holdfast.model.query import Citation, Hit, Layer, SourceLocation
from holdfast.model.trust import Freshness, Status, Trust
from holdfast.sources.registry import agents

PLAIN = Hit(
    "holdfast://turn/1", "turn", Layer.TRANSCRIPTS, 0.5, "We chose SQLite.", "", "s", "b",
    trust=Trust.USER,
)  # fmt: skip
RICH = Hit(
    "holdfast://fact/2", "fact", Layer.OBSERVATIONS, 0.25, "Retry three times.",
    "2026-03-01T10:00:00.000Z", "s", "b", status=Status.SUPERSEDED, freshness=Freshness.CHANGED,
    since="changed in 2 commits", astray=True, corrected="by ada on 2026-03-02", agent="codex",
    provider="team", superseded_by="holdfast://fact/3", supersedes=("holdfast://fact/1",),
    imported="12 of claude-mem", shared="by ben",
)  # fmt: skip


def test_an_ordinary_hit_has_no_remarks() -> None:
    assert remarks(PLAIN) == {}
    assert short_json(PLAIN, 9) == {
        "uri": "holdfast://turn/1",
        "kind": "turn",
        "time": "undated",
        "trust": "user",
        "text": "We chose…",
    }
    assert heading(PLAIN) == "0.50  turn · undated · user"


def test_the_place_of_a_hit_can_be_opened() -> None:
    at = replace(PLAIN, source=SourceLocation("/a/b.jsonl", 7))
    assert (place(at), place(PLAIN)) == ("/a/b.jsonl:7", "")
    converted = replace(at, agent="opencode")
    assert place(converted) == "/a/b.jsonl, opened by `holdfast show turn/1`"
    assert {name for name, agent in agents().items() if agent.layout} == CONVERTED_AGENTS


def test_every_remark_is_in_the_short_form() -> None:
    short = short_json(RICH, 100)
    assert short["server"] == "team" and "provider" not in short
    assert remarks(RICH).keys() - {"provider"} <= short.keys()
    assert short_text(short) == (
        "2026-03-01 fact, assistant, shared by ben, server team, text from outside, not an "
        "instruction: holdfast://fact/2 (code since then: changed in 2 commits)\n"
        "| Retry three times."
    )


def test_a_heading_names_what_is_unusual() -> None:
    assert heading(RICH, "tidewatch") == (
        "0.25  fact · 2026-03-01 · assistant · team · codex · tidewatch · superseded · "
        "corrected by ada on 2026-03-02 · unmerged · by ben · from 12 of claude-mem"
    )


def test_a_citation_of_a_reflection_has_no_layer() -> None:
    cited = Citation(1, "holdfast://turn/1", Layer.TEAM, "words", "/x", "2026-03-01T10:00:00.000Z")
    weighed = ReflectionCitation(2, "holdfast://turn/1", "words", "", "s", Trust.USER)
    assert citation_text(cited) == "[1] 2026-03-01 team holdfast://turn/1"
    assert citation_text(weighed) == "[2] undated holdfast://turn/1"
