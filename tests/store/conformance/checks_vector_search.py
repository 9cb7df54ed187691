"""Counts of vectors, and vector search of stores that have their own."""

from __future__ import annotations

import struct
from math import cos, radians, sin

from holdfast.model.query import Passage
from holdfast.store.index.vectors import VectorSpan
from tests.store.conformance.samples import (
    BANK,
    OTHER,
    SESSION,
    MakeStore,
    a_passage,
    expect,
    prepared,
)

MODEL = "model-one"


def _said(kind: str, n: int) -> Passage:
    return a_passage(f"{kind}{n}", "words", BANK, kind)._replace(hash=f"h{n}")


def check_a_store_with_vector_search_returns_the_nearest(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        said = [_said("turn", n) for n in range(40)]
        with store.transaction():
            store.derived.put(BANK, SESSION, [*said, _said("commit", 3), _said("commit", 9)])
            store.vectors.put(BANK, MODEL, [(f"h{n}", 0, _towards(n)) for n in range(40)])
            store.vectors.put(OTHER, MODEL, [("h7", 0, _towards(7))])
        own = store.vectors.index(MODEL)
        expect(store.vectors.unindexed(BANK, MODEL), 0 if own else None, "unplaced vectors")
        if not own:
            expect(store.vectors.nearest(BANK, MODEL, _towards(7), 3), None, "the nearest")
            return
        expect(len(store.vectors.nearest(OTHER, MODEL, _towards(7), 3) or []), 1, "in another bank")
        near = store.vectors.nearest(BANK, MODEL, _towards(7), 3) or []
        assert {"h6", "h7", "h8"} <= {one.hash for one in near}, "the nearest are not among those"
        assert {"h0", "h39"} & {one.hash for one in near}, "no far one is among those"
        assert all(one.data == _towards(int(one.hash[1:])) for one in near), "not as they were put"
        commits = store.vectors.nearest(BANK, MODEL, _towards(7), 2, ["commit"]) or []
        assert {"h3", "h9"} <= {one.hash for one in commits}, "the nearest of a kind"
        with store.transaction():
            store.vectors.drop(BANK, MODEL, ["h7"])
            store.vectors.put(BANK, MODEL, [("half", 0, b"\x00\x00\x00")])
        left = {one.hash for one in store.vectors.nearest(BANK, MODEL, _towards(7), 3) or []}
        assert "h7" not in left and {"h6", "h8"} <= left, "the nearest after one was dropped"
        expect(store.vectors.unindexed(BANK, MODEL), 1, "what is not whole")


def check_vectors_are_counted_as_they_are_added_and_removed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.derived.put(BANK, SESSION, [_said("turn", 1)])
        for data in (b"\0", b"\1"):
            with store.transaction():
                store.vectors.put(BANK, MODEL, [("h1", 0, data), ("h1", 1, data), ("h2", 0, data)])
                store.vectors.put(OTHER, MODEL, [("h1", 0, data)])
            expect(store.vectors.span(BANK, MODEL).total, 3, "what was there is not counted again")
        with store.transaction():
            store.vectors.prune(MODEL)
        expect(store.vectors.span(BANK, MODEL).total, 2, "what is of no passage is gone")
        expect(store.vectors.span(OTHER, MODEL), VectorSpan(0, 0, 0), "another bank")
        told = [fault for fault in store.check_integrity().derived if "vectors" in fault]
        expect(told, [], "faults")


def _towards(degrees: int) -> bytes:
    """A vector in a plane, at an angle."""
    return struct.pack("<4f", cos(radians(degrees)), sin(radians(degrees)), 0.0, 0.0)
