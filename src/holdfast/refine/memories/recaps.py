"""Finds the recaps of a session: what a conversation came to, as one side or the other summed it
up.

A decision grows: somebody complains, ways are proposed and rejected, exceptions turn up. Near the
end somebody says all of it at once, in whatever words. So a recap is found by what it is rather
than by a phrase: it repeats what several earlier messages of both sides brought up, above all
their numbers and names, it states rather than asks, little is said about the matter after it, and
what follows it is a yes or the work. What was said before a person objected is no recap of
anything. Exceptions that a person adds afterwards belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.language import (
    announced_calls,
    collapse_spaces,
    describes_failure,
    sentences,
    without_bold,
)
from holdfast.model.ids import content_id
from holdfast.model.knowledge import RECAP_KEY, Kind, Network
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.uris import uri
from holdfast.refine.core import signals
from holdfast.refine.core.passages import date_words, split_identifiers
from holdfast.refine.core.source_code import are_code
from holdfast.refine.facts.changed_recaps import recap_words
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.facts.typed_text import own_lines
from holdfast.regex import regex


class RecapLimits(NamedTuple):
    """Numbers of the rules, chosen on the tuning half of `bench/data/recaps`."""

    # Characters of a recap: a shorter one sums nothing up, a longer one is a document.
    min_chars: int = 90
    max_chars: int = 850
    # Characters of a message that is read, and of one that counts as typed by a person.
    max_message: int = 6000
    max_typed: int = 1500
    # Messages before it that may be what it sums up, and after it that tell whether it stood.
    before: int = 26
    after: int = 8
    # Tools that an agent may have called since a person spoke: after more it reports.
    max_calls: int = 2
    # Earlier messages that it must repeat something new of, and how many of a person, this one
    # included.
    min_sources: int = 2
    min_said_by_person: int = 2
    # Words of rules in an agent's recap that nothing announces, and their share of its words.
    min_rule_words: int = 3
    min_rule_share: float = 0.045
    min_rule_share_of_finding: float = 0.07
    # The score that it needs after work, and where people and agents only talked.
    min_score: float = 2.0
    min_score_in_talk: float = 1.6
    # Two recaps of a session that share so much of the shorter one's words are of one matter.
    same_matter: float = 0.3
    # Of two of one matter the later is kept if it scores at least this share of the other.
    later_share: float = 0.8
    # Characters of what is added after it, and of one addition at least.
    max_added: int = 420
    min_added: int = 45
    # Characters of the message that opened the matter, by which a recap is found, too.
    max_opening: int = 400


LIMITS = RecapLimits()

# How people announce that they sum up. One sign among others: most recaps have none of these.
_CUE = regex(
    r"\b(?:to (?:write|sum|put) (?:it|this|that|all)? ?(?:down|up|together)|write it (?:down|so)|"
    r"writing (?:it|this) down|summing up|to summari[sz]e|in summary|in short|let me (?:restate|"
    r"recap|repeat|sum|write|play)|restat\w+|recap\w*|for the record|here(?:'s| is) (?:what|how|"
    r"where)|so (?:it'?s|that'?s|final|the (?:rule|plan|deal|policy|behaviou?r))|then it(?:'s| "
    r"is)|then (?:i have it|this is|the (?:rule|plan|deal|policy))|final (?:answer|word|version|"
    r"state|rule|form)|the (?:rule|plan|policy|deal|decision|behaviou?r|spec|contract) (?:is|now|"
    r"then|of)|what i(?:'ll|'m| will| am) (?:build|do|implement|send|ship|writ)\w*|"
    r"as i understand|agreed(?: then)?:|settled|decision:|decided:|that's the whole|once more|"
    r"all together|end state|new state|i (?:have|note|noted) it (?:like|down)|"
    r"we(?:'re| are) (?:doing|going with)|going with)\b",
    re.IGNORECASE,
)
_OPENS_RESTATING = regex(
    r"^\W*(?:(?:ok(?:ay)?|right|good|fine|alright|yes|yep|great|perfect|sure|deal|done)\W+)*"
    r"(?:so|then|thus|hence|therefore|now)\b|^\W*(?:ok(?:ay)?|right|decide[d]?|final(?:ly)?|"
    r"agreed|summary|spec|rules?|plan|policy|conclusion|resolution|verdict)\b[^.?!]{0,40}:",
    re.IGNORECASE,
)
# Words of rules: what binds, what is left out, what stays.
_RULE_WORD = regex(
    r"\b(?:never|always|only|alone|unless|except|apart from|instead|still|stays?|remains?|keeps?|"
    r"kept|counts?|each|every|until|while|without|no longer|not|nothing|nobody|none|must|may|gets?|"
    r"goes|means|becomes?|otherwise|else|at most|at least|up to|after|before|if|when|where|beats|"
    r"wins|any|all|both|first|per|default|excluded|allowed|refused|ignored?|straight|regardless)\b",
    re.IGNORECASE,
)
# What proposes rather than settles.
_PROPOSES = regex(
    r"\b(?:could|would|might|maybe|perhaps|alternatively|i'?d|we'?d|how about|what about|"
    r"what if|suggest\w*|propos\w*|option|i think|i guess|or we)\b",
    re.IGNORECASE,
)
# How a person answers what is not to be.
_OBJECTS = regex(
    r"^\W*(?:no+\b(?! (?:worries|problem|objection))|nope|nah|wait|hm+|but\b|not (?:quite|really|"
    r"for|so|that)|wrong|don'?t|doesn'?t|that(?:'s| is) (?:not|wrong)|too\b|terrible|absolutely "
    r"not|half of|and then what|people|they|nobody|then )",
    re.IGNORECASE,
)
_ASSENTS = regex(
    r"^\W*(?:(?:yes|yep|yeah|yup|ok(?:ay)?|sure|right|exactly|good|great|perfect|fine|super|"
    r"agreed|correct|deal|sounds|looks|lgtm|ship|do it|go\b|build|nice|cool|thanks?|thank you|"
    r"very good|love|like it|clear|understood|noted|got it|will do|on it|it matches|implementing|"
    r"starting|started|added|building|that's it|that is it|makes sense|works for|approved|"
    r"flash|start|merge|push|go ahead|please do|wonderful|awesome|excellent)\b|👍|✅|\+1)",
    re.IGNORECASE,
)
# A report of work: what was done, not what shall be.
_REPORTS = regex(
    r"^\W*(?:done|all done|fixed|implemented|committed|pushed|merged|completed?|i(?:'ve| have) |"
    r"all \w+(?: \w+){0,3} (?:are|is) (?:complete|done)|all (?:tests|checks)|tests? pass|"
    r"verified|confirmed|checked|dispatched|here(?:'s| is) (?:what (?:i|was) (?:did|done|"
    r"changed|found)|a summary of (?:the )?changes)|summary of (?:the )?changes|everything (?:is|"
    r"works)|let me "
    r"(?:check|look|read|see|find|run|search|explore|start|examine|verify)|i'?ll (?:check|look|"
    r"read|start by|search|explore|run|examine)|now (?:let|i)|looking at)\b|[✓✔✅]",
    re.IGNORECASE,
)
# An agent's words about its own work or its findings, and offers: a document, a report, no rule.
_OF_THE_WORK = regex(
    r"\A\W*not (?:the|a|because|it)\b|\blook(?:ing)? at\b|"
    r"\bi(?:['’]m| am) (?:\w+ly |now |also |going to )?\w+ing\b|\bi(?:['’]ve| have) (?!it\b)|"
    r"\bi (?:also |now |then |just )?\w+ed\b|\blet me (?!restate|recap|repeat|sum|write|play)|"
    r"\b(?:has|have) been \w+ed\b|\bi(?:['’]ll| will) (?:now|also|then|help|create|make|"
    r"update|check|inspect|run|apply|handle|look|start|add|fix|commit|pause|leave|replace|wait|reply)\b|"
    r"(?:^|\n)\s*(?:#{1,6} |---|[|{])|[-*] \[[ x-]\] |[✅✓❌🚀🎯🏁🔄]|"
    r"(?:^|[.!:]\s+|- )(?:created|updated|added|fixed|removed|changed|pushed|rewrote|refactored|"
    r"confirmed|verified|moved)\b|"
    r"\b(?:if you(?:['’]d)? (?:want|like|prefer)|would you like|great question|"
    r"you['’]re absolutely)\b",
    re.IGNORECASE,
)
# How agents go about a task, what they say of an error, and code without a fence: nothing settled.
_OF_THE_TASK = regex(
    r"\A\W*(?:(?:perfect|great|ah|understood|right|i see|first|okay|ok|you['’]re right)\b"
    r"[^.!:\n]{0,80}[.!,:–-]+\s*){0,2}(?:now,? )?"
    r"(?:let['’]?s(?! (?:recap|repeat|restate|sum|summari\w+|write|go with|keep (?:it|this|that)|"
    r"settle|agree))|we (?:need|have) to|you can simply|"
    r"reload|to (?:achieve|integrate|ensure|improve|debug)|finally, let['’]?s)\b|"
    r"\A\W*(?:ah, )?(?:the|this) (?:[\w`.-]+ ){0,4}(?:error|issue|problem)s? (?:\w+ )?"
    r"(?:occurs?|means|is|was|might)\b|"
    r"\A\s*(?:```|@\w+\s+class\b|def \w|class \w+[:(]|function \w|const \w|<!--|<[a-z]+[ >]|//)",
    re.IGNORECASE,
)
# What an agent finds out or refers to while it works: no rule, unless it is announced as one.
_OF_A_FINDING = regex(
    r"\b(?:issues?|problems?|root cause|reason|failing|failures?|failed|errors?|prs?|"
    r"pull requests?|commits?|branch|worktree)\b|#\d{2,}|https?://|\b[0-9a-f]{7,40}\b|"
    r"\b(?:option \d|recommend\w*|my (?:vote|read))\b",
    re.IGNORECASE,
)
_ADDS = regex(
    r"\b(?:one more|oh|ah|also|and (?:before|another|for|if|the)|before i forget|except|"
    r"exception|wait|forgot|unless|never|always|only|apart from|no longer|must|not to|still|"
    r"in that case|for those|as well|too)\b",
    re.IGNORECASE,
)
# An order for now, or what was taken back at once: it adds nothing to a rule.
_FOR_NOW = regex(
    r"\b(?:(?:can|could|would|will) you|please (?:check|look|find|fix|run|show)|forget it|never ?"
    r"mind|scratch that|when can|how long|thanks?|by the way|btw)\b",
    re.IGNORECASE,
)
_ORDERS = regex(
    r"^\W*(?:please|pls|can|could|would|let'?s|check|look|find|fix|run|show|tell|go|start|ship|"
    r"push|merge|deploy|commit|test|when|how|what|why|where)\b",
    re.IGNORECASE,
)
_ITEM = regex(r"^\s*(?:[-*+•]|\d{1,2}[.)]|[a-z]\))\s+", re.MULTILINE)
_CLAUSE = regex(r"[.;:,\n](?:\s|$)|\s[-–—]\s|\s->\s|\s=\s")
_NUMBER = regex(r"\d")
_CODE_BLOCK = regex(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", re.DOTALL | re.MULTILINE)
_INSTRUCTS = regex(
    r"^\W*here(?:['’]s| is| are) (?:how (?:to|you)|(?:the|some|an?) (?:\w+ ){0,3}"
    r"(?:commands?|steps?|instructions?|curl|code|output))\b",
    re.IGNORECASE,
)
# A step whose line ends with a colon, with nothing below it.
_LEADS_TO_CODE = regex(
    r"^[ \t]*(?:\d{1,2}[.)]|[-*+•])\s[^\n]*:[ *]*$(?!\n[ \t]*[-*+•]|\n[ \t]+\S)", re.MULTILINE
)
# Lines of a diff that was pasted without a fence, or behind one that nothing closes.
_CHANGED_LINES = regex(r"^-[ \t].*\n\+[ \t]|^\+[ \t].*\n-[ \t]", re.MULTILINE)
_PARAGRAPHS = regex(r"\n\s*\n")


class Recap(NamedTuple):
    """A recap: its words, the turn that states it, what was added to it afterwards with the turn
    that states that last, the turn that opened the matter, and whether it is a decision."""

    text: str
    turn: Turn
    added: tuple[tuple[str, Turn], ...]
    opening: Turn
    score: float
    is_settled: bool

    @property
    def whole(self) -> str:
        """The recap with what was added after it."""
        if not self.added:
            return self.text
        return f"{self.text} Later in the same conversation: " + " ".join(
            text for text, _ in self.added
        )


# The messages around a recap are compared with each of its parts.
_words_of = lru_cache(maxsize=256)(recap_words)


class _Message(NamedTuple):
    """A message of a person or an agent. `calls` are the tools that the agent has called since a
    person spoke last, `calls_so_far` those of the session, `worked` whether it changed files since
    a person spoke."""

    turn: Turn
    text: str
    is_person: bool
    calls: int
    calls_so_far: int
    worked: bool

    @property
    def stems(self) -> frozenset[str]:
        """What the message is about: found only for messages around one that may be a recap."""
        return _words_of(self.text)


class _Candidate(NamedTuple):
    """A part of a message that may be a recap."""

    place: int
    text: str
    stems: frozenset[str]
    score: float


def find_recaps(turns: Sequence[Turn]) -> list[Recap]:
    """The recaps of a session, in the order they were said."""
    messages = list(_messages(turns))
    if sum(message.is_person for message in messages) < 2:
        return []
    found = [
        candidate
        for place, message in enumerate(messages)
        for candidate in _candidates(messages, place, message)
        if candidate.score >= _least(messages, place)
    ]
    return [_recap(messages, one) for one in sorted(_distinct(found), key=lambda c: c.place)]


def retain_recaps(exchanges: Sequence[Exchange], turns: Sequence[Turn]) -> list[MemoryOccurrence]:
    """The recaps of a session as memories, each found also by the words that opened the matter."""
    found: list[MemoryOccurrence] = []
    for recap in find_recaps(turns):
        own = (x for x in exchanges if x.first_seq <= recap.turn.seq <= x.last_seq)
        exchange = next(own, None)
        if exchange is None:
            continue
        stated = (recap.turn, *(turn for _, turn in recap.added))
        about = collapse_spaces(recap.opening.text[: LIMITS.max_opening])
        names = split_identifiers(recap.whole)
        found.append(
            MemoryOccurrence(
                f"{RECAP_KEY}{content_id(recap.turn.id, recap.text)}",
                recap.turn.seq,
                recap.turn.time,
                Network.WORLD,
                recap.whole,
                recap.turn.trust,
                who="user" if recap.turn.role is Role.USER else "",
                context=f"{about} {date_words(recap.turn.time)} decision {names}",
                evidence=(
                    uri("exchange", exchange.id),
                    *(uri("turn", turn.id) for turn in stated),
                ),
                kind=Kind.DECISION if recap.is_settled else Kind.FACT,
            )
        )
    return found


def _is_talk(messages: Sequence[_Message], place: int) -> bool:
    """Whether nothing but talk led to a message: no tool was called in between."""
    first = messages[max(0, place - LIMITS.before)]
    return first.calls_so_far == messages[place].calls_so_far


def _least(messages: Sequence[_Message], place: int) -> float:
    return LIMITS.min_score_in_talk if _is_talk(messages, place) else LIMITS.min_score


def _messages(turns: Sequence[Turn]) -> Iterator[_Message]:
    calls, so_far, worked = 0, 0, False
    has_calls = any(turn.tool is not None for turn in turns)
    for turn in turns:
        if turn.tool is not None:
            calls, so_far = calls + 1, so_far + 1
            worked = worked or turn.tool.name in signals.EDIT_TOOLS
            continue
        is_person = turn.role is Role.USER and not turn.speaker
        if turn.role not in (Role.USER, Role.ASSISTANT) or not turn.text.strip():
            continue
        if signals.is_interruption(turn):
            continue
        calls, worked = (0, False) if is_person else (calls, worked)
        if not has_calls and not is_person:
            announced = announced_calls(turn.text[: LIMITS.max_message])
            calls, so_far = calls + announced, so_far + announced
        text = _CODE_BLOCK.sub("\n", turn.text[: LIMITS.max_message])
        yield _Message(turn, text, is_person, calls, so_far, worked)


def _candidates(
    messages: Sequence[_Message], place: int, message: _Message
) -> Iterator[_Candidate]:
    if place < 2 or message.worked or message.calls > LIMITS.max_calls:
        return
    if message.is_person and len(message.text) > LIMITS.max_typed:
        return
    for part in _parts(message.text):
        text = _trimmed(part)
        fits = LIMITS.min_chars <= len(collapse_spaces(text)) <= LIMITS.max_chars
        if not message.is_person and _instructs(text):
            continue
        if fits and _may_sum_up(messages, place, text):
            stems = recap_words(text)
            score = _score(messages, place, text, stems)
            yield _Candidate(place, text, stems, score)


def _instructs(text: str) -> bool:
    """Whether an agent tells how to do something, in lines that lead to code which is left out."""
    return _INSTRUCTS.match(text) is not None or len(_LEADS_TO_CODE.findall(text)) > 1


def _reports_work(messages: Sequence[_Message], place: int, text: str) -> bool:
    """Whether an agent speaks of its work or its findings rather than of what was decided."""
    if _OF_THE_WORK.search(text) or _OF_THE_TASK.search(text):
        return True
    if _is_announced(text):
        return False
    rules = len(_RULE_WORD.findall(text))
    share = rules / len(text.split())
    if _OF_A_FINDING.search(text):
        return share < LIMITS.min_rule_share_of_finding
    has_rules = rules >= LIMITS.min_rule_words and share >= LIMITS.min_rule_share
    return not has_rules and not _is_agreed(messages, place)


def _is_announced(text: str) -> bool:
    return _CUE.search(text) is not None or _OPENS_RESTATING.match(text) is not None


def _parts(text: str) -> Iterator[str]:
    """The whole text if it is short; else its paragraphs, a list with the line above it."""
    if len(text) <= LIMITS.max_chars:
        yield text
        return
    open_part = ""
    for paragraph in _PARAGRAPHS.split(text):
        is_list = _ITEM.match(paragraph) is not None
        follows = open_part and (is_list or open_part.rstrip().endswith(":"))
        if follows and len(open_part) + len(paragraph) <= LIMITS.max_chars:
            open_part = f"{open_part}\n{paragraph}"
            continue
        if open_part:
            yield open_part
        open_part = paragraph
    if open_part:
        yield open_part


def _trimmed(text: str) -> str:
    """A text without the questions that it ends with."""
    text = text.strip()
    if _ITEM.search(text) is not None:
        return text
    said = sentences(text)
    while len(said) > 1 and said[-1].rstrip().endswith("?"):
        at = text.rfind(said.pop())
        if at <= 0:
            return text
        text = text[:at].rstrip()
    return text


def _may_sum_up(messages: Sequence[_Message], place: int, text: str) -> bool:
    """Whether a part of a message is announced as a recap or received as one, and reports no work.
    To compare it with what was said before takes longer, so that comes last."""
    if _CHANGED_LINES.search(text) or are_code(text.splitlines()):
        return False
    is_person = messages[place].is_person
    if not is_person and _reports_work(messages, place, text):
        return False
    if is_person and not _lays_something_down(text):
        return False
    if _REPORTS.search(text):
        return False
    return _is_announced(text) or _is_received(messages, place, text)


def _lays_something_down(text: str) -> bool:
    """Whether a person says more than what is to be done now: not only orders and news, nor what a
    program printed."""
    own = collapse_spaces(own_lines(text))
    if 2 * len(own) < len(collapse_spaces(text)) or own[:1] in ("{", "["):
        return False
    said = (one for one in sentences(own) if not _ORDERS.match(one))
    return _ITEM.search(text) is not None or any(_RULE_WORD.search(one) for one in said)


def _score(messages: Sequence[_Message], place: int, text: str, stems: frozenset[str]) -> float:
    """How much a part of a message that may sum up is like a recap; 0 where it cannot be one."""
    message = messages[place]
    before = messages[max(0, place - LIMITS.before) : place]
    of_person, of_agent = _sources(before, stems)
    sources = of_person + of_agent
    if sources < LIMITS.min_sources or not (of_person and of_agent):
        return 0.0
    if of_person + message.is_person < LIMITS.min_said_by_person:
        return 0.0
    said = sentences(text) or [text]
    asked = sum(one.rstrip().endswith("?") for one in said) / len(said)
    seen = frozenset[str]().union(*(one.stems for one in before))
    restated = stems & seen
    values = {one for one in restated if _NUMBER.search(one) or not one.isalpha()}
    clauses = len(_CLAUSE.findall(text)) + 2 * len(_ITEM.findall(text))
    rules = len(_RULE_WORD.findall(text))
    score = min(sources, 7) / 7
    score += 0.6 * min(len(values), 6) / 6
    score += 0.8 * len(restated) / max(len(stems), 1)
    score += 0.5 * min(clauses, 8) / 8
    score += 0.6 * min(rules, 8) / 8
    score += 0.5 * (_CUE.search(text) is not None)
    score += 0.35 * (_OPENS_RESTATING.match(text) is not None)
    score -= 0.7 * asked
    score -= 0.25 * min(len(_PROPOSES.findall(text)), 3)
    return score + _reception(messages, place, stems)


def _sources(before: Sequence[_Message], stems: frozenset[str]) -> tuple[int, int]:
    """How many earlier messages of people and of agents brought up something that is repeated."""
    known: set[str] = set()
    counts = {True: 0, False: 0}
    for message in before:
        shared = message.stems & stems
        new = shared - known
        known |= shared
        if len(new) > (1 if len(message.stems) > 12 else 0):
            counts[message.is_person] += 1
    return counts[True], counts[False]


def _is_received(messages: Sequence[_Message], place: int, text: str) -> bool:
    """Whether what is not announced as a recap is taken for one: a person says yes to an agent's,
    or says nothing more; a person's own is neither a request nor a report of something broken."""
    message = messages[place]
    if message.is_person:
        said = sentences(text)
        return not any(map(is_for_the_moment, said)) and not any(map(describes_failure, said))
    reply = next((m for m in messages[place + 1 :] if m.is_person), None)
    if reply is None or _ASSENTS.match(reply.text):
        return True
    return _is_talk(messages, place) and not _OBJECTS.match(reply.text)


