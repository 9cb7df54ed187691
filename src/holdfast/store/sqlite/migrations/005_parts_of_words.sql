-- D. The parts of words in passages, where there are any: of names in mixed case (`GradientLast`), and
-- of scripts without spaces (`word_forms.index_parts`). Every name begins like that of the index over
-- whole words, so that whoever leaves that one out leaves this one out too.
CREATE VIRTUAL TABLE passage_fts_parts USING fts5 (
    scope, body, context,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);
CREATE TRIGGER passage_parts_removed AFTER DELETE ON passage BEGIN
    DELETE FROM passage_fts_parts WHERE rowid = old.number;
END;

-- D. Banks with passages whose parts are not in the index yet: those up to this number.
CREATE TABLE unindexed_parts (
    bank TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (bank)
) STRICT, WITHOUT ROWID;
INSERT INTO unindexed_parts SELECT bank, max(number) FROM passage GROUP BY bank;
