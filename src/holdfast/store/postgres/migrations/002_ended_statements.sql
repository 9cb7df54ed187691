-- D. Words that no longer hold, by which decision and since when.
CREATE TABLE ended_statement (
    bank text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    session text COLLATE "C" NOT NULL, -- where it was said; '' if in no session
    first_seq bigint NOT NULL, -- the exchange in which it was said
    last_seq bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    said text COLLATE "C" NOT NULL,
    ended text COLLATE "C" NOT NULL, -- since then it is history
    reason text COLLATE "C" NOT NULL, -- corrected, forgotten, superseded, retracted
    who text COLLATE "C" NOT NULL,
    record text COLLATE "C" NOT NULL, -- URI of what the decision was about
    instead text COLLATE "C" NOT NULL, -- URI of what holds now
    now text COLLATE "C" NOT NULL, -- and its words
    everywhere bigint NOT NULL, -- whether it ended in other sessions too
    PRIMARY KEY (bank, position)
);
CREATE INDEX ended_statement_reach ON ended_statement (bank, everywhere, session);
