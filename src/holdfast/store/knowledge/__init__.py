"""What is made of sessions: memories, opinions, concepts, facts, the graph, rules."""
