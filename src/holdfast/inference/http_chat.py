"""Model services over HTTP: Anthropic's Messages API, and services with OpenAI's protocol.

Built on httpx2 (extra `models`), as both makers' own libraries are: those take four times the
memory, and retry by themselves, which would spend money without the ledger. Redirects are not
followed, so that texts and key reach no other address than the one in the settings.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from functools import cached_property
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from time import time
from typing import Any, cast
from urllib.parse import urlsplit

from holdfast.errors import (
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTooLongError,
)
from holdfast.inference.chat import MAX_ANSWER_BYTES, Question, Reply, schema_in_words
from holdfast.inference.tool_dialogue import (
    CompletionsDialect,
    Dialect,
    MessagesDialect,
    read_turn,
    run_tool_dialogue,
)

Json = dict[str, Any]
ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
_ANTHROPIC_VERSION = "2023-06-01"
# Statuses that ask to call later; 529 is Anthropic's for "overloaded".
_BUSY_STATUSES = frozenset({429, 503, 529})
_SERVER_ERRORS_FROM = 500
TOO_LONG_REMEDY = "Set models.input_tokens lower, or let the model take in more."
_JSON_ONLY = "Answer with one JSON object and nothing else."
_QUOTA_PHRASES = ("insufficient_quota", "billing", "credit balance")
# Phrases that say a question is too long: of OpenAI and vLLM, llama.cpp, Anthropic, Ollama.
_TOO_LONG_PHRASES = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
)


class _JsonEndpoint:
    """An address that takes and returns JSON."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout_s: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ModelRefusedError(
                f"{url!r} is not the address of a model service.",
                "Set models.endpoint to something like http://localhost:11434/v1.",
            )
        self._http: Any = importlib.import_module("httpx2")
        self._url = url
        self._is_https = parts.scheme == "https"
        # Passwords and parameters stay out of what is stored and shown.
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._headers = dict(headers)
        self._timeout_s = timeout_s

    @cached_property
    def _tls(self) -> SSLContext:
        """Made once, and only for HTTPS: reading the certificates that this machine trusts takes
        50 ms. The other one trusts nobody."""
        if self._is_https:
            return self._http.create_ssl_context()
        return SSLContext(PROTOCOL_TLS_CLIENT)

    def post(self, body: Json) -> Json:
        """The answer, which must be a JSON object."""
        request = json.dumps(body).encode("utf-8", "replace")
        headers = {"content-type": "application/json", **self._headers}
        try:
            with (
                self._http.Client(
                    timeout=self._timeout_s, follow_redirects=False, verify=self._tls
                ) as client,
                client.stream("POST", self._url, content=request, headers=headers) as response,
            ):
                content = self._read(response)
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
            raise _status_error(self.shown, status, content, after)
        try:
            found: object = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self.unexpected("no JSON") from error
        if not isinstance(found, dict):
            raise self.unexpected("an answer of another form")
        return cast(Json, found)

    def _read(self, response: Any) -> bytes:
        content = b""
        for piece in response.iter_bytes():
            content += piece
            if len(content) > MAX_ANSWER_BYTES:
                raise self.unexpected(f"more than {MAX_ANSWER_BYTES:,} bytes")
        return content

    def unexpected(self, what: str) -> ModelError:
        """The error for an answer that cannot be read."""
        return ModelError(f"The model service at {self.shown} gave {what}.", may_cost=True)


def _status_error(shown: str, status: int, body: bytes, after: str | None) -> ModelError:
    words = _error_text(body)
    what = f"The model service at {shown} said {status}{f': {words}' if words else ''}."
    spent = any(word in words.lower() for word in _QUOTA_PHRASES)
    if status in _BUSY_STATUSES or (spent and status < _SERVER_ERRORS_FROM):
        return ModelBusyError(what, "It is called again later.", _retry_after_s(after))
    if says_too_long(words):
        return ModelTooLongError(what, TOO_LONG_REMEDY)
    if status < _SERVER_ERRORS_FROM:
        return ModelRefusedError(what, "Check the model's name, the key and the address.")
    return ModelError(what, "It is called again later.")


def says_too_long(words: str) -> bool:
    """Whether an error message says that the question is too long."""
    return any(word in words.lower() for word in _TOO_LONG_PHRASES)


