"""Decides of which kind a person's statement is, and whether it is an order for the moment.

People say in a few words what they want. A rule says how it must always be, a preference what
somebody likes, and both are rare: most of what people want is a decision about the matter at hand.
An order that says nothing else ("Compare both writers") is carried out and done with.
"""

from __future__ import annotations

import re

from holdfast.language import plain, sentences
from holdfast.model.knowledge import Kind
from holdfast.refine.core.word_classes import WordClass, word_class
from holdfast.refine.distil.statements import Statement
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.regex import regex
from holdfast.sources.foreign_cues import (
    binds_in_foreign_words,
    decides_in_foreign_words,
    likes_in_foreign_words,
    names_foreign_cause,
)

# A longer message is a specification or was composed: what must be there is no rule of a project.
MAX_SENTENCES = 12
OPENERS = (
    r"^\W*(?:(?:ok(?:ay)?|yes|no|so|now|and|also|but|please|pls|well|great|good|thanks|btw|"
    r"again|oh|wait|hey|remember)[\s,.:!—–-]+)*"
)
PROHIBITS = regex(
    r"(?:" + OPENERS + r"|[,;:(] (?:and |but |so |please )*)(?:do not|don['’]?t|never|avoid) "
    r"(?!worry|forget|hesitate|mind\b|know|think|see\b|understand|get\b|remember|stop|care)\w+",
    re.I,
)
# Before "and don't", somebody who tells what they do.
_JOINS = regex(r"\W*(?:and|but) ", re.I)
_TELLS = regex(r"\b(?:we|they|i)\b [^.;]*$", re.I)
CHOICE = regex(
    r"\b(?:decid\w*|decisions?|cho(?:se|sen)|(?:go|going|went|stick|sticking) with|agreed|opted|"
    r"settled on|by design|deliberate\w*|intentional\w*|prefer(?:red)? over)\b",
    re.I,
)
# A step of the work, which leaves nothing behind but its result.
_STEP_ORDER = regex(
    r"(?:(?:re-?)?(?:view|check|test|run|read|open|do|try)|analy[sz]e|answer|approve|ask|assess|"
    r"audit|address|benchmark|clone|close|comment|commit|compare|confirm|continue|debug|deploy|"
    r"describe|diagnose|double-check|draft|evaluate|examine|execute|explain|explore|figure|find|"
    r"finish|fix|give|go|help|identify|inspect|install|investigate|list|look|merge|monitor|"
    r"perform|plan|post|prepare|proceed|propose|publish|pull|push|read|rebase|release|reply|report|"
    r"research|resolve|respond|restart|resume|search|see|send|show me|spawn|start|suggest|"
    r"summari[sz]e|tell|think|trigger|validate|verify|wait|walk|watch|"
    r"(?:create|make|write|open|generate) (?:(?:an?|the|some|another|new|draft|separate|detailed|"
    r"implementation|unit|more) )*(?:prs?|pull requests?|branch|commits?|issues?|tickets?|plan|"
    r"summary|report|tests?))(?![\w:-])",
    re.I,
)
_VERBS = frozenset((WordClass.VERB, WordClass.ACTION))
# Verbs so frequent in other places that only an object makes an order of them.
_ORDERS_TO = regex(
    r"(?:use|make|have|hand|let)\s+(?:the|an?|this|that|these|those|it|them|all|each|every|both|over|"
    r"only|my|our|your|[`@]|[\w./-]+ (?:instead|for|to|in|as|with)\b)",
    re.I,
)
# What holds beyond the moment. "It never loads" tells what happens.
_LASTS = regex(
    r"\b(?:(?<!almost )(?<!hardly )(?:always|never)"
    r"(?! ?mind\b| \w+(?<!s)s\b| been\b| (?!embed)\w+(?<!e)ed\b)|"
    r"from (?:now|today|here|this point) on(?:wards?)?|going forward|in (?:the )?future|"
    r"(?:each|every) ?time|whenever|as a rule|by convention|standing (?:orders?|items?|rules?)|"
    r"under no circumstances|at all times|(?:our|house|project|team) (?:rule|convention|policy))\b",
    re.I,
)
# Of an order: for each of what the work consists of, also the next.
_EACH = regex(
    r"\b(?:each|every) (?:commit|pr|pull request|release|session|reply|change|file|test)\b", re.I
)
# What may come is no rule: "in case we want something else in the future".
_MAY_COME = regex(
    r"\b(?:in case|might|may|could|would|possibly|perhaps|if we)\b[^.;]*\bin (?:the )?future\b",
    re.I,
)
_MUST = regex(r"\bmust\b|\bnot allowed\b|\bforbidden\b", re.I)
# How a person settles what is done, once.
_SETTLES = regex(
    r"^\W*(?:(?:i think )?we (?:should|can|could|will)|let['’]?s)\b(?!.*\b(?:always|never)\b)", re.I
)
_LIKES = regex(
    r"\bi(?:['’]d| would)?(?: (?:really|just|also|still|always|much|greatly|actually|generally|"
    r"personally))* (?:prefer|rather|value|love|hate|dislike|(?:want|like|need) (?!you\b)|"
    r"(?:do not|don['’]?t|never)(?: \w+)? (?:want|like))|"
    r"\b(?:is|are) (?:always )?preferred\b|\bideally\b|\bfeel free\b|"
    r"[,;] (?:do not|don['’]?t) (?:want|like)\b",
    re.I,
)
# One way and not the other, or why.
_ONE_WAY = r"\b(?:instead|rather than|unless|so that|so we|no longer)\b"
_CHOOSES = regex(_ONE_WAY + r"|\b(?:because|since|given that)\b", re.I)
# "Do not commit unless asked" is a rule all the same.
_WHY = regex(r"\b(?:because|since|given that|so that|so we|rather than|no longer)\b", re.I)
# What "we" do is a decision if it has a reason. "The page is slow because every load asks the
# gauge" is none, nor is "we get it twice since Monday".
_DECIDES_WHY = regex(
    _ONE_WAY
    + r"|\bwe\b[^,;.]*\b(?:because|given that|since(?! (?:the|this|last|yesterday|\w+day)\b))\b",
    re.I,
)
_WANTS = regex(
    r"\b(?:should|shall|let['’]?s|we (?:will|can|could|need|want|also)|"
    r"i(?:['’]d| would)? (?:like|want|need|think(?! (?:you|it['’]?s|there)\b))|"
    r"go (?:with|for|ahead)|going to|make sure|ensure|"
    r"no need|(?:has|have|needs?) to)\b",
    re.I,
)
# A wish for the edit at hand: it names a spot, or what was just spoken of.
_THIS_EDIT = regex(
    r"\bi(?:['’]d| would)?(?: \w+)? (?:want|like|need) (?:you )?to (?:only |just |also )?"
    r"(?:change|edit|update|fix|move|rename|remove|add|replace|revert|undo|see|test|try|run|"
    r"look|check|know|understand)\b(?: (?:that|it|them)\b|[^.;]*\b(?:(?:that|it|them)\W*$|"
    r"(?:the part|this|these|those|here|lines? \d+|right (?:after|before|above|below))\b))",
    re.I,
)
# What an agent did wrong, or how the work stands: it is put right in the next minute.
_COMPLAINS = regex(
    OPENERS + r"(?:i (?:don['’]?t )?(?:think|believe|guess|see|said|asked|told|meant|already)"
    r"(?: (?:that|like))? you(?! (?:should(?! have\b)|must|can|need)\b)(?:['’]\w+)?\b|"
    r"you(?:['’]\w+)? (?:\w+ )?(?:made|missed|forgot|broke|did|didn['’]?t|got|deleted|removed|"
    r"added|changed|wrong|used|put|keep|seem|should have|shouldn['’]?t have)\b|"
    r"(?:all |the only thing )?(?:that|what)['’]?s left\b)",
    re.I,
)
_NAMES_CAUSE = regex(
    r"root cause|caused by|turn(?:s|ed) out|\btrap\b|gotcha|"
    r"the (?:real |actual )?(?:bug|issue|problem|culprit|cause) (?:is|was)",
    re.I,
)
# A name before what is to be done: "In `parser`: keep the comments".
_LABEL = regex(r"^\W*[\w .()/`-]{2,40}[:—–] ")
_ASKED = regex(
    OPENERS + r"(?:(?:then|just|first|next|can you|could you|i want you to|"
    r"we (?:should|can|need to))\s+)*",
    re.I,
)


