"""A model service over HTTPS: trusted by its certificate, or nothing is sent to it."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import pytest

from holdfast.errors import ModelError
from holdfast.inference.chat import Question
from holdfast.inference.http_chat import CompletionsChat
from tests.support.model_service import Json, Service, serve_in_thread

ANSWER: Json = {"choices": [{"message": {"content": "The pump was fixed"}}], "model": "small"}
QUESTION = Question("Sum it up.", "The pump was fixed.", {"type": "object"}, 300)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that is signed by itself, and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=model", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return certificate, key


def test_a_service_over_https_is_asked_only_if_its_certificate_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = make_certificate(tmp_path)
    service = Service()
    service.answer = lambda body: (200, {}, ANSWER)
    speaking = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    speaking.load_cert_chain(certificate, key)
    service.server.socket = speaking.wrap_socket(service.server.socket, server_side=True)
    url = f"{service.url.replace('http:', 'HTTPS:')}/v1"
    with serve_in_thread(service.server):
        with pytest.raises(ModelError, match="certificate verify failed"):
            CompletionsChat("small", "k-1", url, timeout_s=60).ask(QUESTION)
        assert service.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        reply = CompletionsChat("small", "k-1", url, timeout_s=60).ask(QUESTION)
    assert reply.text == "The pump was fixed" and len(service.asked) == 1
