"""L3: exchanges and memories grouped into named concepts, by rules."""
