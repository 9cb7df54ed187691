"""The statements of a bank so far, and which of them a later one amends.

A statement amends another of an earlier session if both are about the same and it says what it
changes of the other (`amendments`). What an agent reports as changed counts only where a person
asked for it, or where it says in so many words which decision it replaces (`named_supersession`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from holdfast.language import sentences
from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.model.trust import Trust, least_trusted
from holdfast.refine.core.named_supersession import (
    names_any_day,
    names_day,
    names_superseded,
)
from holdfast.refine.core.problem_states import is_finding, is_printed, reports_fault
from holdfast.refine.core.statement_similarity import says_the_same, statement_features
from holdfast.refine.facts import hypotheses
from holdfast.refine.facts.amendments import (
    Statement,
    WordWeights,
    amendment_strength,
    covers,
    gives_up,
    moves,
    names_the_change,
    new_values,
    own_strength,
    says_enough,
    says_enough_in_part,
    says_surely_what,
    sets_other_measure,
    statement_words,
)
from holdfast.refine.facts.momentary_orders import orders_steps
from holdfast.refine.facts.plain_statements import (
    changes_in_part,
    may_be_amended,
    may_be_corrected,
    only_goes_on,
    part_sentences,
    refers_back,
    reported_changes,
    says_change,
    says_surely,
)
from holdfast.regex import regex

# What a report says of something that it ended.
_ENDS = regex(
    r"\b(?:no longer|any ?more|instead of|rather than|replac\w+|remov\w+|dropped|got rid)\b",
    re.IGNORECASE,
)


class ExchangeContext(NamedTuple):
    """What was said around a statement: the summary of the exchange before, what was asked, the
    summary of its own exchange, and what was said next."""

    before: str = ""
    asked: str = ""
    summary: str = ""
    next: str = ""


NO_CONTEXT = ExchangeContext()
# Of a summary, what is read to tell what a statement is about. A longer sentence lists all that a
# session did.
_SUMMARY_SENTENCES = 2
_MAX_SUMMARY_SENTENCE = 160
# A statement of so few content words refers to what was said before it ("no, make it 300").
_FEW_WORDS = 4
# Of a statement that names the day of what it replaces: the weight of the words that both share.
# The day tells most already.
_LEAST_ON_DAY = 0.9
# In a session with more plain statements of a person, these are mostly about the work at hand: what
# somebody saw, wanted or remarked. Of 1,026 that readers judged 91 said how something is to be.
_FEW_STATEMENTS = 3
# A report that has this share of the words of an earlier order says that it was carried out.
_SAME_ORDER = 0.8
# A statement is compared with so many of those that share the most words with it.
_MOST_COMPARED = 60


class Amendment(NamedTuple):
    """A statement that a later one amends. `later` has the words to show, which are those of the
    summary where the statement itself says too little; `in_part`: the earlier one still holds
    otherwise. `repeated` are other statements that say the same as the earlier one."""

    earlier: Claim
    later: Claim
    in_part: bool
    repeated: tuple[Claim, ...] = ()


class StatementPool:
    """The statements of a bank, in the order of time."""

    def __init__(
        self,
        claims: Iterable[Claim],
        context_of: Callable[[Claim], ExchangeContext],
        reports: Callable[[], Sequence[Claim]] = lambda: (),
    ) -> None:
        """`claims` are all that will be added; `context_of` reads what was said around one;
        `reports` reads what agents reported at the end of their exchanges."""
        said: dict[str, list[str]] = {}
        self._stated = Counter[str]()
        for claim in claims:  # a message may be several claims in the same words
            said.setdefault(claim.turn or claim.id, []).append(claim.text)
            if claim.by_person and claim.kind is ClaimKind.STATEMENT:
                self._stated[claim.session] += 1
        self._weights = WordWeights(map(" ".join, said.values()))
        self._context_of = context_of
        self._reports = reports
        self._by_word: dict[str, list[Claim]] = {}
        # Those that say how something is, not how it is to be: they change only if it is said.
        self._only_corrected: set[str] = set()

    def add(self, claim: Claim) -> None:
        """Add a person's statement that later ones may amend."""
        if _only_reports(claim):
            return
        is_norm = claim.kind is not ClaimKind.STATEMENT or may_be_amended(claim.text)
        if claim.by_person and (is_norm or may_be_corrected(claim.text)):
            for word in statement_words(claim.text).set:
                self._by_word.setdefault(word, []).append(claim)
            if not is_norm:
                self._only_corrected.add(claim.id)

    def find_amended(self, claim: Claim, is_open: Callable[[Claim], bool]) -> Amendment | None:
        """What a statement amends; `is_open` tells which statements may be amended still."""
        if only_goes_on(claim.text) or not (claim.by_person or reported_changes(claim.text)):
            return None
        if _only_reports(claim):
            return None
        if hypotheses.disproves(claim.text):
            return None  # somebody says that it is wrong: that goes to review
        context = self._context_of(claim)
        if names_superseded(claim.text) and not hypotheses.disagrees(context.next):
            named = self._find_named(claim, is_open)
            if named is not None:
                return Amendment(named, claim, in_part=False)
        around = _around(claim, context)
        changes = claim.by_person and (says_change(claim.text) or says_change(around))
        adds = claim.by_person and bool(part_sentences(claim.text))
        later = Statement(claim.text, around, refers_back(claim.text), changes, adds)

        @cache  # many say the same
        def strength(earlier: str) -> float:
            found = amendment_strength(later, earlier, self._weights)
            return found if found and self._changes(claim, earlier, context) else 0.0

        scored = [
            (strength(earlier.text), earlier.time, earlier)
            for earlier in self._near(later)
            if earlier.session != claim.session and earlier.time < claim.time
            if strength(earlier.text) and is_open(earlier)
            if self._is_clear_enough(claim, earlier)
            if earlier.id not in self._only_corrected or self._corrects(claim, earlier.text)
        ]
        if not scored:
            return None
        earlier = max(scored, key=lambda s: (s[0], s[1], s[2].id))[2]
        same = [s[2] for s in scored if s[2] is not earlier and _say_the_same(s[2], earlier)]
        in_part = changes_in_part(claim.text, context.summary)
        shown = self._shown(claim, earlier, context)
        return Amendment(earlier, shown, in_part, tuple(same))

    def _find_named(self, claim: Claim, is_open: Callable[[Claim], bool]) -> Claim | None:
        """The statement of the day that a later one names as replaced: that of a person, or what
        an agent reported then."""
        if not names_any_day(claim.text):
            return None
        stated = {c.id: c for claims in self._by_word.values() for c in claims}
        scored = [
            (names_day(claim.text, c.time, (0,)), self._closeness(claim, c), c.by_person, c.id, c)
            for c in (*stated.values(), *self._reports())
            if c.session != claim.session
            and c.time < claim.time
            and names_day(claim.text, c.time)
            and is_open(c)
        ]
        near = [one for one in scored if one[1] >= _LEAST_ON_DAY]
        return max(near, key=lambda one: one[:4])[4] if near else None

    def _closeness(self, claim: Claim, earlier: Claim) -> float:
        """How surely two statements are about the same, by the words that both have."""
        return own_strength(claim.text, earlier.text, self._weights)

    def _near(self, later: Statement) -> list[Claim]:
        """The statements that share the most words with a later one."""
        found = statement_words(later.text).set | statement_words(later.around).set
        counts: Counter[str] = Counter()
        claims: dict[str, Claim] = {}
        for word in found:
            for claim in self._by_word.get(word, ()):
                counts[claim.id] += 1
                claims[claim.id] = claim
        ranked = sorted(counts, key=lambda id: (-counts[id], id))
        return [claims[id] for id in ranked[:_MOST_COMPARED]]

    def _changes(self, claim: Claim, earlier: str, context: ExchangeContext) -> bool:
        """Whether a statement says what it changes of an earlier one on the same subject."""
        if not claim.by_person:
            return self._is_reported(claim, earlier, context)
        summary = _start_of(context.summary)
        if any(gives_up(sentence, earlier) for sentence in summary):
            return True
        if moves(claim.text, earlier, self._weights):
            return True
        if names_the_change(claim.text, earlier) or refers_back(claim.text):
            return not self._repeats(claim, earlier)
        if sets_other_measure(" ".join((claim.text, *summary)), earlier):
            return True
        if _is_bare(claim) and _answers(context.before, earlier):
            return bool(new_values(context.summary, earlier))
        says_so = says_change(claim.text) or any(map(says_change, summary))
        if says_so and covers(" ".join((claim.text, *summary)), earlier):
            return True
        return any(
            says_enough_in_part(sentence, earlier, self._weights)
            for sentence in part_sentences(claim.text)
        )

    def _is_clear_enough(self, claim: Claim, earlier: Claim) -> bool:
        """Whether two statements were said where hardly anything else was. Others must be about the
        same beyond doubt, and the later one must say what becomes of the earlier."""
        if max(self._stated[claim.session], self._stated[earlier.session]) <= _FEW_STATEMENTS:
            return True
        if not claim.by_person:
            return False
        says_so = (
            gives_up(claim.text, earlier.text),
            sets_other_measure(claim.text, earlier.text),
            refers_back(claim.text),
            bool(part_sentences(claim.text)),
        )
        strength = own_strength(claim.text, earlier.text, self._weights)
        if says_surely_what(strength):
            return any(says_so)
        return says_enough(strength) and sum(says_so) > 1

    def _corrects(self, claim: Claim, earlier: str) -> bool:
        """Whether a person says in so many words that something is not as an earlier one says."""
        is_sure = says_surely_what(own_strength(claim.text, earlier, self._weights))
        return claim.by_person and is_sure and gives_up(claim.text, earlier)

    def _is_reported(self, claim: Claim, earlier: str, context: ExchangeContext) -> bool:
        """Whether an agent reports a change of an earlier statement that a person asked for."""
        asked = f"{context.asked} {context.before}"
        is_asked_for = statement_words(asked).set & statement_words(earlier).set
        is_taken_back = hypotheses.disagrees(context.next)
        is_sure = says_surely_what(own_strength(claim.text, earlier, self._weights))
        is_named = gives_up(claim.text, earlier) or names_superseded(claim.text)
        is_done = self._carries_out(claim, earlier)
        return bool(is_asked_for) and not is_taken_back and is_sure and is_named and not is_done

    def _carries_out(self, claim: Claim, earlier: str) -> bool:
        """Whether a report only says in the words of an order that it was carried out."""
        if new_values(claim.text, earlier) or (
            _ENDS.search(claim.text) and not _ENDS.search(earlier)
        ):
            return False
        ordered = statement_words(earlier).set
        return len(ordered & statement_words(claim.text).set) >= _SAME_ORDER * len(ordered)

    def _repeats(self, claim: Claim, earlier: str) -> bool:
        """Whether a statement only says an earlier one again."""
        repeats = statement_words(earlier).set <= statement_words(claim.text).set
        return repeats and not (says_surely(claim.text) or gives_up(claim.text, earlier))

    def _shown(self, claim: Claim, earlier: Claim, context: ExchangeContext) -> Claim:
        """The statement; of a few words that do not tell what they are about, the summary."""
        is_told = says_enough(own_strength(claim.text, earlier.text, self._weights))
        if is_told or not _is_bare(claim):
            return claim
        summary = sentences(context.summary)
        scores = [own_strength(sentence, earlier.text, self._weights) for sentence in summary]
        if not scores or not says_enough(max(scores)):
            return claim
        text = summary[scores.index(max(scores))]
        return replace(claim, text=text, trust=least_trusted((claim.trust, Trust.ASSISTANT)))


