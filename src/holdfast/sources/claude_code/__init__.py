"""Reads what Claude Code (1.0 to 2.1) writes: lines of transcripts and payloads of hook events.

`files` finds transcripts, `records` reads a line, `prompts` separates a person's text from a
program's, `tools` shortens tool calls, `events` reads hook events. `agents/claude_code.py` puts
them together.
"""
