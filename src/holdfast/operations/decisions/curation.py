"""Deciding about records: storing a statement, correcting, forgetting, merging, judging, and
undoing that. Every decision goes into a log."""

from __future__ import annotations

from typing import Annotated

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.brief.frame import short_name
from holdfast.language import truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.decision_state import undoable
from holdfast.model.curation import (
    MAX_REASON_CHARS,
    MAX_WORDS_CHARS,
    Action,
    Curation,
    Verdict,
)
from holdfast.model.knowledge import Memory, Network
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.operations.decisions.log import decision_text
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, operation
from holdfast.operations.parameters import MAX_NAME, AnyBank, OneBank, RecordId
from holdfast.operations.screen import Screen, day, minute, number
from holdfast.principal import Level
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import find_record

# Records that are judged at once: more than the list of a brief has by default.
_MAX_JUDGED = 100
_MAX_UNDONE = 100
# An announcement shows the start of a corrected text: enough to recognise it in the question.
_MAX_ANNOUNCED = 300
# The start of the text of a judged record: about two lines.
_MAX_RECORD = 160
# How much of an id is printed in advice to run `holdfast restore`, which takes the start of one.
_ID_CHARACTERS = 16

StoredText = Annotated[str, Arg("the text", place="TEXT", many_words=True)]


class StoredMemory(NamedTuple):
    """A memory as it was stored, with the name of its bank. It is not new if the same text was
    there already."""

    uri: str
    bank: str
    record: Memory
    is_new: bool


class RetainedMemory(NamedTuple):
    """A memory as it was stored, with the name of its bank, and the people, components and other
    names in its text."""

    uri: str
    bank: str
    record: Memory
    names: tuple[str, ...]


class RecordDecision(NamedTuple):
    """The entry in the log of decisions."""

    decision: Curation


class Undone(NamedTuple):
    """The decisions that were undone, the latest first."""

    undone: tuple[Curation, ...]


class Judged(NamedTuple):
    """The verdict and its entries in the log of decisions, the start of each judged record by its
    URI, and the URIs of records for which what a person decided before still counts."""

    verdict: Verdict
    decided: tuple[Curation, ...]
    kept: tuple[str, ...]
    titles: dict[str, str]


def _print_remembered(screen: Screen, stored: StoredMemory, **_: object) -> None:
    known = "" if stored.is_new else f" since {day(stored.record.when)}"
    screen.wrap(f"Remembered in bank {stored.bank}{known}: {stored.record.what}")
    screen.line(stored.uri, "cyan")


@operation(
    "remember",
    Level.WRITE,
    rest="POST /memories",
    text=_print_remembered,
    creates=True,
    examples="""\
  holdfast remember "We deploy on Tuesdays, never on Fridays."
  holdfast remember --bank website The staging database is rebuilt every night.""",
)
def remember(
    memory: Holdfast, text: StoredText, bank: OneBank = "", call: Call = OWNER
) -> StoredMemory:
    """Store a statement in your own words

    Recall and ask find it at once, and briefs list it with the decisions. Secrets are redacted
    first. The same text is stored once."""
    started = memory.now()
    stored = memory.curation.remember(text, bank or None, call.who, _trust(call))
    name = memory.context.bank_name(stored.bank)
    return StoredMemory(uri("memory", stored.id), name, stored, stored.when >= started)


def _print_retained(
    screen: Screen, stored: RetainedMemory, *, network: Network | None = None, **_: object
) -> None:
    record = stored.record
    sure = f", confidence {record.confidence:.2f}" if record.confidence is not None else ""
    proposed = "" if network else " (by its wording)"
    kind = f"{record.network.value}{proposed}{sure}"
    screen.wrap(f"Stored in bank {stored.bank} as {kind}: {record.what}")
    screen.line(stored.uri, "cyan")
    for name, value in (
        ("when", minute(record.when)),
        ("where", record.where),
        ("who", ", ".join(stored.names)),
        ("why", record.why),
    ):
        if value:
            screen.wrap(f"{name:<6} {value}", "", " " * 7)


@operation(
    "retain",
    Level.WRITE,
    rest="POST /memories/retain",
    text=_print_retained,
    creates=True,
    examples="""\
  holdfast retain "I moved the importer to src/jobs yesterday because the nightly run was late"
  holdfast retain "Releases are cut from main" --network world --why "one line of history"
  holdfast retain "The staging cluster is flaky" --network opinion --confidence 0.8""",
)
def retain(
    memory: Holdfast,
    text: StoredText,
    network: Annotated[Network | None, Arg("which network (default: by its wording)")] = None,
    confidence: Annotated[
        float | None, Arg("how sure you are of an opinion", least=0, most=1, metavar="X")
    ] = None,
    where: Annotated[str, Arg("the files or places it is about", most=2_000, metavar="PLACE")] = "",
    why: Annotated[str, Arg("the reason", most=2_000, metavar="REASON")] = "",
    bank: OneBank = "",
    call: Call = OWNER,
) -> RetainedMemory:
    """Store a text as knowledge, experience, opinion or observation

    The networks are world (what is true), experience (what was done), opinion (a judgement,
    with a confidence) and observation (what was noticed); without one the wording decides.
    Time, files, names and reason are taken from the text, if it states them.

    It is found at once. Secrets are redacted first. `holdfast opinions` lists opinions; later
    sessions strengthen or weaken them. An opinion that is recognised by its wording has a
    confidence of 0.7, any other must be given one."""
    stored = memory.opinions.retain(
        text, network or "", confidence, where, why, bank or None, call.who, _trust(call)
    )
    from holdfast.learn.retained_text import read_dimensions

    who = read_dimensions(stored.what, memory.now()).who
    name, names = memory.context.bank_name(stored.bank), tuple(who.split(", ") if who else ())
    return RetainedMemory(uri("memory", stored.id), name, stored, names)


