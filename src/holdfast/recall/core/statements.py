"""What of a record states something.

A search finds questions, requests and an agent's narration by their words, but they answer nothing.
Neither does a sentence that says that something is not known. The patterns here are English; those
of other languages are in `sources.question_forms`.
"""

from __future__ import annotations

import re

from holdfast.framed_text import is_program_line
from holdfast.language import is_chatter, is_data, plain, sentences, states_decision
from holdfast.model.query import Hit
from holdfast.model.trust import Trust
from holdfast.regex import regex
from holdfast.sources.own_calls import is_own_line
from holdfast.sources.question_forms import (
    is_foreign_question,
    is_foreign_request,
    says_unknown_in_foreign_words,
    wonders,
)

# How the text of a tool call goes on after its name and target, and how that of one begins which
# looks for something: it is a question, too.
TOOL_RESULT = "\n→ "
_LOOKS_FOR = regex(
    r"(?:Grep|Glob|LS|Read|NotebookRead|ToolSearch|WebSearch|TodoWrite|AskUserQuestion)\b|"
    r"(?:Bash|PowerShell)\n\s*(?:cd \S+ (?:&&|;) )?(?:sudo )?"
    r"(?:grep|rg|find|fd|ls|cat|head|tail|sed -n|which|tree|wc|git (?:log|grep|show|diff|status))\b"
)
_QUESTION_MARKS = ("?", "？", "؟")
_LEAD_IN = r"(?:(?:ok(?:ay)?|so|and|but|also|well|hm+|hi|hey|hello|btw|please|pls|now)[,.:! ]+)*"
# A question without its mark, as people type it.
_ASKS = regex(
    _LEAD_IN
    + r"(?:why|how|where|when|who|what|which|whose)\s+(?:(?!(?:we|you|they|it|he|she|i|the|"
    r"an?|this|that|these|those|to)\b)\S+\s+){0,3}?"
    r"(?:is|are|was|were|do|does|did|can|could|should|would|will|have|has|had|may|must|happens)\b|"
    + _LEAD_IN
    + r"(?:is|are|was|were|does|did|can|could|should|would|will|has|have|may|shall)\s+"
    r"(?:we|you|i|it|there|the|this|that|these|they|he|she|an?|our|my|any)\b|"
    + _LEAD_IN
    + r"(?:does|did)\s+\w|"
    r"[^.:?!]{1,40}: (?:why|how|where|when|who|which)\b(?!.*:)",
    re.IGNORECASE,
)
# An order to do something once. What shall hold from now on is worded otherwise ("use", "keep",
# "never"), and is a statement.
_REQUESTS = regex(
    _LEAD_IN + r"(?:(?:can|could|would|will) you |i(?:['’]d| would) like you to |"
    r"i (?:want|need) you to |let['’]?s |we (?:need|have) to |your task (?:is )?to |please |pls |"
    r"go |then |just |first )*"
    r"(?:add|analy[sz]e|answer|apply|build|change|check|clean|collect|commit|compare|configure|"
    r"continue|convert|create|debug|delete|deploy|describe|determine|document|draft|ensure|execute|"
    r"explain|explore|extract|figure out|find|finish|fix|generate|give|help|identify|implement|"
    r"improve|inspect|install|integrate|investigate|list|look|make|merge|migrate|move|open|"
    r"optimi[sz]e|proceed|push|read|rebase|redo|refactor|rename|report|reproduce|research|review|"
    r"rewrite|run|search|see|set up|ship|show|start|summari[sz]e|tell|test|tidy|trace|translate|"
    r"try|update|upgrade|validate|verify|wire|write)\b",
    re.IGNORECASE,
)
# What is wanted, named without a verb: "reason for dropping Kafka", "Kafka drop reason pls".
_NAMES_WANTED = regex(
    r"(?:the )?(?:reasons?|rationale|explanation|causes?|status|summary|overview|list|history|"
    r"details?|info(?:rmation)?) (?:for|of|on|about|behind|why)\b"
    r"(?!.*(?:\b(?:is|was|were|are|be|because|has|had)\b|[:=,]))|"
    r"(?:[^\s.:]+ ){0,6}(?:reasons?|why|status|summary|explanation|overview) (?:pls|plz|please)"
    r"\W*$",
    re.IGNORECASE,
)
_HOLDS_ON = regex(
    r"\b(?:always|never|from now on|every time|must|no longer|instead|only|because)\b",
    re.IGNORECASE,
)
# That nothing is known, in whichever words an agent says so.
_NOT_KNOWN = regex(
    r"\b(?:i|we) (?:do not|don['’]t|did not|didn['’]t|could not|couldn['’]t|cannot|can['’]t) "
    r"(?:know|recall|remember|(?:have|see|find) (?:(?:a|any|one|the) )?(?:records?|mention|memory|"
    r"memories|information|notes?|trace|idea|one|any|anything|that|it|reason|answer)\b)|"
    r"\b(?:memory|holdfast|memories|the (?:history|records|transcripts))\b[^.]{0,40}"
    r"\b(?:nothing|no (?:record|mention|entry|entries|answer|information|results?|reason)|empty|"
    r"does(?:n['’]t| not) (?:know|say|have|mention)|abstain\w*)\b|"
    r"\bno (?:records?|mention|memory|memories|trace|information) (?:of|about|on|clearly "
    r"answers)\b|"
    r"\bnothing (?:is |was )?(?:known|recorded|remembered|in memory|about)\b|"
    r"^(?:that |this |it )?(?:is )?(?:not known|unknown)(?:\W*$|:)|"
    r"\b(?:i['’]d|i would|i['’]ll) (?:have to|need to) (?:look|check|search)\b",
    re.IGNORECASE,
)
# One of these is in every sentence that says so. Most sentences have none, and need not be matched.
_NOT_KNOWN_SIGNS = (
    *("do not", "don't", "don’t", "did not", "didn't", "didn’t", "could not", "couldn't"),
    *("couldn’t", "cannot", "can't", "can’t", "memor", "holdfast", "history", "records"),
    *("transcripts", "no ", "nothing", "not known", "unknown", "i'd", "i’d", "i would", "i'll"),
    "i’ll",
)
# A longer sentence that begins like narration ("Done: …") says something, too.
_MIN_NARRATION = 60
# What an agent does with files and commands. People who talk of their lives use other verbs.
_WORKS = (
    r"(?:add|analy[sz]e|apply|build|check|clean up|collect|commit|compare|confirm|continue|create|"
    r"delegate|delete|dig|dispatch|double-check|draft|edit|examine|explore|extract|fetch|find|fix|"
    r"gather|grep|implement|inspect|investigate|launch|locate|look|mark|move|only (?:commit|stage)|"
    r"open|proceed|push|read|re-?run|refactor|remove|rename|replace|review|run|scan|search|see|"
    r"simplify|spawn|stage|start by|test|trace|update|verify|wire|write)"
)
# What an agent is about to do, at any length: at the start of a sentence, or after a few words.
_ANNOUNCES = regex(
    r"(?:(?:ok(?:ay)?|so|and|good|great|perfect|excellent|now|next|then|first|finally|alright)\b"
    r"[\s,.!:;—–-]+)*"
    r"(?:(?:[^.!?]{0,60} [—–-]+ )?(?:let me|let['’]s (?:see|start|now|first|" + _WORKS + r")|"
    r"(?:i['’]ll|i will|i am going to|i['’]m going to|i need to|time to) (?:now |also |just |"
    r"first |quickly |then )*" + _WORKS + r")|standing by|waiting (?:for|on))\b|"
    r"(?:now|next|then|first|finally),? (?:also |just )?" + _WORKS + r" (?:it|the|an?|all|both|"
    r"this|that|these|those|each|every|to|in|on|for|[`*\"'(]|\w+ (?:case|cases|test|tests|to)\b)|"
    r"now[ ,]+" + _WORKS + r"\b[^.]*:$",
    re.IGNORECASE,
)
# Every sentence that announces something has one of these, or begins with one of the others.
_ANNOUNCING_SIGNS = (
    *("let me", "let's", "let’s", "i'll", "i’ll", "i will", "i am going to", "i'm going to"),
    *("i’m going to", "i need to", "time to", "standing by", "waiting"),
)
_ANNOUNCING_STARTS = tuple(
    "ok so and good great perfect excellent now next then first finally alright".split()
)
# How a greeting begins, and a sentence that only counts what git changed.
_GREETS = regex(
    r"(?:hi|hey|hello|good (?:morning|afternoon|evening)|welcome)\b[^.:]{0,40}[!.]?$", re.IGNORECASE
)
_COUNTS_FILES = regex(
    r"\W*(?:(?:committed|pushed|commit|pushing)\b(?: (?:as|to|in))?[\W\da-f]{1,50})?"
    r"\d+ files?(?: were| are)? (?:changed|modified|committed|staged|touched)\b|"
    r"\W*\d+ (?:insertions?|deletions?)\b",
    re.IGNORECASE,
)
_THANKS = regex(
    r"(?:(?:many )?thanks?(?: you)?|(?:you['’]re |you are )?welcome|glad|happy)\b"
    r"[^.:;]{0,60}[!.]?$",
    re.IGNORECASE,
)
# That work went as it should: checks passed, something was committed, a summary follows. It says
# nothing about what was done. Longer sentences say something, too.
_MAX_REPORT = 160
_CHECKS = (
    r"(?:(?:\w+ )?tests?|lint(?:ing|er)?|type ?checks?|typescript|builds?|checks?|"
    r"pre-commit (?:hooks?|checks?)|(?:working )?tree)"
)
_REPORTS = regex(
    r"\W*(?:\(?(?:committed|pushed|done)\)?\W*$|"
    r"(?:the )?commit(?:ted)?\b[^.;]{0,40}\b(?:succe\w+|created|landed|went through)\b|"
    r"(?:fixed,? (?:and )?)?(?:folded|amended|commit(?:ted)?|pushed)\b[^.;]{0,30}?"
    r"(?: as| to| into| on|:) \W*(?:[0-9a-f]{7,40}\b[^;—]{0,60}$|\w+\W*$)|"
    r"(?:all |the |both )?(?:[\d,]+ )?" + _CHECKS + r"\b[^.;]{0,50}\b(?:pass(?:es|ed|ing)?|clean|"
    r"green|succeed(?:s|ed)?|no errors|clear)\b[^.;]{0,60}\W*$|"
    r"(?:both|everything|all)\b[^.;:]{0,40}\b(?:pass(?:es|ed)?|clean|green|looks? good|in place|"
    r"done|set|good|completed?|implemented|applied|finished)\b[^:;—]{0,20}\W*$|"
    r"(?:the )?(?:implementation|change|fix|work|task|review|analysis|pass|phase \d+|step \d+) "
    r"(?:is )?(?:now )?(?:done|completed?|finished|ready|applied)\b[^:;—]{0,20}$|"
    r"no (?:further )?(?:action|changes?) (?:is |are )?needed\b[^:;—]{0,20}$|"
    r"here(?:['’]s| is| are)\b[^;]{0,120}:$)",
    re.IGNORECASE,
)
# One of these is in every sentence that reports.
_REPORT_SIGNS = (
    *("commit", "pushed", "done", "folded", "amended", "pass", "clean", "green", "succe"),
    *("no errors", "clear", "good", "in place", "set", "complete", "implemented", "applied"),
    *("finished", "ready", "needed", "here"),
)
# A line in bold alone is a heading; with a colon, it belongs to what it announces.
_HEADING_LINE = regex(r"\*\*[^*.]{0,100}[^*.:]\*\*")
# The first sentence of a concept counts its exchanges.
_COUNTS = regex(r"\d+ exchanges? (?:from|on) \d{4}-")
# How every match of `_GREETS` and `_THANKS` begins, and what every match of `_COUNTS_FILES` and
# `_COUNTS` has.
_POLITE_STARTS = ("hi", "hey", "hello", "good", "welcome", "many", "thank", "you", "glad", "happy")
_COUNTING_SIGNS = (" file", " insertion", " deletion", " exchange")
_LATEST = regex(r"\bLatest \([^)]*\): ")
# The sections of a digest that have titles of exchanges: what was asked, in the person's words.
ASKED_SECTIONS = ("Request: ", "Investigated: ")
# A whole sentence that only answers the one before it.
_ACKNOWLEDGES = regex(
    r"(?:understood|noted|ok(?:ay)?|sure|thanks?|thank you|great|perfect|good|done|yes|yep|no|"
    r"right|got it|makes sense|will do|agreed|correct|fixed|committed|pushed|all done)\W*",
    re.IGNORECASE,
)

