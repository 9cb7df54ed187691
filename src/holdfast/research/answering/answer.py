"""An extractive answer: the sentences that bear on a question, each with its citation.

Nothing is made up, because nothing is made: every sentence was said or recorded. Confidence
says how much of the question the evidence covers, not whether the evidence is true:

- high: the words of one record cover at least 80% of the question's weight, and those of a
  second, from another exchange, at least 60%.
- medium: the words of one record cover at least 60%.
- low: something clears the relevance floor.
- none: nothing does. Then we abstain, and name the nearest misses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from holdfast.language import (
    cut,
    decides,
    is_chatter,
    plain,
    sentences,
    squeeze,
    stem,
)
from holdfast.model.knowledge import Rule
from holdfast.model.query import Answer, Citation, Confidence, Hit, Layer, Recalled
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Status, Trust
from holdfast.recall.core.relevance import coverage, weigh_terms
from holdfast.recall.lookup.commit_links import web_address
from holdfast.recall.query.terms import read_terms
from holdfast.research.answering.quoted_status import QuotedStatuses
from holdfast.research.answering.quoting import (
    DIGEST_LABEL,
    MAX_CITATIONS,
    MAX_SENTENCE_CHARS,
    Quote,
    quote_causal_chain,
    quote_digests_by_time,
)
from holdfast.store.protocol import Reader

MAX_EXCERPT_CHARS = 240
OLD_DAYS = 90
NEAR_MISS = 0.2
# These repeat what stands nearer to the source.
# What repeats others, and how much less it is worth quoting than what stands nearer to the source.
_REPEATS = {"digest": 0.9, "concept": 0.6}
_NEAR = 0.8


_BY_LINKS = "No single record says all of this: they are linked by what they name."


def ask(
    reader: Reader,
    bank: str | None,
    question: str,
    found: Recalled,
    now: Callable[[], str],
    layers: Sequence[Layer] = (),
    as_of: str = "",
) -> Answer:
    """Answer a question from what was found in a bank, or in all of them if it is None; with a
    moment to look back from, as it would have been answered then."""
    if found.abstained:
        return _abstain(question, found, tuple(layers) or _searchable(reader, bank))
    weight = weigh_terms(reader, bank, read_terms(question).words).by_stem
    told = quote_digests_by_time(found.hits)
    fates = QuotedStatuses(reader, found.hits, as_of)
    links = [] if told else quote_causal_chain(found.hits, weight)
    chosen = told or links or _choose(reader, found.hits, weight, fates)
    confidence = Confidence.MEDIUM if told else _confidence(reader, found.hits)
    notes = [_BY_LINKS] if links else []
    way = AskRequest(bank, question, now, layers, as_of)
    return compose(reader, way, chosen, confidence, notes, fates)


class AskRequest(NamedTuple):
    """What was asked, of which bank and layers, and when; or as of which moment."""

    bank: str | None
    question: str
    now: Callable[[], str]
    layers: Sequence[Layer] = ()
    as_of: str = ""


def compose(
    reader: Reader,
    request: AskRequest,
    chosen: Sequence[Quote],
    confidence: Confidence,
    notes: Sequence[str] = (),
    fates: QuotedStatuses | None = None,
    from_git: bool = False,
) -> Answer:
    """An answer of chosen sentences, each with its citation, and with what must be said of them.
    What is `told_by_git` needs no second witness, and does not age."""
    fates = fates or QuotedStatuses(reader, [item.hit for item in chosen], request.as_of)
    citations = tuple(
        _citation(reader, number, item) for number, item in enumerate(chosen, start=1)
    )
    layers_used = {citation.layer for citation in citations}
    return Answer(
        question=request.question,
        answer="\n".join(_line(item, number, fates) for number, item in enumerate(chosen, start=1)),
        confidence=confidence,
        abstained=False,
        source=layers_used.pop().value if len(layers_used) == 1 else "combined",
        citations=citations,
        layers_searched=tuple(request.layers) or _searchable(reader, request.bank),
        caveats=(
            *fates.caveats([(e.hit, e.sentence) for e in chosen]),
            *(() if from_git else _of_time(chosen, request.as_of or request.now())),
            *_of_trust(chosen),
            *notes,
        ),
    )


def _searchable(reader: Reader, bank: str | None) -> tuple[Layer, ...]:
    counts = reader.counts(bank)
    banks = [bank] if bank is not None else [known.id for known in reader.banks()]
    held = (
        (Layer.RULES, any(reader.rules(id) for id in banks)),
        (Layer.SUMMARIES, counts.digests),
        (
            Layer.OBSERVATIONS,
            counts.exchanges + counts.memories + counts.facts + counts.imported,
        ),
        (Layer.TRANSCRIPTS, counts.turns),
        (Layer.TEAM, counts.commits + counts.pulls + counts.issues + counts.shared),
    )
    return tuple(layer for layer, number in held if number)


def _abstain(question: str, found: Recalled, searched: tuple[Layer, ...]) -> Answer:
    nearest = [hit for hit in found.misses if hit.why.get("coverage", 0.0) >= NEAR_MISS]
    caveats = tuple(f"Nearest: {cut(hit.text, 90)} ({hit.uri})" for hit in nearest)
    return Answer(
        question=question,
        answer="Not known: nothing in memory speaks of this.",
        confidence=Confidence.NONE,
        abstained=True,
        source="",
        layers_searched=searched,
        caveats=caveats,
    )


def _choose(
    reader: Reader, hits: Sequence[Hit], weight: Mapping[str, float], fates: QuotedStatuses
) -> list[Quote]:
    """The best sentences of the best records, without saying the same thing twice."""
    # A tool call is evidence that something was done, seldom an answer.
    said = [hit for hit in hits if "\n→ " not in hit.text] or hits
    asked = {hit.uri for hit in said if _is_request(reader, hit)}
    found = [_best_sentence(hit, weight, hit.uri in asked, fates) for hit in said]
    ranked = sorted(found, key=lambda item: -item.score)
    chosen: list[Quote] = []
    homes: set[str] = set()
    for item in ranked:
        if len(chosen) == MAX_CITATIONS or item.score < 0.5 * ranked[0].score:
            break
        session = f"session {item.hit.session}"
        home = _exchange_of(reader, item.hit) or session
        if home in homes or any(_same(item.sentence, other.sentence) for other in chosen):
            continue  # the same exchange speaks once, by its best record
        chosen.append(item)
        homes |= {home, session}
    return _ground_first(_later_first(chosen))


def _ground_first(chosen: list[Quote]) -> list[Quote]:
    """What people wrote down as the ground truth wins against whatever else was said."""
    return sorted(chosen, key=lambda item: not _is_ground(item.hit))


def _is_ground(hit: Hit) -> bool:
    return hit.kind == "rule" and hit.status is Status.VERIFIED


def _is_request(reader: Reader, hit: Hit) -> bool:
    """Whether a hit is a message in the user's place."""
    if hit.kind != "turn":
        return False
    found = reader.find(hit.bank, "turn", hit.uri.rsplit("/", 1)[-1], limit=1)
    return bool(found) and isinstance(found[0], Turn) and found[0].role is Role.USER


