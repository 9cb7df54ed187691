CREATE TABLE used (
    bank TEXT NOT NULL,
    record TEXT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (bank, record, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX used_session ON used (bank, session);
