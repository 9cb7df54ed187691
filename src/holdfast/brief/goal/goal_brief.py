"""The goal brief: for a session's first prompt, the decisions that concern it, or nothing.

The case that matters: a prompt describes a symptom, and long ago somebody decided, in other words,
the rule that the obvious fix would break. Where a conversation that it is about was summed up, the
recap is told first, whole and as it finally stood (`recall.retrievers.recaps`), and nothing else of
that conversation, which holds what was rejected. Other decisions are searched for by area (work
that shares the prompt's words, and its files): those made there, in the same conversation, about
the same files, near in meaning. Of two decisions on one subject the later is quoted. Decisions
below the thresholds of `GoalBriefLimits` are not quoted; how they are ranked is in
`_ScoredItem.similarity` and `_GoalSearch.run`. With a model, what exchanges that the prompt is
about found out and delivered is told before them (`related_exchanges`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from holdfast.brief.frame import EMPTY_BRIEF, Brief
from holdfast.brief.goal.entries import Entry, Replaced, records_of, render
from holdfast.brief.goal.first_prompt import (
    PromptSimilarity,
    goal_of,
    request_names,
    saved_commands,
)
from holdfast.brief.work_items import (
    DecisionQuote,
    Superseded,
    WorkItem,
    WorkItems,
    select_quotes,
)
from holdfast.language import code_names
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Layer, Passage, RecordFilter
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import passage_key
from holdfast.recall.core.semantic_port import (
    NEAREST,
    SemanticSearch,
    by_session,
    typical_cosine,
)
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.terms import Terms, read_terms
from holdfast.recall.retrievers.recaps import RecapMatch, RecapSearch
from holdfast.refine.facts.decision_sentences import MIN_STRENGTH
from holdfast.store.protocol import Reader

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from holdfast.brief.goal.related_exchanges import Outdated, RelatedExchange
    from holdfast.model.knowledge import Rule
    from holdfast.recall.core.candidates import ScoredPassage

# Files that every project has: to name one does not name a subject.
_COMMON_FILES = ("readme.md", "agents.md", "claude.md", "skill.md", "package.json", ".gitignore")
_SUMMARY_LAYERS = (Layer.OBSERVATIONS, Layer.TEAM)


class GoalBriefLimits(NamedTuple):
    """What a goal brief tells, and how far it searches. The thresholds were chosen by hand on the
    prompts of `tests/brief/scenarios.py`: 14 of 16 told by words, 15 with the model, none of 18
    prompts about nothing known; 1 of 113 first prompts of other projects (`docs/decisions/0011`).
    Lower thresholds tell more, and more that is beside the point."""

    characters: int = 3_200
    decisions: int = 5
    # The similarity that an item needs, by words and where a cosine is known.
    min_similarity: float = 0.30
    min_similarity_with_meaning: float = 0.34
    # The share of the prompt's weight that it needs in any case.
    min_share: float = 0.15
    # How many rare words it must share with the prompt: fewer where it shares this much of the
    # prompt, because a short prompt has few words.
    min_rare_words: int = 3
    large_share: float = 0.45
    # Near in meaning one rare word is enough, but then it must be more similar.
    min_similarity_by_one_word: float = 0.365
    # What is added to these minima for a prompt whose rare words are all unknown to the memory, and
    # the share of unknown words from which on nothing is told: no known matter of 80 has over 0.5.
    unknown_words: float = 0.08
    max_unknown_share: float = 0.6
    # How much nearer than the typical session of the bank it must be, unless it shares so much of
    # the prompt: in a bank of 19 sessions related ones have 0.084, three of four others less.
    min_contrast: float = 0.08
    share_without_contrast: float = 0.35
    # Items below this fraction of the best one are left out.
    fraction_of_best: float = 0.72
    # Passages that are searched for, items whose outline is similar enough to read their turns, and
    # how many are read: reading takes most of the time.
    passages: int = 30
    # Passages that a model is asked for, and passages returned with those found by words.
    nearest: int = 24
    passages_with_meaning: int = 32
    min_similarity_to_read: float = 0.1
    items_read: int = 12
    # The files of so many of the best items are followed, so many of each and in all. A file with
    # more work items than `items_per_file` says nothing about the subject.
    area_items: int = 6
    area_files: int = 4
    items_per_file: int = 16
    # What an item counts by its neighbours' words, by a neighbour's cosine, by a file of the area.
    neighbour_words: float = 0.85
    neighbour_cosine: float = 0.95
    by_file: float = 0.75
    # What is added at most for an item whose file the prompt names.
    named_file: float = 0.25
    # A strong decision sentence counts a little more than a weak one; similarity decides.
    strength_bonus: float = 0.1
    max_strength: float = 2.5


LIMITS = GoalBriefLimits()


class _ScoredItem:
    """A work item, and how similar it is to the prompt."""

    def __init__(self, item: WorkItem, typical: float | None, unknown_share: float) -> None:
        self.item = item
        self._extra = LIMITS.unknown_words * unknown_share
        # How near the sessions of the bank are to the prompt, if that is known.
        self._typical = typical
        self.share = 0.0
        self.rare_words = 0
        self.cosine = 0.0
        # The similarity by a file of the area, and whether the prompt names a file of the item.
        self.by_file = 0.0
        self.named = False
        # What it has at least, because it replaces an item that has it.
        self.inherited_share = 0.0
        self.inherited_words = 0

    def inherit(self, earlier: _ScoredItem) -> None:
        """Take over how similar an item is that this one replaces: it is about the same."""
        self.inherited_share = max(self.inherited_share, earlier.share)
        self.inherited_words = max(self.inherited_words, earlier.rare_words)
        self.share = max(self.share, self.inherited_share)
        self.rare_words = max(self.rare_words, self.inherited_words)
        self.cosine = max(self.cosine, earlier.cosine)
        self.by_file = max(self.by_file, earlier.by_file)
        self.named = self.named or earlier.named

    @property
    def similarity(self) -> float:
        """How similar the item is to the prompt, from 0 to about 1."""
        words = max(self.share, self.by_file)
        words += min(words, LIMITS.named_file) if self.named else 0.0
        return (words + 2 * self.cosine) / 3 if self.cosine else words

    @property
    def _stands_out(self) -> bool:
        """Whether the item has more to do with the prompt than the sessions of the bank have."""
        if self._typical is None or self.share >= LIMITS.share_without_contrast:
            return True
        return self.cosine - self._typical >= LIMITS.min_contrast

    @property
    def is_similar_enough(self) -> bool:
        """Whether the item may be quoted."""
        minimum = LIMITS.min_similarity_with_meaning if self.cosine else LIMITS.min_similarity
        if self.similarity < minimum + self._extra or self.share < LIMITS.min_share:
            return False
        if not self._stands_out:
            return False
        if self.cosine and self.similarity >= LIMITS.min_similarity_by_one_word + self._extra:
            return self.rare_words >= 1
        few = self.cosine or self.named or self.share >= LIMITS.large_share
        return self.rare_words >= (2 if few else LIMITS.min_rare_words)


def _search_by_words(reader: Reader, bank: str, terms: Terms) -> list[tuple[Passage, float]]:
    """The passages that full text finds. Summaries are searched for again by themselves, so that
    the many turns do not crowd them out. The engine is not used, because its ranking is not
    needed."""
    wanted = (*terms.all, *expand(terms.words, Expansion.FULL))
    matches = reader.passages.search(bank, wanted, (), LIMITS.passages)
    matches += reader.passages.search(bank, wanted, _SUMMARY_LAYERS, LIMITS.passages // 2)
    return [(passage, 0.0) for passage in dict.fromkeys(match.passage for match in matches)]


def nearest_passages(
    reader: Reader, bank: str, semantic: SemanticSearch | None, goal: str
) -> Sequence[ScoredPassage]:
    """The passages nearest in meaning to a goal; none without a model that knows its language."""
    if semantic is None or not semantic.understands(goal):
        return ()
    return semantic.nearest(reader, bank, goal, NEAREST).passages


def _typical_of(nearest: Sequence[ScoredPassage]) -> float | None:
    return typical_cosine(by_session(nearest))


def _with_cosines(
    reader: Reader,
    semantic: SemanticSearch,
    goal: str,
    nearest: Sequence[ScoredPassage],
    by_words: Sequence[tuple[Passage, float]],
) -> list[tuple[Passage, float]]:
    """The passages found by meaning and by words, each with its cosine. The engine is not used: a
    brief needs no ranking, and a hook waits for it."""
    known = {scored.passage: scored.score for scored in nearest}
    found = {scored.passage: scored.score for scored in nearest[: LIMITS.nearest]}
    others = [passage for passage, _ in by_words if passage not in found]
    unknown = [passage for passage in others if passage not in known]
    cosines = semantic.similarities(reader, goal, unknown)
    known |= {passage: cosines.get(passage_key(passage), 0.0) for passage in unknown}
    passages = [*found.items(), *((passage, known[passage]) for passage in others)]
    ranked = sorted(passages, key=lambda one: (-one[1], one[0].time, one[0].id))
    return ranked[: LIMITS.passages_with_meaning]


class _GoalSearch:
    """The search for one goal in one bank."""

    def __init__(
        self, reader: Reader, bank: str, goal: str, semantic: SemanticSearch | None
    ) -> None:
        self._reader = reader
        self._bank = bank
        self._prompt = PromptSimilarity(reader, bank, read_terms(goal))
        self._scored: dict[str, _ScoredItem] = {}
        self._goal = goal
        self._semantic = semantic
        terms = self._prompt.search_terms
        self._nearest = nearest_passages(reader, bank, semantic, goal)
        self._passages = _search_by_words(reader, bank, terms)
        if semantic is not None and self._nearest:
            self._passages = _with_cosines(reader, semantic, goal, self._nearest, self._passages)
        self._typical = _typical_of(self._nearest)
        turns: dict[str, set[int]] = {}
        for passage, _ in self._passages:
            if passage.kind == "turn":
                turns.setdefault(passage.session, set()).add(passage.seq)
        self.items = WorkItems(reader, bank, turns)
        self.superseded: list[Superseded] = []
        self.recaps = RecapSearch(reader, bank)
        self._replaced: Outdated | None = None

    @property
    def is_about_something_new(self) -> bool:
        """Whether the memory has never seen most of the prompt's rare words."""
        return self._prompt.unknown_share >= LIMITS.max_unknown_share

    def find_recaps(self) -> list[RecapMatch]:
        """The recaps that the prompt is about, best first."""
        found = [passage for passage, _ in self._passages]
        return self.recaps.find(
            self._goal, self._prompt.shared_with, found, self._semantic, self._nearest
        )

    def find_related(
        self, ranked: Sequence[_ScoredItem], recaps: Sequence[RecapMatch]
    ) -> Sequence[RelatedExchange]:
        """The exchanges that the prompt is about, if there is a model to find them; without what
        decisions in `ranked` items replaced, and without what the recaps say."""
        if not self._nearest:
            return ()
        from holdfast.brief.goal.related_exchanges import related_exchanges

        said = [match.recap.memory.what for match in recaps]
        return related_exchanges(
            self._reader,
            self._bank,
            self._prompt,
            self._nearest,
            lambda: self._outdated(ranked),
            said,
        )

    def add_ending(self, entry: Entry, ranked: Sequence[_ScoredItem]) -> Entry:
        """A decision with how its exchange ended, if nothing of the exchange is quoted yet. Only
        with a model: what finds the ending takes a hook without a server 48 ms to import."""
        item = entry.item
        if self._semantic is None or entry.came_to or item.kind != "exchange":
            return entry
        if item.ended or entry.replaced:
            return entry
        from holdfast.brief.goal.related_exchanges import how_it_ended

        said = [decision.sentence for decision in entry.decisions]
        outdated = self._outdated(ranked)
        ending = how_it_ended(self._reader, self._bank, item.id, said, outdated)
        return entry._replace(came_to=ending)

    def _outdated(self, ranked: Sequence[_ScoredItem]) -> Outdated:
        """What decisions in `ranked` items replaced."""
        from holdfast.brief.goal.related_exchanges import Outdated

        if self._replaced is None:
            items = [scored.item for scored in ranked]
            latest = _later_versions(items)
            replaced = [item for item in items if item.uri in latest]
            replaced += [one.earlier for one in self.superseded]
            left = {item.uri for item in replaced}
            hold = [item for item in items if item.uri not in left]
            self._replaced = Outdated(self._reader, self._bank, replaced, hold)
        return self._replaced

    def run(self) -> list[_ScoredItem]:
        """The items with decisions, best first."""
        for passage, cosine in self._passages:
            item = self.items.from_passage(passage)
            if item is not None:
                scored = self._add(item)
                scored.cosine = max(scored.cosine, cosine)
        self._add_neighbours()
        self._add_items_of_files()
        self._add_later_items()
        similar = [
            s for s in self._scored.values() if s.similarity >= LIMITS.min_similarity_to_read
        ]
        nearest = sorted(similar, key=lambda s: (-s.similarity, s.item.id))[: LIMITS.items_read]
        names = {
            uri: request_names(s.item.title, s.item.details) for uri, s in self._scored.items()
        }
        commands = saved_commands(name for found in names.values() for name in found)
        unsaved = (s for s in nearest if commands.isdisjoint(names[s.item.uri]))
        left = (s for s in unsaved if s.item.has_decision)
        decided = list(map(self._measure_whole, left))
        return sorted(decided, key=lambda s: (-self._rank_score(s), s.item.time, s.item.id))

    def _add_later_items(self) -> None:
        """Add the items that state what holds instead of what an item found here states."""
        for one in self.items.superseded():
            earlier = self._scored.get(one.earlier.uri)
            if earlier is not None:
                self.superseded.append(one)
                self._add(one.later).inherit(earlier)

    def _rank_score(self, scored: _ScoredItem) -> float:
        strength = min(scored.item.strength, LIMITS.max_strength)
        return scored.similarity * (1 + LIMITS.strength_bonus * strength)

    def _add(self, item: WorkItem) -> _ScoredItem:
        known = self._scored.get(item.uri)
        if known is None:
            known = self._scored[item.uri] = _ScoredItem(
                item, self._typical, self._prompt.unknown_share
            )
            around = self.items.with_neighbours(item)
            self._measure(known, item.outline, [part.outline for part in around])
        return known

    def _measure_whole(self, scored: _ScoredItem) -> _ScoredItem:
        """Measure an item again, with its decisions."""
        around = self.items.with_neighbours(scored.item)
        self._measure(scored, scored.item.text, [part.text for part in around])
        return scored

    def _measure(self, scored: _ScoredItem, own: str, parts: Sequence[str]) -> None:
        prompt = self._prompt
        alone = prompt.overlap(prompt.stems(own))
        joint = prompt.overlap(frozenset[str]().union(*map(prompt.stems, parts)))
        words = max(alone.share, LIMITS.neighbour_words * joint.share)
        scored.share = max(words, scored.inherited_share)
        scored.rare_words = max(joint.rare_words, scored.inherited_words)

    def _add_neighbours(self) -> None:
        """Add the items beside those found: what one asks, the next may decide."""
        for scored in list(self._scored.values()):
            for beside in self.items.with_neighbours(scored.item):
                neighbour = self._add(beside)
                cosine = LIMITS.neighbour_cosine * scored.cosine
                neighbour.cosine = max(neighbour.cosine, cosine)

    def _add_items_of_files(self) -> None:
        """Add the items about the files of the area, and about files that the prompt names."""
        ranked = sorted(self._scored.values(), key=lambda s: (-s.similarity, s.item.id))
        files: dict[str, float] = {}
        for scored in ranked[: LIMITS.area_items]:
            for file in sorted(scored.item.changed)[: LIMITS.area_files]:
                files[file] = max(files.get(file, 0.0), scored.similarity)
        best_files = sorted(files.items(), key=lambda item: (-item[1], item[0]))
        for file, similarity in best_files[: LIMITS.area_files]:
            records = self._reader.records.filter(
                self._bank, RecordFilter(file=file), LIMITS.items_per_file + 1
            )
            if len(records) > LIMITS.items_per_file:
                continue
            for record in records:
                scored = self._add(self.items.from_record(record))
                if not scored.cosine:
                    scored.by_file = max(scored.by_file, LIMITS.by_file * similarity)
        for name in code_names(self._goal):
            if ("." in name or "/" in name) and not name.lower().endswith(_COMMON_FILES):
                for record in self._reader.records.filter(
                    self._bank, RecordFilter(file=name), LIMITS.items_per_file
                ):
                    self._add(self.items.from_record(record)).named = True


