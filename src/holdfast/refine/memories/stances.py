"""Finds judgements that people state, by a small lexicon: what they prefer, what is slow or flaky.

Only a person's own typed words count, never an agent's, nor text from outside the project.
Questions, conditions and wishes are no judgements, and "it" names no target. So many judgements are
missed, and few are wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from holdfast.language import STOPWORDS, collapse_spaces, plain, sentences, stem, truncate
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Stance
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.facts.typed_text import MAX_TYPED_CHARS, without_review_remarks
from holdfast.regex import regex

PREFERENCE = "preference"
# Longer sentences are enumerations or pasted text; the patterns would match across clauses.
_MAX_SENTENCE_CHARS = 260
# The name of a target is its last few words: more would keep adjectives of the moment.
_MAX_TARGET_WORDS = 3
# An opinion that a person asked to retain weighs twice its confidence, so that one held with a
# confidence of 0.5 weighs as much as a judgement stated in a session.
_RETAINED_WEIGHT = 2
# The aspect of an opinion that was retained as a whole.
HELD = "held"
_DEFAULT_CONFIDENCE = 0.5

# For each aspect the words in favour and those against.
_LEXICON: dict[str, tuple[str, str]] = {
    "speed": ("fast quick snappy performant", "slow sluggish laggy slower"),
    "reliability": (
        "reliable stable solid robust dependable rock-solid",
        "flaky unreliable unstable brittle fragile buggy",
    ),
    "clarity": (
        "clear readable clean simple straightforward intuitive elegant understandable",
        "confusing unclear messy ugly convoluted complicated unreadable overcomplicated "
        "over-engineered overengineered verbose cluttered complex",
    ),
    "ease": (
        "easy convenient handy pleasant",
        "painful annoying tedious cumbersome frustrating clunky awkward",
    ),
    "worth": (
        "great excellent useful helpful awesome fantastic better nice good valuable",
        "bad terrible awful useless horrible worse pointless overkill",
    ),
}
_ASPECT_OF_WORD = {
    word: (aspect, positive)
    for aspect, sides in _LEXICON.items()
    for side, positive in zip(sides, (True, False), strict=True)
    for word in side.split()
}
_ADJECTIVE = "|".join(sorted(map(re.escape, _ASPECT_OF_WORD), key=len, reverse=True))
_NAME = r"(?:`[^`\n]{2,60}`|(?<![\w./:'’-])[A-Za-z_][\w./:-]*(?:\([^)]{0,12}\))?)"
_NOUN = rf"(?P<target>{_NAME}(?: {_NAME}){{0,3}})"
_NOT_A_BORDER_WORD = (
    r"(?!(?:over|to|instead|rather|more|than|because|and|but|when|for|in|with|as|since|so|if|"
    r"of|that|which|here|there|now|how|being|you|it|all|my|your|when|what)\b)"
)
_WANTED = rf"(?P<target>{_NOT_A_BORDER_WORD}{_NAME}(?: {_NOT_A_BORDER_WORD}{_NAME}){{0,2}})"
_ADVERBS = (
    r"(?:(?:really|very|too|so|quite|pretty|rather|super|extremely|way too|still|always|often|"
    r"just|actually|much|far|a bit|a little|kind of|getting|again|now|finally|also) )*"
)
_IS = regex(
    rf"{_NOUN} (?P<verb>is|are|was|were|feels?|seems?|has been|have been|remains?|"
    rf"isn['’]t|aren['’]t|wasn['’]t|weren['’]t)(?P<no> not| never| no longer)? {_ADVERBS}"
    rf"(?P<word>{_ADJECTIVE})(?![\w-])(?! (?:to|at|for|enough) (?:me|us|you)\b)",
    re.IGNORECASE,
)
_PREFERS = regex(
    r"\b(?:i|we|the team|everyone|everybody) (?:really |strongly |still |also |much |would |"
    r"do |actually )*"
    r"(?P<verb>prefer|like|love|hate|dislike|favou?r|can['’]?t stand|don['’]?t like|do not like)s? "
    rf"(?:using |to use |having |working with )?(?:the |our |this |that |these )?{_WANTED}"
    rf"(?: (?:over|to|instead of|rather than|more than) (?:the |our |using )?"
    rf"(?P<other>{_NOT_A_BORDER_WORD}{_NAME}(?: {_NOT_A_BORDER_WORD}{_NAME})?))?",
    re.IGNORECASE,
)
_WORKS = regex(
    rf"{_NOUN} (?P<how>works? (?:really |very |so )?(?:well|great|nicely|perfectly|beautifully)|"
    r"(?:keeps?|kept) (?:on )?(?:failing|breaking|crashing|timing out|hanging)|"
    r"(?:is|are) (?:such )?a (?:real |huge |total )?(?:pain|mess|nightmare|joy|pleasure|hassle))",
    re.IGNORECASE,
)
_HINT = regex(rf"\b(?:{_ADJECTIVE})\b|\b(?:prefer|like|love|hate|dislike|favou?r|stand|works?|"
                  r"keeps?|kept|pain|mess|nightmare|joy|hassle)", re.IGNORECASE)  # fmt: skip
_HYPOTHETICAL = regex(
    r"\b(?:if|whether|unless|should|could|would|might|may|must|make sure|ensure|until|when|once|"
    r"so that|to be|want|wants|need|needs|please|as if|looks like|sounds like|assume|suppose|"
    r"check|verify|not sure)\b",
    re.IGNORECASE,
)
_NEGATES = regex(r"n['’]t$|^(?:can['’]?t|don['’]?t|do not)|hate|dislike", re.IGNORECASE)
_IS_PRAISE = regex(r"^works?|joy|pleasure", re.IGNORECASE)
# Dropped from the start of a target's name.
_DETERMINERS = frozenset(
    "the our this that these those my your its new current whole entire all both more most".split()
)
# Too general to hold an opinion about, or referring to something unknown.
_VAGUE = frozenset(
    "it this that they them these those there here what which who he she we you i one ones thing "
    "things everything something anything nothing all everyone nobody someone rest other another "
    "part way idea point result results output answer change changes code file files test tests "
    "line lines work stuff version option approach solution bit lot kind sort reason time day "
    "user users people name value number case place side first second last next previous above "
    "below look looks sound sounds message plan step steps response question fact problem issue "
    "and or but because since then than so also too not".split()
)
# A target with one of these is something that was just shown, or somebody's work.
_POINTING = frozenset("your you that those".split())
# Words that end the name of a target.
_CLAUSE_START = frozenset(
    "that and but so because which when if is are was were it i we to".split()
)


def turn_stances(turns: Iterable[Turn]) -> list[Stance]:
    """The judgements that a person states in these turns, each target and aspect once a turn."""
    found: dict[tuple[str, str, str], Stance] = {}
    for turn in turns:
        is_own = turn.role is Role.USER and turn.trust is not Trust.EXTERNAL
        if not is_own or len(turn.text) > MAX_TYPED_CHARS or not _HINT.search(turn.text):
            continue
        place = (uri("turn", turn.id), turn.session, turn.seq, turn.time)
        speaker = (turn.speaker or turn.role.value, turn.trust)
        for stance in _stances(without_review_remarks(turn.text), place, 1.0, speaker):
            found.setdefault((stance.uri, stance.target, stance.aspect), stance)
    return list(found.values())


def _stances(
    text: str, place: tuple[str, str, int, str], weight: float, speaker: tuple[str, Trust]
) -> Iterator[Stance]:
    for sentence in sentences(text):
        quote = truncate(sentence, _MAX_SENTENCE_CHARS)
        for judgement in find_judgements(plain(sentence)):
            yield Stance(*place, *judgement, weight, *speaker, quote)


def memory_stances(memory: Memory) -> list[Stance]:
    """The judgements in an opinion that somebody asked to retain, weighted by its confidence; or
    the opinion as a whole, where it is worded in another way than the rules know."""
    if memory.network is not Network.OPINION:
        return []
    confidence = memory.confidence if memory.confidence is not None else _DEFAULT_CONFIDENCE
    weight = _RETAINED_WEIGHT * confidence
    place = (uri("memory", memory.id), "", 0, memory.when)
    speaker = (memory.who, memory.trust)
    stances = list(_stances(memory.what, place, weight, speaker))
    if not stances:
        text = truncate(memory.what, _MAX_SENTENCE_CHARS)
        return [Stance(*place, text.rstrip("."), HELD, text, "", True, weight, *speaker, text)]
    return list({(s.target, s.aspect): s for s in reversed(stances)}.values())


def stated_confidence(stance: Stance) -> float | None:
    """How sure the opinion is that a stance was retained with; None for one of a session."""
    return None if stance.session else stance.weight / _RETAINED_WEIGHT


# Target, aspect, name of the target, word used, and whether it is in favour.
Judgement = tuple[str, str, str, str, bool]


def find_judgements(sentence: str) -> list[Judgement]:
    """The judgements in a sentence."""
    is_question = sentence.rstrip().endswith("?")
    if len(sentence) > _MAX_SENTENCE_CHARS or is_question or not _HINT.search(sentence):
        return []
    found: list[Judgement] = []
    for match in _IS.finditer(sentence):
        if not _is_hypothetical(sentence, match) and not _is_passing(sentence, match):
            word = match["word"].lower()
            aspect, positive = _ASPECT_OF_WORD[word]
            denied = bool(match["no"]) or bool(_NEGATES.search(match["verb"]))
            found += _judgement(
                match["target"], aspect, f"not {word}" if denied else word, positive is not denied
            )
    for match in _WORKS.finditer(sentence):
        if not _is_hypothetical(sentence, match):
            how = collapse_spaces(match["how"].lower())
            is_praise = bool(_IS_PRAISE.search(how))
            found += _judgement(
                match["target"], "worth" if is_praise else "reliability", how, is_praise
            )
    for match in _PREFERS.finditer(sentence):
        likes = not _NEGATES.search(match["verb"])
        found += _judgement(_cut_tail(match["target"]), PREFERENCE, match["verb"].lower(), likes)
        if match["other"] and likes:
            found += _judgement(_cut_tail(match["other"]), PREFERENCE, "dislike", False)
    return found


def _is_hypothetical(sentence: str, match: re.Match[str]) -> bool:
    """Whether a judgement is only supposed or wished for, within its clause (up to a comma)."""
    before = sentence[: match.end()].rpartition(",")[2]
    return _HYPOTHETICAL.search(before) is not None


def _is_passing(sentence: str, match: re.Match[str]) -> bool:
    """Whether it judges somebody's work, what was just shown, or an activity, and so nothing that
    will come up again."""
    target = match["target"].lower().split()
    first_word = sentence.split(" ", 1)[0].lower()
    return bool(_POINTING & set(target)) or (first_word.endswith("ing") and target != [first_word])


def _cut_tail(text: str) -> str:
    return " ".join(takewhile(lambda word: word.lower() not in _CLAUSE_START, text.split()))


def _judgement(target: str, aspect: str, word: str, positive: bool) -> list[Judgement]:
    name = name_of(target)
    key = target_key(name)
    return [(key, aspect, name, word, positive)] if key else []


def name_of(target: str) -> str:
    """The name of a target: its last few words, without articles."""
    named = [w.strip("`") for w in target.split()]
    while named and named[0].lower() in _DETERMINERS | STOPWORDS:
        named.pop(0)
    for place in range(len(named) - 1, -1, -1):
        if named[place].lower() in STOPWORDS or named[place].lower() in _CLAUSE_START:
            named = named[place + 1 :]
            break
    return " ".join(named[-_MAX_TARGET_WORDS:]).strip(".,:;-")


def target_key(name: str) -> str:
    """The key that all spellings of a target's name share; "" if the name is too general."""
    named = name.lower().split()
    if not named or named[-1] in _VAGUE or all(w in _VAGUE or len(w) < 2 for w in named):
        return ""
    if named[-1] in _ASPECT_OF_WORD:
        return ""
    return " ".join(stem(w.removesuffix("'s")) for w in named)


def group_by_target(stances: Sequence[Stance]) -> dict[tuple[str, str], list[Stance]]:
    """Stances by target and aspect, each group in order of time."""
    groups: dict[tuple[str, str], list[Stance]] = {}
    for stance in sorted(stances, key=lambda s: (s.time, s.session, s.seq, s.uri)):
        groups.setdefault((stance.target, stance.aspect), []).append(stance)
    return groups
