"""Statements of how things are done, with their author, source and time.

They come from sessions, commit messages and remembered texts. An agent's words never count: it
repeats what people, web pages and Holdfast told it. The prompts that one agent gives to another
are an agent's words too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.model.ids import content_id
from holdfast.model.knowledge import Claim, ClaimKind, Memory
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.refine.facts.junk_filter import JunkReason, junk_reason
from holdfast.refine.facts.typed_text import MAX_TYPED_CHARS
from holdfast.refine.rules.conventions import Convention, find_conventions
from holdfast.store.knowledge.rules import Statement

# The author of a message without a named speaker.
_USER = "user"
_MAX_FILES = 40
# Longer messages with the same text were pasted, and are one source wherever they occur.
_MIN_PASTED_CHARS = 200
# A claim longer than a convention may be is no rule to quote.
_MAX_CLAIM_CHARS = 300
_RULE_CLAIMS = (ClaimKind.RULING, ClaimKind.DECISION)


class _Record(NamedTuple):
    """Where statements stand: `source` is what counts once, however often it states something."""

    bank: str
    uri: str
    session: str
    source: str
    author: str
    time: str
    trust: Trust
    files: tuple[str, ...] = ()


def session_statements(
    session: Session,
    turns: Iterable[Turn],
    exchanges: Sequence[Exchange],
    claims: Sequence[Claim] = (),
) -> Iterator[Statement]:
    """The statements of people in a session: conventions, and the rules and decisions among its
    `claims`, which are found in more languages."""
    if session.parent:
        return
    for turn in turns:
        if turn.role is not Role.USER or turn.tool is not None or not turn.text:
            continue
        if turn.trust in (Trust.ASSISTANT, Trust.TOOL):
            continue
        around = (x for x in exchanges if x.first_seq <= turn.seq <= x.last_seq)
        exchange = next(around, None)
        is_corrected = exchange is not None and exchange.status is Status.VERIFIED
        found = [] if is_corrected else find_conventions(turn.text)
        found += _other_rules(found, [c for c in claims if c.turn == turn.id])
        files = exchange.files_modified[:_MAX_FILES] if exchange is not None else ()
        pasted = content_id(turn.text) if len(turn.text) > _MIN_PASTED_CHARS else ""
        source = f"text {pasted}" if pasted else f"session {session.host or session.id}"
        record = _Record(
            session.bank, uri("turn", turn.id), session.id, source, turn.speaker or _USER,
            turn.time, turn.trust, files,
        )  # fmt: skip
        yield from _statements(record, found)


def _statements(record: _Record, found: Iterable[Convention]) -> Iterator[Statement]:
    r = record
    for place, c in enumerate(found):
        yield Statement(
            r.bank, r.uri, place, r.session, r.source, r.author, r.time, c.text, r.trust,
            c.decides, c.quotable, c.about, r.files,
        )  # fmt: skip


def _other_rules(known: Sequence[Convention], claims: Iterable[Claim]) -> list[Convention]:
    """The rules and decisions of a person that are not among the known conventions."""
    texts = [c.text for c in known if not c.about]
    return [
        Convention(claim.text, claim.kind is ClaimKind.DECISION, True)
        for claim in claims
        if claim.by_person and claim.kind in _RULE_CLAIMS and len(claim.text) <= _MAX_CLAIM_CHARS
        if not any(claim.text in one or one in claim.text for one in texts)
        if junk_reason(claim) not in (JunkReason.ONE_OFF, JunkReason.SHORT)
    ]


def commit_statements(commit: Commit) -> Iterator[Statement]:
    """The explicit conventions in a commit message."""
    message = f"{commit.subject}\n\n{commit.body}"[:MAX_TYPED_CHARS]
    found = find_conventions(message, explicit_only=True)
    record = _Record(
        commit.bank, uri("commit", commit.id), "", f"commit {commit.id}",
        commit.author or commit.email, commit.time, commit.trust, commit.files[:_MAX_FILES],
    )  # fmt: skip
    return _statements(record, found)


def memory_statements(memory: Memory) -> Iterator[Statement]:
    """The conventions in a text that somebody asked to remember."""
    # `about` marks an order for the moment, which a text to remember is not.
    found = (c._replace(about="") for c in find_conventions(memory.what))
    record = _Record(
        memory.bank, uri("memory", memory.id), "", f"memory {memory.id}", memory.who or _USER,
        memory.when, memory.trust,
    )  # fmt: skip
    return _statements(record, found)
