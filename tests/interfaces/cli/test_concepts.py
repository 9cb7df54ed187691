"""Concepts, keywords and paths through the front door."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.learn.test_concept_curation import sessions


@pytest.fixture
def home(tmp_path: Path) -> Path:
    sessions(tmp_path)
    done = holdfast(tmp_path, "ingest", "--embed", "none")
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_an_unknown_concept_is_reported_with_similar_names(home: Path) -> None:
    done = holdfast(home, "concept", "gauge", "glass", "--bank", "all")
    assert done.returncode == 2 and "'tide gauge readings'" in done.stderr
    done = holdfast(home, "concept", "zzz", "--bank", "all")
    assert done.returncode == 2 and "`holdfast concepts` lists them" in done.stderr


def test_a_rename_is_visible_at_once(home: Path) -> None:
    uri = read_json(home, "concept", "gauge", "--bank", "all")["uri"]
    assert holdfast(home, "correct", uri, "Gauges in the fog", "--yes").returncode == 0
    one = read_json(home, "concept", uri, "--bank", "all")
    assert one["name"] == "Gauges in the fog" and one["decided"][0]["action"] == "correct"
    assert holdfast(home, "merge", uri, uri, "--yes").returncode == 2
    shown = read_json(home, "show", uri)
    assert shown["kind"] == "concept" and shown["superseded"] == "tide gauge readings"
    assert len(shown["below"]) == 3
    assert "Gauges in the fog" in holdfast(home, "show", uri).stdout


def test_keywords_list_their_concepts_and_exchanges(home: Path) -> None:
    listed = read_json(home, "keywords", "--bank", "all")
    gauge = next(k for k in listed["keywords"] if k["word"] == "gauge")
    assert gauge == {"word": "gauge", "stem": "gaug", "counts": {"concept": 1, "exchange": 3}}
    found = read_json(home, "keyword", "gauges", "--bank", "all")
    assert [lead["kind"] for lead in found["leads"]] == ["concept", *["exchange"] * 3]
    assert read_json(home, "keyword", "zzz", "--bank", "all")["leads"] == []
    printed = holdfast(home, "keyword", "gauge", "--bank", "all").stdout
    assert "concept (1)" in printed and "exchange (3)" in printed


def test_one_command_shows_the_path_from_concept_to_raw_line(home: Path) -> None:
    uri = read_json(home, "concept", "gauge", "--bank", "all")["members"][0]["uri"]
    path = read_json(home, "path", uri)
    assert [rung["level"] for rung in path["up"]] == ["L3"]
    assert [rung["level"] for rung in path["down"]] == ["L1", "raw"] * 3
    printed = holdfast(home, "path", uri).stdout
    assert "L3 " in printed and ".jsonl:1" in printed
