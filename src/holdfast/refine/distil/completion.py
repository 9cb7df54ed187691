"""Adds to a chosen statement what it needs to be understood, in the words of its own message.

The sentence before it where it points back, the one after it that says what it announces, the item
above it that a "Fix:" belongs to, the other items of a short list, and what an option is that it
names by its letter. What a statement says itself stays as it was written.

To a cause belongs what ended it, told later in the session: a fault that was fixed is not there any
more, and how it was fixed is what a reader looks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import code_names, collapse_spaces, cut, is_chatter, plain
from holdfast.refine.core.source_code import is_code
from holdfast.refine.core.word_classes import is_generic
from holdfast.refine.distil.features import Candidate, content_words
from holdfast.refine.distil.kinds import claims_done, explains
from holdfast.refine.distil.lasting import is_check
from holdfast.refine.distil.standalone import POINTS_BACK, standalone, without_symbols
from holdfast.refine.distil.statements import Block, Statement, split_blocks
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.facts import hypotheses
from holdfast.regex import regex


class CompletionLimits(NamedTuple):
    """How much is added. More words make a record harder to find and to read."""

    max_chars: int = 400
    # Sentences before and after a statement.
    before: int = 2
    after: int = 1
    # A list of no more items than this, which fits, is kept whole where the chosen one is short, or
    # where its lead says how many there are.
    items: int = 5
    short_item_words: int = 8
    max_option_chars: int = 80


LIMITS = CompletionLimits()

# What begins so goes on with it: a reason, a result, an exception, the second of two.
_GOES_ON = regex(
    r"^\W*(?:so|hence|thus|therefore|then|instead|however|but|because|as a result|consequently|"
    r"specifically|namely|for (?:instance|example)|e\.g\.|i\.e\.|in other words|likewise|"
    r"similarly|additionally|another|one \w+ is|"
    r"the (?:same|latter|former|other|first|second|third|reason))\b",
    re.IGNORECASE,
)
# "the fix", "this hook", "the old behaviour": which one was said before, unless it is said here.
_KNOWN = regex(
    r"(?<![\w-])(this|that|these|those|the)\s+(?:(?:old|new|previous|current|last|other|same|above|"
    r"latter|former|actual|real)\s+)*([a-z]+)\b(?!-)"
    r"(?!\s+(?:of|in|for|with|that|which|from|to|on|at|where|when|by|about)\b)",
    re.IGNORECASE,
)
# Names of code and numbers: what is measured, decided or changed.
_SPECIFIC = regex(r"`[^`]+`|\b\w+[._/]\w+|\b[a-z]+[A-Z]\w+|--\w+|\d")
# An item that begins so belongs to the one above it, which says what was wrong.
_ANSWERS_ABOVE = regex(
    r"^\W*(?:(?:the |actual |suggested |proposed )?(?:fix|solution|resolution|remedy|workaround|"
    r"root cause|cause|reason|result|outcome|after|now|answer|decision))\W*(?::|—|–|-\s)",
    re.IGNORECASE,
)
# What an agent is about to do.
_ANNOUNCES = regex(r"\bI['’](?:ll|m (?:now |also )?(?:going|\w+ing))\b|\b[Ll]et me\b")
_COUNTS = regex(r"\b(?:both|two|three|four|five|[2-5])\b", re.IGNORECASE)
_OPTION = regex(r"\b(option|approach|alternative|variant)\s+([A-H]|\d)\b(?!\s*[(:—–=])", re.I)

_Split = Sequence[tuple[Block, Sequence[str]]]


class Completed(NamedTuple):
    """The words of a statement with what they need, and which sentences of its text they are."""

    text: str
    span: range


def complete(statement: Statement, text: str, earlier: Iterable[str] = ()) -> Completed:
    """A chosen statement of a text with its neighbours that belong to it. `earlier` are the texts
    before this one, latest first, in which an option may be named."""
    split = split_blocks(text)
    number, first = _find(split, statement.position)
    block, parts = split[number]
    if first + statement.length > len(parts):  # a whole list
        return Completed(
            statement.text, range(statement.position, statement.position + statement.length)
        )
    start, end = _neighbours(parts, first, first + statement.length)
    said = collapse_spaces(" ".join(parts[start:end]))
    before = _above(split, number) if start == 0 else ""
    if before and len(before) + len(said) < LIMITS.max_chars:
        said = f"{before} {said}"
    elif block.is_item and end - start == len(parts):
        said = _whole_list(split, number, said)
    own = statement.position - first
    return Completed(_with_option(said, (text, *earlier)), range(own + start, own + end))


def refers_back(sentence: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    if POINTS_BACK.match(sentence) or _GOES_ON.match(sentence):
        return True
    return any(
        known[1].lower() != "the" or is_generic(known[2].lower())
        for known in _KNOWN.finditer(sentence)
    )


def _find(split: _Split, position: int) -> tuple[int, int]:
    """The number of the block of a sentence, and the number of the sentence in it."""
    for number, (_, parts) in enumerate(split):
        if position < len(parts):
            return number, position
        position -= len(parts)
    raise IndexError(position)


def _neighbours(parts: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Where a run of sentences of a block starts and ends with those that belong to it."""
    start, end = first, last
    while (
        0 < start > first - LIMITS.before
        and refers_back(parts[start])
        and _states(parts[start - 1])
        and _fits(parts[start - 1 : end])
    ):
        start -= 1
    while (
        end < min(len(parts), last + LIMITS.after)
        and _belongs(parts[first:end], parts[end])
        and _fits(parts[start : end + 1])
    ):
        end += 1
    # A sentence that points back itself explains nothing.
    while start < first and POINTS_BACK.match(parts[start]):
        start += 1
    # Nor does one that only says that tests pass.
    while end - start > 1 and is_check(parts[end - 1]):
        end -= 1
    while end - start > 1 and is_check(parts[start]):
        start += 1
    return start, end


