"""The rules by which secrets are found: formats, commands, documents and telling names.

Where none of a rule's `anchors` occurs in a text, its pattern is not tried. The rules come in
groups, so that most texts pass after some twenty lookups:

- `FORMAT_RULES`: keys with a prefix of their own, from the tables in `capture/secret_formats`. A
  new format is a row there and needs nothing else.
- `SHAPE_RULES`: keys that are known by their shape, without a prefix. Their gate is in `key_runs`.
- `ALWAYS_TRIED`: what is around the secret tells, as in `docker login -p …`. The text must have a
  sign (`has_secret_sign`). Add one there if a new rule can match a text without any of them; every
  text pays for it.
- `NAMED_SECRETS` and `find_assigned_secrets`: a name suggests a secret. The text must have a sign
  and one of `SECRET_NAME_HINTS`. Which names do is said in `capture/secret_names`.

A new rule needs an example in `tests/capture/test_redact.py`, and its kind a word in
`docs/privacy.md`. Write examples in two pieces, so that they do not look like a key themselves.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

from holdfast.capture.secret_formats import (
    BASE64_FORMATS,
    BROKEN_PREFIX_FORMATS,
    KEY_FORMATS,
    SecretFormat,
)
from holdfast.capture.secret_names import (
    NameStrength,
    is_location,
    is_made_of_words,
    is_placeholder,
    looks_generated,
    looks_random,
    name_strength,
)

# The replacement of a match; None leaves it as it is.
Replace = Callable[[re.Match[str]], str | None]
MARK_START = "[redacted:"


def redaction_mark(kind: str) -> str:
    """The text that replaces a secret."""
    return f"{MARK_START}{kind}]"


class SecretRule:
    """One kind of secret. `replace` may inspect the match and decline.

    A pattern is compiled when it is first tried. An anchor in lower case is searched for in any
    case; one with a capital letter is case-sensitive. With `starts_with_anchor`, the pattern is
    tried only where an anchor is, exactly as it is written.
    """

    def __init__(
        self,
        kind: str,
        anchors: Iterable[str],
        expression: str,
        replace: Replace | None = None,
        *,
        starts_with_anchor: bool = False,
    ) -> None:
        self.kind = kind
        self.anchors = tuple(anchors)
        self.expression = expression
        self._replace = replace
        self._starts_with_anchor = starts_with_anchor
        if replace is None and "(?P<head>" in expression:
            self._replace = self._keep_head

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.expression)

    def replacement(self, match: re.Match[str]) -> str | None:
        """What replaces a match, or None if it is no secret."""
        if MARK_START in match.group() and self.kind != "private":
            return None
        return redaction_mark(self.kind) if self._replace is None else self._replace(match)

    def apply(self, text: str, counts: Counter[str]) -> str:
        """Replace every match in a text, and count them."""
        parts: list[str] = []
        done = 0
        for match in self._matches(text):
            new = self.replacement(match) if match.start() >= done else None
            if new is not None:
                parts += [text[done : match.start()], new]
                done = match.end()
                counts[self.kind] += 1
        return "".join([*parts, text[done:]]) if parts else text

    def _matches(self, text: str) -> Iterable[re.Match[str]]:
        if not self._starts_with_anchor:
            return self.pattern.finditer(text)
        found: list[re.Match[str]] = []
        for anchor in self.anchors:
            at = text.find(anchor)
            while at >= 0:
                match = self.pattern.match(text, at)
                if match is not None:
                    found.append(match)
                at = text.find(anchor, at + len(anchor) if match is None else match.end())
        return sorted(found, key=lambda match: match.start()) if len(found) > 1 else found

    def _keep_head(self, match: re.Match[str]) -> str:
        return f"{match['head']}{redaction_mark(self.kind)}"


# A key starts where no ASCII letter, digit or underscore precedes it, or right after an
# escaped line break, as in JSON. `\\b` would let keys pass that follow a letter of any script.
_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_])"


def _bounded(rest: str) -> str:
    return re.sub(r"\\b\Z", lambda _: _END, rest)


def _format_rule(row: SecretFormat) -> SecretRule:
    prefixes = row.prefixes.split()
    start = "" if "/" in row.prefixes else _START
    expression = f"{start}(?:{'|'.join(map(re.escape, prefixes))}){_bounded(row.rest)}"
    longest = max(len(prefix) for prefix in prefixes)
    # A name in kebab or snake case may begin like a key: `sk-icon-button-primary`.
    may_be_a_name = "-]" in row.rest or "_]" in row.rest

    def replace(match: re.Match[str]) -> str | None:
        found = match.group()
        body = found[longest:] if len(found) > longest + 8 else found
        # `sk_test_xxxxxxxxxxxx` stands for a key.
        if len(set(found[-10:])) == 1 or (may_be_a_name and is_made_of_words(body)):
            return None
        return None if _is_inside_base64(match) else redaction_mark(row.kind)

    return SecretRule(row.kind, prefixes, expression, replace, starts_with_anchor=True)


def _is_inside_base64(match: re.Match[str]) -> bool:
    """Whether what looks like a key is a piece of a picture, say."""
    text, start, end = match.string, match.start(), match.end()
    return text[max(start - 1, 0) : start] in {"+", "/"} and text[end : end + 1] in {"+", "/", "="}


KEY_RULES = (
    # The secret that a CSV of AWS has behind the id of its key.
    SecretRule(
        "aws-secret",
        ("AKIA", "ASIA"),
        rf"{_START}(?P<head>(?:AKIA|ASIA)[0-9A-Z]{{16}}[\"']?[,;|\t ]{{1,3}}[\"']?)"
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        starts_with_anchor=True,
    ),
    *map(_format_rule, KEY_FORMATS),
)
BROKEN_PREFIX_RULES = tuple(map(_format_rule, BROKEN_PREFIX_FORMATS))
BASE64_RULES = tuple(map(_format_rule, BASE64_FORMATS))
FORMAT_RULES = (*KEY_RULES, *BROKEN_PREFIX_RULES, *BASE64_RULES)
SHAPE_RULES = (
    SecretRule("telegram-token", (":AA",), rf"{_START}\d{{8,10}}:AA[A-Za-z0-9_-]{{32,34}}{_END}"),
    SecretRule(
        "azure-secret",
        ("Q~",),
        r"(?:(?<![A-Za-z0-9_~.])|(?<=\\[nrt]))[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])",
    ),
    SecretRule(
        "terraform-token",
        (".atlasv1.",),
        rf"{_START}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}}",
    ),
)
# A token of Discord has three parts, of which the middle one has six characters.
DISCORD_RULE = SecretRule(
    "discord-token",
    (".",),
    rf"{_START}[MNO](?=[A-Za-z_-]{{0,26}}\d)[A-Za-z0-9_-]{{22,27}}\.[A-Za-z0-9_-]{{6}}"
    r"\.(?=[A-Za-z_-]{0,36}\d)[A-Za-z0-9_-]{27,40}" + _END,
)
MAILCHIMP_RULE = SecretRule("mailchimp-key", ("-us",), rf"{_START}[0-9a-f]{{32}}-us\d{{1,2}}{_END}")


def _connection(match: re.Match[str]) -> str | None:
    password = match.group("password")
    if is_placeholder(password) and (
        password[0] in "<{$[%*" or password.lower() in {"password", "passwd", "pass", "pwd"}
    ):
        return None
    return f"{match.group('head')}{redaction_mark('password')}@"


def _argument(match: re.Match[str]) -> str | None:
    value = match.group("value").strip("\\\"'")
    if len(value) < 3 or value.startswith(("-", "$")) or is_placeholder(value):
        return None
    return f"{match.group('head')}{redaction_mark('secret')}"


def _option(match: re.Match[str]) -> str | None:
    strong = name_strength(match.group("name")) is NameStrength.STRONG
    is_word = is_location(match.group("value"))
    return _argument(match) if strong and not is_word else None


_LOGIN_COMMAND = re.compile(
    r"\b(?:az|docker|podman|nerdctl|buildah|skopeo|oras|oc|cf|registry)\s{1,9}\Z"
)


def _login(match: re.Match[str]) -> str | None:
    before = match.string[max(match.start() - 20, 0) : match.start()]
    return _argument(match) if _LOGIN_COMMAND.search(before) else None


def _docker_auth(match: re.Match[str]) -> str | None:
    try:
        decoded = base64.b64decode(match.group("value"), validate=True)
    except binascii.Error:
        return None
    if not decoded.isascii() or not decoded.decode("ascii").isprintable():
        return None
    return f"{match.group('head')}{redaction_mark('docker-auth')}"


_SECRET_KIND = re.compile(r"kind\\?[\"']?:\s*\\?[\"']?Secret\b")
_ENCODED_VALUE = re.compile(
    r"(?P<head>[\w.-]+\\?[\"']?:[ ]*\\?[\"']?)[A-Za-z0-9+/]{6,}={0,2}(?![\w+/.:-])"
)
_PLAIN_VALUE = re.compile(r"(?P<head>[\w.-]+\\?[\"']?:[ ]*\\?[\"']?)[^\s\"'\\,|>{}]{3,}")


def _manifest_data(match: re.Match[str]) -> str | None:
    """Redact the values of a Kubernetes secret, whose names may say nothing."""
    text = match.string
    first = text.rfind("\n---", 0, match.start())
    last = text.find("\n---", match.end())
    if not _SECRET_KIND.search(text, max(first, 0), len(text) if last < 0 else last):
        return None
    body = match.group("body")
    mark = redaction_mark("kubernetes-secret")
    values = _PLAIN_VALUE if match["head"].startswith("stringData") else _ENCODED_VALUE
    redacted = values.sub(lambda value: f"{value['head']}{mark}", body)
    return None if redacted == body else f"{match['head']}{redacted}"


def _literal(match: re.Match[str]) -> str | None:
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return _argument(match) if "create secret" in line else None


# The argument of an option: quoted, or up to a blank.
_ARGUMENT = r"(?P<value>\"[^\"\n]+\"|'[^'\n]+'|[^\s\"']+)"
# A blank or a line break, also in JSON.
_GAP = r"(?:\s|\\[nrt]){1,20}"
_BREAK = r"(?:\r?\n|\\n)"

ALWAYS_TRIED: tuple[SecretRule, ...] = (
    SecretRule("stripe-key", ("whsec_",), rf"{_START}whsec_[A-Za-z0-9+/=]{{20,}}"),
    SecretRule(
        "private-key",
        ("-----begin",),
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    SecretRule(
        "private-key",
        ("-----end",),
        r"(?m)(?:^[+-]?[ \t]{0,20}[A-Za-z0-9+/=]{16,}[ \t]*\n){1,200}"
        r"[^\n]{0,20}-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    ),
    SecretRule(
        "password",
        ("://",),
        r"(?P<head>://[^\s:/@'\"<>]*:)(?P<password>[^\s@/'\"]{2,})@",
        _connection,
    ),
    SecretRule(
        "bearer",
        ("bearer",),
        r"(?i)(?P<head>\bbearer\s+)(?=[A-Za-z0-9._~+/=-]*\d)[A-Za-z0-9._~+/=-]{18,}",
    ),
    SecretRule(
        "bearer",
        ("authorization",),
        r"(?i)(?P<head>\bauthorization\\?[\"']?\s*[:=]\s*\\?[\"']?(?:bearer|basic|token)\s+)"
        r"[^\s\"'<>{}$\\]{6,}",
    ),
    SecretRule(
        "cookie", ("cookie",), r"(?i)(?P<head>\b(?:set-)?cookie\s*:\s*)[\w.-]+=[^\r\n'\"]{4,}"
    ),
    SecretRule(
        "secret",
        ("mysql",),
        r"(?P<head>\bmysql(?:dump|admin)?\b[^\n|;]{0,300}?\s-p)(?P<value>[^\s\"'-]{3,})",
        _argument,
    ),
    SecretRule(
        "secret",
        ("curl",),
        r"(?P<head>\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,80}:)"
        r"[^\s\"']{3,}",
    ),
    SecretRule(
        "secret",
        ("login",),
        rf"(?P<head>login[^\n|;]{{1,300}}?\s-p[ =])\\?{_ARGUMENT}",
        _login,
    ),
    SecretRule(
        "secret",
        ("redis-cli",),
        rf"(?P<head>\bredis-cli\b[^\n|;]{{0,200}}?\s-a\s){_ARGUMENT}",
        _argument,
    ),
    SecretRule(
        "docker-auth",
        ("auth",),
        r"(?P<head>auth(?<![A-Za-z0-9]auth)\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?)"
        r"(?P<value>[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/=_.:-])",
        _docker_auth,
    ),
)

_SECRET_MANIFEST = (
    "kind: secret",
    'kind: "secret"',
    'kind":"secret"',
    'kind": "secret"',
    r"kind\": \"secret",
)
NAMED_SECRETS: tuple[SecretRule, ...] = (
    SecretRule(
        "secret",
        ("machine ", "default login "),
        rf"(?P<head>(?:machine{_GAP}[^\s\\]{{1,200}}|default){_GAP}"
        rf"(?:(?:login|account){_GAP}[^\s\\]{{1,200}}{_GAP}){{0,2}}password{_GAP})"
        r"(?P<value>(?:[^\s\\\"'`]|\\(?![nrt\"']))+)",
        _argument,
        starts_with_anchor=True,
    ),
    SecretRule(
        "aws-secret",
        ("access_key", "accesskey"),
        r"(?i)(?P<head>secret_?access_?key\\?[\"']?[\s:=,]{1,4}\\?[\"']?)"
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
    ),
    SecretRule(
        "kubernetes-secret",
        _SECRET_MANIFEST,
        rf"(?P<head>\b(?:data|stringData):[ ]*{_BREAK})"
        rf"(?P<body>(?P<indent>[ ]+)[^\n\\]*(?:{_BREAK}(?P=indent)[^\n\\]*){{0,200}})",
        _manifest_data,
    ),
    SecretRule(
        "kubernetes-secret",
        _SECRET_MANIFEST,
        r"(?P<head>\b(?:data|stringData)\\?\":\s*)(?P<body>\{[^{}]{1,20000}\})",
        _manifest_data,
    ),
    SecretRule(
        "secret",
        ("?", "&"),
        r"(?i)(?P<head>[?&](?:access_token|token|api_?key|password|secret|client_secret)=)"
        r"(?P<value>[^\s&#'\"<>{}$]{4,})",
        _argument,
    ),
    SecretRule("secret", ("sshpass",), rf"(?P<head>\bsshpass\s+-p\s*){_ARGUMENT}", _argument),
    SecretRule(
        "secret",
        ("--",),
        rf"(?P<head>--(?P<name>(?:[a-z]{{1,20}}-){{0,4}}(?:pass(?:word|wd|phrase)?|token|secret|key"
        rf"|credentials?)(?:-[a-z]{{1,20}}){{0,3}})[ =]){_ARGUMENT}",
        _option,
    ),
    SecretRule(
        "secret",
        ("--from-literal",),
        rf"(?P<head>--from-literal[ =][\"']?[\w.-]{{1,80}}=){_ARGUMENT}",
        _literal,
    ),
    SecretRule(
        "secret",
        ("?", "&"),
        r"(?i)(?P<head>[?&](?:access_token|auth|token|api_?key|key|sig(?:nature)?|password"
        r"|secret|client_secret)=)(?=[^\s&#'\"]*\d)[A-Za-z0-9._~%+/=-]{12,}",
    ),
)

_NAME_HINTS = ("pass", "pwd", "secret", "token", "key", "credential", "dsn")
SECRET_NAME_HINTS = (*_NAME_HINTS, "sig=", "auth=")
_ASSIGNED = re.compile(
    r"(?P<name>[\w-]{0,60})(?P<between>\\{0,3}[\"']?\s{0,20}(?::=|=>|=|:)\s{0,20})"
)
_VALUE = re.compile(
    r"(?P<quote>\\{0,3}[\"'`])(?P<quoted>(?:[^\"'`\n\\]|\\+(?![\"'`\\])){6,})|[^\s\"'`,;]{8,}"
)
_ENVIRONMENT_VALUE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|(?:[^\s\"'`;&|\\]|\\(?![nrt\"']))+")
_MAX_NAME = 60
# What may stand before the name of a variable of the environment, as opposed to an argument's.
_BEFORE_VARIABLE = frozenset(" \t\r\n\"'`;&|+-\\")
_ESCAPED_BREAKS = frozenset({"\\n", "\\r", "\\t"})


def find_assigned_secrets(text: str, low: str) -> list[tuple[int, int, str]]:
    """Start, end and kind of values that are assigned to a name that suggests a secret.

    Names are found by the parts that many of them share: a pattern that tries all of them at every
    character took eighty times as long.
    """
    if len(low) != len(text):
        low = "".join(c.lower() if c.isascii() else c for c in text)
    spans: list[tuple[int, int, str]] = []
    for hint in _NAME_HINTS:
        at = low.find(hint)
        while at >= 0:
            next_at = at + len(hint)
            assigned = _ASSIGNED.match(text, next_at)
            if assigned is not None:
                span = _assigned_value(text, _name_start(text, at), assigned)
                if span is not None:
                    spans.append(span)
                    next_at = span[1]
            at = low.find(hint, next_at)
    return spans


def _name_start(text: str, at: int) -> int:
    start = at
    while (
        start > 0
        and at - start < _MAX_NAME
        and (text[start - 1].isalnum() or text[start - 1] in "_-")
    ):
        start -= 1
    if start > 0 and text[start - 1] == "\\" and text[start] in "nrt" and start < at:
        start += 1  # the letter of an escaped line break
    return start


def _may_start_variable(text: str, start: int) -> bool:
    before = text[max(start - 2, 0) : start]
    return not before or before[-1] in _BEFORE_VARIABLE or before in _ESCAPED_BREAKS


def _assigned_value(text: str, start: int, assigned: re.Match[str]) -> tuple[int, int, str] | None:
    name = text[start : assigned.end("name")]
    strength = name_strength(name)
    if strength is NameStrength.NONE:
        return None
    at = assigned.end()
    variable = name.lstrip("+-")
    if (
        assigned["between"] == "="
        and variable == variable.upper()
        and _may_start_variable(text, start)
    ):
        value = _ENVIRONMENT_VALUE.match(text, at)
        secret = value is not None and _is_environment_secret(value.group().strip("\"'"), strength)
        return (at, value.end(), "env") if value is not None and secret else None
    value = _VALUE.match(text, at)
    if value is None or strength is not NameStrength.STRONG or not _is_secret(name, value):
        return None
    return (value.start("quoted") if value["quote"] else value.start(), value.end(), "secret")


def _is_environment_secret(value: str, strength: NameStrength) -> bool:
    if len(value) < 3 or is_placeholder(value) or "(" in value or is_location(value):
        return False
    return strength is NameStrength.STRONG or looks_generated(value)


def _is_secret(name: str, match: re.Match[str]) -> bool:
    quote, value = match["quote"], match["quoted"] or match.group()
    if quote and not match.string.startswith(quote, match.end()):
        return False  # the quote belongs to something else
    low = name.lower()
    if quote and ("pass" in low or "pwd" in low) and " " not in value:
        return not is_placeholder(value) and not is_location(value)
    return not _is_code(value, bool(quote)) and looks_random(value) and not is_location(value)


def _is_code(value: str, quoted: bool) -> bool:
    """Whether it is an expression rather than a literal: a call, an attribute, an index."""
    return not quoted and any(c in value for c in "()[]{}<>.$")


def has_secret_sign(text: str) -> bool:
    """Whether a text has any of the signs without which no rule can match, unless it has a long
    run."""
    return (
        ":" in text
        or "=" in text
        or "--" in text
        or "<" in text
        or "earer" in text
        or "EARER" in text
        or "whsec_" in text
        or "mysql" in text
        or "sshpass" in text
        or "login" in text
        or "passw" in text
        or "redis-cli" in text
        or "access_key" in text
    )
