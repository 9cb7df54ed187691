"""One module for each agent whose transcripts are read. `registry` imports every module in here.

To add an agent:

1. Write `NAME.py` in this package and set `AGENT = Agent(...)`. `sources/agent.py` explains each
   field; `copilot.py` is the shortest example of a file of lines, `gemini.py` of a document and
   `opencode.py` of a database, both with a `LineLayout`.
2. Use `tool_mapping` for turns, tool calls and results, and `claude_code.prompts` to separate a
   person's text from a program's.
3. Put a recorded sample into `tests/recorded/agents/NAME/`. `tests/sources/test_agents.py` checks
   it for everything that all agents promise; test the particulars in `tests/sources/test_NAME.py`.
4. If `holdfast setup` should configure the agent, add `hosts/others/NAME.py` (see there). An agent
   that is only read needs none.
5. Run `make docs`, add a row to the tables of `docs/agents.md`, and name the agent in `README.md`
   and `CHANGELOG.md`.

No other code names an agent. `docs/adding-an-agent.md` has the details.
"""
