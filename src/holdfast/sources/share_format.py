"""The format of shared memories: one JSON object a line, in one file per person.

A line is known by its hash and says what one person shares of one record, or that it is taken
back; of several about the same the latest holds, so that two stores merge in any order and come to
the same. Lines that are not understood are refused by a reader and kept by a merge: they may be of
a newer version.
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
from holdfast.model.team import SHARED_SCOPES, Scope, Shared
from holdfast.model.trust import Trust, least_trusted
from holdfast.regex import regex

VERSION = 1
FOLDER = "people"
MAX_LINE_BYTES = 65_536
KINDS = ("fact", "memory", "exchange", "digest", "concept", "pattern")
_TEXTS = ("origin", "by", "email", "shared")
_MORE = ("kind", "text", "time", "trust", "note")
_FILES = 200
_NAMED = regex(r"holdfast://[a-z]+/[\x21-\x7e]{1,200}")
_MOMENT = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
_PLACE = regex(r"people/[a-z0-9-]{1,80}\.jsonl")
_UNSEEN = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class RefusedLine(NamedTuple):
    """A line that is not taken, and why."""

    path: str
    line: int
    why: str


Files = Mapping[str, bytes]


def share_key(email: str, origin: str) -> str:
    """What a person shares of a record is known by this, whatever its words."""
    return content_id("shared", email.lower(), origin)


def person_path(email: str) -> str:
    """The file of a person, by a name that people can read and no two share."""
    name = re.sub(r"[^a-z0-9]+", "-", email.lower().partition("@")[0]).strip("-")[:40]
    return f"{FOLDER}/{name or 'someone'}-{content_id('person', email.lower())[:8]}.jsonl"


def is_person_path(path: str) -> bool:
    """Whether a path is that of a person's file."""
    return _PLACE.fullmatch(path) is not None


def encode(shared: Shared) -> bytes:
    """A record as its line, without the end."""
    s = shared
    told: dict[str, Any] = {
        "v": VERSION, "origin": s.origin, "by": s.author, "email": s.email, "shared": s.shared,
    }  # fmt: skip
    if s.gone:
        told["gone"] = True
    else:
        told |= {"kind": s.kind, "text": s.text, "time": s.time, "trust": s.lineage.value}
        told |= {"files": list(s.files)} if s.files else {}
        told |= {"note": s.note} if s.note else {}
        # What lies on a branch is for the project, and goes without saying.
        told |= {"scope": s.scope.value} if s.scope is not Scope.PROJECT else {}
    return _spelled({**told, "id": line_hash(told)})


def line_hash(told: Mapping[str, Any]) -> str:
    """The hash of all that a line says, but for its id."""
    rest = {name: value for name, value in told.items() if name != "id"}
    return hashlib.blake2b(_spelled(rest), digest_size=16).hexdigest()


def _spelled(told: Mapping[str, Any]) -> bytes:
    spelled = json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return spelled.encode("utf-8", "surrogatepass")


def decode(line: bytes, path: str) -> Shared | str:
    """The record that a line of a file is, or why it is none."""
    if len(line) > MAX_LINE_BYTES:
        return "the line is too long"
    try:
        told = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return "not JSON"
    if not isinstance(told, dict):
        return "not a record"
    return _record(cast(dict[str, Any], told), path)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _record(told: dict[str, Any], path: str) -> Shared | str:
    made = _made(told, "")
    if isinstance(made, Shared) and person_path(made.email) != path:
        return "in the file of somebody else"
    return made


def encode_for_server(shared: Shared) -> dict[str, Any]:
    """A record as it is handed in to a server, which knows by the key whose it is."""
    told: dict[str, Any] = json.loads(encode(shared))
    told = {name: value for name, value in told.items() if name not in ("by", "email", "id")}
    told |= {"scope": shared.scope.value}
    return {**told, "id": line_hash(told)}


def decode_from_client(told: dict[str, Any], person: str) -> Shared | str:
    """The record that somebody hands in, or why it is none. It must say for whom it is, and it is
    in the name of whoever hands it in; nobody's words are better trusted than the team's."""
    try:
        if len(_spelled(told)) > MAX_LINE_BYTES:
            return "the line is too long"
    except (ValueError, RecursionError):
        return "not JSON"
    if "scope" not in told:
        return "of a scope that is not known"
    made = _made(told, person)
    if isinstance(made, str):
        return made
    return replace(made, lineage=least_trusted((made.lineage, Trust.TEAM)))


