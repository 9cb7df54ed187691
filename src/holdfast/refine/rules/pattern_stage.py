"""The stage that keeps patterns up to date: it reads what changed, and groups all anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holdfast.model.corrections import corrected_commit, corrected_memory
from holdfast.model.knowledge import FactKind, Memory
from holdfast.model.team import Commit
from holdfast.model.trust import ENDED_STATUSES
from holdfast.refine.rules.commit_style import commit_patterns
from holdfast.refine.rules.patterns import make_patterns
from holdfast.refine.rules.statements import of_commit, of_memory, of_session
from holdfast.store.protocol import Writer

NAME = "patterns"
VERSION = 1


def update_patterns(writer: Writer, tick: Callable[[], None] = lambda: None) -> list[str]:
    """Bring the patterns of every bank up to date; returns the banks that had something new."""
    banks = writer.banks_behind(NAME, VERSION)
    for bank in banks:
        while changes := writer.unseen_changes(bank, NAME, VERSION):
            with writer.transaction():
                for change in changes:
                    _read(writer, bank, change.session)
                    tick()
                writer.mark_seen(bank, NAME, VERSION, changes[-1].number)
                commits = list(_commits(writer, bank))
                over = _superseded(writer, bank)
                stated = [s for s in writer.statements(bank) if s.uri not in over]
                made = make_patterns(bank, stated)
                writer.put_patterns(bank, [*made, *commit_patterns(bank, commits)])
    return banks


def _superseded(writer: Writer, bank: str) -> set[str]:
    """The records whose rules hold no longer: what replaced them is stated elsewhere."""
    facts = [fact for fact in writer.facts(bank) if fact.kind is FactKind.RULE]
    ended = {link for fact in facts if fact.status in ENDED_STATUSES for link in fact.evidence}
    return ended - {link for fact in facts if fact.status not in ENDED_STATUSES for link in fact.evidence}


def _read(writer: Writer, bank: str, session: str) -> None:
    if not session:
        stated = [s for commit in _commits(writer, bank) for s in of_commit(commit)]
        stated += [s for memory in _memories(writer, bank) for s in of_memory(memory)]
        writer.put_statements(bank, "", stated)
        return
    known = writer.session(bank, session)
    if known is None:
        writer.put_statements(bank, session, ())
        return
    turns, exchanges = writer.turns_from(bank, session), writer.exchanges(bank, session)
    claims = writer.claims(bank, session)
    writer.put_statements(bank, session, list(of_session(known, turns, exchanges, claims)))


def _commits(writer: Writer, bank: str) -> Iterator[Commit]:
    """The commits that are shown, in their words of now."""
    for commit in writer.all_commits(bank):
        known = writer.curation_state(bank, "commit", commit.id)
        if known is None:
            yield commit
        elif not known.gone:
            yield corrected_commit(commit, known.text) if known.text else commit


def _memories(writer: Writer, bank: str) -> Iterator[Memory]:
    for memory in writer.all_remembered(bank):
        known = writer.curation_state(bank, "memory", memory.id)
        if memory.by_agent and not (known and known.text):
            continue
        if known is None or not known.gone:
            yield corrected_memory(memory, known.text) if known and known.text else memory
