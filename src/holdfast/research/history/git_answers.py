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
from operator import attrgetter
from typing import NamedTuple

from holdfast.language import (
    causal_relations,
    counted,
    sentences,
    states_decision,
    stem,
    truncate,
    words,
)
from holdfast.model.query import Answer, Confidence, Hit, Layer, Passage, RecordFilter
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.team import Commit
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.relevance import coverage, weigh_terms
from holdfast.recall.lookup.filters import commits_touching
from holdfast.recall.query.query import find_time_range
from holdfast.recall.query.terms import Terms, read_terms
from holdfast.recall.query.time_ranges import TimeRange
from holdfast.recall.ranking.hits import make_hit
from holdfast.regex import regex
from holdfast.research.answering.answer import compose
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS, Quote
from holdfast.research.answering.request import AskRequest
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.research.history.question_kinds import (
    HistoryQuestion,
    QuestionKind,
    read_history_question,
    without_article,
)
from holdfast.store.protocol import Reader


class CommitMatching(NamedTuple):
    """When a commit, or a sentence, is about a topic: shares of the topic's weight."""

    # At least this much, so that one minor word may be missing.
    min_coverage: float = 0.75
    # All of it, for practical purposes: hides commits that cover less.
    full_coverage: float = 0.9
    # A line of an answer that gives a reason, which is shorter and need not repeat the question.
    min_reason_coverage: float = 0.4
    # The same for a line that calls it the cause.
    min_cause_coverage: float = 0.25
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
    # The same for the people to ask about a topic.
    people_ranked: int = 20
    people_shown: int = 3
    # Commits, or decisions, that are shown with what became of them.
    reverts_shown: int = 3
    # Fewer commits and reviews than this give medium confidence in an expert.
    sure_contributions: int = 3


_MATCH = CommitMatching()
_LIMITS = HistoryLimits()
_BY_TIME = attrgetter("time", "id")
# Commits that are listed unless the caller asks for more.
_COMMITS_SHOWN = 6
# Every commit changes something, so these words do not tell one commit from another.
_ANY_CHANGE = frozenset(stem(w) for w in "change changed update updated touch touched "
                        "modify modified edit edited".split())  # fmt: skip
_PATH = regex(r"^[\w.@-]*[/.][\w./@-]*\w/?$")
_SHA = regex(r"^[0-9a-f]{7,40}$")
_REASON = regex(
    r"\b(?:because|since|so that|in order to|due to|as it|the reason|which (?:broke|caused|led)|"
    r"otherwise|would have|to (?:avoid|prevent|keep|stop|make)|what (?:was|went) wrong|what broke|"
    r"(?:failures?|errors?|problems?) (?:are|is|was|were|comes?|came) (?:all |only )?from)\b"
)
_CAUSE = regex(r"\b(?:root cause|culprit|the (?:cause|reason))\b", re.IGNORECASE)
# Explains what was wrong without such words, or gives a reason in another language.
_EXPLAINS = regex(
    r"\b(?:fixed by|turn(?:s|ed) out|(?:bug|problem|issue|fault|mistake)\b[^.;]{0,60}(?:[:—–]| "
    r"(?:is|was) (?:that|in|with)\b)|weil|deshalb|damit|porque|debido a|parce que|à cause|afin|"
    r"perché|poiché|omdat|doordat|ponieważ|потому|поскольку|из-за)|因为|因為|由于|ため|ので|때문",
    re.IGNORECASE,
)
_MANUAL_REVERTS = "Changes that were reverted by hand, without `git revert`, are not found."
_BECAUSE = "because, "
# Patterns find reasons, so it claims nothing about those that no word marks.
_NO_REASON_CAVEAT = "None of these {} gives a reason in so many words."
_OTHER_REASON_CAVEAT = "The reason that is given may be for something else."
# What a team knows: commits, pulls and issues; results of sessions; what people wrote down.
TEAM_LAYERS = (Layer.TEAM, Layer.OBSERVATIONS, Layer.RULES)
_EXPERTS_CAVEAT = "By commits and reviews; what nobody wrote down is not counted."
_FIRST_CAVEAT = "The earliest commit that was read; history before it may be missing."


