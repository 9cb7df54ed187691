"""The nearest vectors, found by the server where it has the extension pgvector.

Beside each vector is one of 16-bit floats (`half_vector.sql`), which only selects candidates: the
caller compares the vectors themselves. A bank is scanned as a whole, which is exact. A trigger adds
a row for every vector, also for one that a program without pgvector wrote; those that have no
16-bit floats yet are returned with the candidates.

A build of pgvector for another CPU crashes the server at the first distance. So it is tried once
before it is used, and that it crashes is written down before that, and taken back afterwards: where
the server or this process dies, nobody tries it again until somebody asks for that. When a
connection is lost in a search, it is tried again in the same way. Without it the caller compares
all vectors itself.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, LiteralString, NamedTuple, cast

import numpy as np
import psycopg
from psycopg import pq
from psycopg.adapt import Dumper

from holdfast.errors import StoreUnavailableError
from holdfast.store.index.vectors import StoredVector
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.postgres.errors import reason
from holdfast.store.postgres.partitions import partitioned
from holdfast.store.sql.statements import batches

# With more vectors than this that are not indexed, the caller compares all vectors itself.
_MAX_UNINDEXED = 2000
# Vectors that are indexed at a time, and that are stored in one statement.
_BATCH_ROWS = 1000
_PUT_ROWS = 200
# Candidates for each hit that is wanted: 16-bit floats order near neighbours slightly differently.
_CANDIDATES_PER_HIT = 2
# Vectors of a bank among which the farthest are looked for, to tell how far apart they are.
_SAMPLE_ROWS = 1000
# Embeddings have a length of at most 1, so a larger value means damage; and what pgvector takes.
_MAX_VALUE, _MAX_DIMENSIONS = 2.0, 16_000
# After how long it is looked up again whether what was wrong with pgvector was mended.
_LOOK_AGAIN_S = 60.0

_STATE = (
    "SELECT (SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n "
    "ON n.oid = e.extnamespace WHERE e.extname = 'vector'), "
    "EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('half_vector') "
    "AND attname = 'direction' AND NOT attisdropped), "
    "(SELECT problem FROM extension_trial WHERE extension = 'vector')"
)
CRASHED = "the server crashed when it compared vectors with it"
_EXPECT_CRASH: LiteralString = (
    f"INSERT INTO extension_trial (extension, problem) VALUES ('vector', '{CRASHED}') "
    "ON CONFLICT (extension) DO UPDATE SET problem = excluded.problem, time = now() "
    "WHERE extension_trial.problem = ''"
)
_NOTE: LiteralString = "UPDATE extension_trial SET problem = %s WHERE extension = 'vector'"
# 64 dimensions, enough for the instructions of any CPU that work on many numbers at once.
_COMPARE = (
    "SELECT a.v::{schema}.halfvec(64) OPERATOR({schema}.<#>) a.v::{schema}.halfvec(64) FROM "
    "(SELECT '[' || string_agg('0.1', ',') || ']' AS v FROM generate_series(1, 64)) AS a"
)

_PUT = (
    "WITH given (hash, part, data, direction) AS (VALUES {rows}), put AS ("
    "INSERT INTO vector (bank, model, hash, part, data) SELECT %s, %s, hash, part, data FROM given "
    "ON CONFLICT DO NOTHING RETURNING bank, model, number, hash, part) "
    "INSERT INTO half_vector SELECT bank, model, number, direction FROM put "
    "JOIN given USING (hash, part) ON CONFLICT DO NOTHING"
)
_PUT_ROW = "(%s::text, %s::bigint, %s::bytea, %s::{schema}.halfvec)"
_WITHOUT = (
    "SELECT v.data, v.bank, v.number FROM half_vector AS n JOIN vector AS v ON v.bank = n.bank "
    "AND v.model = n.model AND v.number = n.number WHERE n.model = %s AND n.direction IS NULL "
    "AND n.number > %s ORDER BY n.number LIMIT %s"
)
_PLACE = (
    "UPDATE half_vector SET direction = ?::{schema}.halfvec "
    "WHERE model = ? AND bank = ? AND number = ?"
)
_COUNT_WITHOUT = (
    "SELECT count(*) FROM (SELECT 1 FROM half_vector WHERE bank = %s AND model = %s "
    "AND direction IS NULL LIMIT %s) AS n"
)
# The condition on trials is looked at once, before anything is compared.
_NEAREST = """WITH compared AS NOT MATERIALIZED (
    SELECT number, direction OPERATOR({schema}.<#>) %(query)s::{schema}.halfvec AS apart
    FROM half_vector AS n WHERE bank = %(bank)s AND model = %(model)s
        AND {schema}.vector_dims(direction) = %(size)s
        AND NOT EXISTS (SELECT 1 FROM extension_trial WHERE problem <> '')
), named AS (
    (SELECT number FROM compared AS n WHERE true{kinds} ORDER BY apart LIMIT %(limit)s) UNION
    (SELECT number FROM (SELECT * FROM compared LIMIT %(sample)s) AS sampled
        ORDER BY apart DESC LIMIT 3) UNION
    SELECT number FROM half_vector
        WHERE bank = %(bank)s AND model = %(model)s AND direction IS NULL
)
SELECT v.number, v.hash, v.part, v.data FROM named JOIN vector AS v
    ON v.number = named.number AND v.bank = %(bank)s"""
_OF_KINDS = (
    " AND EXISTS (SELECT 1 FROM vector AS v JOIN passage AS p ON p.bank = v.bank AND p.hash = "
    "v.hash WHERE v.number = n.number AND v.bank = %(bank)s AND p.kind = ANY (%(kinds)s))"
)


class _HalfVector(bytes):
    """A vector of 16-bit floats in pgvector's binary format."""


class _HalfVectorDumper(Dumper):
    format = pq.Format.BINARY
    oid = 0  # the statement casts it to its type

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


psycopg.adapters.register_dumper(_HalfVector, _HalfVectorDumper)


def to_half_vector(data: bytes) -> _HalfVector | None:
    """A stored vector as 16-bit floats; None where it is damaged or not one that a model gives."""
    if not data or len(data) % 4 or len(data) > 4 * _MAX_DIMENSIONS:
        return None
    floats = np.frombuffer(data, "<f4")
    if not np.abs(floats).max() <= _MAX_VALUE:  # also of what is no number
        return None
    return _HalfVector(struct.pack(">hh", len(floats), 0) + floats.astype(">f2").tobytes())


class _State(NamedTuple):
    """The schema of the extension, quoted (None: not installed); whether the table of 16-bit
    vectors is there; and what is wrong (None: never tried)."""

    extension: str | None
    has_table: bool
    problem: str | None


def create_half_vectors(server: PostgresConnection) -> None:
    """Make the table of 16-bit vectors, as the owner of the tables, where the extension is there
    and works."""
    state = _state(server)
    if state.has_table or not state.extension or _problem(server, state):
        return
    with server.transaction():
        if not _state(server).has_table:
            text = Path(__file__).with_name("half_vector.sql").read_text("utf-8")
            script = text.replace("{schema}", state.extension)
            server.script(
                "DROP TABLE IF EXISTS half_vector;" + partitioned(script, server.partitions)
            )


def _state(server: PostgresConnection) -> _State:
    return _State(*server.query(_STATE)[0])


def _problem(server: PostgresConnection, state: _State) -> str:
    """What is wrong with the extension, which is tried if it never was; "" if nothing is."""
    return _try(server, state) if state.problem is None else state.problem


def _try(server: PostgresConnection, state: _State) -> str:
    """Compare two vectors, on a connection beside the transaction that may be open. Where it cannot
    be written down beforehand, or somebody else tries it, it is not tried."""
    raw = server.pool.lease()
    try:
        # Also by a connection that only reads what is remembered.
        raw.execute("SET default_transaction_read_only = off; SET synchronous_commit = on")
        if not raw.execute(_EXPECT_CRASH).rowcount:
            return str(_state(server).problem)
        problem = ""
        try:
            raw.execute(cast(LiteralString, _COMPARE.format(schema=state.extension)))
        except psycopg.Error as error:
            if raw.closed:
                return CRASHED
            problem = f"it does not work: {reason(error)}"
        raw.execute(_NOTE, (problem,))
        return problem
    except psycopg.Error as error:
        return f"that it is tried cannot be written down: {reason(error)}"
    finally:
        raw.close()  # its settings are no others'
        server.pool.putconn(raw)


class PgVectorIndex:
    """Finds, stores and indexes vectors with pgvector, where the server has it."""

    def __init__(self, server: PostgresConnection) -> None:
        self._server = server
        self._pool = server.pool

    def nearest(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str]
    ) -> list[StoredVector] | None:
        schema, wanted = self._schema(), to_half_vector(query)
        if not schema or wanted is None:
            return None
        if self._count(bank, model, _MAX_UNINDEXED + 1) > _MAX_UNINDEXED:
            return None
        values = {
            "query": wanted, "bank": bank, "model": model, "size": len(query) // 4,
            "limit": limit * _CANDIDATES_PER_HIT, "sample": _SAMPLE_ROWS, "kinds": list(kinds),
        }  # fmt: skip
        statement = _NEAREST.format(schema=schema, kinds=_OF_KINDS if kinds else "")
        try:
            found = self._server.query(statement, values, once=True)
        except StoreUnavailableError:
            if self._server.in_transaction:
                raise
            self._pool.vector_schema = ""  # for other threads, meanwhile
            _try(self._server, _state(self._server))  # it crashed, or the way to it was lost
            self._pool.vector_schema = None
            return None
        if not found:  # perhaps it crashed for somebody else
            self._pool.vector_schema = None
        return [StoredVector(*row) for row in found] or None

    def unindexed(self, bank: str, model: str) -> int | None:
        return self._count(bank, model) if self._schema() else None

    def _count(self, bank: str, model: str, most: int | None = None) -> int:
        return self._server.query(_COUNT_WITHOUT, (bank, model, most))[0][0]

    def problem(self) -> str:
        self._schema()
        return self._pool.vector_problem

    def try_again(self) -> str:
        with self._server.transaction(lock=False):
            self._server.run("DELETE FROM extension_trial WHERE extension = 'vector'")
        self._pool.vector_schema = None
        return self.problem()

    def _schema(self) -> str:
        """The schema of the extension, quoted for statements; "" where it is not used."""
        pool = self._pool
        late = time.monotonic() > pool.looked_at + _LOOK_AGAIN_S
        if pool.vector_schema is None or (pool.vector_problem and late):
            state = _state(self._server)
            usable = state.extension is not None and state.has_table
            problem = _problem(self._server, state) if usable else state.problem
            pool.vector_problem = f"pgvector is not used: {problem}" if problem else ""
            pool.vector_schema = str(state.extension) if usable and not problem else ""
            pool.looked_at = time.monotonic()
        return pool.vector_schema

    def index(self, model: str) -> bool:
        """Add the 16-bit floats of vectors that have none. Damaged vectors stay without."""
        schema, number = self._schema(), 0
        if not schema:
            return False
        while some := self._server.query(_WITHOUT, (model, number, _BATCH_ROWS)):
            number = some[-1][2]
            halves = [(to_half_vector(data), model, bank, n) for data, bank, n in some]
            self._server.run_many(
                _PLACE.format(schema=schema), [row for row in halves if row[0] is not None]
            )
        return True

    def put(self, bank: str, model: str, vectors: Sequence[tuple[str, int, bytes]]) -> bool:
        schema = self._schema()
        if not schema:
            return False
        for some in batches(vectors, _PUT_ROWS):
            rows = ", ".join([_PUT_ROW.format(schema=schema)] * len(some))
            values = [cell for row in some for cell in (*row, to_half_vector(row[2]))]
            self._server.query(_PUT.format(rows=rows), (*values, bank, model))
        return True
