"""How other agents are told of our server and our hooks: one module each, found by looking."""
