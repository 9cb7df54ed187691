"""What hooks run: files that setup copies into the home, not modules to import; only the first
moments of the MCP server use the JSON of `answer`.

`capture.sh` (or `capture.py` where there is no `sh`) writes an event into the inbox; `answer.py`
does that and injects context, with `repository_bank.py` for folders that are not known yet,
`unread_prompts.py` for what was said moments ago, `file_notes.py` for edits and errors, and
`told_once.py` so that nothing is told twice;
`other_agents.py` does so for other agents. They run with `python -I -S` and use the standard
library alone. The one import of the installed package is in `answer.installed_package`; the import
contracts in pyproject.toml allow that one and no other.
"""
