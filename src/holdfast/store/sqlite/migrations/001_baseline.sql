-- The schema of a memory. One row of `bank` is the memory of one project; nearly every other table
-- belongs to a bank, and its primary key starts with it.
--
-- A table is canonical (C: lost for good if its rows are lost) or derived (D: made again from
-- canonical rows). Times are ISO 8601 in UTC with a Z, '' if not known.
-- `uri` and columns that name a record of any kind hold `holdfast://KIND/ID`. JSON is text.
-- `trust` is the least trusted origin of a row's text: user, team, assistant, tool, import, external.


-- Banks and input files --------------------------------------------------------------------------

-- C. One project.
CREATE TABLE bank (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created TEXT NOT NULL,
    background TEXT NOT NULL, -- what a person says the project is about
    skepticism INTEGER NOT NULL, -- 1 to 5, as are the next two: how opinions are formed
    literalism INTEGER NOT NULL,
    empathy INTEGER NOT NULL,
    retention INTEGER NOT NULL DEFAULT 0 -- months that sessions are shown; 0: for ever
) STRICT;

-- C. By what else a bank is known: git remotes, folders, root commits.
CREATE TABLE bank_alias (
    alias TEXT PRIMARY KEY,
    bank TEXT NOT NULL REFERENCES bank (id)
) STRICT;

-- C. One transcript file and how far it was read.
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    bank TEXT NOT NULL REFERENCES bank (id),
    "offset" INTEGER NOT NULL DEFAULT 0, -- bytes read so far
    lines INTEGER NOT NULL DEFAULT 0,
    prefix TEXT NOT NULL DEFAULT '', -- hash of the bytes up to the offset
    stamp TEXT NOT NULL DEFAULT '', -- size and times of the file when it was read to its end
    l1_bytes INTEGER NOT NULL DEFAULT 0, -- bytes of the turns made of it
    rewrites INTEGER NOT NULL DEFAULT 0, -- how often it was found changed below the offset
    state TEXT NOT NULL DEFAULT 'live', -- live, gone, unreadable
    problem TEXT NOT NULL DEFAULT '',
    read_at TEXT NOT NULL DEFAULT ''
) STRICT;

-- C. How many lines of a source had an outcome, for a reason.
CREATE TABLE ledger (
    source INTEGER NOT NULL REFERENCES source (id),
    fate TEXT NOT NULL, -- captured, skipped, failed
    reason TEXT NOT NULL,
    lines INTEGER NOT NULL,
    PRIMARY KEY (source, fate, reason)
) STRICT, WITHOUT ROWID;

-- C. A line that could not be read.
CREATE TABLE failed_line (
    source INTEGER NOT NULL REFERENCES source (id),
    line INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    reason TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    reader INTEGER NOT NULL, -- version of the program's reader that failed
    PRIMARY KEY (source, line)
) STRICT;

-- C. How many secrets of a kind were redacted from a source.
CREATE TABLE redaction (
    source INTEGER NOT NULL REFERENCES source (id),
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (source, kind)
) STRICT, WITHOUT ROWID;


-- Sessions and turns -----------------------------------------------------------------------------

