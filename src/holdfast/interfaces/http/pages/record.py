"""The page of one record of any kind: its text, its sources, what is derived from it and what was
decided about it, with the forms to correct, forget, merge and erase it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.forms import Look, text_of
from holdfast.interfaces.http.pages.memory import KINDS, session_url
from holdfast.interfaces.http.pages.page_request import PageRequest, PageRequestDep, Shown, ask
from holdfast.interfaces.ui.formatting import bank_keys, link, spell, split_heading
from holdfast.language import truncate
from holdfast.learn.curation import CORRECTABLE_KINDS, MERGEABLE_KINDS
from holdfast.learn.decision_state import independently_undoable
from holdfast.learn.judging import JUDGEABLE_KINDS, is_rewordable
from holdfast.model.curation import Action
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Concept, Fact, Memory, Network
from holdfast.model.query import LAYER_BY_KIND
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri, uri
from holdfast.operations.operation import Call
from holdfast.operations.parameters import MAX_QUESTION
from holdfast.operations.records import ShownRecord
from holdfast.operations.shapes import result_json
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.commits import threads_of_commit
from holdfast.recall.lookup.origins import Named, origins
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import decisions_about, find_record
from holdfast.regex import regex
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/record")
# Characters of the raw transcript line, which can be megabytes; lines of a diff.
_MAX_RAW_CHARS, _MAX_DIFF_LINES = 4_000, 2_000
# A heading that is the text of its record may be longer: below this, it is all of it.
_MAX_HEADING_CHARS, _MAX_TITLE_CHARS = 320, 240
# Records that a record is made of; records for it, and as many against it; similar ones. Each costs
# one lookup.
_MAX_PARTS, _MAX_EVIDENCE, _MAX_SIMILAR = 100, 40, 8
# These come from a file of the user, or follow from other records; these can be erased.
_NOT_FORGETTABLE = ("rule", "pattern", "claim")
_ERASABLE = ("memory", "shared", "imported")
# What the page shows elsewhere, or means nothing to a reader.
_HIDDEN_FIELDS = frozenset(
    "uri bank id text body what content summary request title subject name trust status origin "
    "tool session first_seq last_seq seq role details history members source time kind network "
    "confidence evidence evidence_for evidence_against against supersedes superseded_by seen "
    "attempts problem author email who when learned domain by_agent version taken hash".split()
)
_FIELD_LABELS = {"cwd": "folder", "last_validated": "last confirmed"}
# Values that are all shorter are joined into one line.
_MAX_INLINE_CHARS = 30
_TIME = regex(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z")


@router.get("/{word}/{id:path}/place")
async def place(request: PageRequestDep, word: str, id: str) -> RedirectResponse:
    """Redirect to a record in its session, or to its own page if it has none."""
    name = uri(word, id)
    found = await request.pool.read(
        lambda memory: session_url(find_record(memory.reader, None, name))
    )
    return RedirectResponse(found or link(name), 303)


@router.get("/{word}/{id:path}")
async def record(request: PageRequestDep, word: str, id: str, merge: str = "") -> HTMLResponse:
    """A record, or the page of one that is not shown any more. With `merge`, also similar ones,
    which it can be merged into."""
    name, call = uri(word, id), request.call
    read = request.pool.search if merge else request.pool.read
    try:
        shown = await read(lambda memory: load_record(memory, name, call, bool(merge)))
    except NotFoundError:
        return await _hidden_record_page(request, name)
    return request.render("record.html", **shown)


async def _hidden_record_page(request: PageRequest, name: str) -> HTMLResponse:
    """The page of a record that is not shown, with what was decided about it. It can be restored
    unless it was erased, or forgotten together with another record."""

    def load(memory: Holdfast) -> Shown:
        found = memory.curation.target(name)
        known = memory.reader.curation.state(found.bank, found.kind, found.id)
        log = decisions_about(memory.reader.curation.log(found.bank), found.uri)
        erased = any(entry.action is Action.PURGE for entry in log)
        back = known is not None and known.is_hidden and not erased
        return {"target": found, "log": log, "back": back, "into": known.into if known else ""}

    shown = await request.pool.read(load)
    return request.render("hidden_record.html", 404, title="Not shown", **shown)


def load_record(memory: Holdfast, name: str, call: Call, merge: bool = False) -> Shown:
    """What the page of a record shows."""
    found: ShownRecord = ask(memory, call, "show", id=name)
    reader, record, text = memory.reader, found.record, text_of(found.record)
    heading, rest = _split(record, text)
    bank = record.bank
    supporting, opposing = _evidence(found)
    evidence = [
        (title, list(refs(reader, bank, names[:_MAX_EVIDENCE])), len(names) - _MAX_EVIDENCE)
        for title, names in (
            ("Replaced by", list(filter(None, [getattr(record, "superseded_by", "")]))),
            ("Replaces", list(getattr(record, "supersedes", ()))),
            ("Evidence against it", opposing),
            ("Evidence for it", supporting),
        )
    ]
    parts = [one for one in found.below if not isinstance(one, Remark) and found.kind != "concept"]
    above = list(refs(reader, bank, found.above))
    below = [_ref(one) for one in parts[:_MAX_PARTS]]
    shown_uris = [found.uri, *(ref["uri"] for refs in (above, below) for ref in refs)]
    shown_uris += [ref["uri"] for _, refs, _ in evidence for ref in refs]
    return {
        "title": heading or found.uri,
        "rest": rest,
        "text": text,
        "seen": Look(text).seen,
        "found": found,
        "record": record,
        "opinion": _opinion(memory, record),
        "time": describe_record(record)[1],
        "bank": memory.context.bank_name(bank),
        "bank_key": bank_keys(reader.banks.all()).get(bank, bank),
        "tab": _tab(found),
        "fields": _fields(record),
        "evidence": [one for one in evidence if one[1]],
        "above": above,
        "below": below,
        "left_out": max(0, len(parts) - _MAX_PARTS),
        "remarks": [one for one in found.below if isinstance(one, Remark)],
        "commit": _commit(reader, found) if isinstance(record, Commit) else None,
        "raw": found.raw.text[:_MAX_RAW_CHARS] if found.raw else "",
        "place": session_url(record),
        "origins": origins(reader, [Named(bank, one) for one in shown_uris]),
        "can": _allowed(found),
        "rewordable": is_rewordable(record),
        "undo_verdict": _undoable_verdict(reader, found),
        "similar": _similar(memory, found, text, call) if merge else None,
    }


def _split(record: Any, text: str) -> tuple[str, str]:
    """The heading of a record, and what stands below it."""
    title = describe_record(record)[0]
    if isinstance(record, Concept):
        return title, record.summary
    if isinstance(record, Pull | Issue):
        return truncate(title, _MAX_HEADING_CHARS), record.body
    if text.startswith(title) or record_kind(record) in KINDS.values():
        return split_heading(text, _MAX_HEADING_CHARS)
    return truncate(title, _MAX_HEADING_CHARS), text


def _opinion(memory: Holdfast, record: Any) -> Any:
    """The opinion that a memory is, with its trend; None if it is none."""
    if not isinstance(record, Memory) or record.network is not Network.OPINION:
        return None
    known = memory.opinions.opinions(record.bank, all=True)
    return next((one for one in known if one.id == record.id), None)


def _tab(found: ShownRecord) -> str:
    """The tab of the memory page that lists a record; "" for none."""
    if found.beliefs:
        return "opinions"
    tabs = (tab for tab, word in KINDS.items() if word == found.kind and tab != "opinions")
    return next(tabs, "")


class _Named(NamedTuple):
    """A record by its URI; how it is evidence, and when."""

    uri: str
    how: str = ""
    time: str = ""


def _evidence(found: ShownRecord) -> tuple[list[_Named], list[_Named]]:
    """The records for and against a record, the latest first."""
    record: Any = found.record
    if isinstance(record, Fact):
        # What people decided stands in the log.
        known = [one for one in found.bearings[::-1] if one.uri != found.uri]
        bad = {one.uri for one in known if one.side == "against"}
        told = [_Named(one.uri, one.how.value, one.time) for one in known]
        return [one for one in told if one.uri not in bad], [one for one in told if one.uri in bad]
    fields = ("evidence_for", "evidence", "members"), ("evidence_against", "against")
    good, against = (
        [_Named(name) for field in some for name in reversed(getattr(record, field, ()))]
        for some in fields
    )
    return good, against


def refs(reader: Reader, bank: str, names: Iterable[_Named | str]) -> Iterator[Shown]:
    """Records by their URIs; one that there is no more has no title."""
    for one in names:
        name, how, time = (one, "", "") if isinstance(one, str) else one
        record = find_by_uri(reader, bank, name)
        named = parse_uri(name)
        gone = {"title": "", "time": time, "status": "", "kind": named.kind if named else ""}
        shown = _ref(record) if record is not None else gone
        yield {**shown, "uri": name, "how": how, "time": time or shown["time"]}


def _ref(record: Any) -> Shown:
    title, time = describe_record(record)
    kind, status = record_kind(record), str(getattr(record, "status", ""))
    short = truncate(title, _MAX_TITLE_CHARS) or uri(kind, record.id)
    name = uri(kind, record.id)
    return {"uri": name, "kind": kind, "title": short, "time": time, "how": "", "status": status}


def _fields(record: Any) -> list[tuple[str, list[str]]]:
    """The other fields of a record with their values, without empty ones."""
    own: dict[str, Any] = result_json(record)
    flat: list[tuple[str, Any]] = []
    for name, value in own.items():
        flat += value.items() if isinstance(value, dict) else [(name, value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    shown: list[tuple[str, list[str]]] = []
    for name, held in flat:
        if name not in _HIDDEN_FIELDS and held not in ("", None, False, 0, []):
            values = [_value(one) for one in (held if isinstance(held, list) else [held])]  # pyright: ignore[reportUnknownVariableType]
            if all(len(one) <= _MAX_INLINE_CHARS and "://" not in one for one in values):
                values = [", ".join(values)]
            shown.append((_FIELD_LABELS.get(name, name.replace("_", " ")), values))
    return shown


def _value(value: Any) -> str:
    if isinstance(value, bool | float):
        return f"{value:.2f}" if isinstance(value, float) else "yes"
    text = str(value)
    return spell(text, "moment") if _TIME.fullmatch(text) else text


def _commit(reader: Reader, found: ShownRecord) -> Shown:
    """A commit with its diff and the records related to it."""
    story, record = found.commit, found.record
    assert story is not None
    lines = story.diff.split("\n") if story.diff else []

    def commits(names: Iterable[str]) -> list[Shown]:
        wanted = (name if "://" in name else uri("commit", name) for name in names)
        return list(refs(reader, record.bank, wanted))

    return {
        "story": story,
        "diff": "\n".join(lines[:_MAX_DIFF_LINES]),
        "cut": max(0, len(lines) - _MAX_DIFF_LINES),
        "links": [
            ("Pulls, issues", [_ref(one) for one in threads_of_commit(reader, record)]),
            ("Reverts", commits(story.reverts)),
            ("Reverted by", commits(story.reverted_by)),
            ("After", commits(record.parents)),
        ],
    }


def _allowed(found: ShownRecord) -> frozenset[str]:
    """What a person may do with a record."""
    kind = found.kind
    is_derived = bool(getattr(found.record, "evidence_for", ()))
    return frozenset(
        name
        for name, can in (
            ("correct", kind in CORRECTABLE_KINDS),
            ("forget", kind not in _NOT_FORGETTABLE),
            ("merge", kind in MERGEABLE_KINDS),
            ("purge", kind in _ERASABLE and not is_derived),
            ("judge", kind in JUDGEABLE_KINDS),
            ("confirm", found.anchor and any(one.description for one in found.anchor.files)),
        )
        if can
    )


def _undoable_verdict(reader: Reader, found: ShownRecord) -> int:
    """The number of the decision that is the verdict on a record, 0 if it cannot be undone."""
    if found.verdict is None:
        return 0
    log = independently_undoable(reader.curation.log(found.record.bank))
    judged = (one.seq for one in log if one.target == found.uri and one.action is Action.JUDGE)
    return next(judged, 0)


def _similar(memory: Holdfast, found: ShownRecord, text: str, call: Call) -> list[Any]:
    """The records of its kind that are found by its words."""
    asked = {"query": text[:MAX_QUESTION], "bank": found.record.bank, "budget": "low"}
    layer = LAYER_BY_KIND[found.kind].value
    hits = ask(memory, call, "recall", layer=[layer], limit=5 * _MAX_SIMILAR, **asked).hits
    same = [hit for hit in hits if hit.kind == found.kind and hit.uri != found.uri]
    return same[:_MAX_SIMILAR]
