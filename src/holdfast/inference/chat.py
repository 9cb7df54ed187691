"""The interface to language models: a question in, JSON of a given schema out, with its usage.

Errors are `ModelBusyError`, `ModelRefusedError` or, where asking again may help, plain
`ModelError`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

# A longer answer is rejected; the questions of this program ask for a few kilobytes.
MAX_ANSWER_BYTES = 1_000_000

Schema = Mapping[str, Any]


def schema_in_words(schema: Schema) -> str:
    """The sentence that tells a model the schema of its answer."""
    return f"The schema of the answer: {json.dumps(schema, ensure_ascii=False)}"


class Tool(NamedTuple):
    """A tool that a model may call: its description, and the schema of its arguments."""

    name: str
    description: str
    schema: Schema


class Toolbox(NamedTuple):
    """The tools that a model may use before it answers. `call` returns what the model is shown,
    at most `characters` in all calls together. The model has `turns` turns; when `stopped`
    returns true, the dialogue ends."""

    tools: tuple[Tool, ...]
    call: Callable[[str, Mapping[str, Any]], str]
    turns: int
    characters: int
    stopped: Callable[[], bool] = lambda: False


class Question(NamedTuple):
    """A question to a model: instructions, input, the schema of the answer, the tokens of each
    of its turns, and the tools it may use."""

    system: str
    text: str
    schema: Schema
    tokens: int
    toolbox: Toolbox | None = None


class Usage(NamedTuple):
    """What a call took. Cached tokens are included in `tokens_in`. `billed` is False where a
    subscription covers it."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    billed: bool = True


class Reply(NamedTuple):
    """The answer, as text that should be JSON; `truncated` is whether it ran out of tokens."""

    text: str
    usage: Usage
    model: str
    truncated: bool = False


class Chat(Protocol):
    """A model service. `service` is its name in pauses and in the cost ledger."""

    @property
    def service(self) -> str: ...

    @property
    def model(self) -> str:
        """The model that is asked for."""
        ...

    def ask(self, question: Question) -> Reply:
        """Make one call. Nothing is retried here, because each attempt costs."""
        ...
