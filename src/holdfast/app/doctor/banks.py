"""Checks whether several banks are one project."""

from __future__ import annotations

from holdfast.app.doctor.check import Check, DoctorContext, Grade, ok
from holdfast.refine.core.same_projects import BankJoin

# Pairs of banks in a report; the rest is counted.
_MAX_PAIRS = 5


def check_banks(context: DoctorContext) -> list[Check]:
    """Banks of folders that are gone, and of imports, which may belong into another bank."""
    if context.memory is None or not context.memory.reader.banks.all():
        return []
    joins = context.memory.merging.joins()
    if not joins:
        return [ok("banks", "No two banks seem to be one project.")]
    checks = [_pair(join) for join in joins[:_MAX_PAIRS]]
    more = len(joins) - len(checks)
    if more:
        sentence = f"{more:,} more pairs of banks may each be one project."
        checks.append(Check("banks", Grade.WARNING, sentence, "`holdfast ingest` lists them all."))
    return checks


def _pair(join: BankJoin) -> Check:
    sentence = (
        f"{join.bank} ({join.bank_id}) and {join.into} ({join.into_id}) may be one project: "
        f"{join.reason}."
    )
    remedy = f"{join.command}, or if not: holdfast bank apart {join.bank_id} {join.into_id}"
    return Check("banks", Grade.WARNING, sentence, remedy)