# How a line ends that goes on in the next.
_TORN_ENDS = (",", "(", "[", "{", "=")
# What a program put into a person's message ("[Request interrupted by user]", "[Image #1]"), and
# commands that a person ran ("! make test").
_NOT_TYPED = regex(r"(?:\[[^\]\n]{1,200}\]\W*)+")
_COMMAND_LINE = regex(r"^! .*$", re.MULTILINE)
# Tags next to each other, or a line end that was written out: a part of a page or of a file.
_MARKUP = regex(r"</?\w[^<>]{0,200}>(?:\s|\\n)*</?\w[^<>]{0,200}>|\\n\s*[<{\[\"]")
_CODE_SPAN = regex(r"`[^`]*`")


def is_question(sentence: str, by_person: bool = False) -> bool:
    """Whether a sentence asks something. People leave the mark away, so their sentences are also
    known by how they begin."""
    bare = sentence.rstrip(" \"'”’)*_`")
    if bare.endswith(_QUESTION_MARKS):
        return True
    if wonders(bare):
        return True
    if not by_person:
        return False
    return (not bare.endswith(".") and bool(_ASKS.match(bare))) or is_foreign_question(bare)


def is_request(sentence: str) -> bool:
    """Whether a person's sentence asks for something to be done once."""
    if _REQUESTS.match(sentence):
        return not (states_decision(sentence) or _HOLDS_ON.search(sentence))
    return _NAMES_WANTED.match(sentence) is not None or is_foreign_request(sentence)


