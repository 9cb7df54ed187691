"""Export and restore: rows come back as they were, hidden records are left out, restoring twice
changes nothing."""

from __future__ import annotations

from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.store.export_tables import TABLES
from holdfast.store.protocol import Store
from holdfast.store.records.exports import ExportSelection, Row
from tests.store.conformance.samples import BANK, NOON, MakeStore, expect, prepared

_ALL = ExportSelection()
_URI = "holdfast://imported/k1"


def _filled(store: Store) -> None:
    one = ImportedRecord(
        BANK, "k1", "v", "mem0", "memory", "", "tar the ketch", NOON, "mem0://memory/1",
        files=("a.py",), taken=NOON,
    )  # fmt: skip
    with store.transaction():
        store.sources.add("/a.jsonl", "claude-code", BANK)
        store.imports.put_batch(
            ImportBatch(BANK, "i1", "mem0", "/m.json", NOON, {"memory": 1}, {}, {})
        )
        store.imports.put("i1", [one])
        store.curation.append(
            Curation(0, BANK, NOON, Action.IMPORT, "holdfast://importing/i1", "1", "ann")
        )
        said = store.curation.append(
            Curation(0, BANK, NOON, Action.CORRECT, _URI, "tar the yawl", "ann")
        )
        store.curation.append(Curation(0, BANK, NOON, Action.UNDO, str(said.seq), "", "ann"))


def _carried(store: Store) -> dict[str, list[Row]]:
    return {
        table.name: found
        for table in TABLES
        if (found := list(store.exports.rows(BANK, table, _ALL))) and table.name != "source"
    }


def check_exported_rows_can_be_restored_once(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _filled(store)
        told = _carried(store)
        expect(
            {"bank", "import_batch", "imported_record", "curation"} <= set(told),
            True,
            "what is carried",
        )
        expect(told["imported_record"][0]["files"], ["a.py"], "a list")
        expect([row["target"] for row in told["curation"]][2], "2", "an undo's number")
        kept = [table for table in TABLES if table.name not in ("source", "curation")]
        with store.transaction():
            new = [store.exports.restore_rows(BANK, t, told.get(t.name, [])) for t in kept]
        expect(sum(new), 0, "what is new the second time")
        expect(_carried(store), told, "what is carried then")
        expect(len(store.exports.known_decisions(BANK)), 3, "the decisions")


def check_a_restored_source_gets_its_own_number(make_store: MakeStore) -> None:
    (table,) = [table for table in TABLES if table.name == "source"]
    with prepared(make_store) as store:
        with store.transaction():
            first = store.sources.add("/a.jsonl", "claude-code", BANK)
        found = {row["path"]: row for row in store.exports.rows(BANK, table, _ALL)}
        row = found["/a.jsonl"]
        with store.transaction():
            number = store.exports.restore_source(
                BANK, table, {**row, "path": "/b.jsonl", "lines": 7}
            )
        again = store.sources.at_path("/b.jsonl")
        expect(again is not None and (again.id, again.lines), (number, 7), "the source")
        expect(number == first.id, False, "whether it is another")


def check_forgotten_records_are_not_exported(make_store: MakeStore) -> None:
    with prepared(make_store) as store:
        _filled(store)
        with store.transaction():
            store.curation.append(Curation(0, BANK, NOON, Action.FORGET, _URI, "", "ann"))
            store.curation.put_state(CurationState(BANK, "imported", "k1", forgotten=True))
        told = _carried(store)
        expect("imported" in told, False, "whether it is carried")
        words = [row["text"] for row in told["curation"] if row["target"] == _URI]
        expect(words, ["", ""], "the words of decisions about it")
        with store.transaction():
            store.curation.put_state(CurationState(BANK, "importing", "i1", forgotten=True))
        expect("importing" in _carried(store), False, "an import that was taken back")
