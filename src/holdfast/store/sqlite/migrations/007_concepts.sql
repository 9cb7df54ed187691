CREATE TABLE concept (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    summary TEXT NOT NULL,
    founded TEXT NOT NULL,
    updated TEXT NOT NULL,
    trust TEXT NOT NULL,
    files TEXT NOT NULL,
    keywords TEXT NOT NULL,
    history TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX concept_updated ON concept (bank, updated);

CREATE TABLE concept_member (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    concept TEXT NOT NULL,
    alias TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX concept_member_concept ON concept_member (bank, concept, place);
CREATE INDEX concept_member_alias ON concept_member (bank, alias);

CREATE TABLE concept_anchor (
    bank TEXT NOT NULL,
    concept TEXT NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, concept, place)
) STRICT, WITHOUT ROWID;

CREATE VIEW seen_concept AS SELECT * FROM concept WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = concept.bank AND kind = 'concept'
        AND hidden.id = concept.id);
