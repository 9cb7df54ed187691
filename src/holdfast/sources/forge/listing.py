"""Reads the lists of a forge page by page, sorted by the time of the last change.

An entry that changes while pages are read moves to the end of its list and those behind it move up
by one. So the next page is requested by time where the time has advanced, and by its link where it
has not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TypeVar, cast

from holdfast.errors import ForgeError
from holdfast.sources.forge.client import Answer, ForgeClient
from holdfast.sources.forge.drafts import Page, RemarkDraft, ThreadDraft
from holdfast.sources.json_fields import Record, normal_time, objects, string

# The largest page that GitHub gives.
PAGE_SIZE = 100
# Two million entries: a list that goes on is one that leads in circles.
_MAX_LIST_PAGES = 20_000

_Draft = TypeVar("_Draft", ThreadDraft, RemarkDraft)


class ForgeLists:
    """The lists of one repository."""

    def __init__(self, client: ForgeClient, repo: str) -> None:
        self._client = client
        self._repo = repo

    def all(self, path: str, max_pages: int) -> list[Record]:
        """The entries of a short list, as many as fit on so many pages."""
        found: list[Record] = []
        address = f"{path}{'&' if '?' in path else '?'}per_page={PAGE_SIZE}"
        for _ in range(max_pages):
            answer = self._client.get(address)
            found += self._entries(answer)
            if not answer.next_url:
                break
            address = answer.next_url
        return found

    def walk(
        self,
        address_since: Callable[[str], str],
        since: str,
        tags: Mapping[str, str],
        make: Callable[[Record], _Draft | None],
    ) -> Iterator[Page[_Draft]]:
        """The pages of a list, the oldest change first. `address_since` makes the address of what
        changed since a time."""
        address = first = address_since(since)
        seen: set[str] = set()
        while address not in seen and len(seen) < _MAX_LIST_PAGES:
            seen.add(address)
            answer = self._client.get(address, tags.get(address, ""))
            if answer.unchanged:
                return
            found = self._entries(answer)
            until = max(map(updated_at, found), default="")
            drafts = [draft for one in found if (draft := make(one)) is not None]
            is_only_page = address == first and not answer.next_url
            yield Page(
                drafts, until, address if is_only_page else "", answer.etag if is_only_page else "",
                answer.last_page * PAGE_SIZE,
            )  # fmt: skip
            if not answer.next_url:
                return
            by_time = address_since(until)
            address = by_time if since < second_before(until) else answer.next_url
            since = max(since, second_before(until))
        raise ForgeError(
            f"The list {first.partition('?')[0]} on {self._repo} has no end.", "Try again later."
        )

    def _entries(self, answer: Answer) -> list[Record]:
        value: object = answer.value
        if not isinstance(value, list):
            raise ForgeError(
                f"{self._repo}: the answer of the forge is not a list.",
                "Check forge.url; it is the address of the API.",
            )
        return objects(cast(list[object], value))


def second_before(time: str) -> str:
    """One second earlier, so that no change of the same second is missed."""
    try:
        moment = datetime.fromisoformat(time) - timedelta(seconds=1)
    except (ValueError, OverflowError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def updated_at(entry: Record) -> str:
    """When an entry changed last, as the forge writes it; "" where it is no time."""
    time = string(entry, "updated_at")
    return time if normal_time(time) else ""


def thread_number(value: object) -> int:
    """The number of a thread; 0 where the forge gave something else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 < value < 10**9 else 0
