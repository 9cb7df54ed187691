"""Records to rows and back: what several parts of the store use.

A table has the columns of its dataclass, in any order; tuples are JSON arrays. A function names the
constant whose columns it takes or returns. The rows of a table that one part reads and writes are
in the module of that part (`store/knowledge/facts.py` for facts).
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.model.query import LAYER_BY_KIND, Passage
from holdfast.model.records import (
    Exchange,
    ExchangeType,
    Outcome,
)
from holdfast.model.team import Commit
from holdfast.model.trust import Status, Trust

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Any

    Row = tuple[Any, ...]
else:
    Row = tuple
try:
    from _json import make_scanner
except ImportError:  # an interpreter without the part of `json` in C
    make_scanner = None

EXCHANGE = (
    "bank, id, session, first_seq, last_seq, started, ended, type, title, summary, details, "
    "outcome, trust, facts, keywords, files_read, files_modified, branch, status, author"
)
COMMIT = "bank, id, time, author, email, subject, body, files, parents, trust"
PASSAGE = "bank, kind, id, session, time, body, context, trust, status, role, seq, hash"


class _JsonOptions:
    """What the scanner is to make of JSON: what `json.loads` makes of it."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


_options: Any = _JsonOptions
_scan = make_scanner(_options) if make_scanner is not None else None


def loads(text: str) -> Any:
    """`json.loads` without the import of `json`: it takes 3 ms, most of them for patterns that its
    part in C does not need, and the hook of a first prompt would wait for it."""
    try:
        if _scan is not None:
            value, end = _scan(text, 0)
            if end == len(text):
                return value
    except (StopIteration, SystemError, ValueError):
        pass
    # White space around it, or no JSON: then the error is that of `json`.
    import json

    return json.loads(text)


def dumps(value: object, ensure_ascii: bool = False) -> str:
    """`json.dumps`, without spaces."""
    import json

    return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"))


def as_list(values: Iterable[str]) -> str:
    """Texts as a JSON array."""
    return dumps(list(values))


def as_tuple(text: str) -> tuple[str, ...]:
    """The texts of a JSON array."""
    return tuple(loads(text))


def named_fields(columns: str, row: Row) -> dict[str, Any]:
    """The values of a row by the names of its columns."""
    return dict(zip(columns.replace('"', "").split(", "), row, strict=True))


def with_enums(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with trust and status as enums."""
    fields["trust"] = Trust(fields["trust"])
    if "status" in fields:
        fields["status"] = Status(fields["status"])
    return fields


def exchange_of(row: Row) -> Exchange:
    """`EXCHANGE`."""
    fields = named_fields(EXCHANGE, row)
    for name in ("facts", "keywords", "files_read", "files_modified"):
        fields[name] = as_tuple(fields[name])
    fields["type"] = ExchangeType(fields["type"])
    fields["outcome"] = Outcome(fields["outcome"])
    return Exchange(**with_enums(fields))


def exchange_row(exchange: Exchange) -> Row:
    """`EXCHANGE`."""
    x = exchange
    return (
        x.bank, x.id, x.session, x.first_seq, x.last_seq, x.started, x.ended, x.type.value,
        x.title, x.summary, x.details, x.outcome.value, x.trust.value, as_list(x.facts),
        as_list(x.keywords), as_list(x.files_read), as_list(x.files_modified), x.branch,
        x.status.value, x.author,
    )  # fmt: skip


def commit_of(row: Row) -> Commit:
    """`COMMIT`."""
    fields = named_fields(COMMIT, row)
    fields["files"], fields["parents"] = as_tuple(fields["files"]), as_tuple(fields["parents"])
    return Commit(**with_enums(fields))


def commit_row(commit: Commit) -> Row:
    """`COMMIT`."""
    c = commit
    return (
        c.bank, c.id, c.time, c.author, c.email, c.subject, c.body, as_list(c.files),
        as_list(c.parents), c.trust.value,
    )  # fmt: skip


def passage_of(row: Row) -> Passage:
    """`PASSAGE`. A search reads several hundred, so the fields are not named one by one."""
    bank, kind, id, session, time, body, context, trust, status, role, seq, hash = row
    return Passage(
        bank, kind, id, session, time, body, context, Trust(trust), Status(status), role, seq, hash
    )


def passage_row(passage: Passage) -> Row:
    """`PASSAGE`, then `scope`."""
    p = passage
    return (
        p.bank, p.kind, p.id, p.session, p.time, p.body, p.context, p.trust.value,
        p.status.value, p.role, p.seq, p.hash,
        f"{bank_word(p.bank)} {layer_word(LAYER_BY_KIND[p.kind])}",
    )  # fmt: skip


def bank_word(bank: str) -> str:
    """The word for a bank in the full-text index: no text contains it, and neither stemming nor
    folding makes it equal to another one."""
    return f"zzbank{bank.encode('utf-8', 'surrogatepass').hex()}0"


def layer_word(layer: str) -> str:
    """The word for a layer in the full-text index."""
    return f"zzlayer{layer.encode('utf-8', 'surrogatepass').hex()}0"


def text(given: str) -> str:
    """A text that can be stored, without halves of surrogate pairs."""
    return given.encode("utf-8", "replace").decode("utf-8")
