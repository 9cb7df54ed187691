"""People's decisions, and beneath them a model's words, laid over what is derived from a session.

Turns are grouped as if nothing had been decided, so that exchanges keep their ids and borders;
then what is forgotten is left out and what was corrected is said anew. The result depends on the
turns and on the decisions alone, not on which came first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from holdfast.language import cut
from holdfast.model.corrections import worded
from holdfast.model.curation import Curated
from holdfast.model.query import Passage
from holdfast.model.records import Digest, Exchange, Role, Session, Turn
from holdfast.model.trust import Status, Trust
from holdfast.refine.core.passages import digest_passage, exchange_passage
from holdfast.refine.facts.claims import Requester, make_claims
from holdfast.refine.sessions.digests import digest_id
from holdfast.refine.sessions.exchanges import TITLE_LIMIT, build_exchange, exchange_id
from holdfast.refine.sessions.summaries import ModelSummaries, SummaryReader
from holdfast.store.protocol import Derived
from holdfast.store.protocol.curation import SupersededText

_LINE = "\n"


class SessionReader(SummaryReader, Protocol):
    """What deriving looks at of a session: a store has it, or what was handed out of one."""

    def session(self, bank: str, id: str) -> Session | None:
        """The session itself, if it is to be shown."""
        ...

    def curation_states_in_session(self, bank: str, session: str) -> list[Curated]:
        """What people decided about everything in it."""
        ...

    def all_turns(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """Its turns as they were read, from a place on."""
        ...

    def turns(self, bank: str, session: str, first: int = 0, last: int | None = None) -> list[Turn]:
        """Its turns between two places."""
        ...


class CurationOverlay:
    """The decisions about one session and all that is in it."""

    def __init__(self, reader: SessionReader, bank: str, session: str) -> None:
        # A model's words are known by the turns as they are shown: what was made of words that
        # are forgotten or corrected since is not found any more.
        self._summaries = ModelSummaries(reader, bank)
        self._curated = {(c.kind, c.id): c for c in reader.curation_states_in_session(bank, session)}
        # Every turn has a session; one that cannot be had is forgotten, itself or its parent.
        known = reader.session(bank, session)
        self._all_gone = known is None
        self._requester = Requester(is_agent=known is not None and bool(known.parent))
        self._hidden: set[str] = set()

    def hide(self, turn: Turn, exchange: str) -> bool:
        """Whether a turn is left out; noted for its exchange."""
        gone = self._all_gone or self._is_gone("turn", turn.id) or self._is_forgotten(exchange)
        if gone:
            self._hidden.add(turn.id)
        return gone

    def _is_gone(self, kind: str, id: str) -> bool:
        known = self._curated.get((kind, id))
        return known is not None and known.gone

    def _is_forgotten(self, exchange: str) -> bool:
        """An exchange that was merged is told elsewhere; what was said in it stays."""
        known = self._curated.get(("exchange", exchange))
        return known is not None and known.forgotten

    def _correction(self, kind: str, id: str) -> Curated | None:
        known = self._curated.get((kind, id))
        return known if known is not None and known.text else None

    def apply_correction(self, turn: Turn) -> tuple[Turn, list[SupersededText]]:
        """A turn in its words of now, and those of then if they were corrected."""
        known = self._correction("turn", turn.id)
        if known is None:
            return turn, []
        was = turn.text if turn.tool is None else turn.tool.result
        return worded(turn, known.text), [SupersededText("turn", turn.id, was)]

    def set_status(self, passage: Passage, turn: Turn, exchange: str) -> Passage:
        """The passage of a turn; what a person says of the whole exchange supersedes what was
        said in it, unless they said that very turn anew."""
        if self._correction("turn", turn.id):
            return passage._replace(status=Status.VERIFIED)
        if turn.tool is None and self._correction("exchange", exchange):
            return passage._replace(status=Status.SUPERSEDED)
        return passage

    def exchange(self, group: Sequence[Turn]) -> tuple[Exchange | None, list[Derived]]:
        """The exchange of a group of turns, if it is to be shown, and what is stored of it."""
        id = exchange_id(group[0])
        shown = [turn for turn in group if turn.id not in self._hidden]
        if not shown or self._is_forgotten(id):
            return None, []
        by_rules = replace(
            build_exchange(shown), id=id, first_seq=group[0].seq, last_seq=group[-1].seq
        )
        if self._is_gone("exchange", id):
            return None, [*make_claims(by_rules, shown, self._requester)]
        made = self._summaries.exchange(by_rules, shown)
        known = self._correction("exchange", id)
        if known is None:
            claims = make_claims(by_rules, shown, self._requester)
            return made, [made, exchange_passage(made), *claims]
        was = SupersededText("exchange", id, exchange_passage(made).body)
        made = correct_exchange(made, known.text)
        anew = make_claims(made, [_as_user_turn(shown[0], known)], Requester())
        # Nobody said so in any turn: it stands in the exchange as a whole.
        claims = [replace(claim, turn="", share=0.0) for claim in anew]
        return made, [made, exchange_passage(made), was, *claims]

    def digest(
        self, made: Digest | None, session: str, exchanges: Sequence[Exchange], closing: str
    ) -> Iterator[Derived]:
        """The digest of a session and what is stored of it, if it is to be shown."""
        id = digest_id(session)
        if made is None or self._is_gone("digest", id):
            return
        made = self._summaries.digest(made, exchanges, closing)
        known = self._correction("digest", id)
        if known is not None:
            yield SupersededText("digest", id, digest_passage(made).body)
            made = correct_digest(made, known.text)
        yield made
        passage = digest_passage(made)
        yield passage if known is None else passage._replace(status=Status.VERIFIED)


def _as_user_turn(turn: Turn, known: Curated) -> Turn:
    """What a person says that an exchange came to, as if it had been said there."""
    return replace(
        turn, role=Role.USER, trust=Trust.USER, text=known.text, speaker="", tool=None,
        time=known.time or turn.time,
    )  # fmt: skip


def correct_exchange(exchange: Exchange, text: str) -> Exchange:
    """An exchange that says what a person says it was; what was touched in it stays."""
    first, _, rest = text.partition(_LINE)
    title = cut(first.strip(), TITLE_LIMIT)
    summary = rest.strip() if title == first.strip() else text
    return replace(
        exchange, title=title, summary=summary, details="", facts=(), status=Status.VERIFIED
    )


def correct_digest(digest: Digest, text: str) -> Digest:
    """A digest that says what a person says the session came to."""
    return replace(digest, request=text, investigated=(), learned=(), completed=(), next_steps=())
