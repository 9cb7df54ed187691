"""A tour of Holdfast on sample sessions and on this repository's own history: `make try`."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NAMED = os.environ.get("HOLDFAST_TRY_HOME", "")
HOME = Path(NAMED or ROOT / ".try").absolute()

STORY = "tidewatch"
DECISION = "Why SQLite and not Postgres?"
CAUSE = "What was the root cause of the duplicate alerts?"
REVERSAL = "Do we still cache API responses in Redis?"
HISTORY = "Why is the progress bar drawn without Rich?"
UNKNOWN = "When did we move to Kubernetes?"
# Where agents keep their sessions: the tour must not count those of whoever takes it.
AGENT_FOLDERS = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_DATA_HOME",
)  # fmt: skip


def main() -> None:
    prepare()
    read()
    ask()
    follow()
    close()


def prepare() -> None:
    """An empty memory, far from any real one."""
    if shutil.which("holdfast") is None:
        sys.exit("The holdfast command is not on the PATH. `make try` sees to that.")
    if HOME.exists() and not NAMED:  # a folder that someone else named is not ours to remove
        shutil.rmtree(HOME)
    os.environ["HOLDFAST_HOME"] = str(HOME)
    os.environ.pop("HOLDFAST_BANK", None)
    os.environ.update(dict.fromkeys(AGENT_FOLDERS, str(HOME / "no-agents")))


def read() -> None:
    say(
        "Two developers and their agent have worked on tidewatch, a small service that warns a",
        "harbour of floods. Claude Code has recorded their sessions. We read them. In one of them",
        "somebody pasted a token, which is redacted.",
    )
    run("ingest", "examples/sessions")
    if (ROOT / ".git").exists():
        say("A git history can be searched, too. This checkout has one:")
        run("ingest", ".")
    else:
        say("This copy of Holdfast has no git history, so there is none to read.")


def ask() -> None:
    say("Now some questions. First, a decision and its reason:")
    run("ask", DECISION, "--bank", STORY)
    say("A bug hunt took two days and three wrong guesses. What was it in the end?")
    run("ask", CAUSE, "--bank", STORY)
    say("Some decisions change. The note names the decision that was replaced:")
    run("ask", REVERSAL, "--bank", STORY)
    own = own_bank()
    if own:
        say("The same for the history of this repository:")
        run("ask", HISTORY, "--bank", own)
    say("If memory has no answer, Holdfast says so instead of inventing one:")
    run("ask", UNKNOWN, "--bank", STORY)


def follow() -> None:
    say("Every citation can be opened, down to the line of the transcript it comes from:")
    answer = told("ask", DECISION, "--bank", STORY, "--json")
    run("show", answer["citations"][0]["uri"])
    say("Every line that was read is accounted for, also those that were left out:")
    run("status")


def close() -> None:
    near = HOME.is_relative_to(Path.cwd())
    home = str(HOME.relative_to(Path.cwd()) if near else HOME)
    say(
        "That was the tour. For your own sessions:",
        "",
        "  holdfast setup                connect Claude Code; shows the changes and asks first",
        "  holdfast ingest --dry-run     or only list the sessions that could be read",
        '  holdfast ask "..."            ask, in the folder of your project',
        "",
        "Everything is stored in ~/.holdfast, or in the folder that HOLDFAST_HOME names.",
        f"To remove the memory of this tour: rm -r {shlex.quote(home)}",
    )


def own_bank() -> str:
    """The bank that the git log went to: the one that is not the story's."""
    banks = told("status", "--json")["banks"]
    return next((bank["name"] for bank in banks if bank["name"] != STORY), "")


def say(*lines: str) -> None:
    print("", *lines, "", sep="\n", flush=True)


def run(*arguments: str) -> None:
    """Show a command as a person would type it, and run it."""
    print("$", " ".join(map(quoted, ("holdfast", *arguments))), flush=True)
    done = subprocess.run(["holdfast", *arguments], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def told(*arguments: str) -> Any:
    """What a command prints as JSON."""
    done = subprocess.run(
        ["holdfast", *arguments], cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def quoted(argument: str) -> str:
    return f'"{argument}"' if " " in argument else argument


if __name__ == "__main__":
    main()
