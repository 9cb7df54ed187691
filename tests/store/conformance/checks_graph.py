"""Entities and mentions, without hidden records and without those of other banks."""

from __future__ import annotations

from holdfast.model.graph import (
    Entity,
    EntityKind,
    Mention,
    MentionRole,
    Node,
    ProvenAlias,
    SpellingSource,
)
from holdfast.model.knowledge import Memory, Network
from holdfast.model.trust import Trust
from holdfast.store.across_tables.erasure import Erasure
from holdfast.store.knowledge.graph import DatedAlias, ResolvedEntity
from holdfast.store.protocol import Store
from tests.store.conformance.samples import (
    BANK,
    NOON,
    OTHER,
    SESSION,
    MakeStore,
    a_commit,
    a_passage,
    an_exchange,
    expect,
    prepared,
)

_LATER = "2026-03-02T12:00:00.000Z"


def _name(text: str, parts: MentionRole = MentionRole.MENTIONED) -> Mention:
    return Mention(SpellingSource.NAME, text, text.lower(), parts, f"id-of-{text}")


def _node(id: str, *mentions: Mention, time: str = NOON) -> Node:
    return Node("exchange", id, SESSION, time, f"hash-{id}", mentions)


def _resolve(store: Store, bank: str = BANK) -> None:
    """Every spelling as an entity of its own."""
    store.graph.put_entities(
        bank,
        [
            ResolvedEntity(Entity(bank, s.id, EntityKind.COMPONENT, s.text), (s.number,))
            for s in store.graph.spellings(bank)
        ],
    )


def _filled(store: Store) -> None:
    store.graph.put_nodes(
        BANK,
        [
            _node("x1", _name("Tide", MentionRole.CAUSE), _name("Table")),
            _node("x2", _name("Tide"), _name("Buoy"), time=_LATER),
        ],
    )
    store.graph.put_nodes(OTHER, [_node("x1", _name("Tide"))])
    for bank in (BANK, OTHER):
        _resolve(store, bank)


def _number(store: Store, name: str, bank: str = BANK) -> int:
    return next(known.number for _, known in store.graph.entities_by_spelling(bank, [name.lower()]))


