"""The login of the `gh` program, for those who have no token at hand."""

from __future__ import annotations

import shutil
import subprocess

_TIMEOUT_S = 10.0


def gh_token(host: str) -> str:
    """The token that `gh` keeps for a host; "" where there is no gh, or no login."""
    program = shutil.which("gh")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "auth", "token", "--hostname", host],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    told = done.stdout.decode("utf-8", "replace").strip()
    return told if done.returncode == 0 and told.isprintable() and " " not in told else ""
