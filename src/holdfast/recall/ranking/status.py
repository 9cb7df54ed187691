"""The status of each candidate: whether what it says still holds, or held at a given time, and
whether it is merged into a branch.

With a time to look back from (`as_of`), later records are left out and later changes of status are
ignored. A fact that was not confirmed for long is ranked a little lower; it is never dropped.

A commit is unmerged ("astray" in JSON) if the branch does not contain it. An exchange or a digest
is unmerged if it made commits and all of them are; one without commits belongs to every branch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from itertools import islice

from holdfast.errors import NotFoundError
from holdfast.model.fact_history import status_change_at
from holdfast.model.knowledge import Fact, Memory, StatusChange
from holdfast.model.query import Hit, Passage
from holdfast.model.records import Digest, Exchange
from holdfast.model.team import Commit
from holdfast.model.trust import ENDED_STATUSES, REPLACED_STATUSES, Status
from holdfast.model.uris import SCHEME, uri
from holdfast.recall.core.candidates import Candidate, PassageKey, Pool, passage_key
from holdfast.recall.core.ended_words import (
    WHOLE_SESSION,
    EndedWords,
    has_ended,
    read_ended_words,
)
from holdfast.recall.core.evidence_turns import place_of
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from holdfast.store.protocol import Reader

KINDS_WITH_STATUS = ("fact", "turn", "exchange", "memory")
# Whether these hold is known without reading their words: a fact has a status, and a rule holds
# while it is in its file.
_OWN_STATUS = ("fact", "rule")
# A fact that was not confirmed for 90 days loses 0.05, the same again after each doubling of that
# time, and 0.15 at most: age alone must not bury a fact.
_FRESH_DAYS = 90
_LOSS_PER_DOUBLING = 0.05
_LOWEST_FACTOR = 0.85


def apply_status(
    reader: Reader, pool: Pool, as_of: str, now: Callable[[], str], known: int = 0
) -> None:
    """Drop what did not exist at `as_of`, and give the rest its status of then. The first `known`
    candidates of the pool have theirs already."""
    added = list(islice(pool, known, None))
    if as_of:
        gone = {c.key for c in added if not existed_at(reader, c.passage, as_of)}
        pool.drop(gone)
        added = [candidate for candidate in added if candidate.key not in gone]
    histories = status_histories(reader, (c.passage for c in added))
    at = as_of or now()
    for candidate in added:
        passage = candidate.passage
        last = status_change_at(histories.get(candidate.key, ()), as_of)
        if passage.kind == "fact":
            status = last.status if last else Status.OBSERVED
            candidate.passage = passage._replace(status=status)
            factor = _fact_decay(reader, passage, at)
            if factor < 1.0:
                candidate.notes["decay"] = candidate.factor = factor
        elif last is not None and passage.status in (Status.OBSERVED, Status.VERIFIED):
            candidate.passage = passage._replace(status=last.status)


def mark_ended(reader: Reader, candidates: Iterable[Candidate], as_of: str = "") -> None:
    """Note the sentences of candidates that no longer hold; a candidate that says little else gets
    the status of what ended."""
    by_bank: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_bank.setdefault(candidate.passage.bank, []).append(candidate)
    for bank, some in by_bank.items():
        sessions = (candidate.passage.session for candidate in some)
        words = read_ended_words(reader, bank, sessions, as_of)
        for candidate in some:
            _mark_ended(reader, candidate, words)


def _mark_ended(reader: Reader, candidate: Candidate, words: EndedWords) -> None:
    p = candidate.passage
    if p.kind in _OWN_STATUS:
        is_ended = p.status in ENDED_STATUSES
        candidate.ended = words.of_record(uri(p.kind, p.id)) if is_ended else ()
        return
    session, place = p.session, WHOLE_SESSION if p.kind == "digest" else p.seq
    if p.kind == "commit" and words.mentions(p.body):
        for commit in reader.records.find(p.bank, "commit", p.id, 1):
            session, place = place_of(reader, commit) if isinstance(commit, Commit) else ("", 0)
    found = words.find(p.body, p.time, session, place)
    candidate.ended = found or words.called_outdated(uri(p.kind, p.id))
    if p.status not in ENDED_STATUSES and has_ended(p.body, candidate.ended):
        last = max(candidate.ended, key=lambda one: one.ended)
        candidate.passage = p._replace(status=last.reason.status)


def demote_ended(
    reader: Reader,
    candidates: Sequence[Candidate],
    as_of: str = "",
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> None:
    """Lower the score of candidates that say mainly what no longer holds. What holds instead gets
    the score that they had, because it is about the same."""
    held = [c for c in candidates if c.passage.status not in ENDED_STATUSES]
    mark_ended(reader, candidates, as_of)
    by_uri = {uri(c.passage.kind, c.passage.id): c for c in held}
    for old in held:
        if old.passage.status not in ENDED_STATUSES:
            continue
        for holds in filter(None, (by_uri.get(one.instead) for one in old.ended or ())):
            if holds.score < old.score:
                holds.notes["replaces"] = round(old.score - holds.score, 4)
                holds.score = old.score
        old.notes["superseded"] = weights.superseded
        old.factor *= weights.superseded
        old.score *= weights.superseded


def put_what_holds_first(ranked: Sequence[Candidate], compared: int) -> list[Candidate]:
    """The ranking with each record that holds above those whose words it replaced; the `compared`
    best are looked at."""
    head = list(ranked[:compared])
    by_uri = {uri(c.passage.kind, c.passage.id): c for c in head}
    for old in list(head):
        for name in dict.fromkeys(one.instead for one in old.ended or ()):
            holds = by_uri.get(name)
            if holds is None or holds is old or head.index(holds) < head.index(old):
                continue
            holds.score = old.score
            head.remove(holds)
            head.insert(head.index(old), holds)
    return [*head, *ranked[compared:]]


def status_histories(
    reader: Reader, passages: Iterable[Passage]
) -> dict[PassageKey, list[StatusChange]]:
    """The changes of status of some passages."""
    by_bank: dict[str, list[tuple[str, str]]] = {}
    for passage in passages:
        if passage.kind in KINDS_WITH_STATUS:
            by_bank.setdefault(passage.bank, []).append((passage.kind, passage.id))
    found: dict[PassageKey, list[StatusChange]] = {}
    for bank, names in by_bank.items():
        for change in reader.facts.status_changes(bank, names):
            found.setdefault((bank, change.kind, change.id), []).append(change)
    return found


def existed_at(reader: Reader, passage: Passage, as_of: str) -> bool:
    """Whether a record was complete at a time; False for records without a time."""
    if not passage.time or passage.time > as_of:
        return False
    if passage.kind not in ("exchange", "digest"):
        return True
    found = reader.records.find(passage.bank, passage.kind, passage.id, 1)
    return all(not isinstance(r, Exchange | Digest) or r.ended <= as_of for r in found)


def _fact_decay(reader: Reader, passage: Passage, at: str) -> float:
    """The factor for a fact's age; 1 for verified facts."""
    for record in reader.records.find(passage.bank, "fact", passage.id, 1):
        if isinstance(record, Fact) and record.status is not Status.VERIFIED:
            return decay(record.last_validated, at)
    return 1.0


