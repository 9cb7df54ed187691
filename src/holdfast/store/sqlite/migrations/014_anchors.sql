ALTER TABLE repository ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE repository ADD COLUMN diffs INTEGER NOT NULL DEFAULT 1;

CREATE TABLE branch (
    bank TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE touch (
    bank TEXT NOT NULL,
    path TEXT NOT NULL,
    time TEXT NOT NULL,
    id TEXT NOT NULL,
    fate TEXT NOT NULL,
    other TEXT NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    blob TEXT NOT NULL,
    PRIMARY KEY (bank, path, time, id, fate)
) STRICT, WITHOUT ROWID;

CREATE VIEW touched AS
SELECT p.bank, json_extract(f.value, '$[0]') AS path, c.time, p.id,
    json_extract(f.value, '$[1]') AS fate, json_extract(f.value, '$[2]') AS other,
    json_extract(f.value, '$[3]') AS added, json_extract(f.value, '$[4]') AS removed,
    coalesce(json_extract(f.value, '$[6]'), '') AS blob
FROM patch AS p JOIN "commit" AS c ON c.bank = p.bank AND c.id = p.id, json_each(p.changes) AS f
UNION ALL
SELECT p.bank, json_extract(f.value, '$[2]'), c.time, p.id, 'W', json_extract(f.value, '$[0]'),
    0, 0, ''
FROM patch AS p JOIN "commit" AS c ON c.bank = p.bank AND c.id = p.id, json_each(p.changes) AS f
WHERE json_extract(f.value, '$[1]') = 'R';

INSERT OR IGNORE INTO touch SELECT * FROM touched;
