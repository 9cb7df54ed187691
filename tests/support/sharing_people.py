"""People who share memories: each with a home, a clone and a clock, over one bare repository."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


class Clock:
    """A clock that all people look at; it goes on with every look."""

    def __init__(self) -> None:
        self._ticks = 0

    def __call__(self) -> str:
        self._ticks += 1
        minutes, seconds = divmod(self._ticks, 60)
        hours, minutes = divmod(minutes, 60)
        return f"2026-11-01T{hours:02}:{minutes:02}:{seconds:02}.000Z"


class Person:
    """A person with a home, a clone and a clock."""

    def __init__(
        self,
        folder: Path,
        name: str,
        bare: Path,
        clock: Callable[[], str],
        patch: pytest.MonkeyPatch,
    ) -> None:
        self.name = name
        self.clone = folder / name / "proj"
        self._patch = patch
        self.clone.mkdir(parents=True)
        git(self.clone, "init", "-q", "-b", "main")
        git(self.clone, "config", "user.name", name.title())
        git(self.clone, "config", "user.email", f"{name}@x.org")
        git(self.clone, "remote", "add", "origin", str(bare))
        home = folder / name / "home"
        settings = Settings(home, folder / name / "claude", bank="", embed_model="none")
        self.memory = Holdfast(with_empty_memory(settings), clock)

    def at_home(self) -> Holdfast:
        """Return their memory, after changing into their clone."""
        self._patch.chdir(self.clone)
        return self.memory

    def remember(self, text: str) -> str:
        """Store a memory; return its URI."""
        return f"holdfast://memory/{self.at_home().remember(text).id}"

    def share(self, *names: str, push: bool = True) -> None:
        memory = self.at_home()
        memory.sharing.share(memory.sharing.plan_share(names))
        if push:
            memory.sharing.push()

    def unshare(self, *names: str, push: bool = True) -> None:
        memory = self.at_home()
        memory.sharing.share(memory.sharing.plan_unshare(names))
        if push:
            memory.sharing.push()

    def pull(self, place: str = "origin") -> str:
        memory = self.at_home()
        return memory.sharing.pull(memory.sharing.plan_pull(place))

    def texts(self) -> set[str]:
        """Return the texts that others share, as they are shown here."""
        memory = self.at_home()
        bank = memory.context.bank_id()
        return {shared.text for shared in memory.reader.shares.all(bank or "")}

    def shared_texts(self) -> dict[str, str]:
        """Return the texts on the share branch, by id."""
        return {shared.id: shared.text for shared in self.at_home().sharing.list_shared().held}


def make_people(folder: Path, patch: pytest.MonkeyPatch, *names: str) -> list[Person]:
    """Return people who share one remote repository."""
    folder.mkdir(parents=True, exist_ok=True)
    bare = folder / "bare.git"
    git(folder, "init", "-q", "--bare", str(bare))
    clock = Clock()
    return [Person(folder, name, bare, clock, patch) for name in names]
