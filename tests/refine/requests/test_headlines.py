"""What a request is called."""

import pytest

from holdfast.refine.requests.headlines import headline, short_links

TEAM_PROMPT = """# Orders Phase 6 — Close the remaining gaps — Agent Team Prompt

> Press **Shift+Tab** to enter delegate mode, then paste this prompt.

## Goal
"""
HISTORY = """The following is the Codex agent history whose request action you are assessing.
>>> TRANSCRIPT START
[1] user: Hello! Rebase the invoice branch onto the new ledger adapter
[2] assistant: I will look at both branches.
>>> TRANSCRIPT END
"""


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("Hi, can you please add a retry to the uploader?", "Add a retry to the uploader?"),
        ("Implement the following plan:\n\n# Plan: Retry uploads\n\nText.", "Retry uploads"),
        (TEAM_PROMPT, "Orders Phase 6 — Close the remaining gaps"),
        (
            "# Context from my IDE setup:\n\nAdd a retry to the uploader",
            "Add a retry to the uploader",
        ),
        ("➜ api git:(main) ✗ npm run dev\n> dev\nError: no ledger", "npm run dev"),
        ("Fix these errors ➜ api git:(main) npm run lint\n3 errors", "Fix these errors"),
        ("ann@quay:~/api$ make test\nledger failed", "make test"),
        (HISTORY, "Rebase the invoice branch onto the new ledger adapter"),
        (
            "You are api-dev on the Orders team (Phase 2). You build the ledger endpoints.",
            "Build the ledger endpoints (Orders team (Phase 2))",
        ),
        ("You are the cache agent. Your task is to add a Redis cache.", "Add a Redis cache"),
        ("You are debugging flaky uploads in CI.\n\nRepo: x", "Debugging flaky uploads in CI"),
        (
            "<delegation>\n<id>0a-1</id>\n<input>Add a retry to the uploader</input></delegation>",
            "Add a retry to the uploader",
        ),
        ("<note>Saved.</note>\nAdd a retry to the uploader", "Add a retry to the uploader"),
        (
            "<delegation>\n<id>0a-1</id>\n<input>Add a retry to the uploader\n\nContext: …",
            "Add a retry to the uploader",
        ),
        (
            '<skill name="search">Paths are relative.</skill>\nAdd a retry to the uploader',
            "Add a retry to the uploader",
        ),
        (
            "Good morning, it is the 24th of July. Please pick up where we left off. "
            "Add a retry to the uploader.",
            "Add a retry to the uploader",
        ),
        ("@agent Add a retry to the uploader", "Add a retry to the uploader"),
        ("@a.py @b.py @docs/c.md, add a retry to the uploader", "Add a retry to the uploader"),
        (
            "Move @src/a.py, @src/b.py, @src/c.py to lib",
            "Move @src/a.py, @src/b.py, @src/c.py to lib",
        ),
        ("Can you help me find a name for the uploader?", "Find a name for the uploader?"),
        ("Help me please add a retry", "Help me please add a retry"),
        ("@src/uploader.py add a retry to it", "@src/uploader.py add a retry to it"),
        ("Help me find a name for the uploader", "Find a name for the uploader"),
        ("Help me with the uploader's retry", "Help me with the uploader's retry"),
        ("#terminalLastCommand add a retry to the uploader", "Add a retry to the uploader"),
        (
            "Does the uploader retry?@docs/PLAN.md @docs/TODO.md @src/uploader.py",
            "Does the uploader retry?",
        ),
        ("Add what is in @docs/PLAN.md to it", "Add what is in @docs/PLAN.md to it"),
        ("#terminalSelection go on", "#terminalSelection go on"),
        ("@ann please add a retry to it", "@ann please add a retry to it"),
        ("Good morning, it is the 24th of July.", "Good morning, it is the 24th of July"),
        (
            "Your name is **Pim**, a coding agent. Your task: add a retry to the uploader.",
            "Add a retry to the uploader",
        ),
        ("Thoughts on https://github.com/o/n/discussions/12?", "Thoughts on discussion #12?"),
        ("[[ ## question ## ]]\n\nAdd a retry to the uploader", "Add a retry to the uploader"),
        (
            "[[ ## context ## ]]\nA ledger.\n\n[[ ## user_query ## ]]\n\n@[System]:\nBe brief, "
            "always.\n\n@[User]:\nAdd a retry to the uploader\n\n[[ ## completed ## ]]",
            "Add a retry to the uploader",
        ),
        ("@[User]: Add a retry to the uploader", "Add a retry to the uploader"),
        ("/review Add a retry to the uploader", "Add a retry to the uploader"),
        ("/review", "/review"),
        (
            "# Agent Instructions (Planning Mode)\n\nAdd a retry to the uploader.",
            "Add a retry to the uploader",
        ),
        ("Claude, please add a retry to the uploader", "Add a retry to the uploader"),
        ("Claude Code hooks are not installed", "Claude Code hooks are not installed"),
        ("Your job is to add a retry to the uploader.", "Add a retry to the uploader"),
        ("Warmup", ""),
        ("Warmup of the cache takes a minute", "Warmup of the cache takes a minute"),
        ("", ""),
    ],
)
def test_a_headline_says_what_is_asked_for(request_text: str, expected: str) -> None:
    assert headline(request_text) == expected


def test_a_history_is_called_what_most_of_it_is_about() -> None:
    history = HISTORY.replace(
        "Hello! Rebase the invoice branch onto the new ledger adapter", "{first}"
    ).replace(
        ">>> TRANSCRIPT END",
        "[3] user: {second}\n[4] assistant: The ledger adapter drops invoices.\n"
        "[5] tool exec call: rg ledger src/invoices\n[6] assistant: Ledger invoices are kept now.\n"
        ">>> TRANSCRIPT END",
    )
    vague = "Thoroughly look for the cause of that trouble"
    named = "Keep the invoices of the ledger adapter"

    assert headline(history.format(first=vague, second=named)) == named
    assert headline(history.format(first=named, second=vague)) == named
    assert headline(history.format(first=named, second="Yes")) == named


def test_a_plan_whose_heading_says_nothing_is_called_what_its_goal_says() -> None:
    plan = "Implement the following plan:\n\n# Plan\n\n**Goal**: Retry uploads that time out.\n"
    assert headline(plan) == "Retry uploads that time out"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [the report](https://host.example/a/b)", "See the report"),
        ("[https://github.com/o/n/pull/3](https://github.com/o/n/pull/3) fails", "PR #3 fails"),
        ("https://gitlab.com/o/n/-/merge_requests/4 fails", "merge request #4 fails"),
        ("Like https://github.com/owner/name/tree/main/src does", "Like owner/name does"),
        ("Read https://docs.example/en/memory#globs first", "Read docs.example first"),
        ("See [the guide](docs/guide.md) and [limits](#limits)", "See the guide and limits"),
        ("Why does [x](y) fail", "Why does [x](y) fail"),
        (
            "Take `[x](a/b)` and `get https://a.example/b`",
            "Take `[x](a/b)` and `get https://a.example/b`",
        ),
        ("`rows[0](x)` stays", "`rows[0](x)` stays"),
    ],
)
def test_links_are_shortened_to_what_they_lead_to(text: str, expected: str) -> None:
    assert short_links(text) == expected
