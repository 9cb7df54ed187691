"""Memories of the statements that the selector chooses from a session."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from holdfast.errors import ModelError
from holdfast.language import plain
from holdfast.model.knowledge import Kind
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.records import Exchange, Role, Session, Turn
from holdfast.model.trust import PEOPLE, Trust
from holdfast.model.uris import uri
from holdfast.refine.distil.distil import distil
from holdfast.refine.distil.features import Numbers, content_words
from holdfast.refine.distil.kinds import explains
from holdfast.refine.distil.selector import Scored, packaged_selector, says_the_same
from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.utterances import Utterance, is_answer
from holdfast.refine.distil.wording import Context, Distilled
from holdfast.refine.memories.retention_rules import make_occurrence
from holdfast.refine.memories.statement_networks import statement_network
from holdfast.refine.requests.subjects import subject_of
from holdfast.refine.requests.telling_words import says_something
from holdfast.refine.sessions.titles import asked_subject
from holdfast.regex import regex

_DOCUMENTS = (".md", ".mdx", ".txt", ".rst")
# How a review grades a fault that it found: "Medium – …", "[P1] …", "High severity: …".
_GRADED = regex(
    r"^\W*(?:p[0-4]|"
    r"(?:critical|high|medium|low|major|minor|blocker)(?: (?:severity|priority|risk))?)"
    r"(?:[*_\])]|[ \t])*[:\]–—-]",
    re.IGNORECASE | re.MULTILINE,
)
# How an agent is asked for one. "Why are comments of the review body lost?" asks for another thing.
_ASKS_FOR_REVIEW = regex(
    r"(?:^\W*|[.!:\n]\s*|\b(?:to|please|you(?:['’]re| are)|run|do|perform|conduct)\s+)"
    r"(?:(?:an?|the|code|final|thorough|independent|security|adversarial|second|strict)\s+)*"
    r"(?:review|audit)(?:er|or|ing)?\b(?! (?:body|comments?|feedback|tool|helper))",
    re.IGNORECASE,
)
# How a person asks for the review of a change. What it finds is mended, or refused, afterwards.
_REVIEWS_CHANGE = regex(
    r"^\s*/[\w:-]*(?:review|audit)\b|"
    r"^\W*(?:(?:please|can you|could you|now|do|run|make)\s+)*(?:an?\s+)?(?:\w+\s+)?review\b"
    r"[^.\n]{0,40}\b(?:prs?|pull requests?|merge requests?|diffs?|changes|commits?|branch)\b",
    re.IGNORECASE,
)
# A request says at its start what it is for; the rest may be the code to read.
_MAX_REQUEST_CHARS = 400


def retain_statements(
    session: Session,
    exchanges: Sequence[Exchange],
    said_in: Sequence[tuple[Exchange, Sequence[Turn]]],
    whole: Sequence[Turn],
    known: Sequence[str] = (),
    told: Collection[str] = (),
    by_vectors: bool = False,
) -> list[MemoryOccurrence]:
    """The statements of a session to retain, each with the turns that state it. `said_in` are the
    exchanges to choose from, with their turns, and `whole` all turns and summaries of the session;
    texts that are `known` are not retained again, nor is what the turns say whose URIs are `told`.
    `by_vectors`: a session of many statements gets a second look."""
    # What an agent says after it has read text from outside the project may be that text.
    turns = [
        turn
        for exchange, own in said_in
        for turn in own
        if turn.role is Role.USER or exchange.trust is not Trust.EXTERNAL
    ]
    exchange_of = {turn.id: exchange for exchange, own in said_in for turn in own}
    for summary, exchange in _summaries(exchanges, whole):
        if any(exchange is one for one, _ in said_in):
            turns.append(summary)
            exchange_of[summary.id] = exchange
    if not _asks_for_work(turns):
        return []
    turns.sort(key=lambda turn: turn.seq)
    whole = sorted(whole, key=lambda turn: turn.seq)
    requests = {id: subject_of(x.title) for id, x in exchange_of.items()}
    files = {id: _only_file(x) for id, x in exchange_of.items()}
    context = Context(subject_of(asked_subject(session, exchanges)), requests, files)
    words = [content_words(text) for text in known]
    is_review = _is_review(turns)
    has_changed = any(x.files_modified for x in exchanges)
    reviewed = {id for x, own in said_in if _is_review_of_change(x, own) for id in map(_id, own)}

    def is_told(one: Scored, utterances: Sequence[Utterance]) -> bool:
        utterance = utterances[one.candidate.utterance]
        if uri("turn", utterance.turn.id) in told:
            return True
        is_finding = utterance.turn.id in reviewed and not utterance.is_person
        if is_finding and not explains(one.candidate.statement):
            return True
        said = standalone(one.candidate.statement)
        if session.parent and not _is_beyond_report(one, utterance, is_review, has_changed):
            return True
        own = content_words(said) if words else frozenset[str]()
        return any(says_the_same(own, other) for other in words)

    selector = packaged_selector()
    embed = _embed if by_vectors else None
    try:
        found = distil(turns, context, selector, whole=whole, embed=embed, is_told=is_told)
    except ModelError:  # without a model words alone choose
        found = distil(turns, context, selector, whole=whole, is_told=is_told)
    return [_occurrence(exchange_of[one.turn.id], one) for one in found]


def _only_file(exchange: Exchange) -> str:
    """The file that was changed, if it is the only one; a document is about something else."""
    files = exchange.files_modified
    return files[0] if len(files) == 1 and not files[0].endswith(_DOCUMENTS) else ""


def left_out(
    floor: Sequence[MemoryOccurrence], retained: Sequence[MemoryOccurrence]
) -> list[MemoryOccurrence]:
    """What is to be retained in any case (`floor`) and is not among the `retained`."""
    words = [content_words(one.what) for one in retained]
    return [
        one
        for one in floor
        if not any(says_the_same(content_words(one.what), other) for other in words)
    ]


def _embed(texts: Sequence[str]) -> Numbers:
    from holdfast.inference.encoder import packaged_encoder

    return packaged_encoder().embed(texts)


def _is_beyond_report(
    one: Scored, utterance: Utterance, is_review: bool, has_changed: bool
) -> bool:
    """Whether a statement of a subagent is more than its report, of which the agent that runs it
    tells what came: what it wrote for later, or a cause that it found. The faults that a review
    finds are mended or left by whoever asked for it. Its prompt is no person's."""
    if utterance.turn.tool is not None:
        return True
    is_cause = one.kind is Kind.LESSON or explains(one.candidate.statement)
    return is_cause and not utterance.is_person and (has_changed or not is_review)