def _made(told: dict[str, Any], person: str) -> Shared | str:
    """What a line says, in the name that it has or in that of a person."""
    if type(told.get("v")) is not int or told["v"] != VERSION:
        return "of another version of the format"
    gone = told.get("gone", False)
    texts = [told.get(name, person or None) for name in _TEXTS]
    more = [told.get(name, "") for name in _MORE]
    files = told.get("files", [])
    if not (_are_texts(texts) and _are_texts(more) and isinstance(gone, bool) and _is_list(files)):
        return "not a record"
    origin, by, email, shared = cast(list[str], texts)
    by, email = (person, person) if person else (by, email)
    kind, text, time, trust, note = cast(list[str], more)
    try:
        hashed = line_hash(told)
    except (ValueError, RecursionError):
        return "not JSON"
    if told.get("id") != hashed:
        return "its id is not the hash of what it says"
    if not (_NAMED.fullmatch(origin) and is_timestamp(shared) and (not time or is_timestamp(time))):
        return "not a record"
    if not gone and (kind not in KINDS or not text.strip()):
        return "not a record"
    scope = SHARED_SCOPES.get(str(told.get("scope", Scope.PROJECT.value)))
    if scope is None:
        return "of a scope that is not known"
    lineage = Trust(trust) if trust in set(Trust) else Trust.EXTERNAL
    taken = Trust.EXTERNAL if lineage is Trust.EXTERNAL else Trust.TEAM
    return Shared(
        "", share_key(email, origin), hashed, kind, strip_hidden(text), strip_hidden(by), email, shared, origin,
        time, taken, lineage, tuple(strip_hidden(file) for file in files[:_FILES]), strip_hidden(note), gone,
        scope,
    )  # fmt: skip


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and _are_texts(cast(list[object], value))


def is_timestamp(text: str) -> bool:
    """Whether a text is a moment as records spell it."""
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def strip_hidden(text: str) -> str:
    """A text without what moves a terminal's cursor or hides what it says."""
    return _UNSEEN.sub("", text.encode("utf-8", "replace").decode())


def newer(one: Shared, other: Shared) -> Shared:
    """Which of two about the same holds: the later; at the same moment, that it is gone."""
    return max(one, other, key=lambda s: (s.shared, s.gone, s.version))


def read_shares(files: Files) -> tuple[dict[str, Shared], list[RefusedLine]]:
    """What holds in a store, by key, what is gone included; and the lines that are refused."""
    held: dict[str, Shared] = {}
    refused: list[RefusedLine] = []
    for path in sorted(files):
        for number, line in enumerate(files[path].split(b"\n"), 1):
            if not line.strip():
                continue
            record = decode(line, path)
            if isinstance(record, str):
                refused.append(RefusedLine(path, number, record))
            else:
                held[record.id] = newer(held.get(record.id, record), record)
    return held, refused


def merge(stores: Iterable[Files]) -> dict[str, bytes]:
    """The union of some stores, of each matter the line that holds; in whatever order."""
    lines: dict[str, set[bytes]] = {}
    for store in stores:
        for path, content in store.items():
            lines.setdefault(path, set()).update(filter(bytes.strip, content.split(b"\n")))
    return {path: _settled(path, found) for path, found in lines.items()}


def _settled(path: str, lines: Iterable[bytes]) -> bytes:
    held: dict[str, tuple[Shared, bytes]] = {}
    kept: list[tuple[str, bytes]] = []
    for line in lines:
        record = decode(line, path)
        if isinstance(record, str):
            kept.append(("", line))
            continue
        known = held.get(record.id)
        # The same said twice in other spelling: the smaller one, so that no order matters.
        if known is None or (
            line < known[1]
            if known[0].version == record.version
            else newer(known[0], record) is record
        ):
            held[record.id] = (record, line)
    kept += [(key, line) for key, (_, line) in held.items()]
    return b"".join(line + b"\n" for _, line in sorted(kept))
