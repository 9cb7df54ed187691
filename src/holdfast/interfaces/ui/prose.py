"""Text from memory as HTML. The text is not trusted: every character is escaped, and of Markdown
only code, lists, headings and bold are rendered. A link is shown as its words and where it leads,
without leading there; pictures stay plain text, and so does whatever may be code: `__init__`,
`1024**3`, a mask of asterisks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup, escape

from holdfast.language import BOLD
from holdfast.regex import regex

# Backticks that are closed on their line are code within it.
_FENCE = regex(r"\s{0,3}(```+(?!.*`)|~~~+)(.*)")
_ITEM = regex(r"\s*(?:[-*+]|(?P<number>\d{1,3})[.)])\s+(?P<item>.*)")
_HEAD = regex(r"\s{0,3}#{1,6}\s+(.*)")
_INLINE = regex(
    rf"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|(?P<bold>{BOLD})|"
    r"(?<![!\w\])])\[(?P<label>[^\[\]\n]{1,200})\]\((?P<target>[^()\s]{1,300})\)|"
    r"\[redacted:(?P<kind>[\w -]+)\]|(?P<image>\[[Ii]mage(?: #?\d{1,4}|: [^\]\n]{1,300})?\])"
)
_RAW = regex(r"\[redacted:([\w -]+)\]")
_CODE_OF_DIFF = ("diff", "patch")
_TAG = regex(r"(<[^>]*>)")
_WORD = regex(r"\w+")
# Asterisks and underscores may be a mask.
_RULE = regex(r"\s*-(?:\s*-){2,}\s*")
# A text that is longer is folded, some way before its limit so that the fold hides enough.
MAX_UNFOLDED_CHARS = 4000
_FOLD_AT_CHARS = 3200


def prose(text: str) -> Markup:
    """A text in paragraphs."""
    return Markup("").join(_blocks(text.replace("\r\n", "\n").split("\n")))


def folded(text: str) -> Markup:
    """The same; the end of a very long text is folded."""
    if len(text) <= MAX_UNFOLDED_CHARS:
        return prose(text)
    at = text.rfind("\n", 0, _FOLD_AT_CHARS)
    at = at if at > _FOLD_AT_CHARS // 2 else _FOLD_AT_CHARS
    more = Markup('<details class="rest"><summary>{} more characters</summary>{}</details>')
    return prose(text[:at]) + more.format(f"{len(text) - at:,}", prose(text[at:]))


def diff(text: str) -> Markup:
    """A diff with a class for each line: added, removed, same, file name or position."""
    lines = text.split("\n")
    return Markup("").join(
        _diff_line(kind, line) for kind, line in zip(_kinds(lines), lines, strict=True)
    )


def raw(text: str) -> Markup:
    """Text as it is, with redacted places marked."""
    return _marked(text, _RAW, lambda found: _redacted(found.group(1)))


def inline(text: str) -> Markup:
    """A title or a sentence, with code and bold print."""
    return _marked(text, _INLINE, _piece)


def highlight(text: str, query: str) -> Markup:
    """A text with code and bold print, and with the words of a query marked, and what begins with
    them."""
    words = [word for word in dict.fromkeys(_WORD.findall(query)) if len(word) > 2]
    return _mark_between_tags(inline(text), words[:20], r"\b(?:{})\w*")


def without_block_marks(text: str) -> str:
    """A text of several blocks for a few lines of a list: without empty lines and fences, headings
    and items of lists as plain lines, and code as it is."""
    return "\n".join(filter(str.strip, _lines_without_marks(text.splitlines())))


def _lines_without_marks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if found := _FENCE.fullmatch(line):
            end = _end_of_code(lines, at, found.group(1))
            # One word is the name of a language.
            yield found.group(2).strip() if len(found.group(2).split()) > 1 else ""
            yield from lines[at + 1 : end]
            at = end
        elif head := _HEAD.fullmatch(line):
            yield head.group(1)
        elif (item := _ITEM.fullmatch(line)) and not item["number"]:
            yield f"• {item['item']}"
        elif not _RULE.fullmatch(line):
            yield line
        at += 1


def mark_words(rendered: Markup, words: Sequence[str]) -> Markup:
    """Rendered text in which words are marked, wherever they stand between its tags."""
    return _mark_between_tags(rendered, words, "{}")


def _mark_between_tags(rendered: Markup, words: Sequence[str], pattern: str) -> Markup:
    if not words:
        return rendered
    escaped = (re.escape(str(escape(word))) for word in sorted(words, key=len, reverse=True))
    wanted = f"(?P<word>{pattern.format('|'.join(escaped))})|&#?\\w+;"
    found = re.compile(wanted, re.IGNORECASE)
    parts = _TAG.split(str(rendered))
    parts[::2] = [found.sub(_mark, part) for part in parts[::2]]
    return Markup("".join(parts))


def _mark(found: re.Match[str]) -> str:
    # A sign that is escaped is no word.
    return f"<mark>{found['word']}</mark>" if found["word"] else found.group()


def is_diff(text: str) -> bool:
    """Whether most lines of a text begin with + or -."""
    lines = [line for line in text.split("\n") if line.strip()]
    changed = sum(line[:1] in "+-" for line in lines)
    return bool(lines) and changed * 2 >= len(lines)


def _blocks(lines: list[str]) -> Iterator[Markup]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if found := _FENCE.fullmatch(line):
            end = _end_of_code(lines, at, found.group(1))
            yield _code(found.group(2).strip(), "\n".join(lines[at + 1 : end]))
            end += 1
        elif _ITEM.fullmatch(line):
            end = _end(lines, at, lambda one: not _ITEM.fullmatch(one))
            yield _list(lines[at:end])
        elif line.lstrip().startswith("|"):
            end = _end(lines, at, lambda one: not one.lstrip().startswith("|"))
            yield Markup("<pre>{}</pre>").format(raw("\n".join(lines[at:end])))
        else:
            end = max(_end(lines, at, _ends_paragraph), at + 1)
            yield _paragraph(lines[at:end])
        at = end


def _end(lines: list[str], start: int, is_end: Callable[[str], object]) -> int:
    """The number of the first line from `start` on that ends a block, or of lines."""
    return next((n for n in range(start, len(lines)) if is_end(lines[n])), len(lines))


def _end_of_code(lines: list[str], start: int, fence: str) -> int:
    """The number of the line that closes the fence of a line. A line with words closes none, as in
    Markdown: they would not be shown."""
    return _end(lines, start + 1, re.compile(rf"\s*{fence}{fence[0]}*\s*").fullmatch)


def _ends_paragraph(line: str) -> bool:
    if not line.strip() or line.lstrip().startswith("|"):
        return True
    return any(kind.fullmatch(line) for kind in (_FENCE, _ITEM, _HEAD))


def _paragraph(lines: list[str]) -> Markup:
    if found := _HEAD.fullmatch(lines[0]):
        return Markup('<p class="head">{}</p>').format(inline(found.group(1)))
    if _RULE.fullmatch(lines[0]):
        return Markup("<hr>")
    words = Markup("<br>").join(inline(line) for line in lines if line.strip())
    return Markup("<p>{}</p>").format(words) if words else Markup("")


def _list(lines: list[str]) -> Markup:
    items = [found for line in lines if (found := _ITEM.fullmatch(line))]
    is_numbered = all(item["number"] for item in items)
    list_of = Markup("<ol>{}</ol>" if is_numbered else "<ul>{}</ul>")
    return list_of.format(Markup("").join(_item(item, is_numbered) for item in items))


def _item(found: re.Match[str], is_numbered: bool) -> Markup:
    words = inline(found["item"])
    if is_numbered:
        return Markup('<li value="{}">{}</li>').format(int(found["number"]), words)
    return Markup("<li>{}</li>").format(words)


def _code(language: str, text: str) -> Markup:
    name = language.split()[0] if language.split() else ""
    render = diff(text) if name in _CODE_OF_DIFF else raw(text)
    label = Markup('<span class="language">{}</span>').format(language) if name else Markup("")
    return Markup('{}<pre tabindex="0"><code>{}</code></pre>').format(label, render)


def _piece(found: re.Match[str]) -> Markup:
    if code := found.group("code"):
        return Markup("<code>{}</code>").format(code.strip() or code)
    if bold := found.group("bold"):
        return Markup("<strong>{}</strong>").format(inline(bold[2:-2]))
    if label := found.group("label"):
        target = found.group("target")
        # `[store.py](src/store.py)` is one name.
        is_name = target.endswith(label.strip("`"))
        return escape(target) if is_name else Markup("{} ({})").format(inline(label), target)
    if image := found.group("image"):
        # That there was one, and its number or file.
        about = image[1 + len("image") : -1].removeprefix(":").strip().removeprefix("source:")
        name = f"Image{about and ' '}{about.strip()}, not kept"
        return Markup('<span class="badge image">{}</span>').format(name)
    return _redacted(found.group("kind"))


def _redacted(kind: str) -> Markup:
    return Markup('<mark class="redacted" title="taken out before it was kept">{}</mark>').format(
        f"redacted: {kind}"
    )


def _marked(
    text: str, pattern: re.Pattern[str], render: Callable[[re.Match[str]], Markup]
) -> Markup:
    """A text whose matches are rendered, and what is between them escaped."""
    parts: list[Markup] = []
    at = 0
    for found in pattern.finditer(text):
        parts += [escape(text[at : found.start()]), render(found)]
        at = found.end()
    return Markup("").join([*parts, escape(text[at:])])


_KINDS = {"+": "added", "-": "removed", "@": "hunk"}
_HEADS = ("diff --git ", "index ", "new file mode ", "deleted file mode ", "similarity index ")


def _kinds(lines: list[str]) -> Iterator[str]:
    """The class of each line of a diff. A removed line that began with dashes looks like a file
    name; a real one is followed by a second one."""
    named = False
    for at, line in enumerate(lines):
        if named:
            named = False
            yield "file"
        elif line.startswith("--- ") and lines[at + 1 : at + 2] and lines[at + 1][:4] == "+++ ":
            named = True
            yield "file"
        elif line.startswith(_HEADS):
            yield "file"
        else:
            yield _KINDS.get(line[:1], "same")


def _diff_line(kind: str, line: str) -> Markup:
    return Markup('<span class="{}">{}</span>').format(kind, raw(line) or Markup("&nbsp;"))
