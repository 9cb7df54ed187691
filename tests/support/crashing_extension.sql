-- An extension `vector` that crashes the server as a build of pgvector for another CPU does: at any
-- distance, the process that computes it gets the signal of an illegal instruction. Its vectors are
-- the bytes that pgvector receives, and its index is a B-tree.

CREATE TYPE halfvec;
CREATE FUNCTION halfvec_in(cstring) RETURNS halfvec
    AS 'byteain' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION halfvec_out(halfvec) RETURNS cstring
    AS 'byteaout' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION halfvec_recv(internal) RETURNS halfvec
    AS 'bytearecv' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION halfvec_send(halfvec) RETURNS bytea
    AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION halfvec_typmod_in(cstring[]) RETURNS integer
    AS 'varchartypmodin' LANGUAGE internal IMMUTABLE STRICT;
CREATE FUNCTION halfvec_typmod_out(integer) RETURNS cstring
    AS 'varchartypmodout' LANGUAGE internal IMMUTABLE STRICT;
CREATE TYPE halfvec (
    INPUT = halfvec_in, OUTPUT = halfvec_out, RECEIVE = halfvec_recv, SEND = halfvec_send,
    TYPMOD_IN = halfvec_typmod_in, TYPMOD_OUT = halfvec_typmod_out, STORAGE = extended
);
CREATE CAST (halfvec AS bytea) WITHOUT FUNCTION;
CREATE FUNCTION vector_dims(halfvec) RETURNS integer LANGUAGE sql IMMUTABLE STRICT
    AS 'SELECT (octet_length($1::bytea) - 4) / 2';

-- The parent of the program is the process of the connection.
CREATE FUNCTION halfvec_negative_inner_product(halfvec, halfvec) RETURNS double precision
    LANGUAGE plpgsql STRICT SECURITY DEFINER AS $$ BEGIN
    COPY (SELECT 1) TO PROGRAM 'kill -ILL $PPID';
    RETURN 0;
END $$;
CREATE OPERATOR <#> (
    LEFTARG = halfvec, RIGHTARG = halfvec, PROCEDURE = halfvec_negative_inner_product,
    COMMUTATOR = '<#>'
);

CREATE FUNCTION halfvec_order(halfvec, halfvec) RETURNS integer
    LANGUAGE plpgsql STRICT SECURITY DEFINER AS $$ BEGIN
    COPY (SELECT 1) TO PROGRAM 'kill -ILL $PPID';
    RETURN 0;
END $$;
CREATE ACCESS METHOD hnsw TYPE INDEX HANDLER bthandler;
CREATE OPERATOR CLASS halfvec_ip_ops FOR TYPE halfvec USING hnsw AS
    FUNCTION 1 halfvec_order(halfvec, halfvec);
