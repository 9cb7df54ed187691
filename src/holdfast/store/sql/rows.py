"""What values become in a row: JSON, texts that can be stored, and the words of the full-text index
for banks and layers."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.model.query import LAYER_BY_KIND, Passage
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


def index_scope(passage: Passage) -> str:
    """Where the full-text index looks for a passage: the words for its bank and its layer."""
    return f"{bank_word(passage.bank)} {layer_word(LAYER_BY_KIND[passage.kind])}"


def bank_word(bank: str) -> str:
    """The word for a bank in the full-text index: no text contains it, and neither stemming nor
    folding makes it equal to another one."""
    return f"zzbank{bank.encode('utf-8', 'surrogatepass').hex()}0"


def layer_word(layer: str) -> str:
    """The word for a layer in the full-text index."""
    return f"zzlayer{layer.encode('utf-8', 'surrogatepass').hex()}0"


def text(given: str) -> str:
    """A text that can be stored, without halves of surrogate pairs."""
    return given if given.isascii() else given.encode("utf-8", "replace").decode("utf-8")