def check_entities_are_listed_by_their_number_of_records(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        _filled(store)
        told = [(entity.name, entity.mentions) for entity in store.graph.entities(BANK)]
        expect(told, [("Tide", 2), ("Buoy", 1), ("Table", 1)], "the entities")
        expect([e.name for e in store.graph.entities(OTHER)], ["Tide"], "those of another bank")
        expect(len(store.graph.entities(None)), 4, "those of all banks")


def check_records_and_entities_refer_to_each_other(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        _filled(store)
        tide = _number(store, "Tide")
        bonds = store.graph.mentions_of(BANK, tide, 10)
        ids = {p.node: p.id for p in store.graph.records(BANK, [b.node for b in bonds])}
        expect([ids[b.node] for b in bonds], ["x2", "x1"], "the latest first")
        expect([b.roles for b in bonds], [MentionRole.MENTIONED, MentionRole.CAUSE], "the roles")
        expect(len(store.graph.mentions_of(BANK, tide, 1)), 1, "as many as are asked for")
        within = store.graph.mentions_in(BANK, [bonds[1].node])
        names = {
            k.number: k.name
            for k in store.graph.entities_by_number(BANK, [b.entity for b in within])
        }
        expect(sorted(names.values()), ["Table", "Tide"], "what a record mentions")
        beside = [(known.name, count) for known, count in store.graph.cooccurring(BANK, tide)]
        expect(sorted(beside), [("Buoy", 1), ("Table", 1)], "what occurs together")


def check_a_record_stored_again_replaces_itself(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        _filled(store)
        store.graph.put_nodes(BANK, [_node("x1", _name("Anchor"))])
        _resolve(store)
        expect(
            sorted(e.name for e in store.graph.entities(BANK)),
            ["Anchor", "Buoy", "Tide"],
            "what is left",
        )
        expect(store.graph.node_hashes(BANK, SESSION)["exchange", "x1"], "hash-x1", "its hash")
        store.graph.drop_nodes(BANK, [("exchange", "x2"), ("exchange", "nobody")])
        _resolve(store)
        expect([e.name for e in store.graph.entities(BANK)], ["Anchor"], "what is left then")
        expect(store.graph.entities_by_spelling(BANK, ["buoy"]), [], "a name that nobody mentions")
        expect(store.graph.size(BANK, 10), 1, "the size")


def check_an_entity_is_found_by_every_spelling(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        _filled(store)
        spellings = {s.text: s for s in store.graph.spellings(BANK)}
        both = (spellings["Tide"].number, spellings["Table"].number)
        one = Entity(BANK, spellings["Table"].id, EntityKind.COMPONENT, "Tide", ("Table",))
        store.graph.put_entities(BANK, [ResolvedEntity(one, both)])
        expect(
            [(e.name, e.mentions) for e in store.graph.entities(BANK)], [("Tide", 2)], "one of two"
        )
        for spelling in ("Tide", "Table"):
            known = store.graph.entity(BANK, spellings[spelling].id)
            expect(known and known.id, one.id, f"the entity by {spelling}")
        expect(store.graph.entity(BANK, spellings["Buoy"].id), None, "what is no entity")
        expect(
            store.graph.spelling_id(BANK, one.id, "Tide"),
            spellings["Tide"].id,
            "a spelling by its words",
        )
        expect(store.graph.spelling_id(BANK, one.id, "Buoy"), None, "one that it does not have")


def check_proven_aliases_are_returned_in_order(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        moved = ProvenAlias(SpellingSource.FILE, "a.py", "b.py")
        store.graph.put_nodes(BANK, [_node("x2", time=_LATER)._replace(aliases=(moved,))])
        earlier = ProvenAlias(SpellingSource.FILE, "c.py", "a.py")
        store.graph.put_nodes(BANK, [_node("x1")._replace(aliases=(earlier,))])
        expect(
            store.graph.proven_aliases(BANK),
            [DatedAlias(NOON, earlier), DatedAlias(_LATER, moved)],
            "the moves",
        )
        store.graph.drop_nodes(BANK, [("exchange", "x1")])
        expect(store.graph.proven_aliases(BANK), [DatedAlias(_LATER, moved)], "what is left")


def check_only_visible_records_have_a_passage(make_store: MakeStore) -> None:
    with prepared(make_store) as store, store.transaction():
        _filled(store)
        shown = a_passage("x1", "the tide", kind="exchange")
        store.derived.put(BANK, SESSION, [an_exchange("x1"), shown])
        place = store.graph.record(BANK, "exchange", "x1")
        other = store.graph.record(BANK, "exchange", "x2")
        assert place is not None and other is not None
        found = store.graph.node_passages(BANK, [place.node, other.node])
        expect([(node, p.id) for node, p in found], [(place.node, "x1")], "the passages")
        expect(store.graph.node_passages(OTHER, [place.node]), [], "those of another bank")
        around = store.graph.records_around(BANK, place, 3)
        expect([p.id for p in around], ["x2"], "what is beside it in time")


def check_graph_rows_are_removed_with_their_records(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        with store.transaction():
            _filled(store)
            store.erasure.erase(Erasure(BANK, sessions=(SESSION,)))
        expect(store.graph.entities(BANK), [], "entities of a bank that something was erased from")
        expect(store.graph.size(BANK, 10), 0, "its records")
        expect(len(store.graph.entities(OTHER)), 1, "those of another bank")
        with store.transaction():
            _filled(store)
            for change in store.progress.unseen_changes(BANK, "entities", 1):
                store.progress.mark_seen(BANK, "entities", 1, change.number)
            store.derived.drop_all()
        expect(store.graph.entities(None), [], "entities after all is dropped")
        expect(store.progress.banks_behind("entities", 1), [BANK], "who is behind then")


def check_hashes_outside_sessions_are_of_commits_and_remembered_texts(
    make_store: MakeStore,
) -> None:
    with prepared(make_store) as store, store.transaction():
        remembered = Memory(BANK, "m1", Network.WORLD, "Anchor at noon.", Trust.USER, when=NOON)
        store.memories.put_remembered(remembered)
        store.passages.replace(remembered, a_passage("m1", "noon", BANK, "memory", ""))
        for bank in (BANK, OTHER):
            commit, passage = a_commit("c1", "anchor", bank)
            store.git.put_commits([(commit, passage._replace(hash=f"hash in {bank}"))])
        store.passages.add([a_passage("m2", "of a session", BANK, "memory", "")])
        hash = a_passage("m1", "noon", BANK, "memory", "").hash
        found = [("commit", "c1", f"hash in {BANK}"), ("memory", "m1", hash)]
        expect(store.graph.hashes_outside_sessions(BANK), found, "hashes_outside_sessions")
