"""What a wheel has beyond the package: the manual page, made of docs/cli.md while it is built, and
the commit that it is built from. A source archive has the commit too, for wheels built from it."""

from __future__ import annotations

import importlib.util
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_MANUAL = "src/holdfast/interfaces/cli/manual.py"
_INTO = "share/man/man1/holdfast.1"
# Where the commit goes, by what is built.
_COMMIT = {"wheel": "holdfast/commit", "sdist": "src/holdfast/commit"}


class ReleaseHook(BuildHookInterface[Any]):
    """Called by hatchling for every wheel and source archive."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files and name them among those to include."""
        if version != "standard":  # an editable one needs no manual, and must not need docs/
            return
        self._folder = tempfile.TemporaryDirectory()
        if self.target_name == "wheel":
            path = self._write_manual()
            build_data["shared_data"][str(path)] = _INTO
        if commit := _commit(Path(self.root)):
            noted = Path(self._folder.name) / "commit"
            noted.write_text(f"{commit}\n", "ascii")
            build_data["force_include"][str(noted)] = _COMMIT[self.target_name]

    def _write_manual(self) -> Path:
        root = Path(self.root)
        spec = importlib.util.spec_from_file_location("manual", root / _MANUAL)
        assert spec is not None and spec.loader is not None
        manual = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(manual)
        number = str(self.metadata.version)  # pyright: ignore[reportUnknownMemberType]
        text = manual.from_docs((root / "docs/cli.md").read_text("utf-8"), number)
        path = Path(self._folder.name) / "holdfast.1"
        path.write_text(text, "utf-8")
        return path

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
