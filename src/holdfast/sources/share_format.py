"""The format of shared memories: one JSON object per line, in one file per person.

A line is identified by its hash. It says what one person shares of one record, or that they took it
back. Of several lines about the same record the latest counts, so that stores can be merged in any
order with the same result. A reader refuses lines that it does not understand; a merge keeps them,
because they may be of a newer version.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from holdfast.model.ids import content_id
from holdfast.model.team import SHARED_SCOPES, Scope, SharedRecord
from holdfast.model.trust import Trust, least_trusted
from holdfast.regex import regex

VERSION = 1
FOLDER = "people"
# A line over this is refused: it is no memory that somebody wrote.
MAX_LINE_BYTES = 65_536
KINDS = ("fact", "memory", "exchange", "digest", "concept", "pattern")
_REQUIRED_TEXTS = ("origin", "by", "email", "shared")
_OPTIONAL_TEXTS = ("kind", "text", "time", "trust", "note")
# Paths of one record; the others are dropped.
_MAX_FILES = 200
_RECORD_URI = regex(r"holdfast://[a-z]+/[\x21-\x7e]{1,200}")
_TIMESTAMP = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
_PERSON_PATH = regex(r"people/[a-z0-9-]{1,80}\.jsonl")
_HIDDEN = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class RefusedLine(NamedTuple):
    """A line that is refused, and why."""

    path: str
    line: int
    why: str


Files = Mapping[str, bytes]


def share_key(email: str, origin: str) -> str:
    """The key of what a person shares of a record, whatever its text."""
    return content_id("shared", email.lower(), origin)


def person_path(email: str) -> str:
    """The file of a person: a readable name, made unique by a hash."""
    name = re.sub(r"[^a-z0-9]+", "-", email.lower().partition("@")[0]).strip("-")[:40]
    return f"{FOLDER}/{name or 'someone'}-{content_id('person', email.lower())[:8]}.jsonl"


def is_person_path(path: str) -> bool:
    """Whether a path is the file of a person."""
    return _PERSON_PATH.fullmatch(path) is not None


def encode(shared: SharedRecord) -> bytes:
    """A record as its line, without the newline."""
    s = shared
    fields: dict[str, Any] = {
        "v": VERSION, "origin": s.origin, "by": s.author, "email": s.email, "shared": s.shared,
    }  # fmt: skip
    if s.gone:
        fields["gone"] = True
    else:
        fields |= {"kind": s.kind, "text": s.text, "time": s.time, "trust": s.lineage.value}
        fields |= {"files": list(s.files)} if s.files else {}
        fields |= {"note": s.note} if s.note else {}
        # The project is the default scope: a branch belongs to one.
        fields |= {"scope": s.scope.value} if s.scope is not Scope.PROJECT else {}
    return _canonical_json({**fields, "id": line_hash(fields)})


def line_hash(fields: Mapping[str, Any]) -> str:
    """The hash of all fields of a line but its id."""
    rest = {name: value for name, value in fields.items() if name != "id"}
    return hashlib.blake2b(_canonical_json(rest), digest_size=16).hexdigest()


def _canonical_json(fields: Mapping[str, Any]) -> bytes:
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def decode(line: bytes, path: str) -> SharedRecord | str:
    """The record of a line in a file, or why it is refused."""
    if len(line) > MAX_LINE_BYTES:
        return "the line is too long"
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return "not JSON"
    if not isinstance(value, dict):
        return "not a record"
    record = _parse_record(cast(dict[str, Any], value), "")
    if isinstance(record, SharedRecord) and person_path(record.email) != path:
        return "in the file of somebody else"
    return record


def _refuse_constant(name: str) -> None:
    """JSON has no NaN and no Infinity, though Python reads them."""
    raise ValueError(name)


def encode_for_server(shared: SharedRecord) -> dict[str, Any]:
    """A record as it is sent to a server, which knows the person by their key."""
    fields: dict[str, Any] = json.loads(encode(shared))
    fields = {name: value for name, value in fields.items() if name not in ("by", "email", "id")}
    fields |= {"scope": shared.scope.value}
    return {**fields, "id": line_hash(fields)}


def decode_from_client(fields: dict[str, Any], person: str) -> SharedRecord | str:
    """The record that a person sends to a server, or why it is refused. It must name its scope and
    gets the person as author; its lineage is at most as trusted as the team's."""
    try:
        if len(_canonical_json(fields)) > MAX_LINE_BYTES:
            return "the line is too long"
    except (ValueError, RecursionError):
        return "not JSON"
    if "scope" not in fields:
        return "of a scope that is not known"
    record = _parse_record(fields, person)
    if isinstance(record, str):
        return record
    return replace(record, lineage=least_trusted((record.lineage, Trust.TEAM)))


