CREATE TABLE bank (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created TEXT NOT NULL,
    background TEXT NOT NULL,
    skepticism INTEGER NOT NULL,
    literalism INTEGER NOT NULL,
    empathy INTEGER NOT NULL
) STRICT;

CREATE TABLE alias (
    alias TEXT PRIMARY KEY,
    bank TEXT NOT NULL REFERENCES bank (id)
) STRICT;

CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    bank TEXT NOT NULL REFERENCES bank (id),
    offset INTEGER NOT NULL DEFAULT 0,
    lines INTEGER NOT NULL DEFAULT 0,
    prefix TEXT NOT NULL DEFAULT '',
    stamp TEXT NOT NULL DEFAULT '',
    l1_bytes INTEGER NOT NULL DEFAULT 0,
    rewrites INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'live',
    problem TEXT NOT NULL DEFAULT '',
    read_at TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE ledger (
    source INTEGER NOT NULL REFERENCES source (id),
    fate TEXT NOT NULL,
    reason TEXT NOT NULL,
    lines INTEGER NOT NULL,
    PRIMARY KEY (source, fate, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE failure (
    source INTEGER NOT NULL REFERENCES source (id),
    line INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    reason TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    reader INTEGER NOT NULL,
    PRIMARY KEY (source, line)
) STRICT;

CREATE TABLE redaction (
    source INTEGER NOT NULL REFERENCES source (id),
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (source, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    host TEXT NOT NULL,
    agent TEXT NOT NULL,
    parent TEXT NOT NULL,
    subagent TEXT NOT NULL,
    title TEXT NOT NULL,
    cwd TEXT NOT NULL,
    branch TEXT NOT NULL,
    version TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX session_host ON session (host);
CREATE INDEX session_ended ON session (bank, ended);

CREATE TABLE turn (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    role TEXT NOT NULL,
    trust TEXT NOT NULL,
    text TEXT NOT NULL,
    speaker TEXT NOT NULL,
    branch TEXT NOT NULL,
    tool TEXT,
    target TEXT,
    lines TEXT,
    action TEXT,
    result TEXT,
    ok INTEGER,
    duration_ms INTEGER,
    call TEXT,
    source INTEGER NOT NULL,
    line INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    ref TEXT NOT NULL,
    PRIMARY KEY (bank, id),
    FOREIGN KEY (bank, session) REFERENCES session (bank, id)
) STRICT;
CREATE UNIQUE INDEX turn_place ON turn (bank, session, seq);
CREATE INDEX turn_source ON turn (source);
CREATE INDEX turn_call ON turn (bank, call, session) WHERE call <> '';

CREATE TABLE "commit" (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    author TEXT NOT NULL,
    email TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    files TEXT NOT NULL,
    parents TEXT NOT NULL,
    trust TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE curation (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    time TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    who TEXT NOT NULL
) STRICT;
CREATE TRIGGER curation_keeps_its_numbers BEFORE INSERT ON curation
    WHEN new.seq IN (SELECT seq FROM curation)
    BEGIN SELECT RAISE(ABORT, 'the curation log is append-only'); END;
CREATE TRIGGER curation_is_append_only BEFORE UPDATE ON curation
    BEGIN SELECT RAISE(ABORT, 'the curation log is append-only'); END;
CREATE TRIGGER curation_is_kept BEFORE DELETE ON curation
    BEGIN SELECT RAISE(ABORT, 'the curation log is append-only'); END;

CREATE TABLE stale (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    first INTEGER NOT NULL,
    PRIMARY KEY (bank, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE exchange (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    details TEXT NOT NULL,
    outcome TEXT NOT NULL,
    trust TEXT NOT NULL,
    facts TEXT NOT NULL,
    keywords TEXT NOT NULL,
    files_read TEXT NOT NULL,
    files_modified TEXT NOT NULL,
    branch TEXT NOT NULL,
    status TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX exchange_session ON exchange (bank, session, first_seq);

CREATE TABLE label (
    id INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    sort TEXT NOT NULL,
    text TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (bank, sort, text)
) STRICT;
CREATE INDEX label_name ON label (bank, sort, name);

CREATE TABLE labelled (
    label INTEGER NOT NULL,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (label, time, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE bearer (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    labels TEXT NOT NULL,
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER exchange_removed AFTER DELETE ON exchange BEGIN
    DELETE FROM bearer WHERE bank = old.bank AND kind = 'exchange' AND id = old.id;
END;
CREATE TRIGGER bearer_removed AFTER DELETE ON bearer BEGIN
    DELETE FROM labelled WHERE label IN (SELECT value FROM json_each(old.labels))
        AND time = old.time AND kind = old.kind AND id = old.id;
END;
CREATE TRIGGER label_unused AFTER DELETE ON labelled
    WHEN NOT EXISTS (SELECT 1 FROM labelled WHERE label = old.label)
    BEGIN DELETE FROM label WHERE id = old.label; END;

CREATE TABLE digest (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    request TEXT NOT NULL,
    outcome TEXT NOT NULL,
    trust TEXT NOT NULL,
    investigated TEXT NOT NULL,
    learned TEXT NOT NULL,
    completed TEXT NOT NULL,
    next_steps TEXT NOT NULL,
    topics TEXT NOT NULL,
    exchanges INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX digest_session ON digest (bank, session);

CREATE TABLE passage (
    rowid INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    time TEXT NOT NULL,
    scope TEXT NOT NULL,
    body TEXT NOT NULL,
    context TEXT NOT NULL,
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    role TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (bank, kind, id)
) STRICT;
CREATE INDEX passage_session ON passage (bank, session, kind, seq);
CREATE INDEX passage_hash ON passage (bank, hash);
CREATE INDEX passage_time ON passage (bank, kind, time);

CREATE TABLE vector (
    rowid INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    model TEXT NOT NULL,
    hash TEXT NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (bank, model, hash, part)
) STRICT;
CREATE INDEX vector_number ON vector (bank, model);

CREATE VIRTUAL TABLE fts USING fts5 (
    scope, body, context,
    content = 'passage', content_rowid = 'rowid',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER passage_added AFTER INSERT ON passage BEGIN
    INSERT INTO fts (rowid, scope, body, context)
    VALUES (new.rowid, new.scope, new.body, new.context);
END;
CREATE TRIGGER passage_removed AFTER DELETE ON passage BEGIN
    INSERT INTO fts (fts, rowid, scope, body, context)
    VALUES ('delete', old.rowid, old.scope, old.body, old.context);
END;
