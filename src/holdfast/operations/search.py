"""Searching: recall, and what it finds as text."""

from __future__ import annotations

from typing import Annotated

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import Holdfast
from holdfast.app.search import hit_view
from holdfast.app.search.recall import narrowing_notes
from holdfast.framed_text import defang
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Confidence, Hit, RecallResult, RetrieverReport
from holdfast.operations.operation import OWNER, Arg, Call, Work, operation
from holdfast.operations.output.records import print_record_head
from holdfast.operations.parameters import (
    Agent,
    AsOf,
    Bank,
    Branch,
    Kinds,
    Layers,
    Limit,
    Local,
    Networks,
    Providers,
    Query,
    SearchBudget,
)
from holdfast.operations.screen import Screen, number
from holdfast.principal import Level
from holdfast.recall.core.plan import Budget, Fusion, RecallPlan, Strategy
from holdfast.recall.core.relevance import answers
from holdfast.recall.core.tuning import DEFAULT_RERANK, DEFAULT_WEIGHTS
from holdfast.recall.query.expansion import Expansion


class Recall(NamedTuple):
    """The records that match a query, best first, each with the name of its bank. Hits below the
    threshold of relevance are `weak`; the search has `abstained` if all of them are."""

    query: str
    bank: str
    abstained: bool
    hits: tuple[Hit, ...]
    strategies: tuple[RetrieverReport, ...]
    fallbacks: tuple[str, ...]
    suggestions: tuple[str, ...]
    notes: tuple[str, ...]
    # How sure an answer of these hits would be, if that was asked.
    confidence: Confidence | None = None


# Keys of `Hit.why`. A score is multiplied by the factors, so a missing one counts as 1; the other
# adjustments are added.
_FACTORS = ("speaker", "tool", "time", "superseded", "hypothesis", "decay", "astray")
_AFTERWARDS = ("authority", "amends", "newer", "amendment", "link")
_ADJUSTMENTS = ("neighbours", "session", "rerank", *_FACTORS, *_AFTERWARDS)
# What a retriever's score counts in the ranking, to name the reasons for a lead in their order.
_RETRIEVER_WEIGHTS = {
    "semantic_score": DEFAULT_WEIGHTS.meaning,
    "soft_score": DEFAULT_WEIGHTS.soft,
    "graph_score": DEFAULT_WEIGHTS.graph,
    **dict.fromkeys(
        ("direct_fts_score", "expanded_fts_score", "summaries_score", "temporal_score"),
        DEFAULT_WEIGHTS.words,
    ),
}
# How many reasons are given for a lead over the next hit, and the least difference that is one.
_MAX_LEAD_REASONS, _MIN_LEAD = 3, 0.005
_MAX_TIMEOUT_MS, _GREP_MS = 20_000, 5_000
_RAW_LEFT_OUT = "Raw transcripts are not read: the settings leave something out."
_LAYERS = {
    "rules": "Sections of the files that people review: .claude/rules, CLAUDE.md, memory.md.",
    "summaries": "What each session was about and came to, and the concepts of the project.",
    "observations": "Requests and what came of them, what was retained, and permanent facts.",
    "transcripts": "Every turn of every session.",
    "team": "Commits, pull requests, issues, and what others share.",
}
Strategies = Annotated[
    tuple[Strategy, ...],
    Arg("only this retriever; repeatable (default: all that suit the query)", most=4),
]
Raw = Annotated[bool, Arg("if nothing matches, look at the raw transcripts", programs=True)]
Timeout = Annotated[
    int,
    Arg(
        "milliseconds that a retriever, or reading raw transcripts, may take (0: as usual)",
        least=0,
        most=_MAX_TIMEOUT_MS,
        metavar="MS",
    ),
]
# The start of a text: about three lines.
_MAX_HIT_CHARACTERS = 320
_INDENT = " " * 6
_FALLBACK_SENTENCES = {
    "recent_sessions": "No record has these words; these sessions are of that time.",
    "raw_grep": "No record matches, but lines of the raw transcripts do.",
}


def print_recall(screen: Screen, found: Recall, *, explain: bool = False, **_: object) -> None:
    """Print hits, best first, and those that are only loosely related after them."""
    bank, weak = describe_bank(found.bank), sum(hit.weak for hit in found.hits)
    if found.abstained:
        screen.line(f"No {'clear ' if weak else ''}results in {bank}.")
        if found.suggestions:
            screen.item(f"You might ask about: {', '.join(found.suggestions)}.", "  ")
    elif found.fallbacks:
        screen.wrap(_FALLBACK_SENTENCES.get(found.fallbacks[-1], ""))
    following = (*found.hits[1:], None)
    for n, (hit, below) in enumerate(zip(found.hits, following, strict=False)):
        if n == len(found.hits) - weak:
            screen.line("Only loosely related:", "bold")
            screen.line()
        _print_hit(screen, hit, hit.bank if found.bank == ALL_BANKS else "", explain)
        if explain and below is not None:
            screen.line(f"{_INDENT}above the next by {_lead(hit, below)}", "dim")
            screen.line()
    notes = _retriever_notes(found, explain)
    if found.hits:
        loosely = f", {weak} of them only loosely related" if weak else ""
        notes = [f"{number(len(found.hits), 'hit')} in {bank}{loosely}", *notes]
    if notes:
        screen.line("; ".join(notes), "dim")
    for note in found.notes:
        screen.wrap(note)


