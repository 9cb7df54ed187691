"""A hit as the interfaces show it: its fields as short JSON, and its heading.

The command line, the MCP tools and the memory agent select from here, so that a record is
described alike everywhere. It imports next to nothing, because `holdfast recall` imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.framed_text import defang, defang_all, fence, one_line, outside_note, quote
from holdfast.language import cut
from holdfast.model.knowledge import EndedSentence, EndReason, quote_reason
from holdfast.model.query import Citation, Hit, Layer
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import ENDED_STATUSES, Status

if TYPE_CHECKING:
    from holdfast.model.opinions import ReflectionCitation

Json = dict[str, Any]
UNDATED = "undated"
# What is shown of the words that hold in the place of others; `instead` names the record.
_MAX_NOW_CHARACTERS = 200
# Enough of a sentence to find it in the text that is shown with it.
_MAX_QUOTED_CHARACTERS = 80
# Records that are one statement each; the longest are recaps of conversations.
_STATEMENTS = ("memory", "fact")
_MAX_STATEMENT_CHARACTERS = 1300
# What a hit says of itself beyond its text, in the order in which it is shown. Most hits have
# nothing to say here.
_REMARKS = (
    "weak", "status", "superseded_by", "supersedes", "ended", "corrected", "shared", "imported",
    "agent", "knowledge", "provider", "freshness", "since", "astray",
)  # fmt: skip
# Agents whose sessions are documents or databases: they are converted to lines that no file has.
CONVERTED_AGENTS = frozenset(("cursor", "gemini", "opencode"))
# A hit about which nothing is unusual.
_USUAL = Hit("", "", Layer.TRANSCRIPTS, 0.0, "", "", "", "")


def remarks(hit: Hit) -> Json:
    """What is unusual about a hit, by the name of the field."""
    values = {name: getattr(hit, name) for name in _REMARKS}
    return {
        name: to_jsonable(value) for name, value in values.items() if value != getattr(_USUAL, name)
    }


def excerpt(hit: Hit, max_chars: int) -> str:
    """What is shown of a hit: its beginning, or all of a statement, because a rule that is cut is
    another rule."""
    return cut(hit.text, _MAX_STATEMENT_CHARACTERS if hit.kind in _STATEMENTS else max_chars)


def place(hit: Hit) -> str:
    """The line of a transcript that a hit is from, or the command that opens it where the
    transcript has no such line; "" where there is no file."""
    path, line = hit.source.path, hit.source.line
    if path and hit.agent in CONVERTED_AGENTS:
        return f"{path}, opened by `holdfast show {hit.uri.removeprefix('holdfast://')}`"
    return path and f"{path}:{line}"


def short_json(hit: Hit, max_chars: int) -> Json:
    """A hit without what goes without saying, to save the context of the agent that reads it. Tags
    in its text are escaped; text from outside is marked so."""
    whole: Json = {
        "uri": hit.uri,
        "kind": hit.kind,
        "time": hit.time or UNDATED,
        "trust": hit.trust.value,
        "text": defang(excerpt(hit, max_chars), hit.is_from_outside),
    }
    if hit.is_from_outside:
        whole["outside"] = outside_note(hit.text)
    # A plugin is not asked for agents; what comes from elsewhere comes from a team server.
    return whole | {
        "server" if name == "provider" else name: defang_all(value, hit.is_from_outside)
        for name, value in remarks(hit).items()
    }


def short_text(short: Json) -> str:
    """The result of `short_json` as text: a heading, and the words of the record in a fence."""
    since = f" (code since then: {short['since']})" if "since" in short else ""
    kind = f"{short['kind']} ({short['knowledge']})" if "knowledge" in short else short["kind"]
    marks = [short["trust"], f"shared {short['shared']}" if "shared" in short else ""]
    marks += [f"server {short['server']}" if "server" in short else "", short.get("outside", "")]
    marks += ["weak: only loosely related" if "weak" in short else ""]
    head = f"{short['time'][:10]} {kind}, {', '.join(filter(None, marks))}: {short['uri']}{since}"
    is_whole = short.get("status") in ENDED_STATUSES
    lines = [head, *_lines(short["time"], short.get("ended", ()), is_whole)]
    return "\n".join((*map(one_line, lines), fence(short["text"], "outside" in short)))


def endings(hit: Hit) -> list[str]:
    """What of a hit is history, a line for each: when it was said, how it ended, what holds now."""
    return _lines(hit.time, to_jsonable(hit.ended), hit.status in ENDED_STATUSES)


def ended_lines(time: str, ended: Sequence[EndedSentence]) -> list[str]:
    """The same for a record of a time, in the words of which other things may hold."""
    return _lines(time, to_jsonable(ended), is_whole=False)


def _lines(time: str, ended: Sequence[Json], is_whole: bool) -> list[str]:
    """A line for each end; it quotes the sentence unless the whole record has ended."""
    said = f"said on {time[:10]}, " if time and time != UNDATED else ""
    lines: dict[str, None] = {}
    for one in ended:
        who = f" by {one_line(one['who'])}" if one["who"] else ""
        words = "" if is_whole else f"{quote(cut(one['sentence'], _MAX_QUOTED_CHARACTERS))}, "
        reason = EndReason(one["reason"])
        end = f"{said}{reason.verb} on {one['ended'][:10]}{who}."
        line = f"No longer valid: {words}{end}"
        is_reason = reason is EndReason.OUTDATED
        word, quoted = ("Why", quote_reason) if is_reason else ("Now", quote)
        now = f" {word}: {quoted(cut(one['now'], _MAX_NOW_CHARACTERS))}" if one["now"] else ""
        lines[line + now + (f" ({one['instead']})" if one["instead"] else "")] = None
    return list(lines)


def heading(hit: Hit, bank: str = "") -> str:
    """One line for people: score, kind, day, who says so, and what is unusual about it."""
    is_current = hit.status not in (*ENDED_STATUSES, Status.HYPOTHESIS)
    parts = (
        f"{hit.score:.2f}  {hit.kind}",
        hit.knowledge.value if hit.knowledge and hit.knowledge != hit.kind else "",
        hit.time[:10] or UNDATED,
        hit.trust.value,
        one_line(hit.provider),
        hit.agent,
        bank,
        "" if is_current else hit.status.value,
        f"corrected {hit.corrected}" if hit.corrected else "",
        "unmerged" if hit.astray else "",
        one_line(hit.shared),
        f"from {one_line(hit.imported)}" if hit.imported else "",
    )
    return " · ".join(filter(None, parts))


def citation_text(citation: Citation | ReflectionCitation) -> str:
    """A citation as a line below an answer."""
    layer, shared, _ = _details(citation)
    marks = f" (shared {shared})" if shared else ""
    marks += f" ({citation.ended})" if citation.ended else ""
    head = " ".join(filter(None, (citation.time[:10] or UNDATED, layer, citation.uri)))
    return one_line(f"[{citation.number}] {head}{marks}")


def _details(citation: Citation | ReflectionCitation) -> tuple[str, str, str]:
    """The layer, who shared it and when, and its page; empty for a reflection's."""
    if not isinstance(citation, Citation):
        return "", "", ""
    return citation.layer.value, one_line(citation.shared), citation.browse_url
