"""Reading a query. Start with `query`: it turns text into terms with weights and a time range.
`date_phrases` reads a date in words ("last Friday"), `time_phrases` the ranges made of them
("between March and May"); `terms` and `expansion` choose the words to search for."""
