"""Classifies sentences about the cause of a problem: a guess, a stated cause, a fix, a disproof.

Also whether a person's reply agrees or disagrees, and whether two sentences are about one cause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.language import STOPWORDS, plain, stem, words
from holdfast.model.records import Role, Turn
from holdfast.refine.core import signals
from holdfast.regex import regex

# A person agrees or disagrees at the start of a message, and names a problem early in it; the rest
# may be pasted.
_MAX_REPLY_CHARS = 300
_MAX_REQUEST_CHARS = 2000

_HEDGE = regex(
    r"\b(?:might|may|could) (?:well )?(?:be|have|come|cause|explain|stem|lie)|\b(?:probably|likely|"
    r"possibly|perhaps|maybe|presumably|apparently)\b|"
    r"\b(?:i|we) (?:suspect|think|believe|assume|guess|wonder)\b|"
    r"\bmy (?:guess|hunch|theory|hypothesis|suspicion)\b|\b(?:seems|appears|looks) (?:to be|like|"
    r"as if)|\bhypothesis\s*:|"
    r"\b(?:vermutlich|wahrscheinlich|möglicherweise|vielleicht|ich vermute)\b|"
    r"\b(?:probablement|peut-être|je soupçonne|sans doute)\b|"
    r"\b(?:probablemente|quizás?|tal vez|sospecho)\b|\b(?:probabilmente|forse|sospetto)\b|"
    r"\b(?:provavelmente|talvez|suspeito)\b|\b(?:waarschijnlijk|misschien|ik vermoed)\b|"
    r"\b(?:вероятно|возможно|наверное|подозреваю)\b|かもしれ|おそらく|多分|可能(?:是|因为)|也许|"
    r"아마",
    re.IGNORECASE,
)
# Guesses that call themselves one; these need no word for a cause.
_EXPLICIT_GUESS = regex(
    r"\bmy (?:guess|hunch|theory|hypothesis|suspicion) (?:is|would be)\b|\bhypothesis\s*:|"
    r"\b(?:i|we) suspect\b(?! (?:we|you|i) (?:should|need|want|could))",
    re.IGNORECASE,
)
_CAUSE_WORD = regex(
    r"\b(?:because|cause[sd]?|caused by|due to|culprit|root cause|reason|problem|issue|bug|race|"
    r"leak|deadlock|stale|missing|wrong|mismatch|conflict|regression|timing|cache|lock|config\w*|"
    r"version|twice|time[sd]? ?outs?|collid\w+|collisions?|exhausted|expire[sd]?|overflow\w*|"
    r"why|explains?|from|ursache|grund|fehler|liegt an|problème|vient d|causa|errore?|problema|"
    r"oorzaak|причина|из-за)\b|原因|のせい|由于|因为|때문",
    re.IGNORECASE,
)
_OF = r"(?: (?:of|for|behind) [^.;:!?]{2,80}?)?"
_BE = r"(?:is|was|turned out|lies|lay)\b(?! not\b|n['’]t\b)"
_CAUSE = regex(
    r"\b(?:(?:the )?(?:real |actual |true |underlying )?(?:root cause|cause|culprit)"
    rf"{_OF} {_BE}|(?:root cause|culprit|^cause)\s*[:—–]|"
    r"the (?:real |actual |underlying )?(?:problem|issue|bug|reason) "
    r"(?:is|was|turned out to be)\b(?! not\b|n['’]t\b)|"
    r"the (?:real |actual )?reason (?:for|behind|why|the|it|this|that) [^.;:!?]{2,80}? (?:is|was)\b"
    r"(?! not\b)|(?:was|is|were|are) (?:actually )?caused by|turn(?:s|ed) out (?:that|to be|the|"
    r"it)|(?:was|is) due to|this (?:fails|failed|happens|happened|broke) because|"
    r"(?:die|der|das) (?:eigentliche |wahre )?(?:ursache|grund|fehler|problem) "
    r"(?:[^.;:!?]{2,60}? )?(?:ist|war|lag a[nm]|liegt a[nm])\b(?! nicht)|"
    r"(?:la|le|el|il|a|o) (?:vraie |verdadera |vera |verdadeira )?"
    r"(?:cause|problème|causa|problema) (?:[^.;:!?]{2,60}? )?"
    r"(?:était|est|venait|era|es|fue|è|é|foi)(?!\w| pas)|"
    r"de oorzaak (?:[^.;:!?]{2,60}? )?(?:is|was)\b(?! niet)|"
    r"причина (?:была|в том|в)\b(?! не))|原因は(?!.*ない)|原因(?:是|在于)|원인은",
    re.IGNORECASE,
)
_FAILED_BECAUSE = regex(
    r"\b(?:fail(?:s|ed)|br(?:eaks|oke|oken)|crash(?:es|ed)|hangs|hung|happen(?:s|ed)) "
    r"(?:\w+ ){0,3}?because\b(?! of (?:this|that|it)\b)",
    re.IGNORECASE,
)
_FIX = regex(
    r"\b(?:the fix (?:is|was)|fixed (?:it |this |the \S+ )?by|solved (?:it |this )?by|"
    r"resolved (?:it |this )?by|what (?:fixed|solved) it|the solution (?:is|was)|"
    r"(?:is|are) now fixed|now (?:works|passes|pass)\b)|^fixed[.:!]",
    re.IGNORECASE,
)
# One of them is in every fix.
_FIX_HINTS = ("fix", "solv", "solution", "now ")
_DISPROOF = regex(
    r"\b(?:(?:that|it|this|which)(?: was|['’]s| is)(?: not|n['’]t) (?:it|the (?:cause|problem|"
    r"issue|reason|culprit|bug))\b|\b(?:was|is|were)(?: not|n['’]t) (?:the (?:root )?(?:cause|"
    r"culprit|problem|reason|"
    r"issue)|to blame|caused by|due to|related to)|turned out (?:not to be|to be wrong|to be "
    r"unrelated|to be a red herring)|(?:is|was) (?:a red herring|unrelated(?! to (?:my|our|this|"
    r"the|these))|innocent|not the cause)|"
    r"(?:ruled|rules|ruling) out\b|"
    r"(?:root cause|cause|culprit|problem|reason|bug)(?: (?:of|for|behind) [^.;:!?]{2,80}?)? "
    r"(?:is|was)(?: not|n['’]t)\b|"
    r"(?:my|our|the|that) (?:earlier |first |initial |previous )?(?:hypothesis|theory|guess|"
    r"assumption|suspicion|diagnosis|explanation) (?:was|is|turned out|proved) (?:wrong|false|"
    r"incorrect|mistaken|"
    r"not|disproved)|(?:i|we) (?:was|were) wrong (?:about|that|to)|not (?:the )?\S+(?: \S+){0,4} "
    r"after all|had nothing to do with|has nothing to do with|disproves?|disproved)|"
    r"\b(?:that|this|the|your) (?:rule|convention|memory|note|fact) (?:about .{2,60} |on .{2,60} )?"
    r"(?:is|was) (?:wrong|outdated|obsolete|not true|no longer (?:true|valid|right))|"
    r"\b(?:das war es nicht|war nicht die ursache|lag nicht an|lag es nicht|"
    r"(?:ursache|grund|fehler) (?:ist|war) nicht|la cause n['’](?:est|était) pas|"
    r"(?:oorzaak|probleem) (?:is|was) niet|причина (?:была )?не в)\b|"
    r"\bce n['’]était pas\b|\bno era (?:la causa|eso)\b|\bnon era (?:la causa|quello)\b|"
    r"\bnão era (?:isso|a causa)\b|\bdat was het niet\b|\bдело было не в\b|原因ではなかった|"
    r"不是原因|원인이 아니",
    re.IGNORECASE,
)
_OTHER_CAUSE = regex(
    r"\b(?:root cause|the (?:real|actual) \w+|culprit) (?:is|was)(?! not|n['’]t)\b", re.IGNORECASE
)
_AGREES = regex(
    r"^(?:yes|yep|yeah|exactly|correct|right|perfect|great|confirmed|indeed|nice|awesome|thanks|ja|"
    r"genau|oui|exact|sí|exacto|sì|esatto|sim|exato|klopt|да|точно|はい|そうです|对|是的|네|"
    r"맞)\b.{0,80}|\b(?:that (?:was|fixed|did|solved) it|(?:it|that|this) works(?: now)?|works "
    r"(?:now|fine|great)|"
    r"you (?:were|are) right|confirmed|fixed now|problem (?:is )?(?:solved|gone))\b",
    re.IGNORECASE,
)
_DISAGREES = regex(
    r"^(?:no|nope|wrong|incorrect|nein|non|falsch|nee|нет)\b[,. !]|"
    r"\b(?:still (?:fails?|failing|broken|doesn['’]t|not working|happens|the same)|same error|"
    r"didn['’]t (?:help|work|fix)|did not (?:help|work|fix)|does ?n['’]t (?:help|work)|not fixed|"
    r"that['’]s (?:not (?:it|right|true)|wrong)|that is (?:not (?:it|right|true)|wrong))\b",
    re.IGNORECASE,
)
_PROBLEM_WORD = regex(
    r"\b(?:fail\w*|error\w*|broken?|bug\w*|crash\w*|exception|traceback|hang\w*|flaky|leak\w*|slow|"
    r"wrong|why|investigat\w*|debug\w*|timeout\w*|stuck|regression|fehler|kaputt|erreur|panne|"
    r"falla\w*|rompe|errore|erro|fout|ошибк\w*|падает)\b|失敗|エラー|错误|失败|오류|실패",
    re.IGNORECASE,
)

# A cheap test: a text without any of these contains no guess, cause, fix or disproof.
_HINTS = (
    "cause", "culprit", "turn", "due to", "because", "problem", "issue", "reason", "bug", "fix",
    "solv", "not ", "n't", "n’t", "wrong", "ruled", "unrelated", "red herring", "might", "may ",
    "could", "probab", "likely", "possib", "perhaps", "suspect", "guess", "seem", "appear",
    "looks", "theory", "hypothesis", "now ", "maybe", "think", "believe", "assume", "wonder",
    "presumabl", "apparent", "hunch", "suspicion", "causa", "ursache", "grund", "fehler", "lag ",
    "liegt", "vermut", "wahrscheinlich", "vielleicht", "forse", "sospett", "sospech", "quiz",
    "tal vez", "talvez", "suspeit", "provavel", "oorzaak", "waarschijnlijk", "misschien",
    "vermoed", "sans doute", "solution",
)  # fmt: skip


def is_hedged(sentence: str) -> bool:
    """Whether a sentence is worded as a guess, whatever it is about."""
    return _HEDGE.search(plain(sentence)) is not None


def may_mention_cause(text: str) -> bool:
    """Whether a text may contain a guess, a cause or a disproof; most do not."""
    low = text.lower()
    return not text.isascii() or any(hint in low for hint in _HINTS)


def is_guess(sentence: str) -> bool:
    """Whether a sentence guesses at a cause."""
    sentence = plain(sentence)
    if not may_mention_cause(sentence):
        return False
    hedged = _HEDGE.search(sentence) and _CAUSE_WORD.search(sentence)
    return bool(hedged or _EXPLICIT_GUESS.search(sentence)) and not _DISPROOF.search(sentence)


def states_cause(sentence: str) -> bool:
    """Whether a sentence says what the cause is, without doubt."""
    sentence = plain(sentence)
    sure = _CAUSE.search(sentence) and not _HEDGE.search(sentence)
    return bool(sure) and not _only_disproves(sentence)


def explains_failure(sentence: str) -> bool:
    """Whether a sentence says why something failed, without doubt. What was not proven to work
    since may be a mere description."""
    sentence = plain(sentence)
    return bool(_FAILED_BECAUSE.search(sentence)) and not _HEDGE.search(sentence)


def states_fix(sentence: str) -> bool:
    """Whether a sentence says what ended a problem."""
    sentence = plain(sentence)
    low = sentence.lower()
    if not any(hint in low for hint in _FIX_HINTS):
        return False
    return bool(_FIX.search(sentence)) and not _HEDGE.search(sentence)


def disproves(sentence: str) -> bool:
    """Whether a sentence says that something was not the cause."""
    return _DISPROOF.search(plain(sentence)) is not None


def _only_disproves(sentence: str) -> bool:
    """Whether a disproof names no other cause: `It was not the cache` does not, `not the cache: the
    root cause was the lock` does."""
    return disproves(sentence) and not _OTHER_CAUSE.search(sentence)


def agrees(text: str) -> bool:
    """Whether a person's message says that a cause was right, or that it works now."""
    return bool(_AGREES.search(text[:_MAX_REPLY_CHARS])) and not disagrees(text)


