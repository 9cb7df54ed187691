"""The stage that keeps patterns up to date: reads changed records, regroups all statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from holdfast.model.corrections import corrected_commit
from holdfast.model.knowledge import EndedStatement, FactKind
from holdfast.model.team import Commit
from holdfast.model.trust import ENDED_STATUSES
from holdfast.refine.core.curated_records import apply_decision, remembered_by_people
from holdfast.refine.core.statement_similarity import says_the_same, statement_features
from holdfast.refine.rules.patterns import make_patterns
from holdfast.refine.rules.statements import (
    commit_statements,
    memory_statements,
    session_statements,
)
from holdfast.store.knowledge.rules import Statement
from holdfast.store.protocol import Writer

NAME = "patterns"
VERSION = 5


def update_patterns(writer: Writer, on_progress: Callable[[], None] = lambda: None) -> list[str]:
    """Update the patterns of every bank that has changes; returns these banks."""
    banks = writer.progress.banks_behind(NAME, VERSION)
    for bank in banks:
        while changes := writer.progress.unseen_changes(bank, NAME, VERSION):
            with writer.transaction():
                for change in changes:
                    _update_statements(writer, bank, change.session)
                    on_progress()
                writer.progress.mark_seen(bank, NAME, VERSION, changes[-1].number)
                superseded = _superseded_records(writer, bank)
                ended = [e for e in writer.facts.ended_statements(bank) if e.everywhere]
                statements = [
                    s
                    for s in writer.rules.statements(bank)
                    if s.uri not in superseded and not _has_ended(s, ended)
                ]
                writer.rules.put_patterns(bank, make_patterns(bank, statements))
    return banks


def _superseded_records(writer: Writer, bank: str) -> set[str]:
    """The records that state only rules which are no longer in force."""
    facts = [fact for fact in writer.facts.all(bank) if fact.kind is FactKind.RULE]
    ended = {link for fact in facts if fact.status in ENDED_STATUSES for link in fact.evidence}
    return ended - {
        link for fact in facts if fact.status not in ENDED_STATUSES for link in fact.evidence
    }


def _has_ended(statement: Statement, ended: Iterable[EndedStatement]) -> bool:
    """Whether what a statement says ended after it was made."""
    features = statement_features(statement.text)
    return any(
        statement.time < one.ended and says_the_same(features, statement_features(one.text))
        for one in ended
    )


def _update_statements(writer: Writer, bank: str, session: str) -> None:
    """Store the statements of a session, or with "" those of commits and remembered texts."""
    if not session:
        statements = [s for commit in _commits(writer, bank) for s in commit_statements(commit)]
        memories = remembered_by_people(writer, bank)
        statements += [s for memory in memories for s in memory_statements(memory)]
        writer.rules.put_statements(bank, "", statements)
        return
    known = writer.sessions.get(bank, session)
    turns, exchanges = writer.turns.stream(bank, session), writer.sessions.exchanges(bank, session)
    claims = writer.facts.claims(bank, session)
    found = session_statements(known, turns, exchanges, claims) if known else ()
    writer.rules.put_statements(bank, session, list(found))


def _commits(writer: Writer, bank: str) -> Iterator[Commit]:
    """The visible commits, in their corrected words."""
    for commit in writer.git.commits_uncurated(bank):
        known = writer.curation.state(bank, "commit", commit.id)
        if shown := apply_decision(known, commit, corrected_commit):
            yield shown
