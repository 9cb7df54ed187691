"""Answers from git history: who, when, what changed, was it ever reverted, and why.

History answers these better than sentences that share words with the question: a revert is
recorded in git, and so are who changed a file and when. A commit is about a topic if its message
has nearly all words of the topic, or if it touched the file that is named. Where no commit is,
there is no answer here, and the question is answered from memory like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.language import causal_relations, sentences, states_decision, stem, truncate, words
from holdfast.model.query import Answer, Confidence, Hit, Layer, Passage, RecordFilter
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.team import Commit
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.relevance import stems_in, weigh_terms, weight_share
from holdfast.recall.lookup.filters import commits_touching
from holdfast.recall.query.query import find_time_range
from holdfast.recall.query.terms import Terms, read_terms
from holdfast.recall.query.time_phrases import TimeRange
from holdfast.recall.ranking.hits import make_hit
from holdfast.regex import regex
from holdfast.research.answering.answer import AskRequest, compose
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS, Quote
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.research.history.question_kinds import HistoryQuestion, QuestionKind, without_article
from holdfast.store.protocol import Reader


class CommitMatching(NamedTuple):
    """When a commit, or a sentence, is about a topic: shares of the topic's weight."""

    # At least this much, so that one minor word may be missing.
    min_coverage: float = 0.75
    # All of it, for practical purposes: gives high confidence, and hides commits that cover less.
    full_coverage: float = 0.9
    # A line of an answer that gives a reason, which is shorter and need not repeat the question.
    min_reason_coverage: float = 0.5
    # The file names of a commit count as its words if there are at most so many: a commit that
    # touches many files is about none of them.
    max_files: int = 12


class HistoryLimits(NamedTuple):
    """How much is read, and how much is shown."""

    # Commits of a path, and passages for a topic. Bounds the time in a long history.
    commits_of_path: int = 2000
    passages: int = 200
    # Turns that are read for the sentence that decided something.
    turns: int = 24
    # People who are ranked, so that enough remain without bots or without those who reviewed
    # nothing; and how many are shown.
    experts_ranked: int = 50
    experts_shown: int = 4
    # Commits, or decisions, that are shown with what became of them.
    reverts_shown: int = 3
    # Fewer commits and reviews than this give medium confidence in an expert.
    sure_contributions: int = 3


_MATCH = CommitMatching()
_LIMITS = HistoryLimits()
# Commits that are listed unless the caller asks for more.
_COMMITS_SHOWN = 6
# Every commit changes something, so these words do not tell one commit from another.
_ANY_CHANGE = frozenset(stem(w) for w in "change changed update updated touch touched "
                        "modify modified edit edited".split())  # fmt: skip
_PATH = regex(r"^[\w.@-]*[/.][\w./@-]*\w/?$")
_SHA = regex(r"^[0-9a-f]{7,40}$")
_REASON = regex(
    r"\b(?:because|since|so that|in order to|due to|as it|the reason|which (?:broke|caused|led)|"
    r"otherwise|would have|to (?:avoid|prevent|keep|stop|make))\b"
)
_MANUAL_REVERTS = "A change that was taken back by hand, without git's words for it, is not seen."
_BECAUSE = "because, "
_NO_REASON_CAVEAT = "None of this says why in so many words."
_EXPERTS_CAVEAT = "By commits and reviews; what nobody wrote down is not counted."
_FIRST_CAVEAT = "The earliest commit that was read; history before it may be missing."


class FoundCommits(NamedTuple):
    """Commits about a topic, the earliest first; the share of the topic that the best one covers;
    and how they relate to it, for people."""

    commits: list[Commit]
    coverage: float
    how: str = "speak of it"


def answer_from_history(
    reader: Reader, request: AskRequest, question: HistoryQuestion, limit: int = _COMMITS_SHOWN
) -> Answer | None:
    """The answer from git history; None if it has none. `limit` is how many commits to list."""
    if request.layers and Layer.TEAM not in request.layers:
        return None
    if question.kind is QuestionKind.KNOWS:
        return _answer_who_knows(reader, request, question, limit)
    if question.kind is QuestionKind.REVIEWED:
        return _answer_who_knows(reader, request, question, limit, reviews=True)
    if question.kind is QuestionKind.DECIDED:
        return _answer_who_decided(reader, request, question)
    if question.kind is QuestionKind.WHY:
        return None
    when = find_time_range(reader, request.bank, request.question, request.as_of or request.now())
    topic = _without_time(reader, request, question.topic) if when is not None else question.topic
    span = when if question.kind is QuestionKind.CHANGES else None
    found = commits_about(reader, request, topic, span, question.kind is not QuestionKind.REVERTED)
    if not found.commits:
        return None
    if question.kind is QuestionKind.REVERTED:
        return _answer_reverted(reader, request, found, limit)
    if question.kind is QuestionKind.CHANGES:
        return _answer_changes(reader, request, found, limit)
    return _answer_when(reader, request, question, found)


