"""`holdfast recall`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from holdfast.app.core.agent_names import check_agent_name
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.model.knowledge import Network
from holdfast.model.query import Hit, Layer, RecallResult, Strategy
from holdfast.model.trust import Status
from holdfast.recall.core.plan import Budget, Fusion, Plan
from holdfast.recall.core.tuning import DEFAULT_RERANK, DEFAULT_WEIGHTS
from holdfast.recall.query.expansion import Expansion
from holdfast.settings import load_settings

HELP = """\
Find the records that speak of something: turns, exchanges, digests and commits.

Every hit has a URI that `holdfast show` opens. When nothing clears the relevance
floor, recall says so instead of showing the least bad.

Where a repository's history was read, each hit tells what became of its code since:
fresh, changed (in how many later commits, by how many lines), renamed or gone. What
only lives in commits that are not checked out is marked as astray and ranks lower."""

EXAMPLES = """\
  holdfast recall retry backoff
  holdfast recall "why did the cache go stale" --limit 5
  holdfast recall src/ui/rest.js --layer transcripts --json
  holdfast recall package manager --as-of 2026-03-01
  holdfast recall retry policy --providers"""


# What a score is multiplied by, and so 1 where it is not there; the rest is added.
_FACTORS = ("speaker", "tool", "time", "superseded", "hypothesis", "decay", "astray")
_MOVERS = ("neighbours", "session", "rerank", *_FACTORS, "authority", "amends", "link")
_EVIDENCE = {
    "semantic_score": DEFAULT_WEIGHTS.meaning,
    "soft_score": DEFAULT_WEIGHTS.soft,
    "graph_score": DEFAULT_WEIGHTS.graph,
    **dict.fromkeys(
        ("direct_fts_score", "expanded_fts_score", "summaries_score", "temporal_score"),
        DEFAULT_WEIGHTS.words,
    ),
}
_TOLD = (Status.SUPERSEDED, Status.RETRACTED, Status.HYPOTHESIS)
_FALLBACKS = {
    "recent_sessions": "Nothing speaks of this in so many words; these sessions are of that time.",
    "raw_grep": "Nothing that is kept speaks of this, but lines of the raw transcripts do.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("query", nargs="+", metavar="QUERY", help="words, names, files, errors")
    options.add_limit(parser, 10)
    parser.add_argument("--explain", action="store_true", help="show why each hit ranks as it does")
    options.add_budget(parser)
    parser.add_argument(
        "--expansion",
        choices=[how.value for how in Expansion],
        default=Expansion.FULL.value,
        help="also look for abbreviations (minimal) and synonyms (full, the default)",
    )
    parser.add_argument(
        "--fusion",
        choices=[how.value for how in Fusion],
        default=Fusion.SCORES.value,
        help="how the arms' rankings become one: by scores (default) or by places (rrf)",
    )
    parser.add_argument(
        "--branch",
        default="",
        metavar="NAME",
        help="what belongs to this branch counts in full, or `any`; the rest ranks lower "
        "(default: what is checked out)",
    )
    parser.add_argument(
        "--agent", default="", metavar="NAME", help="only what sessions of this agent told"
    )
    options.add_layer(parser)
    options.add_as_of(parser)
    options.add_network(parser)
    options.add_providers(parser)
    options.add_local(parser)
    options.add_bank(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    query = options.words(arguments.query, "query")
    screen = Screen()
    with open_memory(options.with_plugins(load_settings(), arguments)) as memory:
        plan = Plan(
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
        )
        search = (
            memory.search.recall_with_plan
            if arguments.budget
            else memory.search.recall_by_words_first
        )
        found = search(query, arguments.bank, plan)
        hint = memory.context.missing_bank_hint(memory.context.bank_id(arguments.bank))
        hint = hint or memory.search.missing_networks_hint(arguments.bank, plan.networks)
        everywhere = found.bank == ALL_BANKS
        names = memory.context.bank_names() if everywhere else {}
    if arguments.json:
        told = {"notes": [hint]} if hint and plan.networks else {}
        screen.json({**json_shapes.recall_json(found, names), **told})
    else:
        _print(screen, found, names, arguments.explain)
        if hint:
            screen.wrap(hint)
    return 0


def _print(screen: Screen, found: RecallResult, names: Mapping[str, str], explain: bool) -> None:
    if found.abstained:
        _print_nothing(screen, found, explain)
        return
    if found.fallbacks:
        screen.wrap(_FALLBACKS.get(found.fallbacks[-1], ""))
    for hit, below in zip(found.hits, (*found.hits[1:], None), strict=True):
        _print_hit(screen, hit, names.get(hit.bank, ""), explain)
        if explain and below is not None:
            screen.line(screen.paint(f"      above the next by {_lead(hit, below)}", "dim"))
            screen.line()
    told = "; ".join(
        (f"{number(len(found.hits), 'hit')} in {found.bank}", *_course(found, explain))
    )
    screen.line(screen.paint(told, "dim"))


def _print_nothing(screen: Screen, found: RecallResult, explain: bool) -> None:
    screen.line(f"Nothing in {found.bank} speaks of this.")
    for miss in found.misses:
        screen.wrap(f"nearest: {truncate(miss.text, 120)} ({miss.uri})", "  ", "    ")
        if explain:
            screen.wrap(f"why: {_why(miss)}", "    ", "      ")
    if found.suggestions:
        screen.wrap(f"You might ask about: {', '.join(found.suggestions)}.", "  ", "    ")
    for told in _course(found, explain):
        screen.wrap(told, "  ", "    ")


def _course(found: RecallResult, explain: bool) -> list[str]:
    """How the arms did and what was fallen back on, for whoever asks why; what did not work, for
    everybody."""
    told = [_arm(arm) for arm in found.strategies if explain or arm.problem or arm.timed_out]
    used = ", ".join(found.fallbacks) if explain else ""
    return [*told, f"fallbacks: {used}"] if used else told


def _arm(arm: Strategy) -> str:
    if arm.timed_out or (arm.problem and not arm.found):
        return f"{arm.name} {'was too slow' if arm.timed_out else f'failed: {arm.problem}'}"
    aside = f" ({arm.problem})" if arm.problem else ""
    return f"{arm.name} found {arm.found} in {arm.ms:.0f} ms{aside}"


def _lead(hit: Hit, below: Hit) -> str:
    """What a hit has that the next one lacks, what counts most first."""
    reranked = "rerank" in hit.why and "rerank" in below.why
    gaps = {
        name: hit.why.get(name, float(name in _FACTORS))
        - below.why.get(name, float(name in _FACTORS))
        for name in (*hit.why, *below.why)
        if name.endswith("_score") or name in _MOVERS
    }
    told = sorted(gaps.items(), key=lambda gap: -gap[1] * _weight(gap[0], reranked))[:3]
    parts = [f"{name.removesuffix('_score')} +{gap:.2f}" for name, gap in told if gap > 0.005]
    return f"{hit.score - below.score:.3f}" + (f": {', '.join(parts)}" if parts else "")


def _weight(name: str, reranked: bool) -> float:
    """What a difference counts: its kind of evidence, and beside a cross-encoder less."""
    if name == "rerank":
        return DEFAULT_RERANK.cross_encoder_share
    early = name.endswith("_score") or name == "neighbours"
    return _EVIDENCE.get(name, 1.0) * (
        1 - DEFAULT_RERANK.cross_encoder_share if early and reranked else 1.0
    )


def _why(hit: Hit) -> str:
    """Each arm's place and score, then all that moved the hit, then what is known of it."""
    left = dict(hit.why)
    told: list[str] = []
    for key in [key for key in left if key.endswith("_score")]:
        arm, score = key.removesuffix("_score"), left.pop(key)
        place = f"#{left.pop(arm):g} " if arm in left else ""
        told.append(f"{arm} {place}({score:.2f})")
    told += [f"{name} {'×' * (name in _FACTORS)}{value:.4g}" for name, value in left.items()]
    since = f" ({hit.since})" if hit.since else ""
    return ", ".join((*told, hit.status.value, f"freshness {hit.freshness.value}{since}"))


