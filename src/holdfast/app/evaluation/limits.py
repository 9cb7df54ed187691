"""Statements on what a measurement does not show, which are printed with the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.app.evaluation.metrics import Measures
from holdfast.language import counted

# Fewer questions than this get a warning: the standard error of a rate is then up to 0.09.
FEW_QUESTIONS = 30
# How many names of sessions are listed.
_MAX_NAMES = 5


def limits_of_set(
    overall: Measures,
    error: Measures,
    measured: Mapping[str, int],
    by_category: Mapping[str, int],
    unknown_gold: int,
    failed_lines: int,
) -> list[str]:
    """The statements for a set; `measured` is the number of questions behind each measure."""
    statements = [
        "Retrieval only: whether the right records come back, not whether an answer made from "
        "them would be right.",
    ]
    name = "recall@10" if overall["recall@10"] is not None else "session_hit@5"
    figure, spread = overall[name], error[name]
    if figure is not None and spread is not None:
        statements.append(
            f"{name} is {figure:.3f} ± {spread:.3f} (standard error over "
            f"{counted(measured[name], 'question')}, taken as independent; questions about the "
            "same conversation are not quite). A difference smaller than twice that may be chance."
        )
    few = [f"{name} ({count})" for name, count in by_category.items() if count < FEW_QUESTIONS]
    if few:
        statements.append(f"Few questions, so take these figures with care: {', '.join(few)}.")
    if overall["abstention_recall"] is None:
        statements.append(
            "Every question here has an answer, so each abstention is a mistake; whether it would "
            "abstain where it should is not measured."
        )
    if unknown_gold:
        statements.append(
            f"{counted(unknown_gold, 'gold id')} of the set name no turn that was read; they count "
            "as not found."
        )
    if failed_lines:
        statements.append(f"{counted(failed_lines, 'line')} of the set could not be read.")
    statements.append(
        "The program cannot know whether the settings were tuned on these questions, nor whether "
        "the gold is complete: a good record that it does not name counts as a miss."
    )
    return statements


def limits_of_knowledge(items: int, missing: Sequence[str], failed_lines: int) -> list[str]:
    """The statements for labels; `items` is how many recall counts, `missing` names the labelled
    sessions that have no transcript."""
    statements = [
        "Labels are one reader's choice: a good record that no label names counts against "
        "precision. Two careful labellings of the same sessions do not agree in everything, so "
        "1.0 is out of reach.",
        "Two sentences count as saying the same if a small model finds them alike. Whether a "
        "record is true, and of the right kind, is not compared.",
    ]
    if items < FEW_QUESTIONS:
        statements.append(
            f"Only {counted(items, 'item')} of weight 2 or 3: a few more could change it all."
        )
    if missing:
        has = "has" if len(missing) == 1 else "have"
        names = ", ".join(missing[:_MAX_NAMES]) + ", …" * (len(missing) > _MAX_NAMES)
        statements.append(
            f"{counted(len(missing), 'labelled session')} {has} no transcript, so what is labelled "
            f"there counts as not known: {names}."
        )
    if failed_lines:
        statements.append(f"{counted(failed_lines, 'line')} of the set could not be read.")
    statements.append(
        "The program cannot know whether its rules were tuned on these sessions: those who changed "
        "them while looking at labels must be measured on others."
    )
    return statements


def limits_of_own(questions: int, depth: int) -> list[str]:
    """The statements for a person's own history."""
    statements = [
        "The labels are a proxy: a request counts as answered by the few earlier sessions that had "
        "changed the files it led to. Some of these requests need nothing from the past, and an "
        "earlier session that helps without sharing a file counts as a miss, so 1.0 is out of "
        "reach.",
        "Retrieval only: whether the right session comes back, not whether an answer made from it "
        "would be right. How well it abstains is not measured: the request itself is in memory.",
        "Records later than the request, and its own session, are removed from the ranking "
        f"afterwards, from the first {depth} hits; the times are those of such long rankings.",
        "Compare these figures with chance beside them, and with themselves after a change; not "
        "with those of another person's history.",
    ]
    if questions < FEW_QUESTIONS:
        statements.insert(
            0, f"Only {counted(questions, 'question')}: a few more could change it all."
        )
    return statements
