"""What all parts of a search share. Start with `plan` (the options of a search) and `tuning` (the
numbers that decide ranking and abstention); `candidates` holds what was found, `parallel` runs the
retrievers, `relevance` measures whether a candidate answers the query."""
