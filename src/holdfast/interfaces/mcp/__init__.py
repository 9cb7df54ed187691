"""The Model Context Protocol: the servers `holdfast mcp`, `holdfast mcp memory`, `holdfast mcp
search`, over standard input and output.

`operations/agents/tools` chooses which operations each offers; `engine` runs them. `servers` says
what a server offers before an engine is loaded, `server` is the transport over standard input and
output, `interfaces/http/mcp` the one of `holdfast serve`, over HTTP, and `standby` answers first.

To offer an agent another operation, add it to `operations/agents/tools`, run
`python tools/write_first_answers.py`, which writes the lists that clients get, and describe it in
`docs/mcp.md`. How its result reads is the operation's `text`, unless `operations/agents/results`
says it shorter.
"""
