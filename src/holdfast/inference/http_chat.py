"""Model services over HTTP: the Messages API of Anthropic, and whatever speaks OpenAI's protocol.

Built on httpx2 (extra `models`), which both makers' own libraries stand on: they take four times
the memory, and try again by themselves, which would spend what no ledger saw. Redirects are not
followed, so that texts and key go nowhere but to the address that was named.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, cast
from urllib.parse import urlsplit

from holdfast.errors import (
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTooLongError,
)
from holdfast.inference.chat import MOST_BYTES, Question, Reply, Usage
from holdfast.inference.tool_dialogue import CompletionsDialect, MessagesDialect, talk

Json = dict[str, Any]
ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
_ANTHROPIC_VERSION = "2023-06-01"
# What services say when they want to be asked later; 529 is Anthropic's word for "overloaded".
_BUSY = frozenset({429, 503, 529})
_REFUSED_BELOW = 500
TOO_LONG = "Set models.input_tokens lower, or let the model take in more."
_SPENT_WORDS = ("insufficient_quota", "billing", "credit balance")
# How services say that a question is too long: OpenAI and vLLM, llama.cpp, Anthropic, Ollama.
_LONG_WORDS = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
)


class _Line:
    """One address, asked with JSON."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ModelRefusedError(
                f"{url!r} is no address of a model service.",
                "Set models.endpoint to something like http://localhost:11434/v1.",
            )
        self._http: Any = importlib.import_module("httpx2")
        self._url = url
        # Passwords and parameters stay out of what is stored and shown.
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._headers = dict(headers)
        self._timeout_s = timeout_s

    def post(self, body: Json) -> Json:
        """The answer, which must be an object of JSON."""
        content = json.dumps(body).encode("utf-8", "replace")
        headers = {"content-type": "application/json", **self._headers}
        try:
            with (
                self._http.Client(timeout=self._timeout_s, follow_redirects=False) as client,
                client.stream("POST", self._url, content=content, headers=headers) as response,
            ):
                told = self._read(response)
                status, after = int(response.status_code), response.headers.get("retry-after")
        except self._http.TimeoutException as error:
            raise ModelError(
                f"The model service at {self.shown} did not answer in {self._timeout_s:g} seconds.",
                "Raise models.timeout_s if it is slow.",
                may_cost=True,
            ) from error
        except (self._http.HTTPError, self._http.InvalidURL) as error:
            raise ModelError(
                f"The model service at {self.shown} cannot be reached: {error}.",
                "Check models.endpoint, and whether it runs.",
                may_cost=not isinstance(error, self._http.ConnectError),
            ) from error
        if status != 200:
            raise _failure(self.shown, status, told, after)
        try:
            found: object = json.loads(told)
        except (ValueError, RecursionError) as error:
            raise self.strange("no JSON") from error
        if not isinstance(found, dict):
            raise self.strange("an answer of another form")
        return cast(Json, found)

    def _read(self, response: Any) -> bytes:
        told = b""
        for piece in response.iter_bytes():
            told += piece
            if len(told) > MOST_BYTES:
                raise self.strange(f"more than {MOST_BYTES:,} bytes")
        return told

    def strange(self, what: str) -> ModelError:
        """The error for an answer that is none."""
        return ModelError(f"The model service at {self.shown} gave {what}.", may_cost=True)


def _failure(shown: str, status: int, told: bytes, after: str | None) -> ModelError:
    words = _words(told)
    what = f"The model service at {shown} said {status}{f': {words}' if words else ''}."
    spent = any(word in words.lower() for word in _SPENT_WORDS)
    if status in _BUSY or (spent and status < _REFUSED_BELOW):
        return ModelBusyError(what, "It is asked again later.", _wait(after))
    if too_long(words):
        return ModelTooLongError(what, TOO_LONG)
    if status < _REFUSED_BELOW:
        return ModelRefusedError(what, "Check the model's name, the key and the address.")
    return ModelError(what, "It is asked again later.")


def too_long(words: str) -> bool:
    """Whether a complaint is that the question is too long."""
    return any(word in words.lower() for word in _LONG_WORDS)


def _wait(after: str | None) -> float | None:
    """For how many seconds a service wants to be left alone; it may name the moment instead."""
    if not after:
        return None
    try:
        return max(0.0, float(after)) if after[0].isdigit() else _until(after)
    except ValueError:
        return None


def _until(after: str) -> float:
    return max(0.0, parsedate_to_datetime(after).timestamp() - time())


def _words(told: bytes) -> str:
    """The complaint in an answer, in a line."""
    try:
        error: Any = json.loads(told)["error"]
        words = error if isinstance(error, str) else f"{error.get('code') or ''} {error['message']}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        words = told[:200].decode("utf-8", "replace")
    return " ".join(str(words).split())[:200]


