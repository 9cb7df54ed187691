-- Without who wrote it: an entry of an index has room for 2,700 bytes here, and names have no end.
CREATE INDEX commit_time ON "commit" (bank, time DESC, id);
