"""One bounded HTTP request on the standard library, for every part that talks to a server.

`send` reads a whole answer, `open_response` leaves the reading to the caller. Both limit how long
they wait, follow no redirect (a key must not reach an address that nobody named), use a proxy only
where the caller allows one, and raise nothing but `HttpError`. What the statuses mean, retries and
rate limits are up to the callers.
"""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPMessage,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
)
from ipaddress import ip_address
from socket import SHUT_RDWR
from ssl import SSLCertVerificationError, SSLError
from time import monotonic
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from holdfast.errors import HoldfastError

# How much is asked of the socket at once. More would only delay the checks of size and time.
CHUNK_BYTES = 65_536
_DEFAULT_PORTS = {"http": 80, "https": 443}

_UNTRUSTED = "its certificate is not trusted here"
_RENEW = "The operator of the server must renew it. Check this machine's clock, too."
_RENAME = "Use the address of the certificate, or ask the operator for one for this address."
# Message and remedy by OpenSSL's number for why it rejects a certificate (X509_V_ERR_…).
_CERTIFICATE_PROBLEMS = {
    9: (f"{_UNTRUSTED}: it is not valid yet", _RENEW),
    10: (f"{_UNTRUSTED}: it has expired", _RENEW),
    62: (f"{_UNTRUSTED}: it is for another address", _RENAME),
    64: (f"{_UNTRUSTED}: it is for another address", _RENAME),
}
# No issuer is known, or one that signed itself.
_UNKNOWN_ISSUER_NUMBERS = (2, 18, 19, 20, 21)
_UNKNOWN_ISSUER = (
    f"{_UNTRUSTED}: nobody whom this machine trusts has signed it",
    "If your team signs its own, let this machine trust it, or name the file in SSL_CERT_FILE: "
    "docs/remote.md.",
)
_REMAKE = (
    "The operator of the server must create a new one. From Python 3.13 on, the authority that "
    "signs it must comply with RFC 5280, too: docs/remote.md."
)


class HttpError(HoldfastError):
    """No complete answer came. `message` is a clause about the server ("it cannot be reached"),
    `detail` the text of the system or of OpenSSL."""

    def __init__(self, message: str, remedy: str = "", detail: str = "") -> None:
        super().__init__(message, remedy)
        self.detail = detail or message


class HttpTimeoutError(HttpError):
    """No complete answer came in time."""


class HttpCertificateError(HttpError):
    """The certificate of the server is not trusted; nothing was sent."""


class HttpTooLargeError(HttpError):
    """The answer is larger than allowed."""


