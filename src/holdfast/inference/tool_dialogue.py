"""A dialogue over HTTP with a model that may use tools: it requests tools, is shown their results,
and ends by calling the tool `answer`, whose arguments are the answer.

There are two dialects: that of Anthropic's Messages API, and OpenAI's. On its last turn a model can
only answer. It is told about malformed calls and may correct them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, cast

from holdfast.errors import ModelError, ModelStoppedError
from holdfast.inference.chat import Question, Reply, Schema, Tool, Toolbox, Usage

Json = dict[str, Any]
ANSWER_TOOL = "answer"
_NO_MORE_LOOKUPS = "No more can be looked up. Answer now, from what you have."
_USE_ANSWER_TOOL = "Give your answer by calling the tool `answer`."
# Tool calls of one turn that are answered, so that a model cannot use up its lookups at once.
_MAX_CALLS_PER_TURN = 8
_JSON_TYPES: dict[str, type] = {"object": dict, "array": list, "string": str}


class ToolRequest(NamedTuple):
    """A tool call of a model; `arguments` are None where they could not be read."""

    id: str
    name: str
    arguments: Json | None


class ModelTurn(NamedTuple):
    """One turn of a model, parsed, and as the `message` that must be sent back to it."""

    text: str
    calls: tuple[ToolRequest, ...]
    usage: Usage
    model: str
    truncated: bool
    message: Json


class Dialect(Protocol):
    """The message format of a service."""

    @property
    def model(self) -> str: ...

    @property
    def schema_field(self) -> str:
        """The field of a request that takes the schema of the answer."""
        ...

    def schema_forms(self, schema: Json) -> tuple[Json, ...]:
        """What that field may contain, the best form first."""
        ...

    def body(self, question: Question) -> Json:
        """A request without tools, with no message but the system's, if that is one."""
        ...

    def tool_fields(self, tools: Sequence[Tool], only_answer: bool) -> Json:
        """The fields of a request that offer tools."""
        ...

    def read_turn(self, body: Json) -> ModelTurn:
        """The model's turn; raises one of `_MALFORMED` if the format is wrong."""
        ...

    def results(self, results: Sequence[tuple[ToolRequest, str]]) -> list[Json]:
        """The messages with the results of its calls."""
        ...


_MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError)


def read_turn(dialect: Dialect, body: Json, unexpected: Callable[[str], ModelError]) -> ModelTurn:
    """The model's turn in an answer; raises `unexpected` if the answer is malformed."""
    try:
        return dialect.read_turn(body)
    except _MALFORMED as error:
        raise unexpected("an answer of another form") from error


def run_tool_dialogue(
    dialect: Dialect,
    post: Callable[[Json], Json],
    question: Question,
    unexpected: Callable[[str], ModelError],
) -> Reply:
    """Let a model use its tools until it answers."""
    box = cast(Toolbox, question.toolbox)
    tools = (*box.tools, Tool(ANSWER_TOOL, "Give the answer; this ends the talk.", question.schema))
    messages: list[Json] = [{"role": "user", "content": question.text}]
    used = Usage()
    for turn in range(box.turns):
        last = turn == box.turns - 1
        request = {**dialect.body(question), **dialect.tool_fields(tools, last)}
        body = post({**request, "messages": [*request.get("messages", []), *messages]})
        reply = read_turn(dialect, body, unexpected)
        used = _sum(used, reply.usage)
        answer = next((c for c in reply.calls if c.name == ANSWER_TOOL and c.arguments), None)
        if answer is not None and (last or not _schema_error(answer.arguments, question.schema)):
            text = json.dumps(answer.arguments, ensure_ascii=False)
            return Reply(text, used, reply.model, reply.truncated)
        if box.stopped():
            raise ModelStoppedError("Stopped.", "", True, (turn + 1) / box.turns)
        if last or (not reply.calls and _is_object(reply.text)):
            return Reply(reply.text, used, reply.model, reply.truncated)
        messages.append(reply.message)
        messages += _follow_up(dialect, box, reply, turn, question.schema)
    raise AssertionError("the last turn returns")


def _follow_up(
    dialect: Dialect, box: Toolbox, reply: ModelTurn, turn: int, schema: Schema
) -> list[Json]:
    """The messages to a model that has not answered yet."""
    if not reply.calls:
        return [{"role": "user", "content": _USE_ANSWER_TOOL}]
    results = [(call, _tool_result(box, call, n, schema)) for n, call in enumerate(reply.calls)]
    more = [{"role": "user", "content": _NO_MORE_LOOKUPS}] if turn == box.turns - 2 else []
    return [*dialect.results(results), *more]


def _tool_result(box: Toolbox, call: ToolRequest, position: int, schema: Schema) -> str:
    if position >= _MAX_CALLS_PER_TURN:
        return f"Only {_MAX_CALLS_PER_TURN} calls at a time are answered."
    if call.arguments is None:
        return "The arguments were not one object of JSON in the given form."
    if call.name == ANSWER_TOOL:
        error = _schema_error(call.arguments, schema) or "it is empty"
        return f"It is not of the given form: {error}."
    return box.call(call.name, call.arguments)


