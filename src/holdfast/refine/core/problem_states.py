"""Recognises sentences that say how something is before a change: what fails.

Such a sentence is history once the thing was changed, while what caused it stays true.
"""

from __future__ import annotations

import re

from holdfast.language import collapse_spaces, describes_failure, plain, sentences
from holdfast.regex import regex

# Says how something is; what it was, or that it is mended, is not outdated by a change.
_IS_SO = regex(
    r"\b(?:is|are|does(?:n['’]t| not)?|do(?:n['’]t| not)|fails?|crashes|hangs|breaks|leaks|throws?|"
    r"raises?|returns?|shows?|gets?|keeps?|cannot|can['’]?t|still|missing|has|have|goes|stays|"
    r"says?|gives?|times out)\b",
    re.IGNORECASE,
)
_IS_MENDED = regex(
    r"\b(?:fix(?:ed|es)|solved|resolved|repaired|mended|corrected|no longer|any ?more|instead|"
    r"now|was|were|had been|used to)\b",
    re.IGNORECASE,
)
# Says of itself that it may not stay so.
_FOR_NOW = regex(
    r"\b(?:currently|at (?:present|the moment)|as of now|so far|not yet|yet to)\b|"
    r"^\W*(?:the|our|its) (?:current|existing) ",
    re.I,
)
# The parts of a plan or a request that say why something shall be changed. What is wrong is told in
# all of a part, how things are in the first paragraph of one; conditions may follow.
_TITLE = r"(?P<{}>(?:the )?(?:{}))"
_WRONG = _TITLE.format(
    "wrong", "problems?(?: statement)?|(?:current )?issues?|bugs?|symptoms?|pain points?"
)
_SITUATION = _TITLE.format(
    "situation",
    r"context|background|motivation|rationale|why|status quo|"
    r"(?:current|existing) (?:state|status|situation|behaviou?r|implementation|design|setup)",
)
_PART = regex(
    rf"(?:#{{1,6}} +|\*\*)?(?:\d+[.)] +)?(?:{_WRONG}|{_SITUATION})"
    r"(?:\*\*)? *(?P<colon>:?)(?:\*\*)? *(?P<rest>.*)",
    re.I,
)
_HEADING = regex(r"#{1,6}(?: |$)|\*\*[^*]+\*\*:?$")
# Says what is wanted or laid down, which a change carries out and does not end.
_WANTS = regex(
    r"\b(?:wants?|wanted|wishes|expects?|prefers?|requires?|asked|asks|specified|decided|agreed|"
    r"should|must|shall)\b",
    re.I,
)
# What a person saw going wrong, and how a wish is worded.
_REPORTS = regex(
    r"\bnothing happens\b|\bnever \w+s\b|\bkeeps? \w+ing\b|\b(?:just|still) (?:shows?|hangs?)\b|"
    r"\b(?:does|do|did|is|are)(?:n['’]?t| not) (?:even |really )?(?:work|load|show|open|respond|"
    r"appear|updat|chang|launch|render)|\bdid(?:n['’]?t| not) (?:even |really )?fix\b|"
    r"(?<!\bwhen )(?<!\bif )(?<!\bafter )(?<!\bon )"
    r"\b(?:getting|(?:i|we) (?:still |now |also )?g[eo]t) (?:an?|the|this|these|\d+) (?:\w+ ){0,2}"
    r"(?:errors?|[45]\d\d)\b|"
    r"\b(?:has|have) been blocked by CORS\b|\bsuddenly\b|"
    r"\b(?:however|but|i see|seeing|there are) (?:\w+ ){0,3}errors? in (?:the )?(?:browser )?"
    r"console\b|"
    r"\ball of a sudden\b|\bis duplicating\b|"
    r"\byou (?:keep|still|again) \w+|\bi(?:['’]m| am) (?:still )?seeing\b|\bsometimes\b|"
    r"\bi (?:(?:still|also|now|don['’]?t|do not|can ?not|can['’]?t) ){0,2}see\b"
    r"(?! (?:no |any )?(?:reason|need|point|value|why|how)\b)|"
    r"\b(?:is|are) (?:still )?(?:broken|stuck|"
    r"failing|missing|wrong|clipped|cut off|truncated|overlapping|misaligned|duplicated|blank|"
    r"garbled|unreadable|squashed|too (?:big|small|large|long|short|wide|narrow|slow))\b|"
    r"\b(?:says|shows|displays|prints|returns|opens)\b(?!.*\bby default\b).{1,80}\binstead\b|"
    r"^(?:[\w./-]+ ){1,4}fails\W*$|\b(?:is|are|keeps?)(?: \w+){0,2} failing\W*$|"
    r"(?<!\bi )(?<!\bwe )\b(?:won['’]t|will not) (?:start|activate|load|open|compile)\b|"
    r"\b(?:got|getting|has|have|are) (?:\w+ )?merge conflicts?\b|"
    r"\bcontains? (?:\w+ ){0,2}bugs?\b|\bwithout (?:proper|any) \w+ checks?\b|"
    r"\b(?:this|it) (?:does not|doesn['’]?t|only) happens?\b|"
    r"\b(?:only|just) (?:\w+ )*changes? when\b|\b(?:panics|crashes|hangs|deadlocks|segfaults|"
    r"dereferences?|nil pointer|stack ?trace|(?:fails?|failed|exits) with)\b",
    re.IGNORECASE,
)
_WISHES = regex(
    r"\b(?:should|shall|must|always|do not|don['’]?t|want|need|prefer|please|from now on|"
    r"never (?!\w+s\b)|we (?:use|decided|agreed))\b|\blet['’]?s\b|"
    r"^\W*(?:keep|use|avoid|prefer|bump|raise|lower|set|limit|cap|allow)\b",
    re.IGNORECASE,
)
# What a program printed, and a command that a person ran without their agent.
_PRINTED = regex(
    r"^\s*! [\w./~]+(?:\s[^!?]*)?$|"
    r"^\W*(?:\[[\w -]+\] |error:|fatal:|warning:|traceback|npm err|\$ )|[─-╿]{3}|-- INSERT --|"
    r"\b[a-z]:\\\S+\.\w+ \d+\b|\bcould not be (?:completed|found)\b.*[\\/]\w+[\\/]",
    re.IGNORECASE,
)
# What a linter found, pasted as a request: "'Draw' has a cyclomatic complexity of '49'. Rewrite …".
_FINDING = regex(
    r"\bduplicated lines \(%\)|\bdefine a constant instead of using this literal\b|"
    r"\b(?:cyclomatic|cognitive) complexity of\b|\bseverity code description\b|"
    r"\b(?:error|warning) \(active\)|\bthis rule raises an issue\b",
    re.IGNORECASE,
)


