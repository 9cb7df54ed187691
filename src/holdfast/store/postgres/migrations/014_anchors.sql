ALTER TABLE repository ADD COLUMN folder text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE repository ADD COLUMN diffs bigint NOT NULL DEFAULT 1;

CREATE TABLE branch (
    bank text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, name)
);

CREATE TABLE touch (
    bank text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    time text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    fate text COLLATE "C" NOT NULL,
    other text COLLATE "C" NOT NULL,
    added bigint NOT NULL,
    removed bigint NOT NULL,
    blob text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, path, time, id, fate)
);

CREATE VIEW touched WITH (security_invoker = true) AS
SELECT DISTINCT ON (bank, path, time, id, fate) * FROM (
    SELECT p.bank, f.value ->> 0 AS path, c.time, p.id, f.value ->> 1 AS fate,
        f.value ->> 2 AS other, (f.value ->> 3)::bigint AS added, (f.value ->> 4)::bigint AS removed,
        coalesce(f.value ->> 6, '') AS blob
    FROM patch AS p JOIN "commit" AS c ON c.bank = p.bank AND c.id = p.id
        CROSS JOIN json_array_elements(p.changes::json) AS f (value)
    UNION ALL
    SELECT p.bank, f.value ->> 2, c.time, p.id, 'W', f.value ->> 0, 0, 0, ''
    FROM patch AS p JOIN "commit" AS c ON c.bank = p.bank AND c.id = p.id
        CROSS JOIN json_array_elements(p.changes::json) AS f (value)
    WHERE f.value ->> 1 = 'R'
) AS every;

INSERT INTO touch SELECT * FROM touched ON CONFLICT DO NOTHING;
