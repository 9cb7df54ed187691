"""A bank: the memory of one project, isolated from every other."""

from __future__ import annotations

from holdfast.lazy_dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Disposition:
    """How a bank reasons, each from 1 to 5."""

    skepticism: int = 3
    literalism: int = 3
    empathy: int = 3


@dataclass(frozen=True, slots=True)
class Bank:
    """One project. `aliases` are all identities under which it was found (git remote, folder,
    root commit; see `sources.project`). `retention` is the number of months after which a session
    is hidden; 0 for never."""

    id: str
    name: str
    created: str
    background: str = ""
    disposition: Disposition = field(default_factory=Disposition)
    aliases: tuple[str, ...] = ()
    retention: int = 0
