"""Tells how things were before a change from how they are now.

A later statement may name what it leaves behind ("Changed from setuptools to Hatchling"); what said
that before is history. A session also describes a problem in the words that a question has ("the
export button fails with …"), then changes that, and reports the change in other words. What was so
before is quoted behind what says how it is since, and marked; alone, it is of low confidence. A
plan tells it in a part of its own ("Context: the importer reads every file"), in whichever words. A
question about the problem itself is answered by it as before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from posixpath import basename

from holdfast.language import code_names, collapse_spaces, content_stems, plain, sentences
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Hit
from holdfast.model.records import Digest, Exchange, Outcome
from holdfast.refine.core.problem_states import describes_problem, is_for_now, is_state_before
from holdfast.regex import regex
from holdfast.research.answering.confidence import exchange_of, turn_of
from holdfast.research.answering.quoting import MAX_CITATIONS, Quote
from holdfast.research.answering.replies import MIN_COVERED, closing_hit
from holdfast.store.protocol import Reader

# Put before the quote of such a description.
LEAD = "before it was changed: "
# What such a quote counts for, against 1 for any other: less than what the change says of it.
PUSHED_BACK = 0.6
# A later exchange of the session is about the same if it shares so many words with the description.
_SHARED_STEMS = 2
# Where no failure is described, if it shares this part of the description, too.
_SHARED_FRACTION = 0.4
_FILE = regex(r"[\w.-]+\.[a-zA-Z]\w{0,7}")
_MAX_NAMES = 20
# What a statement says to be left behind, and that something is about a change at all.
_OLD = r"(?P<{}>[^\s,.;:()]+(?: [^\s,.;:()]+){{0,3}}?)"
_LEAVES_BEHIND = regex(
    r"\b(?:chang|switch|mov|migrat|convert|port)(?:ed|es|e|ing)?\b[^.;]{0,60}?\bfrom "
    + _OLD.format("source")
    + r" (?:over )?to\b|\breplac(?:ed|es|ing|e) (?:the |our |its )?"
    + _OLD.format("replaced")
    + r" (?:with|by)\b|\b(?:now|switched|moved|changed|migrated)\b[^.;]{0,60}?\b"
    r"(?:instead of|rather than) (?:the |our |its )?" + _OLD.format("rejected") + r"(?=\W|$)",
    re.IGNORECASE,
)


def left_behind(sentence: str) -> list[frozenset[str]]:
    """What a sentence says to be replaced, as content words."""
    found = _LEAVES_BEHIND.finditer(plain(sentence))
    stems = (content_stems(one.group(one.lastgroup or 0)) for one in found)
    return [one for one in stems if one]


def is_left_behind(item: Quote, chosen: Sequence[Quote]) -> bool:
    """Whether a later quote about the same names what a quote says as replaced."""
    if left_behind(item.sentence):
        return False
    stems = content_stems(item.sentence)
    return any(
        old <= stems and (stems & content_stems(later.sentence)) - old
        for later in chosen
        if later.hit.bank == item.hit.bank and later.hit.time > item.hit.time > ""
        for old in left_behind(later.sentence)
    )


def change_since(reader: Reader, hit: Hit, sentence: str) -> Exchange | None:
    """The exchange that changed what a sentence of a hit describes as wrong, or as how things are
    before the work; None if none did, or if it describes nothing of the kind."""
    # A digest joins the texts of exchanges, and shortens them.
    words = plain(sentence).strip(" —…")
    place = _place(reader, hit, words)
    if place is None:
        return None
    fails = describes_problem(words)
    is_before = fails or is_state_before(place.text, sentence)
    if not is_before and not is_for_now(words):
        return None
    stems = content_stems(sentence)
    shared = _SHARED_STEMS if fails else max(_SHARED_STEMS, _SHARED_FRACTION * len(stems))
    # Nothing but its words tells that such a sentence is about the work.
    files = frozenset[str]() if is_before else _files_in(sentence)
    for exchange in reader.sessions.exchanges(hit.bank, place.session):
        is_change = exchange.outcome is Outcome.DONE and bool(exchange.files_modified)
        if not is_change or exchange.last_seq <= place.seq or words in plain(exchange.summary):
            continue
        if files and files.isdisjoint(map(basename, exchange.files_modified)):
            continue
        about = content_stems(f"{exchange.title} {exchange.summary}")
        if exchange.first_seq <= place.seq or len(stems & about) >= shared:
            return exchange
    return None


def _files_in(sentence: str) -> frozenset[str]:
    """The files that a sentence names, without their folders."""
    names = (basename(name) for name in code_names(sentence, _MAX_NAMES))
    return frozenset(name for name in names if _FILE.fullmatch(name))


class _Place(NamedTuple):
    """Where something was said, and all that was said there."""

    session: str
    seq: int
    text: str


def _place(reader: Reader, hit: Hit, words: str) -> _Place | None:
    """Where a sentence of a hit was said: in its turn; at the start or the end of its exchange, or
    of the one that a memory was retained from or that a digest tells of."""
    turn = turn_of(reader, hit)
    if turn is not None:
        return _Place(turn.session, turn.seq, turn.text)
    id = exchange_of(reader, hit)
    for exchange in reader.records.find(hit.bank, "exchange", id, 1) if id else ():
        if isinstance(exchange, Exchange):
            return _place_in(reader, exchange, words)
    for exchange in _exchanges_of_digest(reader, hit):
        if words in plain(exchange.summary) or words in plain(exchange.title):
            return _place_in(reader, exchange, words)
    return None


def _exchanges_of_digest(reader: Reader, hit: Hit) -> Sequence[Exchange]:
    """The exchanges that a digest tells of; none of any other record."""
    if hit.kind != "digest":
        return ()
    found = reader.records.find(hit.bank, "digest", hit.uri.rsplit("/", 1)[-1], 1)
    return [
        exchange
        for digest in found
        if isinstance(digest, Digest)
        for exchange in reader.sessions.exchanges(hit.bank, digest.session)
    ]


def _place_in(reader: Reader, exchange: Exchange, words: str) -> _Place:
    first = exchange.first_seq
    asked = reader.turns.of_session(exchange.bank, exchange.session, first, first)
    prompt = asked[0].text if asked else ""
    said = next(iter(sentences(words)), words)
    if words in plain(exchange.title) or said in collapse_spaces(plain(prompt)):
        return _Place(exchange.session, first, prompt)
    return _Place(exchange.session, exchange.last_seq, exchange.summary)


def with_changes_lifted(reader: Reader, found: Sequence[Quote]) -> list[Quote]:
    """The quotes, that of a change as good as the best description of what it changed: the change
    answers in its place."""
    scores: dict[str, float] = {}
    for item in found:
        if item.changed_in:
            score = max(scores.get(item.changed_in, 0.0), item.score / PUSHED_BACK)
            scores[item.changed_in] = score
    lifted = list(found)
    for exchange, score in scores.items():
        changes = [
            n
            for n, item in enumerate(lifted)
            if not item.changed_in
            and item.states
            and item.covered >= MIN_COVERED
            and exchange_of(reader, item.hit) == exchange
        ]
        if changes:
            best = max(changes, key=lambda n: lifted[n].score)
            lifted[best] = lifted[best]._replace(score=max(score, lifted[best].score))
    return lifted


def is_history(quotes: Sequence[Quote]) -> bool:
    """Whether all quotes tell how things were before a change."""
    return bool(quotes) and all(item.lead == LEAD for item in quotes)


def marked(reader: Reader, chosen: Sequence[Quote]) -> list[Quote]:
    """The quotes in their order, those of what was changed since marked."""
    return [
        item._replace(lead=item.lead or LEAD)
        if is_left_behind(item, chosen) or change_since(reader, item.hit, item.sentence)
        else item
        for item in chosen
    ]


def with_changes_first(
    reader: Reader,
    chosen: Sequence[Quote],
    accepts: Callable[[Hit], bool],
    quote: Callable[[Hit], Quote],
    as_of: str = "",
) -> list[Quote]:
    """The quotes, those of what was changed since last and marked; what closes the exchange of the
    change before them, if it is about the question and not quoted yet."""
    current: list[Quote] = []
    former: list[Quote] = []
    changes: dict[str, tuple[Exchange, Quote]] = {}
    for item in chosen:
        change = change_since(reader, item.hit, item.sentence)
        if is_left_behind(item, chosen):
            former.append(item._replace(lead=item.lead or LEAD))
        elif change is None:
            current.append(item)
        else:
            former.append(item._replace(lead=item.lead or LEAD))
            changes.setdefault(change.id, (change, item))
    quoted = {exchange_of(reader, item.hit) for item in current}
    for id, (change, item) in changes.items():
        hit = closing_hit(reader, change, item, as_of) if id not in quoted else None
        closing = quote(hit) if hit is not None and accepts(hit) else None
        if closing is not None and closing.covered >= MIN_COVERED:
            current.append(closing)
    # What closes the exchange of the change as well was not changed by it.
    said = {item.sentence for item in current}
    return [*current, *(item for item in former if item.sentence not in said)][:MAX_CITATIONS]
