"""How this program was installed, so that advice on installing fits.

`pip install` is no help to whoever has it from pipx or uv: their environments are their own.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

_PIP = re.compile(r"pip install (?:(-U|--force-reinstall) )?('?)([\w-]+)(\[[\w,]+\])?\2")
_WAYS = {
    "pipx": {
        "-U": "pipx upgrade holdfast",
        "--force-reinstall": "pipx reinstall holdfast",
        "extra": "pipx install --force {spec}",
        "other": "pipx inject holdfast {name}",
    },
    "uv": {
        "-U": "uv tool upgrade holdfast",
        "--force-reinstall": "uv tool install --reinstall {spec}",
        "extra": "uv tool install --force {spec}",
        "other": "uv tool install --force --with {name} {spec}",
    },
}


def fitting(advice: str, prefix: str = sys.prefix) -> str:
    """Advice as it is to be followed in this installation."""
    if "pip install" not in advice:
        return advice
    way, spec = _found(Path(prefix))
    if not way:
        return advice

    def instead(found: re.Match[str]) -> str:
        flag, _, name, extra = found.groups()
        kind = flag or ("extra" if name == "holdfast" else "other")
        wanted = shlex.quote(f"{spec}{extra or ''}")
        return _WAYS[way][kind].format(spec=wanted, name=name)

    return _PIP.sub(instead, advice)


def _found(prefix: Path) -> tuple[str, str]:
    """Who looks after this environment, and what it was told to install; "" for nobody."""
    try:
        if (note := prefix / "pipx_metadata.json").is_file():
            known: Any = json.loads(note.read_text("utf-8"))
            return "pipx", str(known["main_package"]["package_or_url"]).partition("[")[0]
        if (note := prefix / "uv-receipt.toml").is_file():
            first: Any = tomllib.loads(note.read_text("utf-8"))["tool"]["requirements"][0]
            place = first.get("path") or first.get("directory") or first.get("url")
            return "uv", str(place or first["name"])
    except (OSError, ValueError, LookupError, TypeError):
        return "", ""
    return "", ""
