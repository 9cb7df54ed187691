"""Which domain a rule belongs to, by its words. Each domain is a file in the rules folder."""

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
_STEMS = {name: frozenset(map(stem, words.split())) for name, words in _KEYWORDS.items()}
# Forms of keywords that stemming does not reduce to them.
_SYNONYMS = {
    "authentication": "auth", "authenticate": "auth", "authorization": "auth",
    "database": "db", "databases": "db", "configuration": "config", "configure": "config",
    "pytest": "test", "unittest": "test", "logs": "log", "logging": "log", "apis": "endpoint",
    "api": "endpoint", "endpoints": "endpoint",
}  # fmt: skip


def domain_of(text: str) -> str:
    """The domain whose keywords occur most often, of equal ones the first; "general" if none do."""
    stems = [stem(_SYNONYMS.get(word, word)) for word in words(text)]
    counts = {name: sum(s in keywords for s in stems) for name, keywords in _STEMS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else GENERAL
