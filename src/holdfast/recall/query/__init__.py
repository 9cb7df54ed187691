"""Reading a query. Start with `query`: it turns text into terms with weights and a time range.
`time_phrases` reads dates in words ("last Friday", "between March and May"), `terms` and
`expansion` choose the words to search for."""
