"""Turns and results as the readers of all agents make them, under the names of Claude Code's tools.

Which files a session changed, which commands it ran and which of them failed is worked out from
the names of tools. So an agent's reader maps its tools to Claude Code's names (`Bash`, `Edit`,
`Read` …) and their arguments to its fields. A tool that has no counterpart keeps its own name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from holdfast.model.ids import content_id
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust
from holdfast.regex import regex
from holdfast.sources.claude_code import prompts, tools
from holdfast.sources.draft import DraftResult, DraftTurn
from holdfast.sources.json_fields import Record, mapping, objects, string

INTERRUPTED = f"{prompts.INTERRUPTED}]"
_PATCH_FILE = regex(
    r"^\*\*\* (Update|Add|Delete) File: (.+?)[ \t\r]*$|^\*\*\* Move to: (.+?)[ \t\r]*$",
    re.MULTILINE,
)
_OWN_ANSWER = regex(r'\{\s*\\?"(?:answer|bank)\\?":')
_HAS_EXTERNAL_TEXT = regex(r'\\?"trust\\?": ?\\?"external')
# Our own answers begin with one of these keys; agents put at most a short head before them.
_OWN_ANSWER_CHARS = 400
_OWN_SERVER = "holdfast"
# In an agent's map of tools: the tool is given a patch of several files.
PATCH = "patch"
# Tools whose output is the content of files, which is not kept.
_FILE_CONTENT_TOOLS = ("Read", "Grep", "Glob", "LS")
# Claude Code's names of arguments, and how other agents call the same.
_FIELD_NAMES = {
    "file_path": ("filePath", "absolute_path", "path", "target_file", "targetFile", "dir_path",
                  "relative_workspace_path", "relativeWorkspacePath", "fileName"),
    "old_string": ("oldString", "old_str"),
    "new_string": ("newString", "new_str"),
    "content": ("file_text", "contents", "code_edit"),
    "command": ("cmd",),
    "pattern": ("query", "regex", "glob_pattern"),
    "path": ("dir_path", "include", "target_directory"),
    "subagent_type": ("agent_type", "agent_name", "subagentType"),
    "patch": ("patchText", "input"),
}  # fmt: skip
# How agents write the name of a tool of our own server.
_OWN_TOOL_NAMES = ("{server}__{tool}", "mcp_{server}_{tool}", "{server}_{tool}", "{server}-{tool}")


def user_turn(text: str, key: tuple[str, ...], time: str, trust: Trust = Trust.USER) -> DraftTurn:
    """A turn of the user, or of the agent that started a subagent (`trust`)."""
    return DraftTurn(key, time, Role.USER, trust, text)


def assistant_turn(text: str, key: tuple[str, ...], time: str) -> DraftTurn:
    """A turn of the agent."""
    return DraftTurn(key, time, Role.ASSISTANT, Trust.ASSISTANT, text)


def tool_names(table: Mapping[str, str], own: str = "") -> dict[str, str]:
    """Claude Code's name for each tool of an agent, from the agent's names for each of Claude
    Code's tools. `own` are tools that have no counterpart and keep their names."""
    names = {name: mapped for mapped, names in table.items() for name in names.split()}
    return names | {name: name for name in own.split()}


def mapped_tool_turns(
    names: Mapping[str, str],
    name: str,
    given: Record,
    root: str,
    call: str,
    time: str,
    mark: Sequence[str] = (),
) -> list[DraftTurn]:
    """The turns of a call whose tool has another name than in Claude Code (`names` maps it); of a
    patch one for each of its files. The output of a tool that is not in `names` is not trusted."""
    name = normal_tool_name(name)
    arguments = with_known_fields(given)
    mapped = names.get(name, "")
    if mapped == PATCH:
        edits = edits_of_patch(string(arguments, "patch"), root, call)
        if edits:
            return [call_turn(edit, time, mark) for edit in edits]
    tool = tools.read_call(mapped if mapped not in ("", PATCH) else name, arguments, root, call)
    return [call_turn(tool, time, mark, is_unknown=not mapped, given=arguments)]


def with_known_fields(given: Record) -> Record:
    """The arguments of a call, also under Claude Code's names for them."""
    arguments = dict(given)
    for field, others in _FIELD_NAMES.items():
        if field not in arguments:
            value = next((given[other] for other in others if other in given), None)
            if value is not None:
                arguments[field] = value
    return arguments


