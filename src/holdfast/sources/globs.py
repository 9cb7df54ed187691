"""Whether the files of a project are matched by the globs of a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from holdfast.sources.project import run_git


def any_file(root: Path, globs: Sequence[str]) -> bool:
    """Whether any file of a repository is matched. Of what is no repository, or empty, nothing is
    known, and any file may be."""
    listed = run_git(str(root), "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    files = [name for name in listed if name]
    patterns = [re.compile(_regex(one)) for glob in globs for one in _spelled_out(glob.strip("/"))]
    return not files or any(p.fullmatch(name) for name in files for p in patterns)


def _spelled_out(glob: str) -> list[str]:
    """`*.{ts,tsx}` as one glob each."""
    head, brace, rest = glob.partition("{")
    inner, close, tail = rest.partition("}")
    if not (brace and close):
        return [glob]
    return [one for part in inner.split(",") for one in _spelled_out(f"{head}{part}{tail}")]


_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANS = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}


def _regex(glob: str) -> str:
    found = "".join(_MEANS.get(part) or re.escape(part) for part in _PARTS.findall(glob))
    # A folder stands for all that is in it, a bare name for a file anywhere.
    anywhere = "" if "/" in glob else r"(?:.*/)?"
    return f"{anywhere}{found}(?:/.*)?"
