CREATE TABLE patch (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    changes TEXT NOT NULL,
    diff TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE revert (
    bank TEXT NOT NULL,
    reverted TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, reverted, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE repository (
    bank TEXT NOT NULL,
    path TEXT NOT NULL,
    head TEXT NOT NULL,
    tips TEXT NOT NULL,
    read_at TEXT NOT NULL,
    PRIMARY KEY (bank, path)
) STRICT;

CREATE TABLE astray (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag (
    bank TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (bank, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_commit ON tag (bank, id);

CREATE TABLE authored (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    exchange TEXT NOT NULL,
    score REAL NOT NULL,
    because TEXT NOT NULL,
    PRIMARY KEY (bank, id, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX authored_session ON authored (bank, session);
