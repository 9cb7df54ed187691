"""The formats of secrets: one rule per kind, with the literals that must be present.

Where none of a rule's `anchors` occurs in a text, its pattern is not tried, and patterns start with
a literal where they can. An anchor in lower case is searched for in any case; one with a capital
letter is case-sensitive. The rules come in groups, so that most texts pass after some twenty
lookups: always tried (`ALWAYS_TRIED`), tried where there is a long unbroken run of characters
(`KEY_FORMATS`, `DOTTED_FORMATS`), and tried where a name suggests a secret (`NAMED_SECRETS`).

To add a rule:

1. Choose the group. Each has a gate, and what does not pass it never reaches the rule:
   - `KEY_FORMATS`, for a key with a prefix of its own: a run of at least 15 letters, digits, `_`
     and `-` that begins with an anchor (`key_runs.may_contain_key` is made from the anchors).
   - `DOTTED_FORMATS`, where a dot, a colon or a slash breaks the prefix: add the prefix to
     `_DOTTED_PREFIXES` in `key_runs`, too.
   - `NAMED_SECRETS`: the text must have a sign (`has_secret_sign`) and a name that is listed in
     `SECRET_NAME_HINTS`. A name whose assigned value is secret (`NAME = "…"`) belongs into
     `_SECRET_NAMES` and needs no rule, only a hint that it contains.
   - `ALWAYS_TRIED`: the text must have a sign. Add one to `has_secret_sign` if the rule can match a
     text without any of them; every text pays for it.
2. Start the pattern with a literal, and give all literals that it can start with as `anchors`.
3. Add an example to `tests/capture/test_redact.py`: to `KEYS` for a key, else to the texts of
   `test_the_value_of_a_named_secret_is_redacted`. Write it in two pieces, so that it does not
   look like a key itself.
4. Name it in the table of `docs/privacy.md`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

from holdfast.lazy_named_tuple import NamedTuple

# The replacement of a match; None leaves it as it is.
Replace = Callable[[re.Match[str]], str | None]


class SecretRule(NamedTuple):
    """One kind of secret. `replace` may inspect the match and decline."""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    replace: Replace | None = None


def redaction_mark(kind: str) -> str:
    """The text that replaces a secret."""
    return f"[redacted:{kind}]"


# A key starts where no ASCII letter, digit or underscore precedes it, or right after an
# escaped line break, as in JSON. `\\b` would let keys pass that follow a letter of any script.
_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
_END = r"(?![A-Za-z0-9_])"


def _key(kind: str, anchors: str, pattern: str) -> SecretRule:
    bounded = re.sub(r"\\b\Z", lambda _: _END, pattern).replace(r"\b", _START, 1)
    return SecretRule(kind, tuple(anchors.split()), re.compile(bounded))


KEY_FORMATS: tuple[SecretRule, ...] = (
    _key("aws-key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    _key("anthropic-key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    _key("openai-key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    _key("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    _key("github-token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    _key("gitlab-token", "glpat- gldt- glrt-", r"\bgl(?:pat|dt|rt)-[A-Za-z0-9_-]{18,}"),
    _key(
        "slack-token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-",
        r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}",
    ),
    _key(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_",
        r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}",
    ),
    _key("google-key", "AIza", r"\bAIza[0-9A-Za-z_-]{30,}"),
    _key("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{30,}"),
    _key("pypi-token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    _key("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    _key("holdfast-key", "hf_", r"\bhf_[0-9a-f]{8}_?[A-Za-z0-9_-]{32,}"),
    _key("twilio-key", "SK AC", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    _key("digitalocean-token", "doo_v1_ dop_v1_ dor_v1_", r"\bdo[opr]_v1_[0-9a-f]{40,}"),
    _key("databricks-token", "dapi", r"\bdapi[0-9a-f]{32}\b"),
    _key("linear-key", "lin_api_", r"\blin_api_[A-Za-z0-9]{30,}"),
    _key("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    _key("age-key", "age-secret-key-", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _key("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}"),
)

# Formats whose anchor is broken by a dot, a colon or a slash.
DOTTED_FORMATS: tuple[SecretRule, ...] = (
    _key(
        "slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/services/\w+/\w+/[A-Za-z0-9]{15,}"
    ),
    _key("google-token", "ya29.", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    _key("sendgrid-key", "SG.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _key("vault-token", "hvs. hvb.", r"\bhv[sb]\.[A-Za-z0-9_-]{20,}"),
    _key("telegram-token", ":AA", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,34}\b"),
)

_SECRET_NAMES = tuple(
    "password passwd passphrase passcode pwd secret token apikey api_key api-key accesskey "
    "access_key access-key private_key privatekey auth_key authkey encryption_key "
    "encryptionkey signing_key signingkey account_key accountkey credential".split()
)

# Values that are placeholders for a secret.
_PLACEHOLDER = re.compile(
    r"(?i)^(?:x{3,}|\*{3,}|\.{3,}|<.*>|\{.*\}|\[.*\]|\$\{?(?-i:[A-Z_][A-Z0-9_]*)\}?|\$\(.*|%.*%"
    r"|(?:your|my|some)[-_ ]?(?:own[-_ ])?(?:api|app|secret|token|key|pass|access|auth|client|db).*"
    r"|change.?me.*|example.*|placeholder.*|dummy.*|fake.*|redacted.*|todo.*|none|null|undefined"
    r"|true|false|string|str|text|int|number|bool|boolean|any|object|bytes|optional|required"
    r"|hidden|pass(?:word|wd)?|pwd|secret|token|key|value|default|empty|process\.env.*"
    r"|os\.environ.*|env\..*|secrets\..*|self\..*|this\..*|config\..*|settings\..*|await|new"
    r"|return)$"
)
_WORDY = re.compile(r"^[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*[-_.:/]?$")


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


# Bits a character from which a value counts as random. With a digit or a symbol in it, words are
# already unlikely; without one, names in camel case must pass. Lower values redact more.
_MIN_ENTROPY_WITH_DIGIT = 2.8
_MIN_ENTROPY_LETTERS = 3.6
# Shorter values are rarely secrets worth the damage that redacting ordinary words does.
_MIN_RANDOM_CHARACTERS = 8


def _looks_random(value: str) -> bool:
    """Whether letters and digits are mixed as in no name or word."""
    if len(value) < _MIN_RANDOM_CHARACTERS or _PLACEHOLDER.match(value) or _WORDY.match(value):
        return False
    has_digit = any(c.isdigit() or c in "!#%&*+?@^~" for c in value)
    has_letter = any(c.isalpha() for c in value)
    mixed = value.lower() != value and value.upper() != value
    if not has_letter or not (has_digit or mixed):
        return False
    return entropy(value) >= (_MIN_ENTROPY_WITH_DIGIT if has_digit else _MIN_ENTROPY_LETTERS)


def _is_secret(name: str, match: re.Match[str]) -> bool:
    value, quoted = match["value"], bool(match["quote"])
    after = match.string[match.end() : match.end() + 1]
    if quoted and len(value) < 400 and after != match["quote"]:
        return False  # the quote belongs to something else
    if quoted and ("pass" in name or "pwd" in name) and " " not in value:
        return not _PLACEHOLDER.match(value)
    return not _is_code(value, quoted) and _looks_random(value)


def _is_code(value: str, quoted: bool) -> bool:
    """Whether it is an expression rather than a literal: a call, an attribute, an index."""
    return not quoted and any(c in value for c in "()[]{}<>.$")


def _env(match: re.Match[str]) -> str | None:
    value = match.group("value").strip("\"'")
    if len(value) < 3 or _PLACEHOLDER.match(value) or "(" in value:
        return None
    return f"{match.group('name')}{redaction_mark('env')}"


def _connection(match: re.Match[str]) -> str | None:
    password = match.group("password")
    if _PLACEHOLDER.match(password) and password[0] in "<{$[%*":
        return None
    return f"{match.group('head')}{redaction_mark('password')}@"


def _flag(match: re.Match[str]) -> str | None:
    value = match.group("value").strip("\"'")
    if len(value) < 4 or value.startswith(("-", "$")) or _PLACEHOLDER.match(value):
        return None
    return f"{match.group('head')}{redaction_mark('secret')}"


def _rule(kind: str, anchors: str, pattern: str, replace: Replace | None = None) -> SecretRule:
    """A rule that replaces what it matches, but for the group `head`; or as `replace` says."""
    compiled = re.compile(pattern)

    def keep_head(match: re.Match[str]) -> str:
        return f"{match['head']}{redaction_mark(kind)}"

    if replace is None and "head" in compiled.groupindex:
        replace = keep_head
    return SecretRule(kind, tuple(anchors.split()), compiled, replace)


ALWAYS_TRIED: tuple[SecretRule, ...] = (
    _key("stripe-key", "whsec_", r"\bwhsec_[A-Za-z0-9+/=]{20,}"),
    _rule(
        "private-key",
        "-----begin",
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    _rule(
        "private-key",
        "-----end",
        r"(?m)(?:^[+-]?[ \t]{0,20}[A-Za-z0-9+/=]{16,}[ \t]*\n){1,200}"
        r"[^\n]{0,20}-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    ),
    _rule(
        "password", "://", r"(?P<head>://[^\s:/@'\"<>]*:)(?P<password>[^\s@/'\"]{2,})@", _connection
    ),
    _rule(
        "bearer",
        "bearer",
        r"(?i)(?P<head>\bbearer\s+)(?=[A-Za-z0-9._~+/=-]*\d)[A-Za-z0-9._~+/=-]{18,}",
    ),
    _rule(
        "bearer",
        "authorization",
        r"(?i)(?P<head>\bauthorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)"
        r"[^\s\"'<>{}$]{6,}",
    ),
    _rule("cookie", "cookie", r"(?i)(?P<head>\b(?:set-)?cookie\s*:\s*)[\w.-]+=[^\r\n'\"]{4,}"),
    _rule(
        "secret",
        "mysql",
        r"(?P<head>\bmysql(?:dump|admin)?\b[^\n|;]{0,300}?\s-p)(?P<value>[^\s\"'-]{3,})",
        _flag,
    ),
    _rule(
        "secret",
        "curl",
        r"(?P<head>\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,80}:)"
        r"[^\s\"']{3,}",
    ),
)

NAMED_SECRETS: tuple[SecretRule, ...] = (
    _rule(
        "secret",
        "? &",
        r"(?i)(?P<head>[?&](?:access_token|token|api_?key|password|secret|client_secret)=)"
        r"(?P<value>[^\s&#'\"<>{}$]{4,})",
        _flag,
    ),
    _rule(
        "secret",
        "sshpass",
        r"(?P<head>\bsshpass\s+-p\s*)(?P<value>\"[^\"\n]+\"|'[^'\n]+'|[^\s\"']+)",
        _flag,
    ),
    _rule(
        "secret",
        "--",
        r"(?P<head>--(?:password|passwd|token|secret|api-key|access-token|client-secret)[ =])"
        r"(?P<value>\"[^\"\n]+\"|'[^'\n]+'|[^\s\"']+)",
        _flag,
    ),
    _rule(
        "secret",
        "? &",
        r"(?i)(?P<head>[?&](?:access_token|auth|token|api_?key|key|sig(?:nature)?|password"
        r"|secret|client_secret)=)(?=[^\s&#'\"]*\d)[A-Za-z0-9._~%+/=-]{12,}",
    ),
    _rule(
        "env",
        "KEY= TOKEN= SECRET= PASS PWD= CREDENTIAL DSN= KEY_ TOKEN_ SECRET_",
        r"(?m)(?P<name>^[ \t]{0,40}[+-]?[ \t]{0,40}(?:export |set |ENV )?[A-Z0-9_]{0,60}"
        r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|DSN)[A-Z0-9_]{0,60}=)"
        r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s#;&|]+)",
        _env,
    ),
)

_VALUE = re.compile(
    r"(?P<name>[\w-]{0,60})(?P<between>[\"']?\s{0,20}(?::=|=>|=|:)\s{0,20})"
    r"(?P<quote>[\"'`]?)(?P<value>(?<=[\"'`])[^\"'`\n]{6,400}|[^\s\"'`,;]{8,400})"
)


_REST = re.compile(r"[^\s\"'`,;]*")
_QUOTED_REST = re.compile(r"[^\"'`\n]*")


def find_assigned_secrets(text: str, low: str) -> list[tuple[int, int]]:
    """The spans of values that are assigned to a name that suggests a secret: `api_key = "…"`.

    Names are found by the parts that many of them share: a pattern that tries two dozen of them at
    every character took eighty times as long.
    """
    if len(low) != len(text):
        low = "".join(c.lower() if c.isascii() else c for c in text)
    spans: list[tuple[int, int]] = []
    for hint, names in _NAMES_BY_HINT:
        at = low.find(hint)
        while at >= 0:
            next_at = at + len(hint)
            for lead, name in names:
                if low.startswith(name, at - lead) and at >= lead:
                    stop = _value_after(text, low, at - lead, len(name), spans)
                    next_at = max(next_at, stop)
            at = low.find(hint, next_at)
    return spans


def _value_after(text: str, low: str, at: int, length: int, spans: list[tuple[int, int]]) -> int:
    """Append the span of the secret that is assigned to the name at `at`; returns its end."""
    match = _VALUE.match(text, at + length)
    if match is None or not _is_secret(low[at : match.end("name")], match):
        return 0
    rest = (_QUOTED_REST if match["quote"] else _REST).match(text, match.end("value"))
    stop = rest.end() if rest else match.end("value")
    spans.append((match.start("value"), stop))
    return stop


SECRET_NAME_HINTS = ("pass", "pwd", "secret", "token", "key", "credential", "dsn", "sig=", "auth=")
# For each hint, the names that contain it, and its offset in each.
_NAMES_BY_HINT = [
    (hint, [(name.index(hint), name) for name in _SECRET_NAMES if hint in name])
    for hint in SECRET_NAME_HINTS
    if any(hint in name for name in _SECRET_NAMES)
]


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
    )
