"""Bringing rules in step with their files: before a question, after reading, behind the scenes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatch

from holdfast.capture.redact import Redactor
from holdfast.errors import StoreError
from holdfast.refine.core.banks import Banks
from holdfast.refine.rules.rule_records import bank_root, rules_are_current, store_rules
from holdfast.settings import Settings
from holdfast.sources.rule_locations import RuleLocation, find_rule_files
from holdfast.store.protocol import Writer


def rule_files_for(settings: Settings, banks: Banks, root: str) -> list[RuleLocation]:
    """The files of rules that hold in a project; none of one that the settings keep out."""
    if root and banks.is_excluded(root):
        return []
    found = find_rule_files(root, str(settings.claude_dir))
    return [place for place in found if not _excluded(place, settings.exclude_paths)]


def _excluded(place: RuleLocation, patterns: Sequence[str]) -> bool:
    """Whether the settings keep a file out of memory."""
    wanted = [p for given in patterns for p in (given.rstrip("/"), given.rstrip("/") + "/*")]
    return any(fnmatch(name, p) for name in (place.path, place.file) for p in wanted)


def sync_rules(
    writer: Writer, settings: Settings, banks: Banks, bank: str, root: str = ""
) -> bool:
    """Make the rules of a bank those of its files now; returns whether any words changed."""
    root = root or bank_root(writer, bank)
    places = rule_files_for(settings, banks, root)
    if rules_are_current(writer, bank, places):
        return False
    return store_rules(writer, bank, root, places, Redactor(settings.redact_patterns))


def sync_rules_if_writable(
    writer: Writer, settings: Settings, banks: Banks, bank: str, root: str
) -> None:
    """The same before a question: a memory that cannot be written now is asked as it is."""
    with suppress(StoreError):
        sync_rules(writer, settings, banks, bank, root)
