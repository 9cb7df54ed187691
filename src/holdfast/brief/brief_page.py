"""The page of a session brief: its groups of lines, and which of them there is room for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from holdfast.brief.frame import host_length
from holdfast.sources.rule_locations import MEMORY_FILE

# No group of lines takes more than this share of the room before every group had its turn.
_GROUP_SHARE = 0.45


class Part(NamedTuple):
    """Lines that belong together, and the URIs of their records."""

    lines: tuple[str, ...]
    records: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(map(host_length, self.lines)) + len(self.lines)


class Group(Enum):
    """The groups of lines, in their order, with their headings."""

    OWN_FILE = f"From {MEMORY_FILE} (takes precedence over the rest)"
    LAST_SESSION = "Where we left off"
    DECIDED = "Decided here (quoted; the latest version of each)"
    LEARNED = "Learned here (in an agent's words; fixed: what was broken was worked on after)"
    KNOWN = "Known from earlier sessions (in an agent's words unless by user, best first)"
    LEFT_OPEN = "Left open (in an agent's words)"
    NOTED = "Noted here (kept by an agent, or an event; not decided by a person)"
    OPINIONS = "Believed here (confidence from 0 to 1)"
    INDEX = "Recent work (id, time, type, request → result, approximate tokens)"


class Page:
    """The lines of a brief: whole parts, in groups, as many as there is room for."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._groups: dict[Group, list[Part]] = {}

    @property
    def parts(self) -> list[Part]:
        """The headings and the parts below them."""
        taken = [(group, self._groups[group]) for group in Group if group in self._groups]
        return [part for group, parts in taken for part in (_heading(group), *parts)]

    def lines(self, but: Group | None = None) -> list[str]:
        """The lines without headings, but for those of a group."""
        taken = [parts for group, parts in self._groups.items() if group is not but]
        return [line for parts in taken for part in parts for line in part.lines]

    def sort(self, group: Group, key: Callable[[Part], bool | tuple[bool, bool, str]]) -> None:
        """Order a group by a key, the highest first; what is equal stays in its order."""
        if group in self._groups:
            self._groups[group].sort(key=key, reverse=True)

    @property
    def notes(self) -> int:
        """How many parts there are, without headings."""
        return sum(map(len, self._groups.values()))

    def count(self, group: Group) -> int:
        """How many parts a group has."""
        return len(self._groups.get(group, ()))

    def add(self, group: Group, part: Part, share: float = 1.0) -> bool:
        """Add a part where there is room for it and its group keeps to its share of the room;
        returns whether it was added."""
        own = self._groups.get(group, [])
        size = part.size + (0 if own else _heading(group).size)
        left = self._room - sum(one.size for one in self.parts)
        if size > left or sum(one.size for one in own) + size > share * self._room:
            return False
        self._groups.setdefault(group, []).append(part)
        return True

    def add_groups(self, groups: Mapping[Group, Sequence[Part]]) -> None:
        """Add groups of parts. Each first gets a share, so that a long one leaves room."""
        waiting = {group: list(parts) for group, parts in groups.items()}
        for share in (_GROUP_SHARE, 1.0):
            for group, parts in waiting.items():
                while parts and self.add(group, parts[0], share):
                    del parts[0]


def _heading(group: Group) -> Part:
    return Part(("", group.value))
