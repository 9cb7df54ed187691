"""Labels: what a record can be found under besides its words.

A label is a file that the record touched, the stem of a keyword, or the type of an exchange. Its
text is stored once in a bank, however many records have it. `labelled_record` has the records of
each label in the order of time, so that the latest are found without reading the rest;
`record_labels` has the labels of each record, to check them and to remove them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.language import STOPWORDS, stem, words
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Concept, Fact, Memory
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange
from holdfast.model.team import Commit
from holdfast.store.sql import rows
from holdfast.store.sql.connection import Connection
from holdfast.store.sql.statements import insert, placeholders_for
from holdfast.store.sql.table import COMMIT, EXCHANGE

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import TypeGuard

    from holdfast.model.forge import Pull

    Labelled = Exchange | Commit | Concept | Memory | Fact | Pull

Filtered = Exchange | Commit
_Condition = tuple[str, tuple[str, ...]]

_RECORDS = {"exchange": EXCHANGE, "commit": COMMIT}
_KIND, _TEXT = "json_extract(value, '$[0]')", "json_extract(value, '$[1]')"
# The longest text of a label, in characters: PostgreSQL indexes at most 2,704 bytes, of which the
# bank and the kind take some, and a character has up to four.
_MAX_TEXT = 600
# A text before and one after every time; '', for no time, is before both.
_BEFORE_ALL, _AFTER_ALL = " ", "~"


def has_labels(record: object) -> TypeGuard[Commit | Pull]:
    """Whether a record that is of no session has labels."""
    return record_kind(record) in ("commit", "pull")


def put_labels(connection: Connection, record: Labelled) -> None:
    """Set the labels of a record, in place of those that it had."""
    kind, time = _kind_and_time(record)
    name = (record.bank, kind, record.id)
    connection.run("DELETE FROM record_labels WHERE bank = ? AND kind = ? AND id = ?", name)
    _put_labels(connection, name, time, list(dict.fromkeys(_labels(record))))


def copy_labels(connection: Connection, bank: str, into: str, kind: str, id: str) -> None:
    """Give the record with the same name in another bank the same labels."""
    items, join = connection.dialect.json_items, connection.dialect.ordered_join
    known = connection.one(
        "SELECT time FROM record_labels WHERE bank = ? AND kind = ? AND id = ?", (bank, kind, id)
    )
    if known is None:
        return
    found = connection.all(
        "SELECT label.kind, label.text, label.file_name FROM record_labels AS r "
        f"CROSS JOIN {items}(r.labels) AS had {join} label ON label.id = CAST(had.value AS bigint) "
        "WHERE r.bank = ? AND r.kind = ? AND r.id = ?",
        (bank, kind, id),
    )
    _put_labels(connection, (into, kind, id), known[0], found)


def _put_labels(
    connection: Connection,
    name: tuple[str, str, str],
    time: str,
    found: Sequence[tuple[str, str, str]] | list[rows.Row],
) -> None:
    items, join = connection.dialect.json_items, connection.dialect.ordered_join
    bank, kind, id = name
    labels = rows.dumps([list(label) for label in found], ensure_ascii=True)
    connection.run(
        f"INSERT INTO label (bank, kind, text, file_name) SELECT CAST(? AS text), {_KIND}, "
        f"{_TEXT}, "
        f"json_extract(value, '$[2]') FROM {items}(?) WHERE true ON CONFLICT DO NOTHING",
        (bank, labels),
    )
    ids = connection.all(
        f"SELECT label.id FROM {items}(?) {join} label "
        f"ON label.bank = ? AND label.kind = {_KIND} AND label.text = {_TEXT}",
        (labels, bank),
    )
    numbers = rows.dumps([id for (id,) in ids], ensure_ascii=True)
    connection.run(
        "INSERT INTO labelled_record SELECT CAST(value AS bigint), CAST(? AS text), "
        f"CAST(? AS text), CAST(? AS text) FROM {items}(?)",
        (time, kind, id, numbers),
    )
    connection.run(insert("record_labels", "bank, kind, id, time, labels"), (*name, time, numbers))


def _kind_and_time(record: Labelled) -> tuple[str, str]:
    if isinstance(record, Exchange):
        return "exchange", record.started
    if isinstance(record, Concept):
        return "concept", record.updated
    if isinstance(record, Memory):
        return "memory", record.when
    if isinstance(record, Fact):
        return "fact", record.validity.learned
    return record_kind(record), record.time


def _labels(record: Labelled) -> Iterator[tuple[str, str, str]]:
    """The kind and text of each label and, of a file, its name."""
    files: Sequence[str] = ()
    text = ""
    if isinstance(record, Memory | Fact):
        content = (
            record.what if isinstance(record, Memory) else f"{record.problem} {record.content}"
        )
        text = _without_stopwords(content)
        files = () if isinstance(record, Memory) else record.files
    elif isinstance(record, Exchange):
        files = (*record.files_modified, *record.files_read)
        text = " ".join(record.keywords)
        yield "type", record.type.value, ""
    else:
        files = record.files
        text = (
            " ".join((_without_stopwords(record.name), *record.keywords))
            if isinstance(record, Concept)
            else ""
        )
    for root in stems(text):
        yield "concept", root, ""
    for file in files:
        path = _path(file)
        yield "file", path, path.rpartition("/")[2]


def keyword_stems(text: str) -> list[str]:
    """The stems of some words; stop words only where there are no others."""
    return stems(_without_stopwords(text)) or stems(text)


def _without_stopwords(text: str) -> str:
    return " ".join(word for word in words(text) if word not in STOPWORDS)


def stems(text: str) -> list[str]:
    """The stem of each word, once; of one that is too long for a label, its start."""
    return list(dict.fromkeys(stem(word[:_MAX_TEXT]) for word in words(text)))


def _path(file: str) -> str:
    """A path with forward slashes, and without halves of surrogate pairs; of one that is too long
    for a label, its end."""
    file = file.encode("utf-8", "replace").decode("utf-8")
    return file.replace("\\", "/").removeprefix("./")[-_MAX_TEXT:]


def filter_records(
    connection: Connection, banks: Sequence[str], filter: RecordFilter, limit: int
) -> list[Filtered]:
    """The records that pass a filter, the latest first."""
    found: list[Filtered] = []
    for bank in banks:
        for kind, id in labelled_records(connection, bank, filter, limit, tuple(_RECORDS)):
            table = _RECORDS[kind]
            there = connection.all(
                f'SELECT {table.columns} FROM "{kind}" WHERE bank = ? AND id = ?', (bank, id)
            )
            found += table.records(there)
    found.sort(key=lambda record: (_kind_and_time(record)[0], record.id, record.bank))
    found.sort(key=lambda record: _kind_and_time(record)[1], reverse=True)
    return found[:limit]


def _conditions(filter: RecordFilter) -> list[_Condition]:
    """The labels to look for, as conditions; a record must have one of each."""
    conditions: list[_Condition] = []
    if filter.file:
        conditions.append(_named(_path(filter.file)))
    if filter.concept:
        same = "label.kind = 'concept' AND label.text = ?"
        conditions += [(same, (root,)) for root in stems(filter.concept) or ("",)]
    if filter.type:
        conditions.append(("label.kind = 'type' AND label.text = ?", (filter.type,)))
    return conditions or [("label.kind = 'type'", ())]


def _named(path: str) -> _Condition:
    file = "label.kind = 'file' AND "
    if path.endswith("/"):
        # "0" is the character after "/".
        return file + "label.text >= ? AND label.text < ?", (path, path[:-1] + "0")
    if path.startswith("/"):
        return file + "label.text = ?", (path,)
    end = "/" + path
    return (
        file + "label.file_name = ? AND (label.text = ? "
        "OR substr(label.text, length(label.text) - length(?) + 1) = ?)",
        (path.rpartition("/")[2], path, end, end),
    )


def labelled_records(
    connection: Connection, bank: str, filter: RecordFilter, limit: int, kinds: Sequence[str]
) -> list[tuple[str, str]]:
    """Kind and id of the latest records that pass a filter. Those of its rarest label are read."""
    items, join = connection.dialect.json_items, connection.dialect.ordered_join
    conditions = _conditions(filter)
    labels = [
        [
            id
            for (id,) in connection.all(
                f"SELECT id FROM label WHERE bank = ? AND {sql}", (bank, *values)
            )
        ]
        for sql, values in conditions
    ]
    fewest = min(range(len(labels)), key=lambda n: len(labels[n]))
    others = [condition for n, condition in enumerate(conditions) if n != fewest]
    checks = "".join(
        f" AND EXISTS (SELECT 1 FROM record_labels AS r CROSS JOIN {items}(r.labels) AS had "
        f"{join} label ON label.id = CAST(had.value AS bigint) WHERE r.bank = ? "
        f"AND r.kind = labelled_record.kind AND r.id = labelled_record.id AND {sql})"
        for sql, _ in others
    )
    values = [value for _, given in others for value in (bank, *given)]
    latest: list[tuple[str, str, str]] = []
    since = filter.since or (_BEFORE_ALL if filter.until else "")
    for label in labels[fewest] if all(labels) else ():
        found = connection.all(
            "SELECT time, kind, id FROM labelled_record "
            "WHERE label = ? AND time >= ? AND time < ? "
            f"AND kind IN ({placeholders_for(kinds)}){checks} "
            "ORDER BY time DESC, kind, id LIMIT ?",
            (label, since, filter.until or _AFTER_ALL, *kinds, *values, limit),
        )
        latest = _latest({*latest, *found})[:limit] if found else latest
        # A folder has thousands of labels; most have nothing later than what is found already.
        since = latest[-1][0] if len(latest) == limit else since
    return [(kind, id) for _, kind, id in latest]


def _latest(found: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    by_name = sorted(found, key=lambda one: one[1:])
    return sorted(by_name, key=lambda one: one[0], reverse=True)
