"""What Windows and macOS do otherwise, as far as it can be tried on Linux: command lines, names of
files, locks, and hooks without a shell."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.capture import inbox
from holdfast.errors import InputError
from holdfast.hosts.claude_code.hook_commands import home_of_hook, lacks_shell
from holdfast.locks import LOCKED_BYTE_OFFSET, ByteLocking, is_locked, lock_file
from holdfast.paths import comparable_path
from holdfast.windows_command_line import join_words_for_cmd, split_words
from tests.support.installed_home import make_home
from tests.support.waiting import wait_until

# Everything but what no command line of Windows can hold.
TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=20)
TRICKY = st.text(st.sampled_from('\\" \ta%^&'), max_size=12)
NAME = st.text(st.sampled_from("abXY09 .-_äß"), min_size=1, max_size=8).filter(
    lambda text: text.strip(" .") == text
)


@pytest.mark.slow
@given(st.lists(st.one_of(TEXT, TRICKY), max_size=6))
def test_command_lines_written_by_the_standard_library_are_parsed(parts: list[str]) -> None:
    made = subprocess.list2cmdline(["a.exe", *parts])
    assert split_words(made) == ["a.exe", *parts]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (r'a.exe "abc" d e', ["a.exe", "abc", "d", "e"]),
        (r'a.exe a\\\b d"e f"g h', ["a.exe", r"a\\\b", "de fg", "h"]),
        (r"a.exe a\\\"b c d", ["a.exe", r"a\"b", "c", "d"]),
        (r'a.exe a\\\\"b c" d e', ["a.exe", r"a\\b c", "d", "e"]),
        (r'a.exe a"b"" c d', ["a.exe", 'ab" c d']),
        (r'"C:\My Dir\a.exe" x', [r"C:\My Dir\a.exe", "x"]),
        ("", []),
    ],
)
def test_windows_command_lines_are_split_by_the_documented_rules(text: str, cut: list[str]) -> None:
    assert split_words(text) == cut


def test_characters_that_cmd_would_expand_are_refused_and_the_rest_is_quoted() -> None:
    line = join_words_for_cmd([r"C:\a b\python.exe", "-I", "Stop"])
    assert line == r'"C:\a b\python.exe" -I Stop'
    assert split_words(join_words_for_cmd([r"C:\a & b\p.exe", r"C:\x^y\capture.py"])) == [
        *(r"C:\a & b\p.exe", r"C:\x^y\capture.py"),
    ]
    for bad in (r"C:\%TEMP%\x", "a!b!", 'say "no"', "two\nlines"):
        with pytest.raises(InputError):
            join_words_for_cmd([bad])


@pytest.mark.slow
@given(st.lists(NAME, min_size=1, max_size=4), st.sampled_from("cCdZ"))
def test_a_windows_path_has_one_spelling(parts: list[str], drive: str) -> None:
    plain = f"{drive}:\\" + "\\".join(parts)
    spelled = [
        plain.upper() if plain.upper().casefold() == plain.casefold() else plain,
        plain.replace("\\", "/"),
        f"{plain}\\",
        f"\\\\?\\{plain}",
        f"/{drive.lower()}/" + "/".join(parts),
        plain.replace("\\", "\\\\"),
        f"{plain}. .",
    ]
    assert {comparable_path(one, "win32") for one in spelled} == {comparable_path(plain, "win32")}
    once = comparable_path(plain, "win32")
    assert comparable_path(once, "win32") == once
    assert comparable_path(spelled[1], "win32") == comparable_path(spelled[3], "win32")


def test_windows_shares_roots_and_drives_are_different() -> None:
    verbatim, usual = r"\\?\UNC\Server\Share\a", r"\\server\share\A"
    assert comparable_path(verbatim, "win32") == comparable_path(usual, "win32")
    apart = [r"\\server\a", r"\server\a", r"server\a", r"c:\server\a", r"d:\server\a"]
    assert len({comparable_path(one, "win32") for one in apart}) == len(apart)
    assert comparable_path("..", "win32") == ".."
    assert comparable_path(r"c:\a\..", "win32") == r"c:\a\.."


@pytest.mark.slow
@given(st.text(max_size=20))
def test_paths_are_case_sensitive_on_linux_and_not_on_macos(text: str) -> None:
    assert comparable_path(text, "linux") == text
    path = f"/Users/{text}"
    # Folding may take letters apart or together once more, so folded names are compared.
    folded = unicodedata.normalize("NFC", path).casefold()
    assert comparable_path(path, "darwin") == (folded.rstrip("/") or path)


def test_composed_and_decomposed_accents_are_the_same_on_macos() -> None:
    composed, decomposed = "/Users/Ana/Caf\u00e9", "/users/ana/Cafe\u0301/"
    assert comparable_path(composed, "darwin") == comparable_path(decomposed, "darwin")
    assert comparable_path("/Users/Ana/a", "darwin") != comparable_path("/Users/Ana/b", "darwin")


class Bytes:
    """Locks of bytes as Windows has them, for files of one process: by file and place, and each
    taken once whoever asks."""

    def __init__(self) -> None:
        self.held: dict[tuple[int, int], int] = {}

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        place = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
        if place in self.held:
            raise OSError(errno.EACCES, "Permission denied")
        self.held[place] = descriptor


def test_a_byte_range_is_locked_without_moving_the_file_position(tmp_path: Path) -> None:
    bytes, path = Bytes(), tmp_path / "lock"
    path.write_bytes(b"words")
    windows = ByteLocking(bytes.locking, 2)
    with path.open("rb") as one, path.open("rb") as other:
        one.seek(3)
        assert windows.lock(one.fileno(), wait=False, shared=False)
        assert one.tell() == 3 and [place for _, place in bytes.held] == [LOCKED_BYTE_OFFSET]
        assert not windows.lock(other.fileno(), wait=False, shared=False)
        assert other.tell() == 0 and path.read_bytes() == b"words"

    def broken(descriptor: int, mode: int, count: int) -> None:
        raise OSError(errno.EBADF, "no such file")

    with path.open("rb") as one, pytest.raises(OSError, match="no such file"):
        ByteLocking(broken, 2).lock(one.fileno(), wait=True, shared=False)


def test_a_lock_is_visible_while_held_and_ends_when_the_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    with path.open("wb") as held:
        assert lock_file(held.fileno()) and is_locked(path)
        with path.open("rb") as other:
            assert not lock_file(other.fileno(), wait=False)
    assert not is_locked(path)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    made = make_home(tmp_path)
    (made / "hooks" / "python").write_text("/no/python\n-I\n")
    yield made


def hook(home: Path, event: str, payload: bytes, **env: str) -> subprocess.CompletedProcess[bytes]:
    script = home / "hooks" / "capture.py"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-Werror", str(script), event],
        input=payload,
        env={"CLAUDE_CODE_SESSION_ID": "s-1", **env},
        capture_output=True,
        timeout=60,
    )


def test_a_hook_without_a_shell_writes_the_same_event(home: Path) -> None:
    done = hook(home, "Stop", b'{"a": 1}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (event,) = inbox.list_events(home.parent / "inbox").events
    assert (event.event, event.session) == ("Stop", "s-1")
    assert event.path.read_bytes() == b'{"a": 1}' and event.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("fault", ["off", "names", "odd", "gone", "link", "answer"])
def test_a_hook_without_a_shell_never_fails(home: Path, fault: str) -> None:
    folder = home.parent / "inbox"
    env: dict[str, str] = {"HOLDFAST_OFF": "1"} if fault == "off" else {}
    if fault == "names":
        (home / "hooks" / "names-only").touch()
    if fault == "odd":
        env["CLAUDE_CODE_SESSION_ID"] = "../../etc"
    if fault == "gone":
        (home / "hooks" / "inbox").unlink()
    if fault == "link":
        folder.rmdir()
        folder.symlink_to(home)
    done = hook(home, "PreToolUse" if fault == "answer" else "Stop", b"words", **env)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    found = inbox.list_events(folder).events if fault != "link" else []
    wanted = {"names": (b"", "s-1"), "odd": (b"words", "none")}.get(fault)
    assert [(one.path.read_bytes(), one.session) for one in found] == ([wanted] if wanted else [])
    assert not list(home.glob("1.*"))


def test_a_hook_without_a_shell_starts_a_worker(home: Path) -> None:
    (home / "hooks" / "python").write_text(f"{sys.executable}\n-c\n")
    seen = home.parent / "seen"
    # `python -c -m holdfast …` would be no worker: a program of ours stands in for it.
    program = home.parent / "python"
    program.write_text(f'#!/bin/sh\necho "$@" "$HOLDFAST_HOME" > {seen}\n')
    program.chmod(0o700)
    (home / "hooks" / "python").write_text(f"{program}\n-B\n")
    assert hook(home, "Stop", b"{}").returncode == 0
    wait_until(lambda: seen.exists() and seen.read_text(), "the worker was started")
    assert seen.read_text().split() == ["-B", "-m", "holdfast", "worker", "--nudged", str(home)]


def test_hook_entries_with_and_without_a_shell_are_recognised(tmp_path: Path) -> None:
    script = str(tmp_path / "a b" / "hooks" / "capture.py")
    plain = join_words_for_cmd([sys.executable, "-I", "-S", script])
    assert home_of_hook({"command": f"{plain} Stop"}) == tmp_path / "a b"
    assert home_of_hook({"command": "python /elsewhere/capture.py Stop"}) is None
    assert lacks_shell("nt", str(tmp_path)) and not lacks_shell("posix", str(tmp_path))
