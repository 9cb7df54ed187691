"""Read-only views for people who look through a memory: the catalogue of records by kind, one record
with its evidence, the queue of what a person must decide, the log of decisions, and the hand-off
page. Pages, REST and CLI show them. Start reading in `catalogue`."""
