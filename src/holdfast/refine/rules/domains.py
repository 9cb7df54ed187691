"""Which domain a rule belongs to, by the words it is put in; each is a file of its own."""

from __future__ import annotations

from holdfast.language import stem, words

GENERAL = "general"
_KEYWORDS = {
    "testing": "test spec mock fixture assert expect",
    "api": "endpoint route handler request response",
    "auth": "auth login session token jwt oauth",
    "database": "db query migration schema model orm",
    "error": "error exception catch throw handle",
    "logging": "log logger debug info warn",
    "config": "config env environment settings",
    "build": "build compile bundle webpack vite",
    "commands": "command cli script npm bun",
}
DOMAINS = (*_KEYWORDS, GENERAL)
_STEMS = {name: frozenset(map(stem, told.split())) for name, told in _KEYWORDS.items()}
# Longer forms that no ending tells.
_ALSO = {
    "authentication": "auth", "authenticate": "auth", "authorization": "auth",
    "database": "db", "databases": "db", "configuration": "config", "configure": "config",
    "pytest": "test", "unittest": "test", "logs": "log", "logging": "log", "apis": "endpoint",
    "api": "endpoint", "endpoints": "endpoint",
}  # fmt: skip


def domain_of(text: str) -> str:
    """The domain most of whose keywords occur; of several the first, "general" where none does."""
    said = [stem(_ALSO.get(word, word)) for word in words(text)]
    counted = {name: sum(word in stems for word in said) for name, stems in _STEMS.items()}
    best = max(counted, key=lambda name: counted[name])
    return best if counted[best] else GENERAL
