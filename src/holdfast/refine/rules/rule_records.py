"""Rule files as records, kept in step with the files.

The rules of a bank depend only on files: a section that is gone from its file is gone from the
memory. The rules of one checkout hold at a time, those of the worktree that was last worked in.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from holdfast.capture.redact import Redactor
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Rule
from holdfast.model.trust import Trust
from holdfast.refine.core.passages import rule_passage
from holdfast.refine.rules.domains import domain_of
from holdfast.sources.rule_files import MAX_FILE_BYTES, read_rule_file
from holdfast.sources.rule_locations import (
    MEMORY_FILE,
    RuleLocation,
    find_rule_files,
    project_root,
)
from holdfast.store.knowledge.rules import ReadRuleFile
from holdfast.store.protocol import Reader, Writer

# Latest sessions whose folders are tried when no rules were read before.
_MAX_SESSIONS = 20
# Rule files of the project that only the user sees.
_USER_FILES = ("CLAUDE.local.md",)


def rules_are_current(reader: Reader, bank: str, places: Sequence[RuleLocation]) -> bool:
    """Whether the stored rules are those of these files, by path and modification stamp."""
    known = {seen.file: seen.stamp for seen in reader.rules.files(bank)}
    return known == {place.file: place.stamp for place in places}


def store_rules(
    writer: Writer, bank: str, root: str, places: Sequence[RuleLocation], redactor: Redactor
) -> bool:
    """Replace the rules of a bank by those in these files; returns whether any text changed."""
    seen, rules = read_rules(bank, root, places, redactor)
    with writer.transaction():
        before = {(r.path, r.heading, r.text, r.paths) for r in writer.rules.all(bank)}
        writer.rules.put(bank, seen, [(rule, rule_passage(rule)) for rule in rules])
    return before != {(r.path, r.heading, r.text, r.paths) for r in rules}


def read_rules(
    bank: str, root: str, places: Sequence[RuleLocation], redactor: Redactor
) -> tuple[list[ReadRuleFile], list[Rule]]:
    """The rules in these files, without secrets, and what was read. Nothing is stored."""
    seen: list[ReadRuleFile] = []
    rules: list[Rule] = []
    for place in places:
        raw = _read_file(place.file)
        if raw is not None:
            digest = hashlib.sha256(raw).hexdigest()[:32]
            seen.append(ReadRuleFile(place.file, root, place.stamp, digest))
            rules += _rules(bank, place, raw, redactor)
    return seen, rules


def memory_file_stamps(reader: Reader, bank: str) -> dict[str, str]:
    """The memory file of a bank's project, and its stamp when it was read: "" where there was none
    to read; {} if the project is not on this machine."""
    read = {seen.file: seen.stamp for seen in reader.rules.files(bank)}
    root = bank_root(reader, bank)
    file = os.path.join(root, MEMORY_FILE)  # noqa: PTH118
    return {file: read.get(file, "")} if root else {}


def _read_file(file: str) -> bytes | None:
    try:
        with Path(file).open("rb") as stream:
            return stream.read(MAX_FILE_BYTES)
    except OSError:
        return None  # removed or unreadable since it was listed: tried again next time


def _rules(bank: str, place: RuleLocation, raw: bytes, redactor: Redactor) -> Iterator[Rule]:
    parsed = read_rule_file(raw)
    headings: Counter[str] = Counter()
    updated = _modified(place.stamp)
    name_in_rules_folder = place.path.partition("rules/")[2]
    for section in parsed.sections:
        headings[section.heading] += 1
        text = redactor.redact(section.text).text
        yield Rule(
            bank,
            content_id("rule", place.path, section.heading, str(headings[section.heading])),
            place.path,
            redactor.redact(section.heading).text,
            text,
            Path(name_in_rules_folder).stem
            if name_in_rules_folder
            else domain_of(f"{section.heading} {text}"),
            parsed.paths,
            Trust.USER if place.of_user or place.path in _USER_FILES else Trust.TEAM,
            place.file,
            section.line,
            updated,
        )


def _modified(stamp: str) -> str:
    """The time in a stamp, which starts with the modification time in nanoseconds."""
    time = datetime.fromtimestamp(int(stamp.partition("-")[0]) / 1e9, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bank_root(reader: Reader, bank: str) -> str:
    """The project folder of a bank on this machine: where its rules were last read, or else where
    it was last worked in, folders with rules first; "" if none exists any more."""
    known = [seen.root for seen in reader.rules.files(bank) if seen.root]
    if known and os.path.isdir(known[0]):  # noqa: PTH112
        return known[0]
    found = reader.banks.get(bank)
    cwds = [session.cwd for session in reader.sessions.latest(bank, _MAX_SESSIONS) if session.cwd]
    kinds = ("folder:", "path:")
    aliases = [a.partition(":")[2] for a in found.aliases if a.startswith(kinds)] if found else []
    folders = [project_root(cwd) for cwd in dict.fromkeys(cwds) if os.path.isdir(cwd)]  # noqa: PTH112
    folders += [folder for folder in aliases if os.path.isdir(folder)]  # noqa: PTH112
    with_rules = [folder for folder in folders if find_rule_files(folder, "")]
    return (with_rules or folders or [""])[0]
