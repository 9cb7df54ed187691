"""One module an agent; `docs/adding-an-agent.md` says what goes into it."""