def goal_brief(
    reader: Reader,
    bank: str,
    prompt: str,
    semantic: SemanticSearch | None = None,
    rules: Callable[[], Sequence[Rule] | None] = lambda: None,
) -> Brief:
    """The brief for a session's first prompt; empty if no decision concerns it. Decisions are found
    by words, and with `semantic` by meaning. `rules` reads those of the bank's files, if they are
    known better than the store knows them; it is called if there is something to tell."""
    goal = goal_of(prompt)
    if not goal or not reader.passages.count(bank, 1):
        return EMPTY_BRIEF
    run = _GoalSearch(reader, bank, goal, semantic)
    if run.is_about_something_new:
        return EMPTY_BRIEF
    recaps = run.find_recaps()
    ranked = run.run()
    related = run.find_related(ranked, recaps)
    # A hook waits for this, and most prompts concern no decision: what is above is all they need.
    if not recaps and not related and not any(scored.is_similar_enough for scored in ranked):
        return EMPTY_BRIEF
    from holdfast.brief.memory_file import MemoryFile
    from holdfast.brief.verdicts import read_verdicts

    entries = _choose(ranked, run.items, run.superseded)
    is_outdated = read_verdicts(reader, bank).is_outdated
    found = _recaps_first(recaps, related, entries, run.recaps)
    told = [one for one in found if not any(map(is_outdated, records_of(one)))]
    if not told:
        return EMPTY_BRIEF
    told = [run.add_ending(one, ranked) if isinstance(one, Entry) else one for one in told]
    known = rules()
    memory_file = MemoryFile(reader.rules.all(bank) if known is None else known)
    return render(told, memory_file, run.items, LIMITS.characters)


