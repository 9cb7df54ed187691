-- How many vectors a bank has of a model: each search by meaning wants to know, and counting takes as
-- long as comparing.
CREATE TABLE vector_count (
    bank TEXT NOT NULL,
    model TEXT NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (bank, model)
) STRICT, WITHOUT ROWID;
INSERT INTO vector_count SELECT bank, model, count(*) FROM vector GROUP BY bank, model;
CREATE TRIGGER vector_counted AFTER INSERT ON vector BEGIN
    INSERT OR IGNORE INTO vector_count VALUES (new.bank, new.model, 0);
    UPDATE vector_count SET total = total + 1 WHERE bank = new.bank AND model = new.model;
END;
CREATE TRIGGER vector_uncounted AFTER DELETE ON vector BEGIN
    UPDATE vector_count SET total = total - 1 WHERE bank = old.bank AND model = old.model;
    DELETE FROM vector_count WHERE bank = old.bank AND model = old.model AND total = 0;
END;