def decay(last_validated: str, now: str) -> float:
    """The factor for a fact that was last confirmed at a time."""
    if not last_validated or not now:
        return 1.0
    days = (datetime.fromisoformat(now) - datetime.fromisoformat(last_validated)).days
    factor, left = 1.0, days / _FRESH_DAYS
    while left > 1 and factor > _LOWEST_FACTOR:
        factor, left = factor - _LOSS_PER_DOUBLING, left / 2
    return round(max(factor, _LOWEST_FACTOR), 3)


def supersession_of(reader: Reader, hit: Hit, as_of: str = "") -> tuple[str, tuple[str, ...]]:
    """The URI of the fact that superseded or amended a hit, or of what closed a task ("" if there
    is none), and of those that it superseded, amended or closed."""
    by, before = _own_supersession(reader, hit)
    if hit.kind == "fact" or by or before:
        pass
    elif hit.kind in KINDS_WITH_STATUS and hit.status not in REPLACED_STATUSES:
        stated = reader.facts.stated_in(hit.bank, hit.uri)
        before = tuple(name for fact in stated for name in fact.supersedes)
    elif hit.status in REPLACED_STATUSES:
        name = hit.kind, hit.uri.rpartition("/")[2]
        last = status_change_at(reader.facts.status_changes(hit.bank, [name]), as_of)
        by = last.because if last and "/fact/" in last.because else ""
    if hit.status not in REPLACED_STATUSES:
        by = ""
    if as_of:
        before = tuple(name for name in before if _had_ended(reader, hit.bank, name, as_of))
    return by, before


def _own_supersession(reader: Reader, hit: Hit) -> tuple[str, tuple[str, ...]]:
    """What a fact or a memory itself says about it."""
    if hit.kind in ("fact", "memory"):
        for record in reader.records.find(hit.bank, hit.kind, hit.uri.rpartition("/")[2], 1):
            if isinstance(record, Fact | Memory):
                return record.superseded_by, record.supersedes
    return "", ()


def _had_ended(reader: Reader, bank: str, name: str, as_of: str) -> bool:
    """Whether a fact or a task was superseded, amended or retracted at a time."""
    kind, _, id = name.removeprefix(SCHEME).partition("/")
    last = status_change_at(reader.facts.status_changes(bank, [(kind, id)]), as_of)
    return last is not None and last.status in (*ENDED_STATUSES, *REPLACED_STATUSES)


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
        if branch or reader.git.has_unmerged_commits(bank):
            found |= _unmerged_in_bank(reader, bank, some, branch)
    return found


def check_branch(reader: Reader, bank: str | None, branch: str) -> None:
    """Raise `NotFoundError` for a branch that no bank knows."""
    if branch in ("", ANY_BRANCH):
        return
    banks = [bank] if bank is not None else [known.id for known in reader.banks.all()]
    names = sorted({name for id in banks for name in reader.git.branches(id)})
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
    made = [one for session in sessions for one in reader.git.authorship(bank, session=session)]
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
        return reader.git.unmerged_commits(bank, list(dict.fromkeys(commits)))
    tip = reader.git.branches(bank).get(branch)
    return set(commits) - reader.git.reachable_commits(bank, tip) if tip else set()
