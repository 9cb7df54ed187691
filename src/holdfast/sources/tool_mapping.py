"""What other agents do, told in the words that memory uses: the names of Claude Code's tools.

An edit is an edit whoever made it: which files a session changed, which commands it ran and which
of them failed is worked out from these names. What no name here fits keeps its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from holdfast.model.ids import content_id
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust
from holdfast.sources.claude_code import prompts, tools
from holdfast.sources.draft import DraftResult, DraftTurn
from holdfast.sources.json_fields import Record, mapping, objects, string

INTERRUPTED = f"{prompts.INTERRUPTED}]"
_PATCHED = re.compile(
    r"^\*\*\* (Update|Add|Delete) File: (.+?)[ \t\r]*$|^\*\*\* Move to: (.+?)[ \t\r]*$",
    re.MULTILINE,
)
_OWN_ANSWER = re.compile(r'\{\s*\\?"(?:answer|bank)\\?":')
_FROM_OUTSIDE = re.compile(r'\\?"trust\\?": ?\\?"external')
_OWN_WITHIN = 400
_OWN_SERVER = "holdfast"
# The name of tools that are given a patch.
PATCH = "patch"
_FIELDS = {
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
_SPELLINGS = ("{server}__{tool}", "mcp_{server}_{tool}", "{server}_{tool}", "{server}-{tool}")


def prompt(words: str, key: tuple[str, ...], time: str, trust: Trust = Trust.USER) -> DraftTurn:
    """What a person said."""
    return DraftTurn(key, time, Role.USER, trust, words)


def said(words: str, key: tuple[str, ...], time: str) -> DraftTurn:
    """What the agent said."""
    return DraftTurn(key, time, Role.ASSISTANT, Trust.ASSISTANT, words)


def did(
    name: str, given: Record, root: str, call: str, time: str, mark: Sequence[str] = ()
) -> DraftTurn:
    """A call of a tool, by the name that memory uses for it; `mark` tells it from others where
    its id alone might not."""
    return turn_of(tools.read_call(name, given, root, call), time, mark)


def known(
    names: Mapping[str, str],
    name: str,
    given: Record,
    root: str,
    call: str,
    time: str,
    mark: Sequence[str] = (),
) -> list[DraftTurn]:
    """A call of an agent whose tools have other names, and their fields as well; of a patch one
    for each of its files. What brings in other texts than those of the project is not trusted."""
    name = of_server(name)
    told = fields(given)
    found = names.get(name, "")
    if found == PATCH:
        edits = patched(string(told, "patch"), root, call)
        if edits:
            return [turn_of(edit, time, mark) for edit in edits]
    told_as = found if found and found != PATCH else name
    tool = tools.read_call(told_as, told, root, call)
    return [turn_of(tool, time, mark, outside=not found)]


def fields(given: Record) -> Record:
    """What a tool was given, also under the names that memory knows the fields by."""
    told = dict(given)
    for field, others in _FIELDS.items():
        if field not in told:
            value = next((given[other] for other in others if other in given), None)
            if value is not None:
                told[field] = value
    return told


def turn_of(
    tool: ToolCall, time: str, mark: Sequence[str] = (), outside: bool = False
) -> DraftTurn:
    """A call as a turn. What a tool brings in is a stranger's word where it comes from the web,
    from another server, or from a tool that nobody knows (`outside`)."""
    trust = Trust.EXTERNAL if outside else tools.trust_of(tool.name)
    key = ("call", tool.call, *mark, tool.name, tool.target, tool.action)
    return DraftTurn(key, time, Role.TOOL, trust, tool=tool)


def came(
    call: str, ok: bool, text: str, time: str, shown: bool = True, lines: str = ""
) -> DraftResult:
    """What came of a call. Of what is `shown` the last line is kept, of a failure what it says;
    what a file holds is not kept."""
    if ok and _OWN_ANSWER.search(text[:_OWN_WITHIN]):
        told = tools.OUTSIDE_TOLD if _FROM_OUTSIDE.search(text) else tools.INSIDE_TOLD
        return DraftResult(call, True, told, lines, time)
    detail: Record = {"toolUseResult": {"stdout": ""} if shown else {"kept": False}}
    _, result, _ = tools.read_result({"is_error": not ok, "content": text}, detail)
    return DraftResult(call, ok, result, lines, time)


def patched(patch: str, root: str, call: str) -> list[ToolCall]:
    """The files that a patch of the `*** Begin Patch` kind changes, each as an edit of its own:
    the first bears the id of the call, the others that and their number."""
    marks = list(_PATCHED.finditer(patch))
    ends = [*(mark.start() for mark in marks[1:]), len(patch)]
    calls: list[ToolCall] = []
    for mark, end in zip(marks, ends, strict=True):
        kind, path, moved = mark.groups()
        body = _changed(patch[mark.end() : end])
        if moved and calls:
            calls[-1] = calls[-1]._replace(target=tools.relative(moved, root), action=body)
        elif path:
            name = "Write" if kind == "Add" else "Edit"
            action = "(deleted)" if kind == "Delete" else body
            id = extra_call(call, len(calls))
            calls.append(ToolCall(name, tools.relative(path, root), "", action, call=id))
    return calls


def _changed(hunks: str) -> str:
    lines = [line for line in hunks.split("\n") if line[:1] in ("+", "-") and line[1:].strip()]
    return tools.clip_lines("\n".join(lines), tools.DIFF_LINES)


def extra_call(call: str, number: int) -> str:
    """The id of the further edits of one call."""
    return f"{call}.{number}" if number else call


def made_up_call(*told: str) -> str:
    """An id for a call that its agent gave none."""
    return f"call-{content_id(*told)}"


def of_server(name: str) -> str:
    """The name of a tool of our own server, however a host spells it; any other as it is."""
    for spelling in _SPELLINGS:
        head = spelling.format(server=_OWN_SERVER, tool="")
        if name.startswith(head):
            return f"mcp__{_OWN_SERVER}__{name[len(head) :]}"
    return name


def arguments(value: object) -> Record:
    """What a tool was given: an object, or the text of one."""
    if isinstance(value, str):
        try:
            read: Any = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {"input": value}
        return mapping(read) or {"input": read}
    return mapping(value) or ({"input": value} if value else {})


def plain_text(content: object) -> str:
    """The words of a content that is a text, or parts with texts."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (string(part, "text") for part in objects(content))))