def kind_of_person_statement(statement: Statement) -> Kind:
    """The kind that the words of a person show."""
    text = plain(statement.text)
    if _SETTLES.match(text):
        return Kind.DECISION
    if is_step_order(statement):
        return Kind.FACT
    if statement.total <= MAX_SENTENCES and _lays_down(text):
        return Kind.RULE
    if _likes(text) and not is_for_the_moment(text):
        return Kind.PREFERENCE
    if (_NAMES_CAUSE.search(text) or names_foreign_cause(text)) and not _WANTS.search(text):
        return Kind.LESSON
    return Kind.DECISION if _decides(text) or _gives_order(text) else Kind.FACT


def _likes(text: str) -> bool:
    """Whether somebody says what they like, and not why one thing is done and not another."""
    if likes_in_foreign_words(text):
        return True
    return _LIKES.search(text) is not None and not _CHOOSES.search(text)


def is_step_order(statement: Statement) -> bool:
    """Whether a person only tells the next step of the work, wants something of the edit at hand or
    complains, and says neither how something is to be nor why. "Remove the queue" shapes what is
    made, so it is none."""
    text = plain(statement.text)
    if _lays_down(text) or _CHOOSES.search(text):
        return False
    return all(map(is_passing, sentences(text) or [text]))


def is_passing(sentence: str) -> bool:
    """Whether a sentence of a person is done with once its step is."""
    if _THIS_EDIT.search(sentence) or _complains(sentence):
        return True
    says_more = _LIKES.search(sentence) or _decides(sentence)
    return not says_more and _tells_step(sentence)


