CREATE TABLE made (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    rules INTEGER NOT NULL,
    PRIMARY KEY (bank, session)
) STRICT, WITHOUT ROWID;
