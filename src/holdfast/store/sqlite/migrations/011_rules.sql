CREATE TABLE rule_file (
    bank TEXT NOT NULL,
    file TEXT NOT NULL,
    root TEXT NOT NULL,
    stamp TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (bank, file)
) STRICT;

CREATE TABLE rule (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    path TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    domain TEXT NOT NULL,
    paths TEXT NOT NULL,
    trust TEXT NOT NULL,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    updated TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE pattern (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    content TEXT NOT NULL,
    domain TEXT NOT NULL,
    confidence REAL NOT NULL,
    occurrences INTEGER NOT NULL,
    trust TEXT NOT NULL,
    sources TEXT NOT NULL,
    authors TEXT NOT NULL,
    evidence TEXT NOT NULL,
    against TEXT NOT NULL,
    files TEXT NOT NULL,
    last TEXT NOT NULL,
    decides INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE proposal (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    domain TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    made TEXT NOT NULL,
    trust TEXT NOT NULL,
    paths TEXT NOT NULL,
    evidence TEXT NOT NULL,
    base TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE refusal (
    bank TEXT NOT NULL,
    seq INTEGER NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    why TEXT NOT NULL,
    time TEXT NOT NULL,
    who TEXT NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (bank, seq)
) STRICT;

CREATE TABLE statement (
    bank TEXT NOT NULL,
    uri TEXT NOT NULL,
    place INTEGER NOT NULL,
    session TEXT NOT NULL,
    source TEXT NOT NULL,
    author TEXT NOT NULL,
    time TEXT NOT NULL,
    text TEXT NOT NULL,
    trust TEXT NOT NULL,
    decides INTEGER NOT NULL,
    quotable INTEGER NOT NULL,
    about TEXT NOT NULL,
    files TEXT NOT NULL,
    PRIMARY KEY (bank, uri, place)
) STRICT;
CREATE INDEX statement_session ON statement (bank, session);
