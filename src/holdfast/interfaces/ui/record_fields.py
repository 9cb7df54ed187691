"""Any record as a page shows it: its main text, and its other fields."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

from holdfast.interfaces.ui.formatting import moment
from holdfast.model.forge import Issue, Pull
from holdfast.model.knowledge import Concept, Fact, Memory, Pattern
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import Commit
from holdfast.regex import regex

# Fields that the page shows elsewhere, or that mean nothing to a reader.
_HIDDEN_FIELDS = frozenset(
    "bank id text body what content summary request title subject name trust status origin tool "
    "session first_seq last_seq seq role details history members source time".split()
)
_FIELD_LABELS = {
    "cwd": "folder",
    "evidence_for": "evidence for it",
    "evidence_against": "evidence against it",
    "evidence": "evidence for it",
    "against": "evidence against it",
    "superseded_by": "superseded by",
    "last_validated": "last confirmed",
}

# Values that are all shorter are joined into one line.
_MAX_INLINE_CHARS = 30
_TIME = regex(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z")


class Field(NamedTuple):
    """One field: its name, and what it holds, item by item."""

    name: str
    values: tuple[str, ...]


def main_text(record: Any) -> str:
    """The main text of a record."""
    match record:
        case Turn():
            return record.tool.result if record.tool else record.text
        case Exchange() | Concept():
            return record.summary
        case Digest():
            return record.request
        case Memory():
            return record.what
        case Fact() | Pattern():
            return record.content
        case Commit():
            return f"{record.subject}\n\n{record.body}".strip()
        case Pull() | Issue():
            return f"{record.title}\n\n{record.body}".strip()
        case Session():
            return record.title
        case _:
            return str(getattr(record, "text", "") or getattr(record, "name", ""))


def fields_of(record: Any) -> list[Field]:
    """The other fields of a record, without empty ones."""
    listed: list[Field] = []
    for name, value in _items(record):
        if name in _HIDDEN_FIELDS:
            continue
        if is_dataclass(value):
            listed += [Field(inner, _values(held)) for inner, held in _items(value)]
        else:
            listed.append(Field(_FIELD_LABELS.get(name, name.replace("_", " ")), _values(value)))
    return [_joined(field) for field in listed if field.values]


def _joined(field: Field) -> Field:
    """A field with its values in one line if all are short."""
    if any(
        len(value) > _MAX_INLINE_CHARS or value.startswith("holdfast://") for value in field.values
    ):
        return field
    return Field(field.name, (", ".join(field.values),))


def _items(record: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(record, field.name)) for field in fields(record)]


def _values(value: Any) -> tuple[str, ...]:
    if isinstance(value, tuple | list):
        held: tuple[Any, ...] = tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return tuple(_value_text(one) for one in held)
    return (_value_text(value),) if value not in ("", None, False, 0) else ()


def _value_text(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    listed = str(value)
    return moment(listed) if _TIME.fullmatch(listed) else listed
