"""Tool calls as name, target, action and result: what was done, without what was read.

Contents of files and long outputs are most of a transcript and soon outdated. What is kept is the
change itself (a diff, a command) and whether it worked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.records import ToolCall
from holdfast.model.trust import Trust
from holdfast.regex import regex
from holdfast.sources import written_text
from holdfast.sources.json_fields import Record, items, mapping, objects, string


class ToolTextLimits(NamedTuple):
    """How much text of a call and its result is kept. More would be found by more searches, and
    would make every stored turn and every injected quotation longer."""

    command_chars: int = 700
    # An edit shows what changed, not the whole change; the commit has that.
    diff_lines: int = 14
    diff_chars: int = 700
    # Plans are rare, and what a session decided is in them.
    plan_chars: int = 3000
    question_chars: int = 600
    # A person's answers to such questions, with what the chosen options mean.
    answer_chars: int = 1600
    # Arguments of other tools, descriptions of tasks, messages between agents.
    argument_chars: int = 300
    # Search patterns and questions to the web.
    pattern_chars: int = 200
    # The task in progress in a list of tasks.
    task_chars: int = 120
    # The first and the last lines of an error say what failed.
    error_lines: int = 8
    error_chars: int = 500
    # One line of output: the last, where commands say how they ended.
    output_chars: int = 160


LIMITS = ToolTextLimits()
# How much of a text is looked at before it is cut to the limits above.
_SCANNED_ERROR_CHARS = 20_000
_SCANNED_CONTENT_CHARS = 2000
_SCANNED_END_CHARS = 1000
_SCANNED_COMMIT_CHARS = 4000
# `clip` looks for the end of a word in the last characters, and cuts this much off otherwise.
_WORD_SEARCH_CHARS = 200
_CUT_WORD_CHARS = 80
_COMMITTED = regex(r"^\[[^\]\n]{1,100} [0-9a-f]{7,40}\] \S.*$", re.MULTILINE)

_ANSI = regex(r"\x1b\[[0-9;?]*[A-Za-z]")
_WORKTREE = regex(r"\.claude[/\\]worktrees[/\\][^/\\]+[/\\]")
_NOISE_TAG = regex(
    r"</?(?:tool_use_error|persisted-output|error)>|<system-reminder>.*?(?:</system-reminder>|\Z)",
    re.DOTALL,
)
# As `setup` names our server, and whatever the plugin calls it.
_OWN_TOOLS = ("mcp__holdfast__", "mcp__plugin_holdfast_")
_OWN_ANSWERS = ('{"answer":', '{"bank":')
_OUTSIDE = regex(r'"trust": ?"external"')
# The result that is kept of our own server's answers: their text is not captured again.
ANSWERED_FROM_MEMORY = "answered from memory"
ANSWERED_WITH_EXTERNAL_TEXT = "answered from memory, with text from outside"
_NUMBERED = regex(r"\s*\d+[\t→]")
# How a refusal is kept, before its reason.
REFUSED = "rejected by the user"
# What Claude Code writes where a person would rather talk about its questions, and how it lists
# what they had answered before.
_TALKS_FIRST = "The user wants to clarify these questions."
_LISTED_ANSWER = regex(r'- "([^\n]+)"\n\s+Answer: ([^\n]+)')
# Between an answer and what the chosen option was said to mean.
MEANS = " — "
_REJECTED = (
    "The user doesn't want to proceed with this tool use.",
    "The user rejected permission to use this specific tool call",
)
# Where nobody was there to be asked, Claude Code writes the denial kind of a person's refusal, too.
_NOBODY_ASKED = regex(r"haven['’]t granted|requested permissions?\b|requires? approval")
# What introduces the reason of a refusal, in the versions of Claude Code and in OpenCode.
_FEEDBACK = regex(
    r"(?:the user said|the following reason for the rejection|with the following feedback):\s*"
    r"(.*?)(?:\n\nNote: The user's next|\Z)",
    re.DOTALL | re.IGNORECASE,
)


def clip(text: str, limit: int) -> str:
    """The start of a text, with a mark where it was cut. No word is cut in two, because half a key
    would not be recognised as a secret."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    end = max(head.rfind(" "), head.rfind("\n"))
    end = end if end > limit - _WORD_SEARCH_CHARS else limit - _CUT_WORD_CHARS
    return head[:end].rstrip() + " …"