def describes_problem(sentence: str) -> bool:
    """Whether a sentence says that something does not work, and not that this is over."""
    words = plain(sentence)
    if not describes_failure(words) or not _IS_SO.search(words):
        return False
    return not _IS_MENDED.search(words)


def is_for_now(sentence: str) -> bool:
    """Whether a sentence says of itself that it may not stay so."""
    return _FOR_NOW.search(plain(sentence)) is not None


def is_state_before(text: str, sentence: str) -> bool:
    """Whether a sentence of a plan or a request tells how things are before the work: it stands
    under a heading such as "Problem" or "Context", and does not say what is wanted."""
    first = next(iter(sentences(sentence)), sentence)
    if _WANTS.search(plain(first)):
        return False
    words = collapse_spaces(plain(first))
    return any(words in collapse_spaces(plain(part)) for part in _states_before(text))


def _states_before(text: str) -> list[str]:
    """The parts of a text that describe a problem or a situation."""
    found: list[str] = []
    part: list[str] = []
    is_inside = is_short = False
    for line in (*text.splitlines(), "#"):
        bare = line.strip()
        title = _PART.fullmatch(bare)
        is_title = title is not None and _is_title(bare, title)
        ends = bool(_HEADING.match(bare)) or (is_short and not bare and bool(part))
        if is_title or (is_inside and ends):
            found += ["\n".join(part)] if part else []
            part, is_inside = [], False
        if title is not None and is_title:
            is_inside, is_short = True, title["situation"] is not None or bool(title["rest"])
            part = [title["rest"]] if title["rest"] else []
        elif is_inside and bare:
            part.append(line)
    return found


def _is_title(line: str, found: re.Match[str]) -> bool:
    """Whether a line that begins like a title is one: a heading, or a label before a colon."""
    return bool(found["colon"]) if found["rest"] else line[0] in "#*" or bool(found["colon"])


def reports_fault(sentence: str) -> bool:
    """Whether a person says what they saw going wrong, and not how it is to be."""
    return _REPORTS.search(sentence) is not None and not _WISHES.search(sentence)


def is_finding(sentence: str) -> bool:
    """Whether a sentence is a finding of a linter."""
    return _FINDING.search(sentence) is not None


def is_printed(sentence: str) -> bool:
    """Whether a sentence was printed by a program: an error, a finding of a linter, a frame."""
    return is_finding(sentence) or _PRINTED.search(sentence) is not None