class FoundCommits(NamedTuple):
    """Commits about a topic, the earliest first; the share of the topic that the best one covers;
    and how they relate to it, for people."""

    commits: list[Commit]
    coverage: float
    how: str = "speak of it"
    # Whether git itself names them: by a path or by a hash, not by the words of a message.
    is_exact: bool = False

    @property
    def is_full(self) -> bool:
        """Whether the best commit covers the whole topic."""
        return self.coverage >= _MATCH.full_coverage

    @property
    def confidence(self) -> Confidence:
        """The confidence in an answer that they give. A message is one source, said once."""
        if self.is_exact:
            return Confidence.HIGH
        return Confidence.MEDIUM if self.is_full else Confidence.LOW


class TeamAnswer(NamedTuple):
    """An answer, the records found for it, best first, and the experts on its topic."""

    answer: Answer
    evidence: tuple[Hit, ...] = ()
    people: tuple[Expert, ...] = ()


class HistoryAnswers:
    """Answers a question from the git history that its request may search."""

    def __init__(self, reader: Reader, request: AskRequest) -> None:
        self._reader = reader
        self._request = request

    def answer(self, question: HistoryQuestion, limit: int = _COMMITS_SHOWN) -> Answer | None:
        """The answer; None if history has none. `limit` is how many commits to list."""
        layers, kind = self._request.layers, question.kind
        if kind is QuestionKind.WHY or (layers and Layer.TEAM not in layers):
            return None
        if kind in (QuestionKind.KNOWS, QuestionKind.REVIEWED):
            return self._answer_who_knows(question, limit)
        if kind is QuestionKind.DECIDED:
            return self._answer_who_decided(question.topic)
        when = self._time_range(self._request.question)
        topic = question.topic
        if when is not None and (timed := self._time_range(topic)) is not None:
            topic = without_article(timed.rest) or topic
        span = when if kind is QuestionKind.CHANGES else None
        found = self.commits_about(topic, span, by_files=kind is not QuestionKind.REVERTED)
        if not found.commits:
            return None
        if kind is QuestionKind.REVERTED:
            return self._answer_reverted(found, limit)
        if kind is QuestionKind.CHANGES:
            return self._answer_changes(found, limit)
        return self._answer_when(question, found)

    def _time_range(self, text: str) -> TimeRange | None:
        return find_time_range(self._reader, self._request.bank, text, self._request.time)

    def commits_about(
        self, topic: str, when: TimeRange | None = None, by_files: bool = True
    ) -> FoundCommits:
        """The commits of a topic, which may be a path, a commit hash, or words of the message. With
        `by_files` the names of the files that a commit touched count as its words."""
        bank = self._request.bank
        since, until = (when.start, when.end) if when is not None else ("", "")
        until = min(filter(None, (until, self._request.until)), default="")
        if _SHA.match(topic.lower()):
            named = self._reader.records.find(bank, "commit", topic.lower(), 2)
            commits = [c for c in named if isinstance(c, Commit)]
            return FoundCommits(commits if len(commits) == 1 else [], 1.0, is_exact=True)
        if _PATH.match(topic):
            wanted = RecordFilter(file=topic, since=since, until=until)
            commits, _ = commits_touching(self._reader, bank, wanted, _LIMITS.commits_of_path)
            if commits:
                return FoundCommits(sorted(commits, key=_BY_TIME), 1.0, "touched it", True)
        return self._commits_by_words(topic, (since, until), by_files)

    def _commits_by_words(self, topic: str, span: tuple[str, str], by_files: bool) -> FoundCommits:
        asked = self._weigh(topic)
        team = [Layer.TEAM.value]
        found: list[tuple[float, Commit]] = []
        for match in self._reader.passages.search(
            self._request.bank, asked.terms.all, team, _LIMITS.passages, *span
        ):
            passage = match.passage
            is_commit = passage.kind == "commit"
            commit = self._find_commit(passage.bank, passage.id) if is_commit else None
            if commit is not None:
                reads_files = by_files and len(commit.files) <= _MATCH.max_files
                text = " ".join((passage.body, *commit.files)) if reads_files else passage.body
                if asked.are_in(text, _MATCH.min_coverage):
                    found.append((asked.coverage(text), commit))
        best = max((covered for covered, _ in found), default=0.0)
        has_full = best >= _MATCH.full_coverage
        least = _MATCH.full_coverage if has_full else _MATCH.min_coverage
        return FoundCommits(sorted((c for n, c in found if n >= least), key=_BY_TIME), best)

    def _weigh(self, text: str) -> _WeighedWords:
        terms = read_terms(text)
        weights = weigh_terms(self._reader, self._request.bank, terms.words).by_stem
        return _WeighedWords(terms, weights)

    def _find_commit(self, bank: str | None, id: str) -> Commit | None:
        found = self._reader.records.find(bank, "commit", id, 1)
        return next((record for record in found if isinstance(record, Commit)), None)

    def _hit_of(self, commit: Commit) -> Hit:
        body = f"{commit.subject}\n\n{commit.body}".strip()
        return self._hit_at(
            Passage(commit.bank, "commit", commit.id, "", commit.time, body, trust=commit.trust)
        )

    def _hit_at(self, passage: Passage) -> Hit:
        return make_hit(self._reader, Candidate(passage, score=1.0), self._request.as_of)

    def _quote(self, commit: Commit, lead: str = "", more: str = "") -> Quote:
        text = f"{commit.subject} ({commit.author}{f', {more}' if more else ''})"
        return Quote(self._hit_of(commit), truncate(text, MAX_SENTENCE_CHARS), 1.0, 1.0, lead)

    def _compose(
        self, quotes: Sequence[Quote], confidence: Confidence, notes: Sequence[str]
    ) -> Answer:
        return compose(
            self._reader, self._request, quotes, confidence, notes, may_be_outdated=False
        )

    def _answer_reverted(self, found: FoundCommits, limit: int) -> Answer:
        """Which commits were reverted and by which, and whether the reverts were reverted in
        turn."""
        shown = min(_LIMITS.reverts_shown, limit)
        reverted = [(c, reverts) for c in found.commits if (reverts := self._reverts_of(c))]
        if not reverted:
            own = [c for c in found.commits if not c.subject.startswith("Revert ")] or found.commits
            not_reverted = "not reverted, according to the history: "
            quotes = [self._quote(c, not_reverted) for c in own[-shown:][::-1]]
            confidence = Confidence.MEDIUM if found.is_full else Confidence.LOW
            return self._compose(quotes, confidence, [_MANUAL_REVERTS, *self._unmerged(own)])
        quotes: list[Quote] = []
        for commit, reverts in reverted[-shown:][::-1]:
            again = [c for revert in reverts for c in self._reverts_of(revert)]
            quotes.append(self._quote(commit, "was reverted: "))
            quotes += [self._quote(c, "the revert: ") for c in reverts]
            quotes += [self._quote(c, "which was reverted in turn: ") for c in again]
        notes = self._unmerged([commit for commit, _ in reverted])
        # The commit and its revert say the same, and git links them.
        confidence = Confidence.HIGH if found.is_full else Confidence.MEDIUM
        return self._compose(quotes, confidence, notes)

    def _reverts_of(self, commit: Commit) -> list[Commit]:
        ids = self._reader.git.reverted_by(commit.bank, commit.id)
        found = (self._find_commit(commit.bank, id) for id in ids)
        return [c for c in found if c is not None and self._request.covers_time(c.time)]

    def _unmerged(self, commits: Sequence[Commit]) -> list[str]:
        """A caveat if the checked-out branch does not contain some of the commits."""
        count = sum(bool(self._reader.git.unmerged_commits(c.bank, [c.id])) for c in commits)
        caveat = f"HEAD does not contain {count} of {len(commits)} of these commits."
        return [caveat] if count else []

    def _answer_changes(self, found: FoundCommits, limit: int) -> Answer:
        """The latest commits, and how many there are in all."""
        latest = found.commits[::-1]
        quotes = [self._quote(c, more=_files_summary(c)) for c in latest[:limit]]
        people = counted(len({c.author for c in latest}), "person", "people")
        note = (
            f"{counted(len(latest), 'commit')} by {people}, "
            f"{_date_range(found.commits)}"
            f"{'; the latest are shown' if len(latest) > limit else ''}."
        )
        return self._compose(quotes, found.confidence, [note, *self._unmerged(latest)])

    def _answer_when(self, question: HistoryQuestion, found: FoundCommits) -> Answer:
        """The first or the last commit. For the last, commits whose subject names the action
        ("removed") win; otherwise commits that were not reverted do."""
        is_first = question.kind is QuestionKind.FIRST
        stems = {stem(word) for word in words(question.action)} - _ANY_CHANGE
        named = [c for c in found.commits if stems & {stem(w) for w in words(c.subject)}]
        kept = [c for c in found.commits if not self._reverts_of(c)]
        candidates = named if named and not is_first else kept or found.commits
        commit = candidates[0 if is_first else -1]
        notes = [_FIRST_CAVEAT] if is_first else []
        if len(candidates) > 1:
            notes.append(f"{len(candidates)} commits {found.how}, {_date_range(candidates)}.")
        quote = self._quote(commit, "first: " if is_first else "last: ", _files_summary(commit))
        return self._compose([quote], found.confidence, [*notes, *self._unmerged([commit])])

    def _answer_who_knows(self, question: HistoryQuestion, limit: int) -> Answer | None:
        """The experts on a topic, or those who reviewed most of it. At least one commit must be
        about the whole topic: single words of it make nobody an expert."""
        if not self.commits_about(question.topic).commits:
            return None
        reviews = question.kind is QuestionKind.REVIEWED
        wanted = self._experts(question.topic, _LIMITS.experts_ranked)
        if reviews:
            wanted = sorted((e for e in wanted if e.reviews), key=lambda e: -e.reviews)
        people = [e for e in wanted if not e.is_bot] or wanted
        quotes = [
            Quote(hit, truncate(_describe_expert(e, reviews), MAX_SENTENCE_CHARS), 1.0, e.score)
            for e in people[: min(_LIMITS.experts_shown, limit)]
            for hit in self._best_evidence(e)
        ]
        if not quotes:
            return None
        sure = people[0].commits + people[0].reviews >= _LIMITS.sure_contributions
        confidence = Confidence.HIGH if sure else Confidence.MEDIUM
        return self._compose(quotes, confidence, [_EXPERTS_CAVEAT])

    def people_to_ask(self) -> tuple[Expert, ...]:
        """The experts on the topic of the question; nobody if no commit is about all of it."""
        question = read_history_question(self._request.question)
        topic = question.topic if question is not None else self._request.question
        if not self.commits_about(topic).commits:
            return ()
        known = self._experts(topic, _LIMITS.people_ranked)
        return tuple(expert for expert in known if not expert.is_bot)[: _LIMITS.people_shown]

    def _experts(self, topic: str, limit: int) -> list[Expert]:
        return rank_experts(self._reader, self._request.bank, topic, self._request.time, limit)

    def _best_evidence(self, expert: Expert) -> list[Hit]:
        """The first commit that speaks for an expert, if any."""
        for name in expert.evidence:
            commit = self._find_commit(self._request.bank, name.rpartition("/")[2])
            if commit is not None and self._request.covers_time(commit.time):
                return [self._hit_of(commit)]
        return []

    def _answer_who_decided(self, topic: str) -> Answer | None:
        """The latest sentences that decide a topic, each with its speaker."""
        asked = self._weigh(topic)
        bank, layers = self._request.bank, [Layer.TRANSCRIPTS.value]
        found: list[tuple[str, Quote]] = []
        for match in self._reader.passages.search(
            bank, asked.terms.all, layers, _LIMITS.turns, until=self._request.until
        ):
            turn = next(
                iter(self._reader.records.find(match.passage.bank, "turn", match.passage.id, 1)),
                None,
            )
            if not isinstance(turn, Turn) or turn.tool is not None:
                continue
            for sentence in sentences(turn.text):
                covers = asked.coverage(sentence) >= _MATCH.min_coverage
                if covers and states_decision(sentence) and not sentence.rstrip().endswith("?"):
                    text = truncate(sentence, MAX_SENTENCE_CHARS)
                    hit = self._hit_at(match.passage)
                    found.append((turn.time, Quote(hit, text, 1.0, 1.0, f"{_speaker(turn)}: ")))
                    break
        quotes = [quote for _, quote in sorted(found, key=lambda pair: pair[0], reverse=True)]
        if not quotes:
            return None
        latest = quotes[: _LIMITS.reverts_shown]
        return compose(self._reader, self._request, latest, Confidence.MEDIUM)

    def add_reason(self, answer: Answer, hits: Iterable[Hit]) -> Answer | None:
        """For a "why" question whose answer gives no reason: the commit that did it, with the
        reason from its message or from the session that made it. None if the answer gives a reason
        already, or none is known."""
        asked = self._weigh(self._request.question)
        if _gives_reason(answer, asked):
            return None
        for hit in hits:
            is_commit = hit.kind == "commit"
            commit = self._find_commit(hit.bank, hit.uri.rpartition("/")[2]) if is_commit else None
            # A commit with another subject gives the reason for something else.
            if commit is None or not asked.are_in(commit.subject, _MATCH.min_coverage):
                continue
            if reasons := self._reasons_for(commit, hit):
                quotes = [self._quote(commit), *reasons]
                return compose(self._reader, self._request, quotes, answer.confidence)
        return None

    def mark_missing_reason(self, answer: Answer) -> Answer:
        """The answer to a "why" question, with less confidence if it gives no reason for what was
        asked, and a caveat if it gives none at all or rather one for something else."""
        asked = self._weigh(self._request.question)
        if answer.abstained or _gives_reason(answer, asked):
            return answer
        lowered = {Confidence.HIGH: Confidence.MEDIUM}.get(answer.confidence, Confidence.LOW)
        caveats = (*self._reason_caveats(answer, asked), *answer.caveats)
        return replace(answer, confidence=lowered, caveats=caveats)

    def _reason_caveats(self, answer: Answer, asked: _WeighedWords) -> list[str]:
        """What to say of an answer that may lack a reason. Words that memory does not have cannot
        stand beside a reason, and do not count."""
        known = asked.without(self._unknown_stems(asked))
        explained = [
            text
            for line, text in _lines_with_records(answer)
            if _is_reason(line) or _explains(line)
        ]
        if any(known.are_in(text, _MATCH.min_reason_coverage) for text in explained):
            return []
        if explained:
            return [_OTHER_REASON_CAVEAT]
        are_commits = all("://commit/" in citation.uri for citation in answer.citations)
        return [_NO_REASON_CAVEAT.format("commits" if are_commits else "records")]

    def _unknown_stems(self, asked: _WeighedWords) -> frozenset[str]:
        found = weigh_terms(self._reader, self._request.bank, asked.terms.words)
        return frozenset(map(stem, found.unknown))

    def _reasons_for(self, commit: Commit, hit: Hit) -> list[Quote]:
        reasons = [s for s in sentences(commit.body) if _is_reason(s)]
        if reasons:
            lead = f"{_BECAUSE}says its message: "
            return [Quote(hit, truncate(reasons[0], MAX_SENTENCE_CHARS), 0.0, hit.score, lead)]
        for made in self._reader.git.authorship(commit.bank, commit=commit.id)[:1]:
            for exchange in self._reader.records.find(commit.bank, "exchange", made.exchange, 1):
                if isinstance(exchange, Exchange):
                    return self._reason_in_exchange(exchange)
        return []

    def _reason_in_exchange(self, x: Exchange) -> list[Quote]:
        """The first reason given in an exchange, a person's before the agent's; at most one."""
        found: list[tuple[bool, str, Turn, str]] = []
        for turn in self._reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq):
            if turn.tool is None and self._request.covers_time(turn.time):
                sentence = next((s for s in sentences(turn.text) if _is_reason(s)), "")
                if sentence:
                    found.append((turn.role is not Role.USER, turn.time, turn, sentence))
        for _, _, turn, sentence in sorted(found, key=lambda one: one[:2])[:1]:
            passage = Passage(turn.bank, "turn", turn.id, turn.session, turn.time, turn.text,
                              trust=turn.trust, role=turn.role.value, seq=turn.seq)  # fmt: skip
            lead = f"{_BECAUSE}{_speaker(turn)} said in making it: "
            text = truncate(sentence, MAX_SENTENCE_CHARS)
            return [Quote(self._hit_at(passage), text, 0.0, 1.0, lead)]
        return []


