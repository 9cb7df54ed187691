"""A server with a certificate of the team's own making: believed, or nothing is sent to it."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support.http.team import cli, new_key, team_serving
from tests.support.laptops import BANK, NewLaptop, environment

KEY = "hf_0a1b2c3d_" + "s" * 43


def openssl(folder: Path, words: str) -> None:
    made = subprocess.run(
        ["openssl", *words.split()], cwd=folder, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the team's own authority, and what it signed: one certificate that fits, one
    for another name, one whose time is over, and one for clients."""
    folder = tmp_path_factory.mktemp("signed")
    key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    usage = "-addext keyUsage=critical,keyCertSign,cRLSign"
    openssl(folder, f"req -x509 {key} -days 2 {usage} -keyout ca.key -out ca.pem -subj /CN=Team")
    for name, san, days, purpose in (
        ("fits", "IP:127.0.0.1", 2, "serverAuth"),
        ("other", "DNS:elsewhere.example", 2, "serverAuth"),
        ("over", "IP:127.0.0.1", -1, "serverAuth"),
        ("client", "IP:127.0.0.1", 2, "clientAuth"),
    ):
        (folder / "extensions").write_text(
            f"subjectAltName={san}\nextendedKeyUsage={purpose}\nauthorityKeyIdentifier=keyid\n"
        )
        openssl(folder, f"req {key} -keyout {name}.key -out request -subj /CN={name}")
        signing = "-CA ca.pem -CAkey ca.key -CAcreateserial -extfile extensions"
        openssl(folder, f"x509 -req -in request {signing} -days {days} -out {name}.pem")
    return folder


class Listener:
    """Speaks TLS, and keeps whatever is said to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.heard = b""


@contextmanager
def listening(folder: Path, name: str) -> Generator[Listener]:
    """Somebody who has a certificate, on a port of this machine; without a name, one who speaks no
    TLS at all."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listens:
        made = Listener(listens.getsockname()[1])

        def answer() -> None:
            try:
                while True:
                    raw, _ = listens.accept()
                    with raw:
                        raw.settimeout(60)
                        try:
                            speak(raw)
                        except OSError:
                            continue
            except OSError:
                return

        def speak(raw: socket.socket) -> None:
            if not name:
                made.heard += raw.recv(65_536)
                raw.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                return
            how = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            how.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
            with how.wrap_socket(raw, server_side=True) as spoken:
                made.heard += spoken.recv(65_536)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield made
        listens.shutdown(socket.SHUT_RDWR)
    thread.join(60)


def test_a_server_with_a_certificate_of_the_teams_authority_is_trusted(
    tmp_path: Path, new_laptop: NewLaptop, signed: Path
) -> None:
    env = environment(tmp_path / "server")
    assert cli(env, "remember", "The pier is closed on Mondays.", "--bank", BANK).returncode == 0
    key = new_key(env, "--name", "ana", "--bank", BANK, "--level", "write")
    bos = new_key(env, "--name", "bo", "--bank", BANK)
    files = ("--tls-cert", str(signed / "fits.pem"), "--tls-key", str(signed / "fits.key"))
    ana, trusting = new_laptop("ana"), {"SSL_CERT_FILE": str(signed / "ca.pem")}
    own = ana.remember("The lamp is oiled on Thursdays.")
    with team_serving(env, tmp_path, *files) as team:
        assert team.url.startswith("https://")
        names = ("--name", "acme", "--bank", BANK)
        status, out, _ = ana.run(
            "remote", "add", team.url, *names, HOLDFAST_REMOTE_KEY=key, **trusting
        )
        assert status == 0 and "certificate" not in out
        ana.json("share", own, "--to", "acme", "--yes", **trusting)
        bo = new_laptop("bo")
        bo.remember("The gate is painted.")
        bo.json("remote", "add", team.url, *names, HOLDFAST_REMOTE_KEY=bos, **trusting)
        assert "Thursdays" in str(bo.json("recall", "lamp oiled", **trusting)["hits"])
        status, _, err = ana.run("remote", "test")
        assert status == 1 and "nobody whom this machine trusts" in err and "SSL_CERT_FILE" in err


@pytest.mark.parametrize(
    ("name", "trusted", "why"),
    [
        ("fits", False, "nobody whom this machine trusts has signed it"),
        ("other", True, "it is for another address"),
        ("over", True, "it has expired"),
        ("client", True, "it breaks a rule for certificates"),
        ("", True, "the TLS connection failed"),
    ],
)
def test_nothing_is_sent_to_an_untrusted_server(
    new_laptop: NewLaptop, signed: Path, name: str, trusted: bool, why: str
) -> None:
    ana = new_laptop("ana")
    trusting = {"SSL_CERT_FILE": str(signed / "ca.pem")} if trusted else {}
    with listening(signed, name) as listener:
        url = f"https://127.0.0.1:{listener.port}"
        given = ("--name", "acme", "--bank", BANK)
        status, out, err = ana.run(
            "remote", "add", url, *given, HOLDFAST_REMOTE_KEY=KEY, **trusting
        )
        assert status == 0 and why in " ".join(out.split()), out + err
    assert KEY.encode() not in listener.heard and b"HTTP" not in listener.heard
