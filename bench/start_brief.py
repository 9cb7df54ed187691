"""What the brief at the start of a session tells of what it should: labelled sessions of projects,
a bank for each, the last ten of each project.

*Told* is the share of items of weight 3, without which the next session would go wrong, that a line
of the brief says; *known* the share that any distilled record says; *precision* the share of lines
that say any labelled item. Two texts say the same at the cosine of `holdfast eval`. A brief has
fewer lines than a project has items of weight 1 and 2, and some sessions were labelled in part, so
a line without an item is not therefore useless.

*Useful* and *harmful* are shares of the statements told that readers had judged: in
`data/judged_statements` is, for the hash of a project and a statement, whether it helps or misleads
whoever begins a session after the last one, whether it is understood alone, and whether it is still
true (`RESULTS.md`, 2026-11-18). Statements that are distilled otherwise since are not judged.

Wants `knowledge/train.tar.xz` in $HOLDFAST_BENCH_DATA. The scores by which statements are ranked
were trained on these labels, too: on other projects less is told. The transcripts have no calls of
tools but edits and errors, so more counts as mere talk than in real sessions.

`python -m bench.start_brief` takes some minutes of processor time, most of them to read the
sessions; with `--tokens 1000 2000` it compares sizes. The first, third, … project by name are for
tuning, the others are held back; both halves are reported.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import tempfile
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.support.transcripts import Script

from bench.corpus import data_folder, unpacked
from bench.knowledge import ALIKE, NEEDED, LabelledItem, read_labels, session_name
from holdfast.app.evaluation.sets import LABELS
from holdfast.app.memory import Holdfast
from holdfast.brief.session_brief import session_brief
from holdfast.inference.encoder import packaged_encoder
from holdfast.model.bank import Bank
from holdfast.model.uris import uri
from holdfast.recall.ranking.hits import estimate_tokens
from holdfast.settings import BriefSettings, Settings

ARCHIVE = "knowledge/train.tar.xz"
# A project with fewer sessions has no history, and of the others the last ones count.
MIN_SESSIONS, MAX_SESSIONS = 3, 10
AIM = 0.7
_SESSIONS = "sessions.jsonl"
_JUDGED = Path(__file__).with_name("data") / "judged_statements" / "verdicts.txt"
_KEY_CHARACTERS = 12
_QUOTED = re.compile(r"“([^”]*)”")
_ID = re.compile(r"\(\w+/[0-9a-f]{8}\)")
# Lines of a brief that say something.
_STARTS = ("- ", "  done: ", "  found: ", "  still open: ")

Json = dict[str, Any]


class Told(NamedTuple):
    """What one brief told: items of weight 3, how many of them a line and how many a record says;
    lines, how many of them say any item; tokens; statements that were judged, how many of them are
    useful and how many harmful."""

    items: int
    told: int
    known: int
    lines: int
    right: int
    tokens: int
    judged: int
    useful: int
    harmful: int


def run(tokens: Sequence[int] = (BriefSettings().tokens,)) -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    with unpacked(ARCHIVE) as folder, tempfile.TemporaryDirectory() as place:
        if folder is None:
            yield f"start_brief: skipped, {ARCHIVE} is not in {data_folder()}"
            return
        transcripts = Path(place) / "projects"
        names = write_transcripts(folder / _SESSIONS, transcripts)
        items = defaultdict[str, list[LabelledItem]](list)
        for item in read_labels(folder / LABELS).items:
            if item.session in names:
                items[names[item.session]].append(item)
        settings = Settings(home=Path(place) / "home", claude_dir=transcripts)
        with Holdfast(settings) as memory:
            memory.ingest(memory.ingestion.find([transcripts]))
            memory.ingestion.update()
            for size in tokens:
                banks = sorted(memory.reader.banks.all(), key=lambda bank: bank.name)
                found = [measure(memory, bank, items[bank.name], size) for bank in banks]
                yield _line(size, "all", found)
                yield _line(size, "tuning", found[::2])
                yield _line(size, "held back", found[1::2])


def write_transcripts(sessions: Path, folder: Path) -> dict[str, str]:
    """Write the last sessions of each project as transcripts; returns the names of their banks, by
    session."""
    by_project = defaultdict[str, list[Json]](list)
    for line in sessions.read_text("utf-8").splitlines():
        session: Json = json.loads(line)
        by_project[session["repo"]].append(session)
    names: dict[str, str] = {}
    for project, found in by_project.items():
        found.sort(key=lambda one: (_time(one["created"]), one["session"]))
        for session in found[-MAX_SESSIONS:] if len(found) >= MIN_SESSIONS else ():
            names[session_name(session["session"])] = project.replace("/", "_")
            _write(session, project.replace("/", "_"), folder)
    return names


def _write(session: Json, bank: str, folder: Path) -> None:
    id = str(uuid.uuid5(uuid.NAMESPACE_URL, session["session"]))
    script = Script(id, f"/home/dev/{bank}", start=_time(session["events"][0]["time"]))
    for event in session["events"]:
        text = event["text"]
        match event["role"]:
            case "user":
                script.user(text)
            case "assistant":
                script.assistant(text)
            case "edit":
                script.tool("Edit", "ok", file_path=text, old_string="a", new_string="b")
            case _:
                script.tool("Bash", text, error=True, command="make")
    script.write(folder)


def _time(text: str) -> datetime:
    day, _, clock = text.partition("T")
    return datetime.fromisoformat(f"{day}T{clock[:8] or '09:00:00'}+00:00")


def measure(memory: Holdfast, bank: Bank, items: Sequence[LabelledItem], tokens: int) -> Told:
    """Compare the brief of a bank with the items of its sessions."""
    brief = session_brief(memory.reader, bank.id, tokens, memory.settings.brief.exchanges)
    text = brief.text
    verdicts = Counter(_verdicts_on(memory, bank, brief.records))
    lines = [said_in(line) for line in text.splitlines() if line.startswith(_STARTS)]
    records = [one.what for one in memory.reader.memories.retained(bank.id, limit=100_000)]
    encoder = packaged_encoder(os.cpu_count() or 1)
    wanted = encoder.embed([item.text for item in items])
    needed = [number for number, item in enumerate(items) if item.weight == NEEDED]
    said = wanted @ encoder.embed([part for line in lines for part in line]).T >= ALIKE
    known = wanted @ encoder.embed(records).T >= ALIKE
    ends = np.cumsum([len(line) for line in lines])
    right = [
        bool(said[:, end - len(line) : end].any()) for line, end in zip(lines, ends, strict=True)
    ]
    return Told(
        len(needed),
        int(said[needed].any(1).sum()),
        int(known[needed].any(1).sum()),
        len(lines),
        sum(right),
        estimate_tokens(text),
        verdicts.total(),
        verdicts["useful"],
        verdicts["harmful"],
    )


def _verdicts_on(memory: Holdfast, bank: Bank, told: Sequence[str]) -> Iterator[str]:
    """What readers said of the statements among records, as far as they judged them."""
    known = dict(line.split()[:2] for line in _JUDGED.read_text("utf-8").splitlines())
    for one in memory.reader.memories.retained(bank.id, limit=100_000):
        key = hashlib.sha256(f"{bank.name}\n{one.what}".encode()).hexdigest()[:_KEY_CHARACTERS]
        if key in known and uri("memory", one.id) in told:
            yield known[key]


def said_in(line: str) -> list[str]:
    """What a line of a brief says: its quotes, or all of it."""
    return _QUOTED.findall(line) or [_ID.sub("", line).strip("- ")]


def _line(size: int, half: str, of_banks: Sequence[Told]) -> str:
    found, banks = Told(*map(sum, zip(*of_banks, strict=True))), len(of_banks)
    return (
        f"start_brief: {half}: {banks} projects, at most {size} tokens: told "
        f"{found.told / found.items:.2f} of {found.items} items of weight 3 (aim {AIM}), known "
        f"{found.known / found.items:.2f}; precision {found.right / found.lines:.2f} of "
        f"{found.lines / banks:.0f} lines, {found.tokens / banks:.0f} tokens; of {found.judged} "
        f"judged statements useful {found.useful / max(1, found.judged):.2f}, harmful "
        f"{found.harmful / max(1, found.judged):.2f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure what the start brief tells.")
    parser.add_argument("--tokens", type=int, nargs="+", default=[BriefSettings().tokens])
    for line in run(parser.parse_args().tokens):
        print(line, flush=True)
