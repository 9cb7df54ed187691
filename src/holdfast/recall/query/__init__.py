"""Reading a query. Start with `query`: it turns text into terms with weights and a time range.
`dates` reads a date in words ("last Friday"), `time_ranges` the ranges made of them ("between
March and May"), `recent_work` whether a question is about the latest work; `terms` and `expansion`
choose the words to search for."""