def _recaps_first(
    recaps: Sequence[RecapMatch],
    related: Sequence[RelatedExchange],
    entries: Sequence[Entry],
    known: RecapSearch,
) -> list[RecapMatch | RelatedExchange | Entry]:
    """The recaps that a prompt is about, then what the exchanges came to that it is about, then
    other decisions. What was said in a conversation that was summed up is told as its recap: the
    rest of it holds what was rejected. Work is about several matters, so a recap amid work stands
    for itself alone."""
    told: dict[str, RecapMatch | RelatedExchange | Entry] = {match.uri: match for match in recaps}
    conversations = [match for match in known.all if not match.amid_work]
    for one in related:
        places = [(one.exchange.session, place) for place in one.places]
        matter = next((m for m in conversations if all(m.is_of(*place) for place in places)), None)
        told.setdefault(matter.uri if matter else uri("exchange", one.exchange.id), matter or one)
    for entry in entries:
        matter = next((m for m in conversations if entry.item.is_in(m.is_of)), None)
        name = matter.uri if matter else entry.item.uri
        came_to = told.get(name)
        if came_to is None:
            told[name] = matter or entry
        elif not isinstance(came_to, RecapMatch | Entry):
            told[name] = entry._replace(came_to=came_to)
    return list(told.values())[: LIMITS.decisions]