def _schema_error(value: object, schema: Schema, where: str = "it") -> str:
    """How a value violates its schema, as far as types and required fields go; "" if it does
    not."""
    kind = _JSON_TYPES.get(schema.get("type", ""))
    if kind is not None and not isinstance(value, kind):
        return f"{where} is no {schema['type']}"
    if isinstance(value, list):
        items = enumerate(cast(list[object], value))
        parts = (_schema_error(v, schema.get("items", {}), f"{where}[{n}]") for n, v in items)
    elif isinstance(value, dict):
        fields = cast(Json, value)
        for name in schema.get("required", ()):
            if name not in fields:
                return f"{where} has no {name}"
        known = cast(Json, schema.get("properties", {}))
        parts = (_schema_error(v, known.get(name, {}), name) for name, v in fields.items())
    else:
        return ""
    return next(filter(None, parts), "")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.tokens_in + other.tokens_in,
        one.tokens_out + other.tokens_out,
        one.tokens_cached + other.tokens_cached,
    )


def messages_usage(usage: Json) -> Usage:
    """The usage as Anthropic reports it: cached tokens are not in `input_tokens`."""
    cached = int(usage.get("cache_read_input_tokens") or 0)
    written = int(usage.get("cache_creation_input_tokens") or 0)
    return Usage(int(usage["input_tokens"]) + cached + written, int(usage["output_tokens"]), cached)


class MessagesDialect:
    """The format of Anthropic's Messages API."""

    schema_field = "output_config"

    def __init__(self, model: str) -> None:
        self.model = model

    def schema_forms(self, schema: Json) -> tuple[Json, ...]:
        return ({"format": {"type": "json_schema", "schema": schema}},)

    def body(self, question: Question) -> Json:
        return {"model": self.model, "max_tokens": question.tokens, "system": question.system}

    def tool_fields(self, tools: Sequence[Tool], only_answer: bool) -> Json:
        choice: Json = {"type": "tool", "name": ANSWER_TOOL} if only_answer else {"type": "auto"}
        offered = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.schema)}
            for t in tools
        ]
        return {"tools": offered, "tool_choice": choice}

    def read_turn(self, body: Json) -> ModelTurn:
        content = cast(list[Json], body["content"])
        calls = tuple(
            ToolRequest(str(block["id"]), str(block["name"]), _arguments_object(block.get("input")))
            for block in content
            if block["type"] == "tool_use"
        )
        text = "".join(str(block["text"]) for block in content if block["type"] == "text")
        truncated = body.get("stop_reason") == "max_tokens"
        model = str(body.get("model") or self.model)
        message = {"role": "assistant", "content": content}
        return ModelTurn(text, calls, messages_usage(body["usage"]), model, truncated, message)

    def results(self, results: Sequence[tuple[ToolRequest, str]]) -> list[Json]:
        blocks = [{"type": "tool_result", "tool_use_id": c.id, "content": t} for c, t in results]
        return [{"role": "user", "content": blocks}]


class CompletionsDialect:
    """The format of OpenAI, also used by Ollama, llama.cpp and vLLM."""

    schema_field = "response_format"

    def __init__(self, model: str, limit: str) -> None:
        self.model = model
        self._limit = limit

    def schema_forms(self, schema: Json) -> tuple[Json, ...]:
        named = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return named, {"type": "json_object", "schema": schema}

    def body(self, question: Question) -> Json:
        system = {"role": "system", "content": question.system}
        return {"model": self.model, self._limit: question.tokens, "messages": [system]}

    def tool_fields(self, tools: Sequence[Tool], only_answer: bool) -> Json:
        only: Json = {"type": "function", "function": {"name": ANSWER_TOOL}}
        offered = [
            {"name": t.name, "description": t.description, "parameters": dict(t.schema)}
            for t in tools
        ]
        return {
            "tools": [{"type": "function", "function": function} for function in offered],
            "tool_choice": only if only_answer else "auto",
        }

    def read_turn(self, body: Json) -> ModelTurn:
        choice = body["choices"][0]
        message = cast(Json, choice["message"])
        asked = cast(list[Json], message.get("tool_calls") or [])
        calls = tuple(
            ToolRequest(
                str(call.get("id") or n),
                str(call["function"]["name"]),
                _arguments_object(call["function"].get("arguments")),
            )
            for n, call in enumerate(asked)
        )
        text = str(message.get("content") or "")
        kept: Json = {"role": "assistant", "content": text}
        if asked:
            kept["tool_calls"] = asked
        spent = cast(Json, body.get("usage") or {})
        details = cast(Json, spent.get("prompt_tokens_details") or {})
        usage = Usage(
            int(spent.get("prompt_tokens") or 0),
            int(spent.get("completion_tokens") or 0),
            int(details.get("cached_tokens") or 0),
        )
        truncated = choice.get("finish_reason") == "length"
        return ModelTurn(text, calls, usage, str(body.get("model") or self.model), truncated, kept)

    def results(self, results: Sequence[tuple[ToolRequest, str]]) -> list[Json]:
        return [{"role": "tool", "tool_call_id": c.id, "content": t} for c, t in results]


def _arguments_object(value: object) -> Json | None:
    """Arguments as an object, whether they came as one or as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return None
    return cast(Json, value) if isinstance(value, dict) else None
