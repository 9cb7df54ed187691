"""The token of the `gh` program, for users who set none."""

from __future__ import annotations

import shutil
import subprocess

# gh only reads its own files or the keyring for this.
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
    token = done.stdout.decode("utf-8", "replace").strip()
    return token if done.returncode == 0 and token.isprintable() and " " not in token else ""