def _parse_record(fields: dict[str, Any], person: str) -> SharedRecord | str:
    """The record of a line, by the author it names, or by `person` if that is given."""
    if type(fields.get("v")) is not int or fields["v"] != VERSION:
        return "of another version of the format"
    gone = fields.get("gone", False)
    required = [fields.get(name, person or None) for name in _REQUIRED_TEXTS]
    optional = [fields.get(name, "") for name in _OPTIONAL_TEXTS]
    files: Any = fields.get("files", [])
    if not (_are_texts(required) and _are_texts(optional) and isinstance(gone, bool)):
        return "not a record"
    if files.__class__ is not list or not _are_texts(files):
        return "not a record"
    origin, by, email, shared = cast(list[str], required)
    by, email = (person, person) if person else (by, email)
    kind, text, time, trust, note = cast(list[str], optional)
    try:
        hashed = line_hash(fields)
    except (ValueError, RecursionError):
        return "not JSON"
    if fields.get("id") != hashed:
        return "its id is not the hash of its content"
    has_content = gone or (kind in KINDS and text.strip())
    has_times = is_timestamp(shared) and (not time or is_timestamp(time))
    if not (_RECORD_URI.fullmatch(origin) and has_times and has_content):
        return "not a record"
    scope = SHARED_SCOPES.get(str(fields.get("scope", Scope.PROJECT.value)))
    if scope is None:
        return "of a scope that is not known"
    lineage = Trust(trust) if trust in set(Trust) else Trust.EXTERNAL
    return SharedRecord(
        "",
        share_key(email, origin),
        hashed,
        kind,
        strip_hidden(text),
        strip_hidden(by),
        email,
        shared,
        origin,
        time,
        Trust.EXTERNAL if lineage is Trust.EXTERNAL else Trust.TEAM,
        lineage,
        tuple(strip_hidden(file) for file in files[:_MAX_FILES]),
        strip_hidden(note),
        gone,
        scope,
    )


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def is_timestamp(text: str) -> bool:
    """Whether a text is a time as records write it."""
    if not _TIMESTAMP.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def strip_hidden(text: str) -> str:
    """A text without control characters and characters that hide or reorder text."""
    return _HIDDEN.sub("", text.encode("utf-8", "replace").decode())


def newer(one: SharedRecord, other: SharedRecord) -> SharedRecord:
    """Which of two records with one key counts: the later; at the same time, the one taken back."""
    return max(one, other, key=lambda s: (s.shared, s.gone, s.version))


def read_shares(files: Files) -> tuple[dict[str, SharedRecord], list[RefusedLine]]:
    """The records that count, by key, those taken back included; and the lines that are refused."""
    records: dict[str, SharedRecord] = {}
    refused: list[RefusedLine] = []
    for path in sorted(files):
        for number, line in enumerate(files[path].split(b"\n"), 1):
            if not line.strip():
                continue
            record = decode(line, path)
            if isinstance(record, str):
                refused.append(RefusedLine(path, number, record))
            else:
                records[record.id] = newer(records.get(record.id, record), record)
    return records, refused


def merge(stores: Iterable[Files]) -> dict[str, bytes]:
    """The union of some stores: of each key the line that counts. Their order does not matter."""
    lines: dict[str, set[bytes]] = {}
    for store in stores:
        for path, content in store.items():
            lines.setdefault(path, set()).update(filter(bytes.strip, content.split(b"\n")))
    return {path: _merge_lines(path, found) for path, found in lines.items()}


def _merge_lines(path: str, lines: Iterable[bytes]) -> bytes:
    latest: dict[str, tuple[SharedRecord, bytes]] = {}
    lines_kept: list[tuple[str, bytes]] = []
    for line in lines:
        record = decode(line, path)
        if isinstance(record, str):
            lines_kept.append(("", line))
            continue
        known = latest.get(record.id)
        # The same record in two spellings: the smaller line, so that the order is irrelevant.
        if known is None or (
            line < known[1]
            if known[0].version == record.version
            else newer(known[0], record) is record
        ):
            latest[record.id] = (record, line)
    lines_kept += [(key, line) for key, (_, line) in latest.items()]
    return b"".join(line + b"\n" for _, line in sorted(lines_kept))
