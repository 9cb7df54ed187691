"""Which statements say something that may last: most of what is said in a session does not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from holdfast.language import is_chatter, sentences
from holdfast.refine.distil.features import Candidate, content_words
from holdfast.refine.distil.kinds import REASONS, is_left_open, is_order, names_cause_or_fix
from holdfast.refine.distil.standalone import POINTS_BACK
from holdfast.refine.distil.statements import Statement
from holdfast.refine.distil.utterances import PLANNED, Place, Utterance
from holdfast.refine.facts.hypotheses import is_guess
from holdfast.regex import regex
from holdfast.sources.foreign_cues import announces_in_foreign_words, guesses_in_foreign_words
from holdfast.sources.question_forms import is_foreign_question, is_foreign_request, wonders

# What starts so is data or markup, not a statement.
_DATA = ("{", "[", "<", "|", "$ ")
# Words, without stop words, that a statement needs to be understood.
_MIN_WORDS = 4
# Where something is: beside it a statement needs this many words.
_PATH = regex(
    r"[`*]*(?:\.{0,2}/|~/|[A-Za-z]:\\)?(?:[\w.@+-]+[/\\])+[\w.@+-]*[`*]*(?::\d+(?:[-:]\d+)*)?|"
    r"[`*]*\b[\w-]+\.[a-z]\w{0,4}\b[`*]*(?::\d+)?"
)
_MIN_WORDS_BESIDE_PATHS = 2
# Code says nothing without words beside it.
_CODE = regex(r"`[^`]*`")
# In every path.
_PATH_MARK = regex(r"[/\\]|\.[a-z]")
# What a command printed.
_PRINTED = regex(
    r"^\W*(?:fatal: |error(?:\[\w+\]| TS\d+): |npm (?:err!|warn) |"
    r"(?:ls|rg|find|cat|grep|cp|mv|rm|cd|sh|bash|zsh|git|ssh|curl|\S*/\S+): "
    r".*(?:no such file|not found|denied|not a ))",
    re.I,
)
# What a program printed that a person pasted: its log, its errors, the prompt of a shell.
_PASTED = regex(
    r"^\W*(?:(?:[\w@/.-]+:){1,3}[\w.-]+: \S|\[\w[\w:. /-]*\] |(?:=>|at) \S+ [\[(]|➜|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d\b|"
    r"(?:failed|unable|could not|cannot) (?:to )?[^.]{3,60}: |\w*(?:Error|Exception): |"
    r"(?:warning|warn|info|debug|fatal|err!?)[:\]] )|\bgit:\([\w/.-]+\)",
    re.I,
)
# What an agent says of itself while it works, and what it takes for likely then.
_NARRATES = regex(
    r"\b(?:I['’](?:ll|m)|"
    r"I (?:still |also |just |first |now |can )?(?:will|am|need|should|see|found)|"
    r"I (?:can|could) (?:directly |also |now |just |instead )?\w+|"
    r"let me|let['’]s|likely|probably|perhaps|might|may (?:be|have|rely|need))\b|"
    r"^(?:wait|before I|before (?:\w+ing))\b|^\W*(?:actually|hmm|oh|ah)\b[,!. —–-]+\w",
    re.I,
)
# What an agent is about to do, at any time.
_ANNOUNCES = regex(r"\bI['’](?:ll|m (?:now |also )?\w+ing)\b|\bagent will\b", re.I)
# What an agent read, looked at or left out: the result is said beside it.
_READS = regex(
    r"^\W*I(?:['’]ve| have)?(?: also| now| just| then)? (?:reviewed|read|checked|looked|examined|"
    r"inspected|searched|explored|tried|attempted|ran|compared|went|did(?: not|n['’]t) (?:run|test|"
    r"check|verify|touch|change))\b",
    re.I,
)
# A part of a finding that is named by its label: how it would show, what could be done about it.
_PART_OF_FINDING = regex(
    r"^\W*(?:action(?:able fix)?|(?:suggested|proposed|recommended|possible) (?:fix|change|action)|"
    r"suggestions?|recommendation|(?:failure |example |realistic )*(?:scenario|failure case)|"
    r"impact|severity|evidence|repro(?:duction)?|why (?:this|it) (?:matters|is an? \w+))\W*:",
    re.I,
)
# How matters stand at the moment, among agents or in a working tree.
_AT_WORK = regex(
    r"\bwork(?:ing )?trees? (?:is|are) (?:now |still |back )?(?:clean|dirty|on)\b|"
    r"\b(?:current|local) branch is\b|\b(?:ahead of|behind) (?:its|`?(?:origin|upstream))\b|"
    r"\bno (?:merge|rebase)\b.{0,20}\bin progress\b|\boutstanding work\b|"
    r"\b(?:worker|agent|session|job) is (?:still |now )?active\b|"
    r"\b(?:is|are) (?:already |still |now )?(?:handling|working on|online|standing by|waiting|"
    r"in[_ ]progress|running|idle)\b|\bunblocked\b|\bstill working\b",
    re.I,
)
# One of them is in every such text. To look for them takes a tenth of the time.
_AT_WORK_HINTS = (
    "tree", "branch is", "ahead of", "behind ", "in progress", "in_progress", "outstanding work",
    "active", "handling", "working on", "online", "standing by", "waiting", "running", "idle",
    "unblocked", "still working",
)  # fmt: skip
# What other agents of the session are doing or have handed in.
_AGENTS_AT_WORK = regex(
    r"^\W*(?:the|both|each|one|another|all|(?:all )?(?:two|three|four|five|six|\d+)) "
    r"(?:[\w`-]+ ){0,3}(?:workers?|sub-?agents?|teammates?|reviewers?|agents?|explorers?)\b "
    r"(?:\w+ ){0,2}?"
    r"(?:(?:is|are|was|were) (?:now |also |still )?(?:\w+ly )?\w+ing|(?:has|have) (?:\w+ )?\w+ed|"
    r"confirmed|found|identified|reported|completed|finished|returned|loaded|created|started|"
    r"flagged)\b",
    re.I,
)
# That the work is done, and what whoever asked for it can do or see then.
_HANDS_OVER = regex(
    r"^\W*(?:and |so )?(?:everything|all|it|this|that) (?:is|are) (?:now )?(?:all )?"
    r"(?:ready|set|good to go|in place|working|up and running)\b|"
    r"\bready (?:to|for) (?:be )?(?:commit|deploy|merge|push|test)|\b(?:you can now|now you can)\b|"
    r"\bshould now\b|^\W*(?:now,? when you|to use (?:it|this|that))\b|"
    r"\bonce you (?:deploy|push|merge|restart)|^\W*when you (?:push|deploy|merge)\b",
    re.I,
)
# What was not changed, where a pull request could be opened, and what is taken for the cause.
_NOT_DONE = regex(
    r"^[^.,;:]*\b(?:was|were) left (?:untouched|alone|unchanged|as is|unstaged)\W*$|"
    r"/pull/new/|\b(?:is|are|was|were) (?:most )?(?:likely|probably) (?:caus\w+|due|because|"
    r"the (?:cause|reason|culprit|issue|problem|root))\b",
    re.I,
)
# That a cause was found, without a word on what it is.
_NAMES_NO_CAUSE = regex(
    r"^\W*(?:based on [^,]*, |(?:great|perfect|excellent|good|now|ok(?:ay)?)[!,. ]+)*"
    r"I(?:['’]ve| have| can)? (?:now |also )?(?:identified|found|located|understand|see|know)\W+"
    r"(?:the |an? |two |three |several |both )?(?:\w+ )?"
    r"(?:root causes?|causes?|issues?|problems?|bugs?|culprits?)\b"
    r"(?!.*(?::|—|–| - |\b(?:is|was|were|because)\b))",
    re.I,
)
# That a document was written, without a word on what it says.
_DOCUMENTED = regex(
    r"^\W*(?:I(?:['’]ve| have)? )?(?:successfully |also |now )*(?:created|updated|added|wrote|"
    r"written|"
    r"enhanced|expanded|documented)\b[^.:;]*(?:\breadme|\.mdx?\b|\bdocumentation\b|\bdocs\b|"
    r"\bplan(?:ning document)?\b)[^:;]*$|"
    r"^\W*the (?:\w+ )?(?:readme|docs?|documentation|plan) now\b",
    re.I,
)
# That what somebody said is right, before what it was is told; and how far the agent has come.
_AGREES = regex(
    r"^\W*(?:the|this|your)(?: (?!of\b)[\w’']+){0,2} (?:report|feedback|diagnosis|assumption|"
    r"observation|suspicion|concern|question)(?:['’]s (?:\w+ ){1,3}| (?:about|on|"
    r"that) [^,:.]{1,40})?\s*"
    r"(?:is|are|was|were|has been|have been|checks|looks|seems|holds|matches)\b|"
    r"^\W*I(?:['’]ve| have) (?:now |also )?(?:got|narrowed|confirmed|isolated|located)\b",
    re.I,
)
_GOES_ON = regex(r"^\W*(?:waiting|continuing|proceeding|moving on)\b", re.I)
# The prompt of a program or an agent, which says what the reader is.
_ROLE = regex(
    r"^\W*(?:you are|your (?:job|task|role|name) is)\b|^(?:\[\[ ## \w+ ## \]\]|@\[system\])", re.I
)
# A question as an order: what comes of it says more.
_ASKS_TO_FIND_OUT = regex(
    r"^\W*(?:(?:ok(?:ay)?|now|then|next|so|and|also|please|pls|hi|hey|let['’]?s|can you|could you|"
    r"i (?:want|need) you to)[,.:! ]+)*(?:find out|figure out|look into|investigate|check|see|"
    r"search|verify|confirm|test|tell me|explain(?: to me)?|show me|analy[sz]e|determine)\s+"
    r"(?:why|what|how|whether|if|where|who|when|which)\b",
    re.I,
)
# An order for an analysis, whatever else is said of how to do it.
_ASKS_FOR_ANALYSIS = regex(
    r"^(?:\W|https?://\S+|(?:ok(?:ay)?|now|then|next|please|can you|could you)\b)*"
    r"(?:investigate|analy[sz]e|research|explore|look into|"
    r"(?:do|make|run) (?:an?|the|another) (?:\w+ )?(?:analysis|investigation|research))\b",
    re.I,
)
# A question, without its mark, after what it is about: "It worked before, is it because …".
_ASKS_AFTER = regex(
    r"[,;:.—–-]\s*(?:(?:and|or|so|but) )?(?:(?:is|are|was|were|does|did|has|can|could|should|would|"
    r"will) (?:it|this|that|these|those|there|we|i|they)|(?:do|did|have|are) (?:we|you|they))\b",
    re.I,
)
# A question that begins with its verb, without its mark. "Can we remove the queue" asks for more.
_ASKS_BY_ORDER = regex(
    r"^\W*(?:(?:ok(?:ay)?|so|and|but|also|now|hi|hey|well)[,.! ]+)*"
    r"(?:(?:is|are|was|were|does|did|has) (?:it|this|that|these|those|there\w*|the|we|i|they|he|"
    r"she|my|our|any|anyone|somebody)|(?:do|have|did) (?:we|you|they|i)|are you)\b",
    re.I,
)
# A request for help with the task at hand.
_ASKS_FOR_HELP = regex(
    r"\b(?:i(?:['’]d| would)? (?:like|need|want) (?:your|some) help\b|"
    r"(?:can|could|would|will) you (?:please )?help\b|please help\b)|^\W*help (?:me|us)\b",
    re.I,
)
# Arguments for a plan, under their heading.
_PRAISE_LEAD = regex(r"^\W*(?:benefits?|advantages|pros|why this works)\b", re.I)
# Code and its description that was pasted into a prompt.
_DIFF = regex(r"^(?:diff --git|@@ |[+]{3} |-{3} )|^(?:args|returns|raises|params?):", re.I)
# A verdict that names nothing: "the tests cover it", "looks consistent with existing patterns".
_VERDICT = regex(
    r"\b(?:no (?:\w+[- ]){0,3}(?:bugs?|issues?|problems?|regressions?|concerns)\b.{0,20}\b(?:found|"
    r"identified|stood out)|did(?:n['’]t| not) find any|(?:is|are|looks?) (?:internally )?"
    r"(?:consistent|coherent|correct|solid|good|fine)\b|(?:correctly|properly) handles)",
    re.I,
)
# How to try out what is to be done, below its heading or as a step of a plan.
_TRIAL_LEAD = regex(
    r"^\W*(?:\d+[.)]\s*)?(?:validation|test(?:s|ing)?(?: plan| steps)?|quality gates|"
    r"how to (?:test|verify)|manual (?:test|check)\w*|(?:post-)?checks?)\W*$|"
    r"^\W*(?:\d+[.)]\s*)?(?:\w+ ){0,3}verif(?:y|ying|ied|ication)\b",
    re.I,
)
# Items below the name of a test, or of a file of tests, are its cases.
_TEST_CASES = regex(
    r"\b(?:\w*_?test(?:_\w+)?|\w+[._-](?:test|spec)s?)\.[a-z]{2,4}\b|^\W*Test[A-Z]\w+|"
    r"\btest cases?\b|\b(?:unit |new |added )tests?(?: added| cover\w*)?\W*$",
    re.I,
)
_TRIES = regex(
    r"^\W*(?:optionally,? |then |finally,? |also )?(?:verify|check|confirm|re-?run|run|test|open|"
    r"start|click|navigate|go to)\b",
    re.I,
)
_QUOTED = regex(r"[\"“][^\"”]*[\"”]|`[^`]*`")
# The heading of a step: "2. Rewrite the parser", "Phase B: clean up".
_NUMBERED = regex(
    r"^\W*(?:(?:step|phase|part|task|change|file)\s+)?#?(?:\d{1,2}[a-z]?|[A-H])\s*[.):—–-]\s*\S",
    re.I,
)
# Places in a file, without a word on what is there.
_LINES = regex(r"^\W*lines? \d+", re.I)
# What only names a commit: the words around its hash.
_HASH = regex(r"\b(?=[a-f]*\d)[0-9a-f]{7,40}\b|\]\([^)\s]*\)", re.I)
_ABOUT_COMMITS = content_words(
    "fixed done committed commit created amended pushed push branch main master origin remote "
    "successfully pre-commit hooks hook tests lint typecheck clean pass passed checks green ran "
    "everything"
)
# What a table or a list ticks off, or counts of a change.
_TICKED = regex(r"(?:[✓✔✅☑]|\bPASS(?:ED)?\b)\W*$|^\W*\d+ files? changed\b")
# What was checked, and no more: the next change may break it.
_CHECKED = regex(
    r"^\W*(?:all |the |and )*(?:\d[\d,]* )?(?:[\w`/.'’-]+ ){0,3}(?:tests?|checks?|specs?|suites?|"
    r"builds?|lint(?:ing)?|typecheck)\b[^.;:,]{0,50}\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|"
    r"(?:is|are) (?:now )?green)\b[^.;:,]{0,20}"
    r"(?:,[^.;:]{0,60}\b(?:pass(?:es|ed)?|succeeds?|clean|green))?\W*$",
    re.I,
)
_BEGINS_WITH_NOTHING = (
    _LINES,
    _READS,
    _PART_OF_FINDING,
    _GOES_ON,
    _AGENTS_AT_WORK,
    _NAMES_NO_CAUSE,
    _AGREES,
)
_SAYS_NOTHING = (_ANNOUNCES, _VERDICT, _TICKED, _HANDS_OVER, _NOT_DONE)
# Each sentence is part of several statements.
_KEPT_SENTENCES = 4096
# Written in the middle of a session: what they call open may be done at its end.
_SNAPSHOTS = frozenset((Place.SUMMARY, Place.FIX))


def may_last(candidate: Candidate, utterances: Sequence[Utterance]) -> bool:
    """Whether a statement says something: a question does not, nor does an order to find something
    out, a guess at a cause, an announcement, a verdict, a line that only leads to the next, one
    that begins with what the sentence before it names, a part of a finding, a step to try a change
    out, the name of a commit, or a few words."""
    utterance, statement = utterances[candidate.utterance], candidate.statement
    if utterance.place is Place.ANSWER:
        # The question without its answer says nothing, nor does the answer without it.
        return statement.is_whole
    if not _is_full(statement.text) or _is_step(statement, utterance.place):
        return False
    if utterance.is_person:
        text = statement.text
        is_pasted = _DIFF.search(text) or _PASTED.search(text)
        return not _ROLE.match(utterance.text) and not asks(text) and not is_pasted
    return _tells(statement, utterance.place)


def _is_full(text: str) -> bool:
    """Whether a text is a statement of enough words, and not what a command printed."""
    if text.startswith(_DATA) or text.rstrip(" *_`\"')").endswith(("?", "？", ":")):
        return False
    if len(content_words(text)) < _MIN_WORDS or _PRINTED.match(text):
        return False
    has_path = _PATH_MARK.search(text) is not None
    if has_path and len(content_words(_PATH.sub(" ", text))) < _MIN_WORDS_BESIDE_PATHS:
        return False
    if "`" in text and not content_words(_CODE.sub(" ", text)):
        return False
    return not all(is_check(s) or _only_names_commit(s) for s in sentences(text) or [text])


def is_check(sentence: str) -> bool:
    """Whether a sentence only says that tests, builds or checks pass."""
    return _CHECKED.match(sentence) is not None


def _is_step(statement: Statement, place: Place) -> bool:
    """Whether a statement is a task of the moment, a step to try something out, or an argument."""
    if place in _SNAPSHOTS and is_left_open(statement):
        return True
    if _PRAISE_LEAD.match(statement.lead) or _TRIAL_LEAD.match(statement.lead):
        return True
    if statement.is_item and _TEST_CASES.search(statement.lead):
        return True
    if place is not Place.PLAN or statement.lead == PLANNED:
        return False
    return _TRIES.match(statement.text) is not None or _is_planned_step(statement)


def _is_planned_step(statement: Statement) -> bool:
    """Whether a statement of a plan is an item or a part of a step, and not why this is done and
    nothing else: what came of it is told where it was done."""
    text = _QUOTED.sub("", statement.text)
    if names_cause_or_fix(text) or REASONS.search(text):
        return False
    if statement.is_item or _NUMBERED.match(statement.lead):
        return True
    return is_order(statement._replace(text=statement.lead))


def _tells(statement: Statement, place: Place) -> bool:
    """Whether what an agent said is more than talk about its work."""
    text = statement.text
    if statement.before and POINTS_BACK.match(text):
        return False
    if place is Place.REPLY and _NARRATES.search(text):
        return False
    if any(pattern.match(text) for pattern in _BEGINS_WITH_NOTHING):
        return False
    if announces_in_foreign_words(text) and not names_cause_or_fix(text):
        return False
    if guesses_in_foreign_words(text):
        return False
    if _LINES.match(statement.lead) or (_DOCUMENTED.match(text) and not REASONS.search(text)):
        return False
    if any(pattern.search(text) for pattern in _SAYS_NOTHING) or _is_at_work(text):
        return False
    if _HANDS_OVER.search(statement.lead):
        return False
    return not any(map(_is_guess_or_chatter, sentences(text)))


def _is_at_work(text: str) -> bool:
    low = text.lower()
    return any(hint in low for hint in _AT_WORK_HINTS) and _AT_WORK.search(text) is not None


@lru_cache(_KEPT_SENTENCES)
def _is_guess_or_chatter(sentence: str) -> bool:
    return is_chatter(sentence) or is_guess(sentence)


def _only_names_commit(text: str) -> bool:
    return _HASH.search(text) is not None and not (
        content_words(_HASH.sub(" ", text)) - _ABOUT_COMMITS
    )


def asks(text: str) -> bool:
    """Whether a person asks something or for help, or only orders to find something out."""
    if "?" in text or _ASKS_FOR_ANALYSIS.match(text):
        return True
    if _ASKS_AFTER.search(text) or _ASKS_FOR_HELP.search(text):
        return True
    said = sentences(text)
    return all(map(_asks, said))


def _asks(sentence: str) -> bool:
    is_asked = _ASKS_TO_FIND_OUT.match(sentence) or _ASKS_BY_ORDER.match(sentence)
    if is_asked is not None or wonders(sentence):
        return True
    return is_foreign_question(sentence) or is_foreign_request(sentence)
