CREATE INDEX curation_target ON curation (bank, target);

CREATE TABLE remembered (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    who TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE TABLE erased (
    bank TEXT NOT NULL,
    mark TEXT NOT NULL,
    PRIMARY KEY (bank, mark)
) STRICT, WITHOUT ROWID;

CREATE TABLE curated (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    forgotten INTEGER NOT NULL,
    "into" TEXT NOT NULL,
    text TEXT NOT NULL,
    time TEXT NOT NULL,
    who TEXT NOT NULL,
    was TEXT NOT NULL,
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX curated_session ON curated (bank, session);

CREATE TABLE hidden (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hidden_session ON hidden (bank, session);

CREATE VIEW seen_turn AS SELECT * FROM turn WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = turn.bank AND kind = 'turn'
        AND hidden.id = turn.id)
    AND NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = turn.bank AND kind = 'session'
        AND hidden.id = turn.session);
CREATE VIEW seen_session AS SELECT * FROM session WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = session.bank AND kind = 'session'
        AND hidden.id IN (session.id, session.parent));
CREATE VIEW seen_commit AS SELECT * FROM "commit" WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = "commit".bank AND kind = 'commit'
        AND hidden.id = "commit".id);
CREATE VIEW seen_memory AS SELECT * FROM remembered WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = remembered.bank AND kind = 'memory'
        AND hidden.id = remembered.id);
