"""Where to look next, told by what was found: without a model, from the evidence's own words.

A record that covers a part of a question names other things; the rest of the question is asked
about those. Three ways lead on: rare words and names that a record holds (entities among them), the
time and session it stands in, and from a commit to the session that made it, and back; also from
a commit, or a remark, to all that was said under its pull.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from holdfast.language import STOPWORDS, names, stem, words
from holdfast.model.forge import Remark
from holdfast.model.query import LAYER_OF, Hit, Layer, Passage
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.candidates import Pool
from holdfast.recall.core.relevance import MOST
from holdfast.recall.query.terms import ASKING, Terms
from holdfast.recall.ranking.hits import hit as make_hit
from holdfast.recall.ranking.status import apply_status
from holdfast.recall.retrievers.graph import named_in
from holdfast.research.answering.evidence_chains import Chain, Link, best_excerpt, mentions
from holdfast.store.protocol import Reader

_BRIDGES = 3
_LOOKED_AT = 40
_FOUND = 24
# A word that more than this share of a bank's passages hold leads everywhere.
_COMMON = 0.03
_FEW = 6
_AROUND = timedelta(hours=36)
_REPEATS = ("digest", "concept")
SAME_SESSION = "the session both stand in"
MADE_IN = "the session that made the commit"
SAID_UNDER = "the discussion it is part of"
_THREADS = ("pull", "issue")


class Lead(NamedTuple):
    """Where to look next: what a chain is to be extended by. `bridge` is what both must hold; `ids`
    are records that are known by name."""

    chain: Chain
    reason: str
    terms: tuple[str, ...] = ()
    bridge: str = ""
    session: str = ""
    since: str = ""
    until: str = ""
    ids: tuple[tuple[str, str], ...] = ()

    @property
    def query(self) -> str:
        """What is looked for, in words."""
        return " ".join(self.terms) or self.reason


class Scope(NamedTuple):
    """Where a question may look: bank, layers, up to which moment."""

    bank: str | None
    layers: Sequence[Layer]
    as_of: str
    now: Callable[[], str]


def find_leads(reader: Reader, terms: Terms, chain: Chain) -> list[Lead]:
    """The ways on from the last record of a chain."""
    last, covered = chain.last, chain.covers
    rest = tuple(word for word in terms.words if stem(word) not in covered)
    if not rest or SAME_SESSION in chain.link_reasons:
        return []  # what only stands near is the end of a chain
    asked = {stem(word) for word in terms.words}
    found = [
        Lead(chain, f"“{bridge}”", (bridge, *rest), bridge)
        for bridge in find_bridges(reader, last, asked)
    ]
    known = (*_made(reader, last.hit, chain, rest), *_discussed(reader, last.hit, chain, rest))
    return [*known, *found, *_nearby(last.hit, chain, rest)]


def find_bridges(reader: Reader, link: Link, asked: Iterable[str]) -> list[str]:
    """What a record names that the question does not and that few others name: the rarest first."""
    own = set(asked)
    bank, said = link.hit.bank, link.excerpt
    known = [one.entity.name for one in named_in(reader, bank, said)]
    plain = [w for w in words(said) if len(w) > 3 and w not in STOPWORDS and w not in ASKING]
    wanted = dict.fromkeys((*names(said), *known, *plain))
    fresh = [w for w in wanted if not {stem(part) for part in words(w)} <= own][:_LOOKED_AT]
    counted = reader.frequencies(bank, fresh, MOST) if fresh else []
    size = max(2, reader.size(bank, MOST))
    most = max(_FEW, math.ceil(_COMMON * size))
    # What is nowhere else leads nowhere.
    leading = [(n, w) for n, w in zip(counted, fresh, strict=True) if 2 <= n <= most]
    chosen: list[str] = []
    for _, word in sorted(leading, key=lambda pair: (pair[0], -len(pair[1]))):
        if not any(word.lower() in other.lower() for other in chosen):
            chosen.append(word)
    return chosen[:_BRIDGES]


def _nearby(hit: Hit, chain: Chain, rest: Sequence[str]) -> list[Lead]:
    """The rest of the question, in the session of a record and about its time."""
    if not hit.session or not hit.time:
        return []
    at = datetime.fromisoformat(hit.time)
    first, end = ((at + way * _AROUND).isoformat()[:19] for way in (-1, 1))
    return [Lead(chain, SAME_SESSION, tuple(rest), "", hit.session, f"{first}.000Z", f"{end}.000Z")]


def _made(reader: Reader, hit: Hit, chain: Chain, rest: Sequence[str]) -> list[Lead]:
    """From a commit to what was said in making it."""
    if hit.kind != "commit":
        return []
    made = reader.authored(hit.bank, commit=hit.uri.rpartition("/")[2])[:1]
    ids = tuple(("exchange", one.exchange) for one in made if one.exchange)
    return [Lead(chain, MADE_IN, tuple(rest), ids=ids)] if ids else []


def _discussed(reader: Reader, hit: Hit, chain: Chain, rest: Sequence[str]) -> list[Lead]:
    """From a commit, a pull, an issue or a remark to what was said beside it."""
    if LAYER_OF[hit.kind] is not Layer.TEAM or SAID_UNDER in chain.link_reasons:
        return []
    id = hit.uri.rpartition("/")[2]
    if hit.kind == "commit":
        ids = tuple(("pull", pull.id) for pull in reader.pulls_of(hit.bank, id)[:_BRIDGES])
    elif hit.kind == "remark":
        found = [r for r in reader.find(hit.bank, "remark", id, 1) if isinstance(r, Remark)]
        named = [parse_uri(remark.thread) for remark in found]
        ids = tuple((name.word, name.id) for name in named if name is not None)
    else:
        ids = ((hit.kind, id),)
    return [Lead(chain, SAID_UNDER, tuple(rest), ids=ids)] if ids else []


def follow_lead(reader: Reader, scope: Scope, lead: Lead) -> list[Hit]:
    """What a lead leads to, best first; nothing that is not shown, or was not there yet."""
    pool = Pool()
    hosts: dict[str, bool] = {"": False}
    for passage in _passages(reader, scope, lead):
        if passage.session not in hosts:
            session = reader.session(passage.bank, passage.session)
            hosts[passage.session] = session is not None and session.host == lead.session
        inside = not lead.session or hosts[passage.session]
        if inside and (not lead.bridge or mentions(passage.body, lead.bridge)):
            pool.add(passage)
    apply_status(reader, pool, scope.as_of, scope.now)
    return [make_hit(reader, candidate, scope.as_of) for candidate in pool]


def _passages(reader: Reader, scope: Scope, lead: Lead) -> list[Passage]:
    bank = lead.chain.last.hit.bank
    if lead.ids and lead.ids[0][0] in _THREADS:
        said = [p for name in lead.ids for p in reader.discussion(bank, uri(*name))]
        return [
            p
            for p in said
            if (not scope.layers or LAYER_OF[p.kind] in scope.layers)
            and (not scope.as_of or p.time <= scope.as_of)
        ]
    if lead.ids:
        places = [reader.place(bank, kind, id) for kind, id in lead.ids]
        nodes = [place.node for place in places if place is not None]
        found = [passage for _, passage in reader.passages_at(bank, nodes)]
        return [p for p in found if not scope.layers or LAYER_OF[p.kind] in scope.layers]
    until = min(filter(None, (lead.until, f"{scope.as_of}~" if scope.as_of else "")), default="")
    layers = [layer.value for layer in scope.layers]
    matches = reader.search(bank, lead.terms, layers, _FOUND, lead.since, until)
    return [match.passage for match in matches if match.passage.kind not in _REPEATS]


def starting_chains(
    reader: Reader, scope: Scope, terms: Terms, weight: Mapping[str, float], hits: Sequence[Hit]
) -> list[Chain]:
    """Records to begin a chain with: whatever says a part of what is asked."""
    known = {hit.uri: hit for hit in (*hits, *_nearest(reader, scope, terms))}
    found: dict[str, Chain] = {}
    for hit in known.values():
        # What sums up has it from elsewhere, and a tool call says nothing.
        if hit.kind not in _REPEATS and "\n→ " not in hit.text:
            said, covers = best_excerpt(weight, hit.text)
            if covers:
                found.setdefault(said, Chain((Link(hit, said, covers),)))
    return list(found.values())


def _nearest(reader: Reader, scope: Scope, terms: Terms) -> list[Hit]:
    """What holds most of the question's words, whether or not it is any good."""
    until = f"{scope.as_of}~" if scope.as_of else ""
    layers = [layer.value for layer in scope.layers]
    pool = Pool()
    for match in reader.search(scope.bank, terms.all, layers, _FOUND, until=until):
        pool.add(match.passage)
    apply_status(reader, pool, scope.as_of, scope.now)
    return [make_hit(reader, candidate, scope.as_of) for candidate in pool]
