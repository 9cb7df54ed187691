from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.bank import Clue, ClueKind
from holdfast.refine.ingest.read_plan import Input, describe_file
from holdfast.sources.lines import Segment
from holdfast.sources.registry import agents
from holdfast.sources.repository_clues import clues_of_command, commit_value, join_path, read_clues
from tests.support.transcripts import Script

HERE = "/home/dev/shop"
SHOP = "github.com/acme/shop"


def listing(remote: str) -> str:
    return f"{remote}\thttps://github.com/acme/shop.git (fetch)"


@pytest.mark.parametrize(
    ("command", "output", "wanted"),
    [
        ("git remote -v", listing("origin"), (HERE, "remote", SHOP)),
        ("git status && git remote -v", f"clean\n{listing('origin')}", (HERE, "remote", SHOP)),
        ("cd ../app && git remote -v", listing("origin"), ("/home/dev/app", "remote", SHOP)),
        ("git -C /srv/app remote -v", listing("origin"), ("/srv/app", "remote", SHOP)),
        ("git remote get-url origin", "git@github.com:acme/shop.git\n", (HERE, "remote", SHOP)),
        ("git config --get remote.origin.url", "https://t:x@github.com/Acme/shop",
         (HERE, "remote", SHOP)),
        ("git push -u origin next", "To github.com:acme/shop.git\n * next",
         (HERE, "remote", SHOP)),
        ("git push -u origin next", "To git@github.com:acme/shop.git\n * next",
         (HERE, "remote", SHOP)),
        ("git pull", "From https://github.com/acme/shop\n   1..2  main -> origin/main",
         (HERE, "remote", SHOP)),
        ("git clone https://github.com/acme/shop.git", "Cloning into 'shop'...",
         (f"{HERE}/shop", "remote", SHOP)),
        ("git clone --depth 1 https://github.com/acme/shop /tmp/x", "",
         ("/tmp/x", "remote", SHOP)),
        ("git worktree list", "/home/dev/shop-next  0a1b2c3 [next]",
         (HERE, "worktree", "/home/dev/shop-next")),
        ("git worktree list --porcelain", "worktree /home/dev/a b\nHEAD 0a1b\n",
         (HERE, "worktree", "/home/dev/a b")),
        ("git worktree add -b next ../shop-next main", "Preparing worktree",
         (HERE, "worktree", "/home/dev/shop-next")),
        ("git rev-parse --show-toplevel", "/home/dev\n", (HERE, "worktree", "/home/dev")),
        ("git commit -m x", "[main 0a1b2c3] Keep carts\n 1 file changed",
         (HERE, "commit", commit_value("0a1b2c3", "Keep carts"))),
        ("git log --oneline -1", "0a1b2c3d (HEAD -> main) Keep carts",
         (HERE, "commit", commit_value("0a1b2c3", "Keep carts"))),
        ("gh pr create --fill", "https://github.com/acme/shop/pull/3", (HERE, "pull", SHOP)),
        ("gh pr view --json url", '{"url":"https://github.com/acme/shop/pull/3"}',
         (HERE, "pull", SHOP)),
    ],
)  # fmt: skip
def test_a_command_shows_the_repository_of_the_folder_it_ran_in(
    command: str, output: str, wanted: tuple[str, str, str]
) -> None:
    found = [tuple(clue) for clue in clues_of_command(HERE, command, output)]
    assert found == [wanted]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (
            "git remote -v",
            "fork\thttps://github.com/x/a (fetch)\nup\thttps://github.com/y/a (fetch)",
        ),
        ("git remote -v", "origin\t/srv/git/shop.git (fetch)"),
        ("ls && cd ../other && git remote -v", listing("origin")),
        ("cd $DIR && git remote -v", listing("origin")),
        ("ssh host git remote -v", listing("origin")),
        ("docker run x git remote -v", listing("origin")),
        ("git push fork next", "To https://github.com/me/shop.git"),
        ("git fetch upstream", "From https://github.com/up/shop"),
        ("git clone https://github.com/acme/shop", "fatal: could not read from remote"),
        ("git worktree add ../x", "fatal: '../x' already exists"),
        ("gh pr create --repo other/repo", "https://github.com/other/repo/pull/1"),
        ("gh pr view 12", "See https://github.com/other/repo/pull/1"),
        ("cat notes.txt", listing("origin")),
        ("git log --oneline --all", "0a1b2c3 Keep carts"),
    ],
)
def test_a_command_of_another_place_or_of_no_certain_place_shows_nothing(
    command: str, output: str
) -> None:
    assert list(clues_of_command(HERE, command, output)) == []


