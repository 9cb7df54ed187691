"""What answers in words, as the rest of the program sees it: a question in, JSON of a given form
out, and what it took. What goes wrong comes as `ModelBusyError`, `ModelRefusedError` or, where
asking again may help, as plain `ModelError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

# A longer answer is rejected; the questions of this program ask for a few kilobytes.
MAX_ANSWER_BYTES = 1_000_000

Schema = Mapping[str, Any]


class Tool(NamedTuple):
    """Something that a model may call: what for, and with which arguments."""

    name: str
    description: str
    schema: Schema


class Toolbox(NamedTuple):
    """What a model may use before it answers, and nothing else. `call` gives what it is shown,
    never more than `characters` in all its calls together; it may speak `turns` times, and when
    `stopped` says so it is not heard out."""

    tools: tuple[Tool, ...]
    call: Callable[[str, Mapping[str, Any]], str]
    turns: int
    characters: int
    stopped: Callable[[], bool] = lambda: False


class Question(NamedTuple):
    """What a model is asked: what it is to do, on what, in which form it must answer, in how many
    tokens at most each time it speaks, and with which tools at hand."""

    system: str
    text: str
    schema: Schema
    tokens: int
    toolbox: Toolbox | None = None


class Usage(NamedTuple):
    """What a call took. Cached tokens are among those that went in. `billed` is False where a
    subscription covers it."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    billed: bool = True


class Reply(NamedTuple):
    """What came back, as text that should be JSON; `cut` tells that it ran out of tokens."""

    text: str
    usage: Usage
    model: str
    truncated: bool = False


class Chat(Protocol):
    """A model service. `service` names it where it is paused and counted."""

    @property
    def service(self) -> str: ...

    @property
    def model(self) -> str:
        """The model that is asked for."""
        ...

    def ask(self, question: Question) -> Reply:
        """One call; nothing is tried again here, because each try costs."""
        ...
