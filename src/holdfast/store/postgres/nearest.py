"""The nearest vectors, found by the server where it has the extension pgvector.

Beside each vector is one of 16-bit floats (`half_vector`), which only selects candidates: the
caller compares the vectors themselves. A bank is scanned as a whole, which is exact; a bank of more
vectors than `PgVectorLimits.exact_scan` has an HNSW index of its own. A trigger adds a row for
every vector, also for one that a program without pgvector wrote; those that have no 16-bit floats
yet are "unplaced" and are returned with the candidates.

A build of pgvector for another CPU crashes the server. So whatever uses it has a guard and runs
once (`transaction`), and where it was lost, the caller compares the vectors itself (`extension`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from psycopg import sql

from holdfast.store.index.vectors import StoredVector
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.extension import (
    EXTENSION_SCHEMA,
    INSTALL,
    create_trials,
    find_out,
    guard_of,
    is_working,
    read_state,
    try_again,
)
from holdfast.store.postgres.half_vectors import to_half_vector
from holdfast.store.postgres.partitions import partitioned
from holdfast.store.postgres.transaction import NotRepeatedError


class PgVectorLimits(NamedTuple):
    """How many vectors the server compares in which way."""

    # Vectors of a bank that are scanned. A scan finds all. At 100,000 vectors an index took half
    # its time, found 99.6 % of it, and took minutes to make (docs/decisions/0021).
    exact_scan: int = 50_000
    # With more unplaced vectors than this, the caller compares all vectors itself.
    unplaced: int = 2000


LIMITS = PgVectorLimits()

# Vectors that are placed at a time.
_BATCH_ROWS = 1000
# Candidates for each hit that is wanted: 16-bit floats order near neighbours slightly differently.
_CANDIDATES_PER_HIT = 2
# Vectors of a large bank among which the farthest are looked for, to tell how far apart they are.
_SAMPLE_ROWS = 1000

_CREATE = """
CREATE TABLE half_vector (
    bank text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    direction {schema}.halfvec,
    PRIMARY KEY (bank, model, number)
);
ALTER TABLE half_vector ALTER COLUMN direction SET STORAGE MAIN;
CREATE INDEX half_vector_unplaced ON half_vector (bank, model) WHERE direction IS NULL;
CREATE FUNCTION vector_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO half_vector SELECT bank, model, number FROM added ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION vector_removed() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE home text; BEGIN
    FOR home IN SELECT DISTINCT bank FROM removed LOOP
        DELETE FROM half_vector USING removed WHERE half_vector.bank = home
            AND removed.bank = home AND half_vector.model = removed.model
            AND half_vector.number = removed.number;
    END LOOP;
    RETURN NULL;
