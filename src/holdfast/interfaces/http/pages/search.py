"""What a search from any page finds: records with why they are there, or an honest nothing."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.language import cut, plain
from holdfast.model.bank import Bank
from holdfast.model.query import LAYER_OF, Hit, Layer, Recalled
from holdfast.recall.core.plan import Plan

router = APIRouter(prefix="/search")
_LIMIT = 20
_FILTERED = 60
_TOKENS = 12_000
_SHOWN = 420
_MISSED = 160
_LONGEST = 2000
LAYERS = tuple(layer.value for layer in Layer if layer is not Layer.PROVIDERS)
KINDS = tuple(kind for kind in LAYER_OF if kind not in ("provided", "remote"))


class _Found(NamedTuple):
    found: Recalled | None
    banks: list[Bank]


@router.get("")
async def search(
    request: PageRequestDep, q: str = "", bank: str = "", layer: str = "", kind: str = ""
) -> HTMLResponse:
    """Search, with a page that can be asked again."""
    asked = q.strip()[:_LONGEST]
    layer = layer if layer in LAYERS else ""
    kind = kind if kind in KINDS else ""

    def look(memory: Holdfast) -> _Found:
        banks = memory.reader.banks()
        if not asked:
            return _Found(None, banks)
        # A kind is sought in its own layer, and deeper.
        wanted = (Layer(layer),) if layer else (LAYER_OF[kind],) if kind else ()
        plan = Plan(wanted, _FILTERED if kind else _LIMIT, tokens=_TOKENS)
        return _Found(memory.search.recall_with_plan(asked, bank or "all", plan), banks)

    told = await request.pool.run(look)
    found = told.found
    hits = [hit for hit in found.hits if kind in ("", hit.kind)][:_LIMIT] if found else []
    return request.render(
        "search.html",
        title=f"Search: {cut(asked, 60)}" if asked else "Search",
        searched=asked,
        asked=asked,
        found=found,
        hits=[(hit, cut(plain(hit.text), _SHOWN), _why(hit)) for hit in hits],
        misses=[(hit, cut(plain(hit.text), _MISSED)) for hit in found.misses] if found else [],
        problems=[s for s in found.strategies if s.problem or s.timed_out] if found else [],
        banks=told.banks,
        names={known.id: known.name for known in told.banks},
        layers=LAYERS,
        kinds=KINDS,
        chosen={"bank": bank, "layer": layer, "kind": kind},
    )


def _why(hit: Hit) -> list[tuple[str, str]]:
    """Why a hit is where it is: by name, in numbers."""
    return [(name.replace("_", " "), f"{value:.4g}") for name, value in hit.why.items()]
