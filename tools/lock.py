"""Writes the lock files in `requirements`: every package that an environment needs, with its
version and the hashes of its files, for all systems and Pythons at once (`make lock`).

`server.txt` is what the server image installs, `build.txt` what builds the wheel in it, `dev.txt`
what CI tests with, `release.txt` what makes a release. No file names an index: where packages come
from is for whoever installs them to say, and the hashes hold wherever that is.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "requirements"
# The extras of the package that each file is for; none is for what builds it.
LOCKS = {
    "server": ("server", "postgres"),
    "build": (),
    "dev": ("dev", "server", "postgres"),
    "release": ("release",),
}
OLDEST_PYTHON = "3.11"


def wanted(name: str) -> list[str]:
    """The requirements that a lock file must fulfil."""
    whole: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    if name == "build":
        return whole["build-system"]["requires"]
    project: dict[str, Any] = whole["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    own: list[str] = [] if name == "release" else list(project["dependencies"])
    own += [one for extra in LOCKS[name] for one in extras[extra]]
    # An extra of our own stands for what it lists.
    named = [one for one in own if one.startswith(f"{project['name']}[")]
    meant = [one for extra in named for one in extras[extra.partition("[")[2].rstrip("]")]]
    return [one for one in (*own, *meant) if one not in named]


def lock(name: str) -> None:
    """Write one lock file. What is locked already stays, as long as it fulfils what is wanted."""
    path = FOLDER / f"{name}.txt"
    command = ["uv", "pip", "compile", "--quiet", "--no-config", "--universal", "--generate-hashes"]
    command += ["--python-version", OLDEST_PYTHON, "--no-header", "--no-annotate"]
    command += ["--no-emit-index-url", "--output-file", str(path), "-"]
    subprocess.run(command, input="\n".join(wanted(name)), text=True, check=True, cwd=ROOT)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or LOCKS:
        lock(chosen)