def _retriever_notes(found: Recall, explain: bool) -> list[str]:
    """The retrievers that failed or were too slow; with `explain` all of them, and the fallbacks
    that were used."""
    notes = [
        _describe_retriever(one)
        for one in found.strategies
        if explain or one.problem or one.timed_out
    ]
    used = ", ".join(found.fallbacks) if explain else ""
    return [*notes, f"fallbacks: {used}"] if used else notes


def _describe_retriever(retriever: RetrieverReport) -> str:
    r = retriever
    if r.timed_out or (r.problem and not r.found):
        return f"{r.name} {'was too slow' if r.timed_out else f'failed: {r.problem}'}"
    aside = f" ({r.problem})" if r.problem else ""
    return f"{r.name} found {r.found} in {r.ms:.0f} ms{aside}"


def _lead(hit: Hit, below: Hit) -> str:
    """The difference between the scores of a hit and the next one, and its main reasons."""
    reranked = "rerank" in hit.why and "rerank" in below.why
    gaps = {
        name: hit.why.get(name, float(name in _FACTORS))
        - below.why.get(name, float(name in _FACTORS))
        for name in (*hit.why, *below.why)
        if name.endswith("_score") or name in _ADJUSTMENTS
    }
    largest = sorted(gaps.items(), key=lambda gap: -gap[1] * _weight(gap[0], reranked))
    parts = [
        f"{name.removesuffix('_score')} +{gap:.2f}"
        for name, gap in largest[:_MAX_LEAD_REASONS]
        if gap > _MIN_LEAD
    ]
    return f"{hit.score - below.score:.3f}" + (f": {', '.join(parts)}" if parts else "")


def _weight(name: str, reranked: bool) -> float:
    """What a difference in one key of `why` counts in the score. A cross-encoder takes its share
    away from the scores that were there before it."""
    share = DEFAULT_RERANK.cross_encoder_share
    if name == "rerank":
        return share
    before_rerank = name.endswith("_score") or name == "neighbours"
    return _RETRIEVER_WEIGHTS.get(name, 1.0) * (1 - share if before_rerank and reranked else 1.0)


def _why(hit: Hit) -> str:
    """The rank and score by each retriever, then the adjustments, status and freshness."""
    left = dict(hit.why)
    parts: list[str] = []
    for key in [key for key in left if key.endswith("_score")]:
        retriever, score = key.removesuffix("_score"), left.pop(key)
        rank = f"#{left.pop(retriever):g} " if retriever in left else ""
        parts.append(f"{retriever} {rank}({score:.2f})")
    parts += [f"{name} {'×' * (name in _FACTORS)}{value:.4g}" for name, value in left.items()]
    since = f" ({hit.since})" if hit.since else ""
    return ", ".join((*parts, hit.status.value, f"freshness {hit.freshness.value}{since}"))


def _print_hit(screen: Screen, hit: Hit, bank: str, explain: bool) -> None:
    print_record_head(screen, hit_view.heading(hit, bank), hit.uri)
    text = hit_view.excerpt(hit, _MAX_HIT_CHARACTERS)
    screen.wrap(defang(text, hit.is_from_outside), _INDENT)
    if hit.since:
        screen.wrap(f"since then: {hit.since}", _INDENT)
    for line in hit_view.endings(hit):
        screen.wrap(line, _INDENT)
    if hit.superseded_by and not hit.ended:
        screen.line(f"{_INDENT}{hit.status.value} by {hit.superseded_by}")
    for name in hit.supersedes:
        screen.line(f"{_INDENT}changes {name}")
    if explain:
        screen.wrap(f"why: {_why(hit)}", _INDENT)
    if place := hit_view.place(hit):
        screen.line(f"{_INDENT}{place}", "dim")
    screen.line()


_EXAMPLES = """\
  holdfast recall retry backoff
  holdfast recall "why did the cache go stale" --limit 5
  holdfast recall src/ui/rest.js --layer transcripts --json
  holdfast recall package manager --as-of 2026-03-01
  holdfast recall upload timeout --kind lesson --kind decision
  holdfast recall retry policy --providers"""


