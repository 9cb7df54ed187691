"""GitHub, and GitHub Enterprise, over the REST API.

Issues and pulls come in one list, comments in another, remarks beside code in a third; each is
asked for by the time of its last change. A page may be read while entries move to the end of the
list, and what lies behind them moves up: so the next page is asked for by time where time has gone
on, and by its link where it has not. What belongs to a pull takes four requests more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

from holdfast.errors import ForgeError, ForgeRefusedError, InputError
from holdfast.model.forge import Login, RemarkKind, ThreadState
from holdfast.sources.forge.client import DEFAULT_PACE, Answer, ForgeClient, Pace
from holdfast.sources.forge.drafts import Account, Page, PullDraft, RemarkDraft, ThreadDraft
from holdfast.sources.json_fields import Record, mapping, normal_time, objects, string

PUBLIC = "https://api.github.com"
AT_ONCE = 100
# The API itself lists no more than 250 commits of a pull.
_MOST_PAGES = {"commits": 3, "files": 5, "reviews": 10}
_PAGES = 20_000
_TEAM = ("OWNER", "MEMBER", "COLLABORATOR")
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")
_NUMBER = re.compile(r"/(\d{1,9})$")
_LISTS = {"comments": "/issues/comments", "inline": "/pulls/comments"}

_Draft = TypeVar("_Draft", ThreadDraft, RemarkDraft)


def web_host(url: str) -> str:
    """The host that people and remotes name, of the address of an API."""
    return (urlsplit(url).hostname or "").lower().removeprefix("api.")


class GitHub:
    """One repository on GitHub."""

    lists = tuple(_LISTS)

    def __init__(self, name: str, url: str = PUBLIC, token: str = "", pace: Pace = DEFAULT_PACE) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} is not the name of a repository.", "Give it as OWNER/NAME.")
        self.own = name
        self.repo = f"{web_host(url)}/{name}".lower()
        self._client = ForgeClient(url, token, _HEADERS, pace)
        self._path = f"/repos/{quote(name)}"

    @property
    def requests(self) -> int:
        """How many requests were made so far."""
        return self._client.requests

    def threads(self, since: str, tags: Mapping[str, str]) -> Iterator[Page[ThreadDraft]]:
        """The pulls and issues that changed since a time."""
        return self._walk(f"{self._path}/issues", {"state": "all"}, since, tags, _thread)

    def remarks(
        self, name: str, since: str, tags: Mapping[str, str]
    ) -> Iterator[Page[RemarkDraft]]:
        """The comments, or the remarks beside code, that changed since a time."""
        make = _comment if name == "comments" else _inline
        try:
            yield from self._walk(f"{self._path}{_LISTS[name]}", {}, since, tags, make)
        except ForgeRefusedError as error:
            # A repository may have pulls switched off; then it has no list of their remarks.
            if error.status not in (404, 410):
                raise

    def pull(self, number: int) -> PullDraft | None:
        """What belongs to one pull; None if GitHub does not have it any more."""
        path = f"{self._path}/pulls/{number}"
        try:
            whole = mapping(self._client.get(path).value)
            commits = self._all(f"{path}/commits", "commits")
            files = self._all(f"{path}/files", "files")
            reviews = self._all(f"{path}/reviews", "reviews")
        except ForgeRefusedError as error:
            if error.status in (404, 410):
                return None
            raise
        merged = bool(string(whole, "merged_at")) or whole.get("merged") is True
        return PullDraft(
            files=tuple(filter(None, (string(file, "filename") for file in files))),
            commits=tuple(filter(None, (string(commit, "sha") for commit in commits))),
            merge=string(whole, "merge_commit_sha") if merged else "",
            base=string(mapping(whole.get("base")), "ref"),
            branch=string(mapping(whole.get("head")), "ref"),
            state=ThreadState.MERGED if merged else None,
            messages=tuple(string(mapping(c.get("commit")), "message") for c in commits),
            reviews=tuple(_review(review, number) for review in reviews if _is_told(review)),
            logins=tuple(filter(None, map(_login, commits))),
        )

    def _all(self, path: str, name: str) -> list[Record]:
        """All pages of a list, up to a limit."""
        found: list[Record] = []
        address = f"{path}?per_page={AT_ONCE}"
        for _ in range(_MOST_PAGES[name]):
            answer = self._client.get(address)
            found += self._listed(answer)
            if not answer.next_url:
                break
            address = answer.next_url
        return found

    def _walk(
        self,
        path: str,
        more: Mapping[str, str],
        since: str,
        tags: Mapping[str, str],
        make: Callable[[Record], _Draft | None],
    ) -> Iterator[Page[_Draft]]:
        """The pages of a list from a time on."""
        address = first = _address(path, more, since)
        seen: set[str] = set()
        while address not in seen and len(seen) < _PAGES:
            seen.add(address)
            answer = self._client.get(address, tags.get(address, ""))
            if answer.unchanged:
                return
            found = self._listed(answer)
            until = max(map(_updated, found), default="")
            drafts = [draft for one in found if (draft := make(one)) is not None]
            alone = address == first and not answer.next_url
            yield Page(
                drafts, until, address if alone else "", answer.etag if alone else "",
                answer.last_page * AT_ONCE,
            )  # fmt: skip
            if not answer.next_url:
                return
            later = _address(path, more, until)
            address = later if since < _before(until) else answer.next_url
            since = max(since, _before(until))
        raise ForgeError(f"The list {path} on {self.repo} has no end.", "Try again later.")

    def _listed(self, answer: Answer) -> list[Record]:
        value: object = answer.value
        if not isinstance(value, list):
            raise ForgeError(
                f"{self.repo}: the forge gave something else than a list.",
                "Check forge.url; it is the address of the API.",
            )
        return objects(cast(list[object], value))


def _address(path: str, more: Mapping[str, str], since: str) -> str:
    asked = {**more, "sort": "updated", "direction": "asc", "per_page": str(AT_ONCE)}
    if since:
        asked["since"] = _before(since)
    return f"{path}?{urlencode(asked)}"


def _before(time: str) -> str:
    """A second earlier, so that nothing of that very second is missed."""
    try:
        moment = datetime.fromisoformat(time) - timedelta(seconds=1)
    except (ValueError, OverflowError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _updated(entry: Record) -> str:
    """When something changed last, as the forge spells it; "" for what is no time."""
    told = string(entry, "updated_at")
    return told if normal_time(told) else ""


def _account(entry: Record) -> Account:
    user = mapping(entry.get("user"))
    login = string(user, "login") or "ghost"
    bot = string(user, "type") == "Bot" or login.endswith("[bot]")
    return Account(login, string(entry, "author_association") in _TEAM and not bot, bot)


def _thread(entry: Record) -> ThreadDraft | None:
    number: Any = entry.get("number")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 10**9:
        return None
    pull = entry.get("pull_request")
    labels = [string(label, "name") for label in objects(entry.get("labels"))]
    return ThreadDraft(
        number,
        isinstance(pull, dict),
        normal_time(entry.get("created_at")),
        _updated(entry),
        _account(entry),
        string(entry, "title"),
        string(entry, "body"),
        _state(entry, mapping(pull)),
        string(entry, "html_url"),
        normal_time(entry.get("closed_at")),
        tuple(filter(None, labels)),
    )


def _state(entry: Record, pull: Record) -> ThreadState:
    if string(entry, "state") != "closed":
        return ThreadState.OPEN
    if string(pull, "merged_at"):
        return ThreadState.MERGED
    if string(entry, "state_reason") in ("not_planned", "duplicate"):
        return ThreadState.DECLINED
    return ThreadState.CLOSED


def _comment(entry: Record) -> RemarkDraft | None:
    """A comment names its thread in `issue_url`, also where that is a pull."""
    return _remark(entry, RemarkKind.COMMENT, string(entry, "issue_url"))


def _inline(entry: Record) -> RemarkDraft | None:
    made = _remark(entry, RemarkKind.INLINE, string(entry, "pull_request_url"))
    line: Any = entry.get("line") or entry.get("original_line")
    place = line if isinstance(line, int) and 0 < line < 10**9 else 0
    return made._replace(path=string(entry, "path"), line=place, is_pull=True) if made else None


def _remark(entry: Record, kind: RemarkKind, thread: str) -> RemarkDraft | None:
    number = _NUMBER.search(thread)
    id: Any = entry.get("id")
    if number is None or not isinstance(id, int):
        return None
    url = string(entry, "html_url")
    return RemarkDraft(
        str(id), kind, int(number[1]), "/pull/" in url, normal_time(entry.get("created_at")),
        _updated(entry), _account(entry), string(entry, "body"), url=url,
    )  # fmt: skip


def _is_told(review: Record) -> bool:
    """Whether a review was handed in; one that is still being written is nobody's business."""
    return isinstance(review.get("id"), int) and string(review, "state") != "PENDING"


def _review(entry: Record, number: int) -> RemarkDraft:
    time = string(entry, "submitted_at")
    return RemarkDraft(
        str(entry["id"]), RemarkKind.REVIEW, number, True, normal_time(time), time,
        _account(entry), string(entry, "body"), string(entry, "state").lower(),
        url=string(entry, "html_url"),
    )  # fmt: skip


def _login(commit: Record) -> Login | None:
    login = string(mapping(commit.get("author")), "login")
    author = mapping(mapping(commit.get("commit")).get("author"))
    name, email = string(author, "name"), string(author, "email")
    return Login(login, name, email) if login and (name or email) else None
