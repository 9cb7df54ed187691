"""Decisions dug up: who, when, what changed, was it ever reverted, and why.

The history of a repository answers these better than sentences that share words with the question:
a revert is a fact of git's, and so are who changed a file and when. A commit speaks of a matter if
its message has nearly all of the matter's words, or if it touched the file that is named. Where no
commit does, there is no answer here, and the question is asked of memory as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.language import cut, decides, relations, sentences, stem, words
from holdfast.model.query import Answer, Confidence, Filter, Hit, Layer, Passage
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.team import Commit
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.relevance import weight_share, stems_in, weigh_terms
from holdfast.recall.lookup.filters import commits_touching
from holdfast.recall.query.question import find_time_range
from holdfast.recall.query.terms import Terms, read_terms
from holdfast.recall.query.time_phrases import When
from holdfast.recall.ranking.hits import hit as make_hit
from holdfast.regex import regex
from holdfast.research.answering.answer import AskRequest, compose
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS, Quote
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.research.history.question_kinds import HistoryQuestion, QuestionKind, without_article
from holdfast.store.protocol import Reader

MOST_COMMITS = 2000
_BY_WORDS = 200
_SPEAKS = 0.75
_CONCERNS = 0.5
_SURE = 0.9
_SHOWN = 6
_FEW_FILES = 12
# Every commit does that, whatever it says.
_ANY_CHANGE = frozenset(stem(w) for w in "change changed update updated touch touched "
                        "modify modified edit edited".split())  # fmt: skip
_REVERTS = 3
_PEOPLE = 4
_SAID = 24
_PATH = regex(r"^[\w.@-]*[/.][\w./@-]*\w/?$")
_SHA = regex(r"^[0-9a-f]{7,40}$")
_REASON = regex(
    r"\b(?:because|since|so that|in order to|due to|as it|the reason|which (?:broke|caused|led)|"
    r"otherwise|would have|to (?:avoid|prevent|keep|stop|make))\b"
)
_BY_HAND = "A change that was taken back by hand, without git's words for it, is not seen."
_BECAUSE = "because, "
_NO_REASON = "None of this says why in so many words."
_COUNTED = "By commits and reviews; what nobody wrote down is not counted."
_EARLIEST = "The earliest commit that was read; history before it may be missing."


class FoundCommits(NamedTuple):
    """Commits that speak of a matter, the earliest first, and how surely they do."""

    commits: list[Commit]
    sure: float
    # How they do.
    how: str = "speak of it"


def answer_from_history(reader: Reader, way: AskRequest, dig: HistoryQuestion, limit: int = _SHOWN) -> Answer | None:
    """The answer that history has; None where it has none."""
    if way.layers and Layer.TEAM not in way.layers:
        return None
    if dig.kind is QuestionKind.KNOWS:
        return _knows(reader, way, dig, limit)
    if dig.kind is QuestionKind.REVIEWED:
        return _knows(reader, way, dig, limit, reviews=True)
    if dig.kind is QuestionKind.DECIDED:
        return _decided(reader, way, dig)
    if dig.kind is QuestionKind.WHY:
        return None
    when = find_time_range(reader, way.bank, way.question, way.as_of or way.now())
    topic = _without_time(reader, way, dig.topic) if when is not None else dig.topic
    span = when if dig.kind is QuestionKind.CHANGES else None
    found = commits_about(reader, way, topic, span, dig.kind is not QuestionKind.REVERTED)
    if not found.commits:
        return None
    if dig.kind is QuestionKind.REVERTED:
        return _reverted(reader, way, found, limit)
    if dig.kind is QuestionKind.CHANGES:
        return _changes(reader, way, found, limit)
    return _dated(reader, way, dig, found)


def _without_time(reader: Reader, way: AskRequest, topic: str) -> str:
    told = find_time_range(reader, way.bank, topic, way.as_of or way.now())
    return without_article(told.rest) or topic if told is not None else topic


def commits_about(
    reader: Reader, way: AskRequest, topic: str, when: When | None = None, by_files: bool = True
) -> FoundCommits:
    """The commits that touched a file or a folder, have a name of git's, or speak of a matter: in
    their message or, `by_files`, in the names of the few files that they touched."""
    until = when.end if when is not None and when.end else ""
    until = min(filter(None, (until, f"{way.as_of}~" if way.as_of else "")), default="")
    since = when.start if when is not None else ""
    if _SHA.match(topic.lower()):
        named = reader.find(way.bank, "commit", topic.lower(), 2)
        commits = [c for c in named if isinstance(c, Commit)]
        return FoundCommits(commits if len(commits) == 1 else [], 1.0)
    if _PATH.match(topic):
        wanted = Filter(file=topic, since=since, until=until)
        commits, _ = commits_touching(reader, way.bank, wanted, MOST_COMMITS)
        if commits:
            return FoundCommits(sorted(commits, key=_by_time), 1.0, "touched it")
    return _by_words(reader, way, topic, (since, until), by_files)


def _by_words(reader: Reader, way: AskRequest, topic: str, span: tuple[str, str], by_files: bool) -> FoundCommits:
    terms = read_terms(topic)
    weight = weigh_terms(reader, way.bank, terms.words).by_stem
    team = [Layer.TEAM.value]
    found: list[tuple[float, Commit]] = []
    for match in reader.search(way.bank, terms.all, team, _BY_WORDS, *span):
        said = match.passage
        for commit in reader.find(said.bank, "commit", said.id, 1) if said.kind == "commit" else ():
            if isinstance(commit, Commit):
                few = by_files and len(commit.files) <= _FEW_FILES
                text = " ".join((said.body, *commit.files)) if few else said.body
                covered = weight_share(weight, stems_in(weight, text))
                if covered >= _SPEAKS and _names_all(terms, text):
                    found.append((covered, commit))
    best = max((covered for covered, _ in found), default=0.0)
    # Those that have all of it are meant, where there are any.
    least = _SURE if best >= _SURE else _SPEAKS
    return FoundCommits(sorted((c for n, c in found if n >= least), key=_by_time), best)


def _names_all(terms: Terms, text: str) -> bool:
    """Whether a text has each name that must stand as it is: who asks about 3.6 does not mean
    3.10."""
    return all(
        re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", text, re.IGNORECASE)
        for name in terms.phrases
    )


def _by_time(commit: Commit) -> tuple[str, str]:
    return commit.time, commit.id


def _hit(reader: Reader, commit: Commit, as_of: str) -> Hit:
    body = f"{commit.subject}\n\n{commit.body}".strip()
    passage = Passage(commit.bank, "commit", commit.id, "", commit.time, body, trust=commit.trust)
    return make_hit(reader, Candidate(passage, score=1.0), as_of)


def _quoted(reader: Reader, way: AskRequest, commit: Commit, lead: str = "", more: str = "") -> Quote:
    said = f"{commit.subject} ({commit.author}{f', {more}' if more else ''})"
    return Quote(_hit(reader, commit, way.as_of), cut(said, MAX_SENTENCE_CHARS), 1.0, 1.0, lead)


def _told(
    reader: Reader, way: AskRequest, chosen: Sequence[Quote], sure: Confidence, notes: Sequence[str]
) -> Answer:
    return compose(reader, way, chosen, sure, notes, from_git=True)


def _confidence(found: FoundCommits) -> Confidence:
    return Confidence.HIGH if found.sure >= _SURE else Confidence.MEDIUM


def _reverted(reader: Reader, way: AskRequest, found: FoundCommits, limit: int) -> Answer:
    """Whether what speaks of a matter was taken back, and whether that was taken back again."""
    taken = [(c, by) for c in found.commits if (by := _takers(reader, way, c))]
    if not taken:
        ours = [c for c in found.commits if not c.subject.startswith("Revert ")] or found.commits
        lead = "not reverted, as far as the history tells: "
        chosen = [_quoted(reader, way, c, lead) for c in ours[-min(_REVERTS, limit) :][::-1]]
        sure = Confidence.MEDIUM if found.sure >= _SURE else Confidence.LOW
        return _told(reader, way, chosen, sure, [_BY_HAND, *_astray(reader, ours)])
    chosen: list[Quote] = []
    for commit, by in taken[-min(_REVERTS, limit) :][::-1]:
        chosen.append(_quoted(reader, way, commit, "was reverted: "))
        chosen += [_quoted(reader, way, taker, "the revert: ") for taker in by]
        again = [c for taker in by for c in _takers(reader, way, taker)]
        chosen += [_quoted(reader, way, c, "which was taken back in turn: ") for c in again]
    commits = [commit for commit, _ in taken]
    return _told(reader, way, chosen, _confidence(found), _astray(reader, commits))


def _takers(reader: Reader, way: AskRequest, commit: Commit) -> list[Commit]:
    names = reader.reverted_by(commit.bank, commit.id)
    found = (record for name in names for record in reader.find(commit.bank, "commit", name, 1))
    known = [record for record in found if isinstance(record, Commit)]
    return [c for c in known if not way.as_of or c.time <= way.as_of]


def _astray(reader: Reader, commits: Sequence[Commit]) -> list[str]:
    """What must be said of commits that what is checked out does not contain."""
    lost = [c for c in commits if reader.astray(c.bank, [c.id])]
    if not lost:
        return []
    return [f"What is checked out does not contain {len(lost)} of {len(commits)} of these commits."]


def _changes(reader: Reader, way: AskRequest, found: FoundCommits, limit: int) -> Answer:
    """The latest changes to something, and how many there are in all."""
    latest = found.commits[::-1]
    chosen = [_quoted(reader, way, c, more=_files(c)) for c in latest[:limit]]
    people = {c.author for c in latest}
    notes = [
        f"{len(latest)} commit{'s' * (len(latest) != 1)} by {len(people)} "
        f"{'people' if len(people) != 1 else 'person'}, {latest[-1].time[:10]} to "
        f"{latest[0].time[:10]}{'; the latest are shown' if len(latest) > limit else ''}."
    ]
    return _told(reader, way, chosen, _confidence(found), [*notes, *_astray(reader, latest)])


def _files(commit: Commit) -> str:
    count = len(commit.files)
    return commit.files[0] if count == 1 else f"{count} files" if count else ""


def _dated(reader: Reader, way: AskRequest, dig: HistoryQuestion, found: FoundCommits) -> Answer:
    """The first or the last commit that speaks of a matter; one that names the deed before one
    that does not."""
    roots = {stem(word) for word in words(dig.action)} - _ANY_CHANGE
    did = [c for c in found.commits if roots & {stem(w) for w in words(c.subject)}]
    standing = [c for c in found.commits if not _takers(reader, way, c)]
    among = did if did and dig.kind is QuestionKind.LAST else standing or found.commits
    commit = among[0] if dig.kind is QuestionKind.FIRST else among[-1]
    lead = "first: " if dig.kind is QuestionKind.FIRST else "last: "
    notes = [_EARLIEST] if dig.kind is QuestionKind.FIRST else []
    chosen = [_quoted(reader, way, commit, lead, _files(commit))]
    if len(among) > 1:
        notes.append(f"{len(among)} commits {found.how}, {_days(among)}.")
    return _told(reader, way, chosen, _confidence(found), [*notes, *_astray(reader, [commit])])


def _days(commits: Sequence[Commit]) -> str:
    return f"{commits[0].time[:10]} to {commits[-1].time[:10]}"


def _knows(reader: Reader, way: AskRequest, dig: HistoryQuestion, limit: int, reviews: bool = False) -> Answer | None:
    """The people whose commits speak of a matter. Words that occur but seldom together are
    nobody's expertise, so some commit must speak of all of it."""
    if not commits_about(reader, way, dig.topic).commits:
        return None
    known = rank_experts(reader, way.bank, dig.topic, way.as_of or way.now(), 50)
    wanted = [e for e in known if e.reviews or not reviews]
    if reviews:
        wanted.sort(key=lambda e: -e.reviews)
    people = [e for e in wanted if not e.is_bot] or wanted
    chosen = [
        Quote(hit, cut(_of_person(e, reviews), MAX_SENTENCE_CHARS), 1.0, e.score)
        for e in people[: min(_PEOPLE, limit)]
        for hit in _first_hit(reader, way, e)
    ]
    if not chosen:
        return None
    sure = Confidence.HIGH if people[0].commits + people[0].reviews > 2 else Confidence.MEDIUM
    return _told(reader, way, chosen, sure, [_COUNTED])