def _trust(call: Call) -> Trust:
    return Trust.ASSISTANT if call.by_agent else Trust.USER


def _print_decision(screen: Screen, made: RecordDecision, **_: object) -> None:
    entry = made.decision
    id = entry.target.rpartition("/")[2][:_ID_CHARACTERS]
    screen.line(
        {
            Action.CORRECT: "Corrected. `holdfast undo` undoes this.",
            Action.FORGET: f"Forgotten. `holdfast restore {id}` brings it back.",
            Action.RESTORE: f"Restored {entry.target}.",
            Action.CONFIRM: f"Confirmed {entry.target}. `holdfast undo` undoes this.",
            Action.MERGE: f"Merged. `holdfast restore {id}` undoes this.",
        }[entry.action]
    )


def _announce_correction(
    memory: Holdfast, *, id: str, text: str, bank: str = ALL_BANKS
) -> Announcement:
    target = memory.curation.target(id, bank)
    return Announcement((f"New text of {target.uri}: {truncate(text, _MAX_ANNOUNCED)}",))


@operation(
    "correct",
    Level.WRITE,
    rest="POST /records/{id:path}/correct",
    text=_print_decision,
    announce=_announce_correction,
    examples='  holdfast correct 5c1f0a "The cause was the cron entry, not the retry." --yes',
)
def correct(
    memory: Holdfast,
    id: RecordId,
    text: Annotated[str, Arg("the new text", place="TEXT", many_words=True)],
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> RecordDecision:
    """Replace the text of a record; the old one is kept

    A turn, an exchange, a digest, a memory, a fact, a commit or the name of a concept. Recall,
    ask and briefs then use the new text, marked as corrected; `show` has the old one as
    superseded. `undo` undoes it."""
    return RecordDecision(memory.curation.correct(id, text, bank, call.who))


def _announce_forgetting(memory: Holdfast, *, id: str, bank: str = ALL_BANKS) -> Announcement:
    name = memory.curation.target(id, bank).uri
    return Announcement((f"This hides {name}, and what was derived from it alone, everywhere.",))


@operation(
    "forget",
    Level.WRITE,
    rest="POST /records/{id:path}/forget",
    text=_print_decision,
    announce=_announce_forgetting,
    examples="  holdfast forget 5c1f0a",
)
def forget(
    memory: Holdfast, id: RecordId, bank: AnyBank = ALL_BANKS, call: Call = OWNER
) -> RecordDecision:
    """Hide a record everywhere

    In recall, ask, find, timelines and briefs. With a session, its turns, exchanges and digest
    are hidden; with an exchange, its turns. Summaries are made again without them. It stays
    hidden when transcripts are read again; `restore` or `undo` brings it back.

    `purge` erases a record permanently instead."""
    return RecordDecision(memory.curation.forget(id, bank, call.who))


@operation(
    "restore",
    Level.WRITE,
    rest="POST /records/{id:path}/restore",
    text=_print_decision,
    examples="  holdfast restore 5c1f0a",
)
def restore(
    memory: Holdfast, id: RecordId, bank: AnyBank = ALL_BANKS, call: Call = OWNER
) -> RecordDecision:
    """Bring back a forgotten or merged record

    With everything that was hidden with it."""
    return RecordDecision(memory.curation.restore(id, bank, call.who))


@operation(
    "confirm",
    Level.WRITE,
    rest="POST /records/{id:path}/confirm",
    text=_print_decision,
    examples="  holdfast confirm 5c1f0a",
)
def confirm(
    memory: Holdfast, id: RecordId, bank: AnyBank = ALL_BANKS, call: Call = OWNER
) -> RecordDecision:
    """Confirm that a record still holds after its code changed

    Until the code changes again, it counts as fresh; a verdict that it is outdated ends."""
    return RecordDecision(memory.curation.confirm(id, bank, call.who))


def _announce_merge(memory: Holdfast, *, id: str, into: str, bank: str = ALL_BANKS) -> Announcement:
    merged, kept = memory.curation.target(id, bank), memory.curation.target(into, bank)
    return Announcement((f"{kept.uri} will replace {merged.uri}.",))


@operation(
    "merge",
    Level.WRITE,
    rest="POST /records/{id:path}/merge",
    text=_print_decision,
    announce=_announce_merge,
    examples="  holdfast merge 5c1f0a 9be2d4",
)
def merge(
    memory: Holdfast,
    id: RecordId,
    into: Annotated[
        str, Arg("the record that replaces it, named in the same way", place="INTO", most=MAX_NAME)
    ],
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> RecordDecision:
    """Merge two records that say the same

    Two memories, facts, exchanges, concepts or commits of one bank. The first is no longer
    found, and the second replaces it; its turns stay. `restore` undoes it."""
    return RecordDecision(memory.curation.merge(id, into, bank, call.who))


def _print_undone(screen: Screen, found: Undone, **_: object) -> None:
    done = f"{number(len(found.undone), 'decision')} undone."
    screen.line(done if found.undone else "There is nothing to undo.")


def _announce_undo(
    memory: Holdfast, *, count: int = 1, numbers: tuple[int, ...] = (), bank: str = ALL_BANKS
) -> Announcement:
    logs = map(memory.reader.curation.log, memory.context.bank_ids(bank))
    entries = [entry for log in logs for entry in undoable(log)]
    latest = sorted(entries, key=lambda entry: -entry.seq)
    named = [entry for entry in latest if entry.seq in numbers]
    chosen = named if numbers else latest[:count]
    question = f"Undo {number(len(chosen), 'decision')}?"
    return Announcement(tuple(map(decision_text, chosen)), question)


@operation(
    "undo",
    Level.WRITE,
    rest="POST /undo",
    text=_print_undone,
    announce=_announce_undo,
    examples="  holdfast undo\n  holdfast undo 3 --yes\n  holdfast undo --number 17",
)
def undo(
    memory: Holdfast,
    count: Annotated[
        int, Arg("how many decisions (default: 1)", place="N", least=1, most=_MAX_UNDONE)
    ] = 1,
    numbers: Annotated[
        tuple[int, ...],
        Arg(
            "instead of the latest, the decision with this number (`decisions`); repeatable",
            most=_MAX_UNDONE,
            metavar="NUMBER",
            option="number",
            least=1,
        ),
    ] = (),
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> Undone:
    """Undo the latest decisions

    Such as remember, correct, forget, restore, merge, and verdicts (one for each record); the
    latest first; or those with some numbers, if nothing later depends on them. Everything they
    changed is as before. What was erased permanently cannot be brought back."""
    if not numbers:
        return Undone(tuple(memory.undo(count, bank, call.who)))
    latest_first = sorted(set(numbers), reverse=True)
    return Undone(tuple(one for seq in latest_first for one in memory.undo(1, bank, call.who, seq)))


def _print_judged(screen: Screen, made: Judged, *, verdict: Verdict, **_: object) -> None:
    for one in made.decided:
        screen.item(f"{short_name(one.target)}: {made.titles[one.target]}")
    many = len(made.decided)
    takes_back = "holdfast undo" if many == 1 else f"holdfast undo {many}"
    done = f"{number(many, 'record')} judged {verdict.value}. `{takes_back}` takes it back."
    if made.kept:
        names = ", ".join(map(short_name, made.kept))
        done += f" What a person decided still counts for: {names}."
    screen.wrap(done)


@operation(
    "judge",
    Level.WRITE,
    rest="POST /verdicts",
    text=_print_judged,
    options=("by_agent",),
    examples="""\
  holdfast judge outdated memory/1a2b3c4d --why "the queue was removed"
  holdfast judge useful 5c1f0a 77d0b1e2
  holdfast judge useful 5c1f0a --words "The import reads each file once, by its hash.\"""",
)
def judge(
    memory: Holdfast,
    verdict: Annotated[
        Verdict,
        Arg("useful; unneeded: true, but not worth a line; outdated: no longer true", "VERDICT"),
    ],
    ids: Annotated[
        tuple[str, ...], Arg("records: URIs, ids, or the start of one", "ID", most=_MAX_JUDGED)
    ],
    why: Annotated[
        str, Arg("the reason, in one sentence", most=MAX_REASON_CHARS, metavar="TEXT")
    ] = "",
    words: Annotated[
        str,
        Arg(
            "how briefs tell one useful statement of an agent, so that it is understood alone",
            most=MAX_WORDS_CHARS,
            metavar="TEXT",
        ),
    ] = "",
    bank: AnyBank = ALL_BANKS,
    call: Call = OWNER,
) -> Judged:
    """Judge records as useful, unneeded or outdated

    All of them or none. It decides what later sessions get: useful ones come first in briefs,
    the others are left out at the start of a session, and every answer marks outdated ones. The
    latest verdict counts, that of an agent only where no person has decided; a correction of
    the record ends it, `undo` takes it back. The record keeps its own words."""
    made = memory.curation.judge(ids, verdict, why, bank, call.who, words)
    reader = memory.reader
    titles = {
        one.target: truncate(
            describe_record(find_record(reader, one.bank, one.target))[0], _MAX_RECORD
        )
        for one in made
    }
    return Judged(verdict, tuple(made), tuple(memory.curation.kept(made)), titles)
