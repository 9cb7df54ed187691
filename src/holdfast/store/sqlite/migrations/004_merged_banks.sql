-- C, of this machine. What a transcript shows of the repository that a folder was in. Folders that
-- are gone are known to be one project by this. A row of kind 'read' says up to which byte of
-- the file clues were looked for.
CREATE TABLE project_clue (
    bank TEXT NOT NULL REFERENCES bank (id),
    source INTEGER NOT NULL, -- the transcript
    folder TEXT NOT NULL,
    kind TEXT NOT NULL, -- remote, pull, worktree, head, commit, read
    value TEXT NOT NULL,
    PRIMARY KEY (bank, source, folder, kind, value)
) STRICT, WITHOUT ROWID;

-- C, of this machine. A row that came to a bank when another was merged into it; by these the merge
-- is undone.
CREATE TABLE bank_merge_row (
    bank TEXT NOT NULL REFERENCES bank (id),
    decision INTEGER NOT NULL, -- the number of the merge in the log of decisions
    origin TEXT NOT NULL, -- the table
    key TEXT NOT NULL, -- JSON: the primary key without the bank
    shared INTEGER NOT NULL, -- 1 where both banks had it
    was TEXT NOT NULL, -- JSON: values that the merge changed
    PRIMARY KEY (bank, decision, origin, key)
) STRICT, WITHOUT ROWID;

-- The words of a decision never change; its bank does when that is merged into another.
DROP TRIGGER curation_is_append_only;
CREATE TRIGGER curation_is_append_only
    BEFORE UPDATE OF seq, time, action, target, text, who ON curation
    BEGIN SELECT RAISE(ABORT, 'the curation log is append-only'); END;
