"""Redaction: secrets become typed marks, private passages are removed.

In doubt it redacts. What it removes is counted and never kept; a mark does not lead back to the
secret.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from holdfast.capture.key_runs import (
    PRIVATE_KEY_BODY,
    long_runs,
    may_contain_key_body,
    possible_key_rules,
)
from holdfast.capture.secrets import (
    ALWAYS_TRIED,
    BASE64_RULES,
    BROKEN_PREFIX_RULES,
    DISCORD_RULE,
    MARK_START,
    NAMED_SECRETS,
    SECRET_NAME_HINTS,
    SHAPE_RULES,
    SecretRule,
    find_assigned_secrets,
    has_secret_sign,
    redaction_mark,
)
from holdfast.lazy_named_tuple import NamedTuple

_PRIVATE = r"(?is)<private>.*?(?:</private>|\Z)"
# Texts up to this length are remembered once they were found clean: names, commands and outcomes
# repeat, and longer texts rarely do.
_MAX_CACHED_CHARACTERS = 200
# How many of them; at the limit the cache starts again, which keeps it below a few megabytes.
_MAX_CACHED_TEXTS = 5000


class RedactedText(NamedTuple):
    """The text that may be stored, and how much was redacted, by kind."""

    text: str
    counts: dict[str, int]


_NOTHING: dict[str, int] = {}


class _RuleGroup:
    """Rules with their anchors, arranged for lookup."""

    def __init__(self, rules: Iterable[SecretRule]) -> None:
        pairs = [(anchor, rule) for rule in rules for anchor in rule.anchors]
        self._any_case = [(anchor, rule) for anchor, rule in pairs if anchor == anchor.lower()]
        self._as_is = [(anchor, rule) for anchor, rule in pairs if anchor != anchor.lower()]

    def possible(self, text: str, low: str) -> list[SecretRule]:
        """The rules with an anchor that occurs in the text."""
        found = [rule for anchor, rule in self._any_case if anchor in low]
        if self._as_is:
            found += [rule for anchor, rule in self._as_is if anchor in text]
        return list(dict.fromkeys(found)) if found else found


_ALWAYS = _RuleGroup((SecretRule("private", ("<private>",), _PRIVATE), *ALWAYS_TRIED))
_BROKEN_PREFIXES = _RuleGroup((*BROKEN_PREFIX_RULES, *SHAPE_RULES))
_BASE64 = _RuleGroup(BASE64_RULES)
_NAMED = _RuleGroup(NAMED_SECRETS)


class Redactor:
    """Applies the built-in rules and those of the settings."""

    def __init__(self, extra: Iterable[tuple[str, str]] = ()) -> None:
        self._extra = tuple(SecretRule(kind, (), pattern) for kind, pattern in extra)
        for rule in self._extra:
            re.compile(rule.expression)
        self._names: dict[str, str] = {}
        self._clean: set[str] = set()

    def redact_name(self, text: str) -> str:
        """Redact a short name that occurs on many lines, such as a branch; results are cached."""
        clean = self._names.get(text)
        if clean is None:
            clean = self._names[text] = self.redact(text).text
        return clean

    def redact(self, text: str) -> RedactedText:
        """Redact every secret in a text."""
        # The same short texts come again and again: a file's name, a command, its outcome.
        if len(text) > _MAX_CACHED_CHARACTERS:
            return self._redact(text)
        if text in self._clean:
            return RedactedText(text, _NOTHING)
        redacted = self._redact(text)
        if not redacted.counts:
            if len(self._clean) >= _MAX_CACHED_TEXTS:
                self._clean.clear()
            self._clean.add(text)
        return redacted

    def _redact(self, text: str) -> RedactedText:
        runs = long_runs(text)
        sign = has_secret_sign(text)
        # Half of all texts end here: every rule needs a long run, or one of the signs.
        if not runs.text and not sign and not self._extra:
            return RedactedText(text, _NOTHING)
        low = text.lower()
        rules = _ALWAYS.possible(text, low) if sign else []
        named = sign and _names_a_secret(low)
        if named:
            rules += _NAMED.possible(text, low)
        if runs.text:
            rules += possible_key_rules(runs.text)
            rules += _BASE64.possible(text, low)
            if runs.broken:
                rules += _BROKEN_PREFIXES.possible(text, low)
            if runs.three_parts:
                rules.append(DISCORD_RULE)
            if may_contain_key_body(text):
                rules.append(PRIVATE_KEY_BODY)
        rules += self._extra
        if not rules and not named:
            return RedactedText(text, _NOTHING)
        counts: Counter[str] = Counter()
        text = self._apply_all(rules, text, counts)
        if named:
            text = _redact_assignments(text, counts)
        return RedactedText(text, dict(counts) if counts else _NOTHING)

    @staticmethod
    def _apply_all(rules: list[SecretRule], text: str, counts: Counter[str]) -> str:
        for rule in rules:
            text = rule.apply(text, counts)
        if counts:
            # A key that stood right behind another has a clear start only now.
            for rule in dict.fromkeys([*rules, *possible_key_rules(long_runs(text).text)]):
                text = rule.apply(text, counts)
        return text


def _names_a_secret(low: str) -> bool:
    for hint in SECRET_NAME_HINTS:  # noqa: SIM110 - a generator expression takes twice as long
        if hint in low:
            return True
    return False


def _redact_assignments(text: str, counts: Counter[str]) -> str:
    """Redact assigned values from left to right; one inside another goes with it."""
    parts: list[str] = []
    done = 0
    for start, stop, kind in sorted(
        set(find_assigned_secrets(text, text.lower())), key=lambda span: (span[0], -span[1])
    ):
        if start >= done and MARK_START not in text[start:stop]:
            parts += [text[done:start], redaction_mark(kind)]
            done = stop
            counts[kind] += 1
    return "".join([*parts, text[done:]]) if parts else text
