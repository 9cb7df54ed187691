"""The options of one search, and what each budget allows.

To add a filter or another option of recall:

1. Add a field to `RecallPlan`, with a default that changes nothing. Plans are keys of the cache of
   results, so the value must be hashable.
2. Apply it in `recall/engine.py`. A filter of records is checked in `_PlanFilter.accepts`, and is
   named where `_retrievers` enlarges the pool: what is filtered out must not use it up.
3. Decide whether plugins and team servers can answer with it; if not, add it to `asks_plugins` and
   `asks_remotes` below.
4. Add a filter to those of `_with_fallback` in `app/search/recall.py`: fallbacks do not know it.
5. Offer it: a parameter of `recall` in `operations/search.py`, which every face then has; for
   agents a row in `operations/agents/tools.py`.
6. Test it with a plan in `tests/recall/test_engine.py`, and each place that offers it beside its
   other options; run `make docs`, and describe it in the page of its subject.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Kind, Network
from holdfast.model.query import Layer
from holdfast.recall.core.tuning import (
    DEFAULT_RERANK,
    DEFAULT_THRESHOLDS,
    DEFAULT_WEIGHTS,
    AbstentionThresholds,
    RankingWeights,
    RerankLimits,
)


class Budget(StrEnum):
    """How much a search may cost and return."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


class Fusion(StrEnum):
    """How the retrievers' results become one ranking: by score, or by rank."""

    SCORES = "scores"
    RRF = "rrf"


class Strategy(StrEnum):
    """A retriever that a search can be limited to: the words as given; synonyms too; meaning;
    digests and exchanges."""

    DIRECT_FTS = "direct_fts"
    EXPANDED_FTS = "expanded_fts"
    SEMANTIC = "semantic"
    SUMMARIES = "summaries"


class BudgetLimits(NamedTuple):
    """What a budget allows. A larger pool finds more and takes longer; models are only used where
    `soft_match_depth` is above 0."""

    tokens: int  # of the texts returned
    pool_size: int  # candidates per retriever
    soft_match_depth: int  # how many of the best are matched with word vectors
    rerank_depth: int  # how many of the best a cross-encoder reads, if one is configured
    graph_hops: int
    rerank_s: float  # how long the cross-encoder may take before the order stays as it is


BUDGET_LIMITS = {
    Budget.LOW: BudgetLimits(2048, 80, 0, 0, 0, 0.0),
    Budget.MID: BudgetLimits(4096, 150, 60, 20, 1, 1.0),
    Budget.HIGH: BudgetLimits(8192, 300, 100, 50, 2, 2.0),
}


class RecallPlan(NamedTuple):
    """The options of one search."""

    layers: tuple[Layer, ...] = ()
    limit: int = 10
    budget: Budget = Budget.MID
    fusion: Fusion = Fusion.SCORES
    expansion: str = "full"
    # The token budget of the result; 0 for that of the budget.
    tokens: int = 0
    # Whether to return hits that only repeat a better one.
    include_repeats: bool = False
    # Search as if it were this time; "" for now.
    as_of: str = ""
    # Only memories of these networks.
    networks: tuple[Network, ...] = ()
    # Whether to return hits below the threshold of relevance, too, marked as weak: for whoever
    # asks, never for what is put into a session unasked.
    weak: bool = False
    # Whether to ask plugins, too.
    providers: bool = False
    # Work that is not merged into this branch is demoted: a branch, "any", or "" for HEAD.
    branch: str = ""
    # Whether to check if the code of each hit has changed.
    anchors: bool = True
    # Only records of these kinds.
    kinds: tuple[str, ...] = ()
    # Only records of sessions of this agent.
    agent: str = ""
    # Only knowledge of these kinds: memories, facts and rules that say something of the kind.
    knowledge: tuple[Kind, ...] = ()
    # Whether to ask team servers, too.
    remotes: bool = False
    # Whether our own retrievers run one after the other on the open connection. For a process that
    # asks once: to open another takes as long as to search some thousand passages.
    one_reader: bool = False
    # Only these retrievers; none for all that suit the query.
    strategies: tuple[Strategy, ...] = ()
    # How long a retriever may take, and the grep of raw transcripts; 0 for what is usual.
    timeout_s: float = 0.0
    # Whether raw transcripts are read if nothing else is found.
    raw: bool = True
    weights: RankingWeights = DEFAULT_WEIGHTS
    thresholds: AbstentionThresholds = DEFAULT_THRESHOLDS
    rerank: RerankLimits = DEFAULT_RERANK

    @property
    def limits(self) -> BudgetLimits:
        """What the budget allows, with this plan's own token budget if it has one."""
        limits = BUDGET_LIMITS[self.budget]
        return limits._replace(tokens=self.tokens) if self.tokens else limits

    def runs(self, strategy: Strategy) -> bool:
        """Whether a retriever may run."""
        return not self.strategies or strategy in self.strategies

    @property
    def wants_meaning(self) -> bool:
        """Whether meaning is compared, if there is a model."""
        return bool(self.limits.soft_match_depth) and self.runs(Strategy.SEMANTIC)

    @property
    def asks_plugins(self) -> bool:
        """Whether plugins are asked; none has memories of a network, sessions of an agent, or
        knowledge of a kind."""
        only_own = self.networks or self.agent or self.knowledge or self.strategies
        return (self.providers or Layer.PROVIDERS in self.layers) and not only_own

    @property
    def asks_remotes(self) -> bool:
        """Whether team servers are asked; they only answer about the present, without filters."""
        only_own = self.networks or self.kinds or self.as_of or self.agent or self.knowledge
        only_own = only_own or self.strategies
        return self.remotes and not only_own and (not self.layers or Layer.TEAM in self.layers)
