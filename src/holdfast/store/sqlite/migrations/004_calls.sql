CREATE TABLE call (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    session TEXT NOT NULL,
    operation TEXT NOT NULL,
    service TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    tokens_cached INTEGER NOT NULL,
    usd REAL,
    ms INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    problem TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX call_time ON call (time);
CREATE INDEX call_session ON call (bank, session);

CREATE TABLE pause (
    service TEXT PRIMARY KEY,
    until TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    problem TEXT NOT NULL,
    since TEXT NOT NULL
) STRICT;

CREATE TABLE summary (
    bank TEXT NOT NULL,
    hash TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    record TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    model TEXT NOT NULL,
    time TEXT NOT NULL,
    content TEXT NOT NULL,
    problem TEXT NOT NULL,
    PRIMARY KEY (bank, hash, version)
) STRICT;
CREATE INDEX summary_record ON summary (bank, record, last_seq);

ALTER TABLE exchange ADD COLUMN author TEXT NOT NULL DEFAULT '';
ALTER TABLE digest ADD COLUMN author TEXT NOT NULL DEFAULT '';
