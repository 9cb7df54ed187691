"""Memory servers of a team: which ones the user added (`remote_config`) and the client (`client`)."""