def is_pasted_data(sentence: str) -> bool:
    """Whether a sentence is a part of a file, a page or a log, and not of what anybody says. Code
    in backticks belongs to the sentence around it."""
    bare = _CODE_SPAN.sub("", sentence) if "`" in sentence else sentence
    if is_data(bare):
        return True
    return ("<" in bare or "\\n" in bare) and _MARKUP.search(bare) is not None


def says_not_known(sentence: str) -> bool:
    """Whether a sentence says that nothing is known."""
    if _has_any(sentence, _NOT_KNOWN_SIGNS) and _NOT_KNOWN.search(sentence):
        return True
    return says_unknown_in_foreign_words(sentence)


def _is_torn(sentence: str) -> bool:
    """Whether a sentence is a comment or an item of code, or breaks off inside of brackets."""
    bare = sentence.strip()
    if bare.startswith("//"):
        return True
    if not bare.endswith(_TORN_ENDS):
        return False
    return " " not in bare or _count(bare, "([{") > _count(bare, ")]}")


def _count(text: str, characters: str) -> int:
    return sum(map(text.count, characters))


def _announces(sentence: str) -> bool:
    signed = _has_any(sentence, _ANNOUNCING_SIGNS)
    may = signed or sentence[:9].lower().startswith(_ANNOUNCING_STARTS)
    return may and _ANNOUNCES.match(sentence) is not None


