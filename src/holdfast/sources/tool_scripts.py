"""What a script of tool calls did. Newer versions of Codex give the model one tool, `exec`, whose
input is JavaScript: `const r = await tools.exec_command({cmd: "git status"}); text(r.output)`.

The script is not run or parsed as a whole: the texts that it hands to its tools are looked for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.regex import regex

_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`"
_CALLED = regex(r"\btools\.(\w+)\s*\(")
# The command of a call, as a text or as the name of a variable: `{cmd: "ls"}`, `{cmd}`.
_COMMAND = regex(
    rf"\btools\.exec_command\s*\(\s*\{{(?:{_STRING}|[^{{}}\"'`])*?(?<![\w.])"
    rf"(?:cmd|\"cmd\"|'cmd')\s*(?::\s*(?P<given>{_STRING}|[\w$]+)|(?=[,}}]))",
    re.DOTALL,
)
_TEXTS = regex(_STRING, re.DOTALL)
_PATCH_START = "*** Begin Patch"
_ESCAPE = regex(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r?\n)|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
# Tools whose output is that of this machine. What another one gives, such as a page of the web, is
# not to be trusted, and neither is the output of a script that calls it.
_LOCAL_TOOLS = frozenset("exec_command write_stdin apply_patch update_plan view_image".split())


class ScriptCalls(NamedTuple):
    """The shell commands that a script ran, each on lines of its own, and its patches."""

    command: str
    patch: str


NO_SCRIPT = ScriptCalls("", "")


def read_script(script: str) -> ScriptCalls:
    """The commands and the patches of a script; both "" where it has none, or calls other tools."""
    if not _LOCAL_TOOLS.issuperset(_CALLED.findall(script)):
        return NO_SCRIPT
    commands = (_value(found["given"] or "cmd", script) for found in _COMMAND.finditer(script))
    texts = (found.group() for found in _TEXTS.finditer(script) if _PATCH_START in found.group())
    return ScriptCalls("\n".join(filter(None, commands)), "\n".join(map(_unquoted, texts)))


def _value(given: str, script: str) -> str:
    """The text that is given to a tool: itself, or what a variable of this name is set to; in a
    loop over texts all of them, each on lines of its own."""
    if given[:1] in "\"'`":
        return _unquoted(given)
    made = re.search(
        rf"\b(?:const|let|var)\s+{re.escape(given)}\s*"
        rf"(?:=\s*(?P<one>{_STRING})|\bof\s*\[(?P<many>(?:\s*(?:{_STRING})\s*,?)+)\s*\])",
        script,
        re.DOTALL,
    )
    texts = _TEXTS.findall(made["one"] or made["many"]) if made else []
    return "\n".join(map(_unquoted, texts))


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    code, short, line, letter = found.groups()
    if code or short:
        return chr(int(code or short, 16))
    return "" if line else _ESCAPED.get(letter, letter)
