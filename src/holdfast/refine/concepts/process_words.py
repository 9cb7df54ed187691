"""Words of the work process: they say how people work, not what they work on."""

from __future__ import annotations

from holdfast.language import stem

_PROCESS_STEMS = frozenset(
    stem(word)
    for word in (
        "pytest jest vitest mypy pyright ruff tsc clippy "
        "commit committed commits push pushed pull pr rebase stash checkout changelog lint linter "
        "typecheck pre-commit precommit husky prettier eslint pass passed passes passing fail "
        "failed failing verify verified verification review reviewed approve approved complete "
        "completed completion finish finished continue proceed start started pending progress "
        "remaining blocked unblocked waiting assigned agent agents subagent subagents task tasks "
        "todo tasklist claude opus sonnet haiku fable clean cleanup success successful "
        "successfully modified unmodified staged unstaged untouched included leftover origin main "
        "master head upstream repo repository worktree src lib dist bin tmp grep sed tail npm npx "
        "bun yarn pnpm pip git github bash shell fixme think want look ask answer question please "
        "really maybe also still already currently refactor refactored rename renamed delete "
        "deleted drop dropped replace replaced mention fully properly instead analysis analyze "
        "analyse plan planning approach solution fix issue issues bug bugs problem problems "
        "improve improvement simple various different specific general common full entire whole "
        "proper http https www com org string boolean null undefined"
    ).split()
)


def is_process_stem(stem: str) -> bool:
    """Whether a stem says how people work, not what they work on."""
    return stem in _PROCESS_STEMS
