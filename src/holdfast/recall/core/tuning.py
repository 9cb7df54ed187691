"""The numbers that decide how a search ranks, and when it abstains.

Every search takes them from its `RecallPlan`, so an evaluation can vary one and compare. They were
chosen on the development halves of LoCoMo, BEAM-100K and a set of coding sessions ("archaeology");
the measurements are in `bench/RESULTS.md`, the reasoning in `docs/decisions/0006`. No set is served
best by these values, and each is served well. Where a comment names no measurement, none is known.
"""

from __future__ import annotations

import math

from holdfast.lazy_named_tuple import NamedTuple


class AbstentionThresholds(NamedTuple):
    """When a search returns nothing. Relevance is coverage (the share of the query's weight that a
    text contains) or, where a cosine is known, (coverage + 2 * cosine) / 3. Raising a threshold
    makes recall say "not known" more often. Fitted on queries put to the bank that holds the answer
    and to another bank of the same set: at 0.41 one text is relevant enough for 95 / 88 % of the
    answerable queries (LoCoMo / BEAM, banks of 300 to 830 passages) and for 0 / 10 % of the others.

    The best of many passages is somewhat like any query, the best of few only like one that they
    answer, so a small bank needs less: between `small_bank` and `large_bank` passages the threshold
    rises with the logarithm of their number. The values for small banks were chosen on
    `bench/data/abstention/tuning.json`."""

    by_words: float = 0.45
    with_meaning: float = 0.41
    # The share of both that a small bank needs: 0.4 and 0.29. By words alone it is higher, for one
    # common word of three ("when does the narwhal ship") is 0.38.
    small_by_words: float = 0.89
    small_with_meaning: float = 0.707
    small_bank: int = 100
    large_bank: int = 400
    # What a text needs on top if it has none of the names that the query gives: "Why did we drop
    # Kafka?" is not answered by why RabbitMQ was dropped.
    without_name: float = 0.08
    # What a text needs less if the reranker that ships has read it, and scores it so high. At the
    # budget high this answers 9 of 21 questions of the tuning half of LoCoMo that were declined by
    # up to 0.1, and none of the 16 nearest that were put to another bank.
    read_score: float = 2.0
    when_read: float = 0.08
    # Once a search does answer, candidates are shown from this fraction of the threshold on.
    shown_fraction: float = 0.5
    # A word of the query that a text says by a synonym counts this much of one that it has, as
    # `RankingWeights.expanded` has it for the score.
    other_words: float = 0.8

    def minimum(self, cosine: float) -> float:
        """The relevance that is needed, depending on whether a cosine is known."""
        return self.with_meaning if cosine else self.by_words

    def for_bank(self, passages: int) -> AbstentionThresholds:
        """The thresholds for a bank with so many passages."""
        span = math.log(self.large_bank / self.small_bank)
        share = math.log(max(passages, 1) / self.small_bank) / span
        share = min(1.0, max(0.0, share))
        by_words = self.small_by_words + share * (1 - self.small_by_words)
        with_meaning = self.small_with_meaning + share * (1 - self.small_with_meaning)
        return self._replace(
            by_words=by_words * self.by_words, with_meaning=with_meaning * self.with_meaning
        )


