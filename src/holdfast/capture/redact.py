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
    may_contain_key,
    may_contain_key_body,
)
from holdfast.capture.secrets import (
    ALWAYS_TRIED,
    DOTTED_FORMATS,
    KEY_FORMATS,
    NAMED_SECRETS,
    SECRET_NAME_HINTS,
    SecretRule,
    find_assigned_secrets,
    has_secret_sign,
    redaction_mark,
)
from holdfast.lazy_named_tuple import NamedTuple

_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_MARK_START = "[redacted:"
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
_KEY_FORMATS = _RuleGroup(KEY_FORMATS)
_DOTTED_FORMATS = _RuleGroup(DOTTED_FORMATS)
_NAMED = _RuleGroup(NAMED_SECRETS)


class Redactor:
    """Applies the built-in rules and those of the settings."""

    def __init__(self, extra: Iterable[tuple[str, str]] = ()) -> None:
        self._extra = tuple(SecretRule(kind, (), re.compile(pattern)) for kind, pattern in extra)
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
            if may_contain_key(runs.text):
                rules += _KEY_FORMATS.possible(runs.text, runs.text.lower())
            if runs.dotted:
                rules += _DOTTED_FORMATS.possible(text, low)
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

    def _apply_all(self, rules: list[SecretRule], text: str, counts: Counter[str]) -> str:
        for rule in rules:
            text = self._apply(rule, text, counts)
        if counts:
            # A key that stood right behind another has a clear start only now.
            for rule in rules:
                text = self._apply(rule, text, counts)
        return text

    @staticmethod
    def _apply(rule: SecretRule, text: str, counts: Counter[str]) -> str:
        def substitute(match: re.Match[str]) -> str:
            found = match.group()
            if _MARK_START in found and rule.kind != "private":
                return found
            new = redaction_mark(rule.kind) if rule.replace is None else rule.replace(match)
            if new is None:
                return found
            counts[rule.kind] += 1
            return new

        return rule.pattern.sub(substitute, text)


def _names_a_secret(low: str) -> bool:
    for hint in SECRET_NAME_HINTS:  # noqa: SIM110 - a generator expression takes twice as long
        if hint in low:
            return True
    return False


def _redact_assignments(text: str, counts: Counter[str]) -> str:
    """Redact assigned values from left to right; one inside another goes with it."""
    parts: list[str] = []
    done = 0
    for start, stop in sorted(
        set(find_assigned_secrets(text, text.lower())), key=lambda s: (s[0], -s[1])
    ):
        if start >= done and _MARK_START not in text[start:stop]:
            parts += [text[done:start], redaction_mark("secret")]
            done = stop
            counts["secret"] += 1
    return "".join([*parts, text[done:]]) if parts else text
