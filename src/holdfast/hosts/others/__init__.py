"""One module for each agent, other than Claude Code, that `holdfast setup` configures.

To add an agent, write `NAME.py` in this package and set `HOST = Host(...)` with

- `name`, the same as that of its `sources/agents` module, and `title`;
- `changes(user, holdfast)`: the changes of its settings files. `json_server` adds our MCP server to
  a JSON list of servers, `json_hooks` adds hooks in Claude Code's format; for another format build
  a `SettingsChange` yourself, as `codex.py` does for TOML;
- `notes`: what the user must still do, if anything.

`hosts/registry.py` imports every module in here; no other code names an agent.
`tests/hosts/test_other_agents.py` installs and removes each one and compares bytes. Hooks of these
agents run `claude_code/scripts/other_agents.py`.
"""
