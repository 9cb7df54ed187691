"""What somebody reads who judges a brief: what the next start brief tells, what comes next by rank,
what was judged already, and what the last sessions were about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, groupby, islice
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.views.brief_view import brief_lines
from holdfast.brief.frame import Brief, origin_label, short_name
from holdfast.brief.session_brief import BriefMaterial
from holdfast.brief.sessions.last_sessions import request_of
from holdfast.brief.sessions.session_endings import find_endings
from holdfast.brief.verdicts import read_verdicts
from holdfast.brief.work_items import normalise_path
from holdfast.language import truncate
from holdfast.learn.judging import JUDGEABLE_KINDS
from holdfast.model.bank import Bank
from holdfast.model.curation import Judgement, Verdict
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Fact, Memory
from holdfast.model.records import Digest, Exchange
from holdfast.model.team import Commit
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import source_of
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.refine.by_model.session_outlines import AGENT_FOLDER
from holdfast.refine.core.statement_similarity import own_words
from holdfast.regex import regex
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


class ReviewLimits(NamedTuple):
    """How much is listed."""

    # A brief has 15 to 20 lines; with twice as many, what takes the place of those that are
    # dropped was read, too.
    statements: int = 40
    # What people judged before and is not told, the latest first. Of what agents and models judged
    # all is listed: somebody has to look after them.
    judged: int = 20
    # Sessions of people, and those that are looked through for them.
    sessions: int = 8
    looked_at: int = 60
    files: int = 4
    # A request, and what came of it.
    characters: int = 160


LIMITS = ReviewLimits()
# The day, and of the last session the minute, at the start of a line. A line of the index of
# exchanges has the id, the day and the minute there, and the tokens at its end.
_DAY = regex(r"^\d{4}-\d\d-\d\d(?: \d\d:\d\d)?,? ")
_INDEXED = regex(r"^[0-9a-f]{8} +(?:\d{4}-\d\d-\d\d )?\d\d:\d\d (.*) ~\d+$")


class Section(StrEnum):
    """The parts of the list, in their order, by their headings."""

    TOLD = "What the next start brief tells"
    NEXT = "What comes next"
    LEFT_OUT = "What was judged, and is not told"


class ReviewItem(NamedTuple):
    """A record that can be judged. `told` says whether the next start brief tells it; `judgement`
    is the verdict that it has, and `ended` how and when its words ended, if they do not hold."""

    uri: str
    time: str
    kind: str
    who: str
    text: str
    files: tuple[str, ...]
    told: bool
    judgement: Judgement | None
    ended: str

    @property
    def section(self) -> Section:
        """The part of the list that it belongs to."""
        if self.told:
            return Section.TOLD
        known = self.judgement
        is_left_out = known is not None and known.verdict is not Verdict.USEFUL
        return Section.LEFT_OUT if is_left_out else Section.NEXT


class SessionOutline(NamedTuple):
    """What happened in a session, in a line; `ended` is how and when something of it ended."""

    uri: str
    time: str
    outcome: str
    request: str
    result: str
    files: tuple[str, ...]
    ended: str


class ReviewList(NamedTuple):
    """What there is to read: `items` by section, from the first line of the brief on, and the
    latest sessions first. `more` is how many that people judged are not listed."""

    bank: Bank
    items: tuple[ReviewItem, ...]
    sessions: tuple[SessionOutline, ...]
    more: int

    def sections(self) -> Iterator[tuple[Section, list[tuple[int, ReviewItem]]]]:
        """The sections that are not empty, with their items and the numbers of these."""
        numbered = enumerate(self.items, 1)
        for section, items in groupby(numbered, key=lambda one: one[1].section):
            yield section, list(items)


def review_list(
    memory: Holdfast,
    bank: str | None = None,
    limit: int = LIMITS.statements,
    brief: Brief | None = None,
    all_judged: bool = False,
) -> ReviewList:
    """What the next start brief of a bank tells and what nearly made it, `limit` in all, then what
    was judged and is not among it: by agents and models, and what people judged last, or all of it.
    `brief` is that brief, if somebody has made it."""
    reader, found = memory.reader, memory.context.bank(bank)
    id = found.id
    # What a review passed over can be judged in the next one.
    material = BriefMaterial(reader, id, read_verdicts(reader, id).without_review())
    told = dict(_told(memory.briefs.session_brief(id) if brief is None else brief))
    names = list(islice(chain(told, _next(material, told)), limit))
    records = _records(reader, id, names)
    seen = {*told, *names}
    judged = _records(reader, id, (one for one in material.verdicts.names() if one not in seen))
    left_out = set(() if all_judged else _by_people(reader, id, judged)[LIMITS.judged :])
    records += [one for one in judged if one[0] not in left_out]
    endings = RecordEndings(reader)
    items = (
        _item(record, told.get(name, ""), material.verdicts.of(name), endings)
        for name, record in records
    )
    order = list(Section)
    listed = sorted(filter(None, items), key=lambda one: order.index(one.section))
    sessions = tuple(islice(_sessions(reader, id, endings), LIMITS.sessions))
    return ReviewList(found, tuple(listed), sessions, len(left_out))


def _records(reader: Reader, bank: str, names: Iterable[str]) -> list[tuple[str, Record]]:
    """The records of some names that are still there."""
    found = ((name, find_by_uri(reader, bank, name)) for name in names)
    return [(name, record) for name, record in found if record is not None]


def _by_people(reader: Reader, bank: str, judged: Iterable[tuple[str, Record]]) -> list[str]:
    """Of some judged records those that a person judged."""
    said = reader.curation.judgements(bank)
    return [name for name, _ in judged if name in said and not said[name].by_agent]


def _next(material: BriefMaterial, told: Mapping[str, str]) -> Iterator[str]:
    """The statements that are not told, the best first, without those that a told line says."""
    for one in material.ranking.best(()):
        name = uri("memory", one.memory.id)
        own = own_words(one.memory.what)
        if name not in told and not any(own in line for line in told.values()):
            yield name


def judged_lines(memory: Holdfast, bank: str, brief: Brief) -> int:
    """How many lines of a brief tell a record that was called useful."""
    verdicts = read_verdicts(memory.reader, bank)
    lines = (line for line in brief_lines(brief) if line.uri and line.text.startswith("- "))
    return sum(verdicts.is_useful(line.uri) for line in lines)


def _told(brief: Brief) -> Iterator[tuple[str, str]]:
    """The records that a brief tells, each with its lines, without the day and the id, which stand
    before an item."""
    lines: dict[str, list[str]] = {}
    for line in brief_lines(brief):
        named = parse_uri(line.uri) if line.uri else None
        if named is not None and named.kind in JUDGEABLE_KINDS:
            text = line.text.removeprefix("- ").strip().replace(f" ({short_name(line.uri)})", "")
            bare = _INDEXED.sub(r"\1", _DAY.sub("", text, count=1), count=1)
            lines.setdefault(line.uri, []).append(bare)
    for name, texts in lines.items():
        yield name, "; ".join(texts)


def _item(
    record: Record, line: str, judgement: Judgement | None, endings: RecordEndings
) -> ReviewItem | None:
    """A record as an item; None if briefs do not tell its kind. What a session or an exchange comes
    to is told in the words of the brief."""
    match record:
        case Memory():
            kind = record.kind.value if record.kind is not None else record.network.value
            label = origin_label(record.trust, record.what, shared_by=record.shared_by)
            text, who = f"{label}{record.what}", source_of(record.trust)
            said = record.when, kind, who, text, _files(record.where.split(", "))
        case Fact():
            text = f"{record.problem} → {record.content}" if record.problem else record.content
            text = f"{origin_label(record.trust, text)}{text}"
            since, who = record.validity.since, source_of(record.trust)
            said = since, record.kind.value, who, text, _files(record.files)
        case Exchange():
            text = line or f"{record.title} → {record.summary}"
            said = record.started, "exchange", "", text, _files(record.files_modified)
        case Digest():
            time = record.ended or record.started
            said = time, "session", "", line or request_of(record), ()
        case Commit():
            said = (
                record.time,
                "commit",
                record.author,
                line or record.subject,
                _files(record.files),
            )
        case _:
            return None
    time, kind, who, text, files = said
    name, ended = uri(record_kind(record), record.id), endings.label(record, text)
    return ReviewItem(name, time, kind, who, text, files, bool(line), judgement, ended)


def _files(paths: Iterable[str]) -> tuple[str, ...]:
    named = [normalise_path(path) for path in paths if path]
    return tuple(named[: LIMITS.files])


def _sessions(reader: Reader, bank: str, endings: RecordEndings) -> Iterator[SessionOutline]:
    """The latest sessions of people."""
    for session in reader.sessions.latest(bank, LIMITS.looked_at):
        digest = reader.sessions.digest(bank, session.id)
        if digest is None or session.parent:
            continue
        exchanges = list(reader.sessions.exchanges(bank, session.id))
        changed = dict.fromkeys(file for x in exchanges for file in x.files_modified)
        own = (file for file in changed if AGENT_FOLDER not in file)
        # Of a title "request — result" the result is told as that of the end.
        request = request_of(digest).partition(" — ")[0]
        ending = next(find_endings(reader, bank, exchanges), None)
        result = "" if ending is None else ending.text or ending.asked
        asked = truncate(request, LIMITS.characters)
        result = truncate(result, LIMITS.characters)
        yield SessionOutline(
            uri("digest", digest.id),
            digest.ended or digest.started,
            digest.outcome.value,
            asked,
            result,
            _files(own),
            endings.label(digest, f"{asked}\n\n{result}"),
        )


def review_json(found: ReviewList) -> dict[str, Any]:
    """The list as JSON."""
    return {
        "bank": found.bank.name,
        "statements": [
            {"number": number, **to_jsonable(item)} for number, item in enumerate(found.items, 1)
        ],
        "sessions": to_jsonable(found.sessions),
        "more": found.more,
    }
