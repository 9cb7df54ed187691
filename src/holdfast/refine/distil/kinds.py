"""Decides of which kind a statement is.

Words that show a kind decide: a cause makes a lesson, what is left makes a todo. Where none does,
what an agent says is an outcome by the selector's guess, or else a fact. What people say is judged
in `person_kinds`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.language import plain
from holdfast.model.knowledge import Kind
from holdfast.refine.core.written_messages import COMMITTED, PULL_REQUEST
from holdfast.refine.distil.person_kinds import CHOICE, kind_of_person_statement
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import PLANNED, Place, Utterance
from holdfast.regex import regex
from holdfast.sources.foreign_cues import claims_foreign_done, names_foreign_cause

# How also people say that something is not for now: what else they ask for is done at once.
_FOR_LATER = (
    r"\b(?:todo|for later|(?:in|as) a (?:later|future|separate|follow-?up) \w+|follow-?ups?)\b"
)
_POSTPONES = regex(_FOR_LATER, re.IGNORECASE)
_OPEN = regex(
    r"\b(?:todo|still (?:needs?|to (?:do|be)|open|missing|fails?)|remaining (?:work|tasks?|steps?|"
    r"issues?|gaps?|items?|failures?|blockers?)|remains? (?:to|open|un\w+)|follow-?ups?|"
    r"not (?:yet|done|implemented|included)|left (?:to do|for later|open|as a)|next steps?|"
    r"deferred (?:for|to|until|from)|(?:is|are|still) pending|(?:still|also) needs? to be|"
    r"future (?:work|pr|release))\b|" + _FOR_LATER,
    re.IGNORECASE,
)
# "0 remaining", "nothing is left to do": there is no task.
_NONE_LEFT = regex(
    r"\b(?:no|0|zero|nothing|none)\b[^.;]{0,40}\b(?:remain|left|open|pending|outstanding|todo|"
    r"follow-?ups?|needs? to be)",
    re.IGNORECASE,
)
_OPEN_LEAD = regex(
    r"^\W*(?:next steps?|remain(?:s|ing)|to-?dos?|follow-?ups?|later|open|future|left|deferred|"
    r"not (?:yet )?(?:done|included))\b",
    re.IGNORECASE,
)
_REASON = (
    r"root cause|\bbecause\b|caused by|due to|turn(?:s|ed) out|\btrap\b|gotcha|"
    r"the (?:real |actual )?(?:bug|issue|problem|culprit|cause) (?:is|was)"
)
_EXPLAINS = regex(_REASON, re.IGNORECASE)
# One of them is in every reason. To look for them takes a tenth of the time.
_REASON_HINTS = ("cause", "due to", "turn", "trap", "gotcha", "bug", "issue", "problem", "culprit")
# What also makes a lesson: how something fails.
_CAUSE = regex(
    _REASON + r"|\bcrash|fail(?:s|ed|ing) (?:when|with|on)|does(?:n['’]t| not) work", re.IGNORECASE
)
_CAUSE_LEAD = regex(
    r"cause|problem|bug|why|ursache|problème|\bcausa\b|причин|проблем", re.IGNORECASE
)
_DONE = regex(
    r"^\W*(?:i(?:['’]ve| have)? )?(?:successfully )?(?:added|implemented|created|updated|removed|"
    r"replaced|renamed|merged|pushed|committed|opened|completed|fixed|moved|switched|refactored|"
    r"wrote|built|extended|migrated|cleaned|changed|converted|modified|simplified|enabled|disabled|"
    r"published|deleted|deprecated|dropped|extracted|documented|wired|upgraded|restored|improved|"
    r"aligned|all )|"
    r"^\W*i(?:['’]ve| have) (?:successfully |now |also )?\w+ed\b|"
    r"\b(?:is|are|has been|have been) (?:now )?(?:complete|done|merged|pushed|green|passing|ready|"
    r"live|published|committed|open|fixed|resolved)\b|\btests? pass|\bPR #?\d+|\bcommitted\b",
    re.IGNORECASE,
)
# What is so since a change: "The parser now keeps comments", "`read` no longer blocks", "The queue
# was removed". Of 44 such items of agents in 23 labelled projects 24 are outcomes and 6 are facts.
_CHANGED = regex(
    r"^[^,;—–]*(?:\b(?:is|are) now\b|\bnow (?:\w+ly |only |also )?[a-z]+s\b(?<!\bhas)|"
    r"\bno longer\b|"
    r"\b(?:was|were|has been|have been) (?:\w+ly )?(?:added|removed|replaced|renamed|moved|updated|"
    r"deleted|dropped|extended|merged|split|converted|migrated|re\w+ed)\b)|"
    r"^\W*(?:the|this) (?:fix|change|patch|refactoring|refactor) (?:now |also )?\w+s\b",
    re.IGNORECASE,
)
# What stands above the items of a list of changes: "Modified files", "CSS changes", "`parser.py`".
_CHANGED_LEAD = regex(
    r"\b(?:changes?|changed|modified|updates?) ?(?:\(|made|$)|"
    r"\b(?:new|modified|changed|updated) files?\b|"
    r"^\W*[\w./\\-]*\w\.[a-z]\w{0,4}\b",
    re.IGNORECASE,
)
_NUMBER = regex(r"^\W*\d{1,2}[.)]\s+")
# Why one thing is done and not another.
_REASONS = regex(
    r"\b(?:instead of|rather than|so that|in order to|to (?:avoid|prevent|keep|ensure)|not just|"
    r"decid\w+|decision|cho(?:se|sen|ice)|trade-?offs?|since|must|never|only)\b",
    re.IGNORECASE,
)
# How a commit message or a plan says what it does.
_DOES = regex(
    r"^\W*(?:add|implement|create|update|remove|replace|rename|merge|fix|move|switch|refactor|write|"
    r"rewrite|build|extend|migrate|clean|change|support|drop|introduce|extract|allow|show|make|bump|use|"
    r"simplify|restructure|document|process|handle|improve|enable|disable|report|refresh|rework|"
    r"convert|split|keep|stop|prevent|ensure|avoid|import)s?\b",
    re.IGNORECASE,
)
# A name before what is done: "Change B: Rewrite the parser".
_LABEL = regex(r"^\W*[\w .()/`-]{2,40}[:—–] ")


# Statements overlap.
_KEPT_TEXTS = 4096

# What is said there is always of one kind.
_BY_PLACE = {Place.ANSWER: Kind.DECISION, Place.TASK: Kind.TODO}


def kind_of(statement: Statement, utterance: Utterance, guess: Kind) -> Kind:
    """The kind of a statement; `guess` is the selector's."""
    text = plain(statement.text)
    if utterance.place in _BY_PLACE:
        return _BY_PLACE[utterance.place]
    if utterance.place is Place.COMMIT and statement.lead in (COMMITTED, PULL_REQUEST):
        return Kind.OUTCOME
    if is_left_open(statement) and (not utterance.is_person or _POSTPONES.search(text)):
        return Kind.TODO
    if utterance.place is Place.FIX:
        return Kind.LESSON
    if utterance.place is Place.PLAN and (_DOES.match(text) or statement.lead == PLANNED):
        return Kind.DECISION
    if utterance.place is Place.COMMIT and _DOES.match(text) and not _CAUSE.search(text):
        return Kind.OUTCOME
    if utterance.is_person:
        kind = kind_of_person_statement(statement)
        # Who refuses something decides, also without a verb: "Use pnpm", "Tabs".
        is_refusal = utterance.place is Place.REFUSAL and kind is Kind.FACT
        return Kind.DECISION if is_refusal else kind
    return _by_agent(statement, guess)


