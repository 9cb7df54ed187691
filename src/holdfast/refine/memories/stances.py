"""Judgements that people state, by a small lexicon: what they prefer, what is slow, flaky, clear.

Only a person's own typed words count, never an agent's, nor what came from outside.
A question, a condition or a wish is no judgement, and one about "it" is about nothing we know. So
much is missed, and little is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from holdfast.language import STOPWORDS, cut, sentences, squeeze, stem
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Stance
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.model.uris import uri

PREFERENCE = "preference"
_TYPED = 1500
_LONGEST = 260
_TARGET_WORDS = 3

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
_SENSE = {
    word: (aspect, positive)
    for aspect, sides in _LEXICON.items()
    for side, positive in zip(sides, (True, False), strict=True)
    for word in side.split()
}
_ADJECTIVE = "|".join(sorted(map(re.escape, _SENSE), key=len, reverse=True))
_NAME = r"(?:`[^`\n]{2,60}`|(?<![\w./:'’-])[A-Za-z_][\w./:-]*(?:\([^)]{0,12}\))?)"
_NOUN = rf"(?P<target>{_NAME}(?: {_NAME}){{0,3}})"
_BORDER = (
    r"(?!(?:over|to|instead|rather|more|than|because|and|but|when|for|in|with|as|since|so|if|"
    r"of|that|which|here|there|now|how|being|you|it|all|my|your|when|what)\b)"
)
_WANTED = rf"(?P<target>{_BORDER}{_NAME}(?: {_BORDER}{_NAME}){{0,2}})"
_HOW = (
    r"(?:(?:really|very|too|so|quite|pretty|rather|super|extremely|way too|still|always|often|"
    r"just|actually|much|far|a bit|a little|kind of|getting|again|now|finally|also) )*"
)
_IS = re.compile(
    rf"{_NOUN} (?P<verb>is|are|was|were|feels?|seems?|has been|have been|remains?|"
    rf"isn['’]t|aren['’]t|wasn['’]t|weren['’]t)(?P<no> not| never| no longer)? {_HOW}"
    rf"(?P<word>{_ADJECTIVE})(?![\w-])(?! (?:to|at|for|enough) (?:me|us|you)\b)",
    re.IGNORECASE,
)
_PREFERS = re.compile(
    r"\b(?:i|we|the team|everyone|everybody) (?:really |strongly |still |also |much |would |"
    r"do |actually )*"
    r"(?P<verb>prefer|like|love|hate|dislike|favou?r|can['’]?t stand|don['’]?t like|do not like)s? "
    rf"(?:using |to use |having |working with )?(?:the |our |this |that |these )?{_WANTED}"
    rf"(?: (?:over|to|instead of|rather than|more than) (?:the |our |using )?"
    rf"(?P<other>{_BORDER}{_NAME}(?: {_BORDER}{_NAME})?))?",
    re.IGNORECASE,
)
_WORKS = re.compile(
    rf"{_NOUN} (?P<how>works? (?:really |very |so )?(?:well|great|nicely|perfectly|beautifully)|"
    r"(?:keeps?|kept) (?:on )?(?:failing|breaking|crashing|timing out|hanging)|"
    r"(?:is|are) (?:such )?a (?:real |huge |total )?(?:pain|mess|nightmare|joy|pleasure|hassle))",
    re.IGNORECASE,
)
_MAY = re.compile(rf"\b(?:{_ADJECTIVE})\b|\b(?:prefer|like|love|hate|dislike|favou?r|stand|works?|"
                  r"keeps?|kept|pain|mess|nightmare|joy|hassle)", re.IGNORECASE)  # fmt: skip
_HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|unless|should|could|would|might|may|must|make sure|ensure|until|when|once|"
    r"so that|to be|want|wants|need|needs|please|as if|looks like|sounds like|assume|suppose|"
    r"check|verify|not sure)\b",
    re.IGNORECASE,
)
_NEGATES = re.compile(r"n['’]t$|^(?:can['’]?t|don['’]?t|do not)|hate|dislike", re.IGNORECASE)
_GOOD = re.compile(r"^works?|joy|pleasure", re.IGNORECASE)
_PLAIN = "the our this that these those my your its new current whole entire all both more most"
_DROPPED = frozenset(_PLAIN.split())
# Too general to hold an opinion about, or standing for something we do not know.
_VAGUE = frozenset(
    "it this that they them these those there here what which who he she we you i one ones thing "
    "things everything something anything nothing all everyone nobody someone rest other another "
    "part way idea point result results output answer change changes code file files test tests "
    "line lines work stuff version option approach solution bit lot kind sort reason time day "
    "user users people name value number case place side first second last next previous above "
    "below look looks sound sounds message plan step steps response question fact problem issue "
    "and or but because since then than so also too not".split()
)
_SHOWN = frozenset("your you that those".split())
_TAIL = frozenset("that and but so because which when if is are was were it i we to".split())


def stances_in(turns: Iterable[Turn], by_person: bool) -> list[Stance]:
    """The judgements that people state in a session, each target and aspect once a turn."""
    found: dict[tuple[str, str, str], Stance] = {}
    for turn in turns if by_person else ():
        for stance in _of_turn(turn):
            found.setdefault((stance.uri, stance.target, stance.aspect), stance)
    return list(found.values())


def _of_turn(turn: Turn) -> Iterator[Stance]:
    if turn.role is not Role.USER or turn.trust is Trust.EXTERNAL or len(turn.text) > _TYPED:
        return
    if not _MAY.search(turn.text):
        return
    who = turn.speaker or turn.role.value
    place = (uri("turn", turn.id), turn.session, turn.seq, turn.time)
    for sentence in sentences(turn.text):
        for judgement in judgements(sentence):
            yield Stance(*place, *judgement, 1.0, who, turn.trust, cut(sentence, _LONGEST))


def stances_of(memory: Memory) -> list[Stance]:
    """What an opinion that a person asked to retain states; it weighs what they are sure of."""
    if memory.network is not Network.OPINION:
        return []
    weight = 2 * (memory.confidence if memory.confidence is not None else 0.5)
    place = (uri("memory", memory.id), "", 0, memory.when)
    told = [
        Stance(*place, *found, weight, memory.who, memory.trust, cut(sentence, _LONGEST))
        for sentence in sentences(memory.what)
        for found in judgements(sentence)
    ]
    return list({(s.target, s.aspect): s for s in reversed(told)}.values())


Judgement = tuple[str, str, str, str, bool]


def judgements(sentence: str) -> list[Judgement]:
    """What a sentence judges: target, aspect, name, word, and whether in its favour."""
    if len(sentence) > _LONGEST or sentence.rstrip().endswith("?") or not _MAY.search(sentence):
        return []
    found: list[Judgement] = []
    for match in _IS.finditer(sentence):
        if not _is_hypothetical(sentence, match) and not _is_passing(sentence, match):
            aspect, positive = _SENSE[match["word"].lower()]
            denied = bool(match["no"]) or bool(_NEGATES.search(match["verb"]))
            word = match["word"].lower()
            found += _judged(match["target"], aspect, f"not {word}" * denied or word,
                             positive is not denied)  # fmt: skip
    for match in _WORKS.finditer(sentence):
        if not _is_hypothetical(sentence, match):
            how = squeeze(match["how"].lower())
            found += _judged(match["target"], "worth" if _GOOD.search(how) else "reliability", how,
                             bool(_GOOD.search(how)))  # fmt: skip
    for match in _PREFERS.finditer(sentence):
        likes = not _NEGATES.search(match["verb"])
        found += _judged(_cut_tail(match["target"]), PREFERENCE, match["verb"].lower(), likes)
        if match["other"] and likes:
            found += _judged(_cut_tail(match["other"]), PREFERENCE, "dislike", False)
    return found


def _is_hypothetical(sentence: str, match: re.Match[str]) -> bool:
    """Whether a judgement is only supposed or wished for; what follows a comma is stated again."""
    before = sentence[: match.end()].rpartition(",")[2]
    return _HYPOTHETICAL.search(before) is not None


def _is_passing(sentence: str, match: re.Match[str]) -> bool:
    """Whether it is praise of somebody, of what was just shown, or of doing something: not of a
    thing that will be met again."""
    said = match["target"].lower().split()
    doing = sentence.split(" ", 1)[0].lower()
    return bool(_SHOWN & set(said)) or (doing.endswith("ing") and said != [doing])


def _cut_tail(text: str) -> str:
    kept: list[str] = []
    for word in text.split():
        if word.lower() in _TAIL:
            break
        kept.append(word)
    return " ".join(kept)


def _judged(target: str, aspect: str, word: str, positive: bool) -> list[Judgement]:
    name = name_of(target)
    key = target_key(name)
    return [(key, aspect, name, word, positive)] if key else []


def name_of(target: str) -> str:
    """A target as it is called: its last few words, without articles."""
    said = [w.strip("`") for w in target.split()]
    while said and said[0].lower() in _DROPPED | STOPWORDS:
        said.pop(0)
    for place in range(len(said) - 1, -1, -1):
        if said[place].lower() in STOPWORDS or said[place].lower() in _TAIL:
            said = said[place + 1 :]
            break
    return " ".join(said[-_TARGET_WORDS:]).strip(".,:;-")


def target_key(name: str) -> str:
    """What two names of one target have in common; "" for what is too general."""
    said = [w for w in re.split(r"[\s]+", name.lower()) if w]
    if not said or said[-1] in _VAGUE or all(w in _VAGUE or len(w) < 2 for w in said):
        return ""
    if _SENSE.keys() & {said[-1]}:
        return ""
    return " ".join(stem(w.removesuffix("'s")) for w in said)


def by_target(stances: Sequence[Stance]) -> dict[tuple[str, str], list[Stance]]:
    """Stances by what they are about, each group in the order of time."""
    groups: dict[tuple[str, str], list[Stance]] = {}
    for stance in sorted(stances, key=lambda s: (s.time, s.session, s.seq, s.uri)):
        groups.setdefault((stance.target, stance.aspect), []).append(stance)
    return groups
