"""Times, sizes, headings and the names of banks as pages show them, and links to their places."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from holdfast.language import counted, truncate
from holdfast.model.bank import Bank
from holdfast.model.uris import parse_uri
from holdfast.regex import regex

# Names of banks that stand in an address as they are.
_ADDRESSABLE = regex(r"[\w.@+ -]{1,80}")
# Units of an age: from how many seconds on one is used, and its length. Two of a unit are needed
# before months, weeks and days are, so that an age is right by a third at least.
_DAY_S = 86_400
_UNITS_S = (
    ("year", 365 * _DAY_S, 365 * _DAY_S),
    ("month", 61 * _DAY_S, 61 * _DAY_S / 2),
    ("week", 14 * _DAY_S, 7 * _DAY_S),
    ("day", 2 * _DAY_S, _DAY_S),
    ("hour", 3600, 3600),
    ("minute", 60, 60),
)
# Clocks of two machines may differ; farther ahead, the day says more than an age.
_CLOCK_SLACK_S = 120
# A heading that is longer is cut, and the whole text stands below it.
MAX_HEADING_CHARS = 160
# A first line that is shorter than this, such as the name of a tool, says too little alone.
_MIN_HEADING_CHARS = 24
_SENTENCE_END = regex(r"(?<=[^\W\d_][^\W\d_][.!?])\s+(?=[^\Wa-z_])")
# After a name or a bracket it is an index: `rows[0]`.
_CITED = regex(r"(?<![\w\])`])\[(\d{1,3})\]")


def spell(time: str, form: str = "day") -> str:
    """A time as a day (2 Sep 2026), a moment (2 Sep 2026, 08:13) or a clock shows it (08:13)."""
    forms = {"day": "{0.day} {0:%b %Y}", "moment": "{0.day} {0:%b %Y, %H:%M}", "clock": "{0:%H:%M}"}
    found = _parsed(time)
    return forms[form].format(found) if found else "" if form == "clock" else "undated"


def age(time: str, now: datetime | None = None) -> str:
    """5 weeks ago, rounded down, in the largest unit; "undated" for no time."""
    then, now = _parsed(time), now or datetime.now(UTC)
    if then is None:
        return "undated"
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    passed_s = (now - then).total_seconds()
    for unit, from_s, length_s in _UNITS_S:
        if passed_s >= from_s:
            return f"{counted(int(passed_s // length_s), unit)} ago"
    return "just now" if passed_s > -_CLOCK_SLACK_S else f"{then.day} {then:%b %Y}"


def lasted(started: str, ended: str) -> str:
    """The time between two moments."""
    first, last = _parsed(started), _parsed(ended)
    if first is None or last is None:
        return ""
    minutes = round((last - first).total_seconds() / 60)
    if minutes < 60:
        return f"{max(minutes, 1)} min"
    hours = minutes / 60
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.0f} days"


def _parsed(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time)
    except ValueError:
        return None


def bank_labels(banks: Sequence[Bank]) -> dict[str, str]:
    """For banks of the same name, what tells them apart: the location, or else the id; "" for a
    bank whose name is unique."""
    names = Counter(bank.name for bank in banks)
    places = {
        bank.id: next((alias.partition(":")[2] for alias in bank.aliases), "") or bank.id
        for bank in banks
    }
    both = Counter((bank.name, places[bank.id]) for bank in banks)
    return {
        bank.id: ""
        if names[bank.name] == 1
        else places[bank.id]
        if both[bank.name, places[bank.id]] == 1
        else bank.id
        for bank in banks
    }


def bank_choices(banks: Sequence[Bank]) -> list[tuple[Bank, str]]:
    """Banks with labels that are all different."""
    labels = bank_labels(banks)
    return [
        (one, f"{one.name} ({labels[one.id]})" if labels[one.id] else one.name) for one in banks
    ]


def bank_keys(banks: Sequence[Bank]) -> dict[str, str]:
    """How addresses call banks, by their ids: by name, or by id if several have that name or an
    address could not tell it."""
    names = Counter(bank.name for bank in banks)
    reserved = {"all", "", *(bank.id for bank in banks)}
    return {
        bank.id: bank.id
        if names[bank.name] > 1 or bank.name in reserved or not _ADDRESSABLE.fullmatch(bank.name)
        else bank.name
        for bank in banks
    }


def link(uri: str) -> str:
    """The page of the record that a URI names; "" if it names none."""
    named = parse_uri(uri)
    if named is None or not named.kind:
        return ""
    if named.kind == "entity":
        return f"/entities?focus={quote(named.id, safe='')}"
    return f"/record/{quote(named.kind, safe='')}/{quote(named.id, safe=':')}"


def place(uri: str) -> str:
    """The place of a record in its session, where it is said in one, else its page."""
    is_said = uri.startswith(
        tuple(f"holdfast://{kind}/" for kind in ("turn", "exchange", "digest"))
    )
    return f"{link(uri)}/place" if is_said else link(uri)


def session_link(session: str, place: int = 0) -> str:
    """The page of a session, at a message if `place` is given."""
    page = f"/sessions/{quote(session, safe=':')}"
    return f"{page}?at={place}#msg-{place}" if place else page


def split_heading(text: str, limit: int = MAX_HEADING_CHARS) -> tuple[str, str]:
    """A text as its heading and what stands below it: its first line and the rest. Of a long first
    line the heading is the sentences that fit; if not even the first one does, it is cut, and then
    all of the text is below. A name on its own line is joined with the line below it."""
    first, _, rest = text.strip().partition("\n")
    if len(first) < _MIN_HEADING_CHARS and rest and not rest.startswith("\n"):
        more, _, rest = rest.partition("\n")
        first = f"{first} {more}"
    if len(first) > limit:
        ends = [found.start() for found in _SENTENCE_END.finditer(first, _MIN_HEADING_CHARS, limit)]
        if not ends:
            return truncate(first, limit), text.strip()
        first, rest = first[: ends[-1]], f"{first[ends[-1] :].strip()}\n{rest}"
    return first.strip(), rest.strip()


def pieces(text: str) -> list[tuple[str, int]]:
    """A text split at its citations: pieces of text with 0, and "" with a citation's number."""
    found: list[tuple[str, int]] = []
    at = 0
    for mark in _CITED.finditer(text):
        found += [(text[at : mark.start()], 0), ("", int(mark.group(1)))]
        at = mark.end()
    return [piece for piece in [*found, (text[at:], 0)] if piece != ("", 0)]


def fingerprint(text: str) -> str:
    """A short hash of a text that is the same however a browser sends line ends: a form sends back
    that of what was looked at."""
    return hashlib.sha256(text.replace("\r", "").encode("utf-8", "replace")).hexdigest()[:24]
