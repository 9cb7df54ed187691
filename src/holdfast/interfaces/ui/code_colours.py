"""Code as HTML, with comments, strings and keywords marked. It is read by its looks alone, so any
language comes out readable, and what is not recognised stays plain."""

from __future__ import annotations

import re
from collections.abc import Callable

from markupsafe import Markup

from holdfast.regex import regex

# Longer code stays plain: nobody reads it here, and marking takes time.
_MAX_CHARS = 20_000
_HASH = frozenset("python py sh bash shell zsh console yaml yml toml ruby rb r perl make".split())
_DASHES = frozenset("sql lua haskell hs".split())
_KEYWORDS = regex(
    r"(?:and|as|async|await|break|case|catch|class|const|continue|def|default|del|do|done|elif|else|"
    r"enum|except|export|extends|false|False|fi|final|finally|fn|for|from|func|function|go|if|impl|"
    r"import|in|interface|is|lambda|let|match|mod|mut|new|nil|None|not|null|or|package|pass|private|"
    r"pub|public|raise|return|self|static|struct|super|switch|then|this|throw|trait|true|True|try|"
    r"type|use|var|void|while|with|yield|SELECT|FROM|WHERE|INSERT|INTO|VALUES|UPDATE|SET|DELETE|"
    r"CREATE|TABLE|INDEX|JOIN|LEFT|ON|GROUP|ORDER|BY|AND|OR|NOT|NULL|LIMIT)\b"
)
_STRING = r"\"\"\"[\s\S]*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
_COMMENTS = {
    "hash": r"(?<!\S)#[^\n]*",
    "dashes": r"--[^\n]*",
    "slashes": r"//[^\n]*|/\*[\s\S]*?\*/",
}
_PATTERNS = {
    name: regex(rf"(?P<comment>{comment})|(?P<string>{_STRING})|(?P<word>(?<![\w.$-])[A-Za-z]+)")
    for name, comment in _COMMENTS.items()
}


def colour_code(text: str, language: str, plain: Callable[[str], Markup]) -> Markup:
    """Code with its parts marked; `plain` renders the text of each part. A language that is not
    named, or is no language, is left plain."""
    name = language.lower()
    if not name or name in ("text", "txt", "plain", "output", "log") or len(text) > _MAX_CHARS:
        return plain(text)
    kind = "hash" if name in _HASH else "dashes" if name in _DASHES else "slashes"
    parts: list[Markup] = []
    at = 0
    for found in _PATTERNS[kind].finditer(text):
        sort = _sort(found)
        if sort:
            part = Markup('<span class="{}">{}</span>').format(sort, plain(found.group()))
            parts += [plain(text[at : found.start()]), part]
            at = found.end()
    return Markup("").join([*parts, plain(text[at:])])


def _sort(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "comment":
            return "code-comment"
        case "string":
            return "code-string"
        case _:
            return "code-word" if _KEYWORDS.fullmatch(found.group()) else ""
