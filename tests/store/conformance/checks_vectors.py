"""Vectors and their passages, and what else recall needs: time ranges, places in a session,
generations, and a second open store."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import replace

from holdfast.errors import HoldfastError
from holdfast.model.query import Passage
from holdfast.model.records import Origin
from holdfast.model.trust import Status, Trust
from holdfast.store.index.vectors import VectorSpan
from holdfast.store.protocol import ReadStore, Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_commit,
    a_digest,
    a_passage,
    a_turn,
    an_exchange,
    expect,
    prepared,
)

MODEL = "model-one"
OLDER = "model-nil"
_ENOUGH = 10_000


def _said(id: str, hash: str, bank: str = BANK, kind: str = "turn") -> Passage:
    return a_passage(id, f"words of {id}", bank, kind)._replace(hash=hash)


def _derive(store: Store, *passages: Passage, bank: str = BANK) -> None:
    with store.transaction():
        store.derived.put(bank, SESSION, passages)


def _embed(store: Store, *hashes: str, bank: str = BANK, model: str = MODEL) -> None:
    with store.transaction():
        store.vectors.put(bank, model, [(hash, 0, hash.encode()) for hash in hashes])


def _numbers(store: Store, bank: str = BANK, model: str = MODEL) -> list[int]:
    return [vector.number for vector in store.vectors.after(bank, model, 0, _ENOUGH)]


def _waiting(store: Store, bank: str | None = BANK, model: str = MODEL) -> set[str]:
    return {passage.id for passage in store.vectors.unembedded(model, bank=bank)}


def _ids(passages: Iterable[Passage]) -> list[str]:
    return [passage.id for passage in passages]


def check_a_passage_is_returned_as_it_was_stored(make_store: MakeStore) -> None:
    passage = Passage(
        BANK, "turn", "p1", SESSION, NOON, "anchor 🦜 \x00", "before it", Trust.USER,
        Status.VERIFIED, "user", 7, "hash-1",
    )  # fmt: skip
    with prepared(make_store) as store:
        _derive(store, passage)
        _embed(store, "hash-1")
        expect([m.passage for m in store.passages.search(BANK, ["anchor"])], [passage], "search")
        expect(store.passages.recent(BANK, "turn"), [passage], "recent")
        expect(store.passages.of_turns(BANK, [(SESSION, 7)]), [passage], "turn_passages")
        expect(store.vectors.unembedded(OLDER), [passage], "unembedded")
        numbers = _numbers(store)
        expect(store.vectors.passages(BANK, MODEL, numbers), [(numbers[0], passage)], "passages_of")


def check_vectors_are_returned_as_they_were_stored(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        expect(store.vectors.span(BANK, MODEL), VectorSpan(0, 0, 0), "the span of nothing")
        expect(store.vectors.after(BANK, MODEL, 0, 10), [], "vectors_after")
        data = bytes(range(256))
        with store.transaction():
            store.vectors.put(BANK, MODEL, [("a", 0, data), ("a", 1, b""), ("b", 0, b"\0\1")])
        found = store.vectors.after(BANK, MODEL, 0, 10)
        kept = [(vector.hash, vector.part, vector.data) for vector in found]
        expect(kept, [("a", 0, data), ("a", 1, b""), ("b", 0, b"\0\1")], "vectors_after")
        numbers = [vector.number for vector in found]
        assert numbers == sorted(set(numbers)) and numbers[0] > 0, f"numbers are {numbers}"
        span = VectorSpan(3, numbers[0], numbers[-1])
        expect(store.vectors.span(BANK, MODEL), span, "vector_span")
        expect(store.vectors.after(BANK, MODEL, numbers[0], 1), found[1:2], "vectors_after")
        expect(store.vectors.after(BANK, MODEL, numbers[-1], 9), [], "vectors_after the last")
        expect(sorted(store.vectors.of_hashes(BANK, MODEL, ["a", "x"])), found[:2], "vectors_of")
        expect(store.vectors.of_hashes(BANK, MODEL, []), [], "vectors_of nothing")


def check_a_stored_vector_is_not_replaced(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.vectors.put(BANK, MODEL, [("a", 0, b"first")])
        before = store.vectors.after(BANK, MODEL, 0, 10)
        with store.transaction():
            store.vectors.put(BANK, MODEL, [("a", 0, b"second")])
        expect(store.vectors.after(BANK, MODEL, 0, 10), before, "vectors_after")


def check_many_vectors_can_be_read_at_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        hashes = [f"h{n}" for n in range(1_201)]
        _derive(store, *(_said(f"p{hash}", hash) for hash in hashes))
        _embed(store, *hashes)
        found = store.vectors.of_hashes(BANK, MODEL, hashes)
        expect(sorted(v.hash for v in found), sorted(hashes), "vectors_of")
        pairs = store.vectors.passages(BANK, MODEL, _numbers(store))
        expect(sorted(p.hash for _, p in pairs), sorted(hashes), "passages_of")


def check_hashes_of_passages_are_told_from_others(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        hashes = [f"h{n}" for n in range(1_201)]
        _derive(store, *(_said(f"p{hash}", hash) for hash in hashes[1:]), _said("again", "h1"))
        expect(store.passages.known_hashes(BANK, hashes), set(hashes[1:]), "known_hashes")
        expect(
            store.passages.known_hashes("another", hashes),
            set[str](),
            "known_hashes of another bank",
        )
        expect(store.passages.known_hashes(BANK, []), set[str](), "known_hashes of nothing")


def check_numbers_of_vectors_only_ever_grow(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _embed(store, "a", "b")
        highest = _numbers(store)[-1]
        with store.transaction():
            expect(store.vectors.prune(MODEL), 2, "prune_vectors of what nobody says")
        _embed(store, "b", "c")
        with closing(make_store()) as again:
            numbers = _numbers(again)
        assert len(numbers) == 2 and min(numbers) > highest, f"{numbers} follow {highest}"


def check_dropped_vectors_can_be_added_again(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, _said("p1", "a"), _said("p2", "b"))
        with store.transaction():
            store.vectors.put(BANK, MODEL, [("a", 0, b"1234"), ("a", 1, b"12"), ("b", 0, b"1234")])
        expect(store.vectors.sizes(MODEL), [(2, 1), (4, 2)], "vector_sizes")
        expect(store.vectors.has_mixed_sizes(MODEL), True, "has_mixed_sizes")
        with store.transaction():
            store.vectors.drop(BANK, MODEL, ["a", "unknown"])
        expect(store.vectors.sizes(MODEL), [(4, 1)], "vector_sizes")
        expect(store.vectors.has_mixed_sizes(MODEL), False, "has_mixed_sizes")
        expect(store.vectors.has_mixed_sizes("none"), False, "has_mixed_sizes of no vectors")
        expect(_waiting(store), {"p1"}, "unembedded")


def check_vectors_of_two_models_are_separate(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, _said("p1", "a"), _said("p2", "b"))
        _embed(store, "a", "b", model=OLDER)
        _embed(store, "a")
        expect(store.vectors.models(), [(OLDER, 2), (MODEL, 1)], "vector_models")
        expect(
            [v.hash for v in store.vectors.of_hashes(BANK, MODEL, ["a", "b"])], ["a"], "vectors_of"
        )
        expect(store.vectors.span(BANK, OLDER).total, 2, "vector_span")
        expect(store.vectors.passages(BANK, MODEL, _numbers(store, model=OLDER)), [], "passages_of")
        expect(_waiting(store), {"p2"}, "unembedded")
        expect(store.vectors.unembedded(OLDER), [], "unembedded")


def check_a_vector_serves_every_passage_with_the_same_text(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, _said("p1", "a"), _said("p2", "a"), _said("p3", "b"))
        _embed(store, "a", "b")
        first, second = _numbers(store)
        found = store.vectors.passages(BANK, MODEL, [first, second, second + 1])
        told = sorted((number, passage.id) for number, passage in found)
        expect(told, [(first, "p1"), (first, "p2"), (second, "p3")], "passages_of")
        expect(store.vectors.passages(BANK, MODEL, []), [], "passages_of nothing")
        expect(store.vectors.numbers(BANK, MODEL, ["turn"]), [first, second], "vector_numbers")
        for bank, model, kinds in (
            (BANK, MODEL, ["digest"]),
            (BANK, MODEL, []),
            (BANK, OLDER, ["turn"]),
            (OTHER, MODEL, ["turn"]),
        ):
            expect(store.vectors.numbers(bank, model, kinds), [], "vector_numbers of others")


def check_passages_without_a_vector_are_listed(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        commit, passage = a_commit("c", "anchor")
        _derive(store, _said("t", "a"), _said("d", "b", kind="digest"), _said("not", ""))
        _derive(store, _said("o", "a", OTHER), bank=OTHER)
        with store.transaction():
            store.git.put_commits([(commit, passage._replace(hash="c"))])
        expect(_waiting(store, None), {"t", "d", "o", "c"}, "unembedded")
        expect(_waiting(store, OTHER), {"o"}, "unembedded of a bank")
        expect(_ids(store.vectors.unembedded(MODEL, ["digest"])), ["d"], "unembedded of a kind")
        expect(
            set(_ids(store.vectors.unembedded(MODEL, ["digest", "commit"]))),
            {"c", "d"},
            "unembedded",
        )
        expect(len(store.vectors.unembedded(MODEL, limit=2)), 2, "unembedded(limit=2)")
        counted = [
            store.vectors.count_unembedded(MODEL),
            store.vectors.count_unembedded(MODEL, ["turn"]),
        ]
        expect(counted, [4, 2], "count_unembedded")
        kinds = {"turn": 2, "digest": 1, "commit": 1}
        expect(store.vectors.unembedded_kinds(MODEL), kinds, "unembedded_kinds")
        _embed(store, "a", "b")
        expect(_waiting(store, None), {"o", "c"}, "unembedded")
        expect(store.vectors.count_unembedded(MODEL), 2, "count_unembedded")


def check_the_same_text_needs_no_second_embedding(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, _said("p1", "a"), _said("p2", "b"))
        _embed(store, "a", "b")
        with store.transaction():
            store.derived.drop_all()
        expect(store.vectors.passages(BANK, MODEL, _numbers(store)), [], "passages_of what is gone")
        _derive(store, _said("p1", "a"), _said("p2", "other words"))
        expect(_waiting(store), {"p2"}, "unembedded")
        found = [passage.id for _, passage in store.vectors.passages(BANK, MODEL, _numbers(store))]
        expect(found, ["p1"], "passages_of")


def check_pruning_keeps_vectors_in_use(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, _said("p1", "a"))
        _derive(store, _said("o1", "b", OTHER), bank=OTHER)
        _embed(store, "a", "b")
        _embed(store, "b", bank=OTHER)
        _embed(store, "a", model=OLDER)
        with store.transaction():
            expect(store.vectors.prune(MODEL), 2, "prune_vectors")
        expect(store.vectors.models(), [(MODEL, 2)], "vector_models")
        kept = [v.hash for bank in (BANK, OTHER) for v in store.vectors.after(bank, MODEL, 0, 9)]
        expect(kept, ["a", "b"], "vectors_after")
        with store.transaction():
            expect(store.vectors.prune(MODEL), 0, "prune_vectors again")


def check_vectors_are_separate_per_bank(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        for bank in (BANK, OTHER):
            _derive(store, _said(f"p-{bank}", "same", bank), bank=bank)
        _embed(store, "same", bank=OTHER)
        expect(store.vectors.span(BANK, MODEL), VectorSpan(0, 0, 0), "vector_span")
        expect(store.vectors.after(BANK, MODEL, 0, 9), [], "vectors_after")
        expect(store.vectors.of_hashes(BANK, MODEL, ["same"]), [], "vectors_of")
        expect(_waiting(store), {f"p-{BANK}"}, "unembedded")
        theirs = _numbers(store, OTHER)
        expect(store.vectors.passages(BANK, MODEL, theirs), [], "passages_of")
        found = store.vectors.passages(OTHER, MODEL, theirs)
        expect([passage.bank for _, passage in found], [OTHER], "passages_of")


def check_vectors_of_a_transaction_are_stored_completely_or_not_at_all(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        try:
            with store.transaction():
                store.vectors.put(BANK, MODEL, [("a", 0, b"x")])
                raise KeyError
        except KeyError:
            expect(store.vectors.models(), [], "vector_models")


def check_turns_are_found_by_their_positions(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        turns = [_said(f"t{n}", "")._replace(seq=n) for n in (3, 1, 2)]
        _derive(store, *turns, _said("x", "", kind="exchange")._replace(seq=2))
        _derive(store, _said("o", "", OTHER)._replace(seq=2), bank=OTHER)
        places = [(SESSION, 3), (SESSION, 2), ("s2", 1), (SESSION, 9), (SESSION, 2)]
        found = _ids(store.passages.of_turns(BANK, places))
        expect(found, ["t2", "t3"], "turn_passages")
        expect(store.passages.of_turns(BANK, []), [], "turn_passages of no place")
        others = store.passages.of_turns(BANK, [("s2", 1), ("s2", 2)])
        expect(others, [], "turn_passages of another session")
        held = [_said(f"h{n}", "")._replace(body=body) for n, body in enumerate(("a --B_% c", "b"))]
        _derive(store, *turns, *held)
        for bank, text, ids in (
            (BANK, "--B_%", ["h0"]),
            (None, "--B_%", ["h0"]),
            (OTHER, "--B", []),
        ):
            expect(_ids(store.passages.containing(bank, text, 9)), ids, f"passages with {text!r}")
        expect(store.passages.containing(BANK, "--b_%", 9), [], "passages in another case")
        found = _ids(store.passages.of_records(BANK, "turn", ["t3", "t1", "x", "t3"]))
        expect(found, ["t1", "t3"], "passages of records of a kind")
        expect(store.passages.of_records(BANK, "turn", []), [], "passages of no record")
        expect(store.passages.of_records(OTHER, "turn", ["t1"]), [], "passages of another bank")


def check_the_turn_before_a_line_is_found(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        # Two turns of line 4, one of a line that was not met again, one of another file.
        lines = ((1, 1, 2), (2, 1, 4), (3, 1, 4), (4, 1, 0), (5, 2, 3))
        turns = [
            replace(a_turn(seq), origin=Origin(source, line, 0, f"r{seq}"))
            for seq, source, line in lines
        ]
        with store.transaction():
            store.turns.put(turns)
        found = [store.turns.before_line(BANK, 1, line) for line in (1, 2, 3, 4, 99)]
        places = [turn.seq if turn else None for turn in found]
        expect(places, [None, 1, 1, 3, 3], "turn_before")
        expect(store.turns.before_line(BANK, 2, 9), turns[4], "turn_before in another file")
        expect(store.turns.before_line(BANK, 3, 9), None, "turn_before in an unknown file")
        expect(store.turns.before_line("nowhere", 1, 9), None, "turn_before in another bank")


def check_a_time_range_is_half_open(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        times = {f"p{hour}": f"2026-03-01T{hour:02}:00:00.000Z" for hour in (9, 10, 11)}
        timeless = a_passage("never", "anchor", time="")
        _derive(store, timeless, *(a_passage(id, "anchor", time=t) for id, t in times.items()))
        for since, until, wanted in (
            ("", "", {"p9", "p10", "p11", "never"}),
            (times["p10"], "", {"p10", "p11"}),
            ("", times["p10"], {"p9"}),
            (times["p9"], times["p11"], {"p9", "p10"}),
            (times["p10"], times["p10"], set[str]()),
            (times["p11"], times["p9"], set[str]()),
        ):
            found = store.passages.search(BANK, ["anchor"], since=since, until=until)
            expect({m.passage.id for m in found}, wanted, f"search({since!r}, {until!r})")
            recent = store.passages.recent(BANK, "turn", 9, since, until)
            expect(set(_ids(recent)), wanted, f"recent({since!r}, {until!r})")
        latest = store.passages.recent(BANK, "turn", 1, times["p9"], times["p11"])
        expect(_ids(latest), ["p10"], "recent(limit=1)")


def check_a_limit_counts_within_the_time_range(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        early = a_passage("early", "anchor " + "and many other words " * 9, time="2026-01-01")
        _derive(store, early, *(a_passage(f"p{n}", "anchor anchor") for n in range(9)))
        found = store.passages.search(BANK, ["anchor"], limit=1, until="2026-02-01")
        expect([match.passage.id for match in found], ["early"], "search(limit=1, until)")


def check_every_write_changes_the_generation(make_store: MakeStore) -> None:
    with prepared(make_store) as store, closing(make_store()) as other:
        for writer in (store, other):
            before = store.generation()
            seen = {before}
            bank, model = BANK, f"model of {id(writer)}"
            with writer.transaction():
                writer.vectors.put(bank, model, [("a", 0, b"x")])
            seen.add(store.generation())
            with writer.transaction():
                writer.derived.put(bank, SESSION, [an_exchange(), a_digest(), _said("p", "b")])
            seen.add(store.generation())
            with writer.transaction():
                writer.vectors.prune("none of them")
            seen.add(store.generation())
            with writer.transaction():
                writer.turns.put([a_turn(1)])
            seen.add(store.generation())
            expect(len(seen), 5, "the number of generations")


def check_reading_does_not_change_the_generation(make_store: MakeStore) -> None:
    with prepared(make_store) as store, closing(make_store()) as other:
        _derive(store, _said("p", "a"))
        _embed(store, "a")
        store.generation()
        other.generation()
        before = (store.generation(), other.generation())
        for reader in (store, other):
            reader.passages.search(None, ["words"])
            reader.vectors.passages(BANK, MODEL, _numbers(reader))
            reader.vectors.count_unembedded(MODEL)
            reader.records.counts()
        expect((store.generation(), other.generation()), before, "generation")


def check_no_reader_takes_an_earlier_state_of_another_for_its_own(make_store: MakeStore) -> None:
    """Servers share what they cached among connections that were opened at different times."""
    with prepared(make_store) as store, ExitStack() as opened:
        readers = [store]
        earlier: set[str] = set()
        for number in range(1, 6):
            readers.append(opened.enter_context(closing(make_store())))
            with store.transaction():
                store.turns.put([a_turn(number)])
            now = {reader.generation() for reader in readers[::-1]}
            expect(earlier & now, set[str](), f"earlier generations after write {number}")
            earlier |= now


def check_a_second_open_store_sees_the_same(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, _said("p", "a"))
        found: list[list[str]] = []

        def ask() -> None:
            another = store.borrow_reader()
            if another is None:
                return
            with closing(another):
                found.append(_ids(another.vectors.unembedded(MODEL)))

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(60)
        assert found in ([], [["p"]]), f"another thread was given {found}"
        expect(_waiting(store), {"p"}, "the store after another was closed")


def check_a_query_of_another_thread_can_be_interrupted(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, *(a_passage(f"p{n}", "anchor " * 50) for n in range(200)))
        opened: list[ReadStore] = []
        broken: list[HoldfastError] = []
        ready, calm = threading.Event(), threading.Event()

        def ask() -> None:
            another = store.borrow_reader()
            if another is None:
                ready.set()
                return
            with closing(another):
                opened.append(another)
                ready.set()
                try:
                    for _ in range(1_000):
                        another.passages.search(None, ["anchor", "anchor anchor anchor"], limit=200)
                except HoldfastError as error:
                    broken.append(error)
                    calm.wait(60)
                    expect(
                        len(another.passages.search(None, ["anchor"], limit=3)),
                        3,
                        "search afterwards",
                    )
                    broken.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        ready.wait(60)
        # An interruption between two questions breaks off neither, so one may not be enough.
        while thread.is_alive() and opened and not broken:
            opened[0].interrupt()
            thread.join(0.005)
        calm.set()
        thread.join(60)
        if opened:
            expect(len(broken), 2, "the number of breaks, and of answers after it")


def check_interrupting_without_a_query_is_harmless(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _derive(store, _said("p", "a"))
        store.interrupt()
        expect(_waiting(store), {"p"}, "unembedded")