def relative(path: str, root: str) -> str:
    """A path relative to the project's root, without the folder of a worktree."""
    if root and path.startswith(root) and path[len(root) : len(root) + 1] in ("/", "\\"):
        path = path[len(root) + 1 :]
    if ".claude" in path:
        path = _WORKTREE.sub("", path)
    return path


def read_call(name: str, given: object, root: str, call: str) -> ToolCall:
    """What a tool was called to do. A tool without a reader keeps its arguments as JSON."""
    arguments = mapping(given) if given.__class__ is dict else {"input": given}
    reader = _READERS.get(name)
    if reader is None:
        return ToolCall(name, action=clip(_compact(arguments), LIMITS.argument_chars), call=call)
    target, lines, action = reader(arguments)
    return ToolCall(name, relative(target, root), lines, action, call=call)


def with_written_text(tool: ToolCall, given: object) -> ToolCall:
    """The call with more of its text, where that was written for later readers: the message of a
    commit, a pull request, a note, a list of tasks. Turns keep the ids that `read_call` gives."""
    keep = _WRITTEN.get(tool.name)
    text = keep(tool, mapping(given)) if keep is not None else ""
    return tool._replace(action=text) if len(text) > len(tool.action) else tool


def _whole_message(tool: ToolCall, given: Record) -> str:
    command = string(given, "command")
    long = len(command) > LIMITS.command_chars and written_text.has_message(command)
    return clip(command, written_text.LIMITS.message_chars) if long else ""


def _whole_note(tool: ToolCall, given: Record) -> str:
    if not written_text.is_note(tool.target):
        return ""
    edits = [_changed_lines(edit) for edit in objects(given.get("edits")) or [given]]
    content = string(given, "content")
    added = [f"+{line}" for line in content.split("\n")] if content else []
    lines = [*added, *(line for removed, new in edits for line in (*removed, *new))]
    limits = written_text.LIMITS
    return clip_lines("\n".join(lines), limits.note_lines, limits.note_chars)


def _open_tasks(tool: ToolCall, given: Record) -> str:
    """The tasks after the last that is done: what stands before it is done, too, as a rule."""
    tasks = objects(given.get("todos"))
    ended = [n for n, task in enumerate(tasks) if string(task, "status") in _ENDED]
    left = tasks[ended[-1] + 1 :] if ended else tasks
    lines = [
        f"- [{'>' if string(task, 'status') == 'in_progress' else ' '}] {string(task, 'content')}"
        for task in left
    ]
    return clip("\n".join([tool.action, *lines]), written_text.LIMITS.task_list_chars)


_ENDED = ("completed", "cancelled")
_WRITTEN: dict[str, Callable[[ToolCall, Record], str]] = {
    "Bash": _whole_message,
    "PowerShell": _whole_message,
    "Write": _whole_note,
    "Edit": _whole_note,
    "MultiEdit": _whole_note,
    "TodoWrite": _open_tasks,
}


def is_own(name: str) -> bool:
    """Whether a tool belongs to our own server, whose output comes from memory."""
    return name.startswith(_OWN_TOOLS)


def trust_of(name: str) -> Trust:
    """The trust in a tool's output: text from the web and from MCP servers is external. So is that
    of our own server, until its answer shows that nothing in it came from outside."""
    is_external = name.startswith("mcp__") or name in ("WebFetch", "WebSearch")
    return Trust.EXTERNAL if is_external else Trust.TOOL


