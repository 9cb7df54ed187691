"""Texts that an agent wrote for later readers in its tool calls: commit messages, titles and bodies
of pull requests, notes. What programs and templates add to them is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.model.records import ToolCall
from holdfast.regex import regex
from holdfast.sources.written_text import COMMITS, PULL_REQUESTS, is_note

# What stands above the first line of a message, to say what it is.
COMMITTED = "Committed"
PULL_REQUEST = "Pull request"

# A text as an argument: a here document, PowerShell's here string, quoted, or one word. A command
# that was cut off ends none of them.
_TEXT = (
    r"(?:\"?\$\(\s*cat\s*<<-?\s*['\"]?(?P<{0}tag>\w+)['\"]?[ \t]*\n"
    r"(?P<{0}here>.*?)(?:\n[ \t]*(?P={0}tag)\b|\Z)"
    r"|@(?P<{0}mark>['\"])\n(?P<{0}string>.*?)(?:\n(?P={0}mark)@|\Z)"
    r"|\"(?P<{0}double>(?:[^\"\\]|\\.)*)(?:\"|\Z)"
    r"|'(?P<{0}single>[^']*)(?:'|\Z)"
    r"|(?P<{0}word>[^\s\"'$;&|]+))"
)
# The same from standard input: `git commit -F - <<'EOF'`.
_INPUT = (
    r"(?:-|/dev/stdin)[^\n<]*<<-?\s*['\"]?(?P<tag>\w+)['\"]?[^\n]*\n"
    r"(?P<here>.*?)(?:\n[ \t]*(?P=tag)\b|\Z)"
)
_MESSAGE = regex(
    rf"(?<!\S)(?:(?:-[a-z]*m|--message)(?:\s+|=){_TEXT.format('m')}"
    rf"|(?:-F|--file)(?:\s+|=){_INPUT})",
    re.DOTALL,
)
_DESCRIPTION = regex(
    rf"(?<!\S)(?:(?:-t|--title)(?:\s+|=){_TEXT.format('t')}"
    rf"|(?:-b|--body|--description)(?:\s+|=){_TEXT.format('b')}"
    rf"|(?:-F|--body-file)(?:\s+|=){_INPUT})",
    re.DOTALL,
)
_TITLE = regex(rf"(?<!\S)(?:-t|--title)(?:\s+|=){_TEXT.format('t')}", re.DOTALL)
# The end of a line ends a command, unless the line goes on.
_NEXT_COMMAND = regex(r"&&|\|\||;|(?<!\\)\n")
# Tools of servers that open and change pull requests; calls of them are kept as JSON.
_PULL_TOOLS = regex(r"(?:create|update|edit|open)_(?:pull|merge)_request$")
_TITLE_FIELD = regex(r"\"title\":\s*\"((?:[^\"\\]|\\.)*)\"")
_VARIABLE = regex(r"(?<!\\)\$[\w{(]")
_ESCAPED = regex(r"\\([\"\\$`])")

_SIGNATURES = regex(
    r"^[ \t]*(?:(?:co-authored-by|signed-off-by|reviewed-by|acked-by|tested-by|change-id|"
    r"claude-session|generated[- ](?:with|by)|assisted-by)\b|🤖|https?://\S+\s*$|"
    r"(?:closes|fixes|resolves|refs?|part of|related to)\s*:?\s+(?:[\w./-]*#\d+[,\s]*)+\.?\s*$).*$",
    re.IGNORECASE | re.MULTILINE,
)
_CHECKBOX = regex(r"^[ \t]*[-*+][ \t]+\[[ xX]\].*$", re.MULTILINE)
_COMMENT = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# A section of a template that says how to test, with all below it up to the next heading.
_TEST_PLAN = regex(
    r"^#{1,6}[ \t]+(?:test(?:ing)?(?: plan| steps)?|how (?:to|was this) test\w*|checklist|"
    r"verification|screenshots?|type of change)\b.*?(?=^#{1,6}[ \t]|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
# First lines that say nothing: a step on the way, or what a program filled in.
_EMPTY_LINE = regex(
    r"(?:(?:wip|tmp|temp)\b[^\n]{0,20}|(?:fixup!|squash!|test commit|initial commit|merge )[^\n]*|"
    r"\([^\n]*\)|\W*)(?:\n|\Z)",
    re.IGNORECASE,
)

_HIDDEN_LINES = regex(r"^… \d+ more lines$")
_FRONT_MATTER = regex(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
_DESCRIPTION_LINE = regex(r"^description:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)
# Of a link to another file only its name says something: "- [Cache](cache.md) — cleared by …".
_FILE_LINK = regex(r"\[([^\]\n]+)\]\([^)\s]+\.mdx?\)")
_MEMORY_FACT = regex(r"\"fact\":\s*\"((?:[^\"\\]|\\.)*)")
_MEMORY_TOOLS = frozenset(("save_memory", "store_memory"))
_EDIT_TOOLS = frozenset(("Edit", "MultiEdit", "Write"))
_SHELL_TOOLS = frozenset(("Bash", "PowerShell"))


def commit_messages(command: str) -> list[str]:
    """The whole messages of the commits that a command makes, in order."""
    return ["\n\n".join(found) for found in _arguments(command, COMMITS, _MESSAGE)]


def pull_request_titles(tool: ToolCall) -> list[str]:
    """The titles of the pull requests that a call opened or changed, in order."""
    if tool.ok is False:
        return []
    if tool.name in _SHELL_TOOLS:
        return [texts[0] for texts in _arguments(tool.action, PULL_REQUESTS, _TITLE)]
    field = _TITLE_FIELD.search(tool.action) if _PULL_TOOLS.search(tool.name) else None
    return [_ESCAPED.sub(r"\1", field[1])] if field else []


def _arguments(
    command: str, of_command: re.Pattern[str], argument: re.Pattern[str]
) -> Iterator[list[str]]:
    """The texts that are given to each call of a command."""
    for called in of_command.finditer(command):
        at, texts = called.end(), list[str]()
        while found := argument.search(command, at):
            if _NEXT_COMMAND.search(command, at, found.start()):
                break
            texts.append(_text_of(found))
            at = found.end()
        if any(texts):
            yield [text for text in texts if text]


def _text_of(found: re.Match[str]) -> str:
    """The text of an argument; "" where a variable is part of it."""
    for name, text in found.groupdict().items():
        if text is None or name.endswith(("tag", "mark")):
            continue
        if name.endswith("double"):
            return "" if _VARIABLE.search(text) else _ESCAPED.sub(r"\1", text).strip()
        return text.strip()
    return ""


def written_messages(tool: ToolCall) -> Iterator[str]:
    """The commit messages, and the titles and bodies of pull requests, that a call wrote. The first
    line stands below what it is."""
    if tool.name not in _SHELL_TOOLS or tool.ok is False:
        return
    for heading, command, argument in (
        (COMMITTED, COMMITS, _MESSAGE),
        (PULL_REQUEST, PULL_REQUESTS, _DESCRIPTION),
    ):
        for texts in _arguments(tool.action, command, argument):
            message = without_noise("\n\n".join(texts))
            if empty := _EMPTY_LINE.match(message):
                message = message[empty.end() :].strip()
            elif message:
                message = f"{heading}:\n\n{message}"
            if message:
                yield message


def without_noise(text: str) -> str:
    """A message without signatures, check boxes, test plans and the comments of templates."""
    for noise in (_COMMENT, _TEST_PLAN, _CHECKBOX, _SIGNATURES):
        text = noise.sub("", text)
    return text.removesuffix(" …").strip()


def written_note(tool: ToolCall) -> str:
    """What a call added to a file that is read in later sessions, or gave to a tool for that; ""
    if it did not."""
    if tool.ok is False:
        return ""
    if tool.name in _MEMORY_TOOLS:
        fact = _MEMORY_FACT.search(tool.action)
        return _ESCAPED.sub(r"\1", fact.group(1)).replace("\\n", "\n") if fact else ""
    if tool.name not in _EDIT_TOOLS or not is_note(tool.target):
        return ""
    lines = [line[1:] for line in tool.action.split("\n") if line.startswith("+")]
    text = "\n".join(line for line in lines if not _HIDDEN_LINES.match(line))
    front = _FRONT_MATTER.match(text)
    if front:
        described = _DESCRIPTION_LINE.search(front.group(1))
        text = f"{described.group(1) if described else ''}\n\n{text[front.end() :]}"
    return _FILE_LINK.sub(r"\1", without_noise(text))