def _of_person(expert: Expert, reviews: bool) -> str:
    e = expert
    did = f"{e.commits} commit{'s' * (e.commits != 1)}"
    if e.reviews:
        seen = f"{e.reviews} review{'s' * (e.reviews != 1)}"
        did = f"{seen}, {did}" if reviews else f"{did}, {seen}"
    share = "" if reviews else f"{e.share:.0%} of it, "
    return f"{e.name} <{e.email}>: {share}{did}, {e.first[:10]} to {e.last[:10]}, most in " + (
        ", ".join(e.areas) or "no folder"
    )


def _first_hit(reader: Reader, way: AskRequest, expert: Expert) -> list[Hit]:
    for name in expert.evidence:
        for record in reader.find(way.bank, "commit", name.rpartition("/")[2], 1):
            if isinstance(record, Commit) and (not way.as_of or record.time <= way.as_of):
                return [_hit(reader, record, way.as_of)]
    return []


def _decided(reader: Reader, way: AskRequest, dig: HistoryQuestion) -> Answer | None:
    """Who said the sentence that decides a matter: the latest, with who said it."""
    terms = read_terms(dig.topic)
    weight = weigh_terms(reader, way.bank, terms.words).by_stem
    until = f"{way.as_of}~" if way.as_of else ""
    layers = [Layer.TRANSCRIPTS.value]
    found: list[tuple[str, Quote]] = []
    for match in reader.search(way.bank, terms.all, layers, _SAID, until=until):
        turn = next(iter(reader.find(match.passage.bank, "turn", match.passage.id, 1)), None)
        if not isinstance(turn, Turn) or turn.tool is not None:
            continue
        for said in sentences(turn.text):
            covered = weight_share(weight, stems_in(weight, said))
            if covered >= _SPEAKS and decides(said) and not said.rstrip().endswith("?"):
                hit = make_hit(reader, Candidate(match.passage, score=1.0), way.as_of)
                lead = f"{_speaker(turn)}: "
                found.append((turn.time, Quote(hit, cut(said, MAX_SENTENCE_CHARS), 1.0, 1.0, lead)))
                break
    chosen = [evidence for _, evidence in sorted(found, key=lambda pair: pair[0], reverse=True)]
    if not chosen:
        return None
    return compose(reader, way, chosen[:_REVERTS], Confidence.MEDIUM)