class _WeighedWords(NamedTuple):
    """The words of a question, with their weights by stem."""

    terms: Terms
    weights: Mapping[str, float]

    def coverage(self, text: str) -> float:
        """The share of their weight that a text covers."""
        return coverage(self.weights, text)

    def without(self, stems: frozenset[str]) -> _WeighedWords:
        """The words that have none of these stems."""
        kept = {key: value for key, value in self.weights.items() if key not in stems}
        return self._replace(weights=kept)

    def are_in(self, text: str, min_coverage: float) -> bool:
        """Whether a text covers enough, and has each name exactly: 3.6 is not 3.10."""
        return self.coverage(text) >= min_coverage and all(
            re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", text, re.IGNORECASE)
            for name in self.terms.phrases
        )


def _date_range(commits: Sequence[Commit]) -> str:
    return f"{commits[0].time[:10]} to {commits[-1].time[:10]}"


def _files_summary(commit: Commit) -> str:
    count = len(commit.files)
    return commit.files[0] if count == 1 else f"{count} files" if count else ""


def _describe_expert(expert: Expert, reviews: bool) -> str:
    e = expert
    counts = [counted(e.commits, "commit")]
    if e.reviews:
        counts.insert(0 if reviews else 1, counted(e.reviews, "review"))
    share = "" if reviews else f"{e.share:.0%} of it, "
    areas = ", ".join(e.areas) or "no folder"
    span = f"{e.first[:10]} to {e.last[:10]}"
    return f"{e.name} <{e.email}>: {share}{', '.join(counts)}, {span}, most in {areas}"


