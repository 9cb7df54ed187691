ALTER TABLE bank ADD COLUMN retention INTEGER NOT NULL DEFAULT 0;

CREATE TABLE dimension (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    network TEXT NOT NULL,
    confidence REAL,
    place TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE sighting (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    network TEXT NOT NULL,
    what TEXT NOT NULL,
    trust TEXT NOT NULL,
    place TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    context TEXT NOT NULL,
    evidence TEXT NOT NULL,
    needs INTEGER NOT NULL,
    confidence REAL,
    PRIMARY KEY (bank, session, key)
) STRICT;
CREATE INDEX sighting_key ON sighting (bank, key);

CREATE TABLE unshown (
    bank TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (bank, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER sighting_added AFTER INSERT ON sighting BEGIN
    INSERT OR IGNORE INTO unshown VALUES (new.bank, new.key);
END;
CREATE TRIGGER sighting_removed AFTER DELETE ON sighting BEGIN
    INSERT OR IGNORE INTO unshown VALUES (old.bank, old.key);
END;

CREATE TABLE retained (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    key TEXT NOT NULL,
    time TEXT NOT NULL,
    network TEXT NOT NULL,
    what TEXT NOT NULL,
    trust TEXT NOT NULL,
    place TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    evidence TEXT NOT NULL,
    seen INTEGER NOT NULL,
    confidence REAL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE UNIQUE INDEX retained_key ON retained (bank, key);

CREATE TABLE stance (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    uri TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    target TEXT NOT NULL,
    aspect TEXT NOT NULL,
    name TEXT NOT NULL,
    word TEXT NOT NULL,
    positive INTEGER NOT NULL,
    weight REAL NOT NULL,
    who TEXT NOT NULL,
    trust TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (bank, session, uri, target, aspect)
) STRICT;

CREATE TABLE opinion (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    target TEXT NOT NULL,
    aspect TEXT NOT NULL,
    positive INTEGER NOT NULL,
    what TEXT NOT NULL,
    why TEXT NOT NULL,
    confidence REAL NOT NULL,
    trend TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    formed TEXT NOT NULL,
    updated TEXT NOT NULL,
    latest TEXT NOT NULL,
    sessions INTEGER NOT NULL,
    favour TEXT NOT NULL,
    against TEXT NOT NULL,
    tension TEXT NOT NULL,
    settled TEXT NOT NULL,
    author TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE belief (
    bank TEXT NOT NULL,
    opinion TEXT NOT NULL,
    number INTEGER NOT NULL,
    time TEXT NOT NULL,
    confidence REAL NOT NULL,
    favour INTEGER NOT NULL,
    against INTEGER NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (bank, opinion, number)
) STRICT;

UPDATE passage SET role = 'world' WHERE kind = 'memory';

CREATE VIEW known_memory AS
    SELECT r.bank AS bank, r.id AS id, r.time AS time, r.who AS who, r.text AS text,
        coalesce(d.network, 'world') AS network, coalesce(d.place, '') AS place,
        coalesce(d.why, '') AS why, d.confidence AS confidence, 'user' AS trust,
        'verified' AS status, '[]' AS favour, '[]' AS against, 1 AS seen
    FROM remembered AS r LEFT JOIN dimension AS d ON d.bank = r.bank AND d.id = r.id
    WHERE NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = r.bank AND kind = 'memory'
        AND hidden.id = r.id)
    UNION ALL
    SELECT r.bank, r.id, r.time, r.who, r.what, r.network, r.place, r.why, r.confidence, r.trust,
        'observed', r.evidence, '[]', r.seen
    FROM retained AS r
    WHERE NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = r.bank AND kind = 'memory'
        AND hidden.id = r.id)
    UNION ALL
    SELECT o.bank, o.id, coalesce(nullif(o.latest, ''), o.updated), '', o.what, 'opinion', '', o.why,
        o.confidence, o.trust,
        o.status, o.favour, o.against, o.sessions
    FROM opinion AS o
    WHERE NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = o.bank AND kind = 'memory'
        AND hidden.id = o.id);
