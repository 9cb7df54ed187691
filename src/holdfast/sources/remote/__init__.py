"""Memory servers of a team: `remote_config` lists those that the user added, `client` talks to one."""
