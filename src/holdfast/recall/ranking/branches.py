"""Which records belong to the line of history that is asked about, and which are astray.

A commit is astray where that line does not contain it; an exchange or a digest, where it made
commits and all of them are. What made none belongs to every line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from holdfast.errors import NotFoundError
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate, PassageKey, passage_key
from holdfast.store.protocol import Reader

ANY_BRANCH = "any"
ASTRAY = 0.7
_OF_A_SESSION = ("exchange", "digest")


def demote_unmerged(reader: Reader, candidates: Collection[Candidate], branch: str) -> None:
    """Rank what is astray lower: by what is checked out, or by a branch; never for any."""
    lost = unmerged_passages(reader, [candidate.passage for candidate in candidates], branch)
    for candidate in candidates if lost else ():
        if candidate.key in lost:
            candidate.notes["astray"] = ASTRAY
            candidate.factor *= ASTRAY
            candidate.score *= ASTRAY


def unmerged_passages(reader: Reader, passages: Iterable[Passage], branch: str) -> set[PassageKey]:
    """Those of some passages that the line of history does not contain."""
    by_bank: dict[str, list[Passage]] = {}
    for passage in passages if branch != ANY_BRANCH else ():
        if passage.kind == "commit" or passage.kind in _OF_A_SESSION:
            by_bank.setdefault(passage.bank, []).append(passage)
    found: set[PassageKey] = set()
    for bank, some in by_bank.items():
        if branch or reader.has_unmerged_commits(bank):
            found |= _astray_in(reader, bank, some, branch)
    return found


def check_branch(reader: Reader, bank: str | None, branch: str) -> None:
    """Complain of a branch that nobody knows."""
    if branch in ("", ANY_BRANCH):
        return
    banks = [bank] if bank is not None else [known.id for known in reader.banks()]
    names = sorted({name for id in banks for name in reader.branches(id)})
    if branch not in names:
        there = ", ".join(names[:12]) or "none; `holdfast ingest REPOSITORY` reads a history"
        raise NotFoundError(f"No branch {branch!r} is known.", f"There are: {there}.")


def _astray_in(reader: Reader, bank: str, some: list[Passage], branch: str) -> set[PassageKey]:
    sessions = dict.fromkeys(p.session for p in some if p.kind in _OF_A_SESSION)
    made = [one for session in sessions for one in reader.authorship(bank, session=session)]
    commits = [p.id for p in some if p.kind == "commit"] + [one.commit for one in made]
    lost = _lost(reader, bank, commits, branch)
    found = {passage_key(p) for p in some if p.kind == "commit" and p.id in lost}
    if not lost:
        return found
    for p in (p for p in some if p.kind in _OF_A_SESSION):
        own = [m.commit for m in made if p.id == m.exchange or _is_of(p, m.session)]
        if own and lost.issuperset(own):
            found.add(passage_key(p))
    return found


def _is_of(passage: Passage, session: str) -> bool:
    return passage.kind == "digest" and passage.session == session


def _lost(reader: Reader, bank: str, commits: list[str], branch: str) -> set[str]:
    if not branch:
        return reader.unmerged_commits(bank, list(dict.fromkeys(commits)))
    tip = reader.branches(bank).get(branch)
    return set(commits) - reader.reachable_commits(bank, tip) if tip else set()
