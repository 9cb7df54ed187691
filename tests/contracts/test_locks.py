"""The lock files fulfil what the package asks for, and the image and CI install nothing else."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.lock import FOLDER, LOCKS, ROOT, wanted
from tools.release import (
    Package,
    ReleaseError,
    build_image,
    check_base_image,
    image_builder,
    licence_list,
    modules_of_tests,
    read_audit,
)

PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[\w,-]+\])?==(\S+)(?: ; ([^\\]+?))? \\$", re.MULTILINE)
DIGEST = "docker.io/library/python:3.13-slim@sha256:" + "0a" * 32


def pins(name: str) -> dict[str, set[str]]:
    """The versions of each package in a lock file."""
    found: dict[str, set[str]] = {}
    for package, version, _ in PIN.findall((FOLDER / f"{name}.txt").read_text("utf-8")):
        found.setdefault(canonicalize_name(package), set()).add(version)
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_fulfils_what_is_wanted(name: str) -> None:
    locked = pins(name)
    for one in map(Requirement, wanted(name)):
        versions = locked.get(canonicalize_name(one.name))
        assert versions, f"{one.name} is not in requirements/{name}.txt: run `make lock`"
        assert all(one.specifier.contains(v, prereleases=True) for v in versions), (
            f"{one.name} {versions} does not fulfil {one.specifier}: run `make lock`"
        )


def needed_by(one: Requirement) -> list[Requirement]:
    """What a package asks for with its extras, on any system; nothing if it is not installed."""
    try:
        asked = [Requirement(line) for line in requires(one.name) or ()]
    except PackageNotFoundError:
        return []
    of_extras = [r for r in asked if r.marker and "extra ==" in str(r.marker)]
    chosen = [r for r in of_extras if any(f'"{e}"' in str(r.marker) for e in one.extras)]
    return [r for r in asked if r not in of_extras] + chosen


def test_the_server_lock_has_no_package_that_nothing_needs_any_more() -> None:
    waiting = [Requirement(one) for one in wanted("server")]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if str(one) not in seen:
            seen.add(str(one))
            waiting += needed_by(one)
    needed = {canonicalize_name(Requirement(one).name) for one in seen}
    assert set(pins("server")) <= needed, "run `make lock`"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_has_a_hash_for_every_package_and_names_no_index(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    entries = re.split(r"(?m)^(?=\S)", text)[1:]
    assert entries and all("==" in one and "--hash=sha256:" in one for one in entries)
    assert "://" not in text and "index" not in text and "find-links" not in text
    lines = re.sub(r"\\\n", "", text).splitlines()
    assert all(re.fullmatch(r"[^#]+?(?:\s+--hash=sha256:[0-9a-f]{64})+", one) for one in lines)


def test_the_image_installs_only_what_is_locked() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    installs = re.findall(r"pip install ([^&\n]+)", text)
    assert len(installs) == 3
    for one in installs:
        is_locked = "--require-hashes" in one and "--only-binary :all:" in one
        assert is_locked or ("--no-deps" in one and "--no-index" in one), one
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert bases == ["${BASE_IMAGE}", "${BASE_IMAGE}"], "so that a release can name a digest"
    ignored = (ROOT / "deploy" / "Containerfile.dockerignore").read_text("utf-8").splitlines()
    for source in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE):
        assert all(f"!{one.removeprefix('./')}" in ignored for one in source.split()), source
        assert all((ROOT / one).exists() for one in source.split()), source


def test_ci_installs_what_is_locked() -> None:
    ci = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    assert ci["env"]["LOCKED"] == "1"
    make = (ROOT / "Makefile").read_text("utf-8")
    assert "$(if $(LOCKED),$(PIP) --require-hashes -r requirements/dev.txt" in make


def test_a_release_wants_its_base_image_by_digest() -> None:
    assert check_base_image(DIGEST) == DIGEST
    for name in ("", "docker.io/library/python:3.13-slim", DIGEST[:-1], f"{DIGEST} x"):
        with pytest.raises(ReleaseError, match="by its digest"):
            check_base_image(name)


def test_modules_of_tests_are_found_in_a_wheel() -> None:
    held = [
        "holdfast/app/memory.py",
        "holdfast/testing/store.py",
        "tests/a.py",
        "holdfast/test_x.py",
    ]
    assert modules_of_tests(held) == held[1:]
    assert modules_of_tests(["holdfast/interfaces/http/attest.py", "holdfast/latest/x.py"]) == []


def test_an_audit_ends_a_release_or_says_that_it_could_not_be_made() -> None:
    fine = '{"dependencies": [{"name": "rich", "version": "15", "vulns": []}]}'
    assert read_audit(fine, "") == "pip-audit: nothing is known against 1 packages"
    bad = fine.replace("[]", '[{"id": "PYSEC-1"}]')
    with pytest.raises(ReleaseError, match="rich 15: PYSEC-1"):
        read_audit(bad, "")
    skipped = '{"dependencies": [{"name": "rich", "skip_reason": "not found"}]}'
    assert read_audit(skipped, "") == (
        "pip-audit: skipped, the vulnerability service cannot be asked (not found)"
    )
    assert "skipped" in read_audit("", "Traceback\nConnectionError: no route")


@pytest.mark.process
def test_a_release_builds_no_image_where_the_daemon_of_docker_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build_image(DIGEST) == "image: not built, neither podman nor docker works here"
    docker.write_text("#!/bin/sh\nexit 0\n")
    assert image_builder() == str(docker)


def test_licences_are_listed_as_a_table() -> None:
    listed = licence_list([Package("rich", "15.0", "MIT")])
    assert "| rich | 15.0 | MIT |" in listed.splitlines()
