ALTER TABLE bank ADD COLUMN retention bigint NOT NULL DEFAULT 0;

CREATE TABLE dimension (
    bank text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    network text COLLATE "C" NOT NULL,
    confidence double precision,
    place text COLLATE "C" NOT NULL,
    why text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, id)
);

CREATE TABLE sighting (
    bank text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    time text COLLATE "C" NOT NULL,
    network text COLLATE "C" NOT NULL,
    what text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    who text COLLATE "C" NOT NULL,
    why text COLLATE "C" NOT NULL,
    context text COLLATE "C" NOT NULL,
    evidence text COLLATE "C" NOT NULL,
    needs bigint NOT NULL,
    confidence double precision,
    PRIMARY KEY (bank, session, key)
);
CREATE INDEX sighting_key ON sighting (bank, key);

CREATE TABLE unshown (
    bank text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, key)
);
CREATE FUNCTION sighting_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO unshown VALUES (new.bank, new.key) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION sighting_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO unshown VALUES (old.bank, old.key) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER sighting_added AFTER INSERT ON sighting
    FOR EACH ROW EXECUTE FUNCTION sighting_added();
CREATE TRIGGER sighting_removed AFTER DELETE ON sighting
    FOR EACH ROW EXECUTE FUNCTION sighting_removed();

CREATE TABLE retained (
    bank text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    time text COLLATE "C" NOT NULL,
    network text COLLATE "C" NOT NULL,
    what text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    who text COLLATE "C" NOT NULL,
    why text COLLATE "C" NOT NULL,
    evidence text COLLATE "C" NOT NULL,
    seen bigint NOT NULL,
    confidence double precision,
    PRIMARY KEY (bank, id)
);
CREATE UNIQUE INDEX retained_key ON retained (bank, key);

CREATE TABLE stance (
    bank text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    uri text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    time text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    aspect text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    word text COLLATE "C" NOT NULL,
    positive bigint NOT NULL,
    weight double precision NOT NULL,
    who text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, session, uri, target, aspect)
);

CREATE TABLE opinion (
    bank text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    aspect text COLLATE "C" NOT NULL,
    positive bigint NOT NULL,
    what text COLLATE "C" NOT NULL,
    why text COLLATE "C" NOT NULL,
    confidence double precision NOT NULL,
    trend text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL,
    formed text COLLATE "C" NOT NULL,
    updated text COLLATE "C" NOT NULL,
    latest text COLLATE "C" NOT NULL,
    sessions bigint NOT NULL,
    favour text COLLATE "C" NOT NULL,
    against text COLLATE "C" NOT NULL,
    tension text COLLATE "C" NOT NULL,
    settled text COLLATE "C" NOT NULL,
    author text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, id)
);

CREATE TABLE belief (
    bank text COLLATE "C" NOT NULL,
    opinion text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    time text COLLATE "C" NOT NULL,
    confidence double precision NOT NULL,
    favour bigint NOT NULL,
    against bigint NOT NULL,
    note text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, opinion, number)
);

UPDATE passage SET role = 'world' WHERE kind = 'memory';

CREATE VIEW known_memory WITH (security_invoker = true) AS
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
