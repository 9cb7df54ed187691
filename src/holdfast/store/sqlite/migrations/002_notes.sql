CREATE TABLE injection (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    characters INTEGER NOT NULL,
    records TEXT NOT NULL,
    arrived INTEGER NOT NULL,
    use TEXT NOT NULL,
    because TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX injection_session ON injection (session);

CREATE TABLE chore (
    name TEXT PRIMARY KEY,
    attempts INTEGER NOT NULL,
    problem TEXT NOT NULL,
    failed_at TEXT NOT NULL,
    not_before TEXT NOT NULL
) STRICT;
