"""Rules for English prose and code names: markdown, sentences, words and stems, and what a sentence
does (decides, negates, explains a cause).

No grammar and no model: patterns that hold for the text that agents and people write.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex

_FENCE = regex(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_OPEN_LABEL = regex(r"^(?:still )?open: ", re.IGNORECASE)
_TABLE_ROW = regex(r"^\s*\|.*\|\s*$", re.MULTILINE)
# What an agent tells its own program to show (`::git-commit{cwd="/home/dev"}`): nobody's sentence.
_APP_DIRECTIVE = regex(r"^[ \t]*(?:::[a-z][a-z-]*\{[^{}\n]*\}[ \t]*)+$", re.MULTILINE)
# A line that a frame is drawn with, and what Claude Code puts above and below what it explains
# ("`★ Insight ─────`").
FRAME_LINE = regex(r"^[ \t`*★]*(?:\w+[ \t]+)?[─-╿]{3,}[ \t`]*$", re.MULTILINE)
# `>>>` is the prompt of Python, and `>file` a redirection.
_QUOTE = regex(r"^[ \t]*(?:>(?:[ \t]+|$))+", re.MULTILINE)
# Bounded, so that a text with many brackets that nothing closes is read in time.
_LINKED = r"(?<![\w)\]])!?\[([^\]]{0,400})\]\(([^()]{0,600})\)"
_LINK = regex(_LINKED)
# What is shown is cut only where a link points to a page, a file or a heading: `[x](y)` is code.
_LINK_OR_CODE = regex(rf"`[^`\n]*`|{_LINKED}")
_POINTS_SOMEWHERE = frozenset("/.:#")
# Bold print. Neither a power (`1024**3`), nor arguments (`**options`), nor a glob (`**/*.py`), nor
# a mask (`***`), nor asterisks in quotes ('**'); and `__init__` is always a name.
_EMPHASISED = r"(?=[\"'“‘`(\[]*\w)[^*\n]+?(?<=[^\s*])(?<!\s[\"'`])"
BOLD = rf"(?<![\w*])\*\*{_EMPHASISED}\*\*(?![\w*])"
_EMPHASIS = regex(BOLD)
_BOLD_OR_CODE = regex(rf"`[^`\n]*`|{BOLD}")
_LIGHT_EMPHASIS = regex(rf"(?<![\w*])\*({_EMPHASISED})\*(?![\w*])")
_HEADING = regex(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$")
LIST_MARK = regex(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
_TAG = regex(r"(`[^`\n]*`)|(?<!\w)</?[a-z][a-z0-9_-]*(?:\s+[\w-]+=[^<>]*)?\s*/?>")
# Quotation marks, brackets and the end of emphasis belong to the sentence that they close.
_SENTENCE_END = regex(r"(?<=[.!?…])([\"')\]*_]*)\s+(?=\S)|(?<=[。！？])")
_ABBREVIATIONS = frozenset("etc vs cf approx fig dr mr ms st ca resp incl".split())
# In brackets or quotation marks it ends a sentence only if another one begins, and so does any
# mark in quotation marks or round brackets: the "What's next?" section.
_CLOSED_END = regex(
    r"\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl)\.[\"')\]*_]+$|[.!?…][\"'”’)]+$", re.IGNORECASE
)

STOPWORDS = frozenset(
    "a about above after again all also am an and any are aren't as at be because been before "
    "being below between both but by can can't cannot could couldn't did didn't do does doesn't "
    "doing don't down during each else even every few for from further get gets go goes got had "
    "has hasn't have having he her here hers him his how i i'd i'll i'm i've if in into is isn't "
    "it it's its itself just let let's like make me more most my need no nor not now of off on "
    "once one only or other our ours out over own please same see she should shouldn't so some "
    "still such sure take than that that's the their them then there there's these they they're "
    "this those through to too try under until up us use used using very want was wasn't we "
    "we'll we're we've well were what what's when where which while who whom why will with "
    "without won't would yes yet you you're your yours ok okay thanks thank hi hello hey".split()
)


# Claims, facts, memories and concepts are each found in the sentences of the same texts. Keeping
# those makes reading the sample sessions 12 % faster, and twelve real transcripts 6 %; with room
# for 256 texts it did not help these. Longer texts would fill the memory.
_KEPT_TEXTS = 1024
_MAX_KEPT_CHARACTERS = 2_000


def strip_markdown(text: str) -> str:
    """Markdown as plain lines, to match and compare: no fences, no tables, no marks; list items
    keep their line. What is stored or quoted is never made of it: it is not what was said."""
    return plain(_without_blocks(text))


def plain(sentence: str) -> str:
    """A sentence without the marks of emphasis, links and tags, to match patterns with."""
    if "[" not in sentence and "*" not in sentence and "<" not in sentence:
        return sentence
    return _kept_plain(sentence) if len(sentence) <= _MAX_KEPT_CHARACTERS else _plain(sentence)


def _plain(sentence: str) -> str:
    if "[" in sentence:
        sentence = _LINK.sub(r"\1", sentence)
    if "*" in sentence:
        sentence = _EMPHASIS.sub(lambda bold: bold.group()[2:-2], sentence)
        sentence = _LIGHT_EMPHASIS.sub(r"\1", sentence)
    return _TAG.sub(lambda tag: tag.group(1) or "", sentence) if "<" in sentence else sentence


_kept_plain = lru_cache(_KEPT_TEXTS)(_plain)


def without_links(text: str) -> str:
    """A text to show, with the names of links instead of what they point to; code stays as it was
    written."""
    if "](" not in text:
        return text
    return _LINK_OR_CODE.sub(_name_of_link, text)


def _name_of_link(one: re.Match[str]) -> str:
    is_link = one[2] is not None and not _POINTS_SOMEWHERE.isdisjoint(one[2])
    return one[1] if is_link else one[0]


def without_bold(text: str) -> str:
    """A text to show, without the marks of bold words; code stays as it was written."""
    if "**" not in text:
        return text
    return _BOLD_OR_CODE.sub(lambda one: one[0] if one[0][0] == "`" else one[0][2:-2], text)


def _without_blocks(text: str) -> str:
    """A text without code blocks, tables, frames and directives to a program, and without the marks
    of quoted lines."""
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if "───" in text:
        text = FRAME_LINE.sub("", text)
    if "|" in text:
        text = _TABLE_ROW.sub("", text)
    if "::" in text:
        text = _APP_DIRECTIVE.sub("", text)
    return _QUOTE.sub("", text) if ">" in text else text


def counted(number: int, one: str, many: str = "") -> str:
    """`1 turn`, `2 turns`; `many` where it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def collapse_spaces(text: str) -> str:
    """All white space as single blanks."""
    return " ".join(text.split())


