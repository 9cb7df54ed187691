"""What wheels and source archives have beyond the package: the commit that they are built from."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Where the commit goes, by what is built.
_COMMIT = {"wheel": "holdfast/commit", "sdist": "src/holdfast/commit"}


class ReleaseHook(BuildHookInterface[Any]):
    """Called by hatchling for every wheel and source archive."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the file and name it among those to include."""
        if version != "standard":  # an editable one is read from the clone
            return
        self._folder = tempfile.TemporaryDirectory()
        if commit := _commit(Path(self.root)):
            noted = Path(self._folder.name) / "commit"
            noted.write_text(f"{commit}\n", "ascii")
            build_data["force_include"][str(noted)] = _COMMIT[self.target_name]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was only made for this."""
        if version == "standard":
            self._folder.cleanup()


def _commit(root: Path) -> str:
    """The commit of a clone, with a mark where files differ from it; "" outside a repository, as
    in an unpacked source archive, which has the file already."""
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
