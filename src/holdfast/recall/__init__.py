"""Search: find the records that answer a query, rank them, or abstain.

Start reading in `engine`, which runs one search from the query to the hits. `core.tuning` holds
every number that decides the ranking and the abstention. `query` reads the query (terms, synonyms,
dates such as "last Friday" in `query.dates`), `retrievers` find candidates, `ranking` orders
them, `links` relates records to each other and to code, `lookup` opens records by name, file or
time without ranking, and `fallback` runs when a search abstains. Recall only reads: it is given a
`Reader` and cannot write.
"""