def _complains(sentence: str) -> bool:
    """Whether a sentence only complains. "You ignore it: use pnpm" says what is to be."""
    if not _COMPLAINS.match(sentence):
        return False
    order = sentence.partition(": ")[2]
    return not _is_order(order) or _tells_step(order)


def _tells_step(sentence: str) -> bool:
    return _STEP_ORDER.match(_ASKED.sub("", sentence)) is not None


def prohibits(text: str) -> bool:
    """Whether a text forbids something. "We look once, but don't look again" tells what is so."""
    found = PROHIBITS.search(text)
    if found is None:
        return False
    return _JOINS.match(found[0]) is None or _TELLS.search(text[: found.start()]) is None


def _lays_down(text: str) -> bool:
    """Whether a text says how something must always be. What is forbidden for a reason is a
    decision."""
    if is_for_the_moment(text):
        return False
    if prohibits(text) and not _WHY.search(text) and not _LIKES.search(text):
        return True
    if binds_in_foreign_words(text):
        return True
    return any(map(_binds, sentences(text) or [text]))


def _binds(sentence: str) -> bool:
    if _LASTS.search(_MAY_COME.sub("", sentence)) or _MUST.search(sentence):
        return True
    return _EACH.search(sentence) is not None and _is_order(sentence)


def _decides(text: str) -> bool:
    found = (pattern.search(text) for pattern in (_WANTS, CHOICE, _DECIDES_WHY))
    if _SETTLES.match(text) or any(found) or prohibits(text) or decides_in_foreign_words(text):
        return True
    return _LIKES.search(text) is not None and _CHOOSES.search(text) is not None


def _gives_order(text: str) -> bool:
    return any(map(_is_order, sentences(text) or [text]))


def _is_order(sentence: str) -> bool:
    for words in (sentence, _LABEL.sub("", sentence, count=1)):
        asked = _ASKED.sub("", words)
        first = re.split(r"[^\w'’-]", asked, maxsplit=1)[0]
        if word_class(first.lower()) in _VERBS or _ORDERS_TO.match(asked):
            return True
    return False
