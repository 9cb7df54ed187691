-- D. A vector once more, as 16-bit floats that pgvector compares; NULL until they are added.
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
SELECT enable_row_security();