class RankingWeights(NamedTuple):
    """How evidence becomes a score, and what raises or lowers it afterwards."""

    # The share of each kind of evidence: full text, word vectors ("soft"), passage vectors.
    words: float = 0.25
    soft: float = 0.30
    meaning: float = 0.45
    # The shares where the best full-text result covers the whole query: its words are then mostly
    # names of code, which are exact. From coverage `exact_from` on the shares move there linearly,
    # over `exact_span`.
    exact_words: float = 0.40
    exact_soft: float = 0.30
    exact_meaning: float = 0.30
    exact_from: float = 0.8
    exact_span: float = 0.2
    # A full-text match of the expanded query counts this much of one of the query itself.
    expanded: float = 0.8
    # Added on top for records that mention an entity of the query: decides between near ties only.
    graph: float = 0.03
    # The usual constant of reciprocal rank fusion, for `--fusion rrf`.
    rrf_k: int = 60
    # A turn gains this much of the score of the turn before and the turn after it, because answers
    # often stand next to the words that were asked for (+0.01 recall@10 on LoCoMo and BEAM).
    neighbour: float = 0.15
    # A candidate gains this much of the other good candidates of its session, each counting half
    # of the one before (+0.01 on LoCoMo, +0.02 on archaeology).
    session_support: float = 0.3
    session_supporters: int = 5
    # Factors. A question about "I" is answered in the user's words, one about "you" in the
    # assistant's (0.48 to 0.59 recall@10 on BEAM-100K).
    other_role: float = 0.7
    # A tool call contains words without saying anything about them.
    tool_call: float = 0.85
    out_of_time_range: float = 0.5
    superseded: float = 0.5
    hypothesis: float = 0.9
    # Work on a branch that was not merged.
    unmerged: float = 0.7
    # For queries about recent work the nth latest session scores at least this / sqrt(n): more
    # than evidence alone can give (1), so recent sessions come first.
    recent_work: float = 1.5
    # Each step along a chain of causes keeps this much of the score: it ranks just below its start.
    causal_step: float = 0.97
    # Permanent facts and verified records gain this fraction, rules twice as much: enough to decide
    # near ties, too little to pass a much better match.
    authority: float = 0.03
    # A rule, or what a person asked to remember, goes before records that were only said if it
    # answers the query and is at least this fraction as relevant as they are. Set by hand, on no
    # data set: below it, a rule that only touches the subject would pass a plain answer.
    authority_relevance: float = 0.75
    # Of two decisions on one subject the later goes first if its score is at least `near_tie` of
    # the earlier's, and they share at least `same_subject` of the shorter one's words.
    near_tie: float = 0.85
    same_subject: float = 0.3
    # Of two statements of a person in different sessions that share `newer_subject` of the shorter
    # one's words, the later goes first if it is at least `newer_relevance` as relevant. Chosen on
    # the tuning half of `bench/data/amendments`, where the most similar statement about something
    # else is 0.68 as relevant.
    newer_relevance: float = 0.72
    newer_subject: float = 0.25
    # A section of memory.md goes before other records on its subject if it scores at least this
    # fraction of theirs.
    memory_file_tie: float = 0.5
    # Only this many of the best are compared pairwise for the last two rules.
    compared_for_ties: int = 20

    @property
    def highest(self) -> float:
        """The most a candidate can score: all evidence, two good neighbours, a full session."""
        return 1 + 2 * self.neighbour + self.session_support


class RerankLimits(NamedTuple):
    """How the best candidates are read again. `plan.BudgetLimits` says how many and how long."""

    # The share of the cross-encoder's judgement against the order so far. It hardly matters:
    # archaeology gave 0.908, 0.912, 0.913, 0.908, 0.916 at 0.5, 0.6, 0.7, 0.8, 0.85.
    cross_encoder_share: float = 0.7
    # Texts up to this many characters are short: they are read with their context, and neighbours
    # support each other (without this limit archaeology falls from 0.922 to 0.910). Longer ones are
    # discounted in soft matching, because they match much by chance (BEAM loses three points
    # without the discount).
    short_text: int = 400
    # Soft matching reads a passage in parts of this many characters, at most so many of them, the
    # first one with this much of the context before it.
    part_length: int = 1200
    parts: int = 4
    context_length: int = 300
    # What words that stand together in the text count, against words matched one by one (1).
    proximity: float = 2 / 3
    # The cross-encoder takes as long as its texts are long, so of a long one it reads this much:
    # the start, unless a later stretch covers at least `worth_moving` more of the query (session
    # MRR on archaeology 0.922 to 0.929). Stretches start every `read_step` characters. A short text
    # is read whole after its context: 400 characters of both cost LoCoMo 0.029 MRR.
    read_length: int = 800
    read_length_of_long: int = 600
    read_step: int = 200
    searched_length: int = 4800
    worth_moving: float = 0.02
    # It reads this many tokens per candidate on average, and never fewer than for `fewest` of them:
    # of many long texts only the best are read. With 100 a recall takes a third longer and finds no
    # more (LoCoMo 0.858 / 0.642 with 100, 0.858 / 0.643 with 65, 0.843 / 0.638 with 50).
    tokens_per_candidate: int = 65
    # Of long texts it reads fewer (BEAM-100K 0.593 / 0.560 with 800 characters and 65 tokens, then
    # with 600 characters 0.593 / 0.562 with 45, 0.592 / 0.563 with 30, 0.593 / 0.568 with 20).
    tokens_per_long_text: int = 30
    fewest: int = 20
    # A short turn gains a share of what is said of its neighbours, and every candidate a share of
    # the mean of the best of its session (LoCoMo 0.756 to 0.762; 0.1 and 0.15 were tried).
    neighbour: float = 0.1
    session: float = 0.1
    best_of_session: int = 3


DEFAULT_THRESHOLDS = AbstentionThresholds()
DEFAULT_WEIGHTS = RankingWeights()
DEFAULT_RERANK = RerankLimits()
