"""Whether a name suggests that its value is a secret, and whether a value looks like one.

Names are read as whole words: `TESTS_PASSED` and `MONKEY` name no secret, and neither does
`AUTH_TOKEN_URL`, which says where tokens come from.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from enum import Enum


class NameStrength(Enum):
    """How much a name says about its value."""

    NONE = 0
    # `CACHE_KEY`, `tokens`: a secret only if the value looks generated.
    WEAK = 1
    STRONG = 2


# The end of a word tells: `PGPASSWORD`, `authtoken`.
_SECRET_ENDINGS = tuple(
    "password passwd passphrase passcode secret token apikey accesskey secretkey privatekey "
    "authkey encryptionkey signingkey accountkey credential credentials".split()
)
_SECRET_WORDS = frozenset("pwd dsn sshpass dbpass userpass mysqlpwd dbpwd".split())
# `key` and `pass` are secret behind these.
_KEY_OF = frozenset(
    "api access secret private auth encryption signing account master admin session license "
    "service webhook deploy app application hmac aes jwt storage subscription client shared fernet "
    "cipher crypto decryption root".split()
)
_PASS_OF = frozenset(
    "db database smtp mail email user admin root ftp ldap redis mysql postgres pg http https basic "
    "proxy sudo my app api ssh rabbitmq mongo imap pop vpn wifi login".split()
)
_PLURALS = frozenset("passwords passphrases secrets tokens keys apikeys".split())
# A word before that makes a key none.
_OPEN_KEYS = frozenset(
    "public pub publishable primary foreign sort cache partition row column idempotency hot object "
    "press shortcut registry map dict config i18n translation".split()
)
# A word behind it says something about a secret instead.
_ABOUT = frozenset(
    "url uri urls path paths file filename files dir folder name names id ids arn ttl expiry "
    "expires expired expiration expire lifetime age length len size count total limit limits "
    "budget type kind format alg algorithm algorithms endpoint endpoints host port region "
    "version versions enabled disabled required policy header headers prefix suffix field "
    "fields column index issuer audience rotation days seconds secs minutes hours ms min max "
    "rate env source provider providers manager stdin class label placeholder hint regex "
    "pattern method mode scope scopes status state created updated at in changed reset error "
    "errors ref refs project realm server address usage used cost price hashers hasher "
    "validators strength template param parameter input form selector ring board pair words "
    "per bits location schema helper command cmd stage test tests".split()
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@functools.lru_cache(maxsize=4096)
def name_strength(name: str) -> NameStrength:
    """How much a name suggests that its value is a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    last, strength = -1, NameStrength.NONE
    for at, word in enumerate(words):
        found = _word_strength(word, words[:at], words[at + 1 :])
        if found is not NameStrength.NONE:
            last, strength = at, found
    if any(word in _ABOUT for word in words[last + 1 :]):
        return NameStrength.NONE
    return strength


def _word_strength(word: str, before: list[str], after: list[str]) -> NameStrength:
    if word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS):
        return NameStrength.STRONG
    if word in _PLURALS:
        return NameStrength.WEAK
    if word == "key":
        if _OPEN_KEYS.intersection(before):
            return NameStrength.NONE
        return NameStrength.STRONG if _KEY_OF.intersection(before) else NameStrength.WEAK
    if word == "pass":
        of_account = before[-1] in _PASS_OF if before else not after
        return NameStrength.STRONG if of_account else NameStrength.WEAK
    return NameStrength.NONE


# Values that are placeholders for a secret.
_PLACEHOLDER = re.compile(
    r"(?i)^(?:[a-z]{0,6}[-_]?(?:[a-z]{2,5}[-_])?(?:[x*.…0#-]{3,}|x+(?:[-_]x+)+)|<.*>|\{.*\}|\[.*\]"
    r"|\$\{?(?-i:[A-Z_][A-Z0-9_]*)\}?|\$\{.*|\$(?-i:[a-z_]+|[0-9@*]|[A-Z]\w*[.:].*)|\$\(.*|`.*|%.*%"
    r"|(?:your|my|some)[-_ ]?(?:own[-_ ])?(?:api|app|secret|token|key|pass|access|auth|client|db).*"
    r"|change.?me.*|example.*|placeholder.*|dummy.*|fake.*|redacted.*|todo.*|none|null|undefined"
    r"|true|false|string|str|text|int|number|bool|boolean|any|object|bytes|optional|required"
    r"|hidden|pass(?:word|wd)?|pwd|secret|token|key|value|default|empty|process\.env.*"
    r"|os\.environ.*|env\..*|secrets\..*|self\..*|this\..*|config\..*|settings\..*|await|new"
    r"|return)$"
)
_WORDY = re.compile(r"^[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*[-_.:/]?$")
# Parts of a name: words, possibly in camel case, with a short number behind.
_NAME_PART = re.compile(r"(?:(?:[A-Z]?[a-z]{2,20}){0,4}|[A-Z]{1,18}|[a-z])\d{0,4}")
_SEPARATORS = re.compile(r"[-_./:+=~#,@ ]+")
_PATH_OR_ADDRESS = re.compile(r"(?:https?://[^\s@?]+$|(?:~|\.{0,2})/|[A-Za-z]:\\)")


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret that is not written here."""
    return _PLACEHOLDER.match(value) is not None


def is_made_of_words(value: str) -> bool:
    """Whether each part of a value is a word or a short number, as in a name."""
    return all(_NAME_PART.fullmatch(part) for part in _SEPARATORS.split(value))


def is_location(value: str) -> bool:
    """Whether a value is a path or an address of words, which secrets are not."""
    return _PATH_OR_ADDRESS.match(value) is not None and is_made_of_words(value)


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
# A value that is assigned to a name of which many are no secrets has to be this long.
_MIN_GENERATED_CHARACTERS = 16


def looks_random(value: str) -> bool:
    """Whether letters and digits are mixed as in no name or word."""
    if len(value) < _MIN_RANDOM_CHARACTERS or is_placeholder(value) or _WORDY.match(value):
        return False
    has_digit = any(c.isdigit() or c in "!#%&*+?@^~" for c in value)
    has_letter = any(c.isalpha() for c in value)
    mixed = value.lower() != value and value.upper() != value
    if not has_letter or not (has_digit or mixed):
        return False
    return entropy(value) >= (_MIN_ENTROPY_WITH_DIGIT if has_digit else _MIN_ENTROPY_LETTERS)


def looks_generated(value: str) -> bool:
    """Whether a value is random and long, and not made of words."""
    return (
        len(value) >= _MIN_GENERATED_CHARACTERS
        and looks_random(value)
        and not is_made_of_words(value)
        and " " not in value
    )
