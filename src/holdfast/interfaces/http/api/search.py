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

router = ApiRouter("questions")
_RecallHit = open_model(
    "RecallHit",
    "One hit; `bank`, `knowledge`, `since` and others only if they have a value. A `weak` hit is "
    "only loosely related to the query.",
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
    weak=bool,
    why=dict[str, float],
)
_Recall = open_model(
    "Recall",
    "The records that match a query, best first. Hits below the threshold of relevance are `weak`; "
    "the search has `abstained` if all of them are.",
    **{
        **get_type_hints(RecallResult),
        "hits": list[_RecallHit],
        "strategies": list[model_of(RetrieverReport, "Strategy")],
    },
)


class Question(RequestBody):
    """A question and its options."""

    question: SentText = Field(examples=["Why do we retry in the client?"])
    bank: str = Field("all", max_length=200)
    layers: list[Layer] = Field([], max_length=8)
    budget: Budget = Budget.MID
    as_of: str = Field("", max_length=40, examples=["2026-03-01"])
    session: str = Field("", max_length=60, description="An earlier session to continue.")
    model: bool = Field(True, description="Use the model service, if one is configured.")
    providers: bool = Field(False, description="Also query plugins.")
    kinds: list[Kind] = Field(
        [], max_length=len(Kind), description="Cite only knowledge of these kinds."
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


@router.task("POST /ask", model_of(Answer), "Answer a question", MemoryPool.search_with_model)
def ask(memory: Holdfast, body: Question) -> Answer:
    """Returns an answer with citations, or an abstention. `POST /research` does the same and
    reports each step."""
    return memory.answers.investigate(body.ask_options(), body.session).answer()


@router.task("GET /recall", _Recall, "Search records", MemoryPool.search)
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
    agent: Annotated[str, Query(max_length=100, description="Only sessions of this agent.")] = "",
    kind: Annotated[
        list[Kind],
        Query(
            max_length=len(Kind),
            description="Only memories, facts and rules of these kinds.",
        ),
    ] = [],  # noqa: B006
) -> Json:
    """Best first. Hits that are only loosely related are marked `weak`; if all are, the search has
    `abstained`."""
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
        weak=True,
    )
    hint = memory.search.missing_networks_hint(bank, plan.networks)
    hint = hint or memory.search.missing_kinds_hint(bank, plan.knowledge)
    names = memory.context.bank_names() if bank == ALL_BANKS else {}
    found = json_shapes.recall_json(memory.search.recall_with_plan(q, bank, plan), names)
    return {**found, "notes": [hint]} if hint else found


@router.task("GET /find", model_of(Found), "Find exchanges and commits by filters")
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
    """Exchanges by file, concept, type or time; with a file also commits. At least one filter is
    required."""
    kind = type.value if type else ""
    found = memory.browse.find(file, concept, kind, since, until, bank, limit)
    return json_shapes.found_json(found, memory.context.bank_names())


@router.get(
    "/timeline", response_model=model_of(Timeline), summary="List events before and after a record"
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
    """Around a record or a date (`anchor`), or around the best match for `q`. Without either,
    the latest."""

    def load(memory: Holdfast) -> Json:
        result = memory.timeline(anchor, q, bank, kind, before, after)
        return json_shapes.timeline_json(result, memory.context.bank_names())

    run = request.pool.search if q else request.pool.read
    return json_response(await run(load))


@router.task(
    "GET /who",
    open_model("Experts", bank=str, about=str, experts=list[Expert]),
    "List who knows about a file, folder or topic",
)
def who(memory: Holdfast, about: QueryText, bank: Bank = "all", limit: Limit = 5) -> Json:
    """People by their commits and reviews, best first."""
    name = memory.context.bank_name(memory.context.bank_id(bank))
    experts = memory.browse.who_knows(about, bank, limit)
    return {"bank": name, "about": about, "experts": experts}


@router.task(
    "GET /team",
    extend_model(model_of(Answer), "TeamAnswer", evidence=list[Hit], people=list[Expert]),
    "Answer a question from the team's history",
    MemoryPool.search,
)
def team(memory: Holdfast, q: QueryText, bank: Bank = "all", limit: Limit = 10) -> Json:
    """An answer from commits, pulls, issues and rules, the best records, and people to ask."""
    result = memory.answers.team_query(q, bank, limit)
    return {**to_jsonable(result.answer), "evidence": result.evidence, "people": result.people}


class ReflectRequest(RequestBody):
    """A question for reflection."""

    query: SentText
    bank: str = Field(min_length=1, max_length=200)
    store: bool = Field(True, description="Save the resulting opinions.")


@router.task(
    "POST /reflect", model_of(Reflection), "Form opinions on a question", MemoryPool.run_with_model
)
def reflect(memory: Holdfast, body: ReflectRequest) -> Reflection:
    """Opinions with evidence for and against, weighted by the disposition of the bank."""
    return memory.reflect(body.query, body.bank, body.store)


@router.task(
    "GET /brief",
    open_model("Brief", id=str, text=str, records=list[str]),
    "Show the brief of a session",
    MemoryPool.run,
)
def brief(
    memory: Holdfast,
    bank: Annotated[str, Query(min_length=1, max_length=200)],
    prompt: Annotated[str, Query(max_length=4000)] = "",
) -> Json:
    """The brief at the start of a session, or for a `prompt` (found by words only)."""
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
    "Write a hand-off page",
    MemoryPool.search,
)
def handoff(memory: Holdfast, what: QueryText, bank: Bank = "all") -> Json:
    """For a session or a topic: a page of Markdown and its sources. No file is written."""
    pack, page = hand_off(memory, what, bank)
    return {**to_jsonable(pack), "page": page, "file": ""}
