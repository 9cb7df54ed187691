"""What model services cost: prices, caps, and the ledger of every call."""
