"""Memory servers of a team: `remote_config` has those that the user added, `client` queries one."""