def _speaker(turn: Turn) -> str:
    return turn.speaker or ("the user" if turn.role is Role.USER else "the agent")


def add_reason(reader: Reader, way: AskRequest, answer: Answer, hits: Iterable[Hit]) -> Answer | None:
    """For a question for a reason whose answer gives none: the commit that did it, and the reason
    that its message or the session that made it gives. None where none is given."""
    terms = read_terms(way.question)
    weight = weigh_terms(reader, way.bank, terms.words).by_stem
    if _gives_reason(answer, terms, weight):
        return None
    for hit in hits:
        for commit in _named(reader, hit) if hit.kind == "commit" else ():
            # One whose subject says something else gives the reason of something else.
            did = weight_share(weight, stems_in(weight, commit.subject)) >= _SPEAKS
            if not did or not _names_all(terms, commit.subject):
                continue
            if found := _why(reader, way, commit, hit):
                first = _quoted(reader, way, commit)
                return compose(reader, way, [first, *found], answer.confidence)
    return None


def _named(reader: Reader, hit: Hit) -> list[Commit]:
    found = reader.find(hit.bank, "commit", hit.uri.rpartition("/")[2], 1)
    return [record for record in found if isinstance(record, Commit)]


def mark_missing_reason(reader: Reader, way: AskRequest, answer: Answer) -> Answer:
    """An answer to a question for a reason: less sure, and said to be so, where it gives none."""
    terms = read_terms(way.question)
    weight = weigh_terms(reader, way.bank, terms.words).by_stem
    if answer.abstained or _gives_reason(answer, terms, weight):
        return answer
    lower = {Confidence.HIGH: Confidence.MEDIUM}.get(answer.confidence, Confidence.LOW)
    return replace(answer, confidence=lower, caveats=(_NO_REASON, *answer.caveats))