def _choose(
    ranked: Sequence[_ScoredItem], items: WorkItems, superseded: Sequence[Superseded]
) -> list[Entry]:
    """The best items, each in its latest version, none twice."""
    from holdfast.brief.decision_versions import repeats

    latest = _later_versions([s.item for s in ranked])
    best = max((s.similarity for s in ranked if s.is_similar_enough), default=0.0)
    least = LIMITS.fraction_of_best * best
    chosen: list[Entry] = []
    included: set[str] = set()
    for scored in ranked:
        full = len(chosen) == LIMITS.decisions
        if full or scored.similarity < least or not scored.is_similar_enough:
            continue
        item = latest.get(scored.item.uri, scored.item)
        if item.uri in included:
            continue
        before = scored.item if item is not scored.item else _replaced(item, latest, ranked)
        replaced = _words_of(before) if before else _superseded_by(item, superseded)
        around = items.with_neighbours(item)
        included |= {part.uri for part in around} | ({replaced.uri} if replaced else set())
        decisions = _decisions_around(item, around)
        changes = replaced and not repeats(decisions, replaced.words)
        chosen.append(Entry(item, decisions, replaced if changes else None))
    return chosen


def _words_of(item: WorkItem) -> Replaced:
    first = select_quotes(item.decisions, most=1)
    return Replaced(item.time, first[0].sentence if first else item.title, item.uri)


