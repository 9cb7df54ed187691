"""Who stated how things are done, where and when: out of sessions, commits and what was asked to
be remembered. A pure function of these.

An agent's words are nobody's statement: it repeats what it was told, by people, by pages of the
web, and by us. The prompts that one agent gives another are an agent's words too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.model.ids import content_id
from holdfast.model.knowledge import Claim, ClaimKind, Memory
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.refine.rules.conventions import Convention, find_conventions
from holdfast.store.protocol.rules import Statement

USER = "user"
_FILES = 40
# Longer messages that are word for word the same were pasted, and count once.
_PASTED = 200
_LONGEST = 300
_BINDING = (ClaimKind.RULING, ClaimKind.DECISION)


def of_session(
    session: Session,
    turns: Iterable[Turn],
    exchanges: Sequence[Exchange],
    claims: Sequence[Claim] = (),
) -> Iterator[Statement]:
    """What people stated in a session: how things are done, and what they laid down in any
    language (`claims`)."""
    if session.parent:
        return
    for turn in turns:
        if turn.role is not Role.USER or turn.tool is not None or not turn.text:
            continue
        if turn.trust in (Trust.ASSISTANT, Trust.TOOL):
            continue
        found = [] if _said_anew(turn, exchanges) else find_conventions(turn.text)
        found += _laid_down(found, [c for c in claims if c.turn == turn.id])
        files = _files(turn, exchanges) if found else ()
        pasted = content_id(turn.text) if len(turn.text) > _PASTED else ""
        for place, convention in enumerate(found):
            yield Statement(
                session.bank,
                uri("turn", turn.id),
                place,
                session.id,
                f"text {pasted}" if pasted else f"session {session.host or session.id}",
                turn.speaker or USER,
                turn.time,
                convention.text,
                turn.trust,
                convention.decides,
                convention.quotable,
                convention.about,
                files,
            )


def _laid_down(known: Sequence[Convention], claims: Iterable[Claim]) -> list[Convention]:
    """What a person ruled or decided, as far as it is not among the conventions."""
    said = [c.text for c in known if not c.about]
    return [
        Convention(claim.text, claim.kind is ClaimKind.DECISION, True)
        for claim in claims
        if claim.by_person and claim.kind in _BINDING and len(claim.text) <= _LONGEST
        if not any(claim.text in one or one in claim.text for one in said)
    ]


def _said_anew(turn: Turn, exchanges: Sequence[Exchange]) -> bool:
    """Whether somebody corrected the exchange that a turn is in."""
    inside = (x for x in exchanges if x.first_seq <= turn.seq <= x.last_seq)
    return any(x.status is Status.VERIFIED for x in inside)


def _files(turn: Turn, exchanges: Sequence[Exchange]) -> tuple[str, ...]:
    inside = (x for x in exchanges if x.first_seq <= turn.seq <= x.last_seq)
    return next((x.files_modified[:_FILES] for x in inside), ())


def of_commit(commit: Commit) -> Iterator[Statement]:
    """What the message of a commit states outright."""
    found = find_conventions(f"{commit.subject}\n\n{commit.body}"[:1500], explicit_only=True)
    for place, convention in enumerate(found):
        yield Statement(
            commit.bank,
            uri("commit", commit.id),
            place,
            "",
            f"commit {commit.id}",
            commit.author or commit.email,
            commit.time,
            convention.text,
            commit.trust,
            convention.decides,
            convention.quotable,
            convention.about,
            commit.files[:_FILES],
        )


def of_memory(memory: Memory) -> Iterator[Statement]:
    """What somebody asked to remember; it was meant to hold, in whatever words."""
    for place, convention in enumerate(find_conventions(memory.what)):
        yield Statement(
            memory.bank,
            uri("memory", memory.id),
            place,
            "",
            f"memory {memory.id}",
            memory.who or USER,
            memory.when,
            convention.text,
            memory.trust,
            convention.decides,
            convention.quotable,
        )
