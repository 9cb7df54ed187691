-- D. Words that no longer hold, by which decision and since when.
CREATE TABLE ended_statement (
    bank TEXT NOT NULL,
    position INTEGER NOT NULL,
    session TEXT NOT NULL, -- where it was said; '' if in no session
    first_seq INTEGER NOT NULL, -- the exchange in which it was said
    last_seq INTEGER NOT NULL,
    text TEXT NOT NULL,
    said TEXT NOT NULL,
    ended TEXT NOT NULL, -- since then it is history
    reason TEXT NOT NULL, -- corrected, forgotten, superseded, retracted
    who TEXT NOT NULL,
    record TEXT NOT NULL, -- URI of what the decision was about
    instead TEXT NOT NULL, -- URI of what holds now
    now TEXT NOT NULL, -- and its words
    everywhere INTEGER NOT NULL, -- whether it ended in other sessions too
    PRIMARY KEY (bank, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX ended_statement_reach ON ended_statement (bank, everywhere, session);