def _only_reports(claim: Claim) -> bool:
    """Whether a person only says what they saw going wrong, pastes what a program printed, or
    orders the next steps. What stands beside a finding of a linter is the linter's, too."""
    if not claim.by_person:
        return False
    said = sentences(claim.text)
    if is_printed(claim.text) or any(map(is_finding, said)):
        return True
    return bool(said) and all(
        reports_fault(one) or is_printed(one) or orders_steps(one) for one in said
    )


def _around(claim: Claim, context: ExchangeContext) -> str:
    """What was said around a statement and tells what it is about: the start of the summary; what
    was said before, if the statement itself says hardly anything."""
    if not claim.by_person:
        return context.asked
    said = _start_of(context.summary)
    return " ".join((*said, context.before if _is_bare(claim) else ""))


def _start_of(summary: str) -> list[str]:
    """The first sentences of a summary, as far as each is about one matter."""
    first = sentences(summary)[:_SUMMARY_SENTENCES]
    return [sentence for sentence in first if len(sentence) <= _MAX_SUMMARY_SENTENCE]


def _is_bare(claim: Claim) -> bool:
    return len(statement_words(claim.text).set) <= _FEW_WORDS


def _answers(asked: str, earlier: str) -> bool:
    """Whether a reply is about an earlier statement: what was said before it states that again."""
    return bool(asked) and statement_words(earlier).set <= statement_words(asked).set


def _say_the_same(one: Claim, other: Claim) -> bool:
    return says_the_same(statement_features(one.text), statement_features(other.text))