def _gives_reason(answer: Answer, terms: Terms, weight: Mapping[str, float]) -> bool:
    """Whether a line of an answer gives a reason, and for what was asked."""
    given = [line for line in answer.answer.split("\n") if _is_reason(line)]
    return any(
        _BECAUSE in line
        or (weight_share(weight, stems_in(weight, line)) >= _CONCERNS and _names_all(terms, line))
        for line in given
    )


def _why(reader: Reader, way: AskRequest, commit: Commit, hit: Hit) -> list[Quote]:
    said = [s for s in sentences(commit.body) if _is_reason(s)]
    if said:
        lead = f"{_BECAUSE}says its message: "
        return [Quote(hit, cut(said[0], MAX_SENTENCE_CHARS), 0.0, hit.score, lead)]
    for made in reader.authored(commit.bank, commit=commit.id)[:1]:
        for exchange in reader.find(commit.bank, "exchange", made.exchange, 1):
            if isinstance(exchange, Exchange):
                return _in_exchange(reader, way, exchange)
    return []


def _in_exchange(reader: Reader, way: AskRequest, exchange: Exchange) -> list[Quote]:
    """The first reason that was given in making it: a person's before the agent's."""
    x = exchange
    found: list[tuple[bool, str, Turn, str]] = []
    for turn in reader.turns(x.bank, x.session, x.first_seq, x.last_seq):
        if turn.tool is None and (not way.as_of or turn.time <= way.as_of):
            said = next((s for s in sentences(turn.text) if _is_reason(s)), "")
            if said:
                found.append((turn.role is not Role.USER, turn.time, turn, said))
    for _, _, turn, said in sorted(found, key=lambda one: one[:2])[:1]:
        passage = Passage(turn.bank, "turn", turn.id, turn.session, turn.time, turn.text,
                          trust=turn.trust, role=turn.role.value, seq=turn.seq)  # fmt: skip
        hit = make_hit(reader, Candidate(passage, score=1.0), way.as_of)
        lead = f"{_BECAUSE}{_speaker(turn)} said in making it: "
        return [Quote(hit, cut(said, MAX_SENTENCE_CHARS), 0.0, 1.0, lead)]
    return []


def _is_reason(sentence: str) -> bool:
    if sentence.rstrip().endswith("?"):
        return False
    return bool(_REASON.search(sentence.lower())) or any(
        relation.how == "causes" for relation in relations(sentence)
    )