def without_open_label(task: str) -> str:
    """An open task without the label that its text begins with, if any ("Still open: "): what
    lists open tasks says so itself."""
    return _OPEN_LABEL.sub("", task)


# Code with `?` or `.` in it (`a ?? b ?? c`) closes within so many parts of a text.
_CODE_PARTS = 3


def sentences(text: str) -> list[str]:
    """The sentences of a text as they are written, each on one line; list items and lines each on
    their own; headings, code blocks and tables left out. `plain` takes marks out of one."""
    if len(text) > _MAX_KEPT_CHARACTERS:
        return _find_sentences(text)
    return list(_kept_sentences(text))


@lru_cache(_KEPT_TEXTS)
def _kept_sentences(text: str) -> tuple[str, ...]:
    return tuple(_find_sentences(text))


def _find_sentences(text: str) -> list[str]:
    found: list[str] = []
    for block in _paragraphs(_without_blocks(text)):
        pending = ""
        parts = _split_at_ends(block)
        for number, part in enumerate(parts, 1):
            pending = f"{pending} {part}".strip() if pending else part
            following = parts[number] if number < len(parts) else ""
            in_code = pending.count("`") % 2 and _closes_code(parts[number : number + _CODE_PARTS])
            if pending and not in_code and not _goes_on(pending, following):
                found.append(pending)
                pending = ""
        if pending:
            found.append(pending)
    return found


