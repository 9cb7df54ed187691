"""Draws the diagrams of the documents: `python tools/diagrams.py` writes docs/images/diagram-*.svg.

A diagram is boxes on a grid and arrows between them. The files bring colours for light and dark;
on the site they are part of the page and take its colours. A test compares the files with what
this draws.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
COLUMN, ROW = 172, 84
BOX_HEIGHT, GAP = 52, 30
MARGIN = 6
_STYLE = """<style>
.d-box{fill:#f6f5f1;stroke:#b9b4a5}.d-key{fill:#e3f0ec;stroke:#1f6f5f;stroke-width:2}
.d-text{fill:#1f2421}.d-note{fill:#58615c}.d-line{stroke:#7a817d;fill:none}.d-head{fill:#7a817d}
@media (prefers-color-scheme:dark){.d-box{fill:#1f2421;stroke:#4a524d}
.d-key{fill:#21362f;stroke:#7fd1bd}.d-text{fill:#e8e6e0}.d-note{fill:#a3aca6}
.d-line{stroke:#a3aca6}.d-head{fill:#a3aca6}}
</style>"""


class Box(NamedTuple):
    """A box at a column and a row; `key` marks the one that the diagram is about."""

    name: str
    column: float
    row: float
    title: str
    note: str = ""
    width: float = 1
    key: bool = False

    @property
    def left(self) -> float:
        """The left edge, in pixels."""
        return MARGIN + self.column * COLUMN

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width * COLUMN - GAP

    @property
    def top(self) -> float:
        """The upper edge."""
        return MARGIN + self.row * ROW

    @property
    def centre(self) -> tuple[float, float]:
        """The middle."""
        return (self.left + self.right) / 2, self.top + BOX_HEIGHT / 2


class Diagram(NamedTuple):
    """A drawing: its title for those who cannot see it, boxes, and arrows by the names of boxes.
    The third part of an arrow is its label."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[str, str, str], ...]


def _chain(*names: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((a, b, "") for a, b in pairwise(names))


DIAGRAMS: dict[str, Diagram] = {
    "layers": Diagram(
        "Turns are made into exchanges, digests and memories, and these into facts and concepts",
        (
            Box("line", 0, 1, "transcript line", "the agent's file"),
            Box("turn", 1, 1, "turn", "kept permanently", key=True),
            Box("exchange", 2, 0, "exchange", "request and result"),
            Box("memory", 2, 1, "memory", "a statement"),
            Box("digest", 3, 0, "digest", "one session"),
            Box("fact", 3, 1, "fact", "holds until replaced"),
            Box("concept", 3, 2, "concept", "a topic"),
            Box("brief", 4, 1, "brief", "into a session"),
        ),
        (
            ("line", "turn", ""),
            ("turn", "exchange", ""),
            ("turn", "memory", ""),
            ("exchange", "digest", ""),
            ("memory", "fact", ""),
            ("memory", "concept", ""),
            ("digest", "brief", ""),
            ("fact", "brief", ""),
        ),
    ),
    "ledger": Diagram(
        "Every line of a transcript is captured, skipped, failed or pending",
        (
            Box("file", 0, 1.5, "transcript", "207 lines"),
            Box("ledger", 1.3, 1.5, "ledger", "one outcome a line", key=True),
            Box("captured", 2.8, 0, "captured", "gave a turn", 1.3),
            Box("skipped", 2.8, 1, "skipped", "with a reason", 1.3),
            Box("failed", 2.8, 2, "failed", "kept, tried again", 1.3),
            Box("pending", 2.8, 3, "pending", "on disk, not read yet", 1.3),
        ),
        (
            ("file", "ledger", ""),
            ("ledger", "captured", ""),
            ("ledger", "skipped", ""),
            ("ledger", "failed", ""),
            ("ledger", "pending", ""),
        ),
    ),
    "bank": Diagram(
        "Worktrees, clones and renamed remotes of one project lead to one bank",
        (
            Box("clone", 0, 0, "clone", "git remote"),
            Box("worktree", 0, 1, "worktree", "git folder"),
            Box("renamed", 0, 2, "renamed remote", "first commit"),
            Box("bank", 1.6, 1, "bank", "one project", key=True),
            Box("other", 1.6, 2.2, "another bank", "never mixed"),
            Box("sessions", 3.1, 0, "sessions", "of every agent", 1.2),
            Box("git", 3.1, 1, "commits", "and pull requests", 1.2),
            Box("log", 3.1, 2, "decisions", "of people", 1.2),
        ),
        (
            ("clone", "bank", ""),
            ("worktree", "bank", ""),
            ("renamed", "bank", ""),
            ("bank", "sessions", ""),
            ("bank", "git", ""),
            ("bank", "log", ""),
        ),
    ),
    "capture": Diagram(
        "A hook writes an event into memory; the worker redacts it and reads the transcript",
        (
            Box("agent", 0, 0, "Claude Code", "hook event"),
            Box("inbox", 1.1, 0, "inbox", "/dev/shm, memory"),
            Box("worker", 2.2, 0, "worker", "redacts; exits when idle", 1.25, key=True),
            Box("journal", 3.55, 0, "journal", "on disk, redacted", 1.1),
            Box("transcript", 0, 1, "transcript", "the agent's own file"),
            Box("memory", 3.55, 1, "memory.db", "turns and the rest", 1.1),
        ),
        (
            ("agent", "inbox", ""),
            ("inbox", "worker", ""),
            ("worker", "journal", ""),
            ("journal", "memory", "what the transcript lacks"),
            ("agent", "transcript", ""),
            ("transcript", "memory", "read when the session ends"),
        ),
    ),
    "brief": Diagram(
        "A session receives a brief at its start, at its goal, and once for a file or an error",
        (
            Box("start", 0, 0, "session starts", "", 1.1),
            Box("prompt", 1.3, 0, "first goal", "", 1.1),
            Box("edit", 2.6, 0, "edits a file", "", 1.1),
            Box("error", 3.9, 0, "an error", "", 1.1),
            Box("state", 0, 1, "start brief", "where work stopped", 1.1, key=True),
            Box("goal", 1.3, 1, "goal brief", "what was decided", 1.1, key=True),
            Box("file", 2.6, 1, "note on the file", "once each", 1.1, key=True),
            Box("fix", 3.9, 1, "what ended it", "once each", 1.1, key=True),
        ),
        (
            ("start", "state", ""),
            ("prompt", "goal", ""),
            ("edit", "file", ""),
            ("error", "fix", ""),
        ),
    ),
    "recall": Diagram(
        "A query goes to all retrievers in parallel; their results are fused, reranked and judged",
        (
            Box("query", 0, 1.5, "query", "words, names, time"),
            Box("words", 1.25, 0, "full text", "words, synonyms"),
            Box("meaning", 1.25, 1, "vectors", "meaning"),
            Box("time", 1.25, 2, "time", "dates, recent work"),
            Box("graph", 1.25, 3, "entities", "who and what"),
            Box("fuse", 2.5, 1.5, "fuse", "one ranking"),
            Box("rerank", 3.5, 1.5, "rerank", "cross-encoder"),
            Box("status", 4.5, 1.5, "apply status", "what ended goes down"),
            Box("judge", 4.5, 2.8, "relevant enough?", "", key=True),
            Box("hits", 3.5, 2.8, "hits", "with citations"),
            Box("none", 4.5, 3.9, "not known", "weak hits"),
        ),
        (
            ("query", "words", ""),
            ("query", "meaning", ""),
            ("query", "time", ""),
            ("query", "graph", ""),
            ("words", "fuse", ""),
            ("meaning", "fuse", ""),
            ("time", "fuse", ""),
            ("graph", "fuse", ""),
            *_chain("fuse", "rerank", "status", "judge"),
            ("judge", "hits", ""),
            ("judge", "none", ""),
        ),
    ),
    "distilling": Diagram(
        "A line becomes a turn, an exchange and a digest; stages make knowledge of all sessions",
        (
            Box("line", 0, 0, "transcript line", "every one counted"),
            Box("turn", 1.1, 0, "turn", "refined, redacted", key=True),
            Box("exchange", 2.2, 0, "exchange", "request and result"),
            Box("digest", 3.3, 0, "digest", "of the session"),
            Box("concepts", 0, 1.2, "concepts", "and entities"),
            Box("retain", 1.1, 1.2, "memories", "statements, by kind"),
            Box("facts", 2.2, 1.2, "facts", "rules, solutions"),
            Box("patterns", 3.3, 1.2, "patterns", "said three times"),
            Box("opinions", 4.4, 1.2, "opinions", "with confidence"),
            Box("log", 4.4, 0, "your decisions", "applied on top"),
        ),
        (
            *_chain("line", "turn", "exchange", "digest"),
            ("turn", "retain", ""),
            ("retain", "concepts", ""),
            *_chain("retain", "facts", "patterns", "opinions"),
            ("log", "opinions", ""),
        ),
    ),
    "curation": Diagram(
        "A decision is logged and applies to every record that says the same",
        (
            Box("you", 0, 1, "correct, forget", "undo reverts it"),
            Box("log", 1.25, 1, "log of decisions", "append-only", key=True),
            Box("ended", 2.5, 1, "old statements", "and what replaces them", 1.15),
            Box("search", 3.95, 0, "recall and ask", "current first", 1.15),
            Box("briefs", 3.95, 1, "briefs", "the correction instead", 1.15),
            Box("pages", 3.95, 2, "pages, exports", "marked or left out", 1.15),
            Box("rebuild", 1.25, 2, "rebuild", "applies the log again"),
        ),
        (
            ("you", "log", ""),
            ("log", "ended", ""),
            ("ended", "search", ""),
            ("ended", "briefs", ""),
            ("ended", "pages", ""),
            ("rebuild", "log", ""),
        ),
    ),
    "trust": Diagram(
        "Text keeps the trust of its origin; only the words of people become rules and facts",
        (
            Box("user", 0, 0, "user", "you"),
            Box("team", 0, 1, "team", "shared, commits"),
            Box("assistant", 0, 2, "assistant", "the agent"),
            Box("tool", 1, 0, "tool", "its output"),
            Box("import", 1, 1, "import", "other programs"),
            Box("external", 1, 2, "external", "web, foreign servers"),
            Box(
                "least", 2.4, 1, "least trusted origin", "of all that it is made of", 1.25, key=True
            ),
            Box("found", 3.95, 0, "found and cited", "with its origin", 1.15),
            Box("facts", 3.95, 1, "facts, rules", "people's words only", 1.15),
            Box("briefs", 3.95, 2, "briefs", "never external text", 1.15),
        ),
        (
            ("tool", "least", ""),
            ("import", "least", ""),
            ("external", "least", ""),
            ("least", "found", ""),
            ("least", "facts", ""),
            ("least", "briefs", ""),
        ),
    ),
    "team": Diagram(
        "Laptops keep their own memory; what people share goes to a branch or a server",
        (
            Box("ann", 0, 0, "Ann's laptop", "her memory"),
            Box("ben", 0, 2, "Ben's laptop", "his memory"),
            Box("branch", 1.7, 0, "git branch", "holdfast-shared", 1.2),
            Box("server", 1.7, 1, "holdfast serve", "keys and banks", 1.2, key=True),
            Box("postgres", 3.4, 1, "PostgreSQL", "or one SQLite file", 1.2),
            Box("ci", 3.4, 2, "other programs", "REST, GraphQL, MCP", 1.2),
        ),
        (
            ("ann", "branch", "share"),
            ("ann", "server", ""),
            ("ben", "server", ""),
            ("server", "postgres", ""),
            ("ci", "server", ""),
        ),
    ),
}


def draw(diagram: Diagram) -> str:
    """The drawing as SVG."""
    boxes = {box.name: box for box in diagram.boxes}
    width = max(box.right for box in diagram.boxes) + MARGIN
    height = max(box.top for box in diagram.boxes) + BOX_HEIGHT + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" font-family="system-ui, sans-serif">',
        f"<title>{escape(diagram.title)}</title>",
        _STYLE,
    ]
    for start, end, label in diagram.arrows:
        lines += _arrow(boxes[start], boxes[end], label)
    for box in diagram.boxes:
        lines += _box(box)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _box(box: Box) -> list[str]:
    x, y = box.centre
    kind = "d-key" if box.key else "d-box"
    title_y = y - 4 if box.note else y + 5
    drawn = [
        f'<rect class="{kind}" x="{box.left:g}" y="{box.top:g}" rx="6" '
        f'width="{box.right - box.left:g}" height="{BOX_HEIGHT}"/>',
        f'<text class="d-text" x="{x:g}" y="{title_y:g}" text-anchor="middle" font-size="14" '
        f'font-weight="600">{escape(box.title)}</text>',
    ]
    if box.note:
        drawn.append(
            f'<text class="d-note" x="{x:g}" y="{y + 14:g}" text-anchor="middle" '
            f'font-size="11.5">{escape(box.note)}</text>'
        )
    return drawn


def _arrow(start: Box, end: Box, label: str) -> list[str]:
    (start_x, start_y), (end_x, end_y) = start.centre, end.centre
    sideways = end.left >= start.right or end.right <= start.left
    if sideways:
        right = end.left >= start.right
        x1, x2 = (start.right, end.left) if right else (start.left, end.right)
        middle = (x1 + x2) / 2
        path = f"M{x1:g} {start_y:g}H{middle:g}V{end_y:g}H{x2 - (5 if right else -5):g}"
        back = -8 if right else 8
        head = f"{x2:g},{end_y:g} {x2 + back:g},{end_y - 4:g} {x2 + back:g},{end_y + 4:g}"
    else:
        down = end.top > start.top
        y1 = start.top + BOX_HEIGHT if down else start.top
        y2 = end.top if down else end.top + BOX_HEIGHT
        middle = (y1 + y2) / 2
        path = f"M{start_x:g} {y1:g}V{middle:g}H{end_x:g}V{y2 - (5 if down else -5):g}"
        back = -8 if down else 8
        head = f"{end_x:g},{y2:g} {end_x - 4:g},{y2 + back:g} {end_x + 4:g},{y2 + back:g}"
    drawn = [f'<path class="d-line" d="{path}"/>', f'<polygon class="d-head" points="{head}"/>']
    if label:
        x, y = ((start_x + end_x) / 2, start_y - 6) if sideways else (start_x - 8, middle + 4)
        anchor = "middle" if sideways else "end"
        drawn.append(
            f'<text class="d-note" x="{x:g}" y="{y:g}" text-anchor="{anchor}" '
            f'font-size="11.5">{escape(label)}</text>'
        )
    return drawn


if __name__ == "__main__":
    for name, diagram in DIAGRAMS.items():
        (IMAGES / f"diagram-{name}.svg").write_text(draw(diagram), "utf-8")