def _belongs(said: Sequence[str], following: str) -> bool:
    """Whether the sentence after a statement says what it is about, or what follows from it."""
    if not _states(following):
        return False
    if POINTS_BACK.match(following) or _GOES_ON.match(following):
        return True
    is_vague = not any(_SPECIFIC.search(one) for one in said)
    return is_vague and _SPECIFIC.search(following) is not None


def _states(sentence: str) -> bool:
    """Whether a sentence says something that may be added to another one."""
    asks_or_leads = sentence.rstrip(" *_`\"')").endswith(("?", "？", ":"))
    if asks_or_leads or is_code(sentence) or is_check(sentence):
        return False
    return not is_chatter(sentence) and not _ANNOUNCES.search(sentence)


def _fits(parts: Sequence[str]) -> bool:
    return len(" ".join(parts)) <= LIMITS.max_chars


def _above(split: _Split, number: int) -> str:
    """What stands above a block and has to be said with it; "" for nothing."""
    block, parts = split[number]
    if number == 0:
        return ""
    above, its_parts = split[number - 1]
    if block.is_item:
        belongs = _is_sibling(above, block) and _ANSWERS_ABOVE.match(plain(block.text))
        return f"{above.text.rstrip(' .;')}." if belongs else ""
    is_near = not above.is_item and above.heading == block.heading
    belongs = is_near and _begins_with_known(parts[0])
    return its_parts[-1] if belongs and _states(its_parts[-1]) else ""


def _begins_with_known(sentence: str) -> bool:
    """Whether a sentence begins with something that was said before it: "This", "So", "The fix"."""
    if POINTS_BACK.match(sentence) or _GOES_ON.match(sentence):
        return True
    known = _KNOWN.match(sentence)
    return known is not None and (known[1].lower() != "the" or is_generic(known[2].lower()))


def _whole_list(split: _Split, number: int, said: str) -> str:
    """A short list for a short item of it, else the item."""
    own = split[number][0]
    first = last = number
    while first and _is_sibling(split[first - 1][0], own):
        first -= 1
    while last + 1 < len(split) and _is_sibling(split[last + 1][0], own):
        last += 1
    items = [without_symbols(block.text).rstrip(" .;,") for block, _ in split[first : last + 1]]
    whole = "; ".join(items)
    belongs_to_all = (
        len(content_words(said)) < LIMITS.short_item_words or _COUNTS.search(own.lead) is not None
    )
    fits = len(items) <= LIMITS.items and len(whole) <= LIMITS.max_chars
    # Items that lead to others are not all of the list.
    leads = any(item.endswith(":") for item in items)
    return whole if belongs_to_all and fits and not leads else said


