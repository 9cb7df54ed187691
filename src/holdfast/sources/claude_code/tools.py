"""A tool call as name, target, action and result: what was done, without what was read.

Contents of files and long outputs are the bulk of a transcript and the part that goes stale;
the change itself (a diff, a command) and whether it worked are what memory needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from holdfast.model.records import ToolCall
from holdfast.model.trust import Trust
from holdfast.sources.json_fields import Record, items, mapping, objects, string

COMMAND_LIMIT = 700
DIFF_LINES = 14
DIFF_LIMIT = 700
PLAN_LIMIT = 3000
BRIEF_LIMIT = 300
ERROR_LINES = 8
ERROR_LIMIT = 500
OUTPUT_LIMIT = 160
_COMMITTED = re.compile(r"^\[[^\]\n]{1,100} [0-9a-f]{7,40}\] \S.*$", re.MULTILINE)

_TOOL = Trust.TOOL
_EXTERNAL = Trust.EXTERNAL
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_WORKTREE = re.compile(r"\.claude[/\\]worktrees[/\\][^/\\]+[/\\]")
_NOISE_TAG = re.compile(
    r"</?(?:tool_use_error|persisted-output|error)>|<system-reminder>.*?(?:</system-reminder>|\Z)",
    re.DOTALL,
)
_OWN_TOOLS = ("mcp__holdfast__", "mcp__plugin_holdfast_holdfast__")
_OWN_ANSWERS = ('{"answer":', '{"bank":')
_OUTSIDE = re.compile(r'"trust": ?"external"')
INSIDE_TOLD = "answered from memory"
OUTSIDE_TOLD = "answered from memory, with text from outside"
_NUMBERED = re.compile(r"\s*\d+[\t→]")
_REJECTED = "The user doesn't want to proceed with this tool use."
_FEEDBACK = re.compile(r"the user said:\s*(.*?)(?:\n\nNote: The user's next|\Z)", re.DOTALL)


def clip(text: str, limit: int) -> str:
    """The start of a text, with a mark where it was cut. No word is cut in two: half a key or
    an address without its end would not be known as a secret."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    end = max(head.rfind(" "), head.rfind("\n"))
    return head[: end if end > limit - 200 else limit - 80].rstrip() + " …"


def relative(path: str, root: str) -> str:
    """A path as the project tells it: below its root, worktrees folded into one."""
    if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("/", "\\"):
        path = path[len(root) + 1 :]
    if ".claude" in path:
        path = _WORKTREE.sub("", path)
    return path


def read_call(name: str, given: Record, root: str, call: str) -> ToolCall:
    """What a tool was asked to do."""
    reader = _READERS.get(name)
    if reader is None:
        return ToolCall(name, action=clip(_compact(given), BRIEF_LIMIT), call=call)
    target, lines, action = reader(given)
    return ToolCall(name, relative(target, root), lines, action, call=call)


def is_own(name: str) -> bool:
    """Whether a tool is our own server's: what it brings in is memory."""
    return name.startswith(_OWN_TOOLS)


def trust_of(name: str) -> Trust:
    """Whose words a tool brings in: the web's and other servers' are a stranger's. So are our own
    server's, until its answer shows that nothing in it came from outside."""
    outside = name.startswith("mcp__") or name in ("WebFetch", "WebSearch")
    return _EXTERNAL if outside else _TOOL


def _compact(given: Record) -> str:
    short = {
        key: value if not isinstance(value, str) else value[:BRIEF_LIMIT]
        for key, value in given.items()
    }
    try:
        return json.dumps(short, ensure_ascii=False, separators=(",", ":"), default=str)[:2000]
    except RecursionError:
        return "(deeply nested)"


Call = tuple[str, str, str]


def _read(given: Record) -> Call:
    start, count = given.get("offset"), given.get("limit")
    first = start if isinstance(start, int) else 1
    lines = f"{first}-{first + count - 1}" if isinstance(count, int) and count > 0 else ""
    return string(given, "file_path") or string(given, "notebook_path"), lines, ""


def _edit(given: Record) -> Call:
    return string(given, "file_path"), "", _diff(given)


def _multi_edit(given: Record) -> Call:
    parts = [_diff(edit) for edit in objects(given.get("edits"))]
    return string(given, "file_path"), "", clip_lines("\n".join(parts), DIFF_LINES * 2)


def _write(given: Record) -> Call:
    content = string(given, "content")
    count = content.count("\n") + (not content.endswith("\n"))
    shown = clip_lines("\n".join(f"+{line}" for line in content[:2000].split("\n")), DIFF_LINES)
    return string(given, "file_path"), f"1-{count}", shown


def _notebook(given: Record) -> Call:
    return string(given, "notebook_path"), "", clip("+" + string(given, "new_source"), DIFF_LIMIT)


def _bash(given: Record) -> Call:
    return "", "", clip(string(given, "command"), COMMAND_LIMIT)


def _grep(given: Record) -> Call:
    return string(given, "path") or string(given, "glob"), "", clip(string(given, "pattern"), 200)


def _web(given: Record) -> Call:
    return string(given, "url"), "", clip(string(given, "prompt") or string(given, "query"), 200)


def _agent(given: Record) -> Call:
    # The prompt itself is the first turn of the subagent's own session.
    return string(given, "subagent_type"), "", clip(string(given, "description"), BRIEF_LIMIT)


def _todos(given: Record) -> Call:
    tasks = objects(given.get("todos"))
    done = sum(task.get("status") == "completed" for task in tasks)
    now = next((string(t, "content") for t in tasks if t.get("status") == "in_progress"), "")
    return "", "", f"{done}/{len(tasks)} done" + (f"; now: {clip(now, 120)}" if now else "")


