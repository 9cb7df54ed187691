-- How many vectors a bank has of a model: each search by meaning wants to know, and counting takes as
-- long as comparing. Nobody may add or remove any between the count and the triggers.
LOCK TABLE vector IN SHARE ROW EXCLUSIVE MODE;
CREATE TABLE vector_count (
    bank text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    total bigint NOT NULL,
    PRIMARY KEY (bank, model)
);
INSERT INTO vector_count SELECT bank, model, count(*) FROM vector GROUP BY bank, model;
CREATE FUNCTION vector_counted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO vector_count SELECT bank, model, count(*) FROM added GROUP BY bank, model
        ON CONFLICT (bank, model) DO UPDATE SET total = vector_count.total + excluded.total;
    RETURN NULL;
END $$;
CREATE FUNCTION vector_uncounted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE vector_count SET total = total - gone.many
        FROM (SELECT bank, model, count(*) AS many FROM removed GROUP BY bank, model) AS gone
        WHERE vector_count.bank = gone.bank AND vector_count.model = gone.model;
    DELETE FROM vector_count USING (SELECT DISTINCT bank, model FROM removed) AS gone
        WHERE vector_count.bank = gone.bank AND vector_count.model = gone.model AND total = 0;
    RETURN NULL;
END $$;
CREATE TRIGGER vector_counted AFTER INSERT ON vector REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION vector_counted();
CREATE TRIGGER vector_uncounted AFTER DELETE ON vector REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION vector_uncounted();