def _superseded_by(item: WorkItem, superseded: Sequence[Superseded]) -> Replaced | None:
    """The fact that an item superseded; the latest if there are several."""
    for one in superseded:
        if one.later.uri == item.uri:
            return Replaced(one.fact.validity.since, one.fact.content, one.earlier.uri)
    return None


def _later_versions(items: Sequence[WorkItem]) -> dict[str, WorkItem]:
    """By URI, the latest item that decides the same again."""
    from holdfast.brief.decision_versions import replaces

    latest: dict[str, WorkItem] = {}
    for item in items:
        later = [
            other
            for other in items
            if other.time > item.time
            and (other.session != item.session or not other.session)
            and replaces(other, item)
        ]
        if later:
            latest[item.uri] = max(later, key=lambda other: (other.time, other.id))
    return latest


def _replaced(
    item: WorkItem, latest: Mapping[str, WorkItem], ranked: Sequence[_ScoredItem]
) -> WorkItem | None:
    """The latest of the items that this one replaces."""
    before = [s.item for s in ranked if latest.get(s.item.uri) is item]
    return max(before, key=lambda other: (other.time, other.id), default=None)


def _decisions_around(item: WorkItem, around: Sequence[WorkItem]) -> tuple[DecisionQuote, ...]:
    """The item's own decisions, and clear ones from right before and after it."""
    beside = [d for part in around if part is not item for d in part.decisions]
    own = select_quotes(item.decisions)
    clear = [d for d in beside if d.strength >= MIN_STRENGTH]
    return tuple(select_quotes([*own, *clear]))