def is_left_open(statement: Statement) -> bool:
    """Whether a statement says that something is not done yet."""
    text = plain(statement.text)
    if _OPEN_LEAD.match(statement.lead) is None and not _says_open(text):
        return False
    return not _is_done(text) and _NONE_LEFT.search(text) is None


def lists_change(statement: Statement) -> bool:
    """Whether a statement is an item of a list of changes and gives no reason: "Added the field
    `x`", or what stands below the name of a file or below what was done to it. The code shows it.
    """
    text = plain(statement.text)
    if not statement.is_item or _REASONS.search(text) or _explains(text):
        return False
    if _is_done(text) or _DONE.match(_LABEL.sub("", text)):
        return True
    lead = _NUMBER.sub("", plain(statement.lead))
    return _DONE.match(lead) is not None or _CHANGED_LEAD.search(lead) is not None


def explains(statement: Statement) -> bool:
    """Whether a statement says why something is so, which no change makes untrue."""
    text = plain(statement.text)
    return _explains(text) or _CAUSE_LEAD.search(statement.lead) is not None


@lru_cache(_KEPT_TEXTS)
def _is_done(text: str) -> bool:
    return _DONE.search(text) is not None or claims_foreign_done(text)


@lru_cache(_KEPT_TEXTS)
def _says_open(text: str) -> bool:
    return _OPEN.search(text) is not None


@lru_cache(_KEPT_TEXTS)
def _explains(text: str) -> bool:
    low = text.lower()
    if any(hint in low for hint in _REASON_HINTS) and _EXPLAINS.search(text):
        return True
    return names_foreign_cause(text)


def _by_agent(statement: Statement, guess: Kind) -> Kind:
    text = plain(statement.text)
    if _CAUSE.search(text) or _explains(text) or _CAUSE_LEAD.search(statement.lead):
        return Kind.LESSON
    if _is_done(text) or _DONE.match(_LABEL.sub("", text)):
        return Kind.OUTCOME
    if CHOICE.search(text):
        return Kind.DECISION
    if _CHANGED.search(text):
        return Kind.OUTCOME
    # An agent lays down no rules, decides nothing unsaid and has no preferences.
    return guess if guess is Kind.OUTCOME else Kind.FACT
