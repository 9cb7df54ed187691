"""Recall over an open memory: which retrievers run, what is cached, and what is added to hits.

The ranking itself is in `holdfast.recall`. This module imports nothing that ingest needs, because
`holdfast recall` imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from holdfast.app.core.context import ALL_BANKS, Context, current_folder
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import replace
from holdfast.model.query import Hit, Layer, RecallResult, RetrieverReport
from holdfast.recall.core.parallel import Retriever
from holdfast.recall.core.plan import Budget, RecallPlan, Strategy
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.core.statements import statements
from holdfast.recall.engine import Ranking, rank, recall
from holdfast.recall.query.query import read_query
from holdfast.settings import NO_MODEL, OFF
from holdfast.sources.rule_locations import find_rule_files, project_root

if TYPE_CHECKING:
    from holdfast.app.remote.remote_search import RemoteSearch
    from holdfast.principal import Principal
    from holdfast.recall.lookup.trace import Trace

_DEFAULT_PLAN = RecallPlan()
# Results of so many recalls are cached; the cache is emptied when it is full.
_CACHED_RECALLS = 64
# A search by words suffices if one of the two best hits holds this share of the query's words.
_ENOUGH_COVERAGE = 0.75
# Only this much of a query is searched for words that ask for a reason.
_QUERY_PREFIX = 2000
_NO_VECTORS = "Nothing is embedded yet; `holdfast ingest` prepares search by meaning."
_REASON_SIGNS = ("why", "reason", "cause", "how come", "lead to", "led to", "consequence")


def _words_suffice(found: RecallResult) -> bool:
    """Whether the best hits of a search by words hold nearly all of the query's words. A query
    for a reason never qualifies: its answer is seldom put in the words of the query. Nor do hits
    that state nothing, such as the same question asked before."""
    asked = found.query[:_QUERY_PREFIX].lower()
    if any(sign in asked for sign in _REASON_SIGNS):
        return False
    # Read as they are needed: telling what a hit states takes as long as finding it.
    best = islice((h for h in found.hits if not (h.weak or h.provider) and statements(h)), 2)
    return any(hit.why["coverage_alone"] >= _ENOUGH_COVERAGE for hit in best)


def narrowing_notes(plan: RecallPlan) -> tuple[str, ...]:
    """What is told with an empty result of a search that leaves out most records."""
    kinds, networks = " or ".join(plan.knowledge), " or ".join(plan.networks)
    of = " and ".join([f"kind {kinds}"] * bool(kinds) + [f"network {networks}"] * bool(networks))
    return (f"Only records of {of} were searched.",) if of else ()


class SearchElsewhere(Protocol):
    """Searches in another process."""

    def recall(
        self, principal: Principal | None, bank: str | None, query: str, plan: RecallPlan
    ) -> RecallResult:
        """As `Search.recall_in_bank`, in the name of a principal."""
        ...

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """As `Search.cosines`."""
        ...


class Search:
    """Finds records. `bank` arguments are as for `Context`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._meaning: SemanticSearch | None = None
        self._model_loaded = False
        self._model_problem = ""
        self._remotes: RemoteSearch | None = None
        self._cache: dict[tuple[object, ...], RecallResult] = {}
        # Searches in another process; None where this one does.
        self.elsewhere: SearchElsewhere | None = None

    def recall_with_plan(self, query: str, bank: str | None, plan: RecallPlan) -> RecallResult:
        """The records that match a query, best first, or an abstention."""
        return self._with_freshness(self._search(query, bank, self._allowed(plan)), plan)

    def recall_by_words_first(self, query: str, bank: str | None, plan: RecallPlan) -> RecallResult:
        """As `recall_with_plan`, but the model is loaded only if a search by words does not find
        enough: loading takes longer than the search. For a process that asks once. Plugins take
        longer still and are queried once; remote servers are queried meanwhile."""
        if plan.asks_plugins:
            return self.recall_with_plan(query, bank, plan)
        plan = self._allowed(plan)
        self._external_retrievers(query, self._context.bank_id(bank), plan)
        by_words = plan._replace(budget=Budget.LOW, remotes=False, one_reader=True)
        found = self._search(query, bank, by_words)
        if _words_suffice(found):
            plan = plan._replace(budget=Budget.LOW)
        if plan.remotes or plan.budget is not Budget.LOW:
            found = self._search(query, bank, plan)
        return self._with_freshness(found, plan)

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """How near some texts are to a query in meaning. Empty if no model has been loaded for the
        search (loading takes longer than the search), if it does not know the language, or if it
        is a service (which takes longer, too, and may fail)."""
        if self.elsewhere is not None:
            return self.elsewhere.cosines(query, texts)
        known = None if self._context.settings.embed_endpoint else self._meaning
        return known.cosines(query, texts) if known and known.understands(query) else []

    def rank(
        self, query: str, bank: str | None = None, plan: RecallPlan = _DEFAULT_PLAN
    ) -> Ranking:
        """Every candidate for a query, best first, whether or not it passes the threshold."""
        context, meaning = self._context, self._meaning_for(plan)
        found = rank(context.store, context.bank_id(bank), query, plan, context.now, meaning)
        return found._replace(reports=(*found.reports, *self._failed_retrievers(plan)))

    def show(self, uri: str, bank: str | None = ALL_BANKS, as_of: str = "") -> Trace:
        """A record and the chain from it down to its raw line; with `as_of` its state then."""
        from holdfast.recall.lookup.trace import trace

        context = self._context
        if "://" in uri:
            from holdfast.app.core.foreign_uris import resolve_uri

            uri = resolve_uri(context.store, context.bank_id(bank), uri)
        near = (lambda: context.current_project()[0]) if bank == ALL_BANKS else (lambda: "")
        return trace(context.store, context.bank_id(bank), uri, as_of, near)

    def problems(self, plan: RecallPlan) -> tuple[str, ...]:
        """What a search by this plan has to do without, as sentences."""
        return tuple(f"By words alone: {one.problem}" for one in self._failed_retrievers(plan))

    def _search(self, query: str, bank: str | None, plan: RecallPlan) -> RecallResult:
        id = self._context.bank_id(bank)
        self.sync_rules(id, bank)
        return replace(self.recall_in_bank(id, query, plan), bank=self._context.bank_name(id))

    def _with_freshness(self, found: RecallResult, plan: RecallPlan) -> RecallResult:
        """Adds to each hit what became of its code, where a git history was read."""
        unwanted = plan.as_of or not plan.anchors
        if unwanted or not found.hits or not self._context.store.git.repositories():
            return found
        from holdfast.app.search.code_freshness import with_freshness

        return replace(found, hits=with_freshness(self._context.store, found.hits))

    def sync_rules(self, bank: str | None, name: str | None) -> None:
        """Reads rule files that changed since they were read last: those of the bank, if it was
        called by its name, else those of this folder. Usually none has, and only their
        modification times are compared."""
        context = self._context
        named = bool(name or context.settings.bank)
        if not bank or context.only_reads or context.settings.principal is not None:
            return  # whoever comes through a server does not work in this folder
        seen = context.store.rules.files(bank)
        root = next((file.root for file in seen), "") if named else project_root(current_folder())
        now = find_rule_files(root, str(context.settings.claude_dir))
        if {f.file: f.stamp for f in seen} != {place.file: place.stamp for place in now}:
            from holdfast.app.search.rule_sync import sync_rules_if_writable

            sync_rules_if_writable(context.store, context.settings, context.banks, bank, root)

    def recall_in_bank(self, bank: str | None, query: str, plan: RecallPlan) -> RecallResult:
        """What is found in a bank, by its id; the result does not name the bank. A cached result is
        valid for the same state of the store within the same minute, because "today" changes.
        Results that lack a retriever are not cached."""
        context, principal = self._context, self._context.settings.principal
        visible = principal.banks if principal else None
        key = (context.store.generation(), context.now()[:16], visible, bank, query, plan)
        if (cached := self._cache.get(key)) is not None:
            return cached
        external: list[Retriever] = []
        if self.elsewhere is not None:
            found = self.elsewhere.recall(principal, bank, query, plan)
        else:
            external = self._external_retrievers(query, bank, plan)
            found = self._recall_here(bank, query, plan, external)
        if not external and not any(one.timed_out or one.problem for one in found.strategies):
            if len(self._cache) >= _CACHED_RECALLS:
                self._cache.clear()
            self._cache[key] = found
        return found

    def _recall_here(
        self, bank: str | None, query: str, plan: RecallPlan, external: list[Retriever]
    ) -> RecallResult:
        context, meaning = self._context, self._meaning_for(plan)
        found = recall(context.store, bank, query, plan, context.now, meaning, external)
        found = replace(found, strategies=(*found.strategies, *self._failed_retrievers(plan)))
        return self._with_fallback(found, bank, plan)

    def _allowed(self, plan: RecallPlan) -> RecallPlan:
        """The plan without remote servers where none may be queried, so that the client for them
        is not imported."""
        settings = self._context.settings
        # Remote keys belong to the owner of this memory, not to whoever queries it by a server.
        wanted = plan.asks_remotes and settings.remote.use != OFF and settings.principal is None
        return plan._replace(remotes=wanted and settings.remotes.exists())

    def _external_retrievers(
        self, query: str, bank: str | None, plan: RecallPlan
    ) -> list[Retriever]:
        """Retrievers that query plugins and remote servers, if the plan wants any."""
        context = self._context
        retrievers: list[Retriever] = []
        if context.only_reads:
            return retrievers
        if plan.asks_plugins and context.settings.principal is None:
            from holdfast.app.search.plugin_search import plugin_retrievers

            folder = current_folder()
            retrievers += plugin_retrievers(context.settings, context.now, folder, query, plan)
        if plan.asks_remotes:
            from holdfast.app.remote.remote_search import RemoteSearch

            self._remotes = self._remotes or RemoteSearch(context.settings, context.now)
            name = context.bank_name(bank)
            retrievers += self._remotes.retrievers(context.store, query, bank, name)
        return retrievers

    def _with_fallback(
        self, found: RecallResult, bank: str | None, plan: RecallPlan
    ) -> RecallResult:
        """Where nothing was found: records of the time asked about, a grep of raw transcripts,
        and suggestions. Imported only then, because it is rare."""
        filtered = plan.as_of or plan.networks or plan.kinds or plan.agent or plan.knowledge
        filtered = filtered or plan.strategies
        ours = any(hit.layer is not Layer.PROVIDERS and not hit.weak for hit in found.hits)
        if ours or plan.budget is Budget.LOW or bank == "" or filtered:
            return found
        from holdfast.recall.fallback import GREP_TIMEOUT_S, run_fallbacks

        context = self._context
        query = read_query(context.store, bank, found.query, context.now)
        grep, limit_s = plan.raw and self.may_read_raw, plan.timeout_s or GREP_TIMEOUT_S
        redactor = context.redactor()
        fallen = run_fallbacks(context.store, bank, query, redactor, plan, grep, limit_s)
        return replace(
            found,
            abstained=found.abstained and not fallen.hits,
            hits=(*fallen.hits, *found.hits)[: plan.limit],
            fallbacks=fallen.used,
            suggestions=fallen.suggestions,
        )

    def grep(self, words: str, bank: str | None, limit: int, limit_s: float) -> tuple[Hit, ...]:
        """What has these words exactly: stored turns first, then what tools printed, as raw
        transcripts have it."""
        from holdfast.recall.core.candidates import Candidate
        from holdfast.recall.fallback import RAW_GREP, grep
        from holdfast.recall.ranking.hits import make_hit

        context, id = self._context, self._context.bank_id(bank)
        stored = context.store.passages.search(id, [words.strip()], [Layer.TRANSCRIPTS], limit)
        hits = [
            make_hit(context.store, Candidate(one.passage, {RAW_GREP: n}, score=1 / (n + 1)))
            for n, one in enumerate(stored, 1)
        ]
        if len(hits) < limit and self.may_read_raw:
            query = read_query(context.store, id, words, context.now)
            raw = grep(context.store, id, query, context.redactor(), limit_s)
            known = {one.uri for one in hits}
            hits += islice((one for one in raw if one.uri not in known), limit - len(hits))
        return tuple(hits)

    @property
    def may_read_raw(self) -> bool:
        """Whether the settings leave nothing out: a raw line does not say whether it was."""
        settings = self._context.settings
        return not (settings.exclude_tools or settings.exclude_paths)

    def load_model(self) -> SemanticSearch | None:
        """Load the embedding model, if the settings allow one and anything is embedded."""
        settings = self._context.settings
        chosen = settings.rerank_model not in ("", NO_MODEL)
        if not self._model_loaded and (chosen or self._context.store.vectors.models()):
            from holdfast.app.core.models import load_semantic_search

            self._meaning, self._model_problem = None, ""
            try:
                self._meaning = load_semantic_search(settings)
            except HoldfastError as error:
                self._model_problem = error.full_text
            self._model_loaded = True
        return self._meaning

    def reload_model(self) -> None:
        """Load the model again before the next search, because vectors changed."""
        self._model_loaded = False

    def _meaning_for(self, plan: RecallPlan) -> SemanticSearch | None:
        """The model, if the plan may use one. Where it cannot be loaded, words still answer."""
        wanted = plan.budget is not Budget.LOW and plan.runs(Strategy.SEMANTIC)
        return self.load_model() if wanted else None

    def _failed_retrievers(self, plan: RecallPlan) -> tuple[RetrieverReport, ...]:
        """The semantic retriever with its problem, if its model could not be loaded, or if it is
        asked for by its name and there is nothing that it could search."""
        if plan.budget is Budget.LOW or not plan.runs(Strategy.SEMANTIC):
            return ()
        is_named = plan.strategies and self._meaning is None and self.elsewhere is None
        problem = self._model_problem or (_NO_VECTORS if is_named else "")
        return (RetrieverReport("semantic", 0, 0, problem=problem),) if problem else ()