def _is_polite(sentence: str) -> bool:
    may = sentence[:9].lower().startswith(_POLITE_STARTS)
    return may and bool(_GREETS.match(sentence) or _THANKS.match(sentence))


def _counts(sentence: str) -> bool:
    may = _has_any(sentence, _COUNTING_SIGNS)
    return may and bool(_COUNTS_FILES.match(sentence) or _COUNTS.match(sentence))


def _has_any(sentence: str, signs: tuple[str, ...]) -> bool:
    lowered = sentence.lower()
    return any(sign in lowered for sign in signs)


def statements(hit: Hit) -> list[str]:
    """The sentences of a record that state something, in their order. A tool call that changed or
    tried something is one statement."""
    return [sentence for run in stated_runs(hit) for sentence in run]


def stated_runs(hit: Hit) -> list[list[str]]:
    """The statements of a record, those that follow each other together."""
    if TOOL_RESULT in hit.text:
        return [] if _LOOKS_FOR.match(hit.text) else [[hit.text]]
    runs: list[list[str]] = []
    is_any = goes_on = False
    for text, by_person in _parts(hit):
        # In an exchange a person is answered; the sections of a digest are about several things.
        goes_on = goes_on and hit.kind == "exchange"
        said = _COMMAND_LINE.sub("", text) if by_person else text
        is_any = is_any or said != text
        for sentence in sentences(said):
            is_any = True
            is_stated = states(sentence, by_person)
            if is_stated and goes_on:
                runs[-1].append(sentence)
            elif is_stated:
                runs.append([sentence])
            goes_on = is_stated
    if runs or is_any:
        return runs
    # Nothing but a heading or a block of code: kept as a whole.
    return [[hit.text]] if hit.text.strip() and hit.kind != "turn" else []


