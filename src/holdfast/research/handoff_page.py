"""A hand-off pack as data, and as one page in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Point(NamedTuple):
    """One thing that is said: its words, the record it comes from, when, and what to mind."""

    text: str
    uri: str = ""
    time: str = ""
    mark: str = ""


class File(NamedTuple):
    """A file, and in how many pieces of work it was changed and read."""

    path: str
    changed: int
    read: int


class Source(NamedTuple):
    """A record that the pack rests on."""

    uri: str
    kind: str
    title: str
    time: str


class Pack(NamedTuple):
    """What is handed over. `kind` is `session` or `topic`; `left_out` counts, by section, what
    there was no room for."""

    kind: str
    title: str
    bank: str
    name: str
    since: str
    until: str
    goal: tuple[Point, ...]
    state: tuple[Point, ...]
    decisions: tuple[Point, ...]
    findings: tuple[Point, ...]
    dead_ends: tuple[Point, ...]
    open_questions: tuple[Point, ...]
    files: tuple[File, ...]
    sources: tuple[Source, ...]
    left_out: dict[str, int]


SECTIONS = (
    ("goal", "Goal", "Nobody said what it is for."),
    ("state", "State", "How it stands is not known."),
    ("decisions", "Decisions", "None is known."),
    ("findings", "What was found out", "Nothing that was said in so many words."),
    ("dead_ends", "Dead ends", "None is known: nothing was seen to fail or be taken back."),
    ("open_questions", "Open questions", "None is known."),
)


def as_markdown(pack: Pack, clean: Callable[[str], str]) -> str:
    """The pack as one page; `clean` takes out what must not leave."""
    numbers = {source.uri: number for number, source in enumerate(pack.sources, 1)}
    span = " – ".join(dict.fromkeys(t[:10] for t in (pack.since, pack.until) if t)) or "undated"
    what = f"Session `{pack.name}`" if pack.name else "A topic"
    lines = [f"# Hand-off: {pack.title}", "", f"{what} · {pack.bank} · {span}"]
    dated = pack.since[:10] != pack.until[:10]
    for part, title, nothing in SECTIONS:
        lines += ["", f"## {title}", ""]
        points: tuple[Point, ...] = getattr(pack, part)
        lines += [_item(point, numbers, dated) for point in points] or [nothing]
        lines += _rest(pack, part)
    lines += ["", "## Files", ""]
    lines += [_file(file) for file in pack.files] or ["None was touched."]
    lines += _rest(pack, "files")
    lines += ["", "## Sources", "", "`holdfast show URI` opens each, down to the raw line.", ""]
    for source in pack.sources:
        told = " · ".join(filter(None, (source.time[:10], source.title)))
        lines.append(f"{numbers[source.uri]}. `{source.uri}` {told}".rstrip())
    return clean("\n".join(lines) + "\n")


def _item(point: Point, numbers: dict[str, int], dated: bool) -> str:
    """A day is told where there is more than one."""
    told = ", ".join(filter(None, (point.time[:10] if dated else "", point.mark)))
    where = f" [{numbers[point.uri]}]" if point.uri in numbers else ""
    return f"- {point.text}{f' ({told})' if told else ''}{where}"


def _file(file: File) -> str:
    told = [f"changed {file.changed}×"] if file.changed else []
    told += [f"read {file.read}×"] if file.read else []
    return f"- `{file.path}`: {', '.join(told)}"


def _rest(pack: Pack, part: str) -> list[str]:
    left = pack.left_out.get(part, 0)
    return [f"- … and {left} more"] if left else []
