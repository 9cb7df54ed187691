-- How much a statement of a session is worth remembering, by the selector that chose it; NULL for
-- what nothing chose by such a score.
ALTER TABLE memory_occurrence ADD COLUMN worth double precision;
ALTER TABLE retained_memory ADD COLUMN worth double precision;
