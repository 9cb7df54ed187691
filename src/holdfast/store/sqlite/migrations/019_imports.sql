CREATE TABLE imported (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    version TEXT NOT NULL,
    program TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    time TEXT NOT NULL,
    origin TEXT NOT NULL,
    session TEXT NOT NULL,
    files TEXT NOT NULL,
    labels TEXT NOT NULL,
    trust TEXT NOT NULL,
    taken TEXT NOT NULL,
    importing TEXT NOT NULL,
    PRIMARY KEY (bank, id, importing)
) STRICT;
CREATE INDEX imported_origin ON imported (bank, origin);
CREATE INDEX imported_session ON imported (bank, session);

CREATE TABLE importing (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    program TEXT NOT NULL,
    place TEXT NOT NULL,
    time TEXT NOT NULL,
    kinds TEXT NOT NULL,
    skipped TEXT NOT NULL,
    failed TEXT NOT NULL,
    redacted INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

CREATE VIEW held_imported AS SELECT i.* FROM imported AS i WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = i.bank AND hidden.kind = 'importing'
        AND hidden.id = i.importing)
    AND NOT EXISTS (SELECT 1 FROM imported AS o WHERE o.bank = i.bank AND o.id = i.id
        AND (o.taken, o.importing) > (i.taken, i.importing)
        AND NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = o.bank
            AND hidden.kind = 'importing' AND hidden.id = o.importing));
CREATE VIEW seen_imported AS SELECT * FROM held_imported WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = held_imported.bank
        AND hidden.kind = 'imported' AND hidden.id = held_imported.id);
