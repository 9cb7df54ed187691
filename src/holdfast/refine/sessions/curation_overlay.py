"""Applies people's decisions, and below them a model's summaries, to what is derived from turns.

Turns are grouped as if nothing had been decided, so that exchanges keep their ids and borders. Then
what is forgotten is left out and what is corrected is replaced. The result depends on the turns and
the decisions alone, not on which came first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from holdfast.language import truncate
from holdfast.model.corrections import corrected_turn
from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Claim
from holdfast.model.query import Passage
from holdfast.model.records import Digest, Exchange, Role, Session, Turn
from holdfast.model.trust import Status
from holdfast.refine.core.memory_calls import without_retold
from holdfast.refine.core.passages import digest_passage, exchange_passage
from holdfast.refine.facts.claims import make_claims
from holdfast.refine.sessions.digests import digest_id
from holdfast.refine.sessions.exchanges import LIMITS, build_exchange, exchange_id
from holdfast.refine.sessions.model_summaries import ModelSummaries, SummaryReader
from holdfast.store.across_tables.derived import Derived, SupersededText
from holdfast.store.protocol import Writer


class SessionContent(SummaryReader, Protocol):
    """Reads all that a session is derived from: a store, or a snapshot of the session."""

    def session(self, bank: str, id: str) -> Session | None:
        """The session, unless it is forgotten."""
        ...

    def curation_states_in_session(self, bank: str, session: str) -> list[CurationState]:
        """What people decided about the records of a session."""
        ...

    def all_turns(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The turns of a session as they were read, from position `first` on."""
        ...

    def turns(self, bank: str, session: str, first: int = 0, last: int | None = None) -> list[Turn]:
        """The turns of a session between two positions, both included."""
        ...


class StoredSession:
    """The content of sessions as a store has it."""

    def __init__(self, writer: Writer) -> None:
        self.session = writer.sessions.get
        self.curation_states_in_session = writer.curation.states_in_session
        self.all_turns = writer.turns.stream_uncurated
        self.turns = writer.turns.of_session
        self.has_summaries = writer.summaries.has_any
        self.summary = writer.summaries.get


