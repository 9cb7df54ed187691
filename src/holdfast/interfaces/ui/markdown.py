"""A record as Markdown, for people who paste it elsewhere: its words as a quotation, where they
come from, and what speaks for and against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.app.views.record_view import RecordRef, RecordView
from holdfast.interfaces.ui.formatting import day
from holdfast.interfaces.ui.record_fields import Field
from holdfast.regex import regex

# What would be something else than words: emphasis, code, a link, HTML and its entities, signs that
# close a heading; and at the start of a line a heading, a list or a rule.
_MARKS = regex(r"([\\`*_~\[\]<>]|&(?=#?\w+;)|(?<!\S)#(?=#*$))")
_LINE_MARKS = regex(r"^(\d*)((?:#{1,6}|[-+.)])(?:\s|$)|={3,}|-{3,})")


def record_markdown(shown: Mapping[str, Any]) -> str:
    """The page of a record, as `pages/record` shows it."""
    opened: RecordView | None = shown.get("opened")
    return "\n".join(_of_view(opened, shown) if opened else _of_trace(shown)).strip() + "\n"


def _of_view(opened: RecordView, shown: Mapping[str, Any]) -> Iterator[str]:
    item = opened.item
    bank = shown["names"].get(item.bank, item.bank)
    kind = f"{item.word}: {item.kind.replace('_', ' ')}" if item.kind else item.word
    yield f"# {_line(item.title or kind)}"
    yield ""
    yield from _quoted(opened.words or item.text or item.title)
    yield ""
    yield from _pairs(
        ("Kind", kind),
        ("Bank", bank),
        ("Status", item.status),
        ("Trust", item.trust.value),
        ("Time", day(item.time)),
        ("Part of", opened.place),
        ("URI", item.uri),
    )
    yield from _references("Evidence against it", opened.against)
    yield from _references("Evidence for it", opened.speaks_for)
    if opened.more:
        yield f"- and {opened.more} more"
    yield from _references("Earlier and later versions", opened.chain)
    yield from _decisions(opened.trace.history)


def _of_trace(shown: Mapping[str, Any]) -> Iterator[str]:
    fields: list[Field] = shown["fields"]
    yield f"# {_line(shown['title'])}"
    yield ""
    if shown["words"]:
        yield from _quoted(shown["words"])
        yield ""
    yield from _pairs(
        ("Kind", shown["word"]),
        ("Bank", shown["bank"]),
        ("Time", day(shown["time"])),
        *((field.name.capitalize(), ", ".join(field.values)) for field in fields),
        ("Name", shown["uri"]),
    )
    for heading, parts in (("Part of", shown["above"]), ("Made of", shown["below"])):
        refs = [RecordRef(one["uri"], one["kind"], one["text"], one["time"]) for one in parts]
        yield from _references(heading, refs)
    yield from _decisions(shown["trace"].history)


def _quoted(text: str) -> Iterator[str]:
    """The words of a record, as they are: a quotation keeps what stands in it together."""
    for line in text.splitlines() or [""]:
        yield f"> {line}".rstrip()


def _pairs(*pairs: tuple[str, str]) -> Iterator[str]:
    for name, value in pairs:
        if value:
            yield f"- **{name}:** {_line(value)}"


def _references(heading: str, refs: Iterable[RecordRef]) -> Iterator[str]:
    lines: list[str] = []
    for ref in refs:
        about = filter(None, (ref.kind, ref.how, day(ref.time) if ref.time else ""))
        lines.append(f"- {_line(ref.title or ref.uri)} ({', '.join(about)}) `{ref.uri}`")
    if lines:
        yield from ("", f"## {heading}", "", *lines)


def _decisions(history: Iterable[Any]) -> Iterator[str]:
    lines = [
        f"- {day(one.time)}: {one.action.value} by {_line(one.who)}"
        + (f": {_line(one.text)}" if one.text else "")
        for one in history
    ]
    if lines:
        yield from ("", "## What people decided", "", *lines)


def _line(text: str) -> str:
    """A text on one line, in which nothing is markup."""
    return _LINE_MARKS.sub(r"\1\\\2", _MARKS.sub(r"\\\1", " ".join(text.split())))
