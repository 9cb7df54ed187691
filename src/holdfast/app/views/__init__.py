"""Read-only views of a memory for people: the catalogue of records by kind, one record with its
evidence, the queue of what a person must decide, the log of decisions, and the hand-off page. The
pages, REST and the CLI show them. Start reading in `catalogue`."""
