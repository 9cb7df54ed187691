"""What a session was about: its own title where the transcript has one, else how a model titled its
beginning, else the commit it made, else its first request that says something, else what the agent
said of the result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.language import collapse_spaces, content_stems, is_chatter, plain, sentences
from holdfast.model.records import Exchange, Session
from holdfast.refine.core.signals import COMMITTED, is_commit
from holdfast.regex import regex

# Stems that a request needs to say what a session is about.
_MIN_STEMS = 3
# More commits than this are about more than one matter.
_MAX_COMMITS = 2
# A remark in brackets, a command, a plain yes, what a program wrote: they say nothing.
_EMPTY = regex(
    r"^(?:[(\[/<]|(?:yes|no|ok(?:ay)?|go|continue|commit|push|thanks?|caveat)\b|"
    r"this session is being continued|the following is the \w+ agent history)",
    re.IGNORECASE,
)
# How the summary of an exchange without a reply begins.
_ACTIONS = regex(r"^(?:Changed |ran )")
# Japanese and Chinese write words without spaces between them.
_WITHOUT_SPACES = regex(r"[\u3040-\u30ff\u3400-\u9fff]{6}")
_LINK = regex(r"\[?https?://[^\s\])…]+[\])…]*(?:\([^\s)]*\)?)?")


def session_subject(session: Session, exchanges: Sequence[Exchange]) -> str:
    """What a session was about, in a few words; "" if it has none."""
    return collapse_spaces(session.title) or plain(_subject(exchanges))


def session_title(session: Session, exchanges: Sequence[Exchange]) -> str:
    """The title of a session: its own and what it was about."""
    own, about = collapse_spaces(session.title), _subject(exchanges)
    if own and about and own.lower() not in about.lower():
        return f"{own} — {about}"
    return about or own


def says_something(title: str) -> bool:
    """Whether a title tells what it is about: a link, a command or a plain yes does not."""
    bare = _LINK.sub(" ", title)
    enough = len(content_stems(bare)) >= _MIN_STEMS or _WITHOUT_SPACES.search(bare) is not None
    return enough and not _EMPTY.match(title)


def _subject(exchanges: Sequence[Exchange]) -> str:
    first = exchanges[0].title if exchanges else ""
    if exchanges and exchanges[0].author:
        return first
    facts = [fact for exchange in exchanges for fact in exchange.facts]
    commits = [fact.removeprefix(COMMITTED) for fact in facts if is_commit(fact)]
    if len(commits) <= _MAX_COMMITS and (telling := next(filter(says_something, commits), "")):
        return telling
    return next(filter(says_something, _tellings(exchanges)), first)


def _tellings(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """What may tell the subject, best first: requests, then what was said of the result of those
    that are little more than a link or a yes."""
    yield from (exchange.title for exchange in exchanges)
    for exchange in exchanges:
        if _EMPTY.match(exchange.title) or _LINK.search(exchange.title):
            found = sentences(exchange.summary)
            yield from (s for s in found if not is_chatter(s) and not _ACTIONS.match(s))
