"""Operations as tools for agents: which are offered by what name (`tools`), how one is called
(`calls`), and how its result reads (`results`)."""