def _best_sentence(hit: Hit, weight: Mapping[str, float], asked: bool, fates: QuotedStatuses) -> Quote:
    """The sentence of a record that covers most of the question, with its neighbour if short."""
    told = [DIGEST_LABEL.sub("", sentence) for sentence in sentences(hit.text)]
    whole = [s for s in told if len(s) >= 8 and not s.endswith("…")]
    said = whole or told or [squeeze(plain(hit.text))]
    worth = [coverage(weight, sentence) * _bearing(sentence, asked) for sentence in said]
    best = max(range(len(said)), key=lambda n: (worth[n], -n))
    sentence = said[best]
    if len(sentence) < 90 and best + 1 < len(said):
        joint = " " if sentence[-1] in ".!?…" else "; "
        sentence = f"{sentence.rstrip(':')}{joint}{said[best + 1]}"
    covered = coverage(weight, sentence)
    score = (0.6 * covered + 0.4 * hit.score) * _bearing(said[best], asked)
    score *= _REPEATS.get(hit.kind, 1.0)
    score *= fates.weight(hit, said[best])  # what holds now is said elsewhere
    return Quote(hit, cut(sentence, MAX_SENTENCE_CHARS), covered, score)


def _bearing(sentence: str, asked: bool) -> float:
    """How much a sentence can answer: a question does not, an order hardly, a decision does."""
    if sentence.rstrip().endswith("?"):
        return 0.5
    if sentence.rstrip().endswith(":") or is_chatter(sentence):
        return 0.6
    if decides(sentence):
        return 1.1
    return 0.8 if asked else 1.0


def _same(one: str, other: str) -> bool:
    ours, theirs = ({stem(w) for w in s.lower().split()} for s in (one, other))
    return len(ours & theirs) >= 0.8 * min(len(ours), len(theirs))


def _later_first(chosen: list[Quote]) -> list[Quote]:
    """Among decisions of about the same worth the later stands first: it may revise the other."""
    best = max((item.score for item in chosen), default=0.0)
    decisions = [item for item in chosen if item.score >= _NEAR * best and decides(item.sentence)]
    rest = [item for item in chosen if item not in decisions]
    if len(decisions) < 2:
        return chosen
    return sorted(decisions, key=lambda item: item.hit.time, reverse=True) + rest


def _line(item: Quote, number: int, fates: QuotedStatuses) -> str:
    mark = f" (corrected {item.hit.corrected})" if item.hit.corrected else ""
    mark += f" (shared {item.hit.shared})" if item.hit.shared else ""
    mark += f" (imported from {item.hit.imported})" if item.hit.imported else ""
    mark += f" (with {item.hit.agent})" if item.hit.agent else ""
    if item.hit.kind == "rule":
        mark += f" ({item.hit.source.path.rpartition('/')[2]})"
    mark += fates.label(item.hit, item.sentence)
    if not item.hit.time:
        return f"{item.lead}{item.sentence}{mark} [{number}]"
    moment = datetime.fromisoformat(item.hit.time)
    return f"{moment.day} {moment:%b %Y}: {item.lead}{item.sentence}{mark} [{number}]"


