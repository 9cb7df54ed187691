"""Whether a line tells a later session something that code, README and git log do not: a reason, a
limit, a trap, or the wish of a person. Results, the state of a run and praise are left out.

The patterns are English; in another language nothing is left out for want of them.
"""

from __future__ import annotations

import re

from holdfast.language import plain, sentences
from holdfast.refine.core.problem_states import is_printed, reports_fault
from holdfast.regex import regex

_REASON = regex(
    r"\b(?:because|so that|otherwise|due to|root cause|caus(?:e[ds]?|ing)|culprit|"
    r"mean(?:s|ing|t) |that(?:['’]s| is) why|reasons?|choice|decision|decided|chose|chosen|"
    r"trade-?offs?|turn(?:s|ed) out|avoid|"
    r"prevents?|instead of|rather than|deliberate\w*|intentional\w*|by design|on purpose|"
    r"since (?:it|they|we|there|no|all|only|the|an?|its|that|this)|came from|comes from|"
    r"(?:so|hence|therefore|thus),? (?:it|they|we|you|there|no|all|only|the|an?|any|each|every|"
    r"that|this|both)|(?:which|that) (?:made|makes|broke|breaks|let|lets|would|left|leaves))\b",
    re.IGNORECASE,
)
_LIMIT = regex(
    r"\b(?:must|cannot|can['’]t|never|always|requires?|needs?|only|unless|until|no longer|"
    r"(?:do|does|did|is|are|was|were|wo|has|have|would|could)(?: not|n['’]t)|not|"
    r"unsupported|limit(?:s|ed|ation)?|at (?:most|least)|max(?:imum)?|caveat|gotcha|trap|careful|"
    r"silently|ignor(?:es?|ed)|reject\w*|refus(?:es?|ed)|fail(?:s|ed)?|break(?:s|ing)?|broke|"
    r"even (?:if|though|when)|(?:by )?default|depends? on|deprecated|forbid\w*|forbidden|before|"
    r"without|except|unchanged|still|stale|missing|incompatible|wrong|no)\b",
    re.IGNORECASE,
)
# What was done, which the repository tells.
_DID = regex(
    r"^\W*(?:(?:[^:]{1,60}|`[^`]+`[^:]{0,40}): )?\W*(?:i(?:['’]ve| have)? |we(?:['’]ve| have)? |"
    r"also |now |then |successfully )*(?:add|implement|creat|updat|remov|replac|renam|merg|mov|"
    r"switch|refactor|extend|migrat|clean|chang|convert|modif|simplif|enabl|disabl|publish|delet|"
    r"dropp|extract|document|wir|upgrad|restor|improv|align|register|introduc|bump|expand|apply|"
    r"appli|generat|install|configur|commit|push|open|complet|fix|enhanc|adjust|verif|reus|mark|"
    r"draft|establish|pass|regenerat|rebas|reset|clos)(?:ed|d|ied)\b|"
    r"^\W*(?:wrote|built|made|set up|ran|kept|put) ",
    re.IGNORECASE,
)
# How far some work or a run is, and who is at it.
_OF_THE_MOMENT = regex(
    r"\b(?:(?:(?:sub)?agents?|workers?|reviewers?|it|i|pr|branch) (?:is|are|am|['’]s|['’]m) "
    r"(?:still |now |currently )?(?:waiting|adding|checking|running|working|migrating|"
    r"converging|testing|rebasing|ready|open|mergeable|writing|reading|looking)|"
    r"(?:the|one|other|readme|latest|current|second|first) workers?(?:['’]s)?|"
    r"i(?:['’]m| am) (?:at|in|now|going|still)\b|at the \w+ stage|you(?:['’]re| are) right|"
    r"i have enough|still (?:checking|running|waiting|working|occurring|appearing|failing)|"
    r"unfortunately|already triaged|committed to|(?:registry|status|health) check|at `?\d\d:\d\d|"
    r"verification query|immediate (?:recovery|next)|issues identified|key fixes|quick test|"
    r"(?:checks?|tests?|suites?|ci|lint\w*|builds?|verification) (?:all |now |still )*"
    r"(?:pass|passed|passes|passing|are green|is green|were successful|are successful|succeed\w*)|"
    r"(?:is|are|be|now) (?:now )?(?:clean|ready|up to date|in sync|synced|all set)\b|"
    r"ready (?:for|to) (?:review|merge|use|commit|push|deploy|production|be|ship|test)|"
    r"production[- ]ready|(?:pr|pull request)(?: #\d+)? (?:is|was|has been|created|opened)|"
    r"current (?:status|state|progress)|expected results?|what happened|bottom line|"
    r"(?:final|progress|status) report|state of the|where we are|i(?:['’]ll| will) |"
    r"i(?:['’]ve)? (?:confirmed|verified|checked|caught|found|asked|applied|reviewed)|"
    r"(?:is|are) not (?:yet )?merged|ready to dispatch|the latest (?:\w+ )?(?:run|build|deploy\w*)|"
    r"todo list|next steps?|waiting (?:for|on)|when ready|you can (?:now|continue))\b",
    re.IGNORECASE,
)
_PRAISES = regex(
    r"\b(?:successfully|comprehensive(?:ly)?|fully functional|robust|seamless(?:ly)?|"
    r"complete!|perfect(?:ly)?|excellent|great (?:news|progress)|best practices|"
    r"well[- ](?:structured|organi[sz]ed|tested)|as (?:expected|requested))\b",
    re.IGNORECASE,
)
# An offer or a question that closes a message.
_OFFERS = regex(
    r"^\W*(?:(?:do you )?want me to|would you like|shall i|should i|let me know|feel free|"
    r"if you(?:['’]d| would)? (?:want|like|prefer|need)|happy to|just (?:say|tell|ask|let)|"
    r"say the word|ready when|how can i)\b|"
    r"\b(?:let me know|want me to|would you like|shall i|should i)\b[^.]*[?!.…]?$|\?$",
    re.IGNORECASE,
)
# What a person says of a proposal, asks, or reports: it is about the moment.
_APPROVES = regex(
    r"\b(?:approved?|lgtm|looks? (?:good|great)|go ahead|ship it|(?:let['’]s|please|we can) "
    r"(?:implement|proceed|continue|commit|start|get started|do (?:it|this|that))|undo what|"
    r"switch back|for example|(?:my|this|your) (?:latest|last|next|specific) "
    r"(?:test\w*|issue|message|run)|any ideas?|(?:can|could) you|what(?:['’]s| is) the|q and a|"
    r"i(?:['’]m| am) (?:still |now |also )?(?:getting|seeing|correcting|going|trying|looking)|"
    r"i (?:still |also )?(?:see|got|get|tried) |(?:comon|come on) fix|"
    r"(?:don['’]?t|do not) (?:write|run|change|touch|edit) (?:any )?(?:code|anything|files?)|"
    r"(?:don['’]?t|do not|no need to) worry|never ?mind|"
    r"(?:but|and|just) (?:continue|go on|proceed)|"
    r"(?:go with|like|accept|agree with|take) (?:all (?:of )?)?your "
    r"(?:picks?|choices?|suggestions?|recommendations?|proposals?|plan)|"
    r"let['’]?s try (?:\w+ing )?(?:it|this|that)|"
    r"(?:won['’]?t|will not) commit (?:anything|it|this|that)|"
    r"you should (?:probably|maybe)|feel free to|"
    r"there(?:['’]?s| is| are)? (?:\w+ )?(?:new|more|review) comments?|"
    r"(?:don['’]?t|do not|no longer) need (?:(?:any|all|most) of )?"
    r"(?:it|this|that|these|those|them)(?=\W*$|\W+(?:any ?more|now|here|yet)\b|[,;:])|"
    r"we (?:still |also |just )*need to (?:come up with|figure out|think about|look (?:at|into)|"
    r"find|discuss|plan))\b|^\s*/[\w-]+(?::[\w-]+)* |"
    r"(?:n['’]?t|\bnot)\b.* yet\W*$|\.\.\.\s*$|…\s*$|"
    r"^\W*(?:(?:confirm|verify) that|(?:it )?(?:seems?|looks?) like)\b|"
    r"^\W*(?!.*,)(?:(?:also|and|so|but) )*(?:should|shall|could|can|would|does|did) "
    r"(?:we|i|you|it|this|that|the|they|[\w-]+\.\w+)\b|\bi thought (?:we|you|it|that)\b|"
    r"^\W*that way\b|\?\s*!?\s*$|"
    r"^\W*(?:awesome|great|cool|nice|perfect|thanks|yeah|yep|ok(?:ay)?|again)\b",
    re.IGNORECASE,
)
# What a reviewer or a linter found, which a person pasted, and what people demand.
_FINDING = regex(
    r"^\W*(?:(?-i:[a-z]+[A-Z]\w+|\w+_\w+)(?: now| also| still)? \w{3,}s\b|"
    r"(?:unused|redundant|unreachable|undefined|unhandled) \w+)",
    re.IGNORECASE,
)
_DEMANDS = regex(
    r"\b(?:should|must|shall|need(?:s|ed)?|want|please|let['’]?s|don['’]?t|do not|prefer|instead|"
    r"always|only|never(?! \w+ed\b)|i|we|you|our|my|your)\b",
    re.IGNORECASE,
)
# An order that is carried out once, or with an object that only its conversation knows.
_ORDERS_ONCE = regex(
    r"^\W*(?:(?:also|and|then|now|so|please|next|first)[, ]+)*(?:spawn|refer to|explore|read|look|"
    r"investigate|research|move|fix|create|analy[sz]e|check|review|compare|rebase|merge|push|"
    r"commit|open|run|find|show|explain|update|write|implement|test|debug|pull|rename|copy|delete|"
    r"list|summari[sz]e|draft|repeat|resolve|rewrite|refactor|reorgani[sz]e|restructure|align|"
    r"increase|decrease|reduce|improve|clean|continue|finish|double[- ]check|go through|"
    r"let['’]?s (?:start|begin)|can we|could we)\b|"
    r"\b(?:don['’]?t|do not) \w+ (?:it|this|that|them|these|those)\b|\blines? \d+",
    re.IGNORECASE,
)
# With an object that only its conversation knows ("make them look distinct").
_OF_THE_TALK = regex(
    r"^\W*(?:(?:also|and|then|now|so|please|just)[, ]+)*(?:make|put|keep|show|use|set|give|change|"
    r"align|place|turn|do|remove|drop|hide|call|add) (?:it|them|these|those|this|that)\b",
    re.IGNORECASE,
)
_LASTS = regex(
    r"\b(?:always|never(?! ?mind)|every|each|from now on|going forward|any ?more|in future|"
    r"no longer(?! (?:need(?:ed)?|required))|in the future|whenever|by default|standing orders?|"
    r"as a rule|at all times|we(?:['’]ve)? (?:decided|agreed)|all \w+(?: \w+)? (?:should|must))\b",
    re.IGNORECASE,
)
# What a program puts before the words of others.
_HANDED_OVER = regex(r"\W*the following is the \w+ agent history\b", re.IGNORECASE)
# Shorter remains mean nothing without the rest, nor do those that speak of what is left out.
_MIN_PART = 30
_REFERS_BACK = regex(
    r"\W*(?:it|its|this|that|these|those|they|them|their|he|she|so|then|but|and|both|there)\b",
    re.IGNORECASE,
)


