"""What to search next, derived without a model from the records found so far.

A record that covers a part of a question names other things; the rest of the question is searched
together with those. There are three kinds of lead: rare words and names in the record (entities
among them), its session and time, and records that belong to it: from a commit to the exchange
that made it, and from a commit, pull, issue or remark to the whole discussion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from holdfast.language import STOPWORDS, code_names, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.forge import Remark
from holdfast.model.query import LAYER_BY_KIND, Hit, Layer, Passage
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.relevance import MAX_COUNTED
from holdfast.recall.query.terms import QUESTION_WORDS, Terms
from holdfast.recall.retrievers.graph import entities_named_in
from holdfast.research.answering.evidence_chains import Chain, Link, best_excerpt, mentions
from holdfast.research.answering.request import AskRequest, hits_of_passages
from holdfast.store.protocol import Reader


class LeadLimits(NamedTuple):
    """How widely leads are searched. Higher numbers find more and take longer."""

    # Bridges, and pulls, that one record leads to.
    bridges: int = 3
    # Words of an excerpt whose frequency is looked up.
    words_counted: int = 40
    # Passages that one query returns.
    passages: int = 24
    # A name in more than this share of a bank's passages leads everywhere, so it is no bridge. In
    # a small bank, where that share is next to nothing, this many passages are allowed (two
    # statements, each as a turn, in its exchange, in a digest and as a memory); and no more for a
    # plain word, which is a name only if hardly anything has it.
    max_share: float = 0.03
    min_allowed: int = 8
    # How far from the time of a record its session is searched. Wider finds more of a long
    # session, and more that is unrelated.
    around: timedelta = timedelta(hours=36)


_LIMITS = LeadLimits()
_SUMMARIES = ("digest", "concept")
_THREADS = ("pull", "issue")
# What links two records, for people. An answer quotes these.
SAME_SESSION = "the session both stand in"
MADE_IN = "the session that made the commit"
SAID_UNDER = "the discussion it is part of"
_Ids = tuple[tuple[str, str], ...]


class Lead(NamedTuple):
    """What to search next in order to extend a chain, and what would link the result to it.

    `bridge` is a name that both records must mention; `session`, `since` and `until` confine the
    search; `ids` are records that are fetched instead of searched.
    """

    chain: Chain
    reason: str
    terms: tuple[str, ...] = ()
    bridge: str = ""
    session: str = ""
    since: str = ""
    until: str = ""
    ids: _Ids = ()

    @property
    def query(self) -> str:
        """What is searched, for people."""
        return " ".join(self.terms) or self.reason


def find_leads(reader: Reader, terms: Terms, chain: Chain) -> list[Lead]:
    """The leads from the last record of a chain, for the words that the chain does not cover."""
    last, covered = chain.last, chain.covers
    rest = tuple(word for word in terms.words if stem(word) not in covered)
    if not rest or SAME_SESSION in chain.link_reasons:
        return []  # a link by session is the weakest, so nothing is linked to it
    asked = {stem(word) for word in terms.words}
    by_name = [
        Lead(chain, f"“{bridge}”", (bridge, *rest), bridge)
        for bridge in find_bridges(reader, last, asked)
    ]
    belonging = [(MADE_IN, _author_ids(reader, last.hit))]
    if SAID_UNDER not in chain.link_reasons:
        belonging.append((SAID_UNDER, _thread_ids(reader, last.hit)))
    by_id = [Lead(chain, reason, rest, ids=ids) for reason, ids in belonging if ids]
    return [*by_id, *by_name, *_leads_to_session(last.hit, chain, rest)]


def find_bridges(reader: Reader, link: Link, asked: Iterable[str]) -> list[str]:
    """Words that a record has, that the question does not have, and that few others have: the
    rarest first."""
    asked_stems = set(asked)
    bank, excerpt = link.hit.bank, link.excerpt
    entities = [one.entity.name for one in entities_named_in(reader, bank, excerpt)]
    plain = [
        w for w in words(excerpt) if len(w) > 3 and w not in STOPWORDS and w not in QUESTION_WORDS
    ]
    names = {*code_names(excerpt), *entities}
    wanted = dict.fromkeys((*code_names(excerpt), *entities, *plain))
    new = [w for w in wanted if not {stem(part) for part in words(w)} <= asked_stems]
    new = new[: _LIMITS.words_counted]
    counts = reader.passages.term_frequencies(bank, new, MAX_COUNTED) if new else []
    size = max(2, reader.passages.count(bank, MAX_COUNTED))
    most = max(_LIMITS.min_allowed, math.ceil(_LIMITS.max_share * size))
    # A word that is in this record only leads nowhere.
    rare = [
        (count, w)
        for count, w in zip(counts, new, strict=True)
        if 2 <= count <= (most if w in names else _LIMITS.min_allowed)
    ]
    chosen: list[str] = []
    for _, word in sorted(rare, key=lambda pair: (pair[0], -len(pair[1]))):
        if not any(word.lower() in other.lower() for other in chosen):
            chosen.append(word)
    return chosen[: _LIMITS.bridges]


def _leads_to_session(hit: Hit, chain: Chain, rest: tuple[str, ...]) -> list[Lead]:
    """The rest of the question, in the session of a record and around its time."""
    if not hit.session or not hit.time:
        return []
    at = datetime.fromisoformat(hit.time)
    since, until = (
        f"{time.isoformat()[:19]}.000Z" for time in (at - _LIMITS.around, at + _LIMITS.around)
    )
    return [Lead(chain, SAME_SESSION, rest, "", hit.session, since, until)]


def _author_ids(reader: Reader, hit: Hit) -> _Ids:
    """The exchange that made a commit."""
    if hit.kind != "commit":
        return ()
    made = reader.git.authorship(hit.bank, commit=hit.uri.rpartition("/")[2])[:1]
    return tuple(("exchange", one.exchange) for one in made if one.exchange)


def _thread_ids(reader: Reader, hit: Hit) -> _Ids:
    """The discussions that a commit, a pull, an issue or a remark is part of."""
    id = hit.uri.rpartition("/")[2]
    if LAYER_BY_KIND[hit.kind] is not Layer.TEAM:
        return ()
    if hit.kind == "commit":
        pulls = reader.forge.pulls_with_commit(hit.bank, id)[: _LIMITS.bridges]
        return tuple(("pull", pull.id) for pull in pulls)
    if hit.kind == "remark":
        found = [r for r in reader.records.find(hit.bank, "remark", id, 1) if isinstance(r, Remark)]
        threads = [parse_uri(remark.thread) for remark in found]
        return tuple((thread.kind, thread.id) for thread in threads if thread is not None)
    return ((hit.kind, id),)


def follow_lead(reader: Reader, request: AskRequest, lead: Lead) -> list[Hit]:
    """The hits of a lead, best first; only what may be shown and existed at the time asked for."""
    in_session: dict[str, bool] = {"": False}
    passages: list[Passage] = []
    for passage in _passages(reader, request, lead):
        if passage.session not in in_session:
            session = reader.sessions.get(passage.bank, passage.session)
            in_session[passage.session] = session is not None and session.host == lead.session
        inside = not lead.session or in_session[passage.session]
        if inside and (not lead.bridge or mentions(passage.body, lead.bridge)):
            passages.append(passage)
    return hits_of_passages(reader, request, passages)


def _passages(reader: Reader, request: AskRequest, lead: Lead) -> list[Passage]:
    bank = lead.chain.last.hit.bank
    if lead.ids and lead.ids[0][0] in _THREADS:
        found = [p for name in lead.ids for p in reader.forge.thread_passages(bank, uri(*name))]
        return [p for p in found if request.has_layer_of(p) and request.covers_time(p.time)]
    if lead.ids:
        places = [reader.graph.record(bank, kind, id) for kind, id in lead.ids]
        nodes = [place.node for place in places if place is not None]
        return [p for _, p in reader.graph.node_passages(bank, nodes) if request.has_layer_of(p)]
    until = min(filter(None, (lead.until, request.until)), default="")
    layers = [layer.value for layer in request.layers]
    matches = reader.passages.search(bank, lead.terms, layers, _LIMITS.passages, lead.since, until)
    return [match.passage for match in matches if match.passage.kind not in _SUMMARIES]


def starting_chains(
    reader: Reader,
    request: AskRequest,
    terms: Terms,
    weights: Mapping[str, float],
    hits: Sequence[Hit],
) -> list[Chain]:
    """A chain of one record for each that covers a part of the question."""
    known = {hit.uri: hit for hit in (*hits, *_nearest(reader, request, terms))}
    found: dict[str, Chain] = {}
    for hit in known.values():
        # A summary repeats other records, and a tool call answers nothing.
        if hit.kind not in _SUMMARIES and "\n→ " not in hit.text:
            excerpt, covers = best_excerpt(weights, hit.text)
            if covers:
                found.setdefault(excerpt, Chain((Link(hit, excerpt, covers),)))
    return list(found.values())


def _nearest(reader: Reader, request: AskRequest, terms: Terms) -> list[Hit]:
    """The records that have most of the question's words, without a relevance threshold."""
    layers = [layer.value for layer in request.layers]
    matches = reader.passages.search(
        request.bank, terms.all, layers, _LIMITS.passages, until=request.until
    )
    return hits_of_passages(reader, request, [match.passage for match in matches])
