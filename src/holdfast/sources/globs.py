"""Whether any file of a project matches the globs of a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from holdfast.sources.project import run_git


def any_file_matches(root: Path, globs: Sequence[str]) -> bool:
    """Whether any file of a repository matches; True for an empty repository, and for a folder
    that is none, because there nothing is known."""
    listed = run_git(str(root), "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    files = [name for name in listed if name]
    patterns = [
        re.compile(_regex(one)) for glob in globs for one in _without_braces(glob.strip("/"))
    ]
    return not files or any(p.fullmatch(name) for name in files for p in patterns)


def _without_braces(glob: str) -> list[str]:
    """`*.{ts,tsx}` as `*.ts` and `*.tsx`."""
    head, brace, rest = glob.partition("{")
    inner, close, tail = rest.partition("}")
    if not (brace and close):
        return [glob]
    return [one for part in inner.split(",") for one in _without_braces(f"{head}{part}{tail}")]


_GLOB_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_GLOB_REGEX = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}


def _regex(glob: str) -> str:
    found = "".join(_GLOB_REGEX.get(part) or re.escape(part) for part in _GLOB_PARTS.findall(glob))
    # A folder matches all that is in it; a name without a slash matches anywhere.
    anywhere = "" if "/" in glob else r"(?:.*/)?"
    return f"{anywhere}{found}(?:/.*)?"
