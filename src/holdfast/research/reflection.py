"""Reflection by rules: the evidence on a question, weighed by the disposition of the bank.

Nothing is inferred, and the answer says so. Sentences that records share become claims; the
confidence of a claim follows from how many sessions say it, whose words they are, and whether
others deny it. Reflection by a model is in `model_reflection`.

- *skepticism*: how many sessions a claim needs to be believed, and how little a single one counts.
- *literalism*: high, only records with the very words of the question count, and they are quoted;
  low, a summary may stand for what was said.
- *empathy*: whether the motives and feelings that people stated are quoted, and how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.language import (
    STOPWORDS,
    cut,
    is_chatter,
    sentences,
    shared_fraction,
    stem,
    truncate,
    words,
)
from holdfast.lazy_dataclass import replace
from holdfast.learn.opinions import confidence_of, sources_needed
from holdfast.learn.persons_words import is_said_by_person
from holdfast.model.bank import Bank, Disposition
from holdfast.model.opinions import Opinion, Reflection, ReflectionCitation, ReflectionClaim
from holdfast.model.query import Hit, RecallResult
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.trust import ENDED_STATUSES, PEOPLE, Status, Trust
from holdfast.model.uris import uri
from holdfast.recall.core.ended_words import EndedWords, read_ended_words
from holdfast.recall.core.relevance import coverage, weigh_terms
from holdfast.recall.core.statements import statements
from holdfast.recall.query.terms import read_terms
from holdfast.refine.facts.hypotheses import is_hedged
from holdfast.regex import regex
from holdfast.research.answering.fixed_states import change_since
from holdfast.research.answering.quoting import DIGEST_LABEL
from holdfast.research.answering.sentence_choice import read_question
from holdfast.store.protocol import Reader

MECHANICAL = (
    "Put together by rules, without a model: what the records say, weighed by who says it and how "
    "many sessions do. Nobody reasoned about it."
)


class ReflectionLimits(NamedTuple):
    """How much of the evidence is shown."""

    claims: int = 5
    # Records cited for a claim, and against it.
    citations: int = 4
    min_sentence_chars: int = 12
    max_sentence_chars: int = 260
    excerpt_chars: int = 200
    background_chars: int = 120
    # Hits whose exchanges are read for what people said.
    hits_with_voices: int = 8
    # A longer message of the user was pasted, not typed.
    typed_chars: int = 1500


class ReflectionWeights(NamedTuple):
    """How statements become claims."""

    # Share of the question's weight that a sentence must cover.
    min_coverage: float = 0.3
    # Two sentences with this share of the shorter one's stems in common state the same.
    same_statement: float = 0.6
    # A record that a person verified counts for more, and as half a statement on top.
    verified_factor: float = 1.2
    verified_bonus: float = 0.5
    # What denies a claim counts for less than what supports it. Lower keeps more disputed claims.
    denial: float = 0.6
    # From this literalism on the very words of the question count, and up to the second one a
    # summary may be quoted by its first sentence.
    verbatim_literalism: int = 4
    loose_literalism: int = 2
    # Share of the question's words that a record must have, at literalism 4 and 5.
    verbatim_share: float = 0.5
    strict_verbatim_share: float = 0.65


_LIMITS = ReflectionLimits()
_WEIGHTS = ReflectionWeights()
# What a statement counts for by its origin: a person's own words most, text from outside least.
_TRUST_WEIGHTS = {
    Trust.USER: 1.0, Trust.TEAM: 0.9, Trust.TOOL: 0.8, Trust.ASSISTANT: 0.7, Trust.IMPORT: 0.6,
    Trust.EXTERNAL: 0.2,
}  # fmt: skip
_SUMMARIES = ("memory", "exchange", "digest", "concept", "fact")
_NEGATION = regex(r"\b(?:not|never|no longer|cannot|without)\b|n['’]t\b", re.IGNORECASE)
_FEELING = regex(
    r"\b(?:frustrat\w+|annoy\w+|tired of|sick of|ugh|argh|hate|wast(?:e|ed|ing)|painful|worried|"
    r"afraid|urgent|deadline|third time|again and again|keeps? (?:failing|breaking)|"
    r"still (?:broken|fails|failing|not work\w*)|stuck|nightmare|confus(?:ed|ing)|unhappy|"
    r"disappoint\w+|happy|glad|love)\b",
    re.IGNORECASE,
)
_MOTIVE = regex(
    r"\b(?:because|so that|in order to|otherwise|the goal|we need|i need|matters|customers?)\b",
    re.IGNORECASE,
)
# A sentence on the progress of work, which means nothing later.
_PROGRESS = regex(
    r"^(?:(?:writing|running|checking|starting|launching|reading|committing|pushing|waiting|working)"
    r"\b|in flight\b|(?:one|two|three|\d+) agents?\b)|\bnow[.!]?$",
    re.IGNORECASE,
)


class _Statement(NamedTuple):
    """The sentence of a record that is weighed; `denies` if it has a negation, `is_guess` if it is
    worded as a guess or an agent said it."""

    hit: Hit
    sentence: str
    stems: frozenset[str]
    denies: bool
    weight: float
    is_guess: bool


def reflect(
    reader: Reader, bank: Bank, found: RecallResult, opinions: Sequence[Opinion]
) -> Reflection:
    """Reflect on the records found for a question, by the disposition of their bank."""
    # What is only loosely related is no reason to believe anything.
    found = replace(found, hits=()) if found.abstained else found
    disposition = bank.disposition
    ended = read_ended_words(reader, bank.id)
    held = [o for o in opinions if not ended.find(o.what, o.latest)]
    relevant = relevant_opinions(found.query, held)
    opinion_uris = {uri("memory", o.id) for o in opinions}
    # Opinions are listed as such, not as evidence, and what is superseded does not hold.
    hits = [
        hit
        for hit in found.hits
        if hit.uri not in opinion_uris and hit.status not in ENDED_STATUSES
    ]
    statements = _statements(reader, bank.id, found.query, hits, disposition)
    citations = _Citations()
    claims = _claims(statements, disposition, citations)
    if not claims and not relevant:
        verbatim = disposition.literalism >= _WEIGHTS.verbatim_literalism
        return Reflection(
            found.query,
            bank.name,
            "Not known: no record clearly answers this"
            + (" in these exact words." if verbatim and found.hits else "."),
            0.0,
            abstained=True,
            caveats=tuple(_caveats(bank, found, claims)),
        )
    voices = _voices(reader, found.hits, disposition, citations, ended)
    believed = [c.confidence for c in claims if c.believed]
    believed += [o.confidence for o in relevant if o.status is Status.OBSERVED]
    confidence = max(believed, default=0.0)
    weak_confidence = max([c.confidence for c in claims] or [o.confidence for o in relevant])
    return Reflection(
        found.query,
        bank.name,
        _answer(bank, claims, voices, relevant),
        confidence or round(weak_confidence / 2, 3),
        abstained=False,
        claims=claims,
        voices=voices,
        opinions=relevant,
        citations=citations.all,
        caveats=tuple(_caveats(bank, found, claims)),
    )


class _Citations:
    """Numbers records in the order in which they are first cited."""

    def __init__(self) -> None:
        self._numbers: dict[str, ReflectionCitation] = {}

    def number(
        self, uri: str, text: str, time: str, session: str, trust: Trust, ended: str = ""
    ) -> int:
        """The number of a record, which is cited from now on."""
        known = self._numbers.get(uri)
        if known is None:
            excerpt = cut(text, _LIMITS.excerpt_chars)
            number = len(self._numbers) + 1
            known = ReflectionCitation(number, uri, excerpt, time, session, trust, ended)
            self._numbers[uri] = known
        return known.number

    @property
    def all(self) -> tuple[ReflectionCitation, ...]:
        return tuple(self._numbers.values())


def relevant_opinions(query: str, opinions: Sequence[Opinion]) -> tuple[Opinion, ...]:
    """The opinions on what a question names, without those that have faded."""
    asked = _stems(query)
    return tuple(
        o for o in opinions if o.status is not Status.RETRACTED and set(o.target.split()) & asked
    )[: _LIMITS.claims]


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOPWORDS)


def _statements(
    reader: Reader, bank: str, query: str, hits: Sequence[Hit], disposition: Disposition
) -> list[_Statement]:
    """The best sentence of each record that the disposition lets count, as far as it was not
    changed since or the question is about the problem."""
    weights = weigh_terms(reader, bank, read_terms(query).words).by_stem
    of_problem = read_question(query, weights).is_of_problem
    asked = {word for word in words(query) if word not in STOPWORDS}
    statements: list[_Statement] = []
    for hit in hits:
        if "\n→ " in hit.text or not _is_literal_enough(hit, asked, disposition):
            continue
        best = _best_sentence(hit, weights, asked, disposition)
        if best and (of_problem or change_since(reader, hit, best) is None):
            verified = _WEIGHTS.verified_factor if hit.status is Status.VERIFIED else 1.0
            weight = _TRUST_WEIGHTS[hit.trust] * verified
            denies = bool(_NEGATION.search(best))
            guess = _is_guess(reader, hit, best)
            statements.append(_Statement(hit, best, _stems(best), denies, weight, guess))
    return statements


def _is_guess(reader: Reader, hit: Hit, sentence: str) -> bool:
    by_person = is_by_person(hit) or is_said_by_person(reader, hit.bank, hit.uri, sentence)
    return is_hedged(sentence) or not by_person


def is_by_person(hit: Hit) -> bool:
    """Whether a record is what a person said, wrote or verified."""
    return hit.status is Status.VERIFIED or hit.trust in PEOPLE


def _is_literal_enough(hit: Hit, asked: set[str], disposition: Disposition) -> bool:
    """Whether a record has as many words of the question as the literalism wants."""
    literalism = disposition.literalism
    if literalism < _WEIGHTS.verbatim_literalism or not asked:
        return True
    share = len(asked & set(words(hit.text))) / len(asked)
    strict = literalism > _WEIGHTS.verbatim_literalism
    return share >= (_WEIGHTS.strict_verbatim_share if strict else _WEIGHTS.verbatim_share)


def _best_sentence(
    hit: Hit, weights: Mapping[str, float], asked: set[str], disposition: Disposition
) -> str:
    """The sentence of a record that covers most of the question; "" if none covers enough."""
    least, most = _LIMITS.min_sentence_chars, _LIMITS.max_sentence_chars
    ended = [one.sentence for one in hit.ended]
    found = [
        DIGEST_LABEL.sub("", sentence)
        for sentence in statements(hit)
        if not any(old in sentence or sentence in old for old in ended)
    ]
    candidates = [s for s in found if len(s) >= least and not s.endswith(("?", ":"))]
    candidates = [s for s in candidates if not (is_chatter(s) or _PROGRESS.search(s))]
    loose = disposition.literalism <= _WEIGHTS.loose_literalism
    if loose and hit.kind in _SUMMARIES and candidates:
        return truncate(candidates[0], most)
    scored = [(coverage(weights, s), -n, s) for n, s in enumerate(candidates)]
    if disposition.literalism >= _WEIGHTS.verbatim_literalism:
        scored = [(len(asked & set(words(s))) / max(1, len(asked)), n, s) for _, n, s in scored]
    covered, _, best = max(scored, default=(0.0, 0, ""))
    return truncate(best, most) if covered >= _WEIGHTS.min_coverage else ""


def _claims(
    statements: Sequence[_Statement], disposition: Disposition, citations: _Citations
) -> tuple[ReflectionClaim, ...]:
    """Statements grouped into claims, the believed and surest first. A statement that denies a
    claim counts against it; of statements that deny each other the latest is the claim."""
    groups: list[list[_Statement]] = []
    for statement in statements:
        for group in groups:
            if shared_fraction(statement.stems, group[0].stems) >= _WEIGHTS.same_statement:
                group.append(statement)
                break
        else:
            groups.append([statement])
    weighed = [_weigh(group, disposition) for group in groups[: _LIMITS.claims * 2]]
    # The sort is stable: of equal claims the one that was found first comes first.
    weighed.sort(key=lambda w: (not w.claim.believed, -w.claim.confidence))
    return tuple(
        w.claim._replace(cited=_cite(w.supporting, citations), against=_cite(w.denying, citations))
        for w in weighed[: _LIMITS.claims]
    )


class _WeighedClaim(NamedTuple):
    claim: ReflectionClaim
    supporting: Sequence[_Statement]
    denying: Sequence[_Statement]


def _weigh(group: Sequence[_Statement], disposition: Disposition) -> _WeighedClaim:
    """The claim of statements on one thing: what the latest of them says."""
    verbatim = disposition.literalism >= _WEIGHTS.verbatim_literalism
    last = max(group, key=lambda s: s.hit.time)
    supporting = [s for s in group if s.denies is last.denies]
    denying = [s for s in group if s.denies is not last.denies]
    # What is no guess is quoted before a guess, and with literalism a person's words before a
    # summary; otherwise the first found is quoted.
    chosen = min(supporting, key=lambda s: (s.is_guess, verbatim and s.hit.kind in _SUMMARIES))
    sources, against = _source_weights(supporting), _source_weights(denying)
    opposition = sum(against.values()) * _WEIGHTS.denial
    # What a person asked to remember was verified by them, which is a source of its own.
    is_verified = any(s.hit.status is Status.VERIFIED for s in supporting)
    support = sum(sources.values()) + is_verified * _WEIGHTS.verified_bonus
    source_count = len(sources) + is_verified
    skepticism = disposition.skepticism
    confidence = confidence_of(support, opposition, source_count, skepticism)
    is_guess = all(s.is_guess for s in supporting)
    is_enough = source_count >= sources_needed(skepticism) and support > opposition
    sentence = f"“{chosen.sentence}”" if verbatim else chosen.sentence
    is_believed = is_enough and not is_guess
    claim = ReflectionClaim(sentence, confidence, is_believed, len(sources), (), is_guess=is_guess)
    return _WeighedClaim(claim, supporting, denying)


def _source_weights(statements: Sequence[_Statement]) -> dict[str, float]:
    """The sessions, or other records, that make a statement, with their weights. What is derived
    from sessions counts only where none of them was found."""
    sources = [s for s in statements if s.hit.session or not _is_derived(s.hit)] or statements[:1]
    return {s.hit.session or s.hit.uri: s.weight for s in sources}


def _is_derived(hit: Hit) -> bool:
    is_derived_memory = hit.kind == "memory" and hit.status is not Status.VERIFIED
    return is_derived_memory or hit.kind in ("fact", "concept")


def _cite(statements: Iterable[_Statement], citations: _Citations) -> tuple[int, ...]:
    hits = list({s.hit.uri: s.hit for s in statements}.values())[: _LIMITS.citations]
    return tuple(
        citations.number(h.uri, h.text, h.time, h.session, h.trust, h.how_it_ended) for h in hits
    )


def _voices(
    reader: Reader,
    hits: Sequence[Hit],
    disposition: Disposition,
    citations: _Citations,
    ended: EndedWords,
) -> tuple[ReflectionClaim, ...]:
    """Motives, and with more empathy feelings, in the words of the people who asked, as far as they
    hold. Empathy 3 to 5 quotes 1, 3 and 5 of them."""
    limit = max(0, 2 * (disposition.empathy - 2) - 1)
    patterns = [_MOTIVE] if disposition.empathy == 3 else [_FEELING, _MOTIVE]
    if not limit:
        return ()
    least, most = _LIMITS.min_sentence_chars, _LIMITS.max_sentence_chars
    found: dict[str, tuple[int, int, Turn]] = {}
    for x in _exchanges_of(reader, hits):
        for turn in reader.turns.of_session(x.bank, x.session, x.first_seq, x.last_seq):
            is_typed = turn.role is Role.USER and len(turn.text) <= _LIMITS.typed_chars
            if not is_typed or turn.trust is Trust.EXTERNAL:
                continue
            for sentence in sentences(turn.text):
                rank = next((n for n, p in enumerate(patterns) if p.search(sentence)), None)
                if rank is None or not least <= len(sentence) <= most:
                    continue
                if not ended.find(sentence, turn.time, turn.session, turn.seq):
                    found.setdefault(sentence, (rank, len(found), turn))
    best = sorted(found.items(), key=lambda item: item[1][:2])[:limit]
    voices: list[ReflectionClaim] = []
    for sentence, (_, _, t) in best:
        cited = citations.number(uri("turn", t.id), t.text, t.time, t.session, t.trust)
        voices.append(ReflectionClaim(f"“{sentence}”", 1.0, True, 1, (cited,)))
    return tuple(voices)


def _exchanges_of(reader: Reader, hits: Sequence[Hit]) -> list[Exchange]:
    found: dict[str, Exchange] = {}
    for hit in hits[: _LIMITS.hits_with_voices]:
        id = hit.uri.rpartition("/")[2]
        if hit.kind == "exchange":
            found |= {r.id: r for r in reader.records.find(hit.bank, "exchange", id, 1)
                      if isinstance(r, Exchange)}  # fmt: skip
        for turn in reader.records.find(hit.bank, "turn", id, 1) if hit.kind == "turn" else ():
            if isinstance(turn, Turn):
                within = reader.sessions.exchanges(turn.bank, turn.session)
                found |= {x.id: x for x in within if x.first_seq <= turn.seq <= x.last_seq}
    return list(found.values())


def _answer(
    bank: Bank,
    claims: Sequence[ReflectionClaim],
    voices: Sequence[ReflectionClaim],
    opinions: Sequence[Opinion],
) -> str:
    disposition = bank.disposition
    needed = sources_needed(disposition.skepticism)
    parts = [MECHANICAL]
    believed = [_line(c) for c in claims if c.believed]
    guessed = [_line(c) for c in claims if c.is_guess]
    doubted = [_line(c) for c in claims if not c.believed and not c.is_guess]
    parts += ["Believed:\n" + "\n".join(believed)] if believed else []
    if doubted:
        asks = f"skepticism {disposition.skepticism} asks for {needed} sessions"
        parts.append(f"Said, but not believed yet ({asks}):\n" + "\n".join(doubted))
    if guessed:
        parts.append("Not believed, for no person said it for certain:\n" + "\n".join(guessed))
    if opinions:
        parts.append("Opinions:\n" + "\n".join(opinion_line(o) for o in opinions))
    if voices:
        quotes = [f"- {v.sentence} [{v.cited[0]}]" for v in voices]
        parts.append("In people's own words:\n" + "\n".join(quotes))
    return "\n\n".join(parts)


def _line(claim: ReflectionClaim) -> str:
    marks, denied = ("".join(f"[{n}]" for n in cited) for cited in (claim.cited, claim.against))
    against = f"; denied by {denied}" if denied else ""
    return f"- {claim.sentence} {marks} ({claim.confidence:.2f}{against})"


def opinion_line(opinion: Opinion) -> str:
    """An opinion as one line of Markdown."""
    o = opinion
    tension = ", in tension" if o.tension else ""
    doubt = ", not believed yet" if o.status is Status.HYPOTHESIS and not o.tension else ""
    return (
        f"- {o.what} ({o.confidence:.2f}, {o.trend.value}{tension}{doubt}; "
        f"{len(o.evidence_for)} for, {len(o.evidence_against)} against; holdfast://memory/{o.id})"
    )


def _caveats(bank: Bank, found: RecallResult, claims: Sequence[ReflectionClaim]) -> Iterable[str]:
    if bank.background:
        background = truncate(bank.background, _LIMITS.background_chars)
        yield f"The bank's background is not used by rules: “{background}”"
    if any(claim.against for claim in claims):
        yield "Records contradict each other here; the later word was taken."
    if claims and all(c.sources < 2 for c in claims):
        yield "Each of these is supported by one session only."
    if any(strategy.timed_out or strategy.problem for strategy in found.strategies):
        yield "Not every way of searching answered."