def _without_time(reader: Reader, request: AskRequest, topic: str) -> str:
    found = find_time_range(reader, request.bank, topic, request.as_of or request.now())
    return without_article(found.rest) or topic if found is not None else topic


def commits_about(
    reader: Reader,
    request: AskRequest,
    topic: str,
    when: TimeRange | None = None,
    by_files: bool = True,
) -> FoundCommits:
    """The commits of a topic, which may be a path, a commit hash, or words of the message. With
    `by_files` the names of the files that a commit touched count as its words."""
    until = when.end if when is not None and when.end else ""
    until = min(filter(None, (until, f"{request.as_of}~" if request.as_of else "")), default="")
    since = when.start if when is not None else ""
    if _SHA.match(topic.lower()):
        named = reader.find(request.bank, "commit", topic.lower(), 2)
        commits = [c for c in named if isinstance(c, Commit)]
        return FoundCommits(commits if len(commits) == 1 else [], 1.0)
    if _PATH.match(topic):
        wanted = RecordFilter(file=topic, since=since, until=until)
        commits, _ = commits_touching(reader, request.bank, wanted, _LIMITS.commits_of_path)
        if commits:
            return FoundCommits(sorted(commits, key=_time_order), 1.0, "touched it")
    return _commits_by_words(reader, request, topic, (since, until), by_files)


def _commits_by_words(
    reader: Reader, request: AskRequest, topic: str, span: tuple[str, str], by_files: bool
) -> FoundCommits:
    terms = read_terms(topic)
    weights = weigh_terms(reader, request.bank, terms.words).by_stem
    team = [Layer.TEAM.value]
    found: list[tuple[float, Commit]] = []
    for match in reader.search(request.bank, terms.all, team, _LIMITS.passages, *span):
        passage = match.passage
        is_commit = passage.kind == "commit"
        commit = _find_commit(reader, passage.bank, passage.id) if is_commit else None
        if commit is not None:
            reads_files = by_files and len(commit.files) <= _MATCH.max_files
            text = " ".join((passage.body, *commit.files)) if reads_files else passage.body
            covered = weight_share(weights, stems_in(weights, text))
            if covered >= _MATCH.min_coverage and _has_exact_names(terms, text):
                found.append((covered, commit))
    best = max((covered for covered, _ in found), default=0.0)
    has_full = best >= _MATCH.full_coverage
    min_coverage = _MATCH.full_coverage if has_full else _MATCH.min_coverage
    return FoundCommits(sorted((c for n, c in found if n >= min_coverage), key=_time_order), best)


def _find_commit(reader: Reader, bank: str | None, id: str) -> Commit | None:
    found = reader.find(bank, "commit", id, 1)
    return next((record for record in found if isinstance(record, Commit)), None)


def _has_exact_names(terms: Terms, text: str) -> bool:
    """Whether a text has each name of a question exactly: 3.6 is not 3.10."""
    return all(
        re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", text, re.IGNORECASE)
        for name in terms.phrases
    )


def _time_order(commit: Commit) -> tuple[str, str]:
    return commit.time, commit.id


def _hit_of(reader: Reader, commit: Commit, as_of: str) -> Hit:
    body = f"{commit.subject}\n\n{commit.body}".strip()
    passage = Passage(commit.bank, "commit", commit.id, "", commit.time, body, trust=commit.trust)
    return make_hit(reader, Candidate(passage, score=1.0), as_of)


def _quote_commit(
    reader: Reader, request: AskRequest, commit: Commit, lead: str = "", more: str = ""
) -> Quote:
    text = f"{commit.subject} ({commit.author}{f', {more}' if more else ''})"
    return Quote(
        _hit_of(reader, commit, request.as_of), truncate(text, MAX_SENTENCE_CHARS), 1.0, 1.0, lead
    )


