"""GitHub and GitHub Enterprise over the REST API.

Issues and pulls come in one list, comments in another, comments on code in a third, each sorted by
the time of the last change (`listing`). The parts of a pull take four requests more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from holdfast.errors import ForgeRefusedError, InputError
from holdfast.model.forge import ForgeAccount, RemarkKind, ThreadState
from holdfast.regex import regex
from holdfast.sources.forge.client import DEFAULT_PACE, ForgeClient, Pace, program_token
from holdfast.sources.forge.drafts import Account, Page, PullDraft, RemarkDraft, ThreadDraft
from holdfast.sources.forge.listing import (
    PAGE_SIZE,
    ForgeLists,
    second_before,
    thread_number,
    updated_at,
)
from holdfast.sources.json_fields import Record, mapping, normal_time, objects, string

PUBLIC = "https://api.github.com"
# Pages of the parts of one pull. The API itself lists no more than 250 commits of a pull; a pull
# with more than 500 files or 1,000 reviews is cut there.
_MAX_PAGES = {"commits": 3, "files": 5, "reviews": 10}
_TEAM_ASSOCIATIONS = ("OWNER", "MEMBER", "COLLABORATOR")
_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_REPOSITORY = regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")
_THREAD_NUMBER = regex(r"/(\d{1,9})$")
_LISTS = {"comments": "/issues/comments", "inline": "/pulls/comments"}


def web_host(url: str) -> str:
    """The host as people and git remotes write it, from the address of the API."""
    return (urlsplit(url).hostname or "").lower().removeprefix("api.")


def gh_token(host: str) -> str:
    """The token that `gh` keeps for a host; "" where there is no gh, or no login."""
    return program_token("gh", "auth", "token", "--hostname", host)


class GitHub:
    """One repository on GitHub. Every failure is a ForgeError.

    `repo` is `github.com/owner/name`, `own` is `owner/name`, `lists` are the names that `remarks`
    takes. `threads` and `remarks` give what changed since a time, "" for all; their `tags` are
    ETags of earlier pages by their address, and an unchanged page is not given again."""

    lists = tuple(_LISTS)

    def __init__(
        self, name: str, url: str = PUBLIC, token: str = "", pace: Pace = DEFAULT_PACE
    ) -> None:
        if not _REPOSITORY.fullmatch(name):
            raise InputError(f"{name!r} is not the name of a repository.", "Give it as OWNER/NAME.")
        self.own = name
        self.repo = f"{web_host(url)}/{name}".lower()
        self._client = ForgeClient(url, token, _HEADERS, pace)
        self._lists = ForgeLists(self._client, self.repo)
        self._path = f"/repos/{quote(name)}"

    @property
    def requests(self) -> int:
        return self._client.requests

    def threads(self, since: str, tags: Mapping[str, str]) -> Iterator[Page[ThreadDraft]]:
        path = partial(_list_path, f"{self._path}/issues", {"state": "all"})
        return self._lists.walk(path, since, tags, _thread)

    def remarks(
        self, name: str, since: str, tags: Mapping[str, str]
    ) -> Iterator[Page[RemarkDraft]]:
        make = _comment if name == "comments" else _inline_comment
        try:
            path = partial(_list_path, f"{self._path}{_LISTS[name]}", {})
            yield from self._lists.walk(path, since, tags, make)
        except ForgeRefusedError as error:
            # A repository without pulls has no list of comments on them.
            if error.status not in (404, 410):
                raise

    def pull(self, number: int) -> PullDraft | None:
        path = f"{self._path}/pulls/{number}"
        try:
            whole = mapping(self._client.get(path).value)
            commits = self._lists.all(f"{path}/commits", _MAX_PAGES["commits"])
            files = self._lists.all(f"{path}/files", _MAX_PAGES["files"])
            reviews = self._lists.all(f"{path}/reviews", _MAX_PAGES["reviews"])
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
            reviews=tuple(_review(review, number) for review in reviews if _is_submitted(review)),
            logins=tuple(filter(None, map(_author_login, commits))),
        )


def _list_path(path: str, filters: Mapping[str, str], since: str) -> str:
    parameters = {**filters, "sort": "updated", "direction": "asc", "per_page": str(PAGE_SIZE)}
    if since:
        parameters["since"] = second_before(since)
    return f"{path}?{urlencode(parameters)}"


def _account(entry: Record) -> Account:
    user = mapping(entry.get("user"))
    login = string(user, "login") or "ghost"
    bot = string(user, "type") == "Bot" or login.endswith("[bot]")
    is_member = string(entry, "author_association") in _TEAM_ASSOCIATIONS
    return Account(login, is_member and not bot, bot)


def _thread(entry: Record) -> ThreadDraft | None:
    number = thread_number(entry.get("number"))
    if not number:
        return None
    pull = entry.get("pull_request")
    labels = [string(label, "name") for label in objects(entry.get("labels"))]
    return ThreadDraft(
        number,
        isinstance(pull, dict),
        normal_time(entry.get("created_at")),
        updated_at(entry),
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
    return _make_remark(entry, RemarkKind.COMMENT, string(entry, "issue_url"))


def _inline_comment(entry: Record) -> RemarkDraft | None:
    remark = _make_remark(entry, RemarkKind.INLINE, string(entry, "pull_request_url"))
    if remark is None:
        return None
    line: Any = entry.get("line") or entry.get("original_line")
    number = line if isinstance(line, int) and 0 < line < 10**9 else 0
    return remark._replace(path=string(entry, "path"), line=number, is_pull=True)


def _make_remark(entry: Record, kind: RemarkKind, thread: str) -> RemarkDraft | None:
    number = _THREAD_NUMBER.search(thread)
    id: Any = entry.get("id")
    if number is None or not isinstance(id, int):
        return None
    url = string(entry, "html_url")
    return RemarkDraft(
        str(id), kind, int(number[1]), "/pull/" in url, normal_time(entry.get("created_at")),
        updated_at(entry), _account(entry), string(entry, "body"), url=url,
    )  # fmt: skip


def _is_submitted(review: Record) -> bool:
    """Whether a review was submitted; a pending one is still being written."""
    return isinstance(review.get("id"), int) and string(review, "state") != "PENDING"


def _review(entry: Record, number: int) -> RemarkDraft:
    time = string(entry, "submitted_at")
    return RemarkDraft(
        str(entry["id"]), RemarkKind.REVIEW, number, True, normal_time(time), time,
        _account(entry), string(entry, "body"), string(entry, "state").lower(),
        url=string(entry, "html_url"),
    )  # fmt: skip


def _author_login(commit: Record) -> ForgeAccount | None:
    login = string(mapping(commit.get("author")), "login")
    author = mapping(mapping(commit.get("commit")).get("author"))
    name, email = string(author, "name"), string(author, "email")
    return ForgeAccount(login, name, email) if login and (name or email) else None