def _is_sibling(block: Block, own: Block) -> bool:
    return block.is_item and (block.heading, block.lead) == (own.heading, own.lead)


def _with_option(said: str, texts: Iterable[str]) -> str:
    """A statement with what an option is that it names by its letter, as the latest text says."""
    named = _OPTION.search(said)
    if not named:
        return said
    letter = re.escape(named[2])
    starts = re.compile(
        rf"^\W*(?:(?:option|approach|alternative|variant)\s+)?{letter}\W*[).:—–-]+\W*(.{{8,}})",
        re.I,
    )
    for text in texts:
        for block, _ in split_blocks(text):
            for line in (plain(block.text), block.heading):
                if (found := starts.match(line)) and found[1] not in said:
                    option = cut(
                        re.split(r"(?<=\w)[.:;]\s|\s[—–]\s", found[1])[0], LIMITS.max_option_chars
                    )
                    return f"{said[: named.end()]} ({option.rstrip('.')}){said[named.end() :]}"
    return said


class CureLimits(NamedTuple):
    """When a change ended a cause, and how much is told of it. A wrong cure does harm, so both have
    a name of code in common."""

    # Words that both must have besides.
    shared_words: int = 2
    # Messages after that of the cause.
    messages: int = 40
    max_chars: int = 170


_CURE_LIMITS = CureLimits()

_TELLS_WORK = frozenset((Place.REPLY, Place.CLOSING, Place.COMMIT, Place.FIX))
_CAUSE = regex(
    r"\b(?:root cause|(?:bug|issue|problem|culprit)(?: \d+)?(?::| is\b| was\b))", re.IGNORECASE
)
_CHANGED = regex(
    r"^\W*(?:i(?:['’]ve| have)? )?(?:now )?(?:added|replaced|changed|removed|moved|switched|"
    r"renamed|extracted|rewrote|wrapped|set|raised|lowered|increased|reduced|split|converted|disabled|"
    r"enabled|fixed|guarded|made|scoped|reset|restored|skipped|stopped)\b",
    re.IGNORECASE,
)
_NO_CURE = regex(
    r"\b(?:tests?|coverage|would|could|should|might|prs?|pull request|artifacts?)\b", re.IGNORECASE
)


class Cure(NamedTuple):
    """What ended a cause, and the number of the utterance that says so."""

    text: str
    utterance: int


def find_cure(
    cause: Candidate, said: Iterable[Candidate], utterances: Sequence[Utterance]
) -> Cure | None:
    """What ended the cause that a statement names, of all that was `said` in its session; None for
    a statement that names none, or that says so itself."""
    number, statement = cause
    if utterances[number].is_person or not _names_cause(statement):
        return None
    words, names = content_words(statement.text), frozenset(code_names(statement.text))
    best, most = None, 0
    for other in said:
        if not _is_after(other, cause) or not _tells_change(other, utterances):
            continue
        same_names = names & frozenset(code_names(other.statement.text))
        shared = len(words & content_words(other.statement.text))
        if same_names and shared >= _CURE_LIMITS.shared_words and shared + len(same_names) > most:
            best, most = other, shared + len(same_names)
    if best is None:
        return None
    told = standalone(best.statement._replace(lead=""))
    return Cure(cut(told, _CURE_LIMITS.max_chars), best.utterance)


def _names_cause(statement: Statement) -> bool:
    """Whether a statement says without doubt why something fails, and not what ended that."""
    text = f"{statement.lead}: {statement.text}"
    if not explains(statement) or _CAUSE.search(plain(text)) is None:
        return False
    return not claims_done(statement) and not hypotheses.is_guess(text)


def _is_after(other: Candidate, cause: Candidate) -> bool:
    if other.utterance == cause.utterance:
        return other.statement.position >= cause.statement.position + cause.statement.length
    return 0 < other.utterance - cause.utterance <= _CURE_LIMITS.messages


def _tells_change(candidate: Candidate, utterances: Sequence[Utterance]) -> bool:
    utterance, text = utterances[candidate.utterance], plain(candidate.statement.text)
    if utterance.is_person or utterance.place not in _TELLS_WORK or not _CHANGED.match(text):
        return False
    return _NO_CURE.search(text) is None
