CREATE TABLE node (
    number INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    time TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (bank, kind, id)
) STRICT;
CREATE INDEX node_session ON node (bank, session);
CREATE INDEX node_time ON node (bank, time, kind, id);

CREATE TABLE spelling (
    number INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    sort TEXT NOT NULL,
    text TEXT NOT NULL,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    entity INTEGER NOT NULL DEFAULT 0,
    UNIQUE (bank, sort, text)
) STRICT;
CREATE INDEX spelling_key ON spelling (bank, key);
CREATE INDEX spelling_id ON spelling (bank, id);
CREATE INDEX spelling_entity ON spelling (entity);

CREATE TABLE mention (
    spelling INTEGER NOT NULL,
    time TEXT NOT NULL,
    node INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (spelling, time, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX mention_node ON mention (node, spelling, parts);

CREATE TABLE same (
    node INTEGER NOT NULL,
    sort TEXT NOT NULL,
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    PRIMARY KEY (node, sort, one, other)
) STRICT, WITHOUT ROWID;

CREATE TABLE entity (
    number INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    aliases TEXT NOT NULL,
    mentions INTEGER NOT NULL,
    UNIQUE (bank, id)
) STRICT;
CREATE INDEX entity_mentions ON entity (bank, mentions);