def _print_hit(screen: Screen, hit: Hit, bank: str, explain: bool) -> None:
    head = f"{hit.score:.2f}  {hit.kind} · {day(hit.time)} · {hit.trust.value}"
    head += f" · {hit.provider}" if hit.provider else ""
    head += f" · {hit.agent}" if hit.agent else ""
    head += f" · {bank}" if bank else ""
    head += f" · {hit.status.value}" if hit.status in _TOLD else ""
    head += f" · corrected {hit.corrected}" if hit.corrected else ""
    head += " · astray" if hit.astray else ""
    head += f" · {hit.shared}" if hit.shared else ""
    head += f" · from {hit.imported}" if hit.imported else ""
    screen.line(f"{screen.paint(head, 'bold')}  {screen.paint(hit.uri, 'cyan')}")
    screen.wrap(truncate(hit.text, 320), "      ")
    if hit.since:
        screen.wrap(f"since then: {hit.since}", "      ")
    if hit.superseded_by:
        screen.line(f"      superseded by {hit.superseded_by}")
    for name in hit.supersedes:
        screen.line(f"      supersedes {name}")
    if explain:
        screen.wrap(f"why: {_why(hit)}", "      ")
    if hit.source.path:
        screen.line(screen.paint(f"      {hit.source.path}:{hit.source.line}", "dim"))
    screen.line()
