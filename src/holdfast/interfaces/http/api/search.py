"""Ask, recall, find, timeline, experts, team history, reflect, brief and hand-off."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.app.answers.ask import AskOptions
from holdfast.app.core.agent_names import check_agent_name
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.search import json_shapes
from holdfast.app.views.handoff import hand_off
from holdfast.interfaces.http.api.requests import (
    ApiRequestDep,
    Bank,
    JsonObject,
    Limit,
    QueryText,
    RequestBody,
)
from holdfast.interfaces.http.api.schema import extend_model, model_of, open_model, schema_type
from holdfast.model.knowledge import Network
from holdfast.model.opinions import Reflection
from holdfast.model.query import Answer, Hit, Layer, SourceLocation, Strategy
from holdfast.model.records import ExchangeType
from holdfast.model.to_json import to_jsonable
from holdfast.recall.core.plan import Budget, Fusion, Plan
from holdfast.recall.lookup.filters import Found
from holdfast.recall.lookup.timeline import ALL_KINDS, Timeline
from holdfast.recall.query.expansion import Expansion
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.research.history.expertise import Expert

router = APIRouter(tags=["questions"])
_TEXT = Field(min_length=1, max_length=4000)
_RecallHit = open_model(
    "RecallHit",
    "One found record; `bank`, `corrected`, `since` and others only where there is more to say.",
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
    "The records that speak of a query, best first; or an abstention.",
    query=str,
    bank=str,
    abstained=bool,
    hits=list[_RecallHit],
    strategies=list[schema_type(Strategy)],
    fallbacks=list[str],
    misses=list[_RecallHit],
    suggestions=list[str],
)


class Question(RequestBody):
    """A question, and how it is asked."""

    question: str = Field(
        min_length=1, max_length=4000, examples=["Why do we retry in the client?"]
    )
    bank: str = Field("all", max_length=200)
    layers: list[Layer] = Field([], max_length=8)
    budget: Budget = Budget.MID
    as_of: str = Field("", max_length=40, examples=["2026-03-01"])
    session: str = Field("", max_length=60, description="An earlier one to go on with.")
    model: bool = Field(True, description="Whether a model may answer, if the settings name one.")
    providers: bool = Field(False, description="Whether plugins are asked, too.")

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
        )


@router.post("/ask", response_model=model_of(Answer), summary="Ask, and get a cited answer")
async def ask(request: ApiRequestDep, body: Question) -> Response:
    """A cited answer, or an abstention that says so. `POST /research` does the same and tells
    each step as it is taken."""
    ask_options = body.ask_options()
    return await request.run_with_model(
        lambda memory: memory.answers.investigate(ask_options, body.session).answer()
    )


@router.get("/recall", response_model=_Recall, summary="Find the records that speak of a query")
async def recall(
    request: ApiRequestDep,
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
) -> Response:
    """Best first. Where nothing is relevant it abstains, and says what came nearest."""
    plan = Plan(
        tuple(layer),
        limit,
        budget,
        fusion,
        expansion,
        as_of=read_iso_span(as_of).last if as_of else "",
        networks=tuple(network),
        branch=branch,
        agent=check_agent_name(agent),
    )

    def load(memory: Holdfast) -> JsonObject:
        hint = memory.search.missing_networks_hint(bank, plan.networks)
        notes = {"notes": [hint]} if hint else {}
        names = memory.context.bank_names() if bank == ALL_BANKS else {}
        return {
            **json_shapes.recall_json(memory.search.recall_with_plan(q, bank, plan), names),
            **notes,
        }

    return await request.run(load)


@router.get("/find", response_model=model_of(Found), summary="Find work by what is known of it")
async def find(
    request: ApiRequestDep,
    file: Annotated[str, Query(max_length=1000)] = "",
    concept: Annotated[str, Query(max_length=200)] = "",
    type: ExchangeType | None = None,
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
    bank: Bank = "all",
    limit: Limit = 20,
) -> Response:
    """Exchanges that touched a file, are about a concept, or of a type or a time; by file also
    commits. At least one filter is needed."""
    kind = type.value if type is not None else ""

    def load(memory: Holdfast) -> JsonObject:
        sifted = memory.browse.find(file, concept, kind, since, until, bank, limit)
        return json_shapes.found_json(sifted, memory.context.bank_names())

    return await request.read(load)


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
    """Around a record or a date (`anchor`), or the record that speaks best of `q`; the latest
    without either."""

    def load(memory: Holdfast) -> JsonObject:
        result = memory.timeline(anchor, q, bank, kind, before, after)
        return json_shapes.timeline_json(result, memory.context.bank_names())

    return await (request.run(load) if q else request.read(load))


@router.get(
    "/who",
    response_model=open_model("Experts", bank=str, about=str, experts=list[Expert]),
    summary="Who knows most about a file, a folder or a matter",
)
async def who(
    request: ApiRequestDep, about: QueryText, bank: Bank = "all", limit: Limit = 5
) -> Response:
    """People by their commits, best first."""

    def load(memory: Holdfast) -> JsonObject:
        name = memory.context.bank_name(memory.context.bank_id(bank))
        return {
            "bank": name,
            "about": about,
            "experts": memory.browse.who_knows(about, bank, limit),
        }

    return await request.read(load)


@router.get(
    "/team",
    response_model=extend_model(
        model_of(Answer), "TeamAnswer", evidence=list[Hit], people=list[Expert]
    ),
    summary="What the team knows of a question",
)
async def team(
    request: ApiRequestDep, q: QueryText, bank: Bank = "all", limit: Limit = 10
) -> Response:
    """An answer out of commits, pulls and issues, the best records, and the people to ask."""

    def load(memory: Holdfast) -> JsonObject:
        result = memory.answers.team_query(q, bank, limit)
        return {**to_jsonable(result.answer), "evidence": result.evidence, "people": result.people}

    return await request.run(load)


class ReflectRequest(RequestBody):
    """What to think about."""

    query: str = _TEXT
    bank: str = Field(min_length=1, max_length=200)
    store: bool = Field(True, description="Whether what it comes to believe is kept.")


@router.post("/reflect", response_model=model_of(Reflection), summary="What a bank makes of it")
async def reflect(request: ApiRequestDep, body: ReflectRequest) -> Response:
    """Through the disposition of the bank, with what speaks for and against it."""
    return await request.run_with_model(
        lambda memory: memory.reflect(body.query, body.bank, body.store)
    )


@router.get(
    "/brief",
    response_model=open_model("Brief", id=str, text=str, records=list[str]),
    summary="What a session would be told",
)
async def brief(
    request: ApiRequestDep,
    bank: Annotated[str, Query(min_length=1, max_length=200)],
    prompt: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """At its start, or for a prompt; the latter by words alone, as where no server runs."""

    def load(memory: Holdfast) -> JsonObject:
        with Holdfast(memory.settings, create=False) as briefing:
            injected = (
                briefing.briefs.goal_brief(prompt, bank, quickly=True)
                if prompt
                else briefing.briefs.session_brief(bank)
            )
        return {"id": injected.id, "text": injected.text, "records": injected.records}

    return await request.run(load)


@router.get(
    "/handoff",
    response_model=open_model("HandOff", page=str),
    summary="A session or a topic, packed for whoever goes on with it",
)
async def handoff(request: ApiRequestDep, what: QueryText, bank: Bank = "all") -> Response:
    """As a page of Markdown, and what it is made of. Nothing is written to a file."""

    def load(memory: Holdfast) -> JsonObject:
        pack, page = hand_off(memory, what, bank)
        return {**to_jsonable(pack), "page": page, "file": ""}

    return await request.run(load)
