-- Opinions are what people and agents state with a confidence, and what a model reflects. Nothing
-- is read out of the words of sessions by a list of words any more: those opinions and the stances
-- they were made of go, and so does what a model said about open questions and about briefs.
DELETE FROM model_summary WHERE kind IN ('verdict', 'brief review');
DROP TABLE review_advice;
DROP TABLE stance;

UPDATE opinion SET author = '' WHERE author = 'rules'; -- the stage that updates opinions drops it
ALTER TABLE opinion DROP COLUMN target;
ALTER TABLE opinion DROP COLUMN aspect;
ALTER TABLE opinion DROP COLUMN positive;
ALTER TABLE opinion DROP COLUMN tension;
ALTER TABLE opinion DROP COLUMN settled;
