"""Draws the first minute at the terminal: `python tools/terminal_recording.py` writes an SVG.

The commands and their output are those of docs/tour.md, which a test holds to what the commands
print. Each step is shown twice: the command as it is typed, then its output. The drawing needs no
script; who prefers no motion sees the second step.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tour.md"
TARGET = ROOT / "docs" / "images" / "first-minute.svg"
# The starts of the commands that make up the first minute, in this order.
COMMANDS = (
    "holdfast ingest examples/sessions",
    'holdfast ask "Why SQLite and not Postgres?"',
    'holdfast ask "When did we move to Kubernetes?"',
    "holdfast find --file cache.py",
    "holdfast remember",
    "holdfast undo",
)
STILL = 1
TYPED_S, SHOWN_S, SHOWN_A_LINE_S = 1.5, 2.5, 0.3
COLUMNS, LINE_HEIGHT, CHARACTER = 104, 19, 7.83
PADDING, BAR = 16, 30
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A command and the lines that it prints."""

    command: str
    output: tuple[str, ...]

    @property
    def shown_s(self) -> float:
        """How long its output is shown."""
        return SHOWN_S + SHOWN_A_LINE_S * len(self.output)


def read_steps(page: str) -> list[Step]:
    """The steps of the recording, with the output that the page has."""
    steps: list[Step] = []
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.rstrip("\n").splitlines()
            steps.append(Step(command, tuple(output)))
    return [next(step for step in steps if step.command.startswith(name)) for name in COMMANDS]


def draw(steps: list[Step]) -> str:
    """The recording as SVG."""
    width = round(COLUMNS * CHARACTER + 2 * PADDING)
    rows = max(len(step.output) for step in steps) + 1
    height = BAR + 2 * PADDING + rows * LINE_HEIGHT
    total = sum(TYPED_S + step.shown_s for step in steps)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-size="13" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace">',
        "<title>The first minute: read sessions, ask, find, remember, undo</title>",
        f"<style>{_style(steps, total)}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#171a18"/>',
        f'<rect width="{width}" height="{BAR}" rx="8" fill="#242a26"/>',
        *(f'<circle cx="{18 + 18 * i}" cy="15" r="5" fill="#58615c"/>' for i in range(3)),
    ]
    for number, step in enumerate(steps):
        lines += [f'<g class="typed{number}">', _line(0, f"$ {step.command}", "#7fd1bd"), "</g>"]
        lines += [f'<g class="shown{number}">', _line(0, f"$ {step.command}", "#7fd1bd")]
        lines += [_line(row, text) for row, text in enumerate(step.output, 1) if text.strip()]
        lines += ["</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _line(row: int, text: str, colour: str = "#e8e6e0") -> str:
    y = BAR + PADDING + row * LINE_HEIGHT + 12
    weight = ' font-weight="600"' if text.startswith("$ ") else ""
    style = f'fill="{colour}"{weight} xml:space="preserve"'
    return f'<text x="{PADDING}" y="{y}" {style}>{escape(text)}</text>'


def _style(steps: list[Step], total: float) -> str:
    """The time at which each picture is visible, in per cent of the whole."""
    rules = [f"g{{opacity:0;animation-duration:{total:g}s;animation-iteration-count:infinite}}"]
    start = 0.0
    for number, step in enumerate(steps):
        for name, length in ((f"typed{number}", TYPED_S), (f"shown{number}", step.shown_s)):
            first, last = 100 * start / total, 100 * (start + length) / total
            rules.append(f".{name}{{animation-name:{name};animation-timing-function:step-end}}")
            rules.append(
                f"@keyframes {name}{{0%{{opacity:{int(first == 0)}}}{first:.2f}%{{opacity:1}}"
                f"{min(last, 99.99):.2f}%{{opacity:0}}}}"
            )
            start += length
    rules.append(
        f"@media (prefers-reduced-motion:reduce){{g{{animation:none}}.shown{STILL}{{opacity:1}}}}"
    )
    return "".join(rules)


if __name__ == "__main__":
    TARGET.write_text(draw(read_steps(PAGE.read_text("utf-8"))), "utf-8")
