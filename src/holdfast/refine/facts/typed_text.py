"""Which part of a person's message they typed themselves, rather than pasted or quoted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from holdfast.refine.requests.agent_prompts import gives_role
from holdfast.regex import regex

# A longer message is taken for pasted text: a plan, a log, instructions for an agent. Raising it
# lets sentences of such text count as what the person said; lowering it ignores long messages.
MAX_TYPED_CHARS = 1500
# In a longer message, a first or last paragraph up to this length still counts as typed.
_MAX_PARAGRAPH_CHARS = 500
_QUOTING_LINE = regex(r"^\s*>.*$", re.MULTILINE)
# The history of a session, as a program hands it to an agent that judges or continues it.
_HANDED_OVER = regex(
    r"\A\W*the following is the \w+ agent history\b|^\[\d+\] (?:assistant|user|tool)\b|"
    r"^#{1,6} (?:session|conversation|chat) (?:transcript|history)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
# How Claude Code begins a session that carries out a plan of the one before: an agent wrote it.
ACCEPTED_PLAN = regex(r"\s*Implement the following plan:\s+(#.*)", re.DOTALL)
_BLANK_LINE = regex(r"\n\s*\n")
# A line that a program printed: its log, a test, a compiler, a build or a web server, the prompt of
# a shell, a frame of a stack.
_PRINTED = regex(
    r"^\W{0,3}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,2}\d\d:\d\d:\d\d\b|"
    r"^\s*\[(?:\d[\d:./]*[\] ]|(?i:info|warn(?:ing)?|err(?:or)?|debug|trace|fatal|nodemon)\])|"
    r"^\s*➜|\bgit:\([\w/.-]+\) |^[\w.-]+@[\w.-]+[: ][~/]\S* ?[$#%] |^\s*\$ \w|"
    r"^\s*(?:at|from) (?:async |new )?[\w.$<>\[\]]+ ?\(\S+:\d+|^\s*(?:at|from) \S*/\S+:\d+|"
    r"^\s*File \"[^\"]+\", line \d|^Traceback \(|^\s*Caused by: |"
    r"^\W*(?:\w+\.)*(?:\w*(?:Error|Exception)|\w+Warning)(?:\[\w+\]|\s\w{1,3}\d+)?: |"
    r"^\W*(?i:fatal|panic|error): |^\W*(?i:npm (?:err!|error|warn)) |"
    r"^\W*(?i:failed|unable) to [^.:]{3,60}: |^\s*(?:[\w@./-]+:){1,2}[\w.-]+:(?:\s|$)|"
    r"^\s*[\w@./\\-]+\.[a-z]\w{0,4}(?::\d+(?::\d+)?(?::| - |\s)|\(\d+,\d+\): )|"
    r"^\s*\d+:\d+\s+(?i:error|warning)\b|^\s*(?:> ?)?\d+ [|│]|^\s*[│╭╰]|^[|~^ ]*[~^]$|"
    r"^\s*(?:==>|-->|={2,} [A-Z]|--- (?:FAIL|PASS|SKIP)|[✖✗✘×⨯])|"
    r"^\W*(?:GET|POST|PUT|PATCH|DELETE|HEAD) /\S* \d{3}(?: in |$| \d)|^> \S+@\d|"
    r"^Run \S+/\S+@\w|^\W*Process (?:completed|exited|finished) with|^Downloading https?://|"
    r"^\S+ @ \S+:\d+$"
)
# What follows is printed: "Now I get these errors:". A longer sentence says more than that.
_INTRODUCES = regex(
    r"\b(?:get|getting|got|see|seeing|gives?|gave|shows?|throws?|prints?|fails with)\b[^.:]{0,60}"
    r"\b(?:errors?|output|logs?|warnings?|trace|response)\b[^.:]{0,40}:$",
    re.IGNORECASE,
)
# Only so much of a line is looked at for that, and for how printed lines begin.
_MAX_INTRODUCING_CHARS, _MAX_PRINTED_CHARS = 160, 400
# How people say what they see or want, beside what a program printed.
_TYPED = regex(
    r"\b(?:i|i['’]\w+|we|we['’]\w+|you|my|our|your|please|let['’]?s|should|want|needs?|fix|help|why|"
    r"how|what|this is|these are|here['’]?s|here (?:is|are)|always|never|don['’]?t|do not|use|keep|"
    r"prefer|avoid|only|immer|nie|niemals|bitte|nicht|toujours|jamais|siempre|nunca)\b|\?\s*$|"
    r"[^\W\da-zA-Z_]{3}",
    re.IGNORECASE,
)


def is_handed_over(text: str) -> bool:
    """Whether a program wrote a message: the history of a session, the plan of the one before, or
    the prompt of an agent that it started. Nobody typed any of it."""
    return is_history(text) or ACCEPTED_PLAN.match(text) is not None or gives_role(text)


def is_history(text: str) -> bool:
    """Whether a program hands the history of a session to an agent."""
    return _HANDED_OVER.search(text) is not None


def own_lines(text: str) -> str:
    """A message without the lines that quote somebody, what a reviewer said, and the lines that a
    program printed."""
    kept: list[str] = []
    is_introduced = False
    text = without_review_remarks(_QUOTING_LINE.sub("", text))
    for is_blank, block in groupby(text.split("\n"), key=_is_blank):
        lines = list(block)
        if not is_blank:
            printed = [_is_printed(line) for line in lines]
            if is_introduced or any(printed):
                lines = [
                    "" if is_printed or not _TYPED.search(line) else line
                    for line, is_printed in zip(lines, printed, strict=True)
                ]
            # What was announced goes on after a blank line, until somebody says something.
            is_introduced = (is_introduced and _is_blank(lines[-1])) or _introduces(lines[-1])
        kept += lines
    return "\n".join(kept)


def _introduces(line: str) -> bool:
    line = line.rstrip()[-_MAX_INTRODUCING_CHARS:]
    return line.endswith(":") and _INTRODUCES.search(line) is not None


# A person lays something down, whatever the line looks like.
_LAYS_DOWN = regex(
    r"\b(?:always|never(?! (?:used|read|called|reached|assigned|returns?)\b)|don['’]t|do not|immer|"
    r"niemals|toujours|jamais|nunca)\b",
    re.IGNORECASE,
)


def _is_printed(line: str) -> bool:
    line = line.rstrip()[:_MAX_PRINTED_CHARS]
    return _PRINTED.search(line) is not None and _LAYS_DOWN.search(line) is None


def _is_blank(line: str) -> bool:
    return not line.strip()


def typed_text(text: str) -> str:
    """The part of a message that a person is likely to have typed: without lines that were quoted
    or printed, and of a long message only the first and the last paragraph, if these are short."""
    if is_handed_over(text):
        return ""
    text = own_lines(text)
    if len(text) <= MAX_TYPED_CHARS:
        return text
    paragraphs = [block for block in _BLANK_LINE.split(text) if block.strip()]
    ends = dict.fromkeys((*paragraphs[:1], *paragraphs[-1:]))
    return "\n\n".join(block for block in ends if len(block) <= _MAX_PARAGRAPH_CHARS)


# What a reviewer said, pasted by a person: remarks on a change, of people or of a program ("A
# review comment: …", "Address this: …"). They are work to be done, and lay nothing down.

# Programs that review changes.
_BOTS = (
    r"(?:code ?rabbit(?:ai)?|copilot|codex|bugbot|cursor|greptile|gemini|claude|chatgpt|sonar\w*|"
    r"codeql|qodo|ellipsis|graphite|deepsource|codacy|sourcery|devin|dependabot|sentry)(?: bot)?"
)
_REMARKS = (
    r"(?:comments?|feedback|findings?|remarks?|notes?|observations?|suggestions?|concerns?|nits?|"
    r"nitpicks?|issues?|points?)"
)
_REVIEW = r"(?:(?:code|pr|peer|security|pull request) )?review(?:er)?s?(?:['’]s?)?"
_SAYS = (
    r"(?:says?|said|found|flagged|noted?|noticed|complain(?:s|ed)|suggest(?:s|ed)|wrote|"
    r"point(?:s|ed) out|commented|reported|mentioned)"
)
# Before a colon, that somebody reviewed: "Another review comment", "Observation from a PR review",
# "Copilot says". A "cursor issue" or a "PR note" is the person's own.
_NAMES_REVIEW = regex(
    rf"\b{_REVIEW} {_REMARKS}\b[^:.?!]{{0,60}}:|"
    rf"\b(?:pr|pull request|{_BOTS})(?: (?:code )?review(?:er)?)? "
    r"(?:comments?|feedback|findings?|remarks?)\b[^:.?!]{0,60}:|"
    rf"\b{_REMARKS}\b[^:.?!]{{0,40}} (?:from|of|by|in) [^:.?!]{{0,30}}\b(?:{_REVIEW}|{_BOTS})\b"
    r"[^:.?!]{0,30}:|"
    rf"\b(?:{_REVIEW}|{_BOTS}) (?:also )?{_SAYS}\b[^:.?!]{{0,40}}:",
    re.IGNORECASE,
)
# Before the colon, that the person speaks.
_OF_ONES_OWN = regex(r"\b(?:my|our|decisions?|decided|agreed)\b", re.IGNORECASE)
# Somebody decides, wherever that stands: reviewers ask and recommend.
_DECIDES = regex(
    r"\bfrom now on\b|\bdecisions?:|\bi disagree\b|"
    r"\b(?:the|our) team(?:['’]ve| have| had)? (?:decided|agreed|settled)\b",
    re.IGNORECASE,
)
# Before a colon, work without a word of what it is: "Address this", "Let's resolve these 2".
_GIVES_WORK = regex(
    r"^\W*(?:(?:ok(?:ay)?|now|also|please|pls|and|then|next|let['’]?s|can you|could you|we should|"
    r"i want you to)\W+)*(?:address|fix|resolve|solve|handle|tackle|look (?:at|into)|"
    r"take care of|work on|respond to|evaluate|consider) (?:this|these|that|those|the following|"
    r"following|the below)(?: (?:\d+|one|two|three|few|more|other|last|first|remaining|open))*"
    rf"(?: (?:\w+ )?(?:{_REMARKS}|bugs?|problems?|errors?|warnings?|items?|things?|ones?))?"
    r"(?: (?:below|first|next|now|too|please))*:|"
    rf"^\W*(?:(?:\w+ )?(?:{_REMARKS}|bugs?|problems?) to (?:fix|address|resolve)|"
    rf"(?:minor|critical|major) {_REMARKS})\b[^:.]{{0,20}}:",
    re.IGNORECASE,
)
# What a program that reviews writes of its own: labels, the file and the lines, how bad it is.
_OF_A_PROGRAM = regex(
    r"^\W*(?:refactor suggestion|actionable comments posted|committable suggestion|"
    r"prompt for ai agents?|duplicate comments?|outside diff range|verify each finding against|"
    r"nitpick(?: comments?)?(?: \(\d+\))?)\b(?:\W|$)|^\s*[-*•_]*\s*⚠\ufe0f?\s*\**(?:issue|missing|"
    r"problem|bug|risk|potential|warning)\b|^\W*suggested change\W*$|^\W*comment on lines? \+?\d|"
    r"^\W*in `?@?[\w./-]+`? (?:around|at) lines? \d|"
    r"^\W*potential issue\W*$|^\W*(?:critical|major|minor|high|medium|low) severity\W*$|"
    r"^\W*(?:(?:severity|confidence|impact|category|type)\W{1,4}(?:critical|major|minor|high|medium|"
    r"low|trivial|[\d.]+)(?:[\s|,;%*_·•-]{1,8}|$)){1,4}$",
    re.IGNORECASE,
)
# A name of code in prose, and what goes wrong: how a reviewer describes a fault.
_NAME_OF_CODE = regex(
    r"\b(?:[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|\w{1,40}_\w+|\w{1,40}\(\)|lines? \d+)"
)
_GOES_WRONG = regex(
    r"\b(?:mismatch\w*|inefficient|inconsistent\w*|leading to|undercount\w*|overcount\w*|"
    r"(?:will|would|can|could) (?:fail|break|crash|panic|leak|return|be lost)|causes?|causing|"
    r"breaking|race condition|performance issue|expensive|should be avoided|duplicating|"
    r"never (?:\w+ed|read)|no longer exists|however)\b",
    re.IGNORECASE,
)
_REQUIRES = regex(r"\b(?:must|shall)\b", re.IGNORECASE)
_MIN_FINDING_CHARS, _MIN_NAMES = 160, 2
# After what is wrong, how reviewers put what is to be done; and how people speak of themselves and
# to somebody.
_CONSIDER = regex(r"[.:;!?)`]\s+Consider (?:\w+ly )?\w+ing\b")
_SPEAKS = regex(
    r"\b(?:i|i['’]\w+|we|we['’]\w+|my|our|let['’]?s|me|us|please|you|your)\b", re.IGNORECASE
)
# Every remark has one of these words. Looking for them takes a fraction of the time of a pattern.
_REVIEWERS = (
    "review", "pr comment", "pr feedback", "pr finding", "pr remark", "pull request", "rabbit",
    "copilot", "codex", "bugbot", "cursor", "greptile", "gemini", "claude", "chatgpt", "sonar",
    "codeql", "qodo", "ellipsis", "graphite", "deepsource", "codacy", "sourcery", "devin",
    "dependabot", "sentry",
)  # fmt: skip
_LABELS = ("badge]", "useful? react with")
_OF_REVIEWS = (
    *_REVIEWERS, *_LABELS, "potential issue", "refactor suggestion", "actionable comments",
    "committable", "prompt for ai", "duplicate comment", "outside diff", "verify each finding",
    "nitpick", "⚠", "suggested change", "comment on line", "around line", "at line", "severity",
    "confidence", "impact", "category", "consider ", "address th", "fix th", "resolve th",
    "solve th", "handle th", "tackle th", "look at th", "look into th", "take care of th",
    "work on th", "respond to th", "evaluate th", " following", "to fix:", "to address:",
    "to resolve:", "minor ", "critical ", "major ", "mismatch", "inefficient", "inconsistent",
    "leading to", "count", "fail", "break", "causes", "causing", "performance", "expensive",
    "should be avoided", "duplicating", "never ", "however",
    "no longer exists", " crash", " panic", " leak",
)  # fmt: skip
# Only so much of a line is looked at for how a remark begins.
_MAX_OPENING_CHARS = 300
# A person goes on after a remark: a short paragraph that says what they think or want.
_MAX_OWN_CHARS = 240
_OWN = regex(
    r"(?:i|i['’]\w+|we|we['’]\w+|let['’]?s|please|pls|be sure|make sure|also|but|just|no|yes|"
    r"ok|okay|keep|use|do|don['’]?t|never|always|what|is|are|can|could|should|how|why|fix|"
    r"this is|that['’]?s|it['’]?s|same|pr|my)\b",
    re.IGNORECASE,
)
# What stands before the first word: of an item of a list, and of a remark in brackets.
_MARKS, _BRACKETS = " \t-*•.)(0123456789", " \t("
# Who gives work may say at once how it is wanted.
_WISHES = regex(
    r"\b(?:i|we)(?:['’]d| would)? (?:want|need|prefer|should|like|decided)\b|\blet['’]?s\b|"
    r"\bfrom now on\b|\binstead of\b|"
    r"\b(?:always|never)\b(?! (?:\w+ed|read|runs?|set|reached|returns?)\b)",
    re.IGNORECASE,
)


def without_review_remarks(text: str) -> str:
    """A message without what a reviewer said in it. The lines stay where they are."""
    if not _has_any(_OF_REVIEWS, text):
        return text
    kept: list[str] = []
    remarks = _Remarks()
    for is_blank, block in groupby(text.split("\n"), key=_is_blank):
        lines = list(block)
        if is_blank:
            kept += lines
        elif _is_finding(" ".join(lines)):
            kept += [""] * len(lines)
        else:
            kept += [remarks.own_part(line, number == 0) for number, line in enumerate(lines)]
    return "\n".join(kept)


class _Remarks:
    """Reads a message line by line, and knows whether a reviewer speaks."""

    def __init__(self) -> None:
        self._is_remark = False
        self._is_given_as_work = False

    def own_part(self, line: str, starts_paragraph: bool) -> str:
        """What of the next line is the person's."""
        head = line[:_MAX_OPENING_CHARS]
        has_colon = ":" in head
        is_named = has_colon and _has_any(_REVIEWERS, head)
        reviewed = _NAMES_REVIEW.search(head) if is_named else None
        if reviewed is not None and _OF_ONES_OWN.search(head[: reviewed.end()]):
            reviewed = None
        given = _GIVES_WORK.match(head) if has_colon else None
        opened = reviewed or given
        if opened is None and not _OF_A_PROGRAM.match(head) and not _has_any(_LABELS, head):
            is_own = starts_paragraph and _is_own_paragraph(line)
            says_how = self._is_given_as_work and _says_how(line)
            decides = is_own or says_how or _DECIDES.search(line) is not None
            self._is_remark = self._is_remark and not decides
            return "" if self._is_remark else line
        start = opened.end() if opened is not None else 0
        self._is_given_as_work = given is not None and reviewed is None
        says_how = self._is_given_as_work and _says_how(line[start:])
        self._is_remark = not says_how and _DECIDES.search(line[start:]) is None
        return line[:start] if self._is_remark else line


