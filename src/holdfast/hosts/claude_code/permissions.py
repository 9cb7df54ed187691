"""Adds and removes rules of `permissions.allow` in Claude Code's settings.

A rule names one MCP tool that Claude Code then runs without asking the user. Every function takes
the text of a document and returns it with nothing but our rules changed. A rule that the user wrote
is not ours: it is neither added again nor removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from holdfast.errors import InputError
from holdfast.hosts.claude_code.json_text import Step, find, put, read, remove
from holdfast.hosts.claude_code.plugin_files import NAME, PLUGIN_SERVER
from holdfast.hosts.claude_code.settings_entries import SERVER, prune
from holdfast.sources.json_fields import items, mapping

_PERMISSIONS = "permissions"
_ALLOW: tuple[Step, ...] = (_PERMISSIONS, "allow")


class AddedRules(NamedTuple):
    """The new text of a document, and the rules that were added to it."""

    text: str
    rules: tuple[str, ...]


def tool_rules(tools: Iterable[str], with_plugin: bool) -> list[str]:
    """The rules for tools of our server: under the name it has by itself, or as the plugin's."""
    server = f"plugin_{NAME}_{PLUGIN_SERVER}" if with_plugin else SERVER
    return [f"mcp__{server}__{tool}" for tool in tools]


def tool_of(rule: str) -> str:
    """The tool that a rule is about."""
    return rule.rpartition("__")[2]


def is_allowed(text: str, rule: str) -> bool:
    """Whether a document has a rule in its list of those that allow something."""
    allowed = find(read(text), _ALLOW)
    return rule in items(allowed.value if allowed else None)


def add_rules(text: str, rules: Sequence[str]) -> AddedRules:
    """Allow what no rule of the user decides: neither allowed, nor denied, nor to be asked."""
    _check(text)
    decided = _rules(text)
    new = tuple(rule for rule in rules if decided.isdisjoint(_matching(rule)))
    for rule in new:
        text = put(text, (*_ALLOW, -1), rule)
    return AddedRules(text, new)


def _check(text: str) -> None:
    permissions: object = read(text).value.get(_PERMISSIONS, {})
    if not isinstance(permissions, dict):
        raise InputError(
            'The setting "permissions" is not an object.', "Correct it, then run this again."
        )
    allowed: object = mapping(cast(object, permissions)).get("allow", [])
    if not isinstance(allowed, list):
        raise InputError(
            'The setting "permissions.allow" is not a list.', "Correct it, then run this again."
        )


def _rules(text: str) -> set[str]:
    permissions = mapping(read(text).value.get(_PERMISSIONS))
    lists = (items(permissions.get(name)) for name in ("allow", "deny", "ask"))
    return {str(rule) for listed in lists for rule in listed}


def _matching(rule: str) -> set[str]:
    """The rules that decide about the tool of a rule: its own, and those of its whole server."""
    server = rule.rpartition("__")[0]
    return {rule, server, f"{server}__*"}


def remove_rules(text: str, rules: Iterable[str]) -> str:
    """The document without these rules, and without containers that are empty then."""
    for rule in rules:
        allowed = find(read(text), _ALLOW)
        listed = items(allowed.value if allowed else None)
        if rule in listed:
            last = len(listed) - 1 - listed[::-1].index(rule)
            text = prune(remove(text, (*_ALLOW, last)), _ALLOW)
    return text
