"""What a person installs: the wheel, built here, laid out apart, run far from the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from tools.release import modules_of_tests

from holdfast.version import __version__

ROOT = Path(__file__).parents[2]
# As a person's installer builds it: -S keeps out Holdfast itself, which this environment has.
BUILD = (
    f"import sys; sys.path.append({sysconfig.get_path('purelib')!r}); "
    "from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-S", "-c", BUILD, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The package alone, laid out as an installer does."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(wheel.parent / "site")
    return wheel.parent / "site"


def test_every_package_file_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    package = ROOT / "src" / "holdfast"
    for path in package.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert f"holdfast/{path.relative_to(package).as_posix()}" in held


def test_nothing_of_the_tests_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert modules_of_tests(archive.namelist()) == []


def test_a_wheel_knows_the_commit_that_it_was_built_from(wheel: Path, installed: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: there is no commit to name")
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    noted = (installed / "holdfast" / "commit").read_text().strip()
    assert head.startswith(noted.removesuffix("-dirty")) and len(noted) >= 7
    start = f"import sys; sys.path.insert(0, {str(installed)!r}); import holdfast.version as v; "
    done = subprocess.run(
        [sys.executable, "-S", "-c", start + "print(v.full_version())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{__version__} ({noted})\n"


_BUILD_BOTH = BUILD.replace("import build_wheel;", "import build_sdist, build_wheel;") + (
    "; build_sdist(sys.argv[1])"
)


def _copy_sources(folder: Path) -> None:
    """What is built from, without the models, which only take time."""
    for name in ("src", "docs", "examples", "tools"):
        shutil.copytree(
            ROOT / name, folder / name,
            ignore=shutil.ignore_patterns("__pycache__", "*.onnx"),
        )  # fmt: skip
    for path in (*ROOT.glob("*.md"), ROOT / "pyproject.toml", ROOT / "LICENSE"):
        shutil.copy(path, folder)


def _build_again(folder: Path, target: Path, umask: str, zone: str) -> dict[str, str]:
    """Build under other circumstances; returns the hash of each file."""
    target.mkdir()
    shell = f'umask {umask}; exec "$@"'
    subprocess.run(
        ["sh", "-c", shell, "sh", sys.executable, "-S", "-c", _BUILD_BOTH, str(target)],
        cwd=folder,
        env={**os.environ, "TZ": zone, "PYTHONHASHSEED": str(len(zone))},
        check=True,
        capture_output=True,
        timeout=300,
    )
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in target.iterdir()}


def test_two_builds_of_the_same_sources_have_the_same_bytes(tmp_path: Path) -> None:
    _copy_sources(tmp_path / "one")
    first = _build_again(tmp_path / "one", tmp_path / "first", "022", "UTC")
    shutil.copytree(tmp_path / "one", tmp_path / "other" / "place")
    for path in (tmp_path / "other").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    again = _build_again(tmp_path / "other" / "place", tmp_path / "again", "077", "Asia/Tokyo")
    assert len(first) == 2 and again == first


def test_a_source_archive_knows_the_commit_that_it_was_made_from(tmp_path: Path) -> None:
    folder, built = tmp_path / "clone", tmp_path / "built"
    _copy_sources(folder)
    own = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for command in (("init", "-q"), ("add", "."), (*own, "commit", "-q", "-m", "Release")):
        subprocess.run(["git", *command], cwd=folder, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    _build_again(folder, built, "022", "UTC")
    (archive,) = built.glob("*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked", filter="data")
    (sources,) = (tmp_path / "unpacked").iterdir()
    _build_again(sources, tmp_path / "again", "022", "UTC")
    (wheel,) = (tmp_path / "again").glob("*.whl")
    with zipfile.ZipFile(wheel) as found:
        noted = found.read("holdfast/commit").decode().strip()
    assert head.startswith(noted) and len(noted) >= 7


def test_the_wheel_works_outside_the_repository_in_an_empty_home(
    installed: Path, tmp_path: Path
) -> None:
    # -S keeps out the very package that is tested; what it needs comes after it.
    path = f"import sys; sys.path[:0] = [{str(installed)!r}, {sysconfig.get_path('purelib')!r}]; "
    start = path + "from holdfast.interfaces.cli.main import main; sys.exit(main())"
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-S", "-c", start, *arguments],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    assert "Next:  holdfast setup" in run()
    assert "Done." in run("setup", "--yes")
    run("ingest", str(ROOT / "examples" / "sessions"), "--embed", "none")
    answer = run("ask", "Why SQLite and not Postgres?", "--bank", "tidewatch", "--budget", "low")
    assert "SQLite" in answer and "[1]" in answer
    told = run("doctor")
    assert "The embedding model is intact." in told and "Everything is in order" in told
