"""Whether a question that names an identifier finds a record that holds it.

Real sessions are read, one bank for each project or agent. From the turns of every bank identifiers
are drawn by `_KINDS`, seeded, the same number from each kind and bank as far as there are so many:
a hundred in each half of the banks. Each is asked for in the `FORMS`. Found means that the text of
one of the first three records contains the identifier as it was written. The banks at even places
of the sorted list are for tuning; the others are only asked to report
(`python -m bench.identifiers held_back`).
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bench.corpus import data_folder, unpacked
from holdfast.app.memory import Holdfast
from holdfast.model.query import Hit
from holdfast.model.uris import parse_uri
from holdfast.settings import NO_MODEL, load_settings

SEED = 20261117
DRAWN = 100
FIRST = 3
HALVES = ("tuning", "held_back")
FORMS = ("What is {}?", "Where do we use {}?", "Why did we change {}?", "{}")
# Archives with the projects of one agent in folders, and those that make one bank as a whole.
_ARCHIVES_OF_BANKS = ("eval/archaeology.tar.xz",)
_ARCHIVES = (
    "transcripts/claude-code-versions.tar.xz",
    "transcripts/codex-copilot.tar.xz",
    "transcripts/opencode.tar.xz",
)
_KINDS = {
    "snake_case": r"\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b",
    "camelCase": r"\b(?:[a-z][a-z0-9]+|[A-Z][a-z0-9]+)(?:[A-Z][a-z0-9]+)+\b(?:\(\))?",
    "kebab-case": r"(?<![\w/.-])[a-z][a-z0-9]+(?:-[a-z0-9]+){2,}(?![\w/.-])",
    "path": r"(?<![\w/.-])[\w.-]+(?:/[\w.-]+)+\.[a-z]{1,5}\b(?![/\w])",
    "flag": r"(?<!\S)--[a-z][a-z0-9]+(?:-[a-z0-9]+)*\b",
    "version": r"(?<![\w.-])v?\d+\.\d+\.\d+\b(?![\w.-])",
    "key or code": r"(?<![\w/.-])(?:[A-Z]{2,10}-\d{1,5}|[A-Z]{1,4}\d{3,5}|E[A-Z]{4,9})\b(?![\w-])",
    "hash": r"(?<![\w/.-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b(?![\w-])",
}
_MAX_LENGTH = 80
_ALL = 1_000_000


class Identifier(NamedTuple):
    """A name, its kind, and the bank whose turns have it."""

    bank: str
    kind: str
    name: str


class Asked(NamedTuple):
    """A question for an identifier, and whether one of the first records holds it."""

    identifier: Identifier
    form: str
    found: bool
    abstained: bool


def draw(texts: Mapping[str, Sequence[str]], count: int = DRAWN) -> list[Identifier]:
    """Identifiers from the texts of each bank, in turn from each kind and bank."""
    chance = random.Random(SEED)
    heaps: list[list[Identifier]] = []
    for bank in sorted(texts):
        for kind, pattern in _KINDS.items():
            compiled = re.compile(pattern)
            names = {name for text in texts[bank] for name in compiled.findall(text)}
            some = sorted(name for name in names if len(name) <= _MAX_LENGTH)
            chance.shuffle(some)
            heaps.append([Identifier(bank, kind, name) for name in some])
    drawn: list[Identifier] = []
    while len(drawn) < count and any(heaps):
        drawn += [heap.pop() for heap in heaps if heap]
    return drawn[:count]


def read_banks(memory: Holdfast, stack: ExitStack) -> list[str]:
    """Read every archive that is at hand; returns the names of the banks."""
    folders: dict[str, Path] = {}
    for archive in (*_ARCHIVES_OF_BANKS, *_ARCHIVES):
        folder = stack.enter_context(unpacked(archive))
        if folder is None:
            continue
        if archive in _ARCHIVES:
            folders[Path(archive).name.partition(".")[0]] = folder
        else:
            folders |= {place.name: place for place in (folder / "transcripts").iterdir()}
    known = {bank.name for bank in memory.reader.banks.all()}
    for bank, folder in sorted(folders.items()):
        if bank not in known:
            memory.ingest(memory.ingestion.find([folder], bank))
    return sorted(folders)


def turn_texts(memory: Holdfast, bank: str) -> list[str]:
    """The texts of a bank's turns."""
    id = memory.context.bank_id(bank)
    return [passage.body for passage in memory.reader.passages.recent(id, "turn", _ALL)]


def holds(memory: Holdfast, hit: Hit, name: str) -> bool:
    """Whether the record of a hit contains a name."""
    named = parse_uri(hit.uri)
    kept = memory.reader.passages.of_records(hit.bank, hit.kind, [named.id]) if named else []
    return any(name in text for text in (hit.text, *(passage.body for passage in kept)))


def ask(memory: Holdfast, identifier: Identifier, form: str) -> Asked:
    """Ask for an identifier in one form."""
    result = memory.recall(form.format(identifier.name), identifier.bank, limit=FIRST)
    found = any(holds(memory, hit, identifier.name) for hit in result.hits[:FIRST])
    return Asked(identifier, form, found, result.abstained)


def lines(what: str, asked: Sequence[Asked]) -> Iterator[str]:
    """The lines of a report."""

    def share(some: Sequence[Asked]) -> str:
        return f"{sum(one.found for one in some) / max(1, len(some)):.3f}"

    identifiers = {one.identifier for one in asked}
    always = Counter(one.identifier for one in asked if one.found)
    whole = sum(always[name] == len(FORMS) for name in identifiers) / max(1, len(identifiers))
    silent = sum(one.abstained for one in asked)
    yield (
        f"identifiers: {what}: {len(identifiers)} identifiers, {len(asked)} questions: a record "
        f"that holds it is in the first {FIRST} for {share(asked)}; in every form for {whole:.3f}; "
        f"abstained {silent} times"
    )
    for form in FORMS:
        yield f"identifiers: {what}: {form!r} {share([o for o in asked if o.form == form])}"
    for kind in _KINDS:
        some = [one for one in asked if one.identifier.kind == kind]
        if some:
            yield f"identifiers: {what}: {kind} {share(some)} of {len(some)}"
    for bank in sorted({name.bank for name in identifiers}):
        some = [one for one in asked if one.identifier.bank == bank]
        yield f"identifiers: {what}: {bank} {share(some)} of {len(some)}"


def run(half: str = "tuning", home: str = "", missed: bool = False) -> Iterator[str]:
    """Measure; gives the lines of a report as they are known. In a `home` that is kept, what was
    read and embedded is not read again; `missed` also names what was not found."""
    if not any((data_folder() / name).is_file() for name in (*_ARCHIVES_OF_BANKS, *_ARCHIVES)):
        yield f"identifiers: skipped, no transcripts in {data_folder()}"
        return
    with ExitStack() as stack:
        place = Path(home or stack.enter_context(tempfile.TemporaryDirectory()))
        settings = replace(load_settings(), home=place, claude_dir=place)
        memory = stack.enter_context(Holdfast(settings))
        banks = read_banks(memory, stack)
        if settings.embed_model != NO_MODEL:
            memory.ingestion.embed()
        chosen = banks[HALVES.index(half) :: 2]
        drawn = draw({bank: turn_texts(memory, bank) for bank in chosen})
        asked = [ask(memory, one, form) for one in drawn for form in FORMS]
        yield from lines(half.replace("_", " "), asked)
        for one in asked if missed else ():
            if not one.found:
                yield f"missed: {one.identifier.bank}: {one.form.format(one.identifier.name)}"


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    for line in run(*given[:2], missed="--missed" in sys.argv):
        print(line, flush=True)
