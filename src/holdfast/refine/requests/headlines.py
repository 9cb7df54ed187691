"""The headline of a request: what it asks for, in one line of its own words.

A request that is a document, such as a plan or a prompt for a team of agents, is called what its
heading says; one that wraps the history of another session, what was asked for there. Small talk
and who the reader is are no request.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.language import capitalize, collapse_spaces, content_stems, headings, sentences
from holdfast.refine.requests.agent_prompts import is_template
from holdfast.refine.requests.telling_words import telling_stems
from holdfast.regex import regex


class HeadlineLimits(NamedTuple):
    """What makes a headline."""

    # A request of fewer words ("commit", "fix it") does not make a title by itself.
    words: int = 3
    # A heading of fewer stems ("Plan", "System context") says nothing of its document.
    heading_stems: int = 2
    # A goal that is longer than this is an explanation.
    goal_characters: int = 300
    # Of a request with fewer stems than this the chance that they recur is high.
    full_request_stems: int = 4
    # A later request of a history stands for it if the history is so much more about it.
    more_about_request: float = 1.6


LIMITS = HeadlineLimits()

_COURTESY = regex(
    r"^(?:(?:hi|hey|hello|ok|okay|so|now|and|also|please|well|great|thanks?|perfect|claude(?=,))"
    r"[,.! ]+)*"
    r"(?:(?:can|could|would|will) you (?:please )?|please |i(?:'d| would) like you to |"
    r"i (?:want|need) you to |let'?s |we need to |i want to |your (?:task|job) (?:is )?to |"
    r"your task: )?(?:help me (?:to )?(?!with\b|out\b|on\b|please\b))?",
    re.IGNORECASE,
)
_TRAILING_MARKS = " .:;!,"
_LEADING_MARKS = regex(r"^[\s.:;!,]+(?=\s)\s*")
# What a program puts before the request, in tags, and the tags around a request that is cut off.
_TAGGED = regex(r"^(?:\s*<([a-z][a-z_-]*)(?:\s[^<>]*)?>.*?</\1>\s*)+", re.DOTALL)
_OPENED = regex(r"^(?:\s*<([a-z][a-z_-]*)>(?:[^<>]*</\1>)?)+\s*(?=\w)")
_LEAF = regex(r"<([a-z][a-z_-]*)>\s*([^<>]+?)\s*</\1>")
# The fields of a prompt that a program composed ("[[ ## question ## ]]"), of which one is the
# request, and who speaks in it ("@[User]:").
_FIELD = regex(r"^\[\[ ## (\w+) ## \]\][ \t]*$", re.M)
_REQUEST_FIELD = regex(r"(?:^|_)(?:query|question|request|task|prompt|instructions?|input)$", re.I)
_SPEAKER = regex(r"^@\[(\w+)\]:[ \t]*", re.M)
_ASKING_SPEAKERS = frozenset(("user", "human"))
# A command of the agent before what it is given: "/review the parser".
_SLASH_COMMAND = regex(r"^/[\w:-]+ +(?=(?:\S+ +){2}\S)")
# What an editor puts before a request: the assistant that is asked, the terminal, what is selected.
# One or two files say what it is about, a list of them before or behind it does not.
_MENTIONED = regex(
    r"^(?:(?:@(?:agent|workspace)\b|#(?:terminal\w+|codebase\b|selection\b))[,:]?\s+)+"
)
_FILE = r"@[\w./\\-]*\w\.\w{1,10}\b"
_LISTED_FILES = regex(
    rf"^(?:{_FILE}[ \t,]*){{3,}}|(?<=[.?!:\n])[ \t]{{0,3}}(?:{_FILE}[ \t,]*){{3,}}$"
)
# How Claude Code starts a subagent before there is work for it.
_WARM_UP = regex(r"^\W*warm-?up\W*$", re.I)
_PLAN_PREAMBLE = regex(
    r"^(?:implement|execute|follow|here is|this is) (?:the |this )?(?:following )?plan", re.I
)
# What kind of document it is stands around its matter.
_BEFORE_MATTER = regex(
    r"^(?:(?:implementation )?plan|task|prd|spec(?:ification)?|rfc)\s*[:—–-]+\s*", re.I
)
_AFTER_MATTER = regex(r"\s+[—–-]+\s+(?:[\w-]+ ){0,3}(?:prompt|plan|prd|spec(?:ification)?)$", re.I)
# Headings of what a program adds to a request.
_ADDED = regex(
    r"^(?:agents\.md|claude\.md|context from|files mentioned|system |(?:agent )?instructions)", re.I
)
_GOAL = regex(r"^[\s>*_#-]*(?:goal|objective|scope)[*_]*\s*:[*_]*[ \t]*(\S[^\n]*)$", re.I | re.M)
# The history of another session, as a program hands it over for a review.
_HISTORY = regex(r"^the following is the \w+ agent history\b", re.IGNORECASE)
_ASKED_THERE = regex(r"^\[\d+\] user: *(.+?)(?=^\[\d+\] \w|^>>> |\Z)", re.M | re.DOTALL)
# Who the reader is: "You are api-dev on the Orders team (Phase 2)." names the work, too.
_ROLE = ("You are ", "You're ", "Your name is ")
_SMALL_TALK = regex(
    r"^\W*(?:good (?:morning|afternoon|evening)|welcome back|(?:please )?pick(?:ing)? up where)\b",
    re.IGNORECASE,
)
_TEAM = regex(r"\b(?:on|for|of|in) (?:the )?([A-Z][^.\n]{2,60}?)\.?$")
# Code stays as it was written: what is between backticks, and what leads to no address: `[x](y)`.
_LINK = regex(
    r"`[^`\n]*`|"
    r"(?<![\w\]])\[(?P<text>[^\]\n]+)\]\((?=#|[^)\s]*/)[^)\s]*\)?|"
    r"https?://(?P<host>[^\s/)\]>`'\"?,]+)(?P<path>/(?:[^\s)\]>`'\"]*[^\s)\]>`'\"?!.,:;])?)?"
)
# How trackers number what is talked about: ".../owner/name/issues/12".
_THREAD = regex(r"/(?P<what>issues|pull|pulls|discussions|merge_requests)/(?P<number>\d+)\b")
_THREADS = {"issues": "issue", "discussions": "discussion", "merge_requests": "merge request"}
_REPOSITORY = regex(r"^/([\w.-]+/[\w.-]+)")
_REPOSITORY_HOSTS = ("github.com", "gitlab.com")
# What a person pasted from a terminal, from the prompt of the shell on: "➜ api git:(main) ✗ npm
# run dev", "dev@host:~/api$ make". The first line is the command; the rest was printed.
_TERMINAL = regex(
    r"(?:^➜ +|\s➜ +(?=\S+ +git:\())(?:\S+ +)?(?:git:\([^)\s]*\) +)?(?:✗ +)?|(?:^|\s)(?:"
    r"[\w.-]+@[\w.-]+[: ][~/][^\s$#%]* ?[$#%] +|"
    r"[\w./~-]+ git:\([^)\s]*\) +(?:✗ +)?)",
)
# The command line of a program that a person ran or pasted.
COMMAND = regex(
    r"^\s*(?:[$!>%] |(?i:uvx?|npm|npx|pnpm|yarn|cargo|pip|pytest|kubectl|sudo|mvn)\s+[\w./-]|"
    r"(?:git|gh|bun|docker|python3?|bash|sh|cd|ls|cat|curl|ssh|dotnet)\s+[a-z./-])"
)
_AT_WORK = regex(r"^You are (?:currently |now )?(?=[a-z]{3,}ing\b)")


def headline(request: str) -> str:
    """What a request asks for, without courtesies; "" for an empty one, a warm-up, and a prompt
    that a program begins in the same words whatever is to be done."""
    if is_template(request):
        return ""
    text = _SLASH_COMMAND.sub("", _without_mentions(_unwrapped(_untagged(request.strip()))))
    if not text or _WARM_UP.match(text):
        return ""
    if pasted := _TERMINAL.search(text):
        typed = text[: pasted.start()].strip()
        command = text[pasted.end() :].split("\n", 1)[0].strip()
        if not typed and command:
            return short_links(command)
        text = typed or text
    return short_links(_of_history(text) or _of_document(text) or _of_sentences(text))


def _without_mentions(text: str) -> str:
    """A request without what an editor put into it, if enough of it is left."""
    left = _MENTIONED.sub("", _LISTED_FILES.sub(" ", text).strip())
    return left if len(left.split()) >= LIMITS.words else text


def _unwrapped(text: str) -> str:
    """The request of a prompt that a program composed of fields and of what several say."""
    if _FIELD.match(text):
        _, *parts = _FIELD.split(text)
        fields = list(zip(parts[::2], (value.strip() for value in parts[1::2]), strict=True))
        asked = [value for name, value in fields if value and _REQUEST_FIELD.search(name)]
        text = next(iter(asked or [value for _, value in fields if value]), "")
    if _SPEAKER.match(text):
        _, *parts = _SPEAKER.split(text)
        said = list(zip(parts[::2], (value.strip() for value in parts[1::2]), strict=True))
        asked = [value for who, value in said if value and who.lower() in _ASKING_SPEAKERS]
        text = next(iter(asked or [value for _, value in said if value]), "")
    return text


def _untagged(text: str) -> str:
    """A request without what stands in tags before it, or without the tags around it."""
    return _OPENED.sub("", _TAGGED.sub("", text) or _longest_tagged(text))


def _longest_tagged(text: str) -> str:
    """The longest text in tags of a request that is wholly in tags; else the request."""
    inner = [found[2] for found in _LEAF.finditer(text)]
    return max(inner, key=len, default=text)


def short_links(text: str) -> str:
    """A text with what links lead to in place of their addresses: "issue #12", "owner/name", or the
    host."""
    return collapse_spaces(_LINK.sub(_short, text)) if "://" in text or "](" in text else text


def _short(link: re.Match[str]) -> str:
    if link[0].startswith("`"):
        return link[0]
    if link["text"]:
        return short_links(link["text"])
    path = link["path"] or ""
    if thread := _THREAD.search(path):
        return f"{_THREADS.get(thread['what'], 'PR')} #{thread['number']}"
    repository = _REPOSITORY.match(path) if link["host"] in _REPOSITORY_HOSTS else None
    return repository[1] if repository else link["host"]


def _of_history(text: str) -> str:
    """What the person of another session asked for, where a request hands its history over: first,
    unless the history is far more about something that was asked for later."""
    if not _HISTORY.match(text):
        return ""
    asked = (_untagged(found[1].strip()) for found in _ASKED_THERE.finditer(text))
    lines = [_of_document(one) or _of_sentences(one) for one in asked if one]
    lines = [line for line in lines if len(content_stems(line)) > LIMITS.heading_stems]
    if not lines:
        return ""
    told = Counter(stem for line in text.split("\n") for stem in content_stems(line))

    def share(line: str) -> float:
        stems = telling_stems(line)
        weight = sum(math.log1p(told[stem]) for stem in stems)
        return weight / max(LIMITS.full_request_stems, len(stems))

    best = max(lines, key=share)
    return best if share(best) > LIMITS.more_about_request * share(lines[0]) else lines[0]


def _of_document(text: str) -> str:
    """The matter of a document: its first heading, or else the goal that it names."""
    is_plan = _PLAN_PREAMBLE.match(text) is not None
    if not is_plan and not text.startswith("#"):
        return ""
    named = next(iter(headings(text)), "")
    matter = _AFTER_MATTER.sub("", _BEFORE_MATTER.sub("", named))
    goal = _GOAL.search(text)
    if len(content_stems(matter)) >= LIMITS.heading_stems and not _ADDED.match(matter):
        return matter
    if goal and len(goal[1]) <= LIMITS.goal_characters:
        return _without_courtesy(goal[1])
    return matter if is_plan else ""


def _of_sentences(text: str) -> str:
    """The first sentence that asks for something. A subagent's prompt starts with who it is; the
    task comes after ("You build the screens")."""
    found = sentences(text) or [collapse_spaces(text)]
    found = [one for one in found if not _SMALL_TALK.match(one)] or found
    if found[0].startswith(_ROLE):
        return _of_role(found)
    return capitalize(_first_task(found) or collapse_spaces(text))


def _of_role(found: Sequence[str]) -> str:
    doing = _AT_WORK.sub("", found[0])
    if doing != found[0]:
        return capitalize(_without_courtesy(doing))
    tasks = [one.removeprefix("You ") for one in found if not one.startswith(_ROLE)]
    line = capitalize(_first_task(tasks or found))
    team = _TEAM.search(found[0])
    is_named = team is None or content_stems(team[1]) <= content_stems(line)
    return line if is_named or team is None else f"{line} ({team[1]})"


def _first_task(found: Sequence[str]) -> str:
    bare = [_without_courtesy(sentence) for sentence in found]
    good = (line for line in bare if len(line.split()) >= LIMITS.words)
    return next(good, "") or next((line for line in bare if len(line) >= 3), "")


def _without_courtesy(sentence: str) -> str:
    asked = _COURTESY.sub("", sentence, count=1)
    return _LEADING_MARKS.sub("", asked).rstrip(_TRAILING_MARKS)
