"""Reads the five dimensions of a text that somebody retains, and proposes its network, by rules.

*What* is the text itself. *When* is a time that it states, for what was done or noticed; *where*
are the files and lines that it names, *who* the people and components, and *why* is the clause that
gives a reason. Nothing is guessed: a dimension that the text does not state stays empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from holdfast.language import code_names, plain, truncate
from holdfast.model.graph import SpellingSource
from holdfast.model.knowledge import Network
from holdfast.recall.query.time_ranges import read_time_range
from holdfast.refine.entities.name_finder import find_names
from holdfast.regex import regex

# The confidence of an opinion whose words say nothing of how sure they are.
PROPOSED_CONFIDENCE = 0.7
_MAX_NAMES = 6
_MAX_WHY_CHARS = 300
# A span of more days ("last year") says too little for the time of one deed.
_MAX_DAYS = 45

_NOTICED = regex(
    r"\b(?:noticed|often|usually|tends? to|every time|each time|whenever|most of the time|"
    r"again and again|keeps? (?:\w+ing|on)|turns? out|go(?:es)? together|"
    r"always (?:needs?|requires?))\b"
)
_DEEDS = (
    r"(?:fix|mov|add|remov|renam|replac|updat|implement|refactor|migrat|deploy|revert|merg|upgrad|"
    r"delet|creat|chang|install|enabl|disabl|configur|extract|introduc|bump|clean|patch|mend|port|"
    r"switch|test|measur|profil|document|review|releas|publish|tri|solv|resolv|debug)(?:p|t|g|l|n|i)?ed"
    r"|rewrote|wrote|built|ran|made|found|split|cut|put|took|set up|got|broke|began|chose|sped|sent"
)
_DID = regex(rf"^\W*(?:(?:i|we)(?:['’]ve| have)?(?: just| also| now| finally)? )?(?:{_DEEDS})\b")
_BELIEVES = regex(
    r"\b(?:i|we) (?:think|believe|feel|prefer|like|love|hate|doubt|suspect|consider|trust)\b"
    r"|\bin (?:my|our) (?:opinion|view|experience)\b|\b(?:better|worse|nicer|safer|cleaner) than\b"
    r"|\b(?:prefers?|favou?rs?) \w+"
)
_REASON = regex(
    r"\b(?:because(?: of)?|due to|on account of|"
    r"since (?=\w+ (?:is|are|was|were|has|have|had|needs?)\b))\s*(?P<cause>[^.;\n]+)"
    r"|(?P<purpose>\b(?:so that|in order to|to (?:avoid|prevent|make sure|keep|allow|let|stop)) "
    r"[^.;\n]+)"
)
_LINE = regex(r"\b(?:lines?|L) ?(\d+(?: ?[-–] ?\d+)?)\b")
_FILE_LINE = regex(r"[\w/]\.\w+:(\d+)")
_STATED_TIME = regex(
    r"\d|\b(?:yesterday|today|tonight|ago|last|this (?:morning|week|month)|earlier)\b"
)
_WEEKDAY = regex(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|[A-Z][a-z]+ary|March|April|May")
_NAMED = (
    SpellingSource.NAME,
    SpellingSource.PROPER,
    SpellingSource.ISSUE,
    SpellingSource.PACKAGE,
)


class TextDimensions(NamedTuple):
    """What a text states: the network it belongs to, the time of what it tells ("" if none), the
    places, names and reason; several separated by commas."""

    network: Network
    when: str = ""
    where: str = ""
    who: str = ""
    why: str = ""


def read_dimensions(text: str, now: str, network: Network | None = None) -> TextDimensions:
    """The dimensions of a text that was written now; without a network, of the proposed one."""
    network = network or propose_network(text)
    return TextDimensions(
        network,
        _when(text, now) if network in (Network.EXPERIENCE, Network.OBSERVATION) else "",
        ", ".join(dict.fromkeys(_places(text))),
        ", ".join(dict.fromkeys(_names(text))),
        _why(text),
    )


def propose_network(text: str) -> Network:
    """The network that a text belongs to: *experience* tells what was done, *observation* what was
    noticed more than once, *opinion* judges; anything else is what holds in the *world*."""
    told = plain(text).lower()
    if _DID.match(told):
        return Network.EXPERIENCE
    if _NOTICED.search(told):
        return Network.OBSERVATION
    if _BELIEVES.search(told):
        return Network.OPINION
    return Network.WORLD


def _when(text: str, now: str) -> str:
    """When that happened, if the text says so and it is past."""
    found = read_time_range(text, datetime.fromisoformat(now), lambda words: None)
    if found is None or not _STATED_TIME.search(found.phrase.lower()) or not found.start:
        return ""
    ends = datetime.fromisoformat(found.end or now)
    days = (ends - datetime.fromisoformat(found.start)).days
    return found.start if found.start <= now and days <= _MAX_DAYS else ""


def _places(text: str) -> Iterator[str]:
    files = [m.text for m in find_names(text) if m.source is SpellingSource.PATH]
    files += [name for name in code_names(text) if "/" in name and "://" not in name]
    line = _LINE.search(text) or _FILE_LINE.search(text)
    for file in dict.fromkeys(files):
        yield f"{file}:{line[1]}" if line and len(set(files)) == 1 else file


def _names(text: str) -> list[str]:
    found = [m.text for m in find_names(text) if m.source in _NAMED]
    found += [name for name in code_names(text) if not set("/.-") & set(name)]
    names = (name for name in found if not _WEEKDAY.fullmatch(name))
    return list(dict.fromkeys(names))[:_MAX_NAMES]


def _why(text: str) -> str:
    found = _REASON.search(text)
    if found is None:
        return ""
    return truncate((found["cause"] or found["purpose"]).strip(" ,"), _MAX_WHY_CHARS)