def _compose(
    reader: Reader,
    request: AskRequest,
    quotes: Sequence[Quote],
    confidence: Confidence,
    notes: Sequence[str],
) -> Answer:
    return compose(reader, request, quotes, confidence, notes, from_git=True)


def _confidence(found: FoundCommits) -> Confidence:
    return Confidence.HIGH if found.coverage >= _MATCH.full_coverage else Confidence.MEDIUM


def _answer_reverted(
    reader: Reader, request: AskRequest, found: FoundCommits, limit: int
) -> Answer:
    """Which commits were reverted and by which, and whether the reverts were reverted in turn."""
    shown = min(_LIMITS.reverts_shown, limit)
    reverted = [(c, reverts) for c in found.commits if (reverts := _reverts_of(reader, request, c))]
    if not reverted:
        own = [c for c in found.commits if not c.subject.startswith("Revert ")] or found.commits
        not_reverted = "not reverted, as far as the history tells: "
        quotes = [_quote_commit(reader, request, c, not_reverted) for c in own[-shown:][::-1]]
        full = found.coverage >= _MATCH.full_coverage
        confidence = Confidence.MEDIUM if full else Confidence.LOW
        return _compose(
            reader, request, quotes, confidence, [_MANUAL_REVERTS, *_unmerged_caveats(reader, own)]
        )
    quotes: list[Quote] = []
    for commit, reverts in reverted[-shown:][::-1]:
        quotes.append(_quote_commit(reader, request, commit, "was reverted: "))
        quotes += [_quote_commit(reader, request, revert, "the revert: ") for revert in reverts]
        reverted_again = [c for revert in reverts for c in _reverts_of(reader, request, revert)]
        quotes += [
            _quote_commit(reader, request, c, "which was taken back in turn: ")
            for c in reverted_again
        ]
    commits = [commit for commit, _ in reverted]
    return _compose(reader, request, quotes, _confidence(found), _unmerged_caveats(reader, commits))


def _reverts_of(reader: Reader, request: AskRequest, commit: Commit) -> list[Commit]:
    ids = reader.reverted_by(commit.bank, commit.id)
    found = (_find_commit(reader, commit.bank, id) for id in ids)
    until = request.as_of
    return [c for c in found if c is not None and (not until or c.time <= until)]


def _unmerged_caveats(reader: Reader, commits: Sequence[Commit]) -> list[str]:
    """A caveat if the checked-out branch does not contain some of the commits."""
    unmerged = [c for c in commits if reader.unmerged_commits(c.bank, [c.id])]
    if not unmerged:
        return []
    return [
        f"What is checked out does not contain {len(unmerged)} of {len(commits)} of these commits."
    ]


def _answer_changes(reader: Reader, request: AskRequest, found: FoundCommits, limit: int) -> Answer:
    """The latest commits, and how many there are in all."""
    latest = found.commits[::-1]
    quotes = [_quote_commit(reader, request, c, more=_files_summary(c)) for c in latest[:limit]]
    people = {c.author for c in latest}
    notes = [
        f"{len(latest)} commit{'s' * (len(latest) != 1)} by {len(people)} "
        f"{'people' if len(people) != 1 else 'person'}, {latest[-1].time[:10]} to "
        f"{latest[0].time[:10]}{'; the latest are shown' if len(latest) > limit else ''}."
    ]
    return _compose(
        reader, request, quotes, _confidence(found), [*notes, *_unmerged_caveats(reader, latest)]
    )


def _files_summary(commit: Commit) -> str:
    count = len(commit.files)
    return commit.files[0] if count == 1 else f"{count} files" if count else ""


def _answer_when(
    reader: Reader, request: AskRequest, question: HistoryQuestion, found: FoundCommits
) -> Answer:
    """The first or the last commit. For the last, commits whose subject names the action
    ("removed") win; otherwise commits that were not reverted do."""
    stems = {stem(word) for word in words(question.action)} - _ANY_CHANGE
    named = [c for c in found.commits if stems & {stem(w) for w in words(c.subject)}]
    kept = [c for c in found.commits if not _reverts_of(reader, request, c)]
    candidates = named if named and question.kind is QuestionKind.LAST else kept or found.commits
    commit = candidates[0] if question.kind is QuestionKind.FIRST else candidates[-1]
    lead = "first: " if question.kind is QuestionKind.FIRST else "last: "
    notes = [_FIRST_CAVEAT] if question.kind is QuestionKind.FIRST else []
    quotes = [_quote_commit(reader, request, commit, lead, _files_summary(commit))]
    if len(candidates) > 1:
        notes.append(f"{len(candidates)} commits {found.how}, {_date_range(candidates)}.")
    return _compose(
        reader, request, quotes, _confidence(found), [*notes, *_unmerged_caveats(reader, [commit])]
    )


