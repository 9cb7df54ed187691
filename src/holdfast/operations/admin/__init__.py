"""Operations on banks and on the whole memory: settings, state, upkeep, and what is shared."""
