"""Records found by id, and passages found by full-text search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.model.query import Layer, Passage
from holdfast.principal import Level, Principal
from holdfast.store.index.passages import LayerLimit
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_commit,
    a_digest,
    a_passage,
    a_session,
    a_turn,
    an_exchange,
    expect,
    prepared,
    restricted,
)

NOT_OPERATORS = (
    '"', '""', "'", '"anchor', 'anchor"', "(", ")", "(anchor", "*", "^", "^anchor OR", ":",
    "body:", "body : x", "scope:x", "{body} : x", "AND", "OR", "NOT", "NEAR", "NEAR(a b, 2)",
    "a AND b", "-", "--", "+", ";", "%", "_", "?", ":name", "\\", "\x00", "a\x00b", "\n", "", " ",
    "🦜", "👩‍👩‍👧", "\u0301", "²", "\u202e", "﷽", "日本語",
)  # fmt: skip


def _put(store: Store, *passages: Passage) -> None:
    with store.transaction():
        store.derived.put(BANK, SESSION, [*passages])


def _ids(store: Store, terms: Sequence[str], layers: Sequence[str] = ()) -> list[str]:
    return [match.passage.id for match in store.passages.search(BANK, terms, layers)]


def check_a_record_of_any_kind_is_found_by_its_id(make_store: MakeStore) -> None:
    commit, passage = a_commit("c1", "drop the anchor")
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([a_turn(1)])
            store.derived.put(BANK, SESSION, [an_exchange(), a_digest()])
            store.git.put_commits([(commit, passage)])
        for word, record in (
            ("turn", a_turn(1)),
            ("exchange", an_exchange()),
            ("digest", a_digest()),
            ("session", a_session()),
            ("commit", commit),
        ):
            expect(store.records.find(BANK, word, record.id), [record], f"find({word})")
            assert record in store.records.find(BANK, "", record.id), f"no word finds a {word} too"
        expect(store.records.find(BANK, "turn", "x1"), [], "find among another kind")
        expect(store.records.find(BANK, "unheard-of", "x1"), [], "find of an unknown kind")


def check_a_record_is_found_by_the_start_of_its_id(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        ids = ["ab", "abc1", "abc2", "abd", "b_", "bx", "b%"]
        with store.transaction():
            store.turns.put([replace(a_turn(n), id=id) for n, id in enumerate(ids, 1)])
        found = {
            id: {r.id for r in store.records.find(BANK, "turn", id)} for id in ("abc", "b_", "b%")
        }
        expect(found, {"abc": {"abc1", "abc2"}, "b_": {"b_"}, "b%": {"b%"}}, "find")
        expect(store.records.find(BANK, "turn", "abc1x"), [], "find")
        expect(
            [r.id for r in store.records.find(BANK, "turn", "ab", limit=2)], ["ab", "abc1"], "find"
        )


def check_an_exact_id_comes_before_its_continuations(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            store.turns.put([replace(a_turn(n), id=f"ab{n}") for n in range(1, 7)])
            store.derived.put(BANK, SESSION, [an_exchange("ab")])
        expect(store.records.find(BANK, "", "ab", limit=3)[0], an_exchange("ab"), "find")


def check_a_passage_is_found_by_any_of_the_terms(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        anchor, buoy = a_passage("p1", "raise the anchor"), a_passage("p2", "paint the buoy")
        _put(store, anchor, buoy)
        expect(_ids(store, ["anchor"]), ["p1"], "search")
        expect(set(_ids(store, ["anchor", "buoy"])), {"p1", "p2"}, "search")
        expect(_ids(store, ["ANCHOR", "submarine"]), ["p1"], "search")
        expect(_ids(store, ["submarine"]), [], "search")
        expect(_ids(store, []), [], "search for nothing")
        expect(store.passages.search(BANK, ["anchor"])[0].passage, anchor, "search")


def check_the_context_of_a_passage_is_searched_too(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(
            store,
            a_passage("p1", "yes, do that")._replace(context="shall I paint the buoy"),
            a_passage("p2", "paint the buoy"),
        )
        expect(_ids(store, ["buoy"]), ["p2", "p1"], "search: its own words weigh more")


def check_a_phrase_is_found_literally(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, a_passage("p1", "the tide table"), a_passage("p2", "a table of the tide"))
        expect(_ids(store, ["tide table"]), ["p1"], "search")
        expect(_ids(store, ["src/tide.table"]), [], "search")


def check_names_in_mixed_case_are_found_by_their_parts(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(
            store,
            a_passage("p1", "GradientLast() is blue"),
            a_passage("p2", "the tide")._replace(context="as in tideTable"),
        )
        expect(_ids(store, ["gradient"]), ["p1"], "search for a part")
        expect(_ids(store, ["gradientlast"]), ["p1"], "search for the whole")
        expect(_ids(store, ["gradient_last"]), ["p1"], "search for it in another spelling")
        expect(_ids(store, ["last gradient"]), [], "search for its parts in another order")
        expect(_ids(store, ["table"]), ["p2"], "search for a part in the context")
        expect(
            store.passages.term_frequencies(BANK, ["gradient", "tide", "none"], 9),
            [1, 1, 0],
            "term_frequencies",
        )


def check_scripts_without_spaces_are_found_by_their_words(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(
            store,
            a_passage("ja", "データベースの移行は金曜日に行った"),
            a_passage("ko", "데이터베이스 마이그레이션은 금요일에 했다"),
            a_passage("zh", "数据库迁移在星期五完成了"),
            a_passage("th", "เราย้ายฐานข้อมูลเมื่อวันศุกร์"),
            a_passage("glued", "Redisのセッション"),
        )
        for term, wanted in (
            ("移行", ["ja"]),
            ("行は", []),
            ("마이그레이션", ["ko"]),
            ("数据库", ["zh"]),
            ("迁移数据", []),
            ("ฐานข้อมูล", ["th"]),
            ("redis", ["glued"]),
        ):
            expect(_ids(store, [term]), wanted, f"search for {term}")
        expect(store.passages.term_frequencies(BANK, ["迁移"], 9), [1], "term_frequencies")


def check_a_word_with_an_ellipsis_means_all_that_begin_like_it(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(
            store,
            a_passage("p1", "Миграция прошла в пятницу"),
            a_passage("p2", "два раза запускали миграции и ещё миграцию"),
            a_passage("p3", "die Migrationen liefen"),
        )
        expect(set(_ids(store, ["миграц…"])), {"p1", "p2"}, "search for a start")
        expect(_ids(store, ["migration…"]), ["p3"], "search for a start")
        expect(_ids(store, ["миграц"]), [], "search for a word that is not there")
        expect(store.passages.term_frequencies(BANK, ["миграц…"], 9), [2], "term_frequencies")


def check_a_removed_passage_is_not_found_by_its_parts(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, a_passage("p1", "GradientLast"))
        _put(store, a_passage("p2", "夜間バッチ"))
        expect(_ids(store, ["gradient"]), [], "search for what was removed")
        expect(_ids(store, ["夜間"]), ["p2"], "search for what replaced it")


def check_missing_parts_are_added_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, *(a_passage(f"p{n}", f"GradientLast {n}") for n in range(7)))
        before = store.passages.search(BANK, ["gradient"])
        with store.transaction():
            store.passages.mark_parts_missing()
        seen: list[int] = []
        while not seen or seen[-1]:
            with store.transaction():
                seen.append(store.passages.add_missing_parts(limit=3))
        expect(seen, [3, 3, 1, 0], "add_missing_parts")
        expect(store.passages.search(BANK, ["gradient"]), before, "search afterwards")


def check_a_term_is_never_an_operator(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, a_passage("p1", "raise the anchor"), a_passage("p2", "near or and not"))
        for term in NOT_OPERATORS:
            found = _ids(store, [term, "raise"])
            assert "p1" in found, f"{term!r} beside a word must not hide the word"
            store.passages.search(None, [term])
            expect(
                len(store.passages.term_frequencies(BANK, [term], 9)), 1, f"frequencies of {term!r}"
            )
        expect(_ids(store, ["raise NOT anchor"]), [], "a phrase with NOT in it")
        expect(_ids(store, ["anch*"]), [], "a phrase with a star in it")
        expect(_ids(store, ["OR"]), ["p2"], "search for OR")
        expect(_ids(store, ["near"]), ["p2"], "search for near")


def check_a_term_with_a_lone_surrogate_is_harmless(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, a_passage("p1", "raise the anchor"))
        expect(_ids(store, ["\ud83e", "anchor"]), ["p1"], "search")
        expect(store.records.find(BANK, "", "\ud83e"), [], "find")


def check_long_and_many_terms_are_answered(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, a_passage("p1", "raise the anchor"))
        for terms in (
            ["x" * 100_000, "anchor"],
            ["word " * 20_000, "anchor"],
            ["(" * 100_000, "anchor"],
            [*(f"word{n}" for n in range(5_000)), "anchor"],
        ):
            expect(_ids(store, terms), ["p1"], f"search for {len(terms)} terms")


def check_a_long_passage_is_stored_complete(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        passage = a_passage("p1", "anchor \x00 " + "naïve 🦜 " * 20_000 + "buoy")
        _put(store, passage)
        for term in ("anchor", "buoy"):
            matches = store.passages.search(BANK, [term])
            expect([match.passage for match in matches], [passage], f"search for {term}")


def check_words_are_found_in_their_other_forms(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, a_passage("p1", "the result is cached"), a_passage("p2", "Café Übermut"))
        expect(_ids(store, ["caching"]), ["p1"], "search for caching")
        expect(_ids(store, ["CACHES"]), ["p1"], "search for CACHES")
        expect(_ids(store, ["cafe"]), ["p2"], "search without accents")
        expect(_ids(store, ["übermut"]), ["p2"], "search with accents")
        expect(_ids(store, ["ubermut"]), ["p2"], "search without accents")
        expect(store.passages.term_frequencies(BANK, ["caching", "cafe"], 9), [1, 1], "frequencies")


def check_the_best_passage_comes_first(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        filler = [a_passage(f"f{n}", "nothing of note here") for n in range(20)]
        _put(
            store,
            a_passage("weak", "anchor " + "and a great many other words " * 20),
            a_passage("strong", "anchor the anchor"),
            a_passage("both", "anchor and buoy"),
            *filler,
        )
        expect(_ids(store, ["anchor", "buoy"]), ["both", "strong", "weak"], "search")
        scores = [match.score for match in store.passages.search(BANK, ["anchor", "buoy"])]
        expect(scores, sorted(scores, reverse=True), "scores")
        matches = store.passages.search(BANK, ["anchor", "buoy"], limit=2)
        expect([match.passage.id for match in matches], ["both", "strong"], "search(limit=2)")


def check_a_search_stays_within_its_layers(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(
            store,
            a_passage("t", "anchor"),
            a_passage("x", "anchor", kind="exchange"),
            a_passage("d", "anchor", kind="digest"),
        )
        with store.transaction():
            store.git.put_commits([a_commit("c", "anchor")])
        expect(_ids(store, ["anchor"], [Layer.TRANSCRIPTS]), ["t"], "search")
        expect(_ids(store, ["anchor"], [Layer.OBSERVATIONS]), ["x"], "search")
        expect(_ids(store, ["anchor"], [Layer.SUMMARIES]), ["d"], "search")
        expect(_ids(store, ["anchor"], [Layer.TEAM]), ["c"], "search")
        expect(_ids(store, ["anchor"], [Layer.RULES]), [], "search")
        expect(set(_ids(store, ["anchor"], [Layer.TEAM, Layer.SUMMARIES])), {"c", "d"}, "search")
        expect(set(_ids(store, ["anchor"])), set("txdc"), "search")


def check_searches_for_several_sets_of_layers_find_what_each_finds_alone(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store:
        made = [
            a_passage(f"{kind}{n}", f"anchor {'chain ' * n}openPort", kind=kind)
            for kind in ("turn", "digest", "exchange")
            for n in range(4)
        ]
        _put(store, *made)
        terms = ["anchor", "chain", "port"]
        wanted = [LayerLimit((), 9), LayerLimit(("summaries",), 3), LayerLimit(("team",), 3)]
        alone = [store.passages.search(BANK, terms, *one) for one in wanted]
        expect(store.passages.search_each(BANK, terms, wanted), alone, "the same matches")
        expect([len(found) for found in alone], [9, 3, 0], "how many")
        early = [store.passages.search(BANK, terms, *one, until=NOON) for one in wanted]
        expect(store.passages.search_each(BANK, terms, wanted, until=NOON), early, "of a time")
        expect([*map(len, store.passages.search_each(BANK, [], wanted))], [0, 0, 0], "no terms")
        mine = restricted(store, Principal("a", (OTHER,), Level.READ))
        others = mine.passages.search_each(None, terms, wanted)
        expect([*map(len, others)], [0, 0, 0], "another's bank")


def check_an_unknown_layer_is_empty(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, a_passage("t", "anchor"))
        for layer in ("nowhere", "*", "trans*", '"', "a b", "(", ""):
            expect(_ids(store, ["anchor"], [layer]), [], f"search in {layer!r}")


def check_bank_and_layer_markers_are_not_found_by_search(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        passage = a_passage("p1", "raise the anchor")
        _put(store, passage)
        for term in (BANK, "turn", "p1", SESSION, *Layer, passage.trust, passage.status):
            expect(_ids(store, [term]), [], f"search for {term!r}")


def check_term_frequencies_and_passage_counts_are_capped(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _put(store, *(a_passage(f"p{n}", "anchor anchor") for n in range(7)))
        terms = ["anchor", "submarine", "anchor", ""]
        expect(store.passages.term_frequencies(BANK, terms, 5), [5, 0, 5, 0], "frequencies(most=5)")
        expect(
            store.passages.term_frequencies(BANK, terms, 100), [7, 0, 7, 0], "frequencies(most=100)"
        )
        expect(store.passages.term_frequencies(BANK, [], 5), [], "frequencies of nothing")
        expect((store.passages.count(BANK, 5), store.passages.count(BANK, 100)), (5, 7), "size")


def check_recent_passages_are_listed_latest_first(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        times = {f"p{hour}": f"2026-03-01T{hour:02}:00:00.000Z" for hour in (9, 11, 10)}
        _put(
            store,
            *(a_passage(id, "anchor", time=time) for id, time in times.items()),
            a_passage("x", "anchor", kind="exchange", time=NOON),
        )
        found = [passage.id for passage in store.passages.recent(BANK, "turn")]
        expect(found, ["p11", "p10", "p9"], "recent")
        found = [passage.id for passage in store.passages.recent(BANK, "turn", limit=1)]
        expect(found, ["p11"], "recent(limit=1)")
        expect(store.passages.recent(BANK, "unheard of"), [], "recent")