def _parts(hit: Hit) -> list[tuple[str, bool]]:
    """The parts of a record's text, each with whether a person typed it. The title of an exchange
    is its request; the name of a concept states nothing."""
    if hit.kind == "exchange":
        title, _, rest = hit.text.partition("\n\n")
        return [(title, True), (rest, False)]
    if hit.kind == "concept":
        # It ends with the latest of its exchanges, as that begins: with its request.
        return [(_LATEST.sub("", hit.text.partition("\n\n")[2]), True)]
    if hit.kind == "digest":
        return [_section(section) for section in hit.text.split("\n\n")]
    return [(hit.text, is_typed(hit))]


def _section(text: str) -> tuple[str, bool]:
    label = next((name for name in ASKED_SECTIONS if text.startswith(name)), "")
    return text.removeprefix(label), bool(label)


def is_output(hit: Hit) -> bool:
    """Whether a hit is a tool call or what a tool printed."""
    return hit.kind == "turn" and (TOOL_RESULT in hit.text or "raw_grep" in hit.why)


def is_typed(hit: Hit) -> bool:
    """Whether a hit is what a person typed."""
    return hit.kind == "turn" and hit.trust in (Trust.USER, Trust.IMPORT)


def reports_progress(sentence: str) -> bool:
    """Whether a sentence only says that work went as it should, or is the heading of a step. It is
    quoted where nothing else is to be had, and where a question asks for it."""
    bare = sentence.strip()
    if _HEADING_LINE.fullmatch(bare):
        return True
    told = plain(bare)
    short = len(told) <= _MAX_REPORT and _has_any(told, _REPORT_SIGNS)
    return short and _REPORTS.match(told) is not None


def without_outer_reports(sentence: str) -> str:
    """A sentence that was made of a list ("A; B; C"), without the reports that it begins and ends
    with, unless it is nothing else."""
    items = sentence.split("; ")
    while len(items) > 1 and _only_reports(items[0]):
        items.pop(0)
    while len(items) > 1 and _only_reports(items[-1]):
        items.pop()
    return "; ".join(items)


def _only_reports(item: str) -> bool:
    return reports_progress(item) or _COUNTS_FILES.match(item) is not None


def states(sentence: str, by_person: bool) -> bool:
    """Whether a sentence states something, in the words of a person or of an agent."""
    if is_question(sentence, by_person) or (by_person and is_request(sentence)):
        return False
    if by_person and _NOT_TYPED.fullmatch(sentence.strip()):
        return False
    if is_pasted_data(sentence) or is_own_line(sentence) or is_program_line(sentence):
        return False
    if _is_torn(sentence):
        return False
    if _is_polite(sentence) or _counts(sentence):
        return False
    if not by_person and _announces(sentence):
        return False
    short = len(sentence) < _MIN_NARRATION and ": " not in sentence
    only_narrates = short and (is_chatter(sentence) or _ACKNOWLEDGES.fullmatch(sentence))
    return not (only_narrates or says_not_known(sentence))
