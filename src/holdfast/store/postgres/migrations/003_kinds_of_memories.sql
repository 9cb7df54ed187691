-- What sort of thing a memory says: decision, rule, preference, lesson, fact, outcome, todo; '' for
-- one that has none.
ALTER TABLE memory_occurrence ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE retained_memory ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT '';

DROP VIEW visible_memory;
CREATE VIEW visible_memory WITH (security_invoker = true) AS
    SELECT r.bank AS bank, r.id AS id, r.time AS time, r.who AS who, r.text AS text,
        coalesce(d.network, 'world') AS network, coalesce(d.place, '') AS place,
        coalesce(d.why, '') AS why, d.confidence AS confidence, r.trust AS trust,
        CASE r.trust WHEN 'user' THEN 'verified' ELSE 'observed' END AS status,
        '[]' AS favour, '[]' AS against, 1 AS seen, '' AS kind
    FROM remembered_memory AS r
        LEFT JOIN memory_dimension AS d ON d.bank = r.bank AND d.id = r.id
    WHERE NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = r.bank
        AND h.kind = 'memory' AND h.id = r.id)
    UNION ALL
    SELECT r.bank, r.id, r.time, r.who, r.what, r.network, r.place, r.why, r.confidence, r.trust,
        'observed', r.evidence, '[]', r.seen, r.kind
    FROM retained_memory AS r
    WHERE NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = r.bank
        AND h.kind = 'memory' AND h.id = r.id)
    UNION ALL
    SELECT o.bank, o.id, coalesce(nullif(o.latest, ''), o.updated), '', o.what, 'opinion', '',
        o.why, o.confidence, o.trust, o.status, o.favour, o.against, o.sessions, ''
    FROM opinion AS o
    WHERE NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = o.bank
        AND h.kind = 'memory' AND h.id = o.id);
