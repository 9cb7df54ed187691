"""Where the rule files of a bank are on this machine, without reading them.

A hook waits for this module, so it imports next to nothing.
"""

from __future__ import annotations

import os

from holdfast.sources.rule_locations import MEMORY_FILE, find_rule_files, project_root
from holdfast.store.protocol import Reader

# Latest sessions whose folders are tried when no rules were read before.
_MAX_SESSIONS = 20


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


def memory_file_stamps(reader: Reader, bank: str) -> dict[str, str]:
    """The memory file of a bank's project, and its stamp when it was read: "" where there was none
    to read; {} if the project is not on this machine."""
    read = {seen.file: seen.stamp for seen in reader.rules.files(bank)}
    root = bank_root(reader, bank)
    file = os.path.join(root, MEMORY_FILE)  # noqa: PTH118
    return {file: read.get(file, "")} if root else {}
