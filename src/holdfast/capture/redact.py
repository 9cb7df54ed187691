"""Redaction before disk: secrets become typed marks, private passages vanish.

It errs on the side of taking out. What it takes out is counted, never kept; there is no
way back from a mark to the secret.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.capture.key_runs import PRIVATE_KEY_BODY, long_runs, may_contain_key, may_contain_key_body
from holdfast.capture.secrets import (
    ALWAYS_TRIED,
    DOTTED_FORMATS,
    KEY_FORMATS,
    SECRET_NAME_HINTS,
    NAMED_SECRETS,
    SecretRule,
    find_assigned_secrets,
    has_secret_sign,
    redaction_mark,
)

_PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL | re.IGNORECASE)
_ALREADY = "[redacted:"
_SHORT = 200
_REMEMBERED = 5000


class RedactedText(NamedTuple):
    """The text that may rest, and what was taken out of it, by kind."""

    text: str
    taken: dict[str, int]


_NOTHING: dict[str, int] = {}


class _Group:
    """Rules with their anchors laid out for looking up."""

    def __init__(self, rules: Iterable[SecretRule]) -> None:
        pairs = [(anchor, rule) for rule in rules for anchor in rule.anchors]
        self._any_case = [(anchor, rule) for anchor, rule in pairs if anchor == anchor.lower()]
        self._as_is = [(anchor, rule) for anchor, rule in pairs if anchor != anchor.lower()]

    def possible(self, text: str, low: str) -> list[SecretRule]:
        """The rules one of whose anchors occurs."""
        found = [rule for anchor, rule in self._any_case if anchor in low]
        if self._as_is:
            found += [rule for anchor, rule in self._as_is if anchor in text]
        return list(dict.fromkeys(found)) if found else found


_ALWAYS = _Group((SecretRule("private", ("<private>",), _PRIVATE), *ALWAYS_TRIED))
_KEY_FORMATS = _Group(KEY_FORMATS)
_DOTTED_FORMATS = _Group(DOTTED_FORMATS)
_NAMED = _Group(NAMED_SECRETS)


class Redactor:
    """The rules in force: the built-in ones and those of the settings."""

    def __init__(self, extra: Iterable[tuple[str, str]] = ()) -> None:
        self._own = tuple(SecretRule(kind, (), re.compile(pattern)) for kind, pattern in extra)
        self._names: dict[str, str] = {}
        self._clean: set[str] = set()

    def name(self, text: str) -> str:
        """The same for a short name that stands on many lines, such as a branch's."""
        clean = self._names.get(text)
        if clean is None:
            clean = self._names[text] = self.redact(text).text
        return clean

    def redact(self, text: str) -> RedactedText:
        """Take every secret out of a text."""
        # The same short texts come again and again: a file's name, a command, its outcome.
        if len(text) > _SHORT:
            return self._redact(text)
        if text in self._clean:
            return RedactedText(text, _NOTHING)
        redacted = self._redact(text)
        if not redacted.taken:
            if len(self._clean) >= _REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return redacted

    def _redact(self, text: str) -> RedactedText:
        runs = long_runs(text)
        sign = has_secret_sign(text)
        # Half of all texts end here: every rule needs a long run, or one of the signs.
        if not runs.text and not sign and not self._own:
            return RedactedText(text, _NOTHING)
        low = text.lower()
        rules = _ALWAYS.possible(text, low) if sign else []
        named = sign and _speaks_of_secrets(low)
        if named:
            rules += _NAMED.possible(text, low)
        if runs.text:
            if may_contain_key(runs.text):
                rules += _KEY_FORMATS.possible(runs.text, runs.text.lower())
            if runs.dotted:
                rules += _DOTTED_FORMATS.possible(text, low)
            if may_contain_key_body(text):
                rules.append(PRIVATE_KEY_BODY)
        rules += self._own
        if not rules and not named:
            return RedactedText(text, _NOTHING)
        taken: Counter[str] = Counter()
        text = self._apply_all(rules, text, taken)
        if named:
            text = _cut_assignments(text, taken)
        return RedactedText(text, dict(taken) if taken else _NOTHING)

    def _apply_all(self, rules: list[SecretRule], text: str, taken: Counter[str]) -> str:
        for rule in rules:
            text = self._apply(rule, text, taken)
        if taken:
            # A key that stood right behind another has a clear start only now.
            for rule in rules:
                text = self._apply(rule, text, taken)
        return text

    @staticmethod
    def _apply(rule: SecretRule, text: str, taken: Counter[str]) -> str:
        def substitute(match: re.Match[str]) -> str:
            found = match.group()
            if _ALREADY in found and rule.kind != "private":
                return found
            new = redaction_mark(rule.kind) if rule.replace is None else rule.replace(match)
            if new is None:
                return found
            taken[rule.kind] += 1
            return new

        return rule.pattern.sub(substitute, text)


def _speaks_of_secrets(low: str) -> bool:
    for hint in SECRET_NAME_HINTS:  # noqa: SIM110 - a generator expression takes twice as long
        if hint in low:
            return True
    return False


def _cut_assignments(text: str, taken: Counter[str]) -> str:
    """Take the values out from left to right; one that lies in another goes with it."""
    parts: list[str] = []
    done = 0
    for start, stop in sorted(set(find_assigned_secrets(text, text.lower())), key=lambda s: (s[0], -s[1])):
        if start >= done and _ALREADY not in text[start:stop]:
            parts += [text[done:start], redaction_mark("secret")]
            done = stop
            taken["secret"] += 1
    return "".join([*parts, text[done:]]) if parts else text
