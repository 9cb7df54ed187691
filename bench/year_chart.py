"""Draws the months of `bench.year` and the sizes of `bench.year_sizes` as SVG:
`python -m bench.year_chart` writes bench/year.svg and bench/year_sizes.svg.

The figures are in `bench/data/year.json` and `bench/data/year_sizes.json`; with the folder of a
simulated year as its argument, those of the months are first taken from there. Panels beside each
other have months or sessions below and a scale of their own; a month of which a figure is not known
is left out of its line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

FIGURES = Path(__file__).parent / "data" / "year.json"
SIZES = Path(__file__).parent / "data" / "year_sizes.json"
CHART = Path(__file__).with_name("year.svg")
SIZES_CHART = Path(__file__).with_name("year_sizes.svg")
WIDTH, HEIGHT, GAP = 320, 190, 28
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 40, 30
# The figures of a month that are kept; the rest of what is measured stays in the folder.
KEPT = (
    "month", "sessions", "worker_s_a_session", "peak_mb", "recall", "brief", "digest",
    "command", "brief_command", "start", "database_mb", "vectors_mb", "backups_mb", "rest_mb",
    "files", "journals", "marks", "backups", "briefs", "log_kb", "transcripts", "backup_s",
    "brief_lines", "brief_characters",
)  # fmt: skip
_STYLE = """<style>
.y-axis{stroke:#b9b4a5;fill:none}.y-text{fill:#1f2421}.y-note{fill:#58615c}
.y-0{stroke:#1f6f5f;fill:#1f6f5f}.y-1{stroke:#b4581f;fill:#b4581f}.y-2{stroke:#4b5fa8;fill:#4b5fa8}
@media (prefers-color-scheme:dark){.y-axis{stroke:#4a524d}.y-text{fill:#e8e6e0}
.y-note{fill:#a3aca6}.y-0{stroke:#7fd1bd;fill:#7fd1bd}.y-1{stroke:#f0a36b;fill:#f0a36b}
.y-2{stroke:#a9b8f2;fill:#a9b8f2}}
</style>"""


class Panel(NamedTuple):
    """A small chart: its title, and the key and the name of each line."""

    title: str
    lines: tuple[tuple[str, str], ...]


PANELS = (
    Panel("Worker, processor seconds a session", (("worker_s_a_session", ""),)),
    Panel(
        "In times of sorting 60,000 strings",
        (("recall", "recall"), ("brief", "start brief"), ("digest", "digest")),
    ),
    Panel(
        "In times of python -c pass",
        (("command", "recall"), ("brief_command", "brief"), ("start", "start hook")),
    ),
    Panel(
        "Megabytes",
        (("database_mb", "database"), ("vectors_mb", "vectors"), ("peak_mb", "worker, peak")),
    ),
    Panel("Files", (("journals", "journals"), ("marks", "marks"), ("backups", "backups"))),
    Panel(
        "Of the matters laid down, told as valid",
        (("matters", "all"), ("told_ask", "answers"), ("told_brief", "start brief")),
    ),
)

SIZE_PANELS = (
    Panel(
        "Worker, processor seconds a session",
        (("worker_s_a_session", "now"), ("worker_before", "before")),
    ),
    Panel(
        "Of that, what grows",
        (("know", "knowledge"), ("group", "concepts"), ("brief_s", "briefs")),
    ),
    Panel(
        "Ratios to a control",
        (("recall", "recall"), ("brief", "start brief"), ("command", "command")),
    ),
    Panel(
        "Megabytes",
        (("database_mb", "database"), ("vectors_mb", "vectors"), ("peak_mb", "worker, peak")),
    ),
)


def read_months(folder: Path) -> list[dict[str, Any]]:
    """The figures of the months that a simulated year has."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("month-*.json"))]
    return [{key: month[key] for key in KEPT} | _judged(month["judged"]) for month in found]


def _judged(judged: Mapping[str, int]) -> dict[str, int]:
    """What was laid down, and by what it was told as valid or as replaced."""
    return {key if key == "matters" else f"told_{key}": count for key, count in judged.items()}


def draw(
    months: Sequence[Mapping[str, float]], panels: Sequence[Panel] = PANELS, below: str = "month"
) -> str:
    """All panels, two in a row; `below` is the figure that stands below them."""
    rows = (len(panels) + 1) // 2
    width, height = 2 * WIDTH + GAP, rows * (HEIGHT + GAP)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif">',
        f"<title>By {below}: {'; '.join(one.title for one in panels)}</title>",
        _STYLE,
    ]
    for number, panel in enumerate(panels):
        x, y = number % 2 * (WIDTH + GAP), number // 2 * (HEIGHT + GAP)
        drawn += [f'<g transform="translate({x} {y})">', *_panel(panel, months, below), "</g>"]
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _panel(panel: Panel, months: Sequence[Mapping[str, float]], below: str) -> list[str]:
    known = [month[key] for key, _ in panel.lines for month in months if key in month]
    highest = _round_up(max(known, default=1.0))
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    drawn = [
        _text(0, 14, panel.title, "y-text", weight=600),
        f'<path class="y-axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>',
        _text(LEFT - 6, TOP + 4, f"{highest:g}", "y-note", "end"),
        _text(LEFT - 6, bottom + 4, "0", "y-note", "end"),
    ]
    at = {m[below]: LEFT + (right - LEFT) * (n + 0.5) / len(months) for n, m in enumerate(months)}
    for month, x in at.items():
        drawn.append(_text(x, bottom + 18, f"{month:g}", "y-note", "middle"))
    for number, (key, name) in enumerate(panel.lines):
        points = [
            (at[m[below]], bottom - (bottom - TOP) * m[key] / highest) for m in months if key in m
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        drawn.append(f'<polyline class="y-{number}" style="fill:none" points="{line}"/>')
        drawn += [
            f'<circle class="y-{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points
        ]
        if name:
            x = LEFT + number * (right - LEFT) / len(panel.lines)
            drawn += [
                f'<circle class="y-{number}" cx="{x + 4:.0f}" cy="{TOP - 14}" r="4"/>',
                _text(x + 12, TOP - 10, name, "y-note"),
            ]
    return drawn


def _text(
    x: float, y: float, text: str, kind: str, anchor: str = "start", weight: int = 400
) -> str:
    return (
        f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="12" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )


def _round_up(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    step = 1e-3
    while True:
        for factor in (1, 2, 5):
            if value <= step * factor:
                return step * factor
        step *= 10


def main() -> int:
    """Take the figures from a folder, if one is given, and draw them."""
    if len(sys.argv) > 1:
        lines = ",\n".join(f"  {json.dumps(month)}" for month in read_months(Path(sys.argv[1])))
        FIGURES.write_text(f"[\n{lines}\n]\n")
    CHART.write_text(draw(json.loads(FIGURES.read_text())), "utf-8")
    sizes = draw(json.loads(SIZES.read_text()), SIZE_PANELS, "sessions")
    SIZES_CHART.write_text(sizes, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
