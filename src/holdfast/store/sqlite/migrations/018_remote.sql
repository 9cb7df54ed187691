DROP VIEW seen_shared;
DROP VIEW held_shared;

ALTER TABLE shared ADD COLUMN scope TEXT NOT NULL DEFAULT 'project';

CREATE VIEW held_shared AS SELECT s.* FROM shared AS s WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = s.bank AND kind = 'taking'
        AND hidden.id = s.taking)
    AND NOT EXISTS (SELECT 1 FROM shared AS o WHERE o.bank = s.bank AND o.id = s.id
        AND (o.shared, o.gone, o.version, o.taking) > (s.shared, s.gone, s.version, s.taking)
        AND NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = o.bank AND kind = 'taking'
            AND hidden.id = o.taking));
CREATE VIEW seen_shared AS SELECT * FROM held_shared WHERE gone = 0
    AND scope IN ('project', 'team', 'organisation')
    AND NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = held_shared.bank AND kind = 'shared'
        AND hidden.id = held_shared.id);

CREATE TABLE parcel (
    bank TEXT NOT NULL REFERENCES bank (id),
    remote TEXT NOT NULL,
    id TEXT NOT NULL,
    origin TEXT NOT NULL,
    line TEXT NOT NULL,
    mark TEXT NOT NULL,
    gone INTEGER NOT NULL,
    state TEXT NOT NULL,
    queued TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    not_before TEXT NOT NULL,
    problem TEXT NOT NULL,
    there TEXT NOT NULL,
    PRIMARY KEY (bank, remote, id)
) STRICT;
