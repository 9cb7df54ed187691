"""Which records belong to a branch, and which are unmerged ("astray" in JSON).

A commit is unmerged if the branch does not contain it. An exchange or a digest is unmerged if it
made commits and all of them are; one without commits belongs to every branch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from holdfast.errors import NotFoundError
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate, PassageKey, passage_key
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from holdfast.store.protocol import Reader

ANY_BRANCH = "any"
_SESSION_KINDS = ("exchange", "digest")
_MAX_BRANCHES_NAMED = 12


def demote_unmerged(
    reader: Reader,
    candidates: Collection[Candidate],
    branch: str,
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> None:
    """Lower the score of candidates that are not merged into a branch ("" for HEAD)."""
    unmerged = unmerged_passages(reader, [candidate.passage for candidate in candidates], branch)
    for candidate in candidates if unmerged else ():
        if candidate.key in unmerged:
            candidate.notes["astray"] = weights.unmerged
            candidate.factor *= weights.unmerged
            candidate.score *= weights.unmerged


def unmerged_passages(reader: Reader, passages: Iterable[Passage], branch: str) -> set[PassageKey]:
    """Those of some passages that a branch does not contain; none for `ANY_BRANCH`."""
    by_bank: dict[str, list[Passage]] = {}
    for passage in passages if branch != ANY_BRANCH else ():
        if passage.kind == "commit" or passage.kind in _SESSION_KINDS:
            by_bank.setdefault(passage.bank, []).append(passage)
    found: set[PassageKey] = set()
    for bank, some in by_bank.items():
        if branch or reader.has_unmerged_commits(bank):
            found |= _unmerged_in_bank(reader, bank, some, branch)
    return found


def check_branch(reader: Reader, bank: str | None, branch: str) -> None:
    """Raise `NotFoundError` for a branch that no bank knows."""
    if branch in ("", ANY_BRANCH):
        return
    banks = [bank] if bank is not None else [known.id for known in reader.banks()]
    names = sorted({name for id in banks for name in reader.branches(id)})
    if branch not in names:
        there = (
            ", ".join(names[:_MAX_BRANCHES_NAMED])
            or "none; `holdfast ingest REPOSITORY` reads a history"
        )
        raise NotFoundError(f"No branch {branch!r} is known.", f"There are: {there}.")


def _unmerged_in_bank(
    reader: Reader, bank: str, passages: list[Passage], branch: str
) -> set[PassageKey]:
    sessions = dict.fromkeys(p.session for p in passages if p.kind in _SESSION_KINDS)
    made = [one for session in sessions for one in reader.authorship(bank, session=session)]
    commits = [p.id for p in passages if p.kind == "commit"] + [one.commit for one in made]
    unmerged = _unmerged_commits(reader, bank, commits, branch)
    found = {passage_key(p) for p in passages if p.kind == "commit" and p.id in unmerged}
    if not unmerged:
        return found
    for p in (p for p in passages if p.kind in _SESSION_KINDS):
        own = [m.commit for m in made if p.id == m.exchange or _is_digest_of(p, m.session)]
        if own and unmerged.issuperset(own):
            found.add(passage_key(p))
    return found


def _is_digest_of(passage: Passage, session: str) -> bool:
    return passage.kind == "digest" and passage.session == session


def _unmerged_commits(reader: Reader, bank: str, commits: list[str], branch: str) -> set[str]:
    if not branch:
        return reader.unmerged_commits(bank, list(dict.fromkeys(commits)))
    tip = reader.branches(bank).get(branch)
    return set(commits) - reader.reachable_commits(bank, tip) if tip else set()
