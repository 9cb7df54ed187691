CREATE TABLE pull (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    time TEXT NOT NULL,
    author TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    url TEXT NOT NULL,
    trust TEXT NOT NULL,
    repo TEXT NOT NULL,
    updated TEXT NOT NULL,
    closed TEXT NOT NULL,
    labels TEXT NOT NULL,
    files TEXT NOT NULL,
    commits TEXT NOT NULL,
    "merge" TEXT NOT NULL,
    base TEXT NOT NULL,
    branch TEXT NOT NULL,
    fixes TEXT NOT NULL,
    bot INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX pull_number ON pull (bank, number);

CREATE TABLE issue (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    time TEXT NOT NULL,
    author TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    url TEXT NOT NULL,
    trust TEXT NOT NULL,
    repo TEXT NOT NULL,
    updated TEXT NOT NULL,
    closed TEXT NOT NULL,
    labels TEXT NOT NULL,
    bot INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX issue_number ON issue (bank, number);

CREATE TABLE remark (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    thread TEXT NOT NULL,
    kind TEXT NOT NULL,
    time TEXT NOT NULL,
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    path TEXT NOT NULL,
    line INTEGER NOT NULL,
    url TEXT NOT NULL,
    trust TEXT NOT NULL,
    updated TEXT NOT NULL,
    bot INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX remark_thread ON remark (bank, thread, time);

-- Which pulls a commit is part of, or went in by.
CREATE TABLE pulled (
    bank TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, "commit", id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pulled_id ON pulled (bank, id);

CREATE TABLE login (
    bank TEXT NOT NULL,
    login TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    PRIMARY KEY (bank, login)
) STRICT;

CREATE TABLE followed (
    bank TEXT NOT NULL,
    repo TEXT NOT NULL,
    cursors TEXT NOT NULL,
    tags TEXT NOT NULL,
    read_at TEXT NOT NULL,
    PRIMARY KEY (bank, repo)
) STRICT;

CREATE VIEW seen_pull AS SELECT * FROM pull WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = pull.bank AND kind = 'pull'
        AND hidden.id = pull.id);
CREATE VIEW seen_issue AS SELECT * FROM issue WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = issue.bank AND kind = 'issue'
        AND hidden.id = issue.id);
CREATE VIEW seen_remark AS SELECT * FROM remark WHERE
    NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = remark.bank AND hidden.kind = 'remark'
        AND hidden.id = remark.id)
    AND NOT EXISTS (SELECT 1 FROM hidden WHERE hidden.bank = remark.bank
        AND hidden.kind IN ('pull', 'issue')
        AND 'holdfast://' || hidden.kind || '/' || hidden.id = remark.thread);
