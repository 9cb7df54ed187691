"""Ask, recall, find, timeline, experts, team history, reflect, brief and hand-off."""

from __future__ import annotations

from typing import Annotated, get_type_hints

from fastapi import Query, Response
from pydantic import Field

from holdfast.app.answers.ask import AskOptions
from holdfast.app.core.agent_names import check_agent_name
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.views.handoff import hand_off
from holdfast.interfaces.http.api.requests import (
    ApiRequestDep,
    ApiRouter,
    Bank,
    Json,
    Limit,
    QueryText,
    RequestBody,
    SentText,
    json_response,
)
from holdfast.interfaces.http.api.schema import extend_model, model_of, open_model
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.knowledge import Kind, Network
from holdfast.model.opinions import Reflection
from holdfast.model.query import Answer, Hit, Layer, RecallResult, RetrieverReport, SourceLocation
from holdfast.model.records import ExchangeType
from holdfast.model.to_json import to_jsonable
from holdfast.recall.core.plan import Budget, Fusion, RecallPlan
from holdfast.recall.lookup.filters import Found
from holdfast.recall.lookup.timeline import ALL_KINDS, Timeline
from holdfast.recall.query.expansion import Expansion
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.research.history.expertise import Expert

router = ApiRouter(tags=["questions"])
_RecallHit = open_model(
    "RecallHit",
    "One found record; `bank`, `knowledge`, `since` and others only where there is more to say.",
    uri=str,
    kind=str,
    layer=Layer,
    score=float,
    text=str,
    time=str,
    session=str,
    source=SourceLocation,
    status=str,
    freshness=str,
    trust=str,
    why=dict[str, float],
)
_Recall = open_model(
    "Recall",
    "The records that match a query, best first; or an abstention.",
    **{
        **get_type_hints(RecallResult),
        "hits": list[_RecallHit],
        "strategies": list[model_of(RetrieverReport, "Strategy")],
        "misses": list[_RecallHit],
    },
)


class Question(RequestBody):
    """A question, and how it is asked."""

    question: SentText = Field(examples=["Why do we retry in the client?"])
    bank: str = Field("all", max_length=200)
    layers: list[Layer] = Field([], max_length=8)
    budget: Budget = Budget.MID
    as_of: str = Field("", max_length=40, examples=["2026-03-01"])
    session: str = Field("", max_length=60, description="An earlier one to go on with.")
    model: bool = Field(True, description="Whether a model may answer, if the settings name one.")
    providers: bool = Field(False, description="Whether plugins are asked, too.")
    kinds: list[Kind] = Field(
        [], max_length=len(Kind), description="Cite only what says something of these kinds."
    )

    def ask_options(self) -> AskOptions:
        """The question in the form that the application takes."""
        return AskOptions(
            self.question,
            self.bank,
            tuple(self.layers),
            as_of=read_iso_span(self.as_of).last if self.as_of else "",
            budget=self.budget,
            providers=self.providers,
            model=self.model,
            kinds=tuple(self.kinds),
        )


@router.task(
    "POST /ask", model_of(Answer), "Ask, and get a cited answer", MemoryPool.search_with_model
)
def ask(memory: Holdfast, body: Question) -> Answer:
    """A cited answer, or an abstention that says so. `POST /research` does the same and tells
    each step as it is taken."""
    return memory.answers.investigate(body.ask_options(), body.session).answer()


@router.task("GET /recall", _Recall, "Search the records", MemoryPool.search)
def recall(
    memory: Holdfast,
    q: QueryText,
    bank: Bank = "all",
    layer: Annotated[list[Layer], Query(max_length=8)] = [],  # noqa: B006 - FastAPI copies it
    network: Annotated[list[Network], Query(max_length=4)] = [],  # noqa: B006
    limit: Limit = 10,
    budget: Budget = Budget.MID,
    expansion: Expansion = Expansion.FULL,
    fusion: Fusion = Fusion.SCORES,
    branch: Annotated[str, Query(max_length=300)] = "",
    as_of: Annotated[str, Query(max_length=40)] = "",
    agent: Annotated[
        str, Query(max_length=100, description="Only what sessions of this agent told.")
    ] = "",
    kind: Annotated[
        list[Kind],
        Query(
            max_length=len(Kind),
            description="Only memories, facts and rules that say something of these kinds.",
        ),
    ] = [],  # noqa: B006
) -> Json:
    """Best first. Where nothing is relevant it abstains, and says what came nearest."""
    plan = RecallPlan(
        tuple(layer),
        limit,
        budget,
        fusion,
        expansion,
        as_of=read_iso_span(as_of).last if as_of else "",
        networks=tuple(network),
        branch=branch,
        agent=check_agent_name(agent),
        knowledge=tuple(kind),
    )
    hint = memory.search.missing_networks_hint(bank, plan.networks)
    hint = hint or memory.search.missing_kinds_hint(bank, plan.knowledge)
    names = memory.context.bank_names() if bank == ALL_BANKS else {}
    found = json_shapes.recall_json(memory.search.recall_with_plan(q, bank, plan), names)
    return {**found, "notes": [hint]} if hint else found


