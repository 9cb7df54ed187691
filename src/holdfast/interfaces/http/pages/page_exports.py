"""A page in another form: all that it shows as JSON, the rows of a list as CSV, a record or a
period as Markdown. Forms, keys of forms and drawings are left out."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import orjson
from starlette.responses import HTMLResponse

from holdfast.app.status.period_digest import PeriodDigest, as_markdown
from holdfast.interfaces.http.core.page_formats import MEDIA_TYPES, PageFormat
from holdfast.interfaces.ui.markdown import record_markdown
from holdfast.model.bank import Bank
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.recall.lookup.timeline import Event
from holdfast.store.across_tables.lookup import Counts
from holdfast.store.records.sessions import SessionListing

Shown = Mapping[str, Any]
# What only serves to draw a page: drawings, texts of notes, and the choices of filters.
_DRAWN = frozenset(
    "plot plots lanes drawing picture note here undo form_key tabs statuses networks layers kinds "
    "knowledge_kinds all_kinds labels fates outcomes period_name ago seen_words beside searched "
    "svg layout results folded link_with filter_names retriever_names sorts "
    "verdict_views sections".split()
)


class _Rows(NamedTuple):
    """Which of the things that a page shows is its list, or holds it with others, and the rows."""

    name: str
    read: Callable[[Any], Iterable[object]] = iter
    is_whole: bool = True


def _session_rows(listed: Iterable[SessionListing]) -> Iterator[dict[str, Any]]:
    """Sessions with what the list tells of each."""
    for one in listed:
        row: dict[str, Any] = to_jsonable(one)
        yield {"uri": uri("session", one.session.id), **row.pop("session"), **row}


def _bank_rows(listed: Iterable[tuple[Bank, Counts]]) -> Iterator[dict[str, Any]]:
    for bank, counts in listed:
        yield {**to_jsonable(bank), **to_jsonable(counts)}


def _events(days: Iterable[tuple[str, Iterable[tuple[Event, str]]]]) -> Iterator[Event]:
    for _, events in days:
        for event, _ in events:
            yield event


def _commit_rows(seen: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for row in seen["commits"]:
        yield {**to_jsonable(row["commit"]), "astray": row["astray"]}


# The lists among the pages, by their templates.
_LISTS: Mapping[str, _Rows] = {
    "sessions.html": _Rows("sessions", _session_rows),
    "memory.html": _Rows("items"),
    "forgotten.html": _Rows("away"),
    "decisions.html": _Rows("log"),
    "banks.html": _Rows("banks", _bank_rows),
    "search.html": _Rows("hits"),
    "timeline.html": _Rows("days", _events),
    "repos.html": _Rows("seen", _commit_rows, is_whole=False),
}
_RECORDS = ("record.html", "any_record.html")
# How a spreadsheet recognises a formula, which could fetch or run something when it is opened.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def formats_of(template: str, shown: Shown) -> tuple[PageFormat, ...]:
    """The forms that a page has besides HTML."""
    more = (PageFormat.CSV,) if template in _LISTS else ()
    if template in _RECORDS or _period(shown) is not None:
        more = (*more, PageFormat.MARKDOWN)
    return (PageFormat.JSON, *more)


def export(format: PageFormat, template: str, shown: Shown, status: int) -> HTMLResponse:
    """A page in a form that it has."""
    match format:
        case PageFormat.CSV:
            body = page_csv(rows_of(template, shown)).encode("utf-8", "replace")
        case PageFormat.MARKDOWN:
            period = _period(shown)
            text = as_markdown(period) if period is not None else record_markdown(shown)
            body = text.encode("utf-8", "replace")
        case _:
            body = page_json(template, shown)
    media_type = f"{MEDIA_TYPES[format]}; charset=utf-8"
    return HTMLResponse(body, status, {"vary": "accept"}, media_type)


def page_json(template: str, shown: Shown) -> bytes:
    """All that a page shows, without what draws it; what a list has is in `rows`."""
    listed = _LISTS.get(template)
    left_out = {*_DRAWN, *([listed.name] if listed and listed.is_whole else [])}
    data = {
        name: to_jsonable(value)
        for name, value in shown.items()
        if name not in left_out and not callable(value)
    }
    if listed:
        data["rows"] = rows_of(template, shown)
    return orjson.dumps(data, default=_no_data, option=orjson.OPT_NON_STR_KEYS)


def rows_of(template: str, shown: Shown) -> list[dict[str, Any]]:
    """The rows of a page that is a list, each with the URI of its record where it has one."""
    listed = _LISTS[template]
    return [_row(one) for one in listed.read(shown[listed.name])]


def _row(record: object) -> dict[str, Any]:
    fields: dict[str, Any] = to_jsonable(record)
    return {"uri": getattr(record, "uri", ""), **fields} if hasattr(record, "uri") else fields


def _no_data(value: object) -> None:
    """What is no data, such as a function of a template, is null."""


def page_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV, with the fields of all of them as columns. A field of a field is named
    `outer.inner`; what is a list has a line for each item."""
    flat = [_flatten(dict(row)) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_harmless, names))
    writer.writerows([_harmless(row.get(name, "")) for name in names] for row in flat)
    return out.getvalue()


def _flatten(value: Any, prefix: str = "") -> dict[str, str]:
    if not isinstance(value, dict):
        return {prefix or "value": _cell(value)}
    flat: dict[str, str] = {}
    for name, item in cast(dict[str, Any], value).items():
        flat |= _flatten(item, f"{prefix}.{name}" if prefix else name)
    return flat


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            items = cast(list[Any], value)
            return "\n".join(
                one if isinstance(one, str) else orjson.dumps(one, default=_no_data).decode()
                for one in items
            )
        case _:
            return str(value)


def _harmless(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula. A number stays one."""
    if not cell.startswith(_FORMULA_STARTS) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _period(shown: Shown) -> PeriodDigest | None:
    return next((one for one in shown.values() if isinstance(one, PeriodDigest)), None)
