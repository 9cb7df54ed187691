"""What a bank makes of a question, by rules: evidence weighed through the bank's disposition.

Nothing is reasoned here, and the answer says so. Sentences that records share become claims; how
many sessions say one, whose words they are and whether others deny it gives its confidence.

- *skepticism*: how many sessions a claim needs to be believed, and how little a single one counts.
- *literalism*: high, only records with the very words of the question count, and they are quoted;
  low, what sums up may stand for what was said.
- *empathy*: whether the motives and frustrations that people stated are told, and how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.language import STOPWORDS, cut, is_chatter, plain, sentences, squeeze, stem, words
from holdfast.learn.opinions import confidence_of, sources_needed
from holdfast.model.bank import Bank, Disposition
from holdfast.model.opinions import Cited, Claim, Opinion, Reflection
from holdfast.model.query import Hit, Recalled
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.trust import Status, Trust
from holdfast.recall.core.relevance import coverage, weigh_terms
from holdfast.recall.query.terms import read_terms
from holdfast.store.protocol import Reader

MECHANICAL = (
    "Put together by rules, without a model: what the records say, weighed by who says it and how "
    "many sessions do. Nobody reasoned about it."
)
MOST_CLAIMS = 5
_CITED = 4
_SENTENCE = 260
_EXCERPT = 200
_SAME = 0.6
_VERBATIM = 4
_LOOSE = 2
_LEAST_COVERED = 0.3
_TRUST = {
    Trust.USER: 1.0, Trust.TEAM: 0.9, Trust.TOOL: 0.8, Trust.ASSISTANT: 0.7, Trust.IMPORT: 0.6,
    Trust.EXTERNAL: 0.2,
}  # fmt: skip
_LABEL = re.compile(r"^(?:Request|Completed|Learned|Investigated|Next|Committed): ", re.MULTILINE)
_PAST = (Status.SUPERSEDED, Status.RETRACTED)
_SUMS_UP = ("memory", "exchange", "digest", "concept", "fact")
_DENIES = re.compile(r"\b(?:not|never|no longer|cannot|without)\b|n['’]t\b", re.IGNORECASE)
_FELT = re.compile(
    r"\b(?:frustrat\w+|annoy\w+|tired of|sick of|ugh|argh|hate|wast(?:e|ed|ing)|painful|worried|"
    r"afraid|urgent|deadline|third time|again and again|keeps? (?:failing|breaking)|"
    r"still (?:broken|fails|failing|not work\w*)|stuck|nightmare|confus(?:ed|ing)|unhappy|"
    r"disappoint\w+|happy|glad|love)\b",
    re.IGNORECASE,
)
_MOTIVE = re.compile(
    r"\b(?:because|so that|in order to|otherwise|the goal|we need|i need|matters|customers?)\b",
    re.IGNORECASE,
)
_TYPED = 1500
# What tells how the work stands at the moment, and nothing for later.
_MOMENT = re.compile(
    r"^(?:(?:writing|running|checking|starting|launching|reading|committing|pushing|waiting|working)"
    r"\b|in flight\b|(?:one|two|three|\d+) agents?\b)|\bnow[.!]?$",
    re.IGNORECASE,
)


class _Said(NamedTuple):
    hit: Hit
    sentence: str
    roots: frozenset[str]
    denies: bool
    weight: float


def reflect(reader: Reader, bank: Bank, found: Recalled, opinions: Sequence[Opinion]) -> Reflection:
    """What the records that were found come to, seen through the disposition of their bank."""
    mind = bank.disposition
    told = relevant_opinions(found.query, opinions)
    own = {f"holdfast://memory/{o.id}" for o in opinions}
    # Opinions are told as such, and what is superseded does not hold.
    hits = [hit for hit in found.hits if hit.uri not in own and hit.status not in _PAST]
    said = _evidence(reader, bank.id, found.query, hits, mind)
    cited = _Citing()
    claims = _claims(said, mind, cited)
    voices = _voices(reader, found.hits, mind, cited) if claims or told else ()
    if not claims and not told:
        return Reflection(
            found.query,
            bank.name,
            "Not known: nothing in memory speaks of this"
            + (" in these very words." if mind.literalism >= _VERBATIM and found.hits else "."),
            0.0,
            abstained=True,
            caveats=tuple(_caveats(bank, found, claims)),
        )
    best = max([c.confidence for c in claims if c.believed] or [0.0])
    best = max([best, *(o.confidence for o in told if o.status is Status.OBSERVED)])
    weak = max([c.confidence for c in claims] or [o.confidence for o in told])
    return Reflection(
        found.query,
        bank.name,
        _answer(bank, claims, voices, told),
        best or round(weak / 2, 3),
        abstained=False,
        claims=claims,
        voices=voices,
        opinions=told,
        citations=cited.all,
        caveats=tuple(_caveats(bank, found, claims)),
    )


class _Citing:
    """Numbers records as they are first cited."""

    def __init__(self) -> None:
        self._numbers: dict[str, Cited] = {}

    def number(self, uri: str, text: str, time: str, session: str, trust: Trust) -> int:
        known = self._numbers.get(uri)
        if known is None:
            place = len(self._numbers) + 1
            known = Cited(place, uri, cut(plain(text), _EXCERPT), time, session, trust)
            self._numbers[uri] = known
        return known.number

    @property
    def all(self) -> tuple[Cited, ...]:
        return tuple(self._numbers.values())


def relevant_opinions(query: str, opinions: Sequence[Opinion]) -> tuple[Opinion, ...]:
    """The opinions on what a question names, that have not faded."""
    asked = _roots(query)
    return tuple(
        o for o in opinions if o.status is not Status.RETRACTED and set(o.target.split()) & asked
    )[:MOST_CLAIMS]


def _roots(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOPWORDS)


def _evidence(
    reader: Reader, bank: str, query: str, hits: Sequence[Hit], mind: Disposition
) -> list[_Said]:
    """The best sentence of each record, as far as the disposition lets it count."""
    weight = weigh_terms(reader, bank, read_terms(query).words).by_stem
    asked = {word for word in words(query) if word not in STOPWORDS}
    said: list[_Said] = []
    for hit in hits:
        if "\n→ " in hit.text or not _counts(hit, asked, mind):
            continue
        best = _best(hit, weight, asked, mind)
        if best:
            worth = _TRUST[hit.trust] * (1.2 if hit.status is Status.VERIFIED else 1.0)
            roots = _roots(best)
            said.append(_Said(hit, best, roots, bool(_DENIES.search(best)), worth))
    return said


def _counts(hit: Hit, asked: set[str], mind: Disposition) -> bool:
    """Literalism asks for the very words of the question."""
    if mind.literalism < _VERBATIM or not asked:
        return True
    share = len(asked & set(words(hit.text))) / len(asked)
    return share >= (0.5 if mind.literalism == _VERBATIM else 0.65)


def _best(hit: Hit, weight: Mapping[str, float], asked: set[str], mind: Disposition) -> str:
    bare = _LABEL.sub("", hit.text)
    told = [s for s in sentences(bare) if len(s) >= 12 and not s.endswith(("?", ":"))]
    told = [s for s in told if not (is_chatter(s) or _MOMENT.search(s))]
    if mind.literalism <= _LOOSE and hit.kind in _SUMS_UP and told:
        return cut(told[0], _SENTENCE)
    worth = [(coverage(weight, s), -n, s) for n, s in enumerate(told)]
    if mind.literalism >= _VERBATIM:
        worth = [(len(asked & set(words(s))) / max(1, len(asked)), n, s) for _, n, s in worth]
    covered, _, best = max(worth, default=(0.0, 0, ""))
    return cut(squeeze(best), _SENTENCE) if covered >= _LEAST_COVERED else ""


def _claims(said: Sequence[_Said], mind: Disposition, cited: _Citing) -> tuple[Claim, ...]:
    """Sentences that say the same are one claim; one that denies it counts against it. Of claims
    that deny each other the later is told."""
    groups: list[list[_Said]] = []
    for one in said:
        for group in groups:
            if _alike(one.roots, group[0].roots):
                group.append(one)
                break
        else:
            groups.append([one])
    weighed = [_weighed(group, mind) for group in groups[: MOST_CLAIMS * 2]]
    # The sort is stable: of equal claims the one that was found first stands first.
    weighed.sort(key=lambda w: (not w.claim.believed, -w.claim.confidence))
    return tuple(
        w.claim._replace(cited=_cite(w.ours, cited), against=_cite(w.others, cited))
        for w in weighed[:MOST_CLAIMS]
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME * max(1, min(len(one), len(other)))


class _Weighed(NamedTuple):
    claim: Claim
    ours: Sequence[_Said]
    others: Sequence[_Said]


def _weighed(group: Sequence[_Said], mind: Disposition) -> _Weighed:
    last = max(group, key=lambda s: s.hit.time)
    ours = [s for s in group if s.denies is last.denies]
    others = [s for s in group if s.denies is not last.denies]
    # Of what says the same, literalism takes a person's words, otherwise what was found first.
    told = ours[0]
    if mind.literalism >= _VERBATIM:
        told = min(ours, key=lambda s: (s.hit.kind in _SUMS_UP, ours.index(s)))
    homes, against = _homes(ours), _homes(others)
    favour, denied = sum(homes.values()), sum(against.values()) * 0.6
    # What a person asked to remember was checked by them.
    checked = any(s.hit.status is Status.VERIFIED for s in ours)
    sources = len(homes) + checked
    confidence = confidence_of(favour + checked * 0.5, denied, sources, mind.skepticism)
    enough = sources >= sources_needed(mind.skepticism) and favour + checked * 0.5 > denied
    sentence = f"“{told.sentence}”" if mind.literalism >= _VERBATIM else told.sentence
    return _Weighed(Claim(sentence, confidence, enough, len(homes), ()), ours, others)


def _homes(said: Sequence[_Said]) -> dict[str, float]:
    """Where it was said, and what that weighs. What was made of sessions is no source beside them,
    but stands for them where none of them was found."""
    told = [s for s in said if s.hit.session or not _is_made(s.hit)] or said[:1]
    return {s.hit.session or s.hit.uri: s.weight for s in told}


def _is_made(hit: Hit) -> bool:
    made = hit.kind == "memory" and hit.status is not Status.VERIFIED
    return made or hit.kind in ("fact", "concept")


def _cite(said: Iterable[_Said], cited: _Citing) -> tuple[int, ...]:
    hits = list({s.hit.uri: s.hit for s in said}.values())[:_CITED]
    return tuple(cited.number(h.uri, h.text, h.time, h.session, h.trust) for h in hits)


def _voices(
    reader: Reader, hits: Sequence[Hit], mind: Disposition, cited: _Citing
) -> tuple[Claim, ...]:
    """Motives, and with more empathy feelings, in the words of the people who asked."""
    most = max(0, 2 * (mind.empathy - 2) - 1)
    patterns = [_MOTIVE] if mind.empathy == 3 else [_FELT, _MOTIVE]
    if not most:
        return ()
    found: dict[str, tuple[int, int, Turn]] = {}
    for exchange in _exchanges_of(reader, hits):
        for turn in reader.turns(
            exchange.bank, exchange.session, exchange.first_seq, exchange.last_seq
        ):
            typed = turn.role is Role.USER and len(turn.text) <= _TYPED
            if not typed or turn.trust is Trust.EXTERNAL:
                continue
            for sentence in sentences(turn.text):
                rank = next((n for n, p in enumerate(patterns) if p.search(sentence)), None)
                if rank is not None and 12 <= len(sentence) <= _SENTENCE:
                    found.setdefault(sentence, (rank, len(found), turn))
    best = sorted(found.items(), key=lambda item: item[1][:2])[:most]
    return tuple(
        Claim(f"“{sentence}”", 1.0, True, 1, (_cite_turn(turn, cited),))
        for sentence, (_, _, turn) in best
    )


def _cite_turn(turn: Turn, cited: _Citing) -> int:
    name = f"holdfast://turn/{turn.id}"
    return cited.number(name, turn.text, turn.time, turn.session, turn.trust)


def _exchanges_of(reader: Reader, hits: Sequence[Hit]) -> list[Exchange]:
    found: dict[str, Exchange] = {}
    for hit in hits[:8]:
        id = hit.uri.rpartition("/")[2]
        if hit.kind == "exchange":
            found |= {r.id: r for r in reader.find(hit.bank, "exchange", id, 1)
                      if isinstance(r, Exchange)}  # fmt: skip
        elif hit.kind == "turn":
            for turn in reader.find(hit.bank, "turn", id, 1):
                seq = getattr(turn, "seq", 0)
                for x in reader.exchanges(turn.bank, getattr(turn, "session", "")):
                    if x.first_seq <= seq <= x.last_seq:
                        found[x.id] = x
    return list(found.values())


def _answer(
    bank: Bank, claims: Sequence[Claim], voices: Sequence[Claim], told: Sequence[Opinion]
) -> str:
    mind = bank.disposition
    needed = sources_needed(mind.skepticism)
    parts = [MECHANICAL]
    believed = [_line(c) for c in claims if c.believed]
    doubted = [_line(c) for c in claims if not c.believed]
    parts += ["Believed:\n" + "\n".join(believed)] if believed else []
    if doubted:
        asks = f"skepticism {mind.skepticism} asks for {needed} sessions"
        parts.append(f"Said, but not believed yet ({asks}):\n" + "\n".join(doubted))
    if told:
        parts.append("Opinions:\n" + "\n".join(opinion_line(o) for o in told))
    if voices:
        parts.append(
            "In people's own words:\n" + "\n".join(f"- {v.sentence} [{v.cited[0]}]" for v in voices)
        )
    return "\n\n".join(parts)


def _line(claim: Claim) -> str:
    marks = "".join(f"[{n}]" for n in claim.cited)
    denied = "".join(f"[{n}]" for n in claim.against)
    against = f"; denied by {denied}" if denied else ""
    return f"- {claim.sentence} {marks} ({claim.confidence:.2f}{against})"


def opinion_line(opinion: Opinion) -> str:
    """An opinion in a line."""
    o = opinion
    tension = ", in tension" if o.tension else ""
    doubt = ", not believed yet" if o.status is Status.HYPOTHESIS and not o.tension else ""
    return (
        f"- {o.what} ({o.confidence:.2f}, {o.trend.value}{tension}{doubt}; "
        f"{len(o.evidence_for)} for, {len(o.evidence_against)} against; holdfast://memory/{o.id})"
    )


def _caveats(bank: Bank, found: Recalled, claims: Sequence[Claim]) -> Iterable[str]:
    if bank.background:
        yield f"The bank's background is not used by rules: “{cut(bank.background, 120)}”"
    if any(claim.against for claim in claims):
        yield "Records contradict each other here; the later word was taken."
    if claims and all(c.sources < 2 for c in claims):
        yield "One session only speaks of each of these."
    if any(arm.timed_out or arm.problem for arm in found.strategies):
        yield "Not every way of searching answered."
