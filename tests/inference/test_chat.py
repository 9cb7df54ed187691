"""The adapters, against real servers on loopback."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from holdfast.errors import (
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTooLongError,
    SettingsError,
)
from holdfast.inference.agent_chat import AgentChat
from holdfast.inference.chat import Chat, Question
from holdfast.inference.http_chat import CompletionsChat, MessagesChat
from holdfast.inference.service_choice import choose_chat, detect_service
from holdfast.settings import ModelSettings
from tests.e2e.claude_code.api import Api, Refuse, Say, Step, Use
from tests.e2e.claude_code.sandbox import find_claude
from tests.support.model_service import Answered, Json, Service

FORM = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
    "additionalProperties": False,
}
QUESTION = Question("Sum it up.", "The pump was fixed. PLAY:answer", FORM, 300)
ANSWER = {"title": "The pump was fixed"}


def completion(text: str) -> Json:
    usage = {
        "prompt_tokens": 90,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"model": "small-2", "choices": [choice], "usage": usage}


def test_an_openai_compatible_service_is_asked_for_a_json_schema(service: Service) -> None:
    service.answer = lambda body: (200, {}, completion(json.dumps(ANSWER)))
    chat = service.completions()
    reply = chat.ask(QUESTION)
    assert json.loads(reply.text) == ANSWER and reply.model == "small-2" and not reply.truncated
    assert reply.usage == (90, 7, 64, True)
    path, headers, body = service.asked[0]
    assert path == "/v1/chat/completions" and headers["authorization"] == "Bearer k-1"
    assert body["response_format"]["json_schema"]["schema"] == FORM and body["max_tokens"] == 300
    assert body["messages"][1] == {"role": "user", "content": QUESTION.text}
    assert chat.service == f"openai@{service.url.removeprefix('http://')}"


@pytest.mark.slow
def test_a_service_without_schema_support_is_asked_without_one_from_then_on(
    service: Service,
) -> None:
    def answer(body: Json) -> Answered:
        if "response_format" in body:
            return 400, {}, {"error": {"message": "unknown field response_format"}}
        return 200, {}, completion(json.dumps(ANSWER))

    service.answer = answer
    chat = service.completions()
    assert json.loads(chat.ask(QUESTION).text) == json.loads(chat.ask(QUESTION).text) == ANSWER
    assert ["response_format" in body for _, _, body in service.asked] == [True, True, False, False]
    assert '"title"' in service.asked[3][2]["messages"][0]["content"]


@pytest.mark.slow
@pytest.mark.parametrize("rejected", [0, 1, 2])
def test_the_schema_is_sent_once_in_the_best_form_that_is_accepted(
    service: Service, rejected: int
) -> None:
    """Whoever pays for tokens pays for it once."""
    said = json.dumps(ANSWER)
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"content": [{"type": "text", "text": said}], "usage": usage}

    def answer(body: Json) -> Answered:
        for field in ("response_format", "output_config"):
            if field in body and len(service.asked) <= rejected:
                return 400, {}, {"error": {"message": f"unknown field {field}"}}
        return 200, {}, {**completion(said), **message}

    service.answer = answer
    for chat in chats(service):
        service.asked.clear()
        assert json.loads(chat.ask(QUESTION).text) == ANSWER
        accepted = json.dumps(service.asked[-1][2])
        assert accepted.count("additionalProperties") == 1
        assert "one JSON object and nothing else" in accepted


def test_the_messages_api_is_asked_for_a_json_schema() -> None:
    api = Api({}, "/nowhere")
    try:
        reply = MessagesChat("claude-haiku-5-5", "k-2", api.url).ask(QUESTION)
    finally:
        api.close()
    assert json.loads(reply.text) == {"title": "A title"} and reply.model == "claude-haiku-5-5"
    assert reply.usage.tokens_in > 0 and reply.usage.tokens_out == 20


def test_the_messages_api_gets_key_version_and_schema(service: Service) -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2}
    block = {"type": "text", "text": json.dumps(ANSWER)}
    thought = {"type": "thinking", "thinking": "hm"}
    told = {"content": [thought, block], "usage": usage, "stop_reason": "max_tokens"}
    service.answer = lambda body: (200, {}, told)
    reply = service.messages().ask(QUESTION)
    assert json.loads(reply.text) == ANSWER and reply.truncated and reply.usage == (15, 2, 5, True)
    path, headers, body = service.asked[0]
    assert path == "/v1/messages" and headers["x-api-key"] == "k-2"
    assert headers["anthropic-version"] == "2023-06-01"
    assert body["output_config"]["format"]["schema"] == FORM and "tools" not in body


def chats(service: Service) -> list[Chat]:
    return [service.completions(), service.messages()]


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_busy_service_says_when_to_retry(service: Service, status: int) -> None:
    service.answer = lambda body: (status, {"retry-after": "17"}, {"error": {"message": "later"}})
    for chat in chats(service):
        with pytest.raises(ModelBusyError, match="later") as error:
            chat.ask(QUESTION)
        assert error.value.retry_after_s == 17 and not error.value.may_cost
    assert len(service.asked) == 2


@pytest.mark.parametrize(
    ("after", "least", "most"),
    [
        ("7200", 7200, 7200),
        ("0.5", 0.5, 0.5),
        (formatdate(time.time() + 72000, usegmt=True), 60000, 72001),
        (formatdate(time.time() - 7200, usegmt=True), 0, 0),
        ("soon", None, None),
        ("-5", None, None),
    ],
    ids=["seconds", "half", "tomorrow", "past", "word", "negative"],
)
def test_a_retry_time_can_be_seconds_or_a_date(
    service: Service, after: str, least: float | None, most: float | None
) -> None:
    service.answer = lambda body: (429, {"retry-after": after}, {})
    with pytest.raises(ModelBusyError) as error:
        service.completions().ask(QUESTION)
    wait = error.value.retry_after_s
    assert wait is None if least is None or most is None else least <= (wait or 0) <= most


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "This model's maximum context length is 4096 tokens. Please reduce the length."),
        (400, "Requested tokens (9001) exceed context window of 4096"),
        (500, "the request exceeds the available context size"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ],
)
def test_a_prompt_that_is_too_long_has_its_own_error(
    service: Service, status: int, words: str
) -> None:
    service.answer = lambda body: (status, {}, {"error": {"message": words}})
    for chat in chats(service):
        with pytest.raises(ModelTooLongError, match=r"context|too long") as error:
            chat.ask(QUESTION)
        assert "models.input_tokens" in error.value.remedy


def test_used_up_credit_is_a_temporary_error(service: Service) -> None:
    told = {"error": {"type": "invalid_request_error", "message": "Your credit balance is low"}}
    service.answer = lambda body: (400, {}, told)
    with pytest.raises(ModelBusyError):
        service.messages().ask(QUESTION)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_permanent_refusal_of_a_service_is_an_error(service: Service, status: int) -> None:
    service.answer = lambda body: (status, {}, {"error": {"message": "no model named small"}})
    for chat in chats(service):
        with pytest.raises(ModelRefusedError, match="no model named small"):
            chat.ask(QUESTION)


@pytest.mark.parametrize(
    ("status", "answer", "may_cost"),
    [
        (500, b"oops", False),
        (200, b"", True),
        (200, b"<html>", True),
        (200, b"[]", True),
        (200, b'{"choices": []', True),
        (200, b'{"choices": [], "content": "x"}', True),
        (200, b"[" * 900_000, True),
        (200, b"x" * 10_000_000, True),
    ],
)
def test_an_invalid_response_is_an_error(
    service: Service, status: int, answer: bytes, may_cost: bool
) -> None:
    service.answer = lambda body: (status, {}, answer)
    for chat in chats(service):
        with pytest.raises(ModelError) as error:
            chat.ask(QUESTION)
        assert type(error.value) is ModelError and error.value.may_cost is may_cost


def test_a_call_that_times_out_may_have_cost(service: Service) -> None:
    let_go = threading.Event()

    def answer(body: Json) -> Answered:
        let_go.wait(10)
        return 200, {}, {}

    service.answer = answer
    with pytest.raises(ModelError, match="did not answer in") as error:
        CompletionsChat("small", "", service.url, timeout_s=0.2).ask(QUESTION)
    let_go.set()
    assert error.value.may_cost


def test_texts_and_key_are_not_sent_to_a_redirect(service: Service) -> None:
    service.answer = lambda body: (307, {"location": f"{service.url}/elsewhere"}, {})
    with pytest.raises(ModelError):
        service.completions().ask(QUESTION)
    assert [path for path, _, _ in service.asked] == ["/v1/chat/completions"]


def test_an_unreachable_service_is_reported_without_the_password_in_its_url() -> None:
    with pytest.raises(ModelError, match="cannot be reached") as error:
        CompletionsChat("m", "", "http://me:secret@127.0.0.1:9/v1").ask(QUESTION)
    assert "secret" not in error.value.message and not error.value.may_cost


@pytest.fixture
def subscription(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Api]:
    if find_claude() is None:
        pytest.skip("Claude Code is not here: pip install claude-agent-sdk brings it")
    home = tmp_path / "home"
    hook = f"touch {tmp_path / 'hook-ran'}"
    settings = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": hook}]}]}}
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "settings.json").write_text(json.dumps(settings))

    def start(*steps: Step) -> Api:
        api = Api({"answer": steps}, str(tmp_path))
        for name, value in {
            **api.env(home),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "NO_PROXY": "*",
        }.items():
            monkeypatch.setenv(name, value)
        return api

    return start


def test_the_subscription_is_used_through_the_real_program_and_nothing_else_runs(
    subscription: Callable[..., Api], tmp_path: Path
) -> None:
    api = subscription([Use("StructuredOutput", ANSWER)], [Say("Done.")])
    reply = AgentChat("claude-haiku-5-5", timeout_s=60).ask(QUESTION)
    api.close()
    assert json.loads(reply.text) == ANSWER and reply.usage.tokens_in > 0
    tools = [tool["name"] for tool in api.requests[0]["tools"]]
    assert set(tools) <= {"StructuredOutput", "DeferredToolPlaceholder"}
    assert QUESTION.text in api.sent(0) and "CLAUDE.md" not in api.sent(0)
    assert not (tmp_path / "hook-ran").exists()
    assert not list((tmp_path / "home" / ".claude").glob("projects/**/*.jsonl"))


@pytest.mark.parametrize(
    ("status", "kind"), [(429, ModelBusyError), (404, ModelRefusedError), (500, ModelError)]
)
def test_errors_of_the_subscription_are_distinguished(
    subscription: Callable[..., Api], status: int, kind: type[ModelError]
) -> None:
    api = subscription(Refuse(status))
    with pytest.raises(ModelError) as error:
        AgentChat("claude-haiku-5-5", timeout_s=60).ask(QUESTION)
    api.close()
    assert type(error.value) is kind, error.value.message
    # What it does not know, the program itself asks once more in another way.
    assert len(api.requests) <= (2 if status == 404 else 1)


def test_no_service_is_used_unless_the_settings_ask_for_one() -> None:
    assert choose_chat(ModelSettings(anthropic_key="k", openai_key="k"), "summaries") is None


def test_services_are_detected_in_a_fixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ModelSettings(use="auto", anthropic_key="a", openai_key="o")
    assert detect_service(replace(keys, use="openai")) == "openai"
    sdk, http = ModuleType("claude_agent_sdk"), ModuleType("httpx2")
    for module in (sdk, http):
        module.__spec__ = ModuleSpec(module.__name__, None)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    assert detect_service(keys) == detect_service(ModelSettings(use="auto")) == "claude"
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    assert detect_service(keys) == "anthropic"
    assert detect_service(replace(keys, endpoint="http://localhost:11434/v1")) == "openai"
    assert detect_service(replace(keys, anthropic_key="")) == "openai"
    assert detect_service(ModelSettings(use="auto")) == "none"
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert detect_service(keys) == "none"
    for use in ("claude", "anthropic", "openai"):
        with pytest.raises(SettingsError, match="not installed"):
            choose_chat(replace(keys, use=use), "summaries")


def test_each_operation_can_have_its_own_model() -> None:
    models = ModelSettings(
        use="openai", endpoint="http://localhost:1/v1", summaries="a", reflection="b"
    )
    found = [choose_chat(models, operation) for operation in ("summaries", "reflection")]
    assert [chat and chat.model for chat in found] == ["a", "b"]
    with pytest.raises(SettingsError, match=r"models\.agent"):
        choose_chat(models, "agent")


def test_a_default_key_is_sent_only_to_its_own_provider(service: Service) -> None:
    service.answer = lambda body: (200, {}, completion("{}"))
    models = ModelSettings(use="openai", endpoint=service.url, summaries="m", openai_key="private")
    chat = choose_chat(models, "summaries")
    assert chat is not None
    chat.ask(QUESTION)
    assert "authorization" not in service.asked[0][1]
    with pytest.raises(SettingsError, match="no key"):
        choose_chat(ModelSettings(use="anthropic"), "summaries")
    with pytest.raises(SettingsError, match="MY_KEY"):
        choose_chat(replace(models, api_key_env="MY_KEY"), "summaries")
