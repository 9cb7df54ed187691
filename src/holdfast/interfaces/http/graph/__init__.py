"""`/graphql`: the memory as a graph. Loaded when it is first asked for, for that takes long."""
