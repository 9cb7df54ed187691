"""What is put into a session unasked: briefs, triggers, and the account of what came of them."""
