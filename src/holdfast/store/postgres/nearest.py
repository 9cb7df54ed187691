"""The nearest vectors, found by the server where it has the extension pgvector.

Beside each vector is one of 16-bit floats (`half_vector`), which only selects candidates: the
caller compares the vectors themselves. A bank is scanned as a whole, which is exact; a bank of more
than `EXACT_SCAN_MAX` vectors has an HNSW index of its own. A trigger adds a row for every vector,
also for one that a program without pgvector wrote; those that have no 16-bit floats yet are
"unplaced" and are returned with the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from psycopg import sql

from holdfast.store.index.vectors import StoredVector
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.half_vectors import to_half_vector
from holdfast.store.postgres.partitions import partitioned

# A scan finds all. At 100,000 vectors an index took half its time, found 99.6 % of it, and took
# minutes to make (docs/decisions/0021).
EXACT_SCAN_MAX = 50_000
# With more unplaced vectors than this, the caller compares all vectors itself.
MAX_UNPLACED = 2000
# Vectors that are placed at a time.
_BATCH_ROWS = 1000
# Candidates for each hit that is wanted: 16-bit floats order near neighbours slightly differently.
_CANDIDATES_PER_HIT = 2
# Vectors of a large bank among which the farthest are looked for, to tell how far apart they are.
_SAMPLE_ROWS = 1000

_STATE = (
    "SELECT (SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n "
    "ON n.oid = e.extnamespace WHERE e.extname = 'vector'), "
    "EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector'), "
    "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user), "
    "EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('half_vector') "
    "AND attname = 'direction' AND NOT attisdropped), "
    "pg_has_role(current_user, (SELECT nspowner FROM pg_namespace WHERE nspname = %s), 'USAGE')"
)
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
CREATE FUNCTION vector_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM half_vector USING removed WHERE half_vector.bank = removed.bank
        AND half_vector.model = removed.model AND half_vector.number = removed.number;
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
    "AND p.hash = v.hash WHERE v.number = n.number AND v.bank = n.bank AND p.kind = ANY (%s))"
)
_OF_MODEL = "n.bank = %s AND n.model = %s AND {schema}.vector_dims(n.direction) = {size}"
_DISTANCE = (
    "n.direction::{schema}.halfvec({size}) OPERATOR({schema}.<#>) %s::{schema}.halfvec({size})"
)
_SCANNED = (
    "WITH scanned AS MATERIALIZED (SELECT n.bank, n.number, {distance} AS apart FROM half_vector "
    "AS n "
    "WHERE {of_model}), best AS ((SELECT n.number FROM scanned AS n WHERE true{kinds} "
    "ORDER BY n.apart LIMIT %s) UNION "
    "(SELECT n.number FROM scanned AS n ORDER BY n.apart DESC LIMIT 3)) "
    "SELECT v.number, v.hash, v.part, v.data FROM best JOIN vector AS v ON v.number = best.number"
)
_NOMINATED = (
    "WITH best AS MATERIALIZED (SELECT n.number FROM half_vector AS n "
    "WHERE {of_model}{kinds} ORDER BY {distance} LIMIT %s), sampled AS MATERIALIZED ("
    "SELECT n.number, {distance} AS apart FROM half_vector AS n WHERE {of_model} ORDER BY n.number "
    "LIMIT %s), "
    "named AS (SELECT number FROM best UNION "
    "(SELECT number FROM sampled ORDER BY apart DESC LIMIT 3)) "
    "SELECT v.number, v.hash, v.part, v.data FROM named JOIN vector AS v ON v.number = named.number"
)
_SIZES = (
    "SELECT n.bank, {schema}.vector_dims(n.direction), count(*) FROM half_vector AS n "
    "WHERE n.model = %s AND n.direction IS NOT NULL GROUP BY 1, 2 HAVING count(*) > %s"
)
_INDEX = (
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} USING hnsw "
    "((direction::{schema}.halfvec({size})) {schema}.halfvec_ip_ops) "
    "WHERE bank = {bank} AND model = {model} AND {schema}.vector_dims(direction) = {size}"
)


def create_half_vectors(connection: PostgresConnection) -> bool:
    """Make the table, where the extension is there or may be made; returns whether it did."""
    state = _state(connection)
    can_install = state.is_available and state.is_superuser
    if state.has_table or not state.owns_tables or not (state.extension or can_install):
        return False
    with connection.schema_change():
        connection.script(
            f"SELECT pg_advisory_xact_lock(hashtext('holdfast'), hashtext('{connection.schema}'))"
        )
        state = _state(connection)
        if state.has_table:
            return False
        if not state.extension:
            # Not in the schema of our tables, where `vector` is a table.
            connection.script("CREATE SCHEMA IF NOT EXISTS public")
            connection.script("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
            state = _state(connection)
        connection.script("DROP TABLE IF EXISTS half_vector")
        connection.script(
            partitioned(_CREATE.format(schema=f'"{state.extension}"'), connection.partitions)
        )
    return True


class _State(NamedTuple):
    """What there is: the schema of the extension (None: not installed), whether it could be
    installed and by whom, whether the table is there, and whether this role owns the tables."""

    extension: str | None
    is_available: bool
    is_superuser: bool
    has_table: bool
    owns_tables: bool


def _state(connection: PostgresConnection) -> _State:
    (row,) = connection.query(_STATE, (connection.schema,))
    return _State(*row)


class PgVectorIndex:
    """Finds, stores and indexes vectors with pgvector, where the server has it."""

    def __init__(self, server: PostgresConnection) -> None:
        self._server = server

    def nearest(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str]
    ) -> list[StoredVector] | None:
        schema, wanted = self._extension(), to_half_vector(query)
        if not schema or wanted is None:
            return None
        rest = self._unplaced(bank, model, 0, MAX_UNPLACED + 1)
        if len(rest) > MAX_UNPLACED:
            return None
        parts = {"schema": schema, "size": wanted.size}
        of_model, distance = _OF_MODEL.format(**parts), _DISTANCE.format(**parts)
        kinds_condition = _OF_KINDS if kinds else ""
        names = (bank, model)
        kind_values = [list(kinds)] if kinds else []
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
            ]
        else:
            statement = _SCANNED
            values = [wanted, *names, *kind_values, limit * _CANDIDATES_PER_HIT]
        found = self._server.query(
            statement.format(of_model=of_model, distance=distance, kinds=kinds_condition), values
        )
        return [*(StoredVector(*row) for row in found), *rest]

    def unindexed(self, bank: str, model: str) -> int | None:
        if not self._extension():
            return None
        ((count,),) = self._server.query(
            "SELECT count(*) FROM half_vector WHERE bank = %s AND model = %s AND direction IS NULL",
            (bank, model),
        )
        return int(count)

    def _extension(self) -> str:
        """The schema of the extension, quoted for statements; "" where it is not used."""
        pool = self._server.pool
        if pool.extension is None:
            state = _state(self._server)
            usable = state.extension and state.has_table
            pool.extension = f'"{state.extension}"' if usable else ""
        return pool.extension

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
        for (bank,) in self._server.query(
            "SELECT DISTINCT bank FROM half_vector WHERE model = %s AND direction IS NULL", (model,)
        ):
            self._place(schema, bank, model)
        if not _state(self._server).owns_tables:
            return True  # only the owner of the tables can make an index
        for bank, size, _ in self._server.query(
            _SIZES.format(schema=schema), (model, EXACT_SCAN_MAX)
        ):
            if not self._is_large(bank, model, size):
                self._build_index(schema, bank, model, size)
        return True

    def put(self, bank: str, model: str, vectors: Sequence[tuple[str, int, bytes]]) -> bool:
        schema = self._extension()
        if schema:
            self._server.execute_many(
                _PUT.format(schema=schema),
                [
                    (bank, model, hash, part, data, to_half_vector(data))
                    for hash, part, data in vectors
                ],
            )
        return bool(schema)

    def _place(self, schema: str, bank: str, model: str) -> None:
        """Add the 16-bit floats of vectors that have none. Damaged vectors stay unplaced."""
        number = 0
        while some := self._unplaced(bank, model, number, _BATCH_ROWS):
            number = some[-1].number
            halves = [(to_half_vector(vector.data), bank, model, vector.number) for vector in some]
            self._server.execute_many(
                _PLACE.format(schema=schema), [row for row in halves if row[0] is not None]
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
            )
        )


def _index_of(bank: str, model: str, size: int) -> str:
    return f"half_vector_{crc32(f'{bank} {model} {size}'.encode()):08x}"


def _literal(text: str) -> str:
    return sql.Literal(text).as_string()
