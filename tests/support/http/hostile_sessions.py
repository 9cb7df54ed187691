"""Sessions in which everybody tries to get something to run in whoever reads them."""

from __future__ import annotations

from pathlib import Path

from tests.support.transcripts import Script

TRICKS = "\n\n".join(
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
TRICKY = "44444444-0000-4000-8000-000000000001"
LONG = "55555555-0000-4000-8000-000000000001"
CWD = "/home/dev/zeppelin"


def tricky(folder: Path) -> Path:
    """A session full of tricks."""
    script = Script(session=TRICKY, cwd=CWD, branch="<script>window.owned=1</script>")
    script.user(TRICKS)
    script.assistant(f"We decided on the zeppelin because:\n\n{TRICKS}")
    script.tool(
        "Bash", "<script>window.owned = 1</script>", command="echo '<script>owned</script>'"
    )
    script.tool(
        "Edit", "ok", file_path=f"{CWD}/<img src=x onerror=owned=1>.py",
        old_string="</pre><script>window.owned = 1</script>", new_string="<b>new</b>",
    )  # fmt: skip
    script.user("thanks, the zeppelin is fixed")
    return script.write(folder)


def long(folder: Path, requests: int) -> Path:
    """A session of so many requests, four messages each."""
    script = Script(session=LONG, cwd=CWD)
    for number in range(1, requests + 1):
        script.user(f"Please mend gearbox {number}, it rattles")
        script.tool("Bash", f"gearbox {number} is quiet", command=f"mend gearbox {number}")
        script.assistant(f"Gearbox {number} was loose; I have tightened screw {number * 7}.")
        script.assistant(f"Gearbox {number} is done and the tests pass.")
    return script.write(folder)