@pytest.mark.parametrize(
    ("folder", "path", "wanted"),
    [
        ("/a/b", "../c", "/a/c"),
        ("/a", "../../..", "/"),
        ("/a", "/b/./c", "/b/c"),
        ("", "b", ""),
        ("", "/b", "/b"),
        ("/a", "~/b", ""),
        ("D:\\work\\shop", "..\\next", "D:\\work\\next"),
        ("/a", "$HOME/b", ""),
    ],
)
def test_paths_are_joined_as_their_system_does(folder: str, path: str, wanted: str) -> None:
    assert join_path(folder, path) == wanted


def clues_in(path: Path, agent: str) -> list[Clue]:
    info = describe_file(Input(path, agent), path)
    return read_clues(path, Segment(0, path.stat().st_size), agents()[agent], info)


def test_claude_code_notes_pull_requests_and_worktrees_of_a_session(tmp_path: Path) -> None:
    script = Script(cwd=HERE)
    script.user("Open a pull request.")
    script.add({"type": "pr-link", "prUrl": "https://github.com/acme/shop/pull/7"})
    made = {"worktreePath": "/home/dev/wt", "originalCwd": HERE, "originalHeadCommit": "a" * 40}
    script.add({"type": "worktree-state", "worktreeSession": made})
    assert clues_in(script.write(tmp_path), "claude-code") == [
        Clue(HERE, ClueKind.PULL, SHOP),
        Clue("/home/dev/wt", ClueKind.WORKTREE, HERE),
        Clue(HERE, ClueKind.HEAD, "a" * 40),
    ]


def test_a_command_counts_for_the_folder_that_the_shell_is_in(tmp_path: Path) -> None:
    script = Script(cwd=HERE)
    script.user("Look at the other repository.")
    call = script.call("Bash", command="git remote -v")
    script.lines[-1]["cwd"] = "/home/dev/other"
    script.result(call, listing("origin"))
    found = clues_in(script.write(tmp_path), "claude-code")
    assert found == [Clue("/home/dev/other", ClueKind.REMOTE, SHOP)]


def test_codex_notes_the_remote_and_names_the_folder_of_a_command(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"
    git = f'{{"commit_hash":"{"b" * 40}","repository_url":"https://github.com/acme/shop.git"}}'
    arguments = '"{\\"cmd\\":\\"git remote -v\\",\\"workdir\\":\\"/srv/wiki\\"}"'
    output = '"Exit code: 0\\nOutput:\\norigin\\thttps://github.com/acme/wiki.git (push)\\n"'
    path.write_text(
        f'{{"type":"session_meta","payload":{{"id":"1","cwd":"{HERE}","git":{git}}}}}\n'
        '{"type":"response_item","payload":{"type":"function_call","name":"exec_command",'
        f'"arguments":{arguments},"call_id":"c1"}}}}\n'
        '{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1",'
        f'"output":{output}}}}}\n'
    )
    assert clues_in(path, "codex") == [
        Clue(HERE, ClueKind.REMOTE, SHOP),
        Clue(HERE, ClueKind.HEAD, "b" * 40),
        Clue("/srv/wiki", ClueKind.REMOTE, "github.com/acme/wiki"),
    ]


def test_copilot_notes_the_repository_at_the_start_of_a_session(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    context = (
        f'{{"cwd":"{HERE}/docs","gitRoot":"{HERE}","repository":"acme/shop",'
        '"repositoryHost":"github.com"}'
    )
    start = f'{{"sessionId":"1","copilotVersion":"1.0","context":{context}}}'
    path.write_text(f'{{"type":"session.start","data":{start}}}\n')
    assert clues_in(path, "copilot") == [
        Clue(f"{HERE}/docs", ClueKind.WORKTREE, HERE),
        Clue(HERE, ClueKind.REMOTE, SHOP),
        Clue(f"{HERE}/docs", ClueKind.REMOTE, SHOP),
    ]
