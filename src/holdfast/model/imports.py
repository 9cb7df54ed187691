"""Records imported from other memory programs, and the imports that brought them."""

from __future__ import annotations

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.records import ExchangeType
from holdfast.model.trust import Trust


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """A record of another program. `id` identifies the record whatever its text, `version` is the
    hash of its text. `kind`, `origin` and `session` are its kind, name and session in the program
    that it comes from; `taken` is when it was imported."""

    bank: str
    id: str
    version: str
    program: str
    kind: str
    title: str
    text: str
    time: str
    origin: str
    session: str = ""
    files: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    trust: Trust = Trust.IMPORT
    taken: str = ""

    @property
    def type(self) -> str:
        """The type of an exchange that one of its labels names, or else its kind."""
        types = {type.value for type in ExchangeType}
        return next((label for label in self.labels if label in types), self.kind)

    @property
    def moment(self) -> str:
        """When it was written or, where that is not known, when it was imported."""
        return self.time or self.taken


class ImportBatch(NamedTuple):
    """One import from another program: from where (`place`), when, how many records of each kind,
    and how many were skipped or failed, by reason. It is undone as a whole."""

    bank: str
    id: str
    program: str
    place: str
    time: str
    kinds: dict[str, int]
    skipped: dict[str, int]
    failed: dict[str, int]
    redacted: int = 0
