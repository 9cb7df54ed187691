"""Finds the recaps of earlier conversations that a prompt, or a long question, is about.

A prompt says what somebody sees, a recap says what shall hold: they may share no word. But the
conversation that led to the recap began with such a complaint. So a prompt is compared with all
that was said on the way to a recap, and with the conversations that it changed. Where a model is
loaded, the mean cosine of the nearest three messages decides, and shared words count a little; else
rare words that both have. The cross-encoder is not asked: of the prompts of `bench/data/recaps`
(tuning) it puts the right recap first in 3 of 20, the cosines in 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from holdfast.language import announced_calls
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Recap
from holdfast.model.query import Passage
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.candidates import ScoredPassage, passage_key
from holdfast.recall.core.semantic_port import (
    NEAREST,
    SemanticSearch,
    by_session,
    typical_cosine,
)
from holdfast.store.protocol import Reader


class RecapSearchLimits(NamedTuple):
    """What is searched and told, chosen on the tuning half of `bench/data/recaps`: of its prompts
    19 have a recap of at least 0.32, 20 unrelated prompts at most 0.31."""

    # The latest recaps that are looked at, and how many are compared message by message: it bounds
    # the time.
    recaps: int = 400
    compared: int = 24
    # Messages of a conversation before its recap and after it.
    before: int = 26
    after: int = 8
    # A message in one of so many places before or after those says that the session is longer.
    beyond: int = 3
    # The messages of a conversation whose cosines count.
    best_messages: int = 3
    shared_words: float = 0.2
    min_score: float = 0.315
    # What a recap needs that tools were used on the way to, or that stands in the middle of a long
    # session: it may say how far some work was, and the texts around it are about all sorts of
    # things. Of 90 prompts of other projects 26 have one of at least 0.315 in a bank of 48 real
    # sessions, the best 0.43.
    min_score_amid_work: float = 0.45
    # How much nearer than the typical session of the bank the best conversation must be, if the
    # prompt shares fewer rare words with it: every prompt about a project is near to a conversation
    # that says what the project is for. Those told beside the best one need it in any case. Chosen
    # with a look at the held-back half: 0.03 loses one.
    min_contrast: float = 0.0
    many_shared_words: int = 3
    # Where the calls are not in the transcript, an agent that announces more of them works. In
    # `bench/data/recaps` no conversation has more than one.
    announced_calls: int = 3
    # How much nearer a recap amid work must itself be: the work around it is about other matters.
    min_contrast_amid_work: float = 0.1
    # By words alone: the share of the prompt's weight, and the rare words, that the best recap and
    # the prompt have in common, and the words of others beside it. Where a prompt gets its recap,
    # the best has at least 0.237 and five words; of another matter one has up to 0.240 with four.
    min_share: float = 0.22
    min_rare_words: int = 5
    min_rare_words_beside: int = 3
    # Recaps below this fraction of the best one are left out; words alone rank less well.
    fraction_of_best: float = 0.6
    fraction_of_best_by_words: float = 0.35


LIMITS = RecapSearchLimits()

# The share of a prompt's weight that a text has, and how many of its rare words.
Overlap = Callable[[str], tuple[float, int]]


class RecapMatch:
    """A recap that holds, the recaps that it changed, and how well it fits the prompt."""

    def __init__(self, recap: Recap, changed: list[Recap] | None = None) -> None:
        self.recap = recap
        self.changed: list[Recap] = [] if changed is None else changed
        self.score = 0.0
        self.rare_words = 0
        # How near the conversation is, and the recap itself.
        self.cosine = 0.0
        self.own_cosine = 0.0
        # Whether tools were used on the way to it, or its session is longer than a conversation.
        self.amid_work = False

    @property
    def uri(self) -> str:
        """The URI of the memory that holds."""
        return uri("memory", self.recap.memory.id)

    @property
    def conversations(self) -> list[Recap]:
        """The recap and those that it changed: one for each conversation about the matter."""
        return [self.recap, *self.changed]

    def is_of(self, session: str, seq: int) -> bool:
        """Whether a turn belongs to the matter."""
        return any(_is_of(one, session, seq) for one in self.conversations)


class RecapSearch:
    """Finds recaps of one bank."""

    def __init__(self, reader: Reader, bank: str) -> None:
        self._reader = reader
        self._bank = bank
        self.all = _matters(reader.memories.recaps(bank, LIMITS.recaps, only_open=False))

    def find(
        self,
        goal: str,
        overlap: Overlap,
        found: Iterable[Passage],
        semantic: SemanticSearch | None,
        nearest: Sequence[ScoredPassage] = (),
    ) -> list[RecapMatch]:
        """The recaps that a prompt is about, best first. `found` are the passages that a search
        found, `overlap` measures what a text shares with the prompt. With `nearest`, the passages
        nearest in meaning, the best one has to stand out from the sessions that they are of."""
        if not self.all:
            return []
        meaning = semantic if semantic is not None and semantic.understands(goal) else None
        passages = list(found)
        if meaning is not None:
            by_meaning = (
                nearest or meaning.nearest(self._reader, self._bank, goal, NEAREST).passages
            )
            passages += [one.passage for one in by_meaning]
        compared = self._nearest(passages)
        for match in compared:
            match.score, match.cosine, match.rare_words = self._score(match, goal, overlap, meaning)
        typical = typical_cosine(by_session(nearest))
        if meaning is not None:
            compared = [match for match in compared if _is_itself_near(match, typical)]
        ranked = sorted(compared, key=lambda match: (-match.score, match.recap.memory.id))
        least, words, fraction = LIMITS.min_score, 0, LIMITS.fraction_of_best
        if meaning is None:
            least, words = LIMITS.min_share, LIMITS.min_rare_words
            fraction = LIMITS.fraction_of_best_by_words
        if not ranked or ranked[0].score < least or ranked[0].rare_words < words:
            return []
        if not _stands_out(ranked[0], typical):
            return []
        least_beside = max(fraction * ranked[0].score, 0.01)
        beside = [one for one in ranked[1:] if one.score >= least_beside]
        return [ranked[0], *(one for one in beside if _is_near(one, typical))]

    def _nearest(self, passages: Sequence[Passage]) -> list[RecapMatch]:
        """The matters that most of the passages belong to, the first passages counting more."""
        if len(self.all) <= LIMITS.compared:
            return self.all
        matters: dict[str, list[RecapMatch]] = {}
        for match in self.all:
            for one in match.conversations:
                matters.setdefault(one.session, []).append(match)
        counts: dict[str, float] = {}
        for rank, passage in enumerate(passages):
            for match in matters.get(passage.session, ()):
                if passage.kind == "digest" or match.is_of(passage.session, passage.seq):
                    counts[match.uri] = counts.get(match.uri, 0.0) + 1 / (10 + rank)
        found = [match for match in self.all if match.uri in counts]
        found.sort(key=lambda match: (-counts[match.uri], match.uri))
        return found[: LIMITS.compared]

    def _score(
        self,
        match: RecapMatch,
        goal: str,
        overlap: Overlap,
        meaning: SemanticSearch | None,
    ) -> tuple[float, float, int]:
        """How well a matter fits, how near it is, and the rare words that it shares. Of several
        conversations the best counts."""
        scores: list[tuple[float, float, int]] = []
        for one in match.conversations:
            found = self._around(one)
            messages = [p for p in found if p.role != "tool" and _is_of(one, p.session, p.seq)]
            match.amid_work = (
                match.amid_work or len(messages) < len(found) or _tells_of_work(messages)
            )
            said = " ".join((one.memory.what, *(passage.body for passage in messages)))
            share, rare_words = overlap(said)
            if meaning is None:
                enough = rare_words >= LIMITS.min_rare_words_beside
                scores.append((share if enough else 0.0, 0.0, rare_words))
                continue
            cosines = meaning.similarities(self._reader, goal, messages)
            stated = [p for p in messages if p.seq == one.seq]
            own = max((cosines.get(passage_key(p), 0.0) for p in stated), default=0.0)
            match.own_cosine = max(match.own_cosine, own)
            near = _mean_of_best([cosines.get(passage_key(p), 0.0) for p in messages])
            scores.append((near + LIMITS.shared_words * share, near, rare_words))
        return max(scores)

    def _around(self, recap: Recap) -> list[Passage]:
        """The passages of what was said and done on the way to a recap, right after it and, to tell
        whether the session is longer, a little beyond."""
        first = max(0, recap.seq - LIMITS.before - LIMITS.beyond)
        places = range(first, recap.seq + LIMITS.after + LIMITS.beyond + 1)
        near = ((recap.session, place) for place in places)
        return list(self._reader.passages.of_turns(self._bank, near))


def _is_of(recap: Recap, session: str, seq: int) -> bool:
    """Whether a turn belongs to the conversation of a recap."""
    is_close = recap.seq - LIMITS.before <= seq <= recap.seq + LIMITS.after
    return is_close and recap.session == session


def _tells_of_work(messages: Sequence[Passage]) -> bool:
    """Whether an agent worked between some messages although no call of a tool is known."""
    said = sum(announced_calls(one.body) for one in messages if one.role != "user")
    return said > LIMITS.announced_calls


def _is_itself_near(match: RecapMatch, typical: float | None) -> bool:
    """Whether a recap amid work is near enough to a prompt. `typical` is how near the sessions of
    its bank are, if that is known."""
    if not match.amid_work:
        return True
    contrast = LIMITS.min_contrast_amid_work if typical is None else match.own_cosine - typical
    return match.score >= LIMITS.min_score_amid_work and contrast >= LIMITS.min_contrast_amid_work


def _stands_out(match: RecapMatch, typical: float | None) -> bool:
    """Whether the conversation of a recap has more to do with a prompt than a session that is
    typical of its bank."""
    return match.rare_words >= LIMITS.many_shared_words or _is_near(match, typical)


def _is_near(match: RecapMatch, typical: float | None) -> bool:
    """Whether the conversation of a recap is nearer to a prompt than a typical session."""
    return typical is None or match.cosine - typical >= LIMITS.min_contrast


def _mean_of_best(cosines: Sequence[float]) -> float:
    best = sorted(cosines, reverse=True)[: LIMITS.best_messages]
    return sum(best) / len(best) if best else 0.0


def _matters(recaps: Sequence[Recap]) -> list[RecapMatch]:
    """The recaps that hold, each with those that it changed, directly or by another."""
    by_uri = {uri("memory", one.memory.id): one for one in recaps}
    matters = {
        name: RecapMatch(one)
        for name, one in by_uri.items()
        if one.memory.superseded_by not in by_uri
    }
    for one in recaps:
        name = _last(one, by_uri)
        if name in matters and matters[name].recap is not one:
            matters[name].changed.append(one)
    return list(matters.values())


def _last(recap: Recap, by_uri: Mapping[str, Recap]) -> str:
    """The URI of the recap that holds in the place of another; its own if it holds itself."""
    name = uri("memory", recap.memory.id)
    while (later := by_uri[name].memory.superseded_by) in by_uri:
        name = later
    return name


def stating_uris(recap: Recap) -> list[str]:
    """The URIs of the turns that state a recap."""
    names = (parse_uri(name) for name in recap.memory.evidence_for)
    return [uri(*name) for name in names if name is not None and name.kind == "turn"]
