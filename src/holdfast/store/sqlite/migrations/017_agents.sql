ALTER TABLE remembered ADD COLUMN trust TEXT NOT NULL DEFAULT 'user';

DROP VIEW known_memory;

CREATE VIEW known_memory AS
    SELECT r.bank AS bank, r.id AS id, r.time AS time, r.who AS who, r.text AS text,
        coalesce(d.network, 'world') AS network, coalesce(d.place, '') AS place,
        coalesce(d.why, '') AS why, d.confidence AS confidence, r.trust AS trust,
        CASE r.trust WHEN 'user' THEN 'verified' ELSE 'observed' END AS status, '[]' AS favour, '[]' AS against, 1 AS seen
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