def disagrees(text: str) -> bool:
    """Whether a person's message says that a cause was wrong, or that it still fails."""
    return bool(_DISAGREES.search(text[:_MAX_REPLY_CHARS]))


def is_debugging(turns: Sequence[Turn]) -> bool:
    """Whether turns look for a cause: a person mentions a problem, or a command fails."""
    for turn in turns:
        if turn.role is Role.USER and _PROBLEM_WORD.search(turn.text[:_MAX_REQUEST_CHARS]):
            return True
        if signals.is_failed_command(turn):
            return True
    return False


# Stems of words that only say that something is a guess, a cause or a failure.
_REASONING_STEMS = frozenset(
    stem(word)
    for word in "might could probably likely possibly perhaps suspect think believe guess cause "
    "caused causes causing culprit root problem issue reason turned turns out actual real seems "
    "looks like really hypothesis theory wrong ruled not was were because due fix fixed bug error "
    "failing fails fail failure".split()
)


def topic_stems(sentence: str) -> frozenset[str]:
    """The stems that say what a guess, a cause or a disproof is about."""
    stems = {stem(w) for w in words(plain(sentence)) if w not in STOPWORDS and len(w) > 1}
    return frozenset(stems - _REASONING_STEMS)


def same_cause(one: frozenset[str], other: frozenset[str], min_share: float) -> bool:
    """Whether two sets of topic stems are about the same cause: they share two stems (or all of a
    smaller set), and at least `min_share` of the smaller set."""
    fewest = min(len(one), len(other))
    return bool(fewest) and len(one & other) >= max(min(2, fewest), min_share * fewest)
