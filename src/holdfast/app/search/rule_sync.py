"""Keeps the stored rules equal to their files: before a query, after ingest, and by the worker."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatch

from holdfast.capture.redact import Redactor
from holdfast.errors import StoreError
from holdfast.model.knowledge import Rule
from holdfast.refine.core.banks import Banks
from holdfast.refine.rules.rule_records import read_rules, rules_are_current, store_rules
from holdfast.refine.rules.rule_roots import bank_root
from holdfast.settings import Settings
from holdfast.sources.rule_locations import RuleLocation, find_rule_files
from holdfast.store.protocol import Reader, Writer


def sync_rules(writer: Writer, settings: Settings, banks: Banks, bank: str, root: str = "") -> bool:
    """Read the rule files of a bank that changed; returns whether any rule changed."""
    root = root or bank_root(writer, bank)
    locations = _rule_files(settings, banks, root)
    if rules_are_current(writer, bank, locations):
        return False
    return store_rules(writer, bank, root, locations, Redactor(settings.redact_patterns))


def sync_rules_if_writable(
    writer: Writer, settings: Settings, banks: Banks, bank: str, root: str
) -> None:
    """As `sync_rules`, before a query: if the store cannot be written now, it is searched as it
    is."""
    with suppress(StoreError):
        sync_rules(writer, settings, banks, bank, root)


def current_rules(reader: Reader, settings: Settings, banks: Banks, bank: str) -> Sequence[Rule]:
    """The rules of a bank as its files have them now. Nothing is stored."""
    root = bank_root(reader, bank)
    locations = _rule_files(settings, banks, root)
    if rules_are_current(reader, bank, locations):
        return reader.rules.all(bank)
    return read_rules(bank, root, locations, Redactor(settings.redact_patterns))[1]


def _rule_files(settings: Settings, banks: Banks, root: str) -> list[RuleLocation]:
    """The rule files of a project, without those that the settings exclude."""
    if root and banks.is_excluded(root):
        return []
    given = [pattern.rstrip("/") for pattern in settings.exclude_paths]
    patterns = [one for pattern in given for one in (pattern, f"{pattern}/*")]
    return [
        found
        for found in find_rule_files(root, str(settings.claude_dir))
        if not any(fnmatch(name, p) for name in (found.path, found.file) for p in patterns)
    ]