def _date_range(commits: Sequence[Commit]) -> str:
    return f"{commits[0].time[:10]} to {commits[-1].time[:10]}"


def _answer_who_knows(
    reader: Reader,
    request: AskRequest,
    question: HistoryQuestion,
    limit: int,
    reviews: bool = False,
) -> Answer | None:
    """The experts on a topic, with `reviews` those who reviewed most. At least one commit must be
    about the whole topic: single words of it make nobody an expert."""
    if not commits_about(reader, request, question.topic).commits:
        return None
    now = request.as_of or request.now()
    experts = rank_experts(reader, request.bank, question.topic, now, _LIMITS.experts_ranked)
    wanted = [e for e in experts if e.reviews or not reviews]
    if reviews:
        wanted.sort(key=lambda e: -e.reviews)
    people = [e for e in wanted if not e.is_bot] or wanted
    quotes = [
        Quote(hit, truncate(_describe_expert(e, reviews), MAX_SENTENCE_CHARS), 1.0, e.score)
        for e in people[: min(_LIMITS.experts_shown, limit)]
        for hit in _best_evidence(reader, request, e)
    ]
    if not quotes:
        return None
    sure = people[0].commits + people[0].reviews >= _LIMITS.sure_contributions
    confidence = Confidence.HIGH if sure else Confidence.MEDIUM
    return _compose(reader, request, quotes, confidence, [_EXPERTS_CAVEAT])


def _describe_expert(expert: Expert, reviews: bool) -> str:
    e = expert
    counts = f"{e.commits} commit{'s' * (e.commits != 1)}"
    if e.reviews:
        review_count = f"{e.reviews} review{'s' * (e.reviews != 1)}"
        counts = f"{review_count}, {counts}" if reviews else f"{counts}, {review_count}"
    share = "" if reviews else f"{e.share:.0%} of it, "
    return f"{e.name} <{e.email}>: {share}{counts}, {e.first[:10]} to {e.last[:10]}, most in " + (
        ", ".join(e.areas) or "no folder"
    )


def _best_evidence(reader: Reader, request: AskRequest, expert: Expert) -> list[Hit]:
    """The first commit that speaks for an expert, if any."""
    for name in expert.evidence:
        commit = _find_commit(reader, request.bank, name.rpartition("/")[2])
        if commit is not None and (not request.as_of or commit.time <= request.as_of):
            return [_hit_of(reader, commit, request.as_of)]
    return []


def _answer_who_decided(
    reader: Reader, request: AskRequest, question: HistoryQuestion
) -> Answer | None:
    """The latest sentences that decide a topic, each with its speaker."""
    terms = read_terms(question.topic)
    weights = weigh_terms(reader, request.bank, terms.words).by_stem
    until = f"{request.as_of}~" if request.as_of else ""
    layers = [Layer.TRANSCRIPTS.value]
    found: list[tuple[str, Quote]] = []
    for match in reader.search(request.bank, terms.all, layers, _LIMITS.turns, until=until):
        turn = next(iter(reader.find(match.passage.bank, "turn", match.passage.id, 1)), None)
        if not isinstance(turn, Turn) or turn.tool is not None:
            continue
        for sentence in sentences(turn.text):
            covered = weight_share(weights, stems_in(weights, sentence))
            is_question = sentence.rstrip().endswith("?")
            if covered >= _MATCH.min_coverage and states_decision(sentence) and not is_question:
                hit = make_hit(reader, Candidate(match.passage, score=1.0), request.as_of)
                text = truncate(sentence, MAX_SENTENCE_CHARS)
                found.append((turn.time, Quote(hit, text, 1.0, 1.0, f"{_speaker(turn)}: ")))
                break
    quotes = [quote for _, quote in sorted(found, key=lambda pair: pair[0], reverse=True)]
    if not quotes:
        return None
    return compose(reader, request, quotes[: _LIMITS.reverts_shown], Confidence.MEDIUM)


