"""What the next session or person is told: briefs, what was injected so far, and hand-off pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from holdfast.app.briefs.injected_texts import InjectedTexts, read_injected
from holdfast.app.core.context import ALL_BANKS, NAME_A_BANK, current_folder
from holdfast.app.memory import Holdfast
from holdfast.brief.prepared_files import prepared_brief
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError
from holdfast.language import truncate
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.learn.share_drafts import TextCleaner
from holdfast.model.ledgers.injections import Injection
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.uris import SCHEME, parse_uri
from holdfast.operations.operation import OWNER, Announcement, Arg, Call, Work, operation
from holdfast.operations.parameters import MAX_QUESTION, Bank, Limit, OneBank
from holdfast.operations.screen import Screen, count_tokens, minute, number
from holdfast.principal import Level
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.lookup.trace import find_record
from holdfast.regex import regex
from holdfast.research.handoff import HandOff, as_markdown, pack_session, pack_topic
from holdfast.sources.rule_locations import MEMORY_FILE, project_root

# Nobody but a reader can tell what no longer holds.
REVIEW_HINT = (
    "Some lines may no longer hold. `/holdfast:review` in Claude Code (with the plugin) has Claude "
    "check them against your code; `holdfast review outdated ID` drops one."
)
# How much is recalled about a topic: more than an answer needs, because a hand-off is read instead
# of the sessions. Raising it makes the page longer.
_TOPIC_PLAN = RecallPlan(limit=40, tokens=40_000, include_repeats=True)
# A shorter bare word is taken for a topic and never for the start of a session's id.
_MIN_ID_LENGTH = 6
_MAX_REASON_CHARACTERS = 120
_MAX_PATH = 1_000


class BriefLine(NamedTuple):
    """A line of a brief, and the record that it is about; "" for headings and the like."""

    text: str
    uri: str = ""


class BriefText(NamedTuple):
    """The context that a session gets: its text, "" for none, and the URIs of the records that it
    is about; and its `lines` without the frame, each with its record."""

    id: str
    text: str
    records: tuple[str, ...]
    notes: tuple[str, ...] = ()
    lines: tuple[BriefLine, ...] = ()


def _print_brief(screen: Screen, brief: BriefText, *, prompt: str = "", **_: object) -> None:
    if brief.text:
        _print_text(screen, brief.text)
    else:
        what = "nothing is relevant to this prompt" if prompt else "nothing to inject yet"
        screen.wrap(f"The brief is empty: {what}.")
    for note in brief.notes:
        screen.wrap(note)


def _print_text(screen: Screen, text: str) -> None:
    """A brief and its size."""
    screen.line(text)
    tokens = number(count_tokens(len(text)), "token")
    screen.line(f"{len(text):,} characters, about {tokens}", "dim")


_BRIEF_EXAMPLES = """\
  holdfast brief
  holdfast brief --prompt "people are logged out every afternoon, make it last longer"
  holdfast brief session latest
  holdfast brief log --bank all"""


@operation("brief", Level.READ, work=Work.SEARCH, text=_print_brief, examples=_BRIEF_EXAMPLES)
def brief(
    memory: Holdfast,
    prompt: Annotated[
        str, Arg("the brief for this first prompt", metavar="TEXT", most=MAX_QUESTION)
    ] = "",
    bank: OneBank = "",
    call: Call = OWNER,
) -> BriefText:
    """Show the context injected at session start

    That is the brief that the next session gets at its start or, with a `prompt`, what would
    be added to this first prompt.

    A brief contains only dated evidence from this memory. The table [brief] of config.toml
    turns each kind of brief off."""
    id = memory.context.one_bank_id(bank or None)
    if prompt:
        # On a server that others share, no thread loads a model of its own for this.
        made = memory.briefs.goal_brief(prompt, bank or None, quickly=bool(call.key))
    else:
        places, settings = HomePaths(memory.settings.home), memory.settings.brief
        made = prepared_brief(memory.store, places, id, settings) if id else None
        made = made or memory.briefs.session_brief(bank or None)
    hint = ""
    if not id and memory.reader.banks.all():
        hint = memory.context.missing_bank_hint(id)
    elif made.text and not prompt and not memory.reader.curation.judgements(id):
        hint = REVIEW_HINT
    notes = (hint,) if hint else ()
    return BriefText(made.id, made.text, made.records, notes, brief_lines(made.text, made.records))


# A line names its record in brackets, `(fact/1a2b3c4d)`; the index of exchanges begins with the id.
_NAMED = regex(r"\b([a-z]+)/([0-9a-f]{8})\b")
_INDEXED = regex(r"- ([0-9a-f]{8}) ")
_OF_MEMORY_FILE = f"From {MEMORY_FILE}"


def brief_lines(text: str, records: Sequence[str]) -> tuple[BriefLine, ...]:
    """The lines of a brief without its frame, each with the record that it is about. A line that
    is indented belongs to the one above it."""
    named = [(uri, named) for uri in records if (named := parse_uri(uri))]
    by_short = {(one.kind, one.id[:8]): uri for uri, one in reversed(named)}
    rules = [uri for uri, one in named if one.kind == "rule"]
    lines: list[BriefLine] = []
    in_file = False
    for line in text.split("\n")[1:-1]:
        about = ""
        if line and not line.startswith(("-", " ")):
            in_file = line.startswith(_OF_MEMORY_FILE)
        elif line.startswith("  ") and lines:
            about = lines[-1].uri
        elif line.startswith("- ") and in_file and rules:
            about = rules.pop(0)
        elif found := _INDEXED.match(line):
            about = by_short.get(("exchange", found[1]), "")
        elif line.startswith("- "):
            about = next(filter(None, map(by_short.get, _NAMED.findall(line))), "")
        lines.append(BriefLine(line, about))
    return tuple(lines)


class BriefLog(NamedTuple):
    """The texts that were injected into sessions, the latest first."""

    bank: str
    injections: tuple[Injection, ...]


def _print_log(screen: Screen, found: BriefLog, **_: object) -> None:
    if not found.injections:
        screen.line("Nothing was injected yet.")
    for one in found.injections:
        head = f"{minute(one.time)} {one.kind.value:<6} {one.session[:8]}"
        outcome = f"{'arrived' if one.arrived else 'did not arrive'}, {one.use.value}"
        outcome = "not judged yet" if one.arrived is None else outcome
        bank = f" · {one.bank}" if found.bank == ALL_BANKS else ""
        screen.line(f"{head} {one.characters:>5} characters: {outcome}{bank}")
        if one.because:
            screen.line(f"    {truncate(one.because, _MAX_REASON_CHARACTERS)}", "dim")


@operation("brief log", Level.READ, rest="GET /injections", text=_print_log)
def brief_log(memory: Holdfast, limit: Limit = 20, bank: Bank = "") -> BriefLog:
    """List what was injected so far, and how it was used

    Whether each text arrived, and what the session did with it: cited, file (one of its files
    was touched), wording (its words were used), contradicted, ignored. That is judged once a
    session has been quiet for two hours."""
    id = memory.context.bank_id(bank)
    names = memory.context.bank_names()
    found = memory.inventory.injections(bank, limit)
    injections = tuple(replace(one, bank=names.get(one.bank, one.bank)) for one in found)
    return BriefLog(memory.context.bank_name(id), injections)


def _print_injected(screen: Screen, found: InjectedTexts, **_: object) -> None:
    if not found.injected:
        screen.line(f"Nothing was injected into session {found.session}.")
    for one in found.injected:
        screen.line(f"{one.kind}, {minute(one.time)} UTC:", "bold")
        _print_text(screen, one.text)


# Texts stand in files beside the memory, which belong to no bank: only a key for all may read them.
@operation(
    "brief session",
    Level.READ,
    rest="GET /brief/sessions/{session}",
    text=_print_injected,
    all_banks=True,
)
def brief_session(
    memory: Holdfast,
    session: Annotated[
        str,
        Arg(
            "the id of a session on this machine, or the start of it; `latest`, or `current` for "
            "the session that a command runs in",
            place="SESSION",
            most=100,
        ),
    ],
) -> InjectedTexts:
    """Show the texts that were injected into a session

    Of the last 30 days. A session that has not been read into memory yet is found, too."""
    return read_injected(HomePaths(memory.settings.home), session)


def _print_handoff(screen: Screen, found: HandOff, *, out: str = "", **_: object) -> None:
    if not out or out == "-":
        screen.line(found.page.rstrip("\n"))
        return
    try:
        Path(out).expanduser().write_text(found.page, "utf-8")
    except OSError as error:
        raise InputError(
            f"{out} cannot be written: {error.strerror}.", "Name another file with --out."
        ) from error
    screen.line(f"Written to {out}.")


def _announce_handoff(memory: Holdfast, *, out: str = "", **_: object) -> Announcement:
    if not out or out == "-" or not Path(out).expanduser().exists():
        return Announcement(())
    return Announcement((f"{out} is there already.",), "Overwrite it?", False, out)


_HANDOFF_EXAMPLES = """\
  holdfast handoff 'response cache'
  holdfast handoff holdfast://session/0b54c3aa-1d2e-4c8e-9c1f-2f8f7d1a9e10
  holdfast handoff 0b54c3aa --out docs/handoff.md"""


@operation(
    "handoff",
    Level.READ,
    work=Work.SEARCH,
    text=_print_handoff,
    announce=_announce_handoff,
    examples=_HANDOFF_EXAMPLES,
)
def handoff(
    memory: Holdfast,
    what: Annotated[
        str,
        Arg(
            "words, or the id or URI of a session",
            place="TOPIC|SESSION",
            many_words=True,
            most=MAX_QUESTION,
            example="response cache",
        ),
    ],
    out: Annotated[
        str,
        Arg(
            "write it to this file instead of printing it; with --json nothing is written",
            metavar="FILE",
            most=_MAX_PATH,
            on_screen=True,
        ),
    ] = "",
    bank: Bank = "",
) -> HandOff:
    """Write a hand-off page for a session or a topic

    For the person or agent who continues: goal, state, decisions, findings, dead ends, open
    questions, files, and the source records. Made by rules, without a model; an empty section
    says so. Secrets are redacted again, and home folders become ~. `page` is Markdown."""
    session = _handed_session(memory, what, bank)
    if session is not None:
        pack = pack_session(memory.reader, session, memory.context.bank_name(session.bank))
    else:
        pack = _topic_pack(memory, what, bank)
    cleaner = TextCleaner(Redactor(memory.settings.redact_patterns), project_root(current_folder()))
    return pack._replace(page=as_markdown(pack, cleaner.clean))


def _handed_session(memory: Holdfast, what: str, bank: str) -> Session | None:
    """The session that is named by its id or the URI of any record in it; None for a topic."""
    named, reader = parse_uri(what), memory.reader
    if named is None or (not named.kind and len(named.id) < _MIN_ID_LENGTH):
        return None
    if what.startswith(SCHEME):
        record = find_record(reader, None, what)
        if isinstance(record, Turn | Exchange | Digest):
            return reader.sessions.get(record.bank, record.session)
        if not isinstance(record, Session):
            raise InputError(
                f"{what} does not belong to one session.", "Name a session, or a topic in words."
            )
        return record
    within = memory.context.bank_id(bank)
    found = [] if named.kind else reader.records.find(within, "session", named.id)
    return found[0] if len(found) == 1 and isinstance(found[0], Session) else None


def _topic_pack(memory: Holdfast, topic: str, bank: str) -> HandOff:
    id = memory.context.bank_id(bank)
    if id is None:
        raise InputError("A hand-off about a topic needs one bank.", NAME_A_BANK)
    found = memory.search.recall_with_plan(topic, bank, _TOPIC_PLAN)
    if found.abstained or not found.hits:
        near = f" It has words on: {', '.join(found.suggestions[:6])}." if found.suggestions else ""
        raise NotFoundError(
            f"Bank {found.bank} has no record about {topic!r}: there is nothing to hand over.",
            f"Ask in other words, or name a session.{near}",
        )
    return pack_topic(memory.reader, id, found.bank, topic, found.hits)
