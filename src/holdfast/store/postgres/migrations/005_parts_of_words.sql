-- D. Banks with passages whose parts of words are not in `words` yet: those up to this number. Parts
-- (`word_forms.index_parts`) of the body have the weight C, of the context D.
CREATE TABLE unindexed_parts (
    bank text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (bank)
);
INSERT INTO unindexed_parts SELECT bank, max(number) FROM passage GROUP BY bank;