def _closes_code(parts: Sequence[str]) -> bool:
    """Whether the first of these parts with a mark of code has one that nothing opened."""
    return next((part.count("`") for part in parts if "`" in part), 0) % 2 == 1


def _goes_on(text: str, following: str) -> bool:
    """Whether a text ends with an abbreviation, or with what it quotes, so that its sentence goes
    on."""
    if _ends_abbreviated(text):
        return True
    return following[:1].islower() and _CLOSED_END.search(text) is not None


def _ends_abbreviated(text: str) -> bool:
    """Whether a text ends with an abbreviation, an initial ("e.g.") or the number of an item."""
    if not text.endswith("."):
        return False
    body = text[:-1]
    start = len(body)
    while start and (body[start - 1].isalnum() or body[start - 1] == "_"):
        start -= 1
    word = body[start:].lower()
    initial = len(word) == 1 and word.isascii() and word.isalpha()
    return initial or word in _ABBREVIATIONS or body.isdecimal()


def _split_at_ends(block: str) -> list[str]:
    """A paragraph cut after each end of a sentence."""
    parts: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(block):
        closed = end.end(1) if end.group(1) is not None else end.start()
        parts.append(block[start:closed].strip())
        start = end.end()
    return [*parts, block[start:].strip()]


def _paragraphs(text: str) -> list[str]:
    """Lines joined into paragraphs; a bullet or an empty line starts a new one."""
    blocks: list[str] = []
    open_block = False
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or _HEADING.match(line) or set(stripped) <= set("-=_*#>"):
            open_block = False
            continue
        bullet = LIST_MARK.match(line)
        words = collapse_spaces(line[bullet.end() :] if bullet else line)
        if open_block and not bullet:
            blocks[-1] = f"{blocks[-1]} {words}"
        else:
            blocks.append(words)
            open_block = True
        if words.endswith(":") and not bullet:
            open_block = False
    return blocks


def folded_sentences(*texts: str) -> set[str]:
    """The sentences of some texts, without what does not tell them apart: spaces, case, a stop."""
    found = (one for text in texts for one in sentences(text) or [text])
    return {collapse_spaces(one).casefold().rstrip(".!;") for one in found}


def headings(text: str) -> list[str]:
    """The markdown headings of a text, as they are written."""
    found = [_HEADING.match(line) for line in _FENCE.sub("\n", text).split("\n")]
    return [collapse_spaces(match.group(1)) for match in found if match and match.group(1)]


# A cut text ends at a word only if at least this share of it is kept; a very long last word is cut
# instead.
_MIN_KEPT_SHARE = 0.6
# A shorter last line of a cut text is a word or two of what comes next, and is left out.
_MIN_LAST_LINE = 20
_BEFORE_ELLIPSIS = " ,;:-–—.…(\n\t\r"


