"""The GraphQL endpoint: its schema, what a query may cost, and what a mutation requires of a key.
It reads and changes the same data as `interfaces/http/api`, with the same lists and cursors."""