def _retry_after_s(after: str | None) -> float | None:
    """How many seconds the service asks to wait; its header may name a time instead."""
    if not after:
        return None
    try:
        return max(0.0, float(after)) if after[0].isdigit() else _seconds_until(after)
    except ValueError:
        return None


def _seconds_until(after: str) -> float:
    return max(0.0, parsedate_to_datetime(after).timestamp() - time())


def _error_text(body: bytes) -> str:
    """The error message in an answer, on one line."""
    try:
        error: Any = json.loads(body)["error"]
        words = error if isinstance(error, str) else f"{error.get('code') or ''} {error['message']}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        words = body[:200].decode("utf-8", "replace")
    return " ".join(str(words).split())[:200]


class _HttpChat:
    """A `Chat` over HTTP in one of the dialects. The schema of the answer is sent once, in the best
    form that the service accepts. When it rejects a form, the next one is used from then on; at
    last the instructions contain the schema."""

    def __init__(self, dialect: Dialect, service: str, endpoint: _JsonEndpoint) -> None:
        self.model = dialect.model
        self.service = service
        self._dialect = dialect
        self._endpoint = endpoint
        self._form = 0

    def ask(self, question: Question) -> Reply:
        dialect, endpoint = self._dialect, self._endpoint
        if question.toolbox is not None:
            return run_tool_dialogue(dialect, endpoint.post, question, endpoint.unexpected)
        reply = self._post_with_schema(question, dialect.schema_forms(dict(question.schema)))
        turn = read_turn(dialect, reply, endpoint.unexpected)
        return Reply(turn.text, turn.usage, turn.model, turn.truncated)

    def _post_with_schema(self, question: Question, forms: Sequence[Json]) -> Json:
        field = self._dialect.schema_field
        body = self._body(question, _JSON_ONLY)
        while self._form < len(forms):
            try:
                return self._endpoint.post({**body, field: forms[self._form]})
            except ModelBusyError:
                raise
            except ModelError as error:
                # Some answer an unknown field with 400, and some with 500.
                if field not in error.message:
                    raise
                self._form += 1
        return self._endpoint.post(
            self._body(question, f"{_JSON_ONLY} {schema_in_words(question.schema)}")
        )

    def _body(self, question: Question, instruction: str) -> Json:
        body = self._dialect.body(question._replace(system=f"{question.system}\n\n{instruction}"))
        asked = {"role": "user", "content": question.text}
        return {**body, "messages": [*body.get("messages", ()), asked]}


class MessagesChat(_HttpChat):
    """A `Chat` behind Anthropic's Messages API."""

    def __init__(
        self, model: str, key: str, url: str = ANTHROPIC_URL, timeout_s: float = 120.0
    ) -> None:
        address = f"{url.rstrip('/').removesuffix('/v1')}/v1/messages"
        headers = {"x-api-key": key, "anthropic-version": _ANTHROPIC_VERSION}
        endpoint = _JsonEndpoint(address, headers, timeout_s)
        service = _service_name("anthropic", url, ANTHROPIC_URL)
        super().__init__(MessagesDialect(model), service, endpoint)


class CompletionsChat(_HttpChat):
    """A `Chat` behind `POST <url>/chat/completions`, as of OpenAI, Ollama, llama.cpp and vLLM."""

    def __init__(
        self, model: str, key: str = "", url: str = OPENAI_URL, timeout_s: float = 120.0
    ) -> None:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        path = url.rstrip("/").removesuffix("/chat/completions")
        endpoint = _JsonEndpoint(f"{path}/chat/completions", headers, timeout_s)
        # OpenAI's newer models accept only the new name, and most others only the old one.
        own = (urlsplit(url).hostname or "").endswith("openai.com")
        dialect = CompletionsDialect(model, "max_completion_tokens" if own else "max_tokens")
        super().__init__(dialect, _service_name("openai", url, OPENAI_URL), endpoint)


def _service_name(name: str, url: str, default: str) -> str:
    """The name of a service in the ledger: its maker, with the host where that is not the
    maker's."""
    return name if url == default else f"{name}@{urlsplit(url).netloc.rpartition('@')[2]}"