class CurationOverlay:
    """Applies the decisions about one session and the records in it. Turns have to be passed in
    order: first to `apply_correction`, then to `hide`, and last, in groups, to `exchange`."""

    def __init__(self, content: SessionContent, bank: str, session: str) -> None:
        # A model's summary is found by the hash of the turns as they are shown. One that was made
        # before a turn was forgotten or corrected is not found any more.
        self._summaries = ModelSummaries(content, bank)
        self._curated = {
            (c.kind, c.id): c for c in content.curation_states_in_session(bank, session)
        }
        # Every turn has a session. If it cannot be read, it or its parent is forgotten.
        known = content.session(bank, session)
        self._all_gone = known is None
        self._asked_by_agent = known is not None and bool(known.parent)
        self._root = known.cwd if known is not None else ""
        self._hidden: set[str] = set()

    def hide(self, turn: Turn, exchange: str) -> bool:
        """Whether a turn is forgotten; if so, its exchange is built without it."""
        gone = self._all_gone or self._is_gone("turn", turn.id) or self._is_forgotten(exchange)
        if gone:
            self._hidden.add(turn.id)
        return gone

    def hides_summary(self, turn: Turn) -> bool:
        """Whether the agent's summary of a session is not shown: it repeats what was said before,
        so it goes with the first turn or exchange that a person forgot or corrected."""
        changed = any(
            kind in ("turn", "exchange") and (known.is_hidden or known.text)
            for (kind, id), known in self._curated.items()
            if id != turn.id
        )
        return self._all_gone or changed or self._is_gone("turn", turn.id)

    def _is_gone(self, kind: str, id: str) -> bool:
        known = self._curated.get((kind, id))
        return known is not None and known.is_hidden

    def _is_forgotten(self, exchange: str) -> bool:
        """Whether an exchange is forgotten. The turns of one that was merged into another stay."""
        known = self._curated.get(("exchange", exchange))
        return known is not None and known.forgotten

    def _correction(self, kind: str, id: str) -> CurationState | None:
        known = self._curated.get((kind, id))
        return known if known is not None and known.text else None

    def apply_correction(self, turn: Turn) -> tuple[Turn, list[SupersededText]]:
        """A turn with its corrected text, and the text that was replaced."""
        known = self._correction("turn", turn.id)
        if known is None:
            return turn, []
        replaced = turn.text if turn.tool is None else turn.tool.result
        return corrected_turn(turn, known), [SupersededText("turn", turn.id, replaced)]

    def set_status(self, passage: Passage, turn: Turn, exchange: str) -> Passage:
        """The passage of a turn with its status: verified if a person corrected the turn,
        superseded if its exchange was corrected."""
        own = self._correction("turn", turn.id)
        if own is not None:
            return passage._replace(status=Status.VERIFIED) if own.by_person else passage
        whole = self._correction("exchange", exchange) if turn.tool is None else None
        # An agent's correction replaces nothing that a person said.
        if whole is not None and (whole.by_person or turn.role is not Role.USER):
            return passage._replace(status=Status.SUPERSEDED)
        return passage

    def exchange(self, group: Sequence[Turn]) -> tuple[Exchange | None, list[Derived]]:
        """The exchange of a group of turns, None if it is not shown, and the rows to store."""
        id = exchange_id(group[0])
        shown = [turn for turn in group if turn.id not in self._hidden]
        if not shown or self._is_forgotten(id):
            return None, []
        by_rules = replace(
            build_exchange(shown, self._root), id=id, first_seq=group[0].seq, last_seq=group[-1].seq
        )
        if self._is_gone("exchange", id):
            return None, [*self._claims(by_rules, shown)]
        built = self._summaries.exchange(by_rules, shown)
        known = self._correction("exchange", id)
        if known is None:
            claims = self._claims(by_rules, shown)
            return built, [built, exchange_passage(built), *claims]
        replaced = SupersededText("exchange", id, exchange_passage(built).body)
        built = correct_exchange(built, known)
        corrected = make_claims(built, [_as_turn(shown[0], known)])
        # The claims belong to the exchange as a whole: no turn states them.
        claims = [replace(claim, turn="", share=0.0) for claim in corrected]
        if known.by_agent:
            said = [claim for claim in self._claims(by_rules, shown) if claim.by_person]
            own = {claim.id for claim in said}
            claims = [*said, *(claim for claim in claims if claim.id not in own)]
        return built, [built, exchange_passage(built), replaced, *claims]

    def _claims(self, exchange: Exchange, shown: Sequence[Turn]) -> list[Claim]:
        """The claims of an exchange. What an agent only passes on from memory is none."""
        said = without_retold(shown)
        return make_claims(exchange, said, self._asked_by_agent) if said else []

    def digest(
        self, built: Digest | None, session: str, exchanges: Sequence[Exchange], closing: str
    ) -> Iterator[Derived]:
        """The rows to store for the digest of a session; none if it is forgotten."""
        id = digest_id(session)
        if built is None or self._is_gone("digest", id):
            return
        built = self._summaries.digest(built, exchanges, closing)
        known = self._correction("digest", id)
        if known is not None:
            yield SupersededText("digest", id, digest_passage(built).body)
            built = correct_digest(built, known)
        yield built
        passage = digest_passage(built)
        is_verified = known is not None and known.by_person
        yield passage._replace(status=Status.VERIFIED) if is_verified else passage


def _as_turn(turn: Turn, known: CurationState) -> Turn:
    """A correction of an exchange as if the user, or the agent that made it, had said it in this
    turn."""
    return replace(
        turn,
        role=Role.ASSISTANT if known.by_agent else Role.USER,
        trust=known.trust_of(turn.trust),
        text=known.text,
        speaker="",
        tool=None,
        time=known.time or turn.time,
    )


def correct_exchange(exchange: Exchange, known: CurationState) -> Exchange:
    """An exchange with a correction's text: the first line is the title, if it is short enough.
    Files, type and outcome stay."""
    text = known.text
    first, _, rest = text.partition("\n")
    title = truncate(first.strip(), LIMITS.title_characters)
    summary = rest.strip() if title == first.strip() else text
    corrected = replace(exchange, title=title, summary=summary, details="", facts=())
    if known.by_agent:
        return replace(corrected, trust=known.trust_of(exchange.trust))
    return replace(corrected, status=Status.VERIFIED)


def correct_digest(digest: Digest, known: CurationState) -> Digest:
    """A digest with a correction's text in place of all others."""
    trust = known.trust_of(digest.trust) if known.by_agent else digest.trust
    return replace(
        digest, request=known.text, investigated=(), learned=(), completed=(), next_steps=(),
        trust=trust,
    )  # fmt: skip