@operation(
    "recall",
    Level.READ,
    work=Work.SEARCH,
    text=print_recall,
    examples=_EXAMPLES,
    options=("plugin_dir",),
)
def recall(
    memory: Holdfast,
    query: Query,
    limit: Limit = 10,
    explain: Annotated[bool, Arg("show why each hit ranks as it does", on_screen=True)] = False,
    budget: SearchBudget = None,
    expansion: Annotated[
        Expansion,
        Arg(
            "only the words as given (none), also their forms and abbreviations (minimal), or "
            "synonyms too, after the words as given (full)"
        ),
    ] = Expansion.FULL,
    fusion: Annotated[
        Fusion, Arg("how rankings of the retrievers are combined: by score, or by rank (rrf)")
    ] = Fusion.SCORES,
    branch: Branch = "",
    agent: Agent = "",
    layer: Layers = (),
    as_of: AsOf = "",
    kind: Kinds = (),
    network: Networks = (),
    strategy: Strategies = (),
    timeout_ms: Timeout = 0,
    raw: Raw = True,
    confidence: Annotated[
        bool, Arg("also say how sure an answer of these hits would be", programs=True)
    ] = False,
    providers: Providers = False,
    local: Local = False,
    bank: Bank = "",
    call: Call = OWNER,
) -> Recall:
    """Search the records

    Turns, exchanges, digests, memories, facts and commits, best first. Every hit has a URI
    that `holdfast show` opens. Hits below the relevance threshold come last, after a line
    that says so; in JSON they are marked as `weak`, and the search has `abstained` if all are.

    If the repository's history was read, each hit says whether its code changed since:
    fresh, changed (commits and lines), renamed or gone. Work whose commits are not on the
    checked-out branch is marked `unmerged` and ranks lower."""
    plan = RecallPlan(
        layer,
        limit,
        budget or Budget.MID,
        fusion,
        expansion,
        as_of=as_of,
        networks=network,
        providers=providers,
        branch=branch,
        agent=agent,
        remotes=call.remotes and not local,
        knowledge=kind,
        weak=True,
        strategies=strategy,
        timeout_s=timeout_ms / 1000,
        raw=raw,
    )
    by_words, search = call.quick and budget is None, memory.search
    find = search.recall_by_words_first if by_words else search.recall_with_plan
    found = find(query, bank, plan)
    names = memory.context.bank_names()
    return Recall(
        found.query,
        found.bank,
        found.abstained,
        tuple(replace(hit, bank=names.get(hit.bank, hit.bank)) for hit in found.hits),
        found.strategies,
        found.fallbacks,
        found.suggestions,
        () if found.hits else narrowing_notes(plan),
        _confidence(memory, bank, found) if confidence else None,
    )


def _confidence(memory: Holdfast, bank: str, found: RecallResult) -> Confidence:
    """How sure an answer of these hits would be; none of them need be one."""
    from holdfast.research.answering.confidence import confidence_in

    if found.fallbacks or not found.hits:
        return Confidence.LOW if found.hits else Confidence.NONE
    answering = [hit for hit in found.hits if "needed" not in hit.why or answers(hit.why)]
    if not answering:
        return Confidence.LOW
    return confidence_in(memory.reader, memory.context.bank_id(bank), found.query, answering)


@operation(
    "grep",
    Level.READ,
    work=Work.SEARCH,
    text=print_recall,
    examples="  holdfast grep E4711 --limit 3",
)
def grep(
    memory: Holdfast, query: Query, limit: Limit = 10, timeout_ms: Timeout = 0, bank: Bank = ""
) -> Recall:
    """Search transcripts for exact text, also in what tools printed

    Stored messages first, then the raw transcripts on disk, without secrets. Slower than
    `recall`, which does it by itself where it finds nothing."""
    names, id = memory.context.bank_names(), memory.context.bank_id(bank)
    hits = memory.search.grep(query, bank, limit, (timeout_ms or _GREP_MS) / 1000)
    return Recall(
        query,
        memory.context.bank_name(id),
        not hits,
        tuple(replace(hit, bank=names.get(hit.bank, hit.bank)) for hit in hits),
        (),
        (),
        (),
        () if memory.search.may_read_raw else (_RAW_LEFT_OUT,),
    )


class LayerSize(NamedTuple):
    """A layer of memory, and how many records it has."""

    name: str
    description: str
    records: int


class LayerSizes(NamedTuple):
    """The layers of a bank."""

    bank: str
    layers: tuple[LayerSize, ...]


def _print_layers(screen: Screen, found: LayerSizes, **_: object) -> None:
    for one in found.layers:
        screen.item(f"{one.name}: {number(one.records, 'record')}. {one.description}")


@operation("layers", Level.READ, text=_print_layers, examples="  holdfast layers")
def layers(memory: Holdfast, bank: Bank = "") -> LayerSizes:
    """List the layers of memory and their sizes

    A search can be limited to one of them."""
    id = memory.context.bank_id(bank)
    counts = memory.reader.records.counts(id)
    known = sum(len(memory.reader.rules.all(one)) for one in memory.context.bank_ids(bank) if one)
    work = (counts.exchanges, counts.memories, counts.retained, counts.facts, counts.imported)
    team = (counts.commits, counts.pulls, counts.issues, counts.shared)
    sizes = (known, counts.digests, sum(work), counts.turns, sum(team))
    return LayerSizes(
        memory.context.bank_name(id),
        tuple(
            LayerSize(name, text, size)
            for (name, text), size in zip(_LAYERS.items(), sizes, strict=True)
        ),
    )
