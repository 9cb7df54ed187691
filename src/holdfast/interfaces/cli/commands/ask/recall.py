"""`holdfast recall`. `recall/core/plan.py` lists what another option needs."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.app.core.agent_names import check_agent_name
from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.search import hit_view
from holdfast.framed_text import defang
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.records import print_record_head
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.model.knowledge import Kind, Network
from holdfast.model.query import Hit, Layer, RecallResult, RetrieverReport
from holdfast.recall.core.plan import Budget, Fusion, RecallPlan
from holdfast.recall.core.tuning import DEFAULT_RERANK, DEFAULT_WEIGHTS
from holdfast.recall.query.expansion import Expansion
from holdfast.settings import load_settings

HELP = """\
Search the records: turns, exchanges, digests, memories, facts and commits.

Every hit has a URI that `holdfast show` opens. Hits below the relevance threshold come
last, after a line that says so; in JSON they are marked as `weak`.

If the repository's history was read, each hit says whether its code changed since:
fresh, changed (commits and lines), renamed or gone. Work whose commits are not on the
checked-out branch is marked `unmerged` and ranks lower."""

EXAMPLES = """\
  holdfast recall retry backoff
  holdfast recall "why did the cache go stale" --limit 5
  holdfast recall src/ui/rest.js --layer transcripts --json
  holdfast recall package manager --as-of 2026-03-01
  holdfast recall upload timeout --kind lesson --kind decision
  holdfast recall retry policy --providers"""


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
# The start of a text: about three lines.
_MAX_HIT_CHARACTERS = 320
_INDENT = " " * 6
_FALLBACK_SENTENCES = {
    "recent_sessions": "No record has these words; these sessions are of that time.",
    "raw_grep": "No record matches, but lines of the raw transcripts do.",
}


def configure(parser: Parser) -> None:
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, names, files, errors")
    options.add_limit(parser, 10)
    parser.flag("--explain", "show why each hit ranks as it does")
    options.add(parser, "budget")
    parser.choice(
        "--expansion",
        Expansion,
        "only the words as given (none), also their forms and abbreviations (minimal), or "
        "synonyms too, after the words as given (full, the default)",
        Expansion.FULL,
    )
    parser.choice(
        "--fusion",
        Fusion,
        "how the rankings of the retrievers are combined: by score (default) or by rank (rrf)",
        Fusion.SCORES,
    )
    parser.option(
        "--branch",
        "NAME",
        "work that is not merged into this branch ranks lower; `any` turns this "
        "off (default: the checked-out branch)",
    )
    parser.option("--agent", "NAME", "only sessions of this agent")
    options.add(parser, "layer", "as_of", "kind", "network", "providers", "plugin_dir", "local")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    query = options.words(arguments.query, "query")
    with open_memory(options.with_plugins(load_settings(), arguments), create=False) as memory:
        plan = RecallPlan(
            tuple(Layer(name) for name in arguments.layer),
            arguments.limit,
            Budget(arguments.budget or Budget.MID),
            Fusion(arguments.fusion),
            arguments.expansion,
            as_of=options.as_of(arguments),
            networks=tuple(Network(name) for name in arguments.network),
            providers=arguments.providers,
            branch=arguments.branch,
            agent=check_agent_name(arguments.agent),
            remotes=not arguments.local,
            knowledge=tuple(Kind(name) for name in arguments.kind),
            weak=True,
        )
        if arguments.budget:
            found = memory.search.recall_with_plan(query, arguments.bank, plan)
        else:
            found = memory.search.recall_by_words_first(query, arguments.bank, plan)
        hint = memory.context.missing_bank_hint(memory.context.bank_id(arguments.bank))
        hint = hint or memory.search.missing_networks_hint(arguments.bank, plan.networks)
        hint = hint or memory.search.missing_kinds_hint(arguments.bank, plan.knowledge)
        names = memory.context.bank_names() if found.bank == ALL_BANKS else {}
    if arguments.json:
        from holdfast.app.search import json_shapes

        notes = {"notes": [hint]} if hint and (plan.networks or plan.knowledge) else {}
        screen.json({**json_shapes.recall_json(found, names), **notes})
    else:
        _print(screen, found, names, arguments.explain)
        if hint:
            screen.wrap(hint)


def _print(screen: Screen, found: RecallResult, names: Mapping[str, str], explain: bool) -> None:
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
        _print_hit(screen, hit, names.get(hit.bank, ""), explain)
        if explain and below is not None:
            screen.line(f"{_INDENT}above the next by {_lead(hit, below)}", "dim")
            screen.line()
    notes = _retriever_notes(found, explain)
    if found.hits:
        loosely = f", {weak} of them only loosely related" if weak else ""
        notes = [f"{number(len(found.hits), 'hit')} in {bank}{loosely}", *notes]
    if notes:
        screen.line("; ".join(notes), "dim")


def _retriever_notes(found: RecallResult, explain: bool) -> list[str]:
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
