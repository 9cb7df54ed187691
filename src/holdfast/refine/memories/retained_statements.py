"""Memories of the statements that the selector chooses from a session."""

from __future__ import annotations

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
from holdfast.refine.distil.selector import Scored, packaged_selector, says_the_same
from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.utterances import Utterance, is_answer
from holdfast.refine.distil.wording import Context, Distilled
from holdfast.refine.memories.retention_rules import make_occurrence
from holdfast.refine.memories.statement_networks import statement_network
from holdfast.refine.requests.subjects import subject_of
from holdfast.refine.requests.telling_words import says_something
from holdfast.refine.sessions.titles import asked_subject

_DOCUMENTS = (".md", ".mdx", ".txt", ".rst")


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

    def is_told(one: Scored, utterances: Sequence[Utterance]) -> bool:
        utterance = utterances[one.candidate.utterance]
        if uri("turn", utterance.turn.id) in told:
            return True
        said = standalone(one.candidate.statement)
        if session.parent and not _is_beyond_report(one, utterance):
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


def _is_beyond_report(one: Scored, utterance: Utterance) -> bool:
    """Whether a statement of a subagent is more than its report, of which the agent that runs it
    tells what came: what it wrote for later, or a cause that it found. Its prompt is no person's.
    """
    if utterance.turn.tool is not None:
        return True
    return one.kind is Kind.LESSON and not utterance.is_person


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