@router.task("GET /find", model_of(Found), "Find work by what is known of it")
def find(
    memory: Holdfast,
    file: Annotated[str, Query(max_length=1000)] = "",
    concept: Annotated[str, Query(max_length=200)] = "",
    type: ExchangeType | None = None,
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    bank: Bank = "all",
    limit: Limit = 20,
) -> Json:
    """Exchanges that touched a file, are about a concept, or of a type or a time; by file also
    commits. At least one filter is needed."""
    kind = type.value if type else ""
    found = memory.browse.find(file, concept, kind, since, until, bank, limit)
    return json_shapes.found_json(found, memory.context.bank_names())


@router.get(
    "/timeline", response_model=model_of(Timeline), summary="What came before and after something"
)
async def timeline(
    request: ApiRequestDep,
    anchor: Annotated[str, Query(max_length=300)] = "",
    q: Annotated[str, Query(max_length=4000)] = "",
    bank: Bank = "all",
    kind: Annotated[list[str], Query(max_length=10, examples=[list(ALL_KINDS)])] = [],  # noqa: B006
    before: Annotated[int, Query(ge=0, le=200)] = 5,
    after: Annotated[int, Query(ge=0, le=200)] = 5,
) -> Response:
    """Around a record or a date (`anchor`), or the best match for `q`; the latest
    without either."""

    def load(memory: Holdfast) -> Json:
        result = memory.timeline(anchor, q, bank, kind, before, after)
        return json_shapes.timeline_json(result, memory.context.bank_names())

    run = request.pool.search if q else request.pool.read
    return json_response(await run(load))


@router.task(
    "GET /who",
    open_model("Experts", bank=str, about=str, experts=list[Expert]),
    "Who knows most about a file, a folder or a matter",
)
def who(memory: Holdfast, about: QueryText, bank: Bank = "all", limit: Limit = 5) -> Json:
    """People by their commits, best first."""
    name = memory.context.bank_name(memory.context.bank_id(bank))
    experts = memory.browse.who_knows(about, bank, limit)
    return {"bank": name, "about": about, "experts": experts}


@router.task(
    "GET /team",
    extend_model(model_of(Answer), "TeamAnswer", evidence=list[Hit], people=list[Expert]),
    "What the team knows of a question",
    MemoryPool.search,
)
def team(memory: Holdfast, q: QueryText, bank: Bank = "all", limit: Limit = 10) -> Json:
    """An answer out of commits, pulls and issues, the best records, and the people to ask."""
    result = memory.answers.team_query(q, bank, limit)
    return {**to_jsonable(result.answer), "evidence": result.evidence, "people": result.people}


class ReflectRequest(RequestBody):
    """What to think about."""

    query: SentText
    bank: str = Field(min_length=1, max_length=200)
    store: bool = Field(True, description="Whether what it comes to believe is kept.")


@router.task(
    "POST /reflect", model_of(Reflection), "What a bank makes of it", MemoryPool.run_with_model
)
def reflect(memory: Holdfast, body: ReflectRequest) -> Reflection:
    """Weighted by the disposition of the bank, with evidence for and against."""
    return memory.reflect(body.query, body.bank, body.store)


@router.task(
    "GET /brief",
    open_model("Brief", id=str, text=str, records=list[str]),
    "What a session would be told",
    MemoryPool.run,
)
def brief(
    memory: Holdfast,
    bank: Annotated[str, Query(min_length=1, max_length=200)],
    prompt: Annotated[str, Query(max_length=4000)] = "",
) -> Json:
    """At its start, or for a prompt; the latter by words alone, as where no server runs."""
    with Holdfast(memory.settings, create=False) as briefing:
        injected = (
            briefing.briefs.goal_brief(prompt, bank, quickly=True)
            if prompt
            else briefing.briefs.session_brief(bank)
        )
    return {"id": injected.id, "text": injected.text, "records": injected.records}


@router.task(
    "GET /handoff",
    open_model("HandOff", page=str),
    "A hand-off page for a session or a topic",
    MemoryPool.search,
)
def handoff(memory: Holdfast, what: QueryText, bank: Bank = "all") -> Json:
    """As a page of Markdown, and what it is made of. Nothing is written to a file."""
    pack, page = hand_off(memory, what, bank)
    return {**to_jsonable(pack), "page": page, "file": ""}
