"""Install commands in messages, adapted to how this program was installed: by pip, pipx or uv,
from an index, a file, an address or a clone.

Messages are written for pip and an index (`pip install 'holdfast-memory[server]'`). In an
environment that pipx or uv made, or that was installed from elsewhere, that command would fail.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from holdfast.errors import InputError
from holdfast.regex import regex

DISTRIBUTION = "holdfast-memory"
_PIP_COMMAND = regex(r"pip install (?:(-U|--force-reinstall) )?('?)([\w-]+)(\[[\w,]+\])?\2")
# What replaces a pip command, by installer: to upgrade, to reinstall, to add an extra, and to add
# another package. `{spec}` is what was installed, with the extra; `{name}` is the other package.
_COMMANDS = {
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
    "folder": {
        "-U": "git pull, then pip install {spec}",
        "--force-reinstall": "pip install --force-reinstall {spec}",
        "extra": "pip install {spec}",
        "other": "pip install {name}",
    },
    "archive": {
        "-U": "install the new version with pip",
        "--force-reinstall": "pip install --force-reinstall {spec}",
        "extra": "pip install {spec}",
        "other": "pip install {name}",
    },
    "editable": {
        "-U": "git pull, then pip install -e {spec}",
        "--force-reinstall": "pip install --force-reinstall -e {spec}",
        "extra": "pip install -e {spec}",
        "other": "pip install {name}",
    },
}


def require_server_packages(who_needs: str) -> None:
    """Raise InputError if a package that serving over HTTP needs is not installed."""
    missing = [name for name in ("fastapi", "jinja2", "uvicorn") if find_spec(name) is None]
    if missing:
        remedy = f"pip install '{DISTRIBUTION}[server]'"
        raise InputError(f"{who_needs} {', '.join(missing)}.", remedy)


# Who installed this program, and from what: a name, a path or a URL.
Installation = tuple[str, str]


def _spec(installed: str, extra: str) -> str:
    """What to install again, with an extra (`[server]`), quoted for a shell."""
    named = f"{DISTRIBUTION}{extra} @ {installed}" if "://" in installed else f"{installed}{extra}"
    return shlex.quote(named)


def install_commands(extra: str, prefix: str = sys.prefix) -> dict[str, str]:
    """The command that installs an extra, by installer: only that of this installation, if it is
    known, else those of pipx, uv and pip."""
    installation = _tool_installation(Path(prefix)) or _pip_installation(prefix)
    if installation is not None:
        installer, installed = installation
        spec = _spec(installed, f"[{extra}]")
        label = installer if installer in ("pipx", "uv") else "pip"
        return {label: _COMMANDS[installer]["extra"].format(spec=spec)}
    spec = shlex.quote(f"{DISTRIBUTION}[{extra}]")
    tools = {name: _COMMANDS[name]["extra"].format(spec=spec) for name in ("pipx", "uv")}
    return {**tools, "pip": f"pip install {spec}"}


def adapt_install_commands(advice: str, prefix: str = sys.prefix) -> str:
    """The advice with its pip commands replaced by those for this installation."""
    if "pip install" not in advice:
        return advice
    installation = _tool_installation(Path(prefix)) or _pip_installation(prefix)
    if installation is None:
        return advice
    installer, installed = installation

    def replacement(match: re.Match[str]) -> str:
        flag, _, name, extra = match.groups()
        kind = flag or ("extra" if name == DISTRIBUTION else "other")
        spec = _spec(installed, extra or "")
        return _COMMANDS[installer][kind].format(spec=spec, name=name)

    return _PIP_COMMAND.sub(replacement, advice)


def _tool_installation(prefix: Path) -> Installation | None:
    """The installation that pipx or uv recorded in its environment."""
    try:
        if (note := prefix / "pipx_metadata.json").is_file():
            known: Any = json.loads(note.read_text("utf-8"))
            spec = str(known["main_package"]["package_or_url"]).partition("[")[0]
            return "pipx", spec
        if (note := prefix / "uv-receipt.toml").is_file():
            first: Any = tomllib.loads(note.read_text("utf-8"))["tool"]["requirements"][0]
            origin = first.get("path") or first.get("directory") or first.get("url")
            return "uv", str(origin or first["name"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return None


def _pip_installation(prefix: str) -> Installation | None:
    """The installation that pip made from elsewhere than an index: a folder, such as a clone of the
    repository, a file, or an address."""
    if prefix != sys.prefix:
        return None
    try:
        recorded = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        return read_direct_url(json.loads(recorded or "{}"))
    except (metadata.PackageNotFoundError, ValueError, LookupError, AttributeError):
        return None


def read_direct_url(known: dict[str, Any]) -> Installation:
    """The installation that a `direct_url.json` describes (PEP 610)."""
    url = str(known["url"])
    if "vcs_info" in known:
        return "archive", f"{known['vcs_info']['vcs']}+{url}@{known['vcs_info']['commit_id']}"
    path = unquote(urlparse(url).path) if url.startswith("file:") else url
    if "dir_info" not in known:
        return "archive", path
    return "editable" if known["dir_info"].get("editable") else "folder", path