def _id(turn: Turn) -> str:
    return turn.id


def _is_review_of_change(exchange: Exchange, turns: Sequence[Turn]) -> bool:
    """Whether somebody had a change reviewed, and nothing was mended yet."""
    asked = next((turn.text for turn in turns if turn.role is Role.USER), "")
    return not exchange.files_modified and _REVIEWS_CHANGE.match(asked) is not None


def _is_review(turns: Sequence[Turn]) -> bool:
    """Whether an agent was asked to review something, or grades the faults that it found."""
    asked = next((turn.text for turn in turns if turn.role is Role.USER), "")
    if _ASKS_FOR_REVIEW.search(asked[:_MAX_REQUEST_CHARS]):
        return True
    said = (turn.text for turn in turns if turn.role is Role.ASSISTANT and turn.tool is None)
    return any(_GRADED.search(text) for text in said)


def _asks_for_work(turns: Sequence[Turn]) -> bool:
    """Whether anything was asked for or done: an agent that was only warmed up greets."""
    asked = (turn for turn in turns if turn.role is Role.USER)
    return any(turn.tool is not None or turn.role is Role.SUMMARY for turn in turns) or any(
        len(content_words(turn.text)) > 1 for turn in asked
    )


def _summaries(
    exchanges: Sequence[Exchange], whole: Sequence[Turn]
) -> Iterator[tuple[Turn, Exchange]]:
    """The agent's summaries of the session, each with the exchange that it was written in or after.
    One that may repeat text from outside the project is left out, and so is one that tells of
    another session, before the first exchange: nobody knows what that had read."""
    for turn in whole:
        if turn.role is not Role.SUMMARY:
            continue
        before = [x for x in exchanges if x.first_seq < turn.seq]
        if before and all(exchange.trust is not Trust.EXTERNAL for exchange in before):
            yield turn, before[-1]


def _occurrence(exchange: Exchange, one: Distilled) -> MemoryOccurrence:
    occurrence = make_occurrence(
        exchange,
        statement_network(one.kind, one.text, one.is_person),
        one.text,
        who="user" if one.is_person else "",
        trust=_trust_of(one),
        evidence=[one.turn],
        kind=one.kind,
        said=one.said,
    )
    # The whole request finds a statement, also where its words do not belong to it.
    asked = plain(exchange.title) if says_something(exchange.title) else ""
    context = f"{occurrence.context} {asked}".rstrip()
    return occurrence._replace(worth=one.worth, context=context)


def _trust_of(one: Distilled) -> Trust:
    """Whose words a statement is, which its turn does not always tell: a person's answer to a
    question stands in the result of a tool, a plan that a person accepted in a prompt."""
    turn = one.turn
    if one.is_person and turn.trust is Trust.TOOL and is_answer(turn):
        return Trust.USER
    if not one.is_person and turn.trust in PEOPLE:
        return Trust.ASSISTANT
    return turn.trust