def truncate(text: str, limit: int) -> str:
    """A text on one line, cut like `cut`."""
    return cut(collapse_spaces(text), limit)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of a text as it is written, ending at a word where that costs
    little, with an ellipsis if something is missing."""
    text = text.strip("\n").rstrip()
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    space = max(head.rfind(" "), head.rfind("\n"))
    if space > limit * _MIN_KEPT_SHARE:
        head = head[:space]
    last = head.rfind("\n")
    if last > limit * _MIN_KEPT_SHARE and len(head) - last <= _MIN_LAST_LINE:
        head = head[:last]
    return head.rstrip(_BEFORE_ELLIPSIS) + "…"


def capitalize(text: str) -> str:
    """A text with a capital letter at its start, unless it starts with a name of code."""
    first = text.partition(" ")[0].rstrip(",.:;!?")
    is_word = first.replace("'", "").replace("’", "").replace("-", "").isalpha()
    return text[:1].upper() + text[1:] if is_word and first.islower() else text


_WORD = regex(r"[^\W_]+(?:['’][^\W\d_]+)?")
_NON_ASCII = regex(r"[^\x00-\x7f]")
# What separates words in ASCII; an apostrophe may stand within one.
_SEPARATORS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) != "'"}
_SUFFIXES = (
    "izations", "ization", "ations", "ingly", "ation", "ments", "ement", "ings", "edly", "ions",
    "ment", "ness", "ing", "ion", "ers", "ed", "es", "er", "ly", "s", "e",
)  # fmt: skip


_IRREGULAR = (
    "become became", "begin began begun", "break broke broken", "bring brought", "build built",
    "buy bought", "catch caught", "choose chose chosen", "come came", "do did done",
    "draw drew drawn", "fall fell fallen", "find found", "forget forgot forgotten",
    "freeze froze frozen", "give gave given", "go went gone", "grow grew grown", "hold held",
    "keep kept", "know knew known", "leave left", "lose lost", "make made", "pay paid",
    "rewrite rewrote rewritten", "rise rose risen", "run ran", "say said", "see saw seen",
    "send sent", "speak spoke spoken", "spend spent", "steal stole stolen", "stick stuck",
    "take took taken", "tell told", "think thought", "throw threw thrown", "win won",
    "write wrote written",
)  # fmt: skip
_IRREGULAR_FORMS = {form: forms.split() for forms in _IRREGULAR for form in forms.split()}


IRREGULAR_WORDS = frozenset(_IRREGULAR_FORMS)


def irregular_forms(word: str) -> Sequence[str]:
    """All irregular forms of a word: `chose` also as `choose` and `chosen`."""
    return _IRREGULAR_FORMS.get(word, [word])


def words(text: str) -> list[str]:
    """The words of a text in lower case; `snake_case` and `kebab-case` are split."""
    if not text.isascii():
        # Most texts in English have few other characters than dashes, quotes and arrows.
        plain_text = _NON_ASCII.sub(_blank_unless_of_word, text)
        if not plain_text.isascii():
            return _words_in_any_script(text)
        text = plain_text
    # Takes a fifth of the time of the pattern, which finds the same.
    spaced = text.lower().translate(_SEPARATORS)
    found: list[str] = []
    done, apostrophe = 0, spaced.find("'")
    while apostrophe >= 0:
        start, end = spaced.rfind(" ", 0, apostrophe) + 1, spaced.find(" ", apostrophe)
        end = end if end >= 0 else len(spaced)
        found += spaced[done:start].split()
        found += _WORD.findall(spaced, start, end)
        done, apostrophe = end, spaced.find("'", end)
    return found + spaced[done:].split()


def _blank_unless_of_word(character: re.Match[str]) -> str:
    sign = character[0]
    return sign if sign.isalnum() or sign == "’" else " "


def _words_in_any_script(text: str) -> list[str]:
    if "İ" in text or "Σ" in text:
        # The lower case of these letters splits a word, or depends on what follows it.
        return [word.lower() for word in _WORD.findall(text)]
    return _WORD.findall(text.lower())


_TOKEN = regex(r"[\w@][\w@./:-]*[\w@]")
_CODE_NAME = regex(r"\w(?:::|[./:_-])\w|[a-z0-9][A-Z]")
_IDENTIFIER_PART = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Longer tokens are encoded data rather than names.
_MAX_NAME_CHARACTERS = 120


def code_names(text: str, most: int = 8) -> list[str]:
    """The first code names in a text: paths, `snake_case`, `camelCase`, `Module::method`."""
    tokens = (token for token in _TOKEN.findall(text) if len(token) <= _MAX_NAME_CHARACTERS)
    named = (token for token in dict.fromkeys(tokens) if _CODE_NAME.search(token))
    return list(islice(named, most))


def split_identifier(name: str) -> list[str]:
    """The parts of a code name as they are spelled: `parseHTTPRequest` is parse, HTTP, Request.
    Characters that are neither letters nor digits separate parts too."""
    return _IDENTIFIER_PART.findall(name)


def fold_name(name: str) -> str:
    """A name without differences of spelling: `AuthProvider`, `auth_provider` and "the auth
    providers" give the same."""
    joined = "".join(re.findall(r"[^\W_]+", name.lower()))
    plural = len(joined) > 4 and joined.endswith("s") and not joined.endswith(("ss", "us", "is"))
    return joined[:-1] if plural else joined


