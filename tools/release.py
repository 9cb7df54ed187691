"""Makes a release in `dist` (`make release BASE_IMAGE=NAME@sha256:...`): the wheel and the source
archive, what the server image consists of (CycloneDX), the licences of it, and the hashes of all.

The base image must be named by its digest, because a tag is another image tomorrow. Known
vulnerabilities of what is locked end the release; where nobody can be asked for them, that is said.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SERVER_LOCK = ROOT / "requirements" / "server.txt"
_DIGEST = re.compile(r"[\w.:/-]+@sha256:[0-9a-f]{64}")
# What belongs to tests, and to nobody who installs the package.
_TEST_MODULES = re.compile(r"(?:^|/)(?:tests?|testing|conftest\.py|test_[^/]*\.py)(?:/|$)")
_LICENCES = """\
import json
from importlib.metadata import distributions

def licence(of):
    told = of.get("License-Expression") or of.get("License") or ""
    kinds = [c for c in of.get_all("Classifier") or () if c.startswith("License ::")]
    named = [c.rpartition(" :: ")[2] for c in kinds]
    first = told.strip().splitlines()[0] if told.strip() else ""
    return first if first and len(first) < 80 else "; ".join(named) or "not stated"

found = [[d.metadata["Name"], d.version, licence(d.metadata)] for d in distributions()]
print(json.dumps(sorted(found, key=lambda one: one[0].lower())))
"""


class ReleaseError(Exception):
    """A release that must not be made."""


class Package(NamedTuple):
    """A package in the image, and its licence as it states it."""

    name: str
    version: str
    licence: str


def check_base_image(name: str) -> str:
    """The name of the base image; raises `ReleaseError` if it is not by digest."""
    if not _DIGEST.fullmatch(name):
        raise ReleaseError(
            f"The base image must be named by its digest, not {name or 'left out'}: "
            "make release BASE_IMAGE=docker.io/library/python:3.13-slim@sha256:... "
            "(`podman image inspect --format '{{.Digest}}' IMAGE` tells it)"
        )
    return name


def modules_of_tests(names: Iterable[str]) -> list[str]:
    """The files of a wheel that belong to tests."""
    return [name for name in names if _TEST_MODULES.search(name)]


def licence_list(packages: Sequence[Package]) -> str:
    """The licences as a table in Markdown."""
    rows = [f"| {one.name} | {one.version} | {one.licence} |" for one in packages]
    head = "# Licences of what the server image consists of\n\n| package | version | licence |\n"
    return head + "|---|---|---|\n" + "\n".join(rows) + "\n"


def build(folder: Path) -> Path:
    """Build the source archive and the wheel; returns the wheel."""
    _run(sys.executable, "-m", "hatchling", "build", "--directory", str(folder))
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        if found := modules_of_tests(archive.namelist()):
            raise ReleaseError(f"The wheel holds modules of tests: {', '.join(found[:5])}")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """An environment as the image has it; returns its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(SERVER_LOCK))
    _run(*pip, "--no-deps", "--no-index", str(wheel))
    _run(str(python), "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools")
    return python


def audit() -> str:
    """What is known against the locked packages, as one line; raises `ReleaseError` if anything
    is."""
    command = ["pip-audit", "--require-hashes", "--disable-pip", "--progress-spinner", "off"]
    command += ["--format", "json", "-r", str(SERVER_LOCK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return read_audit(done.stdout, done.stderr)


def read_audit(told: str, problem: str) -> str:
    """What the answer of pip-audit says, as one line; raises `ReleaseError` for a vulnerability."""
    try:
        packages: list[dict[str, Any]] = json.loads(told)["dependencies"]
    except (ValueError, KeyError):
        packages = []
        problem = (problem.strip().splitlines() or ["no answer"])[-1]
    checked = [one for one in packages if "vulns" in one]
    left = [one for one in packages if "vulns" not in one]
    if not checked:
        why = str(left[0].get("skip_reason", "")) if left else problem
        return f"pip-audit: skipped, the vulnerability service cannot be asked ({why[:200]})"
    known = [f"{one['name']} {one['version']}: {v['id']}" for one in checked for v in one["vulns"]]
    if known:
        raise ReleaseError(f"Known vulnerabilities: {'; '.join(known)}")
    unknown = f"; not checked: {', '.join(one['name'] for one in left)}" if left else ""
    return f"pip-audit: nothing is known against {len(checked)} packages{unknown}"


def image_builder() -> str | None:
    """The program that can build images here: podman, or docker if its daemon answers."""
    found = (shutil.which(name) for name in ("podman", "docker"))
    for program in filter(None, found):
        if subprocess.run([program, "info"], capture_output=True, check=False).returncode == 0:
            return program
    return None


def build_image(base: str) -> str:
    """Build the image, if there is a program for it; says what was done."""
    program = image_builder()
    if program is None:
        return "image: not built, neither podman nor docker works here"
    file = str(ROOT / "deploy" / "Containerfile")
    _run(program, "build", "--build-arg", f"BASE_IMAGE={base}", "-t", "holdfast", "-f", file, ".")
    return "image: built as holdfast"


def _run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command[:6])} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def release(base: str, folder: Path) -> list[str]:
    """Make everything; returns what there is to say."""
    check_base_image(base)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    wheel = build(folder)
    with tempfile.TemporaryDirectory() as scratch:
        python = install(wheel, Path(scratch) / "image")
        sbom = folder / "sbom.cdx.json"
        _run("cyclonedx-py", "environment", str(python), "--output-file", str(sbom))
        found = [Package(*one) for one in json.loads(_run(str(python), "-c", _LICENCES))]
    (folder / "licences.md").write_text(licence_list(found), "utf-8")
    (folder / "base-image.txt").write_text(f"{base}\n", "ascii")
    notes = [audit(), build_image(base)]
    files = sorted(path for path in folder.iterdir() if path.is_file())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(sums), "ascii")
    unknown = [one.name for one in found if one.licence == "not stated"]
    notes += [f"licences: {len(found)}, not stated by {', '.join(unknown) or 'none'}"]
    return [*notes, f"{folder.name}: {', '.join(path.name for path in files)}, SHA256SUMS"]


if __name__ == "__main__":
    try:
        for line in release(sys.argv[1] if len(sys.argv) > 1 else "", ROOT / "dist"):
            sys.stdout.write(f"{line}\n")
    except ReleaseError as error:
        sys.exit(f"release: {error}")
