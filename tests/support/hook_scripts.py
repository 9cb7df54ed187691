"""The scripts that Claude Code runs, where a busy machine must not decide what they answer."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.hosts import claude_code

SCRIPTS = Path(claude_code.__file__).parent / "scripts"
# After this long the script of a hook ends itself; `TOTAL_TIMEOUT_S` in answer.py.
ENDS_AFTER_S = 1.8
# What a shell and an interpreter take to start is added to that.
MOST_S = 3.0


def extend_time_limits(script: Path) -> None:
    """Let an installed answer.py take a minute instead of moments, for tests of what it answers.
    With the limits that users have, a busy machine gets no answer, as it should be."""
    text, count = re.subn(
        r"^(SERVER_TIMEOUT_S|REFRESH_TIMEOUT_S|TOTAL_TIMEOUT_S) = [\d.]+$",
        r"\1 = 60.0",
        script.read_text("utf-8"),
        flags=re.MULTILINE,
    )
    assert count == 3, "the limits are called otherwise"
    script.write_text(text, "utf-8")


def longest_hook_s(control_s: float) -> float:
    """How long a hook may take on a machine where an undisturbed one takes `control_s`."""
    return max(MOST_S, ENDS_AFTER_S + 4 * control_s)
