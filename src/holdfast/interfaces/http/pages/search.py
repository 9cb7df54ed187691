"""The search page: records with the reasons for their rank, filtered, counted by facet, sorted and
cut into pages, with what tools printed apart from what was said; or what was tried.

The words of a query may name filters: `bank:checkout file:src/app.py since:2026-10 kind:decision`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.app.search import hit_view
from holdfast.app.search.code_freshness import with_freshness
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown, ask
from holdfast.interfaces.ui.formatting import bank_keys, split_heading
from holdfast.interfaces.ui.prose import without_block_marks
from holdfast.language import truncate
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind
from holdfast.model.query import LAYER_BY_KIND, Hit, Layer, RecallResult
from holdfast.model.records import Role, Turn
from holdfast.model.trust import PEOPLE, Trust
from holdfast.operations.operation import Call
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.fallback import CLARIFICATION, RAW_GREP, RECENT_SESSIONS
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.origins import Named, origins
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.regex import regex
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/search")
RELEVANCE, DATE = "relevance", "date"
HITS_PER_PAGE = 20
# Hits that are looked at. Retrievers nominate 150 each, so more would rarely be found.
MAX_HITS = 200
# Bounds the text of all hits; the page cuts each of them.
_MAX_TOKENS = 400_000
# Values of one facet that are offered; the rarer ones can be named in the box.
_MAX_FACET_VALUES = 8
# Characters that the page shows of a hit, of the statement of two or three lines that is its
# heading, and takes as a query.
_MAX_HIT_CHARS, _MAX_HEADING_CHARS, _MAX_QUERY_CHARS = 420, 280, 2000
# Of what tools printed, so many are in the fold; a link leads to all.
_MAX_FOLDED = 20
PERSON, AGENT, TOOL_OUTPUT, OTHER = "person", "agent", "tool output", "other"
_SPEAKERS = {**dict.fromkeys(PEOPLE, PERSON), Trust.ASSISTANT: AGENT}
_BOX_FILTER = regex(r'(?<!\S)(bank|file|since|until|kind):("[^"]*"|\S+)')
LAYERS = tuple(layer.value for layer in Layer if layer is not Layer.PROVIDERS)
KINDS = tuple(kind for kind in LAYER_BY_KIND if kind not in ("provided", "remote"))
# What searches, where its own name says little.
RETRIEVER_NAMES = {
    "direct_fts": "words", "expanded_fts": "related words", "semantic": "meaning",
    "graph": "links", "close_look": "a closer look at the best",
}  # fmt: skip
FALLBACK_NAMES = {
    RECENT_SESSIONS: "The sessions of that time were looked up",
    RAW_GREP: "The files of the transcripts were searched for the words",
    CLARIFICATION: "Similar words were looked up",
}


class SearchQuery(NamedTuple):
    """What is searched for: words, and filters. `kind` is that of a record, `knowledge` the kind of
    what it says."""

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
    def filters(self) -> dict[str, str]:
        """The filters that are set, by name."""
        fields = self._asdict().items()
        return {name: v for name, v in fields if v and name not in ("q", "sort", "page")}

    def url_with(self, **changed: str | int) -> str:
        """The address of the query with something changed, from its first page on."""
        fields = self._asdict() | {"page": 1} | changed
        usual = SearchQuery()._asdict()
        more = {name: v for name, v in fields.items() if v != usual[name] or name == "q"}
        return f"/search?{urlencode(more)}"


class SearchResults(NamedTuple):
    """One page of results. `total` is of all pages, without those in `tool_output`, which are shown
    apart, and without the `weak` ones, which follow where the results are less than a page;
    `is_cut` if there may be more. `found` is None if no words were searched for."""

    found: RecallResult | None
    hits: tuple[Hit, ...]
    total: int
    is_cut: bool
    tool_output: tuple[Hit, ...]
    weak: tuple[Hit, ...]
    facets: Mapping[str, Sequence[tuple[str, int]]]

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.total // HITS_PER_PAGE))


class _Result(NamedTuple):
    hit: Hit
    speaker: str
    files: tuple[str, ...]


_Check = Callable[[_Result], bool]


@router.get("")
async def search(request: PageRequestDep, given: Annotated[SearchQuery, Depends()]) -> HTMLResponse:
    """The results of a query, with a form to change it. `kind` is that of a record, `knowledge` the
    kind of what memories, facts and rules say."""
    typed, call = given.q.strip()[:_MAX_QUERY_CHARS], request.call
    query = read_query(given, typed)

    def load(memory: Holdfast) -> Shown:
        results = search_results(memory, query, call)
        banks = memory.reader.banks.all()
        shown = (*results.hits, *results.tool_output[:_MAX_FOLDED], *results.weak)
        named = [Named(hit.bank, hit.uri, hit.session) for hit in shown if not hit.provider]
        return {
            "results": results,
            "banks": banks,
            "keys": bank_keys(banks),
            "names": {one.id: one.name for one in banks},
            "origins": origins(memory.reader, named),
        }

    shown = await request.pool.search(load)
    results: SearchResults = shown["results"]
    return request.render(
        "search.html",
        title=f"Search: {truncate(typed, 60)}" if typed else "Search",
        searched=typed,
        typed=typed,
        query=query,
        rows=[_row(hit) for hit in results.hits],
        folded=[_row(hit) for hit in results.tool_output[:_MAX_FOLDED]],
        weak=[_row(hit) for hit in results.weak],
        layers=LAYERS,
        kinds=KINDS,
        knowledge_kinds=list(Kind),
        retriever_names=RETRIEVER_NAMES,
        fallback_names=FALLBACK_NAMES,
        sorts=(RELEVANCE, DATE),
        **shown,
    )


def read_query(given: SearchQuery, typed: str) -> SearchQuery:
    """What is searched for. The words may name filters, which count before those that stand beside
    them: `kind:` is a kind of knowledge, or else of a record; a value with blanks stands in
    quotation marks."""
    box: dict[str, str] = {name: value.strip('"') for name, value in _BOX_FILTER.findall(typed)}
    kind = box.pop("kind", "").lower()
    if kind:
        is_of_records = kind in KINDS and kind not in set(Kind)
        box["kind" if is_of_records else "knowledge"] = kind
    return given._replace(
        q=" ".join(_BOX_FILTER.sub(" ", typed).split()),
        layer=given.layer if given.layer in LAYERS else "",
        kind=given.kind if given.kind in KINDS else "",
        sort=DATE if given.sort == DATE else RELEVANCE,
        page=max(1, min(given.page, MAX_HITS // HITS_PER_PAGE)),
    )._replace(**box)


def search_results(memory: Holdfast, query: SearchQuery, call: Call) -> SearchResults:
    """A page of the results of a query. Raises `InputError` if a filter has no meaning."""
    checks = list(_checks(query))
    found, hits = _recall(memory, query) if query.q else (None, _find(memory, query, call))
    described = (_describe(memory.reader, hit) for hit in hits)
    passing = [one for one in described if all(check(one) for check in checks)]
    kept = [one for one in passing if not one.hit.weak]
    is_tool_wanted = query.speaker == TOOL_OUTPUT
    said = [one for one in kept if is_tool_wanted or one.speaker != TOOL_OUTPUT]
    if query.sort == DATE:
        said.sort(key=lambda one: one.hit.time, reverse=True)
    first = (query.page - 1) * HITS_PER_PAGE
    shown = tuple(one.hit for one in said[first : first + HITS_PER_PAGE])
    if memory.reader.git.repositories():
        shown = with_freshness(memory.reader, shown)
    printed = (one.hit for one in kept if not is_tool_wanted and one.speaker == TOOL_OUTPUT)
    weak = (one.hit for one in passing if one.hit.weak)
    is_cut, facets = len(hits) >= MAX_HITS, _facets(said, kept)
    return SearchResults(found, shown, len(said), is_cut, tuple(printed), tuple(weak), facets)


def _recall(memory: Holdfast, query: SearchQuery) -> tuple[RecallResult, Sequence[Hit]]:
    """What recall finds, and weak hits where that is less than a page. Of a kind or a layer, first
    what it finds among all, so that a facet leads to what it counted; then also what it finds when
    it looks for these alone, for which the best of the others left no room."""
    # What became of their code is looked up for the hits of one page.
    plan = RecallPlan((), MAX_HITS, tokens=_MAX_TOKENS, anchors=False)
    known = read_kinds([query.knowledge] if query.knowledge else [])
    bank = query.bank or "all"
    found = memory.search.recall_with_plan(query.q, bank, plan)
    kept = [hit for hit in found.hits if _is_wanted(hit, query)]
    if len(kept) >= HITS_PER_PAGE:
        return found, kept
    kinds = (query.kind,) if query.kind else ()
    layers = (Layer(query.layer),) if query.layer else tuple(LAYER_BY_KIND[one] for one in kinds)
    plan = plan._replace(layers=layers, kinds=kinds, knowledge=known, limit=HITS_PER_PAGE)
    narrow = memory.search.recall_with_plan(query.q, bank, plan._replace(weak=True))
    seen = {hit.uri for hit in kept}
    more = [hit for hit in narrow.hits if hit.uri not in seen and _is_wanted(hit, query)]
    return narrow, (*kept, *more)


def _is_wanted(hit: Hit, query: SearchQuery) -> bool:
    """Whether a hit is of the layer and the kinds that were asked for."""
    knowledge = hit.knowledge.value if hit.knowledge else ""
    own = (query.layer, hit.layer.value), (query.kind, hit.kind), (query.knowledge, knowledge)
    return all(wanted in ("", value) for wanted, value in own)


def _find(memory: Holdfast, query: SearchQuery, call: Call) -> list[Hit]:
    """Work by its file and its time alone."""
    if not (query.file or query.since or query.until):
        return []
    asked = {"file": query.file, "since": query.since, "until": query.until}
    found = ask(memory, call, "find", bank=query.bank or "all", limit=MAX_HITS, **asked)
    ids = {name: id for id, name in memory.context.bank_names().items()}
    return [
        Hit(
            one.uri, one.kind, LAYER_BY_KIND[one.kind], 0.0, one.title, one.time, one.session,
            ids[one.bank],
        )
        for one in found.findings
        if query.kind in ("", one.kind)
    ]  # fmt: skip


def _checks(query: SearchQuery) -> Iterator[_Check]:
    """The filters that recall does not know."""
    if query.since:
        first = read_iso_span(query.since).first
        yield lambda one: one.hit.time >= first
    if query.until:
        end = read_iso_span(query.until).end
        yield lambda one: bool(one.hit.time) and one.hit.time < end
    if query.month:
        yield lambda one: one.hit.time.startswith(query.month)
    if query.speaker:
        yield lambda one: one.speaker == query.speaker
    # Without words, files were looked up by those who know former names of them.
    if query.file and query.q:
        # A path is the wanted one, or ends in it, or lies in it.
        inside = f"/{query.file.strip('/')}/"
        yield lambda one: any(inside in f"/{name.strip('/')}/" for name in one.files)


def _describe(reader: Reader, hit: Hit) -> _Result:
    """A hit with who said it (of a turn its role, of all else whose words it is made of), and the
    files that its record touched or names."""
    record: Any = find_by_uri(reader, hit.bank, hit.uri)
    if isinstance(record, Turn):
        tool = record.tool
        said = TOOL_OUTPUT if tool else PERSON if record.role is Role.USER else AGENT
        return _Result(hit, said, (tool.target,) if tool and tool.target else ())
    fields = ("files", "files_modified", "files_read")
    files = dict.fromkeys(file for field in fields for file in getattr(record, field, ()))
    return _Result(hit, _SPEAKERS.get(hit.trust, OTHER), tuple(files))


def _facets(
    kept: Sequence[_Result], with_tools: Sequence[_Result]
) -> dict[str, Sequence[tuple[str, int]]]:
    """What results have in common, the most frequent first; months from the latest on. What tools
    printed is counted among the speakers alone."""
    values: dict[str, Counter[str]] = {
        "bank": Counter(one.hit.bank for one in kept if one.hit.bank),
        "kind": Counter(one.hit.kind for one in kept),
        "knowledge": Counter(one.hit.knowledge.value for one in kept if one.hit.knowledge),
        "speaker": Counter(one.speaker for one in with_tools),
        "month": Counter(one.hit.time[:7] for one in kept if one.hit.time),
        "file": Counter(file for one in kept for file in one.files if "." in file),
    }
    return {
        name: (sorted(n.items(), reverse=True) if name == "month" else n.most_common())[
            :_MAX_FACET_VALUES
        ]
        for name, n in values.items()
        if n
    }


def _row(hit: Hit) -> tuple[Hit, str, str, list[tuple[str, str]]]:
    """A hit, its heading and what is shown of its words below it, and the scores that rank it, by
    name."""
    why = [(name.replace("_", " "), f"{value:.4g}") for name, value in hit.why.items()]
    text = hit_view.excerpt(hit, _MAX_HIT_CHARS)
    if hit.kind == "digest":
        text = text.removeprefix("Request: ")
    return hit, *split_heading(without_block_marks(text), _MAX_HEADING_CHARS), why