def file_word(path: str) -> str:
    """How prose would name a file: its name without folder and ending, folded. The test of a
    file has another name."""
    return fold_name(file_stem(path)) or fold_name(path)


def file_stem(path: str) -> str:
    """The name of a file without folder and ending."""
    name = path.rstrip("/").rpartition("/")[2].strip(".")
    return name.rpartition(".")[0] or name


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without its ending, roughly: enough to treat `caching`, `cached` and `cache` as
    equal."""
    word = _IRREGULAR_FORMS.get(word, (word,))[0]
    if len(word) < 3 or not word.isascii():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") else word


DECISION_PATTERN = regex(
    r"\b(?:we(?:'ve| have)? (?:decided?|agreed|settled|chose|will go with|are going with)|"
    r"decision\s*:|decided (?:to|on|against)|let'?s (?:go with|use|keep|stick with|drop|switch)|"
    r"i(?:'d| would)? (?:prefer|choose|decided)|go with|stick (?:with|to)|from now on|"
    r"instead of|rather than|no longer|going forward|we should (?:not|never|always)|"
    r"revert(?:ed|ing)? (?:to|the|that|this)|roll(?:ed|ing)? back|supersed\w+)\b",
    re.IGNORECASE,
)


def states_decision(sentence: str) -> bool:
    """Whether a sentence states a decision."""
    return DECISION_PATTERN.search(plain(sentence)) is not None


_CHATTER = regex(
    r"^(?:let me|i['’]ll|i will|i['’]m going to|now (?:let|i)|"
    r"let['’]s (?:see|check|look|start|run)|perfect|"
    r"great|good|excellent|ok|okay|sure|alright|done|now |first,? (?:let|i)|looking|i need to|"
    r"i can see|i see|got it|here(?:['’]s| is| are)|"
    r"you(?:['’]?re| are) (?:absolutely |completely |totally )?(?:right|correct)"
    r"(?![-\w]| now\b))\b|"
    # An apology; what stands behind it may be a statement.
    r"^(?:i (?:\w+ )?apologi[sz]e|(?:my )?apologies|i owe you an apology|"
    r"(?:i['’]?m |i am )?(?:so |very )?sorry)\b[^,:;–—]*$",
    re.IGNORECASE,
)


def is_chatter(sentence: str) -> bool:
    """Whether a sentence narrates the work instead of stating something."""
    return _CHATTER.match(plain(sentence)) is not None


# JSON, a line of a log or of a patch.
_DATA = regex(
    r"^\W*[\[{]\s*[\"{\[]|^\W*\[(?:\d+\] \w+ \w+|(?:remote )?rejected\])|\\n[@*+-]|"
    r"\"\w+\":.*\"\w+\":"
)


# One of them is in every match of the pattern above.
_DATA_MARKS = ("[", "{", '"', "\\n")


def is_data(text: str) -> bool:
    """Whether a text is data that was pasted, and nobody's sentence."""
    return any(mark in text for mark in _DATA_MARKS) and _DATA.search(text) is not None


class CausalRelation(NamedTuple):
    """A relation that a sentence states: `first` causes, enables or prevents (`how`) what is in
    `then`. A part that the sentence leaves out is ""."""

    how: str
    first: str
    then: str


