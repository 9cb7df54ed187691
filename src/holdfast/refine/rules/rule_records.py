"""Rule files as records, kept in step with the files.

The rules of a bank depend only on files: a section that is gone from its file is gone from the
memory. The rules of one checkout hold at a time, those of the worktree that was last worked in.
"""

from __future__ import annotations

import hashlib
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
from holdfast.sources.rule_locations import RuleLocation
from holdfast.store.knowledge.rules import ReadRuleFile
from holdfast.store.protocol import Reader, Writer

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