def _compact(given: Record) -> str:
    short = {
        key: value if not isinstance(value, str) else value[: LIMITS.argument_chars]
        for key, value in given.items()
    }
    try:
        text = json.dumps(short, ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        return "(deeply nested)"
    return text[:_SCANNED_CONTENT_CHARS]


# Target, lines and action of a call.
Call = tuple[str, str, str]


def _text_fields(target: str, action: str, limit: int) -> Callable[[Record], Call]:
    """A reader of two texts: of the fields that are named, the first that has one."""
    targets, actions = target.split(), action.split()

    def read(given: Record) -> Call:
        return _first_text(given, targets), "", clip(_first_text(given, actions), limit)

    return read


def _first_text(given: Record, names: Sequence[str]) -> str:
    for name in names:
        if text := string(given, name):
            return text
    return ""


def _read(given: Record) -> Call:
    start, count = given.get("offset"), given.get("limit")
    first = start if isinstance(start, int) else 1
    lines = f"{first}-{first + count - 1}" if isinstance(count, int) and count > 0 else ""
    return _first_text(given, ("file_path", "notebook_path")), lines, ""


def _edit(given: Record) -> Call:
    return string(given, "file_path"), "", _diff(given)


def _multi_edit(given: Record) -> Call:
    parts = [_diff(edit) for edit in objects(given.get("edits"))]
    return string(given, "file_path"), "", clip_lines("\n".join(parts), LIMITS.diff_lines * 2)


def _write(given: Record) -> Call:
    content = string(given, "content")
    count = content.count("\n") + (not content.endswith("\n"))
    added = "\n".join(f"+{line}" for line in content[:_SCANNED_CONTENT_CHARS].split("\n"))
    return string(given, "file_path"), f"1-{count}", clip_lines(added, LIMITS.diff_lines)


def _notebook(given: Record) -> Call:
    added = clip("+" + string(given, "new_source"), LIMITS.diff_chars)
    return string(given, "notebook_path"), "", added


def _todos(given: Record) -> Call:
    tasks = objects(given.get("todos"))
    done = sum(task.get("status") == "completed" for task in tasks)
    now = next((string(t, "content") for t in tasks if t.get("status") == "in_progress"), "")
    doing = f"; now: {clip(now, LIMITS.task_chars)}" if now else ""
    return "", "", f"{done}/{len(tasks)} done{doing}"


def _task(given: Record) -> Call:
    subject = _first_text(given, ("subject", "status"))
    task: object = given.get("taskId")
    target = str(task) if isinstance(task, str | int) else ""
    return target, "", clip(subject, LIMITS.argument_chars)


def _question(given: Record) -> Call:
    questions = [string(item, "question") for item in objects(given.get("questions"))]
    return "", "", clip(" / ".join(questions), LIMITS.question_chars)


_bash = _text_fields("", "command", LIMITS.command_chars)
_grep = _text_fields("path glob", "pattern", LIMITS.pattern_chars)
_web = _text_fields("url", "prompt query", LIMITS.pattern_chars)
# The prompt itself is the first turn of the subagent's own session.
_agent = _text_fields("subagent_type", "description", LIMITS.argument_chars)
_plan = _text_fields("", "plan", LIMITS.plan_chars)

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
    "SendMessage": _text_fields("recipient to", "content message", LIMITS.argument_chars),
    "Skill": _text_fields("skill command", "args", LIMITS.argument_chars),
}


def _diff(edit: Record) -> str:
    """The start of what an edit removed and added."""
    removed, added = _changed_lines(edit)
    most = LIMITS.diff_lines // 2
    if len(removed) > most:
        removed = [*removed[:most], f"-… {len(removed) - most} more lines"]
    return clip_lines("\n".join(removed + added), LIMITS.diff_lines)


def _changed_lines(edit: Record) -> tuple[list[str], list[str]]:
    """The lines that an edit removed and added, without those around them that stayed the same."""
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
    return removed, added


def clip_lines(text: str, most: int, most_chars: int = LIMITS.diff_chars) -> str:
    """The first lines of a text, and how many more there are."""
    lines = text.split("\n")
    if len(lines) > most:
        text = "\n".join([*lines[:most], f"… {len(lines) - most} more lines"])
    return clip(text, most_chars)


