"""Files of rules as records, kept in step with the files.

What a bank's rules are follows from files alone, so nothing here is decided: a section that is
gone from its file is gone from the memory. One checkout's rules hold at a time: those of the
worktree that was last worked in.
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
from holdfast.sources.rule_places import RULES_FOLDER, RuleLocation, find_rule_files, project_root
from holdfast.store.protocol import Reader, Writer
from holdfast.store.protocol.rules import ReadRuleFile

_SESSIONS = 20
_OWN = ("CLAUDE.local.md",)


def is_current(reader: Reader, bank: str, places: Sequence[RuleLocation]) -> bool:
    """Whether the rules of a bank are those of these files, by their stamps."""
    known = {seen.file: seen.stamp for seen in reader.rule_files(bank)}
    return known == {place.file: place.stamp for place in places}


def read_rules(
    writer: Writer, bank: str, root: str, places: Sequence[RuleLocation], redactor: Redactor
) -> bool:
    """Make the rules of a bank those of these files; returns whether any words changed."""
    seen: list[ReadRuleFile] = []
    rules: list[Rule] = []
    for place in places:
        raw = _bytes(place.file)
        if raw is not None:
            digest = hashlib.sha256(raw).hexdigest()[:32]
            seen.append(ReadRuleFile(place.file, root, place.stamp, digest))
            rules += _rules(bank, place, raw, redactor)
    with writer.transaction():
        before = {(r.path, r.heading, r.text, r.paths) for r in writer.rules(bank)}
        writer.put_rules(bank, seen, [(rule, rule_passage(rule)) for rule in rules])
    return before != {(r.path, r.heading, r.text, r.paths) for r in rules}


def _bytes(file: str) -> bytes | None:
    try:
        with Path(file).open("rb") as stream:
            return stream.read(MAX_FILE_BYTES)
    except OSError:
        return None  # gone or locked away since its name was read: looked at again next time


def _rules(bank: str, place: RuleLocation, raw: bytes, redactor: Redactor) -> Iterator[Rule]:
    whole = read_rule_file(raw)
    met: Counter[str] = Counter()
    updated = _time(place.stamp)
    named = place.path.partition("rules/")[2] if "rules/" in place.path else ""
    for section in whole.sections:
        met[section.heading] += 1
        text = redactor.redact(section.text).text
        yield Rule(
            bank,
            content_id("rule", place.path, section.heading, str(met[section.heading])),
            place.path,
            redactor.redact(section.heading).text,
            text,
            Path(named).stem if named else domain_of(f"{section.heading} {text}"),
            whole.paths,
            Trust.USER if place.of_user or place.path in _OWN else Trust.TEAM,
            place.file,
            section.line,
            updated,
        )


def _time(stamp: str) -> str:
    moment = datetime.fromtimestamp(int(stamp.partition("-")[0]) / 1e9, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def root_of(reader: Reader, bank: str) -> str:
    """The folder of a bank's project on this machine: where its rules were last read, or where
    it was last worked in; "" if there is none any more."""
    known = [seen.root for seen in reader.rule_files(bank) if seen.root]
    if known and os.path.isdir(known[0]):  # noqa: PTH112
        return known[0]
    found = reader.bank(bank)
    cwds = [session.cwd for session in reader.sessions(bank, _SESSIONS) if session.cwd]
    kinds = ("folder:", "path:")
    aliases = [a.partition(":")[2] for a in found.aliases if a.startswith(kinds)] if found else []
    folders = [project_root(cwd) for cwd in dict.fromkeys(cwds) if os.path.isdir(cwd)]  # noqa: PTH112
    folders += [folder for folder in aliases if os.path.isdir(folder)]  # noqa: PTH112
    with_rules = [folder for folder in folders if find_rule_files(folder, "")]
    return (with_rules or folders or [""])[0]


def rules_folder(root: str) -> str:
    """Where a project's rules lie."""
    return os.path.join(root, RULES_FOLDER)  # noqa: PTH118
