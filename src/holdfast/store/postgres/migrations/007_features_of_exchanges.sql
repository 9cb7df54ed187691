-- What the concepts of a bank are grouped by, as read from the texts of an exchange: a fingerprint
-- of these texts and of the rules, then JSON; '' where nothing was read yet.
ALTER TABLE exchange ADD COLUMN features text NOT NULL DEFAULT '';