END $$;
INSERT INTO half_vector SELECT bank, model, number FROM vector;
CREATE TRIGGER vector_added AFTER INSERT ON vector REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION vector_added();
CREATE TRIGGER vector_removed AFTER DELETE ON vector REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION vector_removed();
"""
_PUT = (
    "WITH put AS (INSERT INTO vector (bank, model, hash, part, data) VALUES (%s, %s, %s, %s, %s) "
    "ON CONFLICT DO NOTHING RETURNING bank, model, number) "
    "INSERT INTO half_vector (bank, model, number, direction) "
    "SELECT bank, model, number, %s::{schema}.halfvec FROM put"
)
_PLACE = (
    "UPDATE half_vector SET direction = %s::{schema}.halfvec "
    "WHERE bank = %s AND model = %s AND number = %s"
)
_UNPLACED = (
    "SELECT v.number, v.hash, v.part, v.data FROM half_vector AS n JOIN vector AS v "
    "ON v.bank = n.bank AND v.model = n.model AND v.number = n.number WHERE n.bank = %s "
    "AND n.model = %s AND n.direction IS NULL AND n.number > %s ORDER BY n.number LIMIT %s"
)
_OF_KINDS = (
    " AND EXISTS (SELECT 1 FROM vector AS v JOIN passage AS p ON p.bank = v.bank "
    "AND p.hash = v.hash WHERE v.number = n.number AND v.bank = %s AND p.kind = ANY (%s))"
)
_OF_MODEL = "n.bank = %s AND n.model = %s AND {schema}.vector_dims(n.direction) = {size}"
_DISTANCE = (
    "n.direction::{schema}.halfvec({size}) OPERATOR({schema}.<#>) %s::{schema}.halfvec({size})"
)
_SCANNED = (
    "WITH scanned AS MATERIALIZED (SELECT n.number, {distance} AS apart FROM half_vector AS n "
    "WHERE {of_model}), best AS ((SELECT n.number FROM scanned AS n WHERE true{kinds} "
    "ORDER BY n.apart LIMIT %s) UNION "
    "(SELECT n.number FROM scanned AS n ORDER BY n.apart DESC LIMIT 3)) "
    "SELECT v.number, v.hash, v.part, v.data FROM best JOIN vector AS v "
    "ON v.number = best.number AND v.bank = %s"
)
_NOMINATED = (
    "WITH best AS MATERIALIZED (SELECT n.number FROM half_vector AS n "
    "WHERE {of_model}{kinds} ORDER BY {distance} LIMIT %s), sampled AS MATERIALIZED ("
    "SELECT n.number, {distance} AS apart FROM half_vector AS n WHERE {of_model} ORDER BY n.number "
    "LIMIT %s), "
    "named AS (SELECT number FROM best UNION "
    "(SELECT number FROM sampled ORDER BY apart DESC LIMIT 3)) "
    "SELECT v.number, v.hash, v.part, v.data FROM named JOIN vector AS v "
    "ON v.number = named.number AND v.bank = %s"
)
_SIZES = (
    "SELECT n.bank, {schema}.vector_dims(n.direction), count(*) FROM half_vector AS n "
    "WHERE n.model = %s AND n.direction IS NOT NULL GROUP BY 1, 2 HAVING count(*) > %s"
)
# The indexes of vectors, and their tables.
HNSW_INDEXES = (
    "SELECT c.oid::regclass::text, i.indrelid::regclass::text FROM pg_index AS i "
    "JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam "
    "WHERE a.amname = 'hnsw' AND c.relnamespace = current_schema()::regnamespace"
)
_INDEX = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} USING hnsw "
    "((direction::{schema}.halfvec({size})) {schema}.halfvec_ip_ops) "
    "WHERE bank = {bank} AND model = {model} AND {schema}.vector_dims(direction) = {size}"
)


def create_half_vectors(connection: PostgresConnection) -> bool:
    """Make the table, where the extension is there or may be made, and works; returns whether it
    did. Without a working extension no index of vectors stays."""
    state = read_state(connection)
    if not state.owns_tables:
        return False
    if not state.has_trials:
        create_trials(connection)
    if not (state.extension or (state.is_available and state.is_superuser)):
        return False
    if not is_working(connection):
        if state.has_table:
            _drop_indexes(connection)
        return False
    if state.has_table:
        return False
    with connection.schema_change():
        connection.script(
            f"SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext('{connection.schema}'))"
        )
        state = read_state(connection)
        if state.has_table:
            return False
        if not state.extension:  # somebody dropped it after the trial
            for statement in INSTALL:
                connection.script(statement)
        connection.script("DROP TABLE IF EXISTS half_vector")
        connection.script(
            partitioned(
                _CREATE.format(schema=f'"{state.extension or EXTENSION_SCHEMA}"'),
                connection.partitions,
            )
        )
    return True


def _drop_indexes(connection: PostgresConnection) -> None:
    """Drop the indexes of vectors: writing to one compares vectors, and so does VACUUM."""
    for index, _ in connection.query(HNSW_INDEXES):
        connection.script(f"DROP INDEX IF EXISTS {index}")


class PgVectorIndex:
    """Finds, stores and indexes vectors with pgvector, where the server has it."""

    def __init__(self, server: PostgresConnection, limits: PgVectorLimits = LIMITS) -> None:
        self._server = server
        self._limits = limits

    def nearest(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str]
    ) -> list[StoredVector] | None:
        schema, wanted = self._extension(), to_half_vector(query)
        if not schema or wanted is None:
            return None
        rest = self._unplaced(bank, model, 0, self._limits.unplaced + 1)
        if len(rest) > self._limits.unplaced:
            return None
        parts = {"schema": schema, "size": wanted.size}
        of_model, distance = _OF_MODEL.format(**parts), _DISTANCE.format(**parts)
        kinds_condition = _OF_KINDS if kinds else ""
        names = (bank, model)
        kind_values = [bank, list(kinds)] if kinds else []
        if self._is_large(bank, model, wanted.size):
            statement = _NOMINATED
            values = [
                *names,
                *kind_values,
                wanted,
                limit * _CANDIDATES_PER_HIT,
                wanted,
                *names,
                _SAMPLE_ROWS,
                bank,
            ]
        else:
            statement = _SCANNED
            values = [wanted, *names, *kind_values, limit * _CANDIDATES_PER_HIT, bank]
        try:
            found = self._server.query(
                statement.format(of_model=of_model, distance=distance, kinds=kinds_condition),
                values,
                self._guard,
            )
        except NotRepeatedError:
            find_out(self._server)
            return None
        return [*(StoredVector(*row) for row in found), *rest]

    def unindexed(self, bank: str, model: str) -> int | None:
        if not self._extension():
            return None
        ((count,),) = self._server.query(
            "SELECT count(*) FROM half_vector WHERE bank = %s AND model = %s AND direction IS NULL",
            (bank, model),
        )
        return int(count)

    def problem(self) -> str:
        self._extension()
        return self._server.pool.extension.problem

    def try_again(self) -> str:
        return try_again(self._server)

    def _extension(self) -> str:
        """The schema of the extension, quoted for statements; "" where it is not used."""
        return find_out(self._server)

    @property
    def _guard(self) -> str:
        return guard_of(self._server)

    def _unplaced(self, bank: str, model: str, number: int, limit: int) -> list[StoredVector]:
        found = self._server.query(_UNPLACED, (bank, model, number, limit))
        return [StoredVector(*row) for row in found]

    def _is_large(self, bank: str, model: str, size: int) -> bool:
        name = _index_of(bank, model, size)
        ((there,),) = self._server.query(
            "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) "
            "AND indisvalid)",
            (name,),
        )
        return there

    def index(self, model: str) -> bool:
        schema = self._extension()
        if not schema:
            return False
        try:
            self._index(schema, model)
        except NotRepeatedError:
            find_out(self._server)
            return False
        return True

    def _index(self, schema: str, model: str) -> None:
        for (bank,) in self._server.query(
            "SELECT DISTINCT bank FROM half_vector WHERE model = %s AND direction IS NULL", (model,)
        ):
            self._place(schema, bank, model)
        if not read_state(self._server).owns_tables:
            return  # only the owner of the tables can make an index
        for bank, size, _ in self._server.query(
            _SIZES.format(schema=schema), (model, self._limits.exact_scan), self._guard
        ):
            if not self._is_large(bank, model, size):
                self._build_index(schema, bank, model, size)

    def put(self, bank: str, model: str, vectors: Sequence[tuple[str, int, bytes]]) -> bool:
        schema = self._extension()
        if not schema:
            return False
        try:
            self._server.execute_many(
                _PUT.format(schema=schema),
                [
                    (bank, model, hash, part, data, to_half_vector(data))
                    for hash, part, data in vectors
                ],
                self._guard,
            )
        except NotRepeatedError:
            find_out(self._server)
            return False
        return True

    def _place(self, schema: str, bank: str, model: str) -> None:
        """Add the 16-bit floats of vectors that have none. Damaged vectors stay unplaced."""
        number = 0
        while some := self._unplaced(bank, model, number, _BATCH_ROWS):
            number = some[-1].number
            halves = [(to_half_vector(vector.data), bank, model, vector.number) for vector in some]
            self._server.execute_many(
                _PLACE.format(schema=schema),
                [row for row in halves if row[0] is not None],
                self._guard,
            )

    def _build_index(self, schema: str, bank: str, model: str, size: int) -> None:
        """Make the index of a large bank while others read and write."""
        name = _index_of(bank, model, size)
        # The partition that the bank is in, or the table itself.
        ((table,),) = self._server.query(
            "SELECT tableoid::regclass::text FROM half_vector WHERE bank = %s LIMIT 1", (bank,)
        )
        # One that was not finished would be in the way.
        self._server.script(f"DROP INDEX IF EXISTS {name}")
        self._server.script(
            _INDEX.format(
                name=name,
                table=table,
                schema=schema,
                size=size,
                bank=_literal(bank),
                model=_literal(model),
            ),
            self._guard,
        )


def _index_of(bank: str, model: str, size: int) -> str:
    return f"half_vector_{crc32(f'{bank} {model} {size}'.encode()):08x}"


def _literal(text: str) -> str:
    return sql.Literal(text).as_string()