def call_turn(
    tool: ToolCall,
    time: str,
    mark: Sequence[str] = (),
    is_unknown: bool = False,
    given: Record | None = None,
) -> DraftTurn:
    """A call as a turn. Text from the web, from another server or from an unknown tool is
    external. `mark` makes its key unique where the id of the call might not be. Of the arguments
    (`given`) more is kept where they are written for later readers."""
    trust = Trust.EXTERNAL if is_unknown else tools.trust_of(tool.name)
    key = ("call", tool.call, *mark, tool.name, tool.target, tool.action)
    return DraftTurn(key, time, Role.TOOL, trust, tool=tools.with_written_text(tool, given))


def summary_turn(text: str, key: tuple[str, ...], time: str) -> DraftTurn:
    """The agent's own summary of its session, from when its context was compacted."""
    return DraftTurn(key, time, Role.SUMMARY, Trust.ASSISTANT, prompts.read_summary(text))


def call_results(
    turns: Sequence[DraftTurn], mapped: str | None, ok: bool, text: str, time: str
) -> list[DraftResult]:
    """The result of a call, for each of its turns; `mapped` is Claude Code's name of the tool."""
    keep_output = mapped not in _FILE_CONTENT_TOOLS
    calls = [turn.tool.call for turn in turns if turn.tool]
    return [call_result(call, ok, text, time, keep_output) for call in calls]


def call_result(call: str, ok: bool, text: str, time: str, keep_output: bool = True) -> DraftResult:
    """The result of a call: the last line of its output if `keep_output`, or the message of a
    failure. The content of files is not kept."""
    if ok and _OWN_ANSWER.search(text[:_OWN_ANSWER_CHARS]):
        note = tools.own_answer_note(_HAS_EXTERNAL_TEXT.search(text) is not None)
        return DraftResult(call, True, note, "", time)
    detail: Record = {"toolUseResult": {"stdout": ""} if keep_output else {"kept": False}}
    _, result, _ = tools.read_result({"is_error": not ok, "content": text}, detail)
    return DraftResult(call, ok, result, "", time)


def edits_of_patch(patch: str, root: str, call: str) -> list[ToolCall]:
    """The edits of a patch in the `*** Begin Patch` format, one for each file; none for another
    text. The first has the id of the call, the others that id and their number."""
    marks = list(_PATCH_FILE.finditer(patch))
    if not marks:
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(patch)]
    calls: list[ToolCall] = []
    for mark, end in zip(marks, ends, strict=True):
        kind, path, moved = mark.groups()
        body = _changed_lines(patch[mark.end() : end])
        if moved and calls:
            calls[-1] = calls[-1]._replace(target=tools.relative(moved, root), action=body)
        elif path:
            name = "Write" if kind == "Add" else "Edit"
            action = "(deleted)" if kind == "Delete" else body
            id = edit_call_id(call, len(calls))
            calls.append(ToolCall(name, tools.relative(path, root), "", action, call=id))
    return calls


def _changed_lines(hunks: str) -> str:
    lines = [line for line in hunks.split("\n") if line[:1] in ("+", "-") and line[1:].strip()]
    return tools.clip_lines("\n".join(lines), tools.LIMITS.diff_lines)


def edit_call_id(call: str, number: int) -> str:
    """The id of an edit of a call that makes several."""
    return f"{call}.{number}" if number else call


def derived_call_id(*parts: str) -> str:
    """An id for a call that its agent gave none, from what identifies it."""
    return f"call-{content_id(*parts)}"


def normal_tool_name(name: str) -> str:
    """The name of a tool, with one spelling for the tools of our own server."""
    for spelling in _OWN_TOOL_NAMES:
        head = spelling.format(server=_OWN_SERVER, tool="")
        if name.startswith(head):
            return f"mcp__{_OWN_SERVER}__{name[len(head) :]}"
    return name


def parse_arguments(value: object) -> Record:
    """The arguments of a call: an object, or the JSON text of one."""
    if isinstance(value, str):
        try:
            read: Any = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {"input": value}
        return mapping(read) or {"input": read}
    return mapping(value) or ({"input": value} if value else {})


def plain_text(content: object) -> str:
    """The text of a content that is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (string(part, "text") for part in objects(content))))


def first_object(head: bytes) -> Record:
    """The object on the first line, or an empty one."""
    try:
        return mapping(orjson.loads(head.partition(b"\n")[0]))
    except orjson.JSONDecodeError:
        return {}
