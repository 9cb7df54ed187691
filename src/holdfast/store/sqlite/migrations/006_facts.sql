CREATE TABLE claim (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    exchange TEXT NOT NULL,
    turn TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    trust TEXT NOT NULL,
    by_person INTEGER NOT NULL,
    status TEXT NOT NULL,
    changed TEXT NOT NULL,
    because TEXT NOT NULL,
    share REAL NOT NULL,
    told REAL NOT NULL,
    problem TEXT NOT NULL,
    signature TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    files TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_session ON claim (bank, session, seq);
CREATE INDEX claim_turn ON claim (bank, turn);

CREATE TABLE fact (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    confidence REAL NOT NULL,
    trust TEXT NOT NULL,
    problem TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    contradictions INTEGER NOT NULL,
    last_validated TEXT NOT NULL,
    status TEXT NOT NULL,
    since TEXT NOT NULL,
    until TEXT NOT NULL,
    learned TEXT NOT NULL,
    evidence TEXT NOT NULL,
    against TEXT NOT NULL,
    supersedes TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    files TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE life (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    status TEXT NOT NULL,
    because TEXT NOT NULL,
    PRIMARY KEY (bank, kind, id, time, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE bearing (
    bank TEXT NOT NULL,
    fact TEXT NOT NULL,
    time TEXT NOT NULL,
    uri TEXT NOT NULL,
    how TEXT NOT NULL,
    PRIMARY KEY (bank, fact, time, uri, how)
) STRICT, WITHOUT ROWID;
CREATE INDEX bearing_uri ON bearing (bank, uri);

CREATE TABLE review (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    reason TEXT NOT NULL,
    opened TEXT NOT NULL,
    evidence TEXT NOT NULL,
    state TEXT NOT NULL,
    decided TEXT NOT NULL,
    "by" TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE advice (
    bank TEXT NOT NULL,
    review TEXT NOT NULL,
    time TEXT NOT NULL,
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (bank, review)
) STRICT;

CREATE TABLE dropped (
    bank TEXT NOT NULL,
    reason TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (bank, reason)
) STRICT, WITHOUT ROWID;

INSERT OR REPLACE INTO stale SELECT bank, id, 0 FROM session;