# Each pattern has the cause in the group `a` and its effect in `b`, or in `c` and `b`.
_RELATIONS = tuple(
    (how, regex(pattern, re.IGNORECASE))
    for how, pattern in (
        ("causes", r"^(?P<b>.*?)\b(?:because(?: of)?|due to|owing to|as a result of|"
         r"(?:was|were|is|are|got|being)? ?caused by|(?:comes?|came|stems?|stemmed) from|"
         r"triggered by|broken by|introduced (?:by|in))\b(?P<a>.+)$"),
        ("causes", r"^(?P<b>.*?)\b(?:root cause|culprit|(?:real|actual|underlying) "
         r"(?:problem|cause|reason|issue)|reason)\b(?: (?:of|for|behind) (?P<c>.{3,80}?))?"
         r" ?(?:is|was|:|turned out to be|lies in|lay in)(?P<a>.+)$"),
        ("causes", r"^(?P<a>.+?)\b(?:leads? to|led to|caus(?:es|ed|ing)|results? in|resulted in|"
         r"triggers|triggered|breaks|broke|is why|was why|made it fail)\b(?P<b>.+)$"),
        ("causes", r"^(?P<a>.{8,}?), (?:so|hence|therefore|thus|which is why)\b(?! that\b)"
         r"(?P<b>.+)$"),
        ("causes", r"^(?:since|as) (?P<a>[^,]{8,}),(?P<b>.+)$"),
        ("prevents", r"^(?P<a>.{8,}?),? so that (?P<b>(?:[^\s,]+ ){1,8}?(?:no longer|never|"
         r"can(?:not|['’]t))\b.{3,})$"),
        ("prevents", r"^(?P<a>.*?)\b(?:prevent(?:s|ed|ing)?|avoids|avoided|avoiding|to avoid|"
         r"guard(?:s|ed|ing)? against|rul(?:es|ed|ing) out|protect(?:s|ed|ing)? (?:[^\s,]+ ){0,4}?"
         r"(?:from|against))\b(?P<b> .{3,})$"),
        ("prevents", r"^(?P<a>.*?)\b(?:(?:keep|stop|block)(?:s|ing|ped|ed)?|kept) "
         r"(?P<b>(?:[^\s,]+ ){1,6}?from \w+ing\b.*)$"),
        ("prevents", r"^(?P<a>.{8,}?)\binstead of (?P<b>(?:silently )?(?:fail|crash|hang|throw|"
         r"panick|dropp|los|leak|gett|break|swallow|duplicat|overwrit|timing out|rais)\w*\b.*)$"),
        ("enables", r"^(?P<a>.+?)\b(?:so that(?!['’]s\b| (?:can|could|is|was|are|were|will|would|"
         r"session|one|part|means|also)\b)|in order (?:to|that)|enabl(?:es|ing)|allow(?:s|ing)|"
         r"(?:enabled|allowed) (?:us|you|me|users|callers|it|them|the [\w-]+) to|lets|letting|"
         r"unblock(?:s|ing)|mak(?:es|ing|e) (?:it )?possible|(?:is|are|was|were) (?:needed|"
         r"required|a prerequisite) (?:for|by|to))\b(?P<b> .{3,})$"),
    )
)  # fmt: skip
# Most sentences have none of these words, and need no pattern.
_RELATION_CUE = regex(
    r"because|due to|owing to|result|caus|from|trigger|bro(?:ke|ken)|breaks|introduced|culprit|"
    r"reason|problem|issue|leads? to|led to|is why|was why|, (?:so|hence|therefore|thus|which)|"
    r"^(?:since|as) |so that|in order|enabl|allow|let(?:s|ting)\b|unblock|possible|prevent|avoid|"
    r"guard|rul(?:es|ed|ing) out|protect|instead of|needed|required|prerequisite|made it",
    re.IGNORECASE,
)
# "Does not prevent" states no relation.
_NEGATION_BEFORE = regex(
    r"(?:\b(?:not|never|no longer|cannot|without|nothing|none)|n['’]t)\s*$", re.IGNORECASE
)
_FAILURE = regex(
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|crash\w*|bugs?|broken?|breaks|hangs?|hung|leak\w*|"
    r"regress\w*|exceptions?|timeouts?|timed out|deadlock\w*|flaky|wrong(?:ly)?|corrupt\w*|"
    r"stale|loops?|missing|panic\w*|segfault\w*|traceback|doesn'?t work|not working|stuck)\b",
    re.IGNORECASE,
)
# Longer "sentences" are logs or lists, on which the patterns are slow and wrong.
_MAX_SENTENCE_CHARACTERS = 600


