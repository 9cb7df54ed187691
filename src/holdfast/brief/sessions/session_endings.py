"""How a session ended, in the words of the agent: its last message that says something, cut into
sentences and items of lists. What they say is not judged here; what is a paragraph, a heading or an
item is read from the markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from holdfast.language import (
    collapse_spaces,
    content_stems,
    sentences,
    truncate,
    without_bold,
    without_links,
)
from holdfast.model.records import Exchange, Outcome, Role, Turn
from holdfast.refine.core.open_items import is_left_open
from holdfast.refine.core.signals import is_interruption
from holdfast.refine.distil.statements import split_blocks
from holdfast.store.protocol import Reader

ENDED, FAILED, INTERRUPTED = "ended", "failed", "interrupted"
UNFINISHED, UNANSWERED = "unfinished", "not answered"


class EndingLimits(NamedTuple):
    """How much is read of an ending."""

    # Turns at the end of an exchange that are looked through for the last message: it bounds the
    # time.
    turns: int = 60
    # The last exchanges whose messages are read.
    exchanges: int = 6
    # A message with fewer content words ("You're welcome!") says nothing of the work.
    stems: int = 2
    # A label before a colon has so few words: "Still open: …".
    label_words: int = 3
    # What a person asked last and nobody answered.
    asked_characters: int = 200


_LIMITS = EndingLimits()


class EndingItem(NamedTuple):
    """A sentence or an item of a list, with the heading or label above it; `is_open` if it says
    that something is left to be done."""

    lead: str
    text: str
    in_list: bool
    is_open: bool


class Ending(NamedTuple):
    """How a session ended: its state, what the agent said last (`turn`, cut into `items`), and what
    a person asked last, if that was not answered."""

    state: str
    items: tuple[EndingItem, ...]
    turn: Turn | None
    asked: str
    exchange: Exchange

    @property
    def text(self) -> str:
        """What the agent said last, on one line."""
        return render(self.items)


def find_endings(reader: Reader, bank: str, exchanges: Sequence[Exchange]) -> Iterator[Ending]:
    """How the session with these exchanges ended, and then how it would have ended with each of the
    messages before the last; without a message only what was asked."""
    if not exchanges:
        return
    last = exchanges[-1]
    turns = last_turns(reader, bank, last)
    state, asked = _state(last, turns), ""
    if state == UNANSWERED:
        said = next((turn.text for turn in turns if turn.role is Role.USER), "")
        # A command to the program is no request.
        is_command = said.startswith("/")
        asked = "" if is_command else truncate(without_links(said), _LIMITS.asked_characters)
    for exchange in exchanges[: -_LIMITS.exchanges - 1 : -1]:
        said = (one for one in reversed(last_turns(reader, bank, exchange)) if _is_message(one))
        turn = next((one for one in said if len(content_stems(one.text)) >= _LIMITS.stems), None)
        if turn is not None:
            yield Ending(state, tuple(_items(turn.text)), turn, asked, exchange)
    if asked:
        yield Ending(state, (), None, asked, last)


def last_turns(reader: Reader, bank: str, exchange: Exchange) -> Sequence[Turn]:
    """The turns at the end of an exchange."""
    start = max(exchange.first_seq, exchange.last_seq - _LIMITS.turns)
    return reader.turns.of_session(bank, exchange.session, start, exchange.last_seq)


def question_asked(turns: Sequence[Turn]) -> str:
    """The question that the last message in these turns ends with; "" if it does not."""
    said = next((turn.text for turn in reversed(turns) if _is_message(turn)), "")
    last = next(iter(sentences(said)[-1:]), "")
    return without_bold(without_links(last)) if last.endswith("?") else ""


def fit(items: Sequence[EndingItem], characters: int) -> list[EndingItem]:
    """As many items as there is room for: the first, what is left open, the last, and then those
    next to the first and the last."""
    if not items:
        return []
    last = len(items) - 1
    order = sorted(
        range(len(items)), key=lambda n: (n > 0, not items[n].is_open, n != last, min(n, last - n))
    )
    chosen = [order[0]]
    for place in order[1:]:
        longer = sorted((*chosen, place))
        if len(render([items[n] for n in longer])) <= characters:
            chosen = longer
    return [items[n] for n in chosen]


def render(items: Iterable[EndingItem]) -> str:
    """Items as one text, each label before what stands below it."""
    parts: list[str] = []
    before = ""
    for lead, group in groupby(items, key=lambda one: one.lead):
        found = list(group)
        said = " ".join(_ended(one.text, ";" if one.in_list else ".") for one in found)
        said = f"{said[:-1]}." if said.endswith(";") else said
        # The items below an item have it as their label.
        is_told = not lead or before.startswith(lead)
        parts.append(said if is_told else f"{lead}: {said}")
        before = found[-1].text
    return " ".join(parts)


def _ended(text: str, stop: str) -> str:
    return text if text.endswith((".", "!", "?", ":", "…")) else text.rstrip(";,") + stop


def _is_message(turn: Turn) -> bool:
    return turn.role is Role.ASSISTANT and turn.tool is None and bool(turn.text)


def _state(last: Exchange, turns: Sequence[Turn]) -> str:
    """How an exchange ended, as far as its turns prove it."""
    if last.outcome is Outcome.INTERRUPTED:
        return INTERRUPTED
    if turns and turns[-1].tool is not None:
        return UNFINISHED
    if turns and turns[-1].role is Role.USER and not is_interruption(turns[-1]):
        return UNANSWERED
    return FAILED if last.outcome is Outcome.FAILED else ENDED


def _items(text: str) -> list[EndingItem]:
    """The sentences and items of a message. What introduces a list is told with its items."""
    found: list[EndingItem] = []
    for block, parts in split_blocks(text):
        # Without sentences it is a line to a program.
        is_told = not block.is_code and sentences(block.text)
        is_lead = block.text.endswith(":") and not block.is_item
        for part in parts if is_told and not is_lead else ():
            lead, said = block.lead.rstrip(":") or block.heading, part
            label, colon, rest = part.partition(": ")
            if colon and not block.is_item and len(label.split()) <= _LIMITS.label_words:
                lead, said = label, rest
            lead, said = (collapse_spaces(without_bold(without_links(one))) for one in (lead, said))
            is_open = is_left_open(lead, f"{lead}: {said}" if lead else said)
            found.append(EndingItem(lead.strip("*"), said, block.is_item, is_open))
    return list(dict.fromkeys(found))
