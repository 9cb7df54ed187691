"""Characters of a page that cannot be seen: direction controls, which reverse the text after them,
zero-width and other invisible characters, and terminal control sequences.

They come from memory, in any text of any page, so the finished page is looked at rather than each
text. What a form sends back and where a link leads is left as it is: only what is read changes.
"""

from __future__ import annotations

import re
import unicodedata

from holdfast.regex import regex

# A sequence that colours or moves the text of a terminal, or names a link in it. In a page, signs
# of comparison are escaped.
_TERMINAL = regex(
    r"\x1b(?:\[(?:&[lg]t;)?[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\-~])"
)
_INVISIBLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
)
# One variation selector chooses the form of the sign before it; several after another hide text.
_HIDDEN = regex(f"[{_INVISIBLE}]+|[\ufe00-\ufe0f]{{2,}}")
# Whether there is anything to look at, which is five times faster to find out.
_ANY = regex(f"[{_INVISIBLE}\ufe00-\ufe0f]")
_JOINERS = "\u200c\u200d"
# Tags spell hidden text in letters of ASCII: U+E0041 is an A.
_TAGS = regex("[\U000e0020-\U000e007e]{2,}")
_TAG_BASE = 0xE0000
# So many different characters are named; of a longer run, how many there are.
_MAX_NAMED = 4
_MARKUP = regex(r"(<[^>]*>)")
_ELEMENT = regex(r"<(/?)([a-z0-9]+)")
_SPOKEN = regex(r"(?<=\s)((?:title|aria-label|placeholder|alt)=\")([^\"]*)(\")")
# Elements whose text is sent back or run, and those that hold text alone.
_UNTOUCHED = frozenset({"textarea", "script", "style"})
_TEXT_ONLY = frozenset({"title", "option", "text"})


def show_hidden(page: str) -> str:
    """A page on which hidden characters are seen as badges, and without terminal sequences."""
    if not _ANY.search(page):
        return page
    parts = _MARKUP.split(page)
    within = ""
    for at, part in enumerate(parts):
        if at % 2:
            within = _enter(part, within)
            if _ANY.search(part):
                parts[at] = _SPOKEN.sub(
                    lambda found: found[1] + _as_text(_strip(found[2])) + found[3], part
                )
        elif within not in _UNTOUCHED and _ANY.search(part):
            render = _as_text if within in _TEXT_ONLY else _as_badges
            parts[at] = render(_strip(part))
    return "".join(parts)


def _enter(tag: str, within: str) -> str:
    """The element that the text after a tag is in, if it is one of those without markup."""
    found = _ELEMENT.match(tag)
    if found is None:
        return within
    closes, name = found[1] == "/", found[2]
    if within:
        return "" if closes and name == within else within
    return name if not closes and name in _UNTOUCHED | _TEXT_ONLY else ""


def _strip(text: str) -> str:
    return _TERMINAL.sub("", text)


def _as_badges(text: str) -> str:
    return _HIDDEN.sub(lambda found: _badges(found, text), text)


def _as_text(text: str) -> str:
    return _HIDDEN.sub(lambda found: _plain(found, text), text)


def _badges(found: re.Match[str], text: str) -> str:
    run = found.group()
    if _is_wanted(found, text):
        return run
    return "".join(
        f'<span class="hidden-sign" title="{words}">{label}</span>' for label, words in _labels(run)
    )


def _plain(found: re.Match[str], text: str) -> str:
    if _is_wanted(found, text):
        return found.group()
    return "".join(f"[{label}]" for label, _ in _labels(found.group()))


def _is_wanted(found: re.Match[str], text: str) -> bool:
    """Whether this is a joiner between signs that are joined in writing, such as those of an
    emoji, or of Persian or Hindi."""
    if found.group() not in _JOINERS:
        return False
    around = text[found.start() - 1 : found.start()] + text[found.end() : found.end() + 1]
    return len(around) == 2 and not around.isascii() and not any(c.isascii() for c in around)


def _labels(run: str) -> list[tuple[str, str]]:
    """What is shown for a run of hidden characters, and what it is called."""
    if tags := _TAGS.search(run):
        # Signs of markup are escaped: what is spelled there is anybody's text.
        words = "".join(chr(ord(one) - _TAG_BASE) for one in tags.group())
        words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return [(f"hidden text: {words}", f"{len(run)} characters that are not seen")]
    if len(run) > _MAX_NAMED:
        return [(f"{len(run)} hidden characters", _name(run[0]))]
    return [(f"U+{ord(one):04X}", _name(one)) for one in run]


def _name(sign: str) -> str:
    return unicodedata.name(sign, "control character").lower()
