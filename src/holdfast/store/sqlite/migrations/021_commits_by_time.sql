-- Who wrote it goes along, so that lists by author need not read the commits themselves.
CREATE INDEX commit_time ON "commit" (bank, time DESC, id, author, email);
