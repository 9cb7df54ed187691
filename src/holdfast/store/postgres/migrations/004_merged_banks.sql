-- C, of this machine. What a transcript shows of the repository that a folder was in. Folders that
-- are gone are known to be one project by this. A row of kind 'read' says up to which byte of
-- the file clues were looked for.
CREATE TABLE project_clue (
    bank text COLLATE "C" NOT NULL REFERENCES bank (id),
    source bigint NOT NULL, -- the transcript
    folder text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, -- remote, pull, worktree, head, commit, read
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank, source, folder, kind, value)
);

-- C, of this machine. A row that came to a bank when another was merged into it; by these the merge
-- is undone.
CREATE TABLE bank_merge_row (
    bank text COLLATE "C" NOT NULL REFERENCES bank (id),
    decision bigint NOT NULL, -- the number of the merge in the log of decisions
    origin text COLLATE "C" NOT NULL, -- the table
    key text COLLATE "C" NOT NULL, -- JSON: the primary key without the bank
    shared bigint NOT NULL, -- 1 where both banks had it
    was text COLLATE "C" NOT NULL, -- JSON: values that the merge changed
    PRIMARY KEY (bank, decision, origin, key)
);

-- The words of a decision never change; its bank does when that is merged into another.
CREATE OR REPLACE FUNCTION curation_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'UPDATE' AND (current_setting('holdfast.erasing', true) = 'on'
        OR (new.seq, new.time, new.action, new.target, new.text, new.who)
            IS NOT DISTINCT FROM (old.seq, old.time, old.action, old.target, old.text, old.who))
    THEN
        RETURN new;
    END IF;
    RAISE EXCEPTION 'the curation log is append-only';
END $$;
