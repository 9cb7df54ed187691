"""Sessions whose text tries to run scripts on the pages that show it, and a long session."""

from __future__ import annotations

from pathlib import Path

from tests.support.transcripts import Script

HOSTILE_TEXT = "\n\n".join(
    (
        "The zeppelin deploy uses <script>window.owned = 1; alert(1)</script> daily",
        "<img src=x onerror='window.owned = 1'> <svg onload=window.owned=1>",
        "[a link](javascript:window.owned=1) ![pic](http://evil.example/x.png)",
        "**<b onclick=window.owned=1>bold</b>** `<iframe src=http://evil.example>`",
        "```html\n</code></pre><script>window.owned = 1</script>\n```",
        "- <a href='http://evil.example'>item</a>\n- {{ 7 * 7 }} {% raw %}",
        "</article></main></body><script>window.owned = 1</script>",
        'holdfast://turn/"><script>window.owned = 1</script>',
    )
)
HOSTILE_SESSION = "44444444-0000-4000-8000-000000000001"
COMPACTED_SESSION = "66666666-0000-4000-8000-000000000001"
FINDABLE_SESSION = "77777777-0000-4000-8000-000000000001"
LONG_SESSION = "55555555-0000-4000-8000-000000000001"
CWD = "/home/dev/zeppelin"


def write_hostile_session(folder: Path) -> Path:
    """Write a session full of hostile markup; return its file."""
    script = Script(session=HOSTILE_SESSION, cwd=CWD, branch="<script>window.owned=1</script>")
    script.user(HOSTILE_TEXT)
    script.assistant(f"We decided on the zeppelin because:\n\n{HOSTILE_TEXT}")
    script.tool(
        "Bash", "<script>window.owned = 1</script>", command="echo '<script>owned</script>'"
    )
    script.tool(
        "Edit", "ok", file_path=f"{CWD}/<img src=x onerror=owned=1>.py",
        old_string="</pre><script>window.owned = 1</script>", new_string="<b>new</b>",
    )  # fmt: skip
    script.user("thanks, the zeppelin is fixed")
    return script.write(folder)


def write_compacted_session(folder: Path) -> Path:
    """Write a session whose context was compacted after its second message, and after its last."""
    script = Script(session=COMPACTED_SESSION, cwd=CWD)
    script.user("Please mend the rudder, it is stuck")
    script.assistant("The rudder was frozen; it moves again.")
    script.user("Summary:\n4. Errors and fixes:\n- The rudder froze.", isCompactSummary=True)
    script.user("Please mend the anchor, too")
    script.assistant("The anchor holds again.")
    script.user("Summary:\n4. Errors and fixes:\n- The anchor slipped.", isCompactSummary=True)
    return script.write(folder)


def write_findable_session(folder: Path) -> Path:
    """Write a session of 260 messages with one edit, one error, two decisions, an image, code, and
    characters that cannot be seen."""
    script = Script(session=FINDABLE_SESSION, cwd=CWD)
    script.user("Look at [Image #1] and open invoice\u202egpj.exe, please")
    script.assistant(
        "It is a picture.\n\n```python\ndef mend():  # slowly\n    return 'oiled'\n```"
    )
    for number in range(100):
        script.assistant(f"Reading part {number} of the log.")
    script.user("We decided to use grease instead of oil for the rudder, because oil freezes.")
    script.tool("Edit", "ok", file_path=f"{CWD}/rudder.py", old_string="oil", new_string="grease")
    for number in range(100, 240):
        script.assistant(f"Reading part {number} of the log.")
    script.tool("Bash", "\x1b[31mFAILED\x1b[0m rudder", error=True, command="pytest rudder")
    script.assistant("The rudder test failed: the grease was cold.")
    return script.write(folder)


def write_long_session(folder: Path, requests: int) -> Path:
    """Write a session of so many requests, four messages each; return its file."""
    script = Script(session=LONG_SESSION, cwd=CWD)
    for number in range(1, requests + 1):
        script.user(f"Please mend gearbox {number}, it rattles")
        script.tool("Bash", f"gearbox {number} is quiet", command=f"mend gearbox {number}")
        script.assistant(f"Gearbox {number} was loose; I have tightened screw {number * 7}.")
        script.assistant(f"Gearbox {number} is done and the tests pass.")
    return script.write(folder)
