"""The search page: records with the reasons for their rank, or the closest misses."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.app.search import hit_view
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.language import cut, truncate
from holdfast.model.bank import Bank
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind
from holdfast.model.query import LAYER_BY_KIND, Hit, Layer, RecallResult
from holdfast.recall.core.plan import RecallPlan

router = APIRouter(prefix="/search")
_MAX_HITS = 20
# Recalled when one kind is chosen, because hits of other kinds are then dropped.
_MAX_HITS_OF_KIND = 60
# Bounds the text of all hits; larger than for a model, because a person skims.
_MAX_TOKENS = 12_000
# Characters that the page shows of a hit, of a near miss, and takes as a query.
_MAX_HIT_CHARS = 420
_MAX_MISS_CHARS = 160
_MAX_QUERY_CHARS = 2000
LAYERS = tuple(layer.value for layer in Layer if layer is not Layer.PROVIDERS)
KINDS = tuple(kind for kind in LAYER_BY_KIND if kind not in ("provided", "remote"))


@router.get("")
async def search(
    request: PageRequestDep,
    q: str = "",
    bank: str = "",
    layer: str = "",
    kind: str = "",
    knowledge: str = "",
) -> HTMLResponse:
    """The results of a query, with a form to change it. `kind` is that of a record, `knowledge` the
    kind of what memories, facts and rules say."""
    query = q.strip()[:_MAX_QUERY_CHARS]
    layer = layer if layer in LAYERS else ""
    kind = kind if kind in KINDS else ""
    known = read_kinds([knowledge] if knowledge else [])

    def load(memory: Holdfast) -> tuple[RecallResult | None, list[Bank]]:
        banks = memory.reader.banks.all()
        if not query:
            return None, banks
        # A kind is searched for in its own layer, with more hits.
        wanted = (Layer(layer),) if layer else (LAYER_BY_KIND[kind],) if kind else ()
        limit = _MAX_HITS_OF_KIND if kind else _MAX_HITS
        plan = RecallPlan(wanted, limit, tokens=_MAX_TOKENS, knowledge=known)
        return memory.search.recall_with_plan(query, bank or "all", plan), banks

    found, banks = await request.pool.search(load)
    hits = [hit for hit in found.hits if kind in ("", hit.kind)][:_MAX_HITS] if found else []
    return request.render(
        "search.html",
        title=f"Search: {truncate(query, 60)}" if query else "Search",
        searched=query,
        query=query,
        found=found,
        hits=[(hit, hit_view.excerpt(hit, _MAX_HIT_CHARS), _why_rows(hit)) for hit in hits],
        misses=[(hit, cut(hit.text, _MAX_MISS_CHARS)) for hit in (found.misses if found else ())],
        problems=[s for s in found.strategies if s.problem or s.timed_out] if found else [],
        banks=banks,
        names={known.id: known.name for known in banks},
        layers=LAYERS,
        kinds=KINDS,
        knowledge_kinds=tuple(map(str, Kind)),
        chosen={"bank": bank, "layer": layer, "kind": kind, "knowledge": knowledge},
    )


def _why_rows(hit: Hit) -> list[tuple[str, str]]:
    """The scores that rank a hit, by name."""
    return [(name.replace("_", " "), f"{value:.4g}") for name, value in hit.why.items()]
