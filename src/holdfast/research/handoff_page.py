"""A hand-off pack as data, and as one page in Markdown. Packs are made in `handoff`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Point(NamedTuple):
    """One line of a pack: its text, the URI of its source, the time, and a remark ("reverted")."""

    text: str
    uri: str = ""
    time: str = ""
    mark: str = ""


class File(NamedTuple):
    """A file, and in how many exchanges it was changed and read."""

    path: str
    changed: int
    read: int


class Source(NamedTuple):
    """A record that the pack quotes."""

    uri: str
    kind: str
    title: str
    time: str


class Pack(NamedTuple):
    """What is handed over. `kind` is `session` or `topic`; `name` is the session's URI; `left_out`
    counts, by section, the lines beyond the limit."""

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


# Field of `Pack`, heading, and the text for an empty section.
SECTIONS = (
    ("goal", "Goal", "No goal was stated."),
    ("state", "State", "The state is not known."),
    ("decisions", "Decisions", "None known."),
    ("findings", "Findings", "None stated explicitly."),
    ("dead_ends", "Dead ends", "None known: nothing failed or was reverted."),
    ("open_questions", "Open questions", "None known."),
)


def as_markdown(pack: Pack, clean: Callable[[str], str]) -> str:
    """The pack as one page; `clean` redacts the text."""
    numbers = {source.uri: number for number, source in enumerate(pack.sources, 1)}
    span = " – ".join(dict.fromkeys(t[:10] for t in (pack.since, pack.until) if t)) or "undated"
    subject = f"Session `{pack.name}`" if pack.name else "A topic"
    lines = [f"# Hand-off: {pack.title}", "", f"{subject} · {pack.bank} · {span}"]
    # Within one day the date of each line says nothing.
    with_days = pack.since[:10] != pack.until[:10]
    for section, heading, if_empty in SECTIONS:
        lines += ["", f"## {heading}", ""]
        points: tuple[Point, ...] = getattr(pack, section)
        lines += [_point_line(point, numbers, with_days) for point in points] or [if_empty]
        lines += _left_out_line(pack, section)
    lines += ["", "## Files", ""]
    lines += [_file_line(file) for file in pack.files] or ["None was touched."]
    lines += _left_out_line(pack, "files")
    lines += ["", "## Sources", "", "`holdfast show URI` opens each, down to the raw line.", ""]
    for source in pack.sources:
        label = " · ".join(filter(None, (source.time[:10], source.title)))
        lines.append(f"{numbers[source.uri]}. `{source.uri}` {label}".rstrip())
    return clean("\n".join(lines) + "\n")


def _point_line(point: Point, numbers: dict[str, int], with_day: bool) -> str:
    notes = ", ".join(filter(None, (point.time[:10] if with_day else "", point.mark)))
    source = f" [{numbers[point.uri]}]" if point.uri in numbers else ""
    return f"- {point.text}{f' ({notes})' if notes else ''}{source}"


def _file_line(file: File) -> str:
    counts = [f"changed {file.changed}×"] if file.changed else []
    counts += [f"read {file.read}×"] if file.read else []
    return f"- `{file.path}`: {', '.join(counts)}"


def _left_out_line(pack: Pack, section: str) -> list[str]:
    left_out = pack.left_out.get(section, 0)
    return [f"- … and {left_out} more"] if left_out else []