def _has_any(words: Sequence[str], text: str) -> bool:
    text = text.lower()
    return any(word in text for word in words)


def _is_finding(paragraph: str) -> bool:
    """Whether a paragraph says what is wrong in the code, and perhaps what to consider, as nobody
    speaks who wants something."""
    paragraph = paragraph[:MAX_TYPED_CHARS]
    is_long = len(paragraph) >= _MIN_FINDING_CHARS
    names = _NAME_OF_CODE.findall(paragraph) if is_long else ()
    faults = len(names) >= _MIN_NAMES and _GOES_WRONG.search(paragraph)
    faults = faults and not (_LAYS_DOWN.search(paragraph) or _REQUIRES.search(paragraph))
    says = bool(faults or _CONSIDER.search(paragraph)) and not _SPEAKS.search(paragraph)
    return says and _DECIDES.search(paragraph) is None


def _says_how(line: str) -> bool:
    """Whether who gives work says how it is wanted."""
    return _OWN.match(line.lstrip(_MARKS)) is not None or _WISHES.search(line) is not None


def _is_own_paragraph(line: str) -> bool:
    """Whether a person goes on with this line. What programs put in bold is theirs."""
    return len(line) <= _MAX_OWN_CHARS and _OWN.match(line.lstrip(_BRACKETS)) is not None