def _confidence(reader: Reader, hits: Sequence[Hit]) -> Confidence:
    said = [hit for hit in hits if hit.kind not in _REPEATS] or list(hits)
    ranked = sorted(said, key=lambda hit: -hit.why.get("coverage_alone", 0.0))
    best = ranked[0].why.get("coverage_alone", 0.0)
    home = _exchange_of(reader, ranked[0])
    others = [hit for hit in ranked[1:] if _exchange_of(reader, hit) not in (home, "")]
    second = others[0].why.get("coverage_alone", 0.0) if others else 0.0
    if best >= 0.8 and second >= 0.6:
        return Confidence.HIGH
    return Confidence.MEDIUM if best >= 0.6 else Confidence.LOW


def _exchange_of(reader: Reader, hit: Hit) -> str:
    """What a hit stands in; "" for what only repeats what stands elsewhere."""
    if hit.kind in _REPEATS:
        return ""
    id = hit.uri.rsplit("/", 1)[-1]
    found = reader.find(hit.bank, hit.kind, id, limit=1) if hit.kind == "turn" else []
    turn = found[0] if found else None
    if not isinstance(turn, Turn):
        return id
    inside = [
        exchange.id
        for exchange in reader.exchanges(turn.bank, turn.session)
        if exchange.first_seq <= turn.seq <= exchange.last_seq
    ]
    return inside[0] if inside else id


def _of_time(chosen: Sequence[Quote], now: str) -> list[str]:
    notes: list[str] = []
    times = [item.hit.time for item in chosen if item.hit.time]
    if times and _days(max(times), now) > OLD_DAYS:
        notes.append(f"The latest evidence is {_days(max(times), now)} days old.")
    if len(chosen) == 1:
        notes.append("One source only.")
    elif _is_ground(chosen[0].hit):
        notes.append("Where others differ from memory.md [1], memory.md holds.")
    if len({time[:10] for time in times}) > 1:
        notes.append("Several dates speak of this; where they differ, the later one may hold.")
    return notes


def _of_trust(chosen: Sequence[Quote]) -> list[str]:
    outside = [n for n, item in enumerate(chosen, 1) if item.hit.trust is Trust.EXTERNAL]
    if outside and len(outside) == len(chosen):
        return ["All of it involves text from outside the project."]
    named = ", ".join(f"[{n}]" for n in outside)
    return [f"Text from outside the project: {named}."] if outside else []


def _days(earlier: str, later: str) -> int:
    return (_moment(later) - _moment(earlier)).days


def _moment(time: str) -> datetime:
    """A time as records spell it, or a day alone, which begins in UTC."""
    told = datetime.fromisoformat(time)
    return told if told.tzinfo is not None else told.replace(tzinfo=UTC)


def _citation(reader: Reader, number: int, item: Quote) -> Citation:
    hit = item.hit
    return Citation(
        number=number,
        uri=hit.uri,
        layer=hit.layer,
        excerpt=cut(plain(hit.text), MAX_EXCERPT_CHARS),
        browse_url=browse_url(reader, hit),
        time=hit.time,
        trust=hit.trust,
    )


def _domain(reader: Reader, bank: str, id: str) -> str:
    found = reader.find(bank, "rule", id, limit=1)
    return next((rule.domain for rule in found if isinstance(rule, Rule)), "")


def browse_url(reader: Reader, hit: Hit) -> str:
    return page_url(reader, hit.bank, hit.uri, hit.session)


def page_url(reader: Reader, bank: str, name: str, session: str) -> str:
    """Where a record is shown: a page of ours, or that of a forge."""
    word, _, id = name.removeprefix("holdfast://").partition("/")
    if word == "commit":
        return f"/repos?commit={id}"
    if word in ("pull", "issue", "remark"):
        return web_address(reader, bank, word, id)
    if word == "digest":
        return f"/sessions/{_page(reader, bank, reader.find(bank, word, id, limit=1), session)}"
    if word == "rule":
        return f"/memory?tab=rules&file={_domain(reader, bank, id)}"
    if word == "fact":
        return f"/memory?tab=facts&id={id}"
    if word == "memory":
        return f"/memory?tab=remembered&id={id}"
    if word == "concept":
        return f"/memory?tab=concepts&id={id}"
    if word in ("shared", "imported"):
        return f"/memory?tab={word}&id={id}"
    if word == "remote":
        return ""  # it has a page where it lies
    found = reader.find(bank, word, id, limit=1)
    place: object = getattr(found[0], "first_seq" if word == "exchange" else "seq", 1)
    return f"/sessions/{_page(reader, bank, found, session)}#msg-{place}"


def _page(reader: Reader, bank: str, found: Sequence[object], host: str) -> str:
    """The session whose page shows a record: by the host's own name, or, since a subagent shares
    that with the session that sent it off, by the subagent's."""
    own = str(getattr(found[0], "session", "")) if found else ""
    session = reader.session(bank, own) if own else None
    return own if session is not None and session.parent else host
