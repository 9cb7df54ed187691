"""The Model Context Protocol: the servers `holdfast mcp`, `holdfast mcp memory`, `holdfast mcp
search`, over standard input and output.

`main_spec` and `read_only_specs` say what the servers offer; `main_engine` and `read_only_engine`
answer. `dispatch` says what each method of the protocol is answered with; `server` is its transport
over standard input and output, `interfaces/http/mcp` the one of `holdfast serve`, over HTTP.

To add a tool to `holdfast mcp`:

1. Describe it as a `Tool` in `main_spec.TOOLS`, with `writes=True` if it changes the memory, and
   add its name to `slow_tools` there if it can take seconds. Its arguments are checked against the
   description before it is called, and `holdfast serve` offers it to keys of the right level.
2. Write a method `(arguments, context) -> result` and enter it in the table of handlers: of
   `MainEngine` if it reads, of `WriteTools` if it writes. Return `tool_result(text, data)`, both
   with the same content, and keep it short with `tool.fit`.
3. Describe it in `docs/mcp.md`. `tests/walls` calls every tool with records of a bank that the key
   must not see; a new name of an argument must be entered in `tests/walls/operations.py`.

The tools of the other two servers are listed in `app/answers/memory_tool_list` and
`app/answers/search_tool_list`, and answered by the classes beside those.
"""
