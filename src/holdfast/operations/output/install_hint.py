"""Install commands in messages, adapted to how this program was installed: by pip, pipx or uv, from
an index, a file, an address or a clone.

Messages are written for pip and an index (`pip install 'holdfast-memory[server]'`). In an
environment that pipx or uv made, or that was installed from elsewhere, that command would fail.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from holdfast.errors import InputError
from holdfast.regex import regex

DISTRIBUTION = "holdfast-memory"
_PIP_COMMAND = regex(r"pip install (?:(-U|--force-reinstall) )?('?)([\w-]+)(\[[\w,]+\])?\2")
# The files by which environments of pipx and uv are known.
_MARKS = {"pipx_metadata.json": "pipx", "uv-receipt.toml": "uv"}
# The command to upgrade, to reinstall, to add an extra, and to add another package. `{spec}` is
# what was installed, with the extra; `{name}` is the other package.
_COMMANDS = {
    "pip": {
        "-U": "pip install -U {spec}",
        "--force-reinstall": "pip install --force-reinstall {spec}",
        "extra": "pip install {spec}",
        "other": "pip install {name}",
    },
    "pipx": {
        "-U": f"pipx upgrade {DISTRIBUTION}",
        "--force-reinstall": f"pipx reinstall {DISTRIBUTION}",
        "extra": "pipx install --force {spec}",
        "other": f"pipx inject {DISTRIBUTION} {{name}}",
    },
    "uv": {
        "-U": f"uv tool upgrade {DISTRIBUTION}",
        "--force-reinstall": "uv tool install --reinstall {spec}",
        "extra": "uv tool install --force {spec}",
        "other": "uv tool install --force --with {name} {spec}",
    },
}


def require_server_packages(who_needs: str) -> None:
    """Raise InputError if a package that serving over HTTP needs is not installed."""
    missing = [name for name in ("fastapi", "jinja2", "uvicorn") if find_spec(name) is None]
    if missing:
        remedy = f"pip install '{DISTRIBUTION}[server]'"
        raise InputError(f"{who_needs} {', '.join(missing)}.", remedy)


def install_command(extra: str) -> str:
    """The command that installs an extra."""
    return adapt_install_commands(f"pip install '{DISTRIBUTION}[{extra}]'")


def adapt_install_commands(
    advice: str, prefix: str = sys.prefix, origin: dict[str, Any] | None = None
) -> str:
    """The advice with its pip commands replaced by those for this installation; `origin` is what
    the installer recorded of where it was installed from."""
    if "pip install" not in advice:
        return advice
    tool = next((name for mark, name in _MARKS.items() if (Path(prefix) / mark).is_file()), "pip")
    known = _recorded_origin() if origin is None else origin

    def replacement(match: re.Match[str]) -> str:
        flag, _, name, extra = match.groups()
        kind = flag or ("extra" if name == DISTRIBUTION else "other")
        return _COMMANDS[tool][kind].format(spec=_spec(known, extra or ""), name=name)

    return _PIP_COMMAND.sub(replacement, advice)


def _recorded_origin() -> dict[str, Any]:
    """What was recorded of an installation from elsewhere than an index (PEP 610)."""
    try:
        recorded = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        return json.loads(recorded or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return {}


def _spec(origin: dict[str, Any], extra: str) -> str:
    """What to install again, with an extra (`[server]`), quoted for a shell."""
    url = str(origin.get("url", ""))
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    place = unquote(urlparse(url).path) if url.startswith("file:") else url
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    named = f"{DISTRIBUTION}{extra} @ {place}" if "://" in place else f"{place}{extra}"
    return editable + shlex.quote(named if place else f"{DISTRIBUTION}{extra}")
