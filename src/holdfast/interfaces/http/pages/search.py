"""The search page: records with the reasons for their rank, or what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.app.search import hit_view
from holdfast.app.views.search_results import (
    HITS_PER_PAGE,
    MAX_HITS,
    RECORD_KINDS,
    RELEVANCE,
    SORTS,
    FacetValue,
    SearchQuery,
    SearchResults,
    read_box,
    search_results,
)
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.interfaces.ui.formatting import bank_keys, split_heading
from holdfast.interfaces.ui.prose import without_block_marks
from holdfast.language import truncate
from holdfast.model.bank import Bank
from holdfast.model.knowledge import Kind
from holdfast.model.query import Hit, Layer
from holdfast.recall.fallback import CLARIFICATION, RAW_GREP, RECENT_SESSIONS
from holdfast.recall.lookup.origins import Named, Origin, origins

router = CheckedRouter(prefix="/search")
# Characters that the page shows of a hit, and takes as a query.
_MAX_HIT_CHARS = 420
# A statement of two or three lines is shown once, as the heading.
_MAX_HEADING_CHARS = 280
_MAX_QUERY_CHARS = 2000
# Of what tools printed, so many are in the fold; a link leads to all.
_MAX_FOLDED = 20
_MAX_PAGE = MAX_HITS // HITS_PER_PAGE
LAYERS = tuple(layer.value for layer in Layer if layer is not Layer.PROVIDERS)
KINDS = RECORD_KINDS
# How the page calls a filter.
FILTER_NAMES = {
    "bank": "Bank", "layer": "Layer", "kind": "Kind", "knowledge": "Knowledge",
    "speaker": "Speaker", "month": "Month", "file": "File", "since": "Since", "until": "Until",
}  # fmt: skip

# The same for the ways to search, where their own names say little.
RETRIEVER_NAMES = {
    "direct_fts": "words", "expanded_fts": "related words", "semantic": "meaning",
    "graph": "links", "close_look": "a closer look at the best",
}  # fmt: skip
FALLBACK_NAMES = {
    RECENT_SESSIONS: "The sessions of that time were looked up",
    RAW_GREP: "The files of the transcripts were searched for the words",
    CLARIFICATION: "Similar words were looked up",
}


class SearchParameters(NamedTuple):
    """The parameters of the page: the box, and the filters that stand beside it."""

    q: str = ""
    bank: str = ""
    layer: str = ""
    kind: str = ""
    knowledge: str = ""
    speaker: str = ""
    month: str = ""
    file: str = ""
    since: str = ""
    until: str = ""
    sort: str = RELEVANCE
    page: int = 1

    @property
    def query(self) -> SearchQuery:
        """What is searched for. What the box names counts before what stands beside it."""
        box = read_box(self.q.strip()[:_MAX_QUERY_CHARS])
        beside = SearchQuery(
            box.words,
            *self[1:10],
            self.sort if self.sort in SORTS else RELEVANCE,
            max(1, min(self.page, _MAX_PAGE)),
        )
        beside = beside._replace(
            layer=self.layer if self.layer in LAYERS else "",
            kind=self.kind if self.kind in KINDS else "",
        )
        return beside._replace(**box.filters)


@router.get("")
async def search(
    request: PageRequestDep, given: Annotated[SearchParameters, Depends()]
) -> HTMLResponse:
    """The results of a query, with a form to change it. `kind` is that of a record, `knowledge` the
    kind of what memories, facts and rules say."""
    query = given.query

    def load(memory: Holdfast) -> tuple[SearchResults, list[Bank], Mapping[str, Origin]]:
        results = search_results(memory, query)
        shown = (*results.hits, *results.tool_output[:_MAX_FOLDED], *results.weak)
        named = [Named(hit.bank, hit.uri, hit.session) for hit in shown if not hit.provider]
        return results, memory.reader.banks.all(), origins(memory.reader, named)

    results, banks, places = await request.pool.search(load)
    found = results.found
    typed = given.q.strip()[:_MAX_QUERY_CHARS]
    return request.render(
        "search.html",
        title=f"Search: {truncate(typed, 60)}" if typed else "Search",
        searched=typed,
        typed=typed,
        query=query,
        found=found,
        hits=results.hits,
        count=results.total,
        is_cut=results.is_cut,
        pages=results.pages,
        facets=_with_bank_names(results.facets, banks),
        without=results.without,
        tool_output=len(results.tool_output),
        results=[_row(hit) for hit in results.hits],
        folded=[_row(hit) for hit in results.tool_output[:_MAX_FOLDED]],
        weak=[_row(hit) for hit in results.weak],
        problems=[s for s in found.strategies if s.problem or s.timed_out] if found else [],
        banks=banks,
        names={known.id: known.name for known in banks},
        origins=places,
        layers=LAYERS,
        kinds=KINDS,
        knowledge_kinds=tuple(map(str, Kind)),
        filter_names=FILTER_NAMES,
        retriever_names=RETRIEVER_NAMES,
        fallback_names=FALLBACK_NAMES,
        sorts=SORTS,
        link_with=partial(_address, query),
    )


def _with_bank_names(
    facets: Mapping[str, tuple[FacetValue, ...]], banks: list[Bank]
) -> dict[str, tuple[FacetValue, ...]]:
    """Facets in which banks are called as addresses call them."""
    keys = bank_keys(banks)
    return {
        name: tuple(one._replace(value=keys.get(one.value, one.value)) for one in values)
        if name == "bank"
        else values
        for name, values in facets.items()
    }


def _row(hit: Hit) -> tuple[Hit, str, str, list[tuple[str, str]]]:
    """A hit, its heading and what is shown of its words below it, and the scores that rank it, by
    name."""
    why = [(name.replace("_", " "), f"{value:.4g}") for name, value in hit.why.items()]
    text = hit_view.excerpt(hit, _MAX_HIT_CHARS)
    if hit.kind == "digest":
        text = text.removeprefix("Request: ")
    return hit, *split_heading(without_block_marks(text), _MAX_HEADING_CHARS), why


def _address(query: SearchQuery, **changed: str | int) -> str:
    """The address of a query with something changed, from its first page on."""
    fields = query._replace(page=1)._asdict() | changed
    usual = SearchQuery()._asdict()
    words = fields.pop("words")
    more = {name: value for name, value in fields.items() if value != usual[name]}
    return f"/search?{urlencode({'q': words, **more})}"
