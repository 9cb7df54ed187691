-- Searching is one function for words, phrases and starts of words: it finds by the index and counts.
DROP FUNCTION matching_passages(tsquery, text);

-- How often a passage has a word: 1 for once in the body, 0.4 in the context, and half of that for
-- parts of words. `ts_rank` is the sum of 1 / n² over its places, divided by π² / 6, from which their
-- number follows; of a phrase it is about 1.
CREATE FUNCTION occurrences(words tsvector, query tsquery) RETURNS double precision
    LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN numnode(query) > 1 THEN ts_rank('{0.2, 0.5, 0.4, 1.0}', words, query)
        ELSE 1 / greatest(1.64493407 * (1 - ts_rank('{0.2, 0.5, 0.4, 1.0}', words, query)), 1e-3)
            - 0.5 END
$$;

-- The passages that match each query, of one bank or of all that the connection may see, up to `most`
-- for each, and how often. Row security keeps the index on `words` from being used, because comparing
-- words might tell of rows that are not shown; so this function searches with the owner's rights and
-- keeps to the banks itself, which the index does by the word for a bank. Before version 18, a
-- function in SQL would be planned once for any bank, and read every partition.
CREATE FUNCTION word_hits(queries tsquery[], home text, home_word tsquery, most bigint)
    RETURNS TABLE (term bigint, number bigint, kind text, "time" text, length bigint,
        often double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
    IF home IS NULL THEN
        RETURN QUERY SELECT q.term, h.* FROM unnest(queries) WITH ORDINALITY AS q (query, term)
            CROSS JOIN LATERAL (SELECT p.number, p.kind, p.time, p.length,
                occurrences(p.words, q.query)
                FROM passage AS p WHERE p.words @@ q.query AND may_see(p.bank) LIMIT most) AS h;
    ELSIF may_see(home) THEN
        RETURN QUERY SELECT q.term, h.* FROM unnest(queries) WITH ORDINALITY AS q (query, term)
            CROSS JOIN LATERAL (SELECT p.number, p.kind, p.time, p.length,
                occurrences(p.words, q.query)
                FROM passage AS p WHERE p.words @@ (home_word && q.query) AND p.bank = home
                LIMIT most) AS h;
    END IF;
END $$;

-- The words of passages are made again in the background, the latest first; until then nearly all
-- are found by those that are there.
DELETE FROM unindexed_parts;
INSERT INTO unindexed_parts SELECT bank, max(number) FROM passage GROUP BY bank;

-- D, of this server. Whether pgvector works here: `problem` is '' where it does.
CREATE TABLE IF NOT EXISTS extension_trial (
    extension text COLLATE "C" PRIMARY KEY,
    problem text COLLATE "C" NOT NULL,
    time timestamptz NOT NULL DEFAULT now()
);

-- Whether a connection may change what it sees: not where a principal only reads.
CREATE FUNCTION may_change() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(current_setting('holdfast.changes', true), '') <> 'off'
$$;

-- Lets every table show a connection only the rows of the banks that it was opened for, and change
-- no others; called after the migrations. The rows of a table without a bank belong to the bank of
-- the row that a column names (a migration that adds another such table makes its policies), or they
-- are for connections without limits. Lists of numbers say nothing without the rows that they are
-- numbers of. Every connection may read and write what has no texts, and the ledger of model calls,
-- whose caps hold for all callers together.
CREATE FUNCTION enable_row_security() RETURNS void LANGUAGE plpgsql AS $$
DECLARE name text; has_bank boolean; seen text; BEGIN
    FOR name IN SELECT p.polrelid::regclass FROM pg_policy AS p JOIN pg_class AS c
            ON c.oid = p.polrelid WHERE c.relnamespace = current_schema()::regnamespace
            AND p.polname = 'banks' LOOP -- the only one, before version 10
        EXECUTE format('DROP POLICY banks ON %s', name);
        EXECUTE format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', name);
    END LOOP;
    FOR name, has_bank IN SELECT c.relname, EXISTS (SELECT 1 FROM pg_attribute AS a
            WHERE a.attrelid = c.oid AND a.attname = 'bank' AND NOT a.attisdropped)
        FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace
            AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
            AND c.relname NOT IN ('change_counter', 'migration', 'extension_trial',
                'model_call', 'service_pause', 'failed_task') LOOP
        seen := CASE WHEN name = 'bank' THEN 'may_see(id)' WHEN has_bank THEN 'may_see(bank)'
            WHEN name IN ('ledger', 'failed_line', 'redaction') THEN
                'EXISTS (SELECT 1 FROM source AS p WHERE p.id = source)'
            WHEN name IN ('labelled_record', 'entity_mention', 'spelling_equivalence') THEN 'true'
            ELSE 'may_see(''*'') AND may_change()' END;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY seen ON %I FOR SELECT USING (%s)', name, seen);
        EXECUTE format('CREATE POLICY added ON %I FOR INSERT WITH CHECK (%s AND may_change())',
            name, seen);
        EXECUTE format('CREATE POLICY changed ON %I FOR UPDATE USING (%s) '
            'WITH CHECK (%s AND may_change())', name, seen, seen);
        EXECUTE format('CREATE POLICY removed ON %I FOR DELETE USING (%s AND may_change())',
            name, seen);
    END LOOP;
END $$;

-- The role that a session takes for a principal with limits: '' for its own, where row security
-- applies to that; otherwise one that has no rights but to these tables, made the first time.
CREATE FUNCTION limited_role() RETURNS text LANGUAGE plpgsql AS $$
DECLARE home text := current_schema(); name text; BEGIN
    IF row_security_active('passage') THEN
        RETURN '';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('holdfast role'), hashtext(home));
    SELECT format('holdfast_%s_%s', d.oid, n.oid) INTO name FROM pg_database AS d, pg_namespace AS n
        WHERE d.datname = current_database() AND n.nspname = home;
    IF to_regrole(name) IS NULL THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    END IF;
    IF NOT pg_has_role(session_user, name, 'SET') THEN
        EXECUTE format('GRANT %I TO %I WITH INHERIT FALSE, SET TRUE', name, session_user);
    END IF;
    IF EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = home::regnamespace
            AND relkind IN ('r', 'p', 'v') AND NOT has_table_privilege(name, oid, 'DELETE')) THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %1$I TO %2$I;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %1$I TO %2$I;
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA %1$I TO %2$I;
            ALTER DEFAULT PRIVILEGES IN SCHEMA %1$I
                GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %2$I;
            ALTER DEFAULT PRIVILEGES IN SCHEMA %1$I GRANT USAGE ON SEQUENCES TO %2$I', home, name);
    END IF;
    RETURN name;
END $$;

-- Banks are scanned whole.
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT i.indexrelid::regclass::text FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
        WHERE a.amname = 'hnsw' AND c.relnamespace = current_schema()::regnamespace LOOP
        EXECUTE 'DROP INDEX ' || name;
    END LOOP;
END $$;