def _speaker(turn: Turn) -> str:
    return turn.speaker or ("the user" if turn.role is Role.USER else "the agent")


def add_reason(
    reader: Reader, request: AskRequest, answer: Answer, hits: Iterable[Hit]
) -> Answer | None:
    """For a "why" question whose answer gives no reason: the commit that did it, with the reason
    from its message or from the session that made it. None if the answer gives a reason already,
    or none is known."""
    terms = read_terms(request.question)
    weights = weigh_terms(reader, request.bank, terms.words).by_stem
    if _gives_reason(answer, terms, weights):
        return None
    for hit in hits:
        is_commit = hit.kind == "commit"
        commit = _find_commit(reader, hit.bank, hit.uri.rpartition("/")[2]) if is_commit else None
        # A commit with another subject gives the reason for something else.
        if commit is None or not _is_about(terms, weights, commit.subject, _MATCH.min_coverage):
            continue
        if reasons := _reasons_for(reader, request, commit, hit):
            first = _quote_commit(reader, request, commit)
            return compose(reader, request, [first, *reasons], answer.confidence)
    return None


def _is_about(terms: Terms, weights: Mapping[str, float], text: str, min_coverage: float) -> bool:
    covered = weight_share(weights, stems_in(weights, text))
    return covered >= min_coverage and _has_exact_names(terms, text)


def mark_missing_reason(reader: Reader, request: AskRequest, answer: Answer) -> Answer:
    """The answer to a "why" question; with a caveat and less confidence if it gives no reason."""
    terms = read_terms(request.question)
    weights = weigh_terms(reader, request.bank, terms.words).by_stem
    if answer.abstained or _gives_reason(answer, terms, weights):
        return answer
    lowered = {Confidence.HIGH: Confidence.MEDIUM}.get(answer.confidence, Confidence.LOW)
    return replace(answer, confidence=lowered, caveats=(_NO_REASON_CAVEAT, *answer.caveats))


def _gives_reason(answer: Answer, terms: Terms, weights: Mapping[str, float]) -> bool:
    """Whether a line of an answer gives a reason for what was asked."""
    reason_lines = [line for line in answer.answer.split("\n") if _is_reason(line)]
    return any(
        _BECAUSE in line or _is_about(terms, weights, line, _MATCH.min_reason_coverage)
        for line in reason_lines
    )


def _reasons_for(reader: Reader, request: AskRequest, commit: Commit, hit: Hit) -> list[Quote]:
    reasons = [s for s in sentences(commit.body) if _is_reason(s)]
    if reasons:
        lead = f"{_BECAUSE}says its message: "
        return [Quote(hit, truncate(reasons[0], MAX_SENTENCE_CHARS), 0.0, hit.score, lead)]
    for made in reader.authorship(commit.bank, commit=commit.id)[:1]:
        for exchange in reader.find(commit.bank, "exchange", made.exchange, 1):
            if isinstance(exchange, Exchange):
                return _reason_in_exchange(reader, request, exchange)
    return []


def _reason_in_exchange(reader: Reader, request: AskRequest, exchange: Exchange) -> list[Quote]:
    """The first reason given in an exchange, a person's before the agent's; at most one quote."""
    x = exchange
    found: list[tuple[bool, str, Turn, str]] = []
    for turn in reader.turns(x.bank, x.session, x.first_seq, x.last_seq):
        if turn.tool is None and (not request.as_of or turn.time <= request.as_of):
            sentence = next((s for s in sentences(turn.text) if _is_reason(s)), "")
            if sentence:
                found.append((turn.role is not Role.USER, turn.time, turn, sentence))
    for _, _, turn, sentence in sorted(found, key=lambda one: one[:2])[:1]:
        passage = Passage(turn.bank, "turn", turn.id, turn.session, turn.time, turn.text,
                          trust=turn.trust, role=turn.role.value, seq=turn.seq)  # fmt: skip
        hit = make_hit(reader, Candidate(passage, score=1.0), request.as_of)
        lead = f"{_BECAUSE}{_speaker(turn)} said in making it: "
        return [Quote(hit, truncate(sentence, MAX_SENTENCE_CHARS), 0.0, 1.0, lead)]
    return []


def _is_reason(sentence: str) -> bool:
    if sentence.rstrip().endswith("?"):
        return False
    return bool(_REASON.search(sentence.lower())) or any(
        relation.how == "causes" for relation in causal_relations(sentence)
    )
