"""The GraphQL endpoint: its schema, what a query may cost, and what a mutation requires of a key.
It has the operations that `interfaces/http/rest` has, with the same lists and cursors."""