def _reception(messages: Sequence[_Message], place: int, stems: frozenset[str]) -> float:
    """What comes after it: a yes or nothing speaks for it, an objection or more debate against."""
    message = messages[place]
    after = messages[place + 1 : place + 1 + LIMITS.after]
    value = 0.0
    reply = next((m for m in after if m.is_person is not message.is_person), None)
    if reply is None:
        value += 0.2
    elif _ASSENTS.match(reply.text):
        value += 0.5
    elif not message.is_person and _OBJECTS.match(reply.text):
        value -= 0.9
    debated = sum(len(m.stems & stems) >= 3 for m in after)
    return value - 0.12 * debated


def _distinct(found: Sequence[_Candidate]) -> list[_Candidate]:
    """The best candidate of each matter; of nearly equal ones the last."""
    kept: list[_Candidate] = []
    for one in sorted(found, key=lambda c: -c.score):
        same = next((k for k, other in enumerate(kept) if _same_matter(one, other)), None)
        if same is None:
            kept.append(one)
        elif one.place > kept[same].place and one.score >= LIMITS.later_share * kept[same].score:
            kept[same] = one
    return kept


def _same_matter(one: _Candidate, other: _Candidate) -> bool:
    fewer = min(len(one.stems), len(other.stems)) or 1
    shared = len(one.stems & other.stems) / fewer
    return shared >= LIMITS.same_matter or abs(one.place - other.place) <= 4


