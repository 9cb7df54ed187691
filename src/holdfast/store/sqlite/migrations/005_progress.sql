CREATE TABLE changed (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    UNIQUE (bank, session)
) STRICT;
INSERT INTO changed (bank, session) SELECT bank, id FROM session ORDER BY ended, id;
INSERT INTO changed (bank, session) SELECT id, '' FROM bank;

CREATE TABLE reached (
    bank TEXT NOT NULL,
    stage TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (bank, stage)
) STRICT;
