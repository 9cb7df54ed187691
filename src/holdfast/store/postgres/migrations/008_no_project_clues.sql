-- A bank is known by its remote, its worktrees and its path, not by what transcripts show.
DROP TABLE project_clue;