def causal_relations(sentence: str) -> list[CausalRelation]:
    """What a sentence says causes, enables or prevents something."""
    sentence = plain(sentence)
    if len(sentence) > _MAX_SENTENCE_CHARACTERS or sentence.rstrip().endswith("?"):
        return []
    if _RELATION_CUE.search(sentence) is None:
        return []
    found: dict[str, CausalRelation] = {}
    for how, pattern in _RELATIONS:
        match = None if how in found else pattern.match(sentence)
        if match and (how == "causes" or not _NEGATION_BEFORE.search(match["a"])):
            groups = match.groupdict()
            then = f"{groups.get('c') or ''} {groups['b']}".strip(" ,;:.")
            found[how] = CausalRelation(how, groups["a"].strip(" ,;:."), then)
    if "prevents" in found:
        found.pop("enables", None)  # "so that it no longer fails" states no further purpose
    return list(found.values())


def describes_failure(sentence: str) -> bool:
    """Whether a sentence describes something that does not work."""
    return _FAILURE.search(plain(sentence)) is not None


_NEGATION = regex(
    r"\b(?:not|no|never|none|nor|cannot|without|avoid|stop|forbid(?:den)?|refuse|reject|"
    r"drop(?:ped)?|\w+n['’]t|no longer|nie|niemals|nicht|kein\w*|jamais|nunca|mai|nooit|никогда)\b",
    re.IGNORECASE,
)
# A "no" in answer to what was said before; it does not negate the rest.
_LEADING_NO = regex(r"^\s*(?:no|nope|nein|non)\s*[,.!:;–—-]\s*", re.IGNORECASE)
# Words that say how firmly something is said, but not what.
_FRAMING_WORDS = (
    "always never must should shall may ever don didn doesn won isn aren cannot please "
    "remember now decided decide decision agreed agree rule rules convention policy going "
    "forward instead rather really actually exactly ensure sure important note make keep "
    "forget told tell said say avoid prefer preferred every everywhere any all whenever "
    "future project"
)


@cache
def _framing_stems() -> frozenset[str]:
    return frozenset(map(stem, _FRAMING_WORDS.split()))


def is_negated(sentence: str) -> bool:
    """Whether a sentence forbids or negates something."""
    return _NEGATION.search(_LEADING_NO.sub("", plain(sentence))) is not None


def content_stems(text: str) -> frozenset[str]:
    """The stems of a text that say what it is about, without those that only frame it."""
    framing = _framing_stems()
    found = (stem(word) for word in words(plain(text)) if word not in STOPWORDS)
    return frozenset(
        root for root in found if (len(root) > 1 or root.isdigit()) and root not in framing
    )


def shared_fraction(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter of two texts, by their content stems, that is in the longer."""
    shorter = min(len(one), len(other))
    return len(one & other) / shorter if shorter else 0.0


# Some transcripts have no calls of tools, but an agent that works says so: "Let me check it:",
# "**Examining chat.py**". Each counts as a call.
_ANNOUNCED_CALL = regex(
    r"\b(?:let me|let['’]s|i['’]ll|i will|i need to|now i) (?:(?:first|also|now|just|then) )?"
    r"(?:check|look|read|see|examine|verify|update|add|create|fix|search|view|find|run|start|"
    r"investigate|review|analy\w+|test|explore|understand|implement|modify|inspect|trace)\b|"
    r"\*\*[A-Z]\w+ing\b[^*\n]{3,80}\*\*",
    re.IGNORECASE,
)


def announced_calls(text: str) -> int:
    """How often an agent says in a message that it is about to call a tool."""
    return len(_ANNOUNCED_CALL.findall(text))
