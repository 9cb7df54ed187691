"""The frame around everything that is injected.

Stored text is data. Whatever it holds, it stays one line inside the frame: it cannot end the
frame, imitate the host's own tags, hide characters, or start a line of its own. What is inside
is never read in again, because the frame is a tag that ingest strips.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.language import collapse_spaces, strip_markdown
from holdfast.model.ids import content_id
from holdfast.model.trust import Trust
from holdfast.sources.claude_code.prompts import OWN_TAG

# A hook's output over 10,000 characters is replaced by a stub; the frame and JSON take some.
MAX_CHARACTERS = 9_500
_CHARACTERS_A_TOKEN = 4
# Characters that are not seen, or that turn the reading direction.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]|[\ud800-\udfff]"
)
_TAG_START = re.compile(r"<(?=[A-Za-z]|\s*[/!?|])")
_OWN_TAG_MARKUP = re.compile(rf"</?\s*{OWN_TAG}\b[^>]*>?", re.IGNORECASE)
# However it is dressed up, a reader could take it for the end.
_OWN_NAME = re.compile(re.escape(OWN_TAG), re.IGNORECASE)


class Brief(NamedTuple):
    """What is put into a session; `text` is "" where there is nothing to say. `records` are the
    URIs it speaks of."""

    id: str = ""
    text: str = ""
    records: tuple[str, ...] = ()


EMPTY_BRIEF = Brief()


def sanitize(text: str) -> str:
    """Stored text as one harmless line."""
    text = _OWN_TAG_MARKUP.sub(" ", _INVISIBLE.sub(" ", strip_markdown(text)))
    return _TAG_START.sub("‹", _OWN_NAME.sub("brief", collapse_spaces(text)))


def quote(text: str) -> str:
    """Somebody's own words, in marks that they cannot end."""
    return f"“{sanitize(text).replace('“', '‘').replace('”', '’')}”"


def trust_label(trust: Trust) -> str:
    """What must be said of the origin of a text, in front of it."""
    return f"[{trust.value}] " if trust in (Trust.EXTERNAL, Trust.IMPORT) else ""


def format_minute(time: str) -> str:
    """A day and minute; all times of records are in UTC."""
    return f"{time[:10]} {time[11:16]}".strip() or "undated"


def format_day(time: str) -> str:
    """A day."""
    return time[:10] or "undated"


def host_length(text: str) -> int:
    """How many characters the host counts in a text: some of ours are two of its own."""
    return len(text) + sum(character > "\uffff" for character in text)


def tokens(text: str) -> int:
    """About how many tokens a text takes in a prompt."""
    return len(text) // _CHARACTERS_A_TOKEN + 1


def wrap_brief(kind: str, lines: Sequence[str], records: Sequence[str]) -> Brief:
    """Lines as a brief; its id is a hash of them, so the same words have the same id."""
    inner = "\n".join(lines)
    id = f"{kind}-{content_id(kind, inner)[:12]}"
    text = f'<{OWN_TAG} id="{id}">\n{inner}\n</{OWN_TAG}>'
    return Brief(id, text, tuple(dict.fromkeys(records)))
