"""A question with what it may be answered from, and the hits of passages that no search ranked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Kind
from holdfast.model.query import LAYER_BY_KIND, Hit, Layer, Passage
from holdfast.recall.core.candidates import Pool
from holdfast.recall.ranking.hits import make_hit
from holdfast.recall.ranking.status import apply_status
from holdfast.store.protocol import Reader


class AskRequest(NamedTuple):
    """A question, the bank and layers it is asked of (all banks if `bank` is None), the clock, the
    time to look back from, if any, the kinds of knowledge to which it is limited, and what tells
    how near some texts are to the question in meaning (nothing of any of them without a model)."""

    bank: str | None
    question: str
    now: Callable[[], str]
    layers: Sequence[Layer] = ()
    as_of: str = ""
    kinds: tuple[Kind, ...] = ()
    cosines: Callable[[str, Sequence[str]], Sequence[float]] = lambda _, texts: ()

    @property
    def time(self) -> str:
        """The time that the question is asked at."""
        return self.as_of or self.now()

    @property
    def until(self) -> str:
        """The end of the time to search, as the store wants it; "" for none."""
        return f"{self.as_of}~" if self.as_of else ""

    def covers_time(self, time: str) -> bool:
        """Whether a record of this time existed when the question is asked."""
        return not self.as_of or time <= self.as_of

    def has_layer_of(self, passage: Passage) -> bool:
        """Whether the layer of a passage may be searched."""
        return not self.layers or LAYER_BY_KIND[passage.kind] in self.layers

    def accepts(self, hit: Hit) -> bool:
        """Whether a record may be cited that no search found."""
        layer = not self.layers or hit.layer in self.layers
        return layer and self.has_kind_of(hit) and self.covers_time(hit.time)

    def has_kind_of(self, hit: Hit) -> bool:
        """Whether a hit is knowledge of a kind that is asked for."""
        return not self.kinds or hit.knowledge in self.kinds


def hits_of_passages(reader: Reader, request: AskRequest, passages: Iterable[Passage]) -> list[Hit]:
    """The hits of passages, in their order, as they were at the time asked for; only of the kinds
    of knowledge that are asked for."""
    pool = Pool()
    for passage in passages:
        pool.add(passage)
    apply_status(reader, pool, request.as_of, request.now)
    hits = [make_hit(reader, candidate, request.as_of) for candidate in pool]
    return [hit for hit in hits if request.has_kind_of(hit)]