def informative_part(text: str) -> str:
    """The sentences of what an agent said that are not of the moment, if they give a reason, a
    limit or a trap; else "". What was done needs a reason, since the repository shows the rest."""
    found = sentences(text)
    kept = [one for one in found if not is_of_the_moment(one)]
    part = text if len(kept) == len(found) else " ".join(kept)
    if part != text and (len(part) < _MIN_PART or _REFERS_BACK.match(part)):
        return ""
    return part if _tells_more_than_code(plain(part)) else ""


def is_of_the_moment(sentence: str) -> bool:
    """Whether a sentence of an agent offers or asks something, or says how far a run is, and gives
    no reason."""
    words = plain(sentence)
    return bool(
        _OFFERS.search(words) or (_OF_THE_MOMENT.search(words) and not _REASON.search(words))
    )


def _tells_more_than_code(words: str) -> bool:
    if _REASON.search(words) or not _is_english(words):
        return True
    return not _DID.search(words) and not _PRAISES.search(words) and bool(_LIMIT.search(words))


def is_offer(text: str) -> bool:
    """Whether a text offers or asks something that was for the person at hand."""
    return _OFFERS.search(plain(text)) is not None


def lasting_part(text: str) -> str:
    """The sentences of what a person said that may lay something down: not those that approve, ask,
    report a fault, give an example, order something once or were printed by a program. "" if none
    is left that says enough."""
    if _HANDED_OVER.match(text):
        return ""
    found = sentences(text)
    kept = [one for one in found if not _is_of_the_day(one)]
    if len(kept) == len(found):
        return text
    part = " ".join(kept)
    return "" if len(part) < _MIN_PART or _REFERS_BACK.match(part) else part


def _is_of_the_day(sentence: str) -> bool:
    if _APPROVES.search(sentence) or is_printed(sentence) or reports_fault(sentence):
        return True
    if _FINDING.match(sentence) and not _DEMANDS.search(sentence):
        return True
    is_order = _ORDERS_ONCE.search(sentence) or _OF_THE_TALK.search(sentence)
    return bool(is_order) and not _LASTS.search(sentence)


def refers_back(text: str) -> bool:
    """Whether a text begins with what was said before it ("These should always …")."""
    return _REFERS_BACK.match(text) is not None


def says_it_lasts(text: str) -> bool:
    """Whether a text says that it is to hold from now on ("never", "always")."""
    return _LASTS.search(text) is not None


_ENGLISH = regex(r"\b(?:the|is|are|was|to|of|and|in|it|now|for|with)\b", re.IGNORECASE)


def _is_english(text: str) -> bool:
    return _ENGLISH.search(text) is not None
