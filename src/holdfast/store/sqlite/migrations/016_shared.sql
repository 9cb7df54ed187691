CREATE TABLE shared (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    author TEXT NOT NULL,
    email TEXT NOT NULL,
    shared TEXT NOT NULL,
    origin TEXT NOT NULL,
    time TEXT NOT NULL,
    trust TEXT NOT NULL,
    lineage TEXT NOT NULL,
    files TEXT NOT NULL,
    note TEXT NOT NULL,
    gone INTEGER NOT NULL,
    taking TEXT NOT NULL,
    PRIMARY KEY (bank, id, taking)
) STRICT;

CREATE TABLE taking (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    place TEXT NOT NULL,
    heads TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE sent (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

CREATE VIEW held_shared AS SELECT s.* FROM shared AS s WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = s.bank AND kind = 'taking'
        AND hidden.id = s.taking)
    AND NOT EXISTS (SELECT 1 FROM shared AS o WHERE o.bank = s.bank AND o.id = s.id
        AND (o.shared, o.gone, o.version, o.taking) > (s.shared, s.gone, s.version, s.taking)
        AND NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = o.bank AND kind = 'taking'
            AND hidden.id = o.taking));
CREATE VIEW seen_shared AS SELECT * FROM held_shared WHERE gone = 0
    AND NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = held_shared.bank AND kind = 'shared'
        AND hidden.id = held_shared.id);