def _recap(messages: Sequence[_Message], one: _Candidate) -> Recap:
    opening = messages[max(0, one.place - LIMITS.before)]
    added = tuple(_additions(messages[one.place + 1 : one.place + 1 + LIMITS.after], one))
    turn = messages[one.place].turn
    text = without_bold(collapse_spaces(one.text))
    is_settled = _is_settled(messages, one.place, one.text)
    return Recap(text, turn, added, opening.turn, round(one.score, 3), is_settled)


def _is_settled(messages: Sequence[_Message], place: int, text: str) -> bool:
    """Whether a recap is a decision: a person said it or agreed to it, or it is announced as one.
    What an agent alone sums up may be a finding."""
    return messages[place].is_person or _is_announced(text) or _is_agreed(messages, place)


def _is_agreed(messages: Sequence[_Message], place: int) -> bool:
    """Whether what a person says next begins with a yes."""
    reply = next((m for m in messages[place + 1 :] if m.is_person), None)
    return reply is not None and _ASSENTS.match(reply.text) is not None


def _additions(after: Sequence[_Message], one: _Candidate) -> Iterator[tuple[str, Turn]]:
    """What a person lays down after the recap, or an agent says and a person agrees to: sentences
    that add something to it."""
    room = LIMITS.max_added
    for place, message in enumerate(after):
        if message.worked:
            return
        if len(message.text) > LIMITS.max_added:
            continue
        if not message.is_person and not _is_agreed(after, place):
            continue
        text = " ".join(_stated(sentences(message.text)))
        if not LIMITS.min_added <= len(text) <= room or not _ADDS.search(text):
            continue
        room -= len(text)
        yield text, message.turn


def _stated(said: Iterable[str]) -> Iterator[str]:
    for sentence in said:
        short = len(sentence) < 16 and _ASSENTS.match(sentence)
        asks = sentence.rstrip().endswith("?") or _ORDERS.match(sentence)
        if not short and not asks and not _FOR_NOW.search(sentence):
            yield sentence
