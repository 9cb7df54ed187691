"""Printing an answer with its citations, and the steps of a research session."""

from __future__ import annotations

from typing import Any

from holdfast.framed_text import defang, one_line
from holdfast.language import collapse_spaces, truncate
from holdfast.model.query import Answer, Citation
from holdfast.model.trust import Trust
from holdfast.operations.screen import Screen, day
from holdfast.research.journal_lines import answer_from_json
from holdfast.research.session_journal import ASKED

# So that the URI still stands on the line of most citations.
_MAX_NAME_CHARS = 48


def print_answer(screen: Screen, answer: Answer) -> None:
    """The answer, its citations, its confidence, what to be careful about, and its cost."""
    for line in defang(answer.answer, outside=False).split("\n"):
        screen.item(screen.paint(line, "bold"))
    if answer.citations:
        screen.line()
    quoted = collapse_spaces(answer.answer)
    for citation in answer.citations:
        _print_citation(screen, citation, quoted)
    if not answer.abstained:
        screen.title(f"confidence: {answer.confidence.value}")
    for caveat in answer.caveats:
        screen.wrap(screen.paint(f"note: {caveat}", "dim"), "", "      ")
    if answer.cost.tokens:
        cost = answer.cost
        money = "at an unknown price" if cost.usd is None else f"${cost.usd:.4f}"
        screen.line(f"by {cost.model}: {cost.tokens:,} tokens, {money}", "dim")


def _print_citation(screen: Screen, citation: Citation, quoted: str) -> None:
    """Its source, and its text unless the answer quotes all of it."""
    marks = [" · external"] if citation.trust is Trust.EXTERNAL else []
    marks += [f" · shared {one_line(citation.shared)}"] if citation.shared else []
    origin = [
        f" · {truncate(one_line(name), _MAX_NAME_CHARS)}"
        for name in (citation.session, citation.bank)
        if name
    ]
    when = f"{citation.layer.value} · {day(citation.time)}"
    head = f"[{citation.number}] {when}{''.join((*origin, *marks))}"
    # A terminal would break the URI where its line ends, and it could not be copied.
    fits = not screen.is_terminal or len(head) + 2 + len(citation.uri) <= screen.width
    uri = screen.paint(citation.uri, "cyan")
    screen.line(f"{head}  {uri}" if fits else head)
    if not fits:
        screen.line(f"      {uri}")
    if citation.ended:
        screen.wrap(f"no longer valid: {citation.ended}", "      ")
    if marks or collapse_spaces(citation.excerpt) not in quoted:
        screen.wrap(screen.paint(defang(citation.excerpt, bool(marks)), "dim"), "      ")


def step_line(stage: str, round: int, text: str) -> str:
    """One step of a research session as a line; the round is named from the second on."""
    return f"{stage}{f' ({round})' if round > 1 else ''}: {text}"


def print_step(screen: Screen, line: dict[str, Any]) -> None:
    """One line of the journal of a research session: a question, a step, or an answer."""
    if line.get("stage") == ASKED:
        screen.line()
        screen.wrap(screen.paint(f"? {line.get('question', '')}", "bold"))
        return
    text = f"{line.get('text', '')} {line.get('query', '')}".strip()
    step = step_line(str(line.get("stage", "")), int(line.get("round", 1)), text)
    screen.wrap(screen.paint(step, "dim"), "  ")
    if line.get("answer"):
        print_answer(screen, answer_from_json(line["answer"]))
