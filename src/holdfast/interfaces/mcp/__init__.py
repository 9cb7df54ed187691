"""The Model Context Protocol: the servers `holdfast mcp`, `holdfast mcp memory`, `holdfast mcp
search`, over standard input and output.

`tool_choice` chooses which operations an agent at work is offered; `main_engine` runs them, and
`results` makes their results short. `main_spec` and `read_only_specs` say what the servers offer
before an engine is loaded. `dispatch` says what each method of the protocol is answered with;
`server` is its transport over standard input and output, `interfaces/http/mcp` the one of
`holdfast serve`, over HTTP.

To offer an agent another operation, add it to `tool_choice.TOOLS`, run
`python tools/write_first_answers.py`, which writes the list that clients get, and describe it in
`docs/mcp.md`. How its result reads is the operation's `text`, unless `results` says it shorter.

The tools of the other two servers are listed in `app/answers/memory_tool_list` and
`app/answers/search_tool_list`, and answered by the classes beside those.
"""