def read_result(block: Record, record: Record) -> tuple[bool, str, str]:
    """Whether a call worked, the part of its output that is kept, and the lines it touched."""
    text = _content_text(block.get("content"))
    if block.get("is_error"):
        return False, _error(text, record), ""
    detail = mapping(record.get("toolUseResult"))
    if text.startswith(_OWN_ANSWERS):
        return True, own_answer_note(_OUTSIDE.search(text) is not None), ""
    return True, _output(text, detail), _touched_lines(detail)


def own_answer_note(has_external_text: bool) -> str:
    """What is kept of an answer of our own server, so that memory does not capture itself."""
    return ANSWERED_WITH_EXTERNAL_TEXT if has_external_text else ANSWERED_FROM_MEMORY


def tool_outputs(record: Record) -> Iterator[tuple[str, str]]:
    """The whole outputs of tools, each with the id of its call."""
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
    is_refused = denied.startswith("user") and not _NOBODY_ASKED.search(text)
    if text.startswith(_REJECTED) or is_refused:
        feedback = _FEEDBACK.search(text)
        reason = feedback.group(1).strip().strip('"') if feedback else ""
        return refused_result(reason)
    clean = _ANSI.sub("", _NOISE_TAG.sub("", text[:_SCANNED_ERROR_CHARS])).strip()
    lines = [line.rstrip() for line in clean.split("\n") if line.strip()]
    if len(lines) > LIMITS.error_lines:
        half = LIMITS.error_lines // 2
        lines = [*lines[:half], "…", *lines[-half:]]
    return clip("\n".join(lines), LIMITS.error_chars)


def refused_result(reason: str) -> str:
    """How a refusal is kept, with the reason that a person gave. Of questions that they would
    rather talk about first, only what they answered is theirs."""
    if reason.startswith(_TALKS_FIRST):
        listed = (one.groups() for one in _LISTED_ANSWER.finditer(reason))
        given = [[text.replace('"', "'") for text in pair] for pair in listed]
        answers = (f'"{question}"="{answer}"' for question, answer in given)
        return clip(", ".join((REFUSED, *answers)), LIMITS.answer_chars)
    return f"{REFUSED}: {clip(reason, LIMITS.error_chars)}" if reason else REFUSED


def _output(text: str, detail: Record) -> str:
    """The last line of a command's output, which says how it ended; or the line that names a
    commit; or a person's answer."""
    if "answers" in detail:
        return clip(_with_descriptions(text, detail), LIMITS.answer_chars)
    # A subagent's lines have no detail; numbered lines show that it is the content of a file.
    if "stdout" not in detail and (detail or _NUMBERED.match(text)):
        return ""
    if "</system-reminder>" in text:
        text = _NOISE_TAG.sub("", text)
    last = text[-_SCANNED_END_CHARS:].rstrip().rsplit("\n", 1)[-1].strip()
    if "] " in text and (named := _COMMITTED.search(text[-_SCANNED_COMMIT_CHARS:])):
        last = named[0]
    return clip(_ANSI.sub("", last) if "\x1b" in last else last, LIMITS.output_chars)


def _with_descriptions(text: str, detail: Record) -> str:
    """Answers with what the chosen options were said to mean: "Option C" alone means nothing."""
    for question in objects(detail.get("questions")):
        asked = string(question, "question")
        answer = string(mapping(detail.get("answers")), asked)
        options = objects(question.get("options"))
        chosen = (option for option in options if string(option, "label") == answer)
        meaning = next((string(option, "description") for option in chosen), "")
        if meaning := meaning.replace('"', "'"):
            shown = f'"{asked}"="{answer}'
            text = text.replace(f'{shown}"', f'{shown}{MEANS}{meaning}"', 1)
    return text


def _touched_lines(detail: Record) -> str:
    hunks = items(detail.get("structuredPatch"))
    hunk = mapping(hunks[0]) if hunks else {}
    start, count = hunk.get("newStart"), hunk.get("newLines")
    if isinstance(start, int) and isinstance(count, int):
        return f"{start}-{start + max(count, 1) - 1}"
    return ""