def _speaker(turn: Turn) -> str:
    return turn.speaker or ("the user" if turn.role is Role.USER else "the agent")


def _gives_reason(answer: Answer, asked: _WeighedWords) -> bool:
    """Whether a line of an answer gives a reason for what was asked."""
    return any(
        _BECAUSE in line or asked.are_in(text, _least_coverage(line))
        for line, text in _lines_with_records(answer)
        if _is_reason(line)
    )


def _lines_with_records(answer: Answer) -> list[tuple[str, str]]:
    """The lines of an answer, each also with the excerpt of its record: what was asked about may
    stand there, beside the reason."""
    lines = answer.answer.split("\n")
    around = [*(citation.excerpt for citation in answer.citations), *("" for _ in lines)]
    return [(line, f"{line} {excerpt}") for line, excerpt in zip(lines, around, strict=False)]


def _least_coverage(reason: str) -> float:
    """How much of a question a line must cover to give the reason for it."""
    is_cause = _CAUSE.search(reason) is not None
    return _MATCH.min_cause_coverage if is_cause else _MATCH.min_reason_coverage


def _explains(sentence: str) -> bool:
    return _EXPLAINS.search(sentence) is not None and not sentence.rstrip().endswith("?")


def _is_reason(sentence: str) -> bool:
    if sentence.rstrip().endswith("?"):
        return False
    return bool(_REASON.search(sentence.lower())) or any(
        relation.how == "causes" for relation in causal_relations(sentence)
    )
