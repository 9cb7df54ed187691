"""What an agent writes down for later readers: commit messages, pull requests, notes, task lists.

Of other tool calls only the start is kept. Of these, the text itself is what a session came to, so
more of it is kept.
"""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex


class WrittenTextLimits(NamedTuple):
    """How much of a text that was written for later is kept. Few calls have such a text."""

    # Nine in ten commit commands have fewer than 1,200 characters; pull requests have more.
    message_chars: int = 3000
    # A note is a page; a file of notes that is written anew may be a book.
    note_lines: int = 80
    note_chars: int = 4000
    # A list of a dozen tasks.
    task_list_chars: int = 1500


LIMITS = WrittenTextLimits()

COMMITS = regex(r"\bgit (?:-[cC] \S+ )*commit\b")
PULL_REQUESTS = regex(r"\b(?:gh pr (?:create|edit|new)|glab mr (?:create|update|new))\b")
_INSTRUCTIONS = regex(
    r"(?:^|/)(?:claude|claude\.local|agents|agent|gemini|memory|memories|copilot-instructions|"
    r"learnings?|lessons(?:[-_ ]learned)?|decisions?|gotchas|conventions)\.mdx?$"
    r"|(?:^|/)\.cursorrules$"
)
_NOTE_FOLDERS = regex(
    r"(?:^|/)(?:memory|memories|learnings?|lessons|decisions?|adrs?|gotchas|project-knowledge|"
    r"\.claude/rules|\.cursor/rules)/(?:[^/]+/)*[^/]+\.mdc?x?$"
)


def is_note(path: str) -> bool:
    """Whether a file is kept to be read in later sessions: instructions for agents, memory,
    learnings, decision records."""
    path = path.replace("\\", "/").lower()
    return bool(_INSTRUCTIONS.search(path) or _NOTE_FOLDERS.search(path))


def has_message(command: str) -> bool:
    """Whether a command commits, or describes a pull request."""
    return bool(COMMITS.search(command) or PULL_REQUESTS.search(command))