def _task(given: Record) -> Call:
    subject = string(given, "subject") or string(given, "status")
    task: object = given.get("taskId")
    return str(task) if isinstance(task, str | int) else "", "", clip(subject, BRIEF_LIMIT)


def _plan(given: Record) -> Call:
    return "", "", clip(string(given, "plan"), PLAN_LIMIT)


def _question(given: Record) -> Call:
    questions = [string(item, "question") for item in objects(given.get("questions"))]
    return "", "", clip(" / ".join(questions), 600)


def _message(given: Record) -> Call:
    to = string(given, "recipient") or string(given, "to")
    return to, "", clip(string(given, "content") or string(given, "message"), BRIEF_LIMIT)


def _skill(given: Record) -> Call:
    name = string(given, "skill") or string(given, "command")
    return name, "", clip(string(given, "args"), BRIEF_LIMIT)


_READERS: dict[str, Callable[[Record], Call]] = {
    "Read": _read,
    "NotebookRead": _read,
    "Edit": _edit,
    "MultiEdit": _multi_edit,
    "Write": _write,
    "NotebookEdit": _notebook,
    "Bash": _bash,
    "PowerShell": _bash,
    "Grep": _grep,
    "Glob": _grep,
    "LS": _grep,
    "WebFetch": _web,
    "WebSearch": _web,
    "Agent": _agent,
    "Task": _agent,
    "TodoWrite": _todos,
    "TaskCreate": _task,
    "TaskUpdate": _task,
    "ExitPlanMode": _plan,
    "exit_plan_mode": _plan,
    "AskUserQuestion": _question,
    "SendMessage": _message,
    "Skill": _skill,
}


def _diff(edit: Record) -> str:
    """The changed lines of an edit, without the lines around them that stayed the same."""
    old = string(edit, "old_string").split("\n")
    new = string(edit, "new_string").split("\n")
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    removed = [f"-{line}" for line in old[head : len(old) - tail] if line.strip()]
    added = [f"+{line}" for line in new[head : len(new) - tail] if line.strip()]
    if len(removed) > DIFF_LINES // 2:
        removed = [*removed[: DIFF_LINES // 2], f"-… {len(removed) - DIFF_LINES // 2} more lines"]
    return clip_lines("\n".join(removed + added), DIFF_LINES)


def clip_lines(text: str, most: int) -> str:
    """The first lines of a text, and how many there are more."""
    lines = text.split("\n")
    if len(lines) > most:
        text = "\n".join([*lines[:most], f"… {len(lines) - most} more lines"])
    return clip(text, DIFF_LIMIT)


def read_result(block: Record, record: Record) -> tuple[bool, str, str]:
    """Whether a call worked, what is worth keeping of its output, and the lines it touched."""
    text = _content_text(block.get("content"))
    if block.get("is_error"):
        return False, _error(text, record), ""
    detail = mapping(record.get("toolUseResult"))
    if text.startswith(_OWN_ANSWERS):
        # What memory says is not to be remembered again; only whether a stranger's words are in it.
        return True, OUTSIDE_TOLD if _OUTSIDE.search(text) else INSIDE_TOLD, ""
    return True, _output(text, detail), _touched_lines(detail)


def printed(record: Record) -> Iterator[tuple[str, str]]:
    """All that tools printed, each with the id of its call."""
    for block in objects(mapping(record.get("message")).get("content")):
        if block.get("type") == "tool_result":
            text = _NOISE_TAG.sub("", _content_text(block.get("content")))
            yield string(block, "tool_use_id"), _ANSI.sub("", text)


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(string(part, "text") for part in objects(content))


def _error(text: str, record: Record) -> str:
    denied = string(record, "toolDenialKind")
    if text.startswith(_REJECTED) or denied.startswith("user"):
        said = _FEEDBACK.search(text)
        return "rejected by the user" + (f": {clip(said.group(1), ERROR_LIMIT)}" if said else "")
    clean = _ANSI.sub("", _NOISE_TAG.sub("", text[:20_000])).strip()
    lines = [line.rstrip() for line in clean.split("\n") if line.strip()]
    if len(lines) > ERROR_LINES:
        half = ERROR_LINES // 2
        lines = [*lines[:half], "…", *lines[-half:]]
    return clip("\n".join(lines), ERROR_LIMIT)


def _output(text: str, detail: Record) -> str:
    """The last line of a command's output (where verdicts stand), the line that names a commit,
    or a person's answer."""
    if "answers" in detail:
        return clip(text, 1000)
    # A subagent's lines have no detail; what a file holds is told by its numbered lines.
    if "stdout" not in detail and (detail or _NUMBERED.match(text)):
        return ""
    if "</system-reminder>" in text:
        text = _NOISE_TAG.sub("", text)
    last = text[-1000:].rstrip().rsplit("\n", 1)[-1].strip()
    if "] " in text and (named := _COMMITTED.search(text[-4000:])):
        last = named[0]
    return clip(_ANSI.sub("", last) if "\x1b" in last else last, OUTPUT_LIMIT)


def _touched_lines(detail: Record) -> str:
    hunks = items(detail.get("structuredPatch"))
    hunk = mapping(hunks[0]) if hunks else {}
    start, count = hunk.get("newStart"), hunk.get("newLines")
    if isinstance(start, int) and isinstance(count, int):
        return f"{start}-{start + max(count, 1) - 1}"
    return ""
