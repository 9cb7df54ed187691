"""How `holdfast eval` shows what was measured against labels."""

from __future__ import annotations

from dataclasses import asdict

from holdfast.app.evaluation.knowledge import KnowledgeReport
from holdfast.interfaces.cli.screen import Screen, number

_LEGEND = """\
recall: share of the items of weight 2 and 3 that match a record of the same session; precision:
share of the records that match an item of any weight; titles alike: share of the titles that match
their label. –: not measurable. By kind, all weights count."""


def knowledge_json(report: KnowledgeReport) -> dict[str, object]:
    """The report with shares rounded."""
    by_kind = {kind: _rounded(share) for kind, share in report.recall_by_kind.items()}
    return {
        **asdict(report),
        "recall": _rounded(report.recall),
        "precision": _rounded(report.precision),
        "titles_alike": _rounded(report.titles_alike),
        "recall_weight_3": _rounded(report.recall_weight_3),
        "recall_by_kind": by_kind,
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def print_knowledge(screen: Screen, report: KnowledgeReport) -> None:
    """The figures as a table, and what they do not show."""
    screen.line(
        f"{screen.paint('what was distilled', 'bold')}: {number(report.records, 'record')} of "
        f"{number(report.sessions, 'labelled session')} with {number(report.all_items, 'item')}"
    )
    screen.line()
    rows: list[tuple[str, int, float | None]] = [
        ("recall", report.items, report.recall),
        ("  of weight 3", report.items_weight_3, report.recall_weight_3),
        ("precision", report.records, report.precision),
        ("titles alike", report.titles, report.titles_alike),
    ]
    kinds = [(k, report.items_by_kind[k], share) for k, share in report.recall_by_kind.items()]
    screen.line(f"{'':<20}{'n':>6}{'share':>8}", "dim")
    for row in rows:
        _print_row(screen, *row)
    if kinds:
        screen.line("recall by kind", "dim")
        for kind, count, share in kinds:
            _print_row(screen, f"  {kind}", count, share)
    screen.line()
    screen.wrap(_LEGEND)
    screen.line(f"alike: cosine of {report.threshold} or more by {report.encoder}")
    screen.title("What this cannot claim of what was distilled", "bold")
    for limit in report.cannot_claim:
        screen.wrap(limit, "  - ", "    ")


def _print_row(screen: Screen, name: str, count: int, share: float | None) -> None:
    screen.line(f"{name:<20}{count:>6,}{'–' if share is None else f'{share:.3f}':>8}")
