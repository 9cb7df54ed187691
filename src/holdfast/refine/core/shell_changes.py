"""The files that a tool call changed, also where the shell changed them.

A shell command names its files among much else. Read are in-place edits (`sed -i`, `perl -pi`),
moves and copies, texts that are written (`cat > f <<`, `echo`, `tee`), patches, and formatters that
are given files. What only a program knows (a script that writes, `find -exec`) is not guessed, and
neither are logs that a command writes its output to.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import basename, join, normpath
from typing import NamedTuple

from holdfast.model.records import ToolCall
from holdfast.refine.core.signals import EDIT_TOOLS, SHELL_TOOLS
from holdfast.regex import regex

# Most commands are none of these, and cutting a command into words takes long.
_MAY_CHANGE = regex(
    r"\b(?:sed|perl|mv|cp|tee|patch|git (?:-C \S+ )?(?:rm|apply)|black|isort|ruff|prettier|gofmt|"
    r"goimports|rustfmt|clang-format|eslint|biome|autopep8|yapf|shfmt)\b"
    r"|\b(?:cat|echo|printf|jq|envsubst)\b[^|;]*>"
)
_HEREDOC = regex(
    r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n(.*?)(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_PATCHED = regex(r"^\+\+\+ (?:[bw]/)?([^\t\n]+)", re.MULTILINE)
_PATCHING = regex(r"\bpatching file '?([^'\n]+?)'?(?:\n|$)")
_ASSIGNMENT = regex(r"\w+=.*")
_FILE_NAME = regex(r".*[^/]\.\w{1,8}")
_PUNCTUATION = "();<>|&\n"
_OUTPUTS = frozenset((">", ">>", ">|"))
_NOT_A_PATH = frozenset("*?$`{}[]<>|;&\n")
# Nothing of a project lies here.
_DRIVE = regex(r"[A-Za-z]:")
_MOUNTED_DRIVE = regex(r"^/([A-Za-z])/")
_ELSEWHERE = ("/dev/", "/tmp/", "/var/tmp/", "/proc/", "/private/tmp/")
_WINDOWS_TEMP = "/AppData/Local/Temp/"
_PREFIXES = frozenset(
    ("sudo", "time", "env", "command", "exec", "nohup", "npx", "bunx", "then", "do")
)
_RUNNERS = (("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("pnpm", "exec"), ("python", "-m"))
_WRITERS = frozenset(("cat", "echo", "printf", "jq", "envsubst", "tee", ":"))
# Formatters, with the words of which one makes them write; none where they always do.
_FORMATTERS: Mapping[str, tuple[str, ...]] = {
    "black": (),
    "isort": (),
    "rustfmt": (),
    "ruff": ("format", "--fix"),
    "prettier": ("--write", "-w"),
    "gofmt": ("-w",),
    "goimports": ("-w",),
    "clang-format": ("-i",),
    "eslint": ("--fix",),
    "biome": ("--write", "--apply"),
    "autopep8": ("-i", "--in-place"),
    "yapf": ("-i", "--in-place"),
    "shfmt": ("-w",),
}
_ONLY_LOOKS = frozenset(("--check", "--check-only", "--diff", "--list-different"))


class _Command(NamedTuple):
    """The words of a command, and the files that its output is written to."""

    words: list[str]
    written: list[str]


def changed_files(tool: ToolCall, root: str = "") -> tuple[str, ...]:
    """The files that a call changed, each once; () for one that failed. `root` is the folder that
    paths are made relative to, as those of other tools are."""
    if tool.ok is False:
        return ()
    if tool.name in EDIT_TOOLS:
        return (tool.target,) if tool.target else ()
    if tool.name not in SHELL_TOOLS or not _MAY_CHANGE.search(tool.action):
        return ()
    paths = (_path(path, base) for path, base in _changes(tool))
    return tuple(dict.fromkeys(_relative(path, root) for path in paths if path))


def _changes(tool: ToolCall) -> Iterator[tuple[str, str]]:
    """The changed files of a shell call, each with the folder that the shell was in."""
    base = ""
    patches: list[str] = []

    def without_body(found: re.Match[str]) -> str:
        patches.append(found[4])
        return f"{found[3]}\n"

    text = _HEREDOC.sub(without_body, tool.action)
    for command in _commands(text):
        words = _bare(command.words)
        if words[:1] == ["cd"]:
            base = join(base, words[1]) if len(words) > 1 and words[1] != "-" else ""
            continue
        program = basename(words[0]) if words else ":"
        if program in _WRITERS:
            yield from ((path, base) for path in command.written)
        read = _PROGRAMS.get(program) or (_formatted if program in _FORMATTERS else None)
        if read is not None:
            yield from ((path, base) for path in read(words))
        if program == "patch" or words[:2] == ["git", "apply"]:
            named = [name for body in patches for name in _PATCHED.findall(body)]
            named += _PATCHING.findall(tool.result) if program == "patch" else []
            yield from ((path, base) for path in named)


def _commands(text: str) -> Iterator[_Command]:
    """The simple commands of a script. A text that breaks off is read as far as it goes."""
    words: list[str] = []
    written: list[str] = []
    redirection = ""
    in_comment = False
    for token in _tokens(text):
        is_sign = bool(token) and set(token) <= set(_PUNCTUATION)
        if is_sign and {"<", ">"} & set(token):
            redirection = token
            if words[-1:] == ["2"]:  # 2> names a file for complaints
                words.pop()
                redirection = "<"
        elif is_sign:
            in_comment = in_comment and "\n" not in token
            yield _Command(words, written)
            words, written, redirection = [], [], ""
        elif in_comment or token.startswith("#"):
            in_comment = True
        elif redirection:
            written += [token] if redirection in _OUTPUTS else []
            redirection = ""
        else:
            words.append(token)
    yield _Command(words, written)


def _tokens(text: str) -> Iterator[str]:
    cutter = shlex.shlex(text, posix=True, punctuation_chars=_PUNCTUATION)
    cutter.whitespace, cutter.whitespace_split, cutter.commenters = " \t\r", True, ""
    while True:
        try:
            token = cutter.get_token()
        except ValueError:  # a quotation that is not closed: the command was cut off
            return
        if token is None:
            return
        yield token


def _bare(words: list[str]) -> list[str]:
    """A command without variables and programs that only start it."""
    while words and (words[0] in _PREFIXES or _ASSIGNMENT.fullmatch(words[0])):
        words = words[1:]
    if tuple(words[:2]) in _RUNNERS:
        words = words[2:]
    return words


def _operands(words: Sequence[str], with_value: str = "") -> list[str]:
    """The arguments that are no options. Options in `with_value` are followed by their value."""
    found: list[str] = []
    values = with_value.split()
    given = iter(words)
    for word in given:
        if word in values:
            next(given, "")
        elif not word.startswith("-"):
            found.append(word)
    return found


def _sed(words: list[str]) -> list[str]:
    if not any(word.startswith(("-i", "--in-place", "-Ei", "-ni", "-ri")) for word in words):
        return []
    has_script = any(word in ("-e", "-f", "--expression", "--file") for word in words)
    files = _operands(words[1:], "-e -f --expression --file")
    files = [file for file in files if file]  # `-i ''` of BSD
    return files if has_script else files[1:]


def _perl(words: list[str]) -> list[str]:
    flags = [word for word in words if word.startswith("-") and not word.startswith("--")]
    if not any("i" in flag.partition(".")[0] for flag in flags):
        return []
    # The script follows the flag that ends in "e".
    scripts = " ".join(flag for flag in flags if flag.endswith("e"))
    return _operands(words[1:], scripts) if scripts else []


def _moved(words: list[str]) -> list[str]:
    named = _operands(words[1:])
    return [*named[:-1], *_destinations(named)]


def _copied(words: list[str]) -> list[str]:
    return _destinations(_operands(words[1:]))


def _destinations(named: list[str]) -> list[str]:
    if len(named) < 2:
        return []
    *sources, into = named
    if into.endswith("/") or len(sources) > 1:
        return [join(into, basename(source)) for source in sources]
    return [into]


def _git(words: list[str]) -> list[str]:
    while len(words) > 2 and words[1] in ("-C", "-c"):
        words = [words[0], *words[3:]]
    match words[1:2]:
        case ["mv"]:
            return _moved(words[1:])
        case ["rm"]:
            return _operands(words[2:])
        case _:
            return []


def _patched(words: list[str]) -> list[str]:
    return _operands(words[1:], "-i -d -p -o --input")[:1]


def _formatted(words: list[str]) -> list[str]:
    writes = _FORMATTERS[basename(words[0])]
    if set(words) & _ONLY_LOOKS or (writes and not set(words) & set(writes)):
        return []
    return [word for word in _operands(words[1:]) if _FILE_NAME.fullmatch(word)]


_PROGRAMS: Mapping[str, Callable[[list[str]], list[str]]] = {
    "sed": _sed,
    "perl": _perl,
    "mv": _moved,
    "cp": _copied,
    "git": _git,
    "tee": lambda words: _operands(words[1:]),
    "patch": _patched,
}


def _path(word: str, base: str) -> str:
    """A word as a path of the project; "" if it is none."""
    word = word.strip()
    if not word or word.startswith("-") or _NOT_A_PATH & set(word):
        return ""
    path = normpath(join(base, word))
    is_elsewhere = path.startswith(_ELSEWHERE) or _WINDOWS_TEMP in path
    return "" if path in (".", "/") or is_elsewhere else path


def _relative(path: str, root: str) -> str:
    if _DRIVE.match(root):  # the shell of Git for Windows writes /d/proj for D:/proj
        root = root.replace("\\", "/")
        path = _MOUNTED_DRIVE.sub(lambda drive: f"{drive[1]}:/", path)
        start = root.rstrip("/").lower() + "/"
        return path[len(start) :] if path.lower().startswith(start) else path
    return path.removeprefix(root.rstrip("/") + "/") if root else path