class _Formal:
    """A service that is told the form of its answer, in the ways that there are, the best first.
    One that finds fault with a way is asked in the next from then on, at last without any; what
    the form is stands in the question as well."""

    def __init__(self, line: _Line, field: str) -> None:
        self.line = line
        self._field = field
        self._way = 0

    def post(self, body: Json, *forms: Json) -> Json:
        while self._way < len(forms):
            try:
                return self.line.post({**body, self._field: forms[self._way]})
            except ModelBusyError:
                raise
            except ModelError as error:
                # Some say 400 to what they do not know, and some 500.
                if self._field not in error.message:
                    raise
                self._way += 1
        return self.line.post(body)


class MessagesChat:
    """A `Chat` behind Anthropic's Messages API."""

    def __init__(
        self, model: str, key: str, url: str = ANTHROPIC_URL, timeout_s: float = 120.0
    ) -> None:
        self.model = model
        self.service = _service("anthropic", url, ANTHROPIC_URL)
        address = f"{url.rstrip('/').removesuffix('/v1')}/v1/messages"
        headers = {"x-api-key": key, "anthropic-version": _ANTHROPIC_VERSION}
        self._formal = _Formal(_Line(address, headers, timeout_s), "output_config")

    def ask(self, question: Question) -> Reply:
        if question.toolbox is not None:
            line, dialect = self._formal.line, MessagesDialect(self.model, _messages_usage)
            return talk(dialect, line.post, question, line.strange)
        body = {
            "model": self.model,
            "max_tokens": question.tokens,
            "system": f"{question.system}\n\n{_form(question)}",
            "messages": [{"role": "user", "content": question.text}],
        }
        form = {"format": {"type": "json_schema", "schema": dict(question.schema)}}
        told = self._formal.post(body, form)
        try:
            usage, cut = _messages_usage(told["usage"]), told.get("stop_reason") == "max_tokens"
            texts = [str(block["text"]) for block in told["content"] if block["type"] == "text"]
            return Reply("".join(texts), usage, str(told.get("model") or self.model), cut)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._formal.line.strange("an answer of another form") from error


def _messages_usage(told: Json) -> Usage:
    cached = int(told.get("cache_read_input_tokens") or 0)
    written = int(told.get("cache_creation_input_tokens") or 0)
    return Usage(int(told["input_tokens"]) + cached + written, int(told["output_tokens"]), cached)


class CompletionsChat:
    """A `Chat` behind `POST <url>/chat/completions`, as OpenAI, Ollama, llama.cpp and vLLM have
    it."""

    def __init__(
        self, model: str, key: str = "", url: str = OPENAI_URL, timeout_s: float = 120.0
    ) -> None:
        self.model = model
        self.service = _service("openai", url, OPENAI_URL)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        path = url.rstrip("/").removesuffix("/chat/completions")
        line = _Line(f"{path}/chat/completions", headers, timeout_s)
        self._formal = _Formal(line, "response_format")
        # OpenAI's newer models know only the new name, and most others only the old one.
        own = (urlsplit(url).hostname or "").endswith("openai.com")
        self._limit = "max_completion_tokens" if own else "max_tokens"

    def ask(self, question: Question) -> Reply:
        if question.toolbox is not None:
            line = self._formal.line
            dialect = CompletionsDialect(self.model, self._limit, _completions_usage)
            return talk(dialect, line.post, question, line.strange)
        body: Json = {
            "model": self.model,
            self._limit: question.tokens,
            "messages": [
                {"role": "system", "content": f"{question.system}\n\n{_form(question)}"},
                {"role": "user", "content": question.text},
            ],
        }
        schema = dict(question.schema)
        told = self._formal.post(
            body,
            {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
            {"type": "json_object", "schema": schema},
        )
        try:
            choice = told["choices"][0]
            usage = _completions_usage(told.get("usage") or {})
            text, cut = choice["message"].get("content"), choice.get("finish_reason") == "length"
            return Reply(str(text or ""), usage, str(told.get("model") or self.model), cut)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise self._formal.line.strange("an answer of another form") from error


def _service(name: str, url: str, usual: str) -> str:
    """How the ledger calls a service: by its maker, or by where it is."""
    return name if url == usual else f"{name}@{urlsplit(url).netloc.rpartition('@')[2]}"


def _form(question: Question) -> str:
    schema = json.dumps(question.schema, ensure_ascii=False)
    return f"Answer with one JSON object and nothing else. Its schema: {schema}"


def _completions_usage(told: Json) -> Usage:
    details = cast(Json, told.get("prompt_tokens_details") or {})
    return Usage(
        int(told.get("prompt_tokens") or 0),
        int(told.get("completion_tokens") or 0),
        int(details.get("cached_tokens") or 0),
    )