-- C. One run of one agent; a subagent's run is a session of its own with a parent.
CREATE TABLE session (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    host TEXT NOT NULL, -- the id that the agent itself uses
    agent TEXT NOT NULL,
    parent TEXT NOT NULL, -- id of the session that started this one; '' for none
    subagent TEXT NOT NULL,
    title TEXT NOT NULL,
    cwd TEXT NOT NULL,
    branch TEXT NOT NULL,
    version TEXT NOT NULL, -- of the agent
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    source INTEGER NOT NULL, -- the file that first told of it
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX session_host ON session (host);
CREATE INDEX session_ended ON session (bank, ended);

-- C. One message, or one call of a tool (then `tool` is not null).
CREATE TABLE turn (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL, -- position in the session
    time TEXT NOT NULL,
    role TEXT NOT NULL,
    trust TEXT NOT NULL,
    text TEXT NOT NULL,
    speaker TEXT NOT NULL,
    branch TEXT NOT NULL,
    tool TEXT,
    target TEXT, -- what the tool worked on: a file, a URL
    lines TEXT,
    action TEXT, -- the command, or the diff
    result TEXT,
    ok INTEGER, -- null while the result is not known
    duration_ms INTEGER,
    call TEXT, -- the agent's id of the tool call
    source INTEGER NOT NULL, -- this and the next three: where it was read
    line INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    ref TEXT NOT NULL,
    PRIMARY KEY (bank, id),
    FOREIGN KEY (bank, session) REFERENCES session (bank, id)
) STRICT;
CREATE UNIQUE INDEX turn_position ON turn (bank, session, seq);
CREATE INDEX turn_source ON turn (source);
CREATE INDEX turn_call ON turn (bank, call, session) WHERE call <> '';

-- C. One text that was injected into a session.
CREATE TABLE injection (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL, -- the agent's own id
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    characters INTEGER NOT NULL,
    records TEXT NOT NULL, -- JSON: the records it was made of
    arrived INTEGER NOT NULL, -- whether the transcript shows it: 1, 0, or -1 for not looked at
    use TEXT NOT NULL,
    because TEXT NOT NULL, -- the piece of the session that tells its use
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX injection_session ON injection (session);

-- C. A record that a session made use of after it was told, or that a person found useful.
CREATE TABLE record_use (
    bank TEXT NOT NULL,
    record TEXT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL, -- the turn that shows it; '' where a person said so
    time TEXT NOT NULL,
    PRIMARY KEY (bank, record, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_use_session ON record_use (bank, session);

-- D. One request and its resolution: a range of turns, summarised.
CREATE TABLE exchange (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    details TEXT NOT NULL,
    outcome TEXT NOT NULL,
    trust TEXT NOT NULL,
    facts TEXT NOT NULL, -- JSON, as are the next three
    keywords TEXT NOT NULL,
    files_read TEXT NOT NULL,
    files_modified TEXT NOT NULL,
    branch TEXT NOT NULL,
    status TEXT NOT NULL,
    author TEXT NOT NULL DEFAULT '', -- the model that summarised it; '' for rules
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX exchange_session ON exchange (bank, session, first_seq);

-- D. The summary of a session. The five lists are JSON.
CREATE TABLE digest (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL,
    request TEXT NOT NULL,
    outcome TEXT NOT NULL,
    trust TEXT NOT NULL,
    investigated TEXT NOT NULL,
    learned TEXT NOT NULL,
    completed TEXT NOT NULL,
    next_steps TEXT NOT NULL,
    topics TEXT NOT NULL,
    exchanges INTEGER NOT NULL, -- how many it has
    author TEXT NOT NULL DEFAULT '', -- the model that wrote it; '' for rules
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX digest_session ON digest (bank, session);


-- Model calls ------------------------------------------------------------------------------------

-- C. One request to a model service, and what it cost.
CREATE TABLE model_call (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    session TEXT NOT NULL,
    operation TEXT NOT NULL,
    service TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    tokens_cached INTEGER NOT NULL,
    usd REAL, -- null where the price is not known
    ms INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    problem TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX model_call_time ON model_call (time);
CREATE INDEX model_call_session ON model_call (bank, session);

-- C, of this machine. A model service that is not called until a time.
CREATE TABLE service_pause (
    service TEXT PRIMARY KEY,
    until TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    problem TEXT NOT NULL,
    since TEXT NOT NULL
) STRICT;

-- C. What a model made of one text, which was paid for: kept by the hash of that text.
CREATE TABLE model_summary (
    bank TEXT NOT NULL,
    hash TEXT NOT NULL,
    version INTEGER NOT NULL, -- of the prompts
    kind TEXT NOT NULL,
    record TEXT NOT NULL, -- id of the exchange or digest
    last_seq INTEGER NOT NULL, -- the last turn that was summarised
    model TEXT NOT NULL,
    time TEXT NOT NULL,
    content TEXT NOT NULL, -- '' where it failed
    problem TEXT NOT NULL,
    PRIMARY KEY (bank, hash, version)
) STRICT;
CREATE INDEX model_summary_record ON model_summary (bank, record, last_seq);


-- Memories and opinions --------------------------------------------------------------------------

-- C. A text that somebody asked to remember.
CREATE TABLE remembered_memory (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    who TEXT NOT NULL,
    text TEXT NOT NULL,
    trust TEXT NOT NULL DEFAULT 'user',
    PRIMARY KEY (bank, id)
) STRICT;

-- C. More about a remembered memory, where more was said than its text.
CREATE TABLE memory_dimension (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    network TEXT NOT NULL, -- world, experience, opinion, observation
    confidence REAL,
    place TEXT NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

-- D. A memory as one session has it. Sessions that say the same have the same key.
CREATE TABLE memory_occurrence (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    network TEXT NOT NULL,
    what TEXT NOT NULL,
    trust TEXT NOT NULL,
    place TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    context TEXT NOT NULL, -- words that help to find it
    evidence TEXT NOT NULL, -- JSON: URIs
    needs INTEGER NOT NULL, -- in how many sessions it must occur to be retained
    confidence REAL,
    PRIMARY KEY (bank, session, key)
) STRICT;
CREATE INDEX memory_occurrence_key ON memory_occurrence (bank, key);

-- D. A memory that was retained from the occurrences of its key.
CREATE TABLE retained_memory (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    key TEXT NOT NULL,
    time TEXT NOT NULL,
    network TEXT NOT NULL,
    what TEXT NOT NULL,
    trust TEXT NOT NULL,
    place TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    evidence TEXT NOT NULL, -- JSON: URIs
    seen INTEGER NOT NULL, -- in how many sessions it occurs
    confidence REAL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE UNIQUE INDEX retained_memory_key ON retained_memory (bank, key);

-- D. A key whose occurrences changed, so that its retained memory is to be made again.
CREATE TABLE stale_memory (
    bank TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (bank, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_occurrence_added AFTER INSERT ON memory_occurrence BEGIN
    INSERT OR IGNORE INTO stale_memory VALUES (new.bank, new.key);
END;
CREATE TRIGGER memory_occurrence_removed AFTER DELETE ON memory_occurrence BEGIN
    INSERT OR IGNORE INTO stale_memory VALUES (old.bank, old.key);
END;

-- D. A judgement about a target in one respect, stated in a session.
CREATE TABLE stance (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    uri TEXT NOT NULL, -- the record that states it
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    target TEXT NOT NULL,
    aspect TEXT NOT NULL,
    name TEXT NOT NULL,
    word TEXT NOT NULL, -- what the target was called
    positive INTEGER NOT NULL,
    weight REAL NOT NULL,
    who TEXT NOT NULL,
    trust TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (bank, session, uri, target, aspect)
) STRICT;

-- C. What is believed of a target, and how firmly: made of stances, but with a history.
CREATE TABLE opinion (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    target TEXT NOT NULL,
    aspect TEXT NOT NULL,
    positive INTEGER NOT NULL,
    what TEXT NOT NULL,
    why TEXT NOT NULL,
    confidence REAL NOT NULL,
    trend TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    formed TEXT NOT NULL,
    updated TEXT NOT NULL,
    latest TEXT NOT NULL, -- time of the latest stance
    sessions INTEGER NOT NULL,
    favour TEXT NOT NULL, -- JSON: URIs, as in the next
    against TEXT NOT NULL,
    tension TEXT NOT NULL, -- since when a contradiction has not been weighed
    settled TEXT NOT NULL, -- up to when contradictions were weighed
    author TEXT NOT NULL, -- the model that formed it; '' for rules
    PRIMARY KEY (bank, id)
) STRICT;

-- C. How firm an opinion was at a time. `favour` and `against` are numbers of stances.
CREATE TABLE opinion_revision (
    bank TEXT NOT NULL,
    opinion TEXT NOT NULL,
    number INTEGER NOT NULL,
    time TEXT NOT NULL,
    confidence REAL NOT NULL,
    favour INTEGER NOT NULL,
    against INTEGER NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (bank, opinion, number)
) STRICT;


-- Facts ------------------------------------------------------------------------------------------

-- D. One sentence that somebody stated in a turn, and that may be true or false later.
CREATE TABLE claim (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    exchange TEXT NOT NULL,
    turn TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    trust TEXT NOT NULL,
    by_person INTEGER NOT NULL,
    status TEXT NOT NULL,
    changed TEXT NOT NULL, -- when the exchange itself showed what became of it
    because TEXT NOT NULL, -- the turn that showed it
    share REAL NOT NULL, -- how much of its turn the sentence is, 0 to 1
    told REAL NOT NULL, -- how much of its exchange
    problem TEXT NOT NULL, -- of a solution or an attempt: what it solves
    signature TEXT NOT NULL, -- by what the problem is known again
    attempts INTEGER NOT NULL,
    files TEXT NOT NULL, -- JSON
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_session ON claim (bank, session, seq);
CREATE INDEX claim_turn ON claim (bank, turn);

-- D. Lasting knowledge that claims come to. Lists are JSON.
CREATE TABLE fact (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    confidence REAL NOT NULL,
    trust TEXT NOT NULL,
    problem TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    contradictions INTEGER NOT NULL,
    last_validated TEXT NOT NULL,
    status TEXT NOT NULL,
    since TEXT NOT NULL, -- true from
    until TEXT NOT NULL, -- true up to; '' while it holds
    learned TEXT NOT NULL,
    evidence TEXT NOT NULL,
    against TEXT NOT NULL,
    supersedes TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    files TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

-- D. The status that a record (fact, claim, turn, exchange) has from a time on.
CREATE TABLE status_period (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    status TEXT NOT NULL,
    because TEXT NOT NULL, -- URI of what changed it
    PRIMARY KEY (bank, kind, id, time, status)
) STRICT, WITHOUT ROWID;

-- D. A record that says something about a fact.
CREATE TABLE fact_evidence (
    bank TEXT NOT NULL,
    fact TEXT NOT NULL,
    time TEXT NOT NULL,
    uri TEXT NOT NULL,
    how TEXT NOT NULL, -- stated, remembered, followed, contradicted, ...
    PRIMARY KEY (bank, fact, time, uri, how)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_evidence_uri ON fact_evidence (bank, uri);

-- D. How many claims of a bank did not become facts, for a reason.
CREATE TABLE dropped_claim_count (
    bank TEXT NOT NULL,
    reason TEXT NOT NULL,
    claims INTEGER NOT NULL,
    PRIMARY KEY (bank, reason)
) STRICT, WITHOUT ROWID;

-- D. A question about a record that a person should decide.
CREATE TABLE review (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    reason TEXT NOT NULL,
    opened TEXT NOT NULL,
    evidence TEXT NOT NULL, -- JSON: URIs
    state TEXT NOT NULL,
    decided TEXT NOT NULL,
    "by" TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

-- C. What a model advised about a review, which was paid for.
CREATE TABLE review_advice (
    bank TEXT NOT NULL,
    review TEXT NOT NULL,
    time TEXT NOT NULL,
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (bank, review)
) STRICT;


-- Concepts and entities --------------------------------------------------------------------------

-- D. A named group of exchanges and memories about one feature or topic.
CREATE TABLE concept (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    summary TEXT NOT NULL,
    founded TEXT NOT NULL,
    updated TEXT NOT NULL,
    trust TEXT NOT NULL,
    files TEXT NOT NULL, -- JSON, as are the next two
    keywords TEXT NOT NULL,
    history TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX concept_updated ON concept (bank, updated);

-- D. A record of a concept, in the order of its members.
CREATE TABLE concept_member (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    concept TEXT NOT NULL,
    alias TEXT NOT NULL, -- the id of the concept that it would be of, had that not been merged
    position INTEGER NOT NULL,
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX concept_member_concept ON concept_member (bank, concept, position);
CREATE INDEX concept_member_alias ON concept_member (bank, alias);

-- C. The members of a concept when a person decided about it: by them it is known again.
CREATE TABLE concept_anchor (
    bank TEXT NOT NULL,
    concept TEXT NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, concept, position)
) STRICT, WITHOUT ROWID;

-- D. A record in the graph of entities.
CREATE TABLE graph_node (
    number INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    time TEXT NOT NULL,
    hash TEXT NOT NULL, -- of what its mentions were read from
    UNIQUE (bank, kind, id)
) STRICT;
CREATE INDEX graph_node_session ON graph_node (bank, session);
CREATE INDEX graph_node_time ON graph_node (bank, time, kind, id);

-- D. A person, component, file or concept that records mention, under one or more spellings.
CREATE TABLE entity (
    number INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    aliases TEXT NOT NULL, -- JSON
    mentions INTEGER NOT NULL, -- in how many records
    UNIQUE (bank, id)
) STRICT;
CREATE INDEX entity_mentions ON entity (bank, mentions);

-- D. One way in which an entity is written.
CREATE TABLE entity_spelling (
    number INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    sort TEXT NOT NULL, -- how it was found: file, path, name, package, person, proper, ...
    text TEXT NOT NULL,
    key TEXT NOT NULL, -- spellings of one key may mean the same
    id TEXT NOT NULL, -- the id that an entity of this spelling has
    entity INTEGER NOT NULL DEFAULT 0, -- number of the entity; 0 before it is resolved
    UNIQUE (bank, sort, text)
) STRICT;
CREATE INDEX entity_spelling_key ON entity_spelling (bank, key);
CREATE INDEX entity_spelling_id ON entity_spelling (bank, id);
CREATE INDEX entity_spelling_entity ON entity_spelling (entity);

-- D. A spelling in a record. `time` is that of the record.
CREATE TABLE entity_mention (
    spelling INTEGER NOT NULL,
    time TEXT NOT NULL,
    node INTEGER NOT NULL,
    parts INTEGER NOT NULL, -- bits: which parts of the record name it
    PRIMARY KEY (spelling, time, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_mention_node ON entity_mention (node, spelling, parts);

-- D. Two spellings that a record proves to mean the same: a renamed file, a person's address.
CREATE TABLE spelling_equivalence (
    node INTEGER NOT NULL,
    sort TEXT NOT NULL,
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    PRIMARY KEY (node, sort, one, other)
) STRICT, WITHOUT ROWID;


-- Rules ------------------------------------------------------------------------------------------

-- D. A rule file as it was last read.
CREATE TABLE rule_file (
    bank TEXT NOT NULL,
    file TEXT NOT NULL,
    root TEXT NOT NULL,
    stamp TEXT NOT NULL, -- size and times of the file
    hash TEXT NOT NULL,
    PRIMARY KEY (bank, file)
) STRICT;

-- D. A section of a rule file.
CREATE TABLE rule (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    path TEXT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    domain TEXT NOT NULL,
    paths TEXT NOT NULL, -- JSON: the globs that it applies to
    trust TEXT NOT NULL,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    updated TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

-- D. A sentence that says how things are done; patterns are made of these.
CREATE TABLE statement (
    bank TEXT NOT NULL,
    uri TEXT NOT NULL, -- the record that it is in
    place INTEGER NOT NULL, -- its position there
    session TEXT NOT NULL,
    source TEXT NOT NULL, -- statements of one source count as one occurrence
    author TEXT NOT NULL,
    time TEXT NOT NULL,
    text TEXT NOT NULL,
    trust TEXT NOT NULL,
    decides INTEGER NOT NULL, -- 1 where it settles one thing rather than how things are done
    quotable INTEGER NOT NULL, -- 1 where it can be read without its context
    about TEXT NOT NULL,
    files TEXT NOT NULL, -- JSON
    PRIMARY KEY (bank, uri, place)
) STRICT;
CREATE INDEX statement_session ON statement (bank, session);

-- D. A convention that was stated several times: a candidate for a rule. Lists are JSON.
CREATE TABLE pattern (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    content TEXT NOT NULL,
    domain TEXT NOT NULL,
    confidence REAL NOT NULL,
    occurrences INTEGER NOT NULL,
    trust TEXT NOT NULL,
    sources TEXT NOT NULL,
    authors TEXT NOT NULL,
    evidence TEXT NOT NULL,
    against TEXT NOT NULL,
    files TEXT NOT NULL,
    last TEXT NOT NULL, -- when it was stated last
    decides INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

-- D. A change of a rule file that waits for a person.
CREATE TABLE proposal (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    domain TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    made TEXT NOT NULL, -- when
    trust TEXT NOT NULL,
    paths TEXT NOT NULL, -- JSON
    evidence TEXT NOT NULL, -- JSON: URIs
    base TEXT NOT NULL, -- hash of the file when this was proposed; '' if it was not there
    PRIMARY KEY (bank, id)
) STRICT;

-- C. A proposal that a person refused, by the number of that decision; it is not made again.
CREATE TABLE refused_proposal (
    bank TEXT NOT NULL,
    seq INTEGER NOT NULL,
    target TEXT NOT NULL,
    text TEXT NOT NULL,
    why TEXT NOT NULL,
    time TEXT NOT NULL,
    who TEXT NOT NULL,
    evidence TEXT NOT NULL, -- JSON: URIs
    PRIMARY KEY (bank, seq)
) STRICT;


-- Git --------------------------------------------------------------------------------------------

-- C. A commit.
CREATE TABLE "commit" (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    author TEXT NOT NULL,
    email TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    files TEXT NOT NULL, -- JSON, as is the next
    parents TEXT NOT NULL,
    trust TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;
-- With the author, so that lists by author need not read the commits themselves.
CREATE INDEX commit_time ON "commit" (bank, time DESC, id, author, email);

-- C. What a commit changed. In the tables of this section, `id` is that of the commit.
CREATE TABLE commit_patch (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    changes TEXT NOT NULL, -- JSON, a list for each file: path, change, other path, added, removed
    diff TEXT NOT NULL, -- the hunks that matter
    PRIMARY KEY (bank, id)
) STRICT;

-- C. A file that a commit changed.
CREATE TABLE file_change (
    bank TEXT NOT NULL,
    path TEXT NOT NULL,
    time TEXT NOT NULL,
    id TEXT NOT NULL,
    change TEXT NOT NULL, -- git's letter (A, M, D, R), or W: the file went to the other path
    other_path TEXT NOT NULL, -- the path before, or after, it was renamed
    added INTEGER NOT NULL, -- lines
    removed INTEGER NOT NULL,
    blob TEXT NOT NULL, -- git's hash of the content afterwards, '' where it is not known
    PRIMARY KEY (bank, path, time, id, change)
) STRICT, WITHOUT ROWID;

-- The rows that `file_change` has for each patch.
CREATE VIEW file_change_of_patch AS
SELECT p.bank, json_extract(f.value, '$[0]') AS path, c.time, p.id,
    json_extract(f.value, '$[1]') AS change, json_extract(f.value, '$[2]') AS other_path,
    json_extract(f.value, '$[3]') AS added, json_extract(f.value, '$[4]') AS removed,
    coalesce(json_extract(f.value, '$[6]'), '') AS blob
FROM commit_patch AS p JOIN "commit" AS c ON c.bank = p.bank AND c.id = p.id,
    json_each(p.changes) AS f
UNION ALL
SELECT p.bank, json_extract(f.value, '$[2]'), c.time, p.id, 'W', json_extract(f.value, '$[0]'),
    0, 0, ''
FROM commit_patch AS p JOIN "commit" AS c ON c.bank = p.bank AND c.id = p.id,
    json_each(p.changes) AS f
WHERE json_extract(f.value, '$[1]') = 'R';

-- C. That a commit reverts another one, by the name that it gives it, which may be shortened.
CREATE TABLE commit_revert (
    bank TEXT NOT NULL,
    reverted TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, reverted, id)
) STRICT, WITHOUT ROWID;

-- C. A commit that is not in the history of the branch that is checked out.
CREATE TABLE unmerged_commit (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

-- C. A tag, by the commit it is on.
CREATE TABLE git_tag (
    bank TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (bank, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX git_tag_commit ON git_tag (bank, id);

-- C. A branch, by its last commit.
CREATE TABLE git_branch (
    bank TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, name)
) STRICT, WITHOUT ROWID;

-- D. That a session made a commit.
CREATE TABLE commit_session (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    exchange TEXT NOT NULL,
    score REAL NOT NULL, -- how sure, 0 to 1
    because TEXT NOT NULL,
    PRIMARY KEY (bank, id, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_session_session ON commit_session (bank, session);

-- C, of this machine. A repository and how far it was read.
CREATE TABLE repository (
    bank TEXT NOT NULL,
    path TEXT NOT NULL, -- the folder of its objects
    head TEXT NOT NULL,
    tips TEXT NOT NULL, -- JSON: the commits up to which it was read
    read_at TEXT NOT NULL,
    folder TEXT NOT NULL DEFAULT '', -- the working folder
    diffs INTEGER NOT NULL DEFAULT 1, -- whether diffs were read
    PRIMARY KEY (bank, path)
) STRICT;


-- Forges: GitHub and the like ---------------------------------------------------------------------

-- C. A pull request. Lists are JSON.
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
    "merge" TEXT NOT NULL, -- the commit that merged it
    base TEXT NOT NULL, -- the branch that it goes to
    branch TEXT NOT NULL, -- the branch that it comes from
    fixes TEXT NOT NULL, -- numbers of issues
    bot INTEGER NOT NULL, -- 1 where the author is a program
    PRIMARY KEY (bank, id)
) STRICT;
CREATE INDEX pull_number ON pull (bank, number);

-- C. An issue.
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

-- C. A comment or a review in a pull request or an issue.
CREATE TABLE remark (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    thread TEXT NOT NULL, -- URI of the pull request or issue
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

-- C. A commit that is part of a pull request, or that merged it.
CREATE TABLE pull_commit (
    bank TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    pull TEXT NOT NULL,
    PRIMARY KEY (bank, "commit", pull)
) STRICT, WITHOUT ROWID;
CREATE INDEX pull_commit_pull ON pull_commit (bank, pull);

-- C. An account on a forge, and who it is.
CREATE TABLE forge_login (
    bank TEXT NOT NULL,
    login TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    PRIMARY KEY (bank, login)
) STRICT;

-- C, of this machine. A repository on a forge and how far it was read.
CREATE TABLE followed_repository (
    bank TEXT NOT NULL,
    repo TEXT NOT NULL,
    cursors TEXT NOT NULL, -- JSON
    tags TEXT NOT NULL, -- JSON: HTTP entity tags
    read_at TEXT NOT NULL,
    PRIMARY KEY (bank, repo)
) STRICT;


-- Sharing and imports ----------------------------------------------------------------------------

-- C. Once that shared records were taken in.
CREATE TABLE share_import (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    place TEXT NOT NULL, -- from where
    heads TEXT NOT NULL, -- JSON: up to which commits
    time TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

-- C. One version of a record that somebody shares.
CREATE TABLE shared_record (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    version TEXT NOT NULL, -- hash of its words
    kind TEXT NOT NULL, -- this and `origin`: kind and name in the memory it comes from
    text TEXT NOT NULL,
    author TEXT NOT NULL,
    email TEXT NOT NULL,
    shared TEXT NOT NULL, -- when
    origin TEXT NOT NULL,
    time TEXT NOT NULL,
    trust TEXT NOT NULL,
    lineage TEXT NOT NULL, -- whose words they are in the memory it comes from
    files TEXT NOT NULL, -- JSON
    note TEXT NOT NULL,
    gone INTEGER NOT NULL, -- 1 where it was withdrawn
    share_import TEXT NOT NULL, -- the import that brought this version
    scope TEXT NOT NULL DEFAULT 'project', -- who may read it
    PRIMARY KEY (bank, id, share_import)
) STRICT;

-- C. A record of ours that was shared with others.
CREATE TABLE sent_share (
    bank TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT, WITHOUT ROWID;

-- C, of this machine. A record on its way to a remote.
CREATE TABLE outbox_item (
    bank TEXT NOT NULL REFERENCES bank (id),
    remote TEXT NOT NULL,
    id TEXT NOT NULL, -- hash of the line
    origin TEXT NOT NULL, -- URI of the record
    line TEXT NOT NULL, -- what is sent
    mark TEXT NOT NULL, -- hash of its words alone
    gone INTEGER NOT NULL, -- 1 where it withdraws what was sent
    state TEXT NOT NULL, -- waiting, sent, refused
    queued TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    not_before TEXT NOT NULL,
    problem TEXT NOT NULL,
    there TEXT NOT NULL, -- the id that the remote gave it
    PRIMARY KEY (bank, remote, id)
) STRICT;

-- C. Once that records of another program were imported.
CREATE TABLE import_batch (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    program TEXT NOT NULL,
    place TEXT NOT NULL, -- from where
    time TEXT NOT NULL,
    kinds TEXT NOT NULL, -- JSON: numbers by kind; the next two by reason
    skipped TEXT NOT NULL,
    failed TEXT NOT NULL,
    redacted INTEGER NOT NULL,
    PRIMARY KEY (bank, id)
) STRICT;

-- C. One version of a record of another program.
CREATE TABLE imported_record (
    bank TEXT NOT NULL REFERENCES bank (id),
    id TEXT NOT NULL,
    version TEXT NOT NULL, -- hash of its words
    program TEXT NOT NULL,
    kind TEXT NOT NULL, -- this and `origin`: kind and name in that program
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    time TEXT NOT NULL,
    origin TEXT NOT NULL,
    session TEXT NOT NULL,
    files TEXT NOT NULL, -- JSON, as is the next
    labels TEXT NOT NULL,
    trust TEXT NOT NULL,
    taken TEXT NOT NULL, -- when it was imported
    import_batch TEXT NOT NULL, -- the import that brought this version
    PRIMARY KEY (bank, id, import_batch)
) STRICT;
CREATE INDEX imported_record_origin ON imported_record (bank, origin);
CREATE INDEX imported_record_session ON imported_record (bank, session);


-- Curation ---------------------------------------------------------------------------------------

-- C. A person's decision about a record. Nothing but an erasure changes the log.
CREATE TABLE curation (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    time TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL, -- URI; of an undo, the number of the decision
    text TEXT NOT NULL, -- of a correction, the new words; of a merge, the record merged into
    who TEXT NOT NULL
) STRICT;
CREATE INDEX curation_target ON curation (bank, target);
CREATE TRIGGER curation_keeps_its_numbers BEFORE INSERT ON curation
    WHEN new.seq IN (SELECT seq FROM curation)
    BEGIN SELECT RAISE(ABORT, 'the curation log is append-only'); END;
CREATE TRIGGER curation_is_append_only BEFORE UPDATE ON curation
    BEGIN SELECT RAISE(ABORT, 'the curation log is append-only'); END;
CREATE TRIGGER curation_is_kept BEFORE DELETE ON curation
    BEGIN SELECT RAISE(ABORT, 'the curation log is append-only'); END;

-- D. What the log comes to for one record.
CREATE TABLE curation_state (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL, -- the session that the record is in
    forgotten INTEGER NOT NULL,
    "into" TEXT NOT NULL, -- the record that it was merged into
    text TEXT NOT NULL, -- the corrected words
    time TEXT NOT NULL,
    who TEXT NOT NULL,
    was TEXT NOT NULL, -- the words that were corrected
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX curation_state_session ON curation_state (bank, session);

-- D, but for kind 'raw'. A record that nobody is shown. Kind 'raw' is canonical: a turn whose line
-- in the transcript must not be quoted either.
CREATE TABLE hidden_record (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX hidden_record_session ON hidden_record (bank, session);

-- C. A hash of something that was erased for good, by which it is known if it is met again.
CREATE TABLE erasure_mark (
    bank TEXT NOT NULL,
    mark TEXT NOT NULL,
    PRIMARY KEY (bank, mark)
) STRICT, WITHOUT ROWID;


-- Search -----------------------------------------------------------------------------------------

-- D. What is searched: the text of one record, by its kind and id.
CREATE TABLE passage (
    number INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    session TEXT NOT NULL,
    time TEXT NOT NULL,
    scope TEXT NOT NULL, -- bank and layer as two words, so that the index itself can filter
    body TEXT NOT NULL,
    context TEXT NOT NULL, -- the turn before; counts less than the body
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    role TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL, -- of what is embedded; '' for what is not
    UNIQUE (bank, kind, id)
) STRICT;
CREATE INDEX passage_session ON passage (bank, session, kind, seq);
CREATE INDEX passage_hash ON passage (bank, hash);
CREATE INDEX passage_time ON passage (bank, kind, time);

-- D. The full-text index over `passage`. To ask it for a bank by the words in `scope` is seven times
-- faster at 100,000 passages than to join the bank afterwards.
CREATE VIRTUAL TABLE passage_fts USING fts5 (
    scope, body, context,
    content = 'passage', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER passage_added AFTER INSERT ON passage BEGIN
    INSERT INTO passage_fts (rowid, scope, body, context)
    VALUES (new.number, new.scope, new.body, new.context);
END;
CREATE TRIGGER passage_removed AFTER DELETE ON passage BEGIN
    INSERT INTO passage_fts (passage_fts, rowid, scope, body, context)
    VALUES ('delete', old.number, old.scope, old.body, old.context);
END;

-- D. An embedding, by the hash of what was embedded: passages of equal text share it.
CREATE TABLE vector (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    model TEXT NOT NULL,
    hash TEXT NOT NULL,
    part INTEGER NOT NULL, -- a long text has several
    data BLOB NOT NULL, -- 32-bit floats, little-endian
    UNIQUE (bank, model, hash, part)
) STRICT;
CREATE INDEX vector_model ON vector (bank, model);

-- D. How many vectors a bank has of a model: each search by meaning needs it, and counting takes as
-- long as comparing.
CREATE TABLE vector_count (
    bank TEXT NOT NULL,
    model TEXT NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (bank, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER vector_counted AFTER INSERT ON vector BEGIN
    INSERT OR IGNORE INTO vector_count VALUES (new.bank, new.model, 0);
    UPDATE vector_count SET total = total + 1 WHERE bank = new.bank AND model = new.model;
END;
CREATE TRIGGER vector_uncounted AFTER DELETE ON vector BEGIN
    UPDATE vector_count SET total = total - 1 WHERE bank = old.bank AND model = old.model;
    DELETE FROM vector_count WHERE bank = old.bank AND model = old.model AND total = 0;
END;

-- D. What records can be found under besides their words.
CREATE TABLE label (
    id INTEGER PRIMARY KEY,
    bank TEXT NOT NULL,
    kind TEXT NOT NULL, -- file, concept, type
    text TEXT NOT NULL,
    file_name TEXT NOT NULL, -- of a file, the last part of its path
    UNIQUE (bank, kind, text)
) STRICT;
CREATE INDEX label_file_name ON label (bank, kind, file_name);

-- D. A record that has a label, in the order of time, so that the latest are found first.
CREATE TABLE labelled_record (
    label INTEGER NOT NULL,
    time TEXT NOT NULL,
    kind TEXT NOT NULL, -- of the record
    id TEXT NOT NULL,
    PRIMARY KEY (label, time, kind, id)
) STRICT, WITHOUT ROWID;

-- D. The labels of a record, to check them and to remove them with it.
CREATE TABLE record_labels (
    bank TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    time TEXT NOT NULL,
    labels TEXT NOT NULL, -- JSON: ids
    PRIMARY KEY (bank, kind, id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER exchange_removed AFTER DELETE ON exchange BEGIN
    DELETE FROM record_labels WHERE bank = old.bank AND kind = 'exchange' AND id = old.id;
END;
CREATE TRIGGER record_labels_removed AFTER DELETE ON record_labels BEGIN
    DELETE FROM labelled_record WHERE label IN (SELECT value FROM json_each(old.labels))
        AND time = old.time AND kind = old.kind AND id = old.id;
END;
CREATE TRIGGER label_unused AFTER DELETE ON labelled_record
    WHEN NOT EXISTS (SELECT 1 FROM labelled_record WHERE label = old.label)
    BEGIN DELETE FROM label WHERE id = old.label; END;


-- Progress of the work ---------------------------------------------------------------------------

-- D. A session whose derived rows are to be made again, from a turn on.
CREATE TABLE stale_session (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    PRIMARY KEY (bank, session)
) STRICT, WITHOUT ROWID;

-- D. The version of the rules that a session's derived rows were made with.
CREATE TABLE session_derivation (
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    rules_version INTEGER NOT NULL,
    PRIMARY KEY (bank, session)
) STRICT, WITHOUT ROWID;

-- D. The last change of a session's derived rows; session '' is all that belongs to none. A later
-- change has a higher number.
CREATE TABLE session_change (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    session TEXT NOT NULL,
    UNIQUE (bank, session)
) STRICT;

-- D. Up to which change a stage has processed a bank, in a version of its rules.
CREATE TABLE stage_progress (
    bank TEXT NOT NULL,
    stage TEXT NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (bank, stage)
) STRICT;

-- C, of this machine. A task of the worker that failed and is tried again.
CREATE TABLE failed_task (
    name TEXT PRIMARY KEY,
    attempts INTEGER NOT NULL,
    problem TEXT NOT NULL,
    failed_at TEXT NOT NULL,
    not_before TEXT NOT NULL
) STRICT;

-- C, of this machine. A key to a server of this memory; only a salted hash of it is kept.
CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    salt TEXT NOT NULL,
    hash TEXT NOT NULL,
    banks TEXT NOT NULL, -- JSON: ids, null for every bank
    level TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    revoked TEXT NOT NULL,
    used TEXT NOT NULL -- last, to about a minute
) STRICT;


-- What is shown ----------------------------------------------------------------------------------
-- `visible_x` are the rows of x that are not hidden. `current_x` are, of records with versions, the
-- latest one of those whose import was not undone.

CREATE VIEW visible_turn AS SELECT * FROM turn WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = turn.bank AND h.kind = 'turn'
        AND h.id = turn.id)
    AND NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = turn.bank
        AND h.kind = 'session' AND h.id = turn.session);

CREATE VIEW visible_session AS SELECT * FROM session WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = session.bank
        AND h.kind = 'session' AND h.id IN (session.id, session.parent));

CREATE VIEW visible_commit AS SELECT * FROM "commit" WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = "commit".bank
        AND h.kind = 'commit' AND h.id = "commit".id);

CREATE VIEW visible_remembered_memory AS SELECT * FROM remembered_memory AS r WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = r.bank AND h.kind = 'memory'
        AND h.id = r.id);

-- Memories of all three origins: remembered, retained, and opinions.
CREATE VIEW visible_memory AS
    SELECT r.bank AS bank, r.id AS id, r.time AS time, r.who AS who, r.text AS text,
        coalesce(d.network, 'world') AS network, coalesce(d.place, '') AS place,
        coalesce(d.why, '') AS why, d.confidence AS confidence, r.trust AS trust,
        CASE r.trust WHEN 'user' THEN 'verified' ELSE 'observed' END AS status,
        '[]' AS favour, '[]' AS against, 1 AS seen
    FROM remembered_memory AS r
        LEFT JOIN memory_dimension AS d ON d.bank = r.bank AND d.id = r.id
    WHERE NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = r.bank
        AND h.kind = 'memory' AND h.id = r.id)
    UNION ALL
    SELECT r.bank, r.id, r.time, r.who, r.what, r.network, r.place, r.why, r.confidence, r.trust,
        'observed', r.evidence, '[]', r.seen
    FROM retained_memory AS r
    WHERE NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = r.bank
        AND h.kind = 'memory' AND h.id = r.id)
    UNION ALL
    SELECT o.bank, o.id, coalesce(nullif(o.latest, ''), o.updated), '', o.what, 'opinion', '',
        o.why, o.confidence, o.trust, o.status, o.favour, o.against, o.sessions
    FROM opinion AS o
    WHERE NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = o.bank
        AND h.kind = 'memory' AND h.id = o.id);

CREATE VIEW visible_concept AS SELECT * FROM concept WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = concept.bank
        AND h.kind = 'concept' AND h.id = concept.id);

CREATE VIEW visible_pull AS SELECT * FROM pull WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = pull.bank AND h.kind = 'pull'
        AND h.id = pull.id);

CREATE VIEW visible_issue AS SELECT * FROM issue WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = issue.bank AND h.kind = 'issue'
        AND h.id = issue.id);

CREATE VIEW visible_remark AS SELECT * FROM remark WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = remark.bank
        AND h.kind = 'remark' AND h.id = remark.id)
    AND NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = remark.bank
        AND h.kind IN ('pull', 'issue')
        AND 'holdfast://' || h.kind || '/' || h.id = remark.thread);

CREATE VIEW current_shared_record AS SELECT s.* FROM shared_record AS s WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = s.bank AND h.kind = 'taking'
        AND h.id = s.share_import)
    AND NOT EXISTS (SELECT 1 FROM shared_record AS o WHERE o.bank = s.bank AND o.id = s.id
        AND (o.shared, o.gone, o.version, o.share_import)
            > (s.shared, s.gone, s.version, s.share_import)
        AND NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = o.bank
            AND h.kind = 'taking' AND h.id = o.share_import));

CREATE VIEW visible_shared_record AS SELECT * FROM current_shared_record AS s WHERE gone = 0
    AND scope IN ('project', 'team', 'organisation')
    AND NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = s.bank AND h.kind = 'shared'
        AND h.id = s.id);

CREATE VIEW current_imported_record AS SELECT i.* FROM imported_record AS i WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = i.bank
        AND h.kind = 'importing' AND h.id = i.import_batch)
    AND NOT EXISTS (SELECT 1 FROM imported_record AS o WHERE o.bank = i.bank AND o.id = i.id
        AND (o.taken, o.import_batch) > (i.taken, i.import_batch)
        AND NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = o.bank
            AND h.kind = 'importing' AND h.id = o.import_batch));

CREATE VIEW visible_imported_record AS SELECT * FROM current_imported_record AS i WHERE
    NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = i.bank
        AND h.kind = 'imported' AND h.id = i.id);
