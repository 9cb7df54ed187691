"""The frame around everything that is injected into a session.

Stored text is data. Whatever it contains, it stays one line inside the frame: it cannot close the
frame, imitate the host's own tags, hide characters, or start a line. Injected text is never
ingested again, because the frame is a tag that ingest strips.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.language import collapse_spaces
from holdfast.model.ids import content_id
from holdfast.model.knowledge import EndedSentence
from holdfast.model.trust import Trust
from holdfast.regex import regex
from holdfast.sources.claude_code.prompts import OWN_TAG

# Claude Code replaces a hook's output over 10,000 characters by a stub; frame and JSON take some.
MAX_CHARACTERS = 9_500
# Characters that are invisible, or that change the reading direction.
_INVISIBLE = regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]|[\ud800-\udfff]"
)
# What may start a tag. A type after a name (`Vec<T>`, `Map<String, Id>`) cannot: it starts with a
# capital letter, which the host's tags never do.
_TAG_START = regex(r"<(?=[a-z]|\s*[/!?|])|(?<!\w)<(?=[A-Z])|<(?=[A-Z][\w-]*[-:])")
_OWN_TAG_MARKUP = regex(rf"</?\s*{OWN_TAG}\b[^>]*>?", re.IGNORECASE)
# The tag's name in any markup: a model could take it for the end of the frame.
_OWN_NAME = regex(re.escape(OWN_TAG), re.IGNORECASE)


class Brief(NamedTuple):
    """A text to inject into a session, "" for none, and the URIs of the records it is about."""

    id: str = ""
    text: str = ""
    records: tuple[str, ...] = ()


EMPTY_BRIEF = Brief()


def sanitize(text: str) -> str:
    """Stored text as one line that cannot break out of the frame, otherwise as it is written."""
    text = _OWN_TAG_MARKUP.sub(" ", _INVISIBLE.sub(" ", text))
    return _TAG_START.sub("‹", _OWN_NAME.sub("brief", collapse_spaces(text)))


def quote(text: str) -> str:
    """Stored text in quotation marks that it cannot close."""
    return f"“{sanitize(text).replace('“', '‘').replace('”', '’')}”"


def trust_label(trust: Trust) -> str:
    """A label to put before text from outside the project; else ""."""
    return f"[{trust.value}] " if trust in (Trust.EXTERNAL, Trust.IMPORT) else ""


def ended_label(ended: Sequence[EndedSentence]) -> str:
    """A label to put before text that does not hold any more, in whole or in part; else ""."""
    if not ended:
        return ""
    last = max(ended, key=lambda one: one.ended)
    return f"[does not hold any more: {sanitize(last.label)}] "


def format_minute(time: str) -> str:
    """A record's day and minute, in UTC."""
    return f"{time[:10]} {time[11:16]}".strip() or "undated"


def format_day(time: str) -> str:
    """A record's day, in UTC."""
    return time[:10] or "undated"


def host_length(text: str) -> int:
    """The length of a text as the host counts it: in UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def wrap_brief(kind: str, lines: Sequence[str], records: Sequence[str]) -> Brief:
    """A brief of some lines. Its id is a hash of them, so the same text has the same id."""
    inner = "\n".join(lines)
    id = f"{kind}-{content_id(kind, inner)[:12]}"
    text = f'<{OWN_TAG} id="{id}">\n{inner}\n</{OWN_TAG}>'
    return Brief(id, text, tuple(dict.fromkeys(records)))
