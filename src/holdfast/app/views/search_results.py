"""The results of a search as a page shows them: filtered, counted by facet, sorted, and cut into
pages, with what tools printed apart from what was said.

The words of a query may name filters: `bank:checkout file:src/app.py since:2026-10 kind:decision`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.search.code_freshness import with_freshness
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind
from holdfast.model.query import LAYER_BY_KIND, Hit, Layer, RecallResult
from holdfast.model.records import Role, Turn
from holdfast.model.trust import PEOPLE, Trust
from holdfast.model.uris import parse_uri
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.regex import regex
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

RELEVANCE, DATE = "relevance", "date"
SORTS = (RELEVANCE, DATE)
HITS_PER_PAGE = 20
# Hits that are looked at. Retrievers nominate 150 each, so more would rarely be found.
MAX_HITS = 200
# Bounds the text of all hits; the page cuts each of them.
_MAX_TOKENS = 400_000
# Values of one facet that are offered; the rarer ones can be named in the box.
_MAX_FACET_VALUES = 8
PERSON, AGENT, TOOL_OUTPUT, OTHER = "person", "agent", "tool output", "other"
_SPEAKERS = {**dict.fromkeys(PEOPLE, PERSON), Trust.ASSISTANT: AGENT}
_BOX_FILTER = regex(r'(?<!\S)(bank|file|since|until|kind):("[^"]*"|\S+)')
RECORD_KINDS = tuple(kind for kind in LAYER_BY_KIND if kind not in ("provided", "remote"))


class SearchQuery(NamedTuple):
    """What is searched for. `kind` is that of a record, `knowledge` the kind of what it says."""

    words: str = ""
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
        names = (name for name in self._fields if name not in ("words", "sort", "page"))
        return {name: value for name in names if (value := getattr(self, name))}


class FacetValue(NamedTuple):
    """A value that results have, how it is shown, and how many have it."""

    value: str
    label: str
    results: int


class SearchResults(NamedTuple):
    """One page of results. `total` is of all pages, without those in `tool_output`, which are shown
    apart, and without the `weak` ones, which follow where the results are less than a page;
    `is_cut` if there may be more. `without` says for each filter how many results there would be
    without it, where that is known. `found` is None if no words were searched for."""

    found: RecallResult | None
    hits: tuple[Hit, ...] = ()
    total: int = 0
    is_cut: bool = False
    tool_output: tuple[Hit, ...] = ()
    weak: tuple[Hit, ...] = ()
    facets: Mapping[str, tuple[FacetValue, ...]] = {}
    without: Mapping[str, int] = {}

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.total // HITS_PER_PAGE))


class _Result(NamedTuple):
    hit: Hit
    speaker: str
    files: tuple[str, ...]


def read_box(text: str) -> SearchQuery:
    """A query as somebody types it: words, and filters among them. `kind:` is a kind of knowledge,
    or else of a record; a value with blanks stands in quotation marks."""
    given: dict[str, str] = {}
    for name, value in _BOX_FILTER.findall(text):
        given[name] = value.strip('"')
    kind = given.pop("kind", "").lower()
    if kind in RECORD_KINDS and kind not in set(Kind):
        given["kind"] = kind
    elif kind:
        given["knowledge"] = kind
    return SearchQuery(" ".join(_BOX_FILTER.sub(" ", text).split()))._replace(**given)


def search_results(memory: Holdfast, query: SearchQuery) -> SearchResults:
    """A page of the results of a query. Raises `InputError` if a filter has no meaning."""
    checks = _checks(query)
    if query.words:
        found, hits = _recall(memory, query)
    else:
        found, hits = None, _find(memory, query)
    described = [_describe(memory.reader, hit) for hit in hits]
    weak = [one for one in described if one.hit.weak]
    results = [one for one in described if not one.hit.weak]
    kept = [one for one in results if all(check(one) for check in checks.values())]
    is_tool_wanted = query.speaker == TOOL_OUTPUT
    said = [one for one in kept if is_tool_wanted or one.speaker != TOOL_OUTPUT]
    printed = [one for one in kept if not is_tool_wanted and one.speaker == TOOL_OUTPUT]
    if query.sort == DATE:
        said.sort(key=lambda one: one.hit.time, reverse=True)
    first = (query.page - 1) * HITS_PER_PAGE
    shown = tuple(one.hit for one in said[first : first + HITS_PER_PAGE])
    if memory.reader.git.repositories():
        shown = with_freshness(memory.reader, shown)
    return SearchResults(
        found,
        shown,
        len(said),
        len(hits) >= MAX_HITS,
        tuple(one.hit for one in printed),
        tuple(one.hit for one in weak if all(check(one) for check in checks.values())),
        _facets(said, kept, memory.context.bank_names()),
        {name: _count_without(name, results, checks) for name in checks},
    )


def _recall(memory: Holdfast, query: SearchQuery) -> tuple[RecallResult, Sequence[Hit]]:
    """What recall finds, and weak hits where that is less than a page. Of a kind or a layer, first
    what it finds among all, so that a facet leads to what it counted; then also what it finds when
    it looks for these alone, for which the best of the others left no room."""
    # What became of their code is looked up for the hits of one page.
    plan = RecallPlan((), MAX_HITS, tokens=_MAX_TOKENS, anchors=False)
    known = read_kinds([query.knowledge] if query.knowledge else [])
    bank = query.bank or "all"
    found = memory.search.recall_with_plan(query.words, bank, plan)
    kept = [hit for hit in found.hits if _is_wanted(hit, query)]
    if len(kept) >= HITS_PER_PAGE:
        return found, kept
    kinds = (query.kind,) if query.kind else ()
    layers = (Layer(query.layer),) if query.layer else tuple(LAYER_BY_KIND[one] for one in kinds)
    plan = plan._replace(layers=layers, kinds=kinds, knowledge=known, limit=HITS_PER_PAGE)
    plan = plan._replace(weak=True)
    narrow = memory.search.recall_with_plan(query.words, bank, plan)
    seen = {hit.uri for hit in kept}
    more = [hit for hit in narrow.hits if hit.uri not in seen and _is_wanted(hit, query)]
    return narrow, (*kept, *more)


def _is_wanted(hit: Hit, query: SearchQuery) -> bool:
    """Whether a hit is of the layer and the kinds that were asked for."""
    knowledge = hit.knowledge.value if hit.knowledge else ""
    return (
        query.layer in ("", hit.layer.value)
        and query.kind in ("", hit.kind)
        and query.knowledge in ("", knowledge)
    )


def _find(memory: Holdfast, query: SearchQuery) -> list[Hit]:
    """Work by its file and its time alone."""
    if not (query.file or query.since or query.until):
        return []
    found = memory.browse.find(
        query.file, "", "", query.since, query.until, query.bank or "all", MAX_HITS
    )
    return [
        Hit(
            one.uri,
            one.kind,
            LAYER_BY_KIND[one.kind],
            0.0,
            one.title,
            one.time,
            one.session,
            one.bank,
        )
        for one in found.findings
        if query.kind in ("", one.kind)
    ]


_Check = Callable[[_Result], bool]


def _checks(query: SearchQuery) -> dict[str, _Check]:
    """The filters that recall does not know, by name."""
    checks: dict[str, _Check] = {}
    if query.since:
        first = read_iso_span(query.since).first
        checks["since"] = lambda one: one.hit.time >= first
    if query.until:
        end = read_iso_span(query.until).end
        checks["until"] = lambda one: bool(one.hit.time) and one.hit.time < end
    if query.month:
        checks["month"] = lambda one: one.hit.time.startswith(query.month)
    if query.speaker:
        checks["speaker"] = lambda one: one.speaker == query.speaker
    # Without words, files were looked up by those who know former names of them.
    if query.file and query.words:
        checks["file"] = lambda one: any(_is_file(name, query.file) for name in one.files)
    return checks


def _is_file(path: str, wanted: str) -> bool:
    """Whether a path is the wanted one, or ends in it, or lies in it."""
    return f"/{wanted.strip('/')}/" in f"/{path.strip('/')}/"


def _count_without(name: str, results: Iterable[_Result], checks: Mapping[str, _Check]) -> int:
    others = [check for other, check in checks.items() if other != name]
    return sum(all(check(one) for check in others) for one in results)


def _describe(reader: Reader, hit: Hit) -> _Result:
    named = parse_uri(hit.uri)
    records = reader.records.find(hit.bank, named.kind, named.id, 1) if named else []
    record = records[0] if records else None
    return _Result(hit, _speaker(hit, record), _files(record))


def _speaker(hit: Hit, record: Record | None) -> str:
    """Who said it: for a turn by its role, for all else by whose words it is made of."""
    if isinstance(record, Turn):
        if record.tool is not None:
            return TOOL_OUTPUT
        return PERSON if record.role is Role.USER else AGENT
    return _SPEAKERS.get(hit.trust, OTHER)


def _files(record: Record | None) -> tuple[str, ...]:
    """The files that a record touched or names."""
    if isinstance(record, Turn):
        return (record.tool.target,) if record.tool and record.tool.target else ()
    value: Any = record
    own: tuple[str, ...] = getattr(value, "files", ())
    changed: tuple[str, ...] = getattr(value, "files_modified", ())
    read: tuple[str, ...] = getattr(value, "files_read", ())
    return tuple(dict.fromkeys((*own, *changed, *read)))


def _facets(
    kept: Sequence[_Result], with_tools: Sequence[_Result], bank_names: Mapping[str, str]
) -> dict[str, tuple[FacetValue, ...]]:
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
        name: tuple(
            FacetValue(value, bank_names.get(value, value) if name == "bank" else value, count)
            for value, count in (
                sorted(counts.items(), reverse=True) if name == "month" else counts.most_common()
            )[:_MAX_FACET_VALUES]
        )
        for name, counts in values.items()
        if counts
    }
