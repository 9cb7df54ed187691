"""What the SQLite and the PostgreSQL store share: statements, rows and numbered migrations."""