class Request(NamedTuple):
    """What is sent, and where to."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Limits(NamedTuple):
    """How long to wait for a connection and for each piece of the answer, how long the whole
    exchange may take, and how large the answer may be."""

    wait_s: float
    total_s: float
    max_bytes: int


class Reply(NamedTuple):
    """A complete answer, whatever its status."""

    status: int
    reason: str
    headers: HTTPMessage
    body: bytes

    @property
    def retry_after_s(self) -> float | None:
        """How long the server asks us to wait; None where it does not say, or gives a date."""
        seconds = self.headers.get("Retry-After") or ""
        return float(seconds) if seconds.isascii() and seconds.isdigit() else None


def send(request: Request, limits: Limits, *, use_proxy: bool = False) -> Reply:
    """Send a request and read the whole answer."""
    end = monotonic() + limits.total_s
    opened = open_response(request, limits.wait_s, limits.total_s, use_proxy=use_proxy)
    with opened as response:
        body = _read(response, limits, end)
        return Reply(response.status, response.reason, response.headers, body)


@contextmanager
def open_response(
    request: Request, wait_s: float, total_s: float, *, use_proxy: bool = False
) -> Generator[HTTPResponse]:
    """Send a request and give its response. Errors of the system, of HTTP and ValueErrors inside
    the `with` block become HttpErrors as well. After `total_s` the connection is shut down, so
    that a server which sends a byte now and then cannot hold us."""
    end = monotonic() + total_s
    try:
        connection, target, headers = _connect(request, wait_s, use_proxy)
        with _closed_after(connection, total_s):
            connection.request(request.method, target, request.body, headers)
            with connection.getresponse() as response:
                yield response
    except (OSError, HTTPException, ValueError) as error:
        raise _http_error(error, total_s, is_late=monotonic() >= end) from error


def fits_header(text: str, max_chars: int) -> bool:
    """Whether a text can be sent in a header: what cannot would end up in an error message."""
    return text.isascii() and text.isprintable() and len(text) <= max_chars


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(response: HTTPResponse, limits: Limits, end: float) -> bytes:
    body = bytearray()
    while piece := response.read1(CHUNK_BYTES):
        body += piece
        if len(body) > limits.max_bytes:
            raise HttpTooLargeError(f"it sent more than {limits.max_bytes:,} bytes")
        if monotonic() > end:
            raise TimeoutError(f"no whole answer in {limits.total_s:g} seconds")
    if response.length:
        raise IncompleteRead(bytes(body), response.length)
    return bytes(body)


def _http_error(error: Exception, total_s: float, is_late: bool) -> HttpError:
    detail = str(error) or type(error).__name__
    if isinstance(error, SSLCertVerificationError):
        return HttpCertificateError(*_certificate_problem(error), detail)
    if is_late or isinstance(error, TimeoutError):
        return HttpTimeoutError(f"it did not answer within {total_s:g} s", detail=detail)
    if isinstance(error, SSLError):
        return HttpError("the TLS connection failed", detail=detail)
    return HttpError("it cannot be reached, or is not an HTTP server", detail=detail)


def _certificate_problem(error: SSLCertVerificationError) -> tuple[str, str]:
    """Message and remedy for a certificate that is rejected."""
    if error.verify_code in _UNKNOWN_ISSUER_NUMBERS:
        return _UNKNOWN_ISSUER
    rule = f"{_UNTRUSTED}: it breaks a rule for certificates ({error.verify_message})"
    return _CERTIFICATE_PROBLEMS.get(error.verify_code, (rule, _REMAKE))


@contextmanager
def _closed_after(connection: HTTPConnection, total_s: float) -> Generator[None]:
    """Close a connection at the end of the block, or from another thread when the time is up."""
    alarm = threading.Timer(total_s, _shut_down, (connection,))
    alarm.daemon = True
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()
        connection.close()


def _shut_down(connection: HTTPConnection) -> None:
    """Wake the thread that waits for this connection."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(SHUT_RDWR)


def _connect(
    request: Request, wait_s: float, use_proxy: bool
) -> tuple[HTTPConnection, str, Mapping[str, str]]:
    """A connection to the server, or to the proxy before it; what to ask it for; and the headers.
    Nothing is sent yet."""
    parts = urlsplit(request.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    proxy = _system_proxy(parts) if use_proxy else None
    if proxy is None:
        return _connection(parts.scheme, parts, wait_s), path, request.headers
    login = _proxy_login(proxy)
    if parts.scheme == "https":
        connection = _connection("https", proxy, wait_s)
        connection.set_tunnel(str(parts.hostname), _port(parts), login)
        return connection, path, request.headers
    address = parts._replace(fragment="").geturl()
    return _connection(proxy.scheme, proxy, wait_s), address, {**request.headers, **login}


def _connection(scheme: str, parts: SplitResult, wait_s: float) -> HTTPConnection:
    make = HTTPSConnection if scheme == "https" else HTTPConnection
    return make(str(parts.hostname), _port(parts), timeout=wait_s)


def _port(parts: SplitResult) -> int | None:
    return parts.port or _DEFAULT_PORTS.get(parts.scheme)


def _system_proxy(parts: SplitResult) -> SplitResult | None:
    """The proxy that the environment or the system names for an address."""
    from urllib.request import getproxies, proxy_bypass

    proxy = getproxies().get(parts.scheme, "")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    return urlsplit(proxy if "://" in proxy else f"{parts.scheme}://{proxy}")


def _proxy_login(proxy: SplitResult) -> dict[str, str]:
    if not (proxy.username and proxy.password):
        return {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password)}"
    return {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode('ascii')}"}
