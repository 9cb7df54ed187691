"""What a recall may spend and how it goes about it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.model.knowledge import Network
from holdfast.model.query import Layer


class Budget(StrEnum):
    """How much a recall may cost and bring back."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


class Fusion(StrEnum):
    """How the arms' finds become one ranking."""

    SCORES = "scores"
    RRF = "rrf"


class BudgetLimits(NamedTuple):
    """What a budget buys: tokens of results, candidates per arm, how many of the best are
    looked at closely, how many of them by a cross-encoder, and steps through the graph."""

    tokens: int
    pool_size: int
    soft_match_depth: int
    rerank_depth: int
    graph_hops: int


BUDGET_LIMITS = {
    Budget.LOW: BudgetLimits(2048, 80, 0, 0, 0),
    Budget.MID: BudgetLimits(4096, 150, 60, 20, 1),
    Budget.HIGH: BudgetLimits(8192, 300, 100, 50, 2),
}


class Plan(NamedTuple):
    """The options of one recall. `repeats` also wants what only repeats another hit; `as_of` is a
    moment to look back from, "" for now."""

    layers: tuple[Layer, ...] = ()
    limit: int = 10
    budget: Budget = Budget.MID
    fusion: Fusion = Fusion.SCORES
    expansion: str = "full"
    tokens: int = 0
    include_repeats: bool = False
    as_of: str = ""
    # Only memories of these networks.
    networks: tuple[Network, ...] = ()
    # Whether plugins are asked too.
    providers: bool = False
    # The line of history that counts: a branch, "any", or "" for what is checked out.
    branch: str = ""
    # Whether to tell what became of the code of each hit.
    anchors: bool = True
    # Only records of these kinds, as far as the layers have them.
    kinds: tuple[str, ...] = ()
    # Only what sessions of this agent told.
    agent: str = ""
    # Whether servers of the team's are asked too.
    remotes: bool = False

    @property
    def limits(self) -> BudgetLimits:
        """What the budget buys; `tokens` may ask for another size of results."""
        means = BUDGET_LIMITS[self.budget]
        return means._replace(tokens=self.tokens) if self.tokens else means

    @property
    def asks_plugins(self) -> bool:
        """Whether plugins are asked too; none has memories of a network, or sessions."""
        ours = self.networks or self.agent
        return (self.providers or Layer.PROVIDERS in self.layers) and not ours

    @property
    def asks_remotes(self) -> bool:
        """Whether servers of the team's are asked too; what they have is of now."""
        elsewhere = self.networks or self.kinds or self.as_of or self.agent
        return self.remotes and not elsewhere and (not self.layers or Layer.TEAM in self.layers)
