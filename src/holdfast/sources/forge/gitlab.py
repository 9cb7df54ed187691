"""GitLab, on gitlab.com or on a host of one's own, over the REST API (version 4).

Issues and merge requests are two lists, each sorted by the time of the last change; they are read
side by side, so that the oldest change comes first and reading may stop anywhere. Notes have no
list of their own for a project: a note changes its thread, so those of each thread that changed are
read. What GitLab marks as confidential or internal is left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
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

PUBLIC = "https://gitlab.com/api/v4"
API_PATH = "/api/v4"
# What may help where a token is missing or refused.
_TOKEN_HINT = "GITLAB_TOKEN, or `glab auth login`"
# Pages of the parts of one merge request, and of the notes of a thread: as many as are kept.
_MAX_PAGES = {"commits": 3, "diffs": 5, "notes": 10, "members": 50}
# From this level on a member may push to branches ("Developer"), and belongs to the team.
_DEVELOPER = 30
_PROJECT = regex(r"[A-Za-z0-9_.][\w.+-]{0,254}(?:/[A-Za-z0-9_.][\w.+-]{0,254}){1,20}")
# Accounts that GitLab makes for tokens of projects and groups.
_BOT = regex(r"(?:project|group|service_account)_\w*bot\w*|.*\[bot\]|.*-bot")
_CLOSES = regex(
    r"(?i)\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)\b"
    r":?\s+#(\d{1,9})\b"
)
# What GitLab notes by itself of reviews; other such notes are changes of labels and the like.
_VERDICTS = {
    "approved this merge request": "approved",
    "unapproved this merge request": "dismissed",
    "requested changes": "changes_requested",
}


def is_gitlab(url: str) -> bool:
    """Whether an address is that of GitLab's API."""
    return urlsplit(url).path.rstrip("/").endswith(API_PATH)


def web_host(url: str) -> str:
    """The host as people and git remotes write it, with the path below which a GitLab of one's own
    may lie."""
    parts = urlsplit(url)
    below = parts.path.rstrip("/").removesuffix(API_PATH)
    return f"{(parts.hostname or '').lower()}{below}".lower()


def glab_token(host: str) -> str:
    """The token that `glab` keeps for a host; "" where there is no glab, or no login."""
    return program_token("glab", "config", "get", "token", "--host", host)


class GitLab:
    """One project on GitLab; see `drafts.Forge`. A project may be in groups of groups."""

    lists: tuple[str, ...] = ()

    def __init__(
        self, name: str, url: str = PUBLIC, token: str = "", pace: Pace = DEFAULT_PACE
    ) -> None:
        if not _PROJECT.fullmatch(name) or ".." in name:
            raise InputError(f"{name!r} is not the name of a project.", "Give it as GROUP/NAME.")
        self.own = name
        self.repo = f"{web_host(url)}/{name}".lower()
        self._client = ForgeClient(url, token, {"Accept": "application/json"}, pace, _TOKEN_HINT)
        self._lists = ForgeLists(self._client, self.repo)
        self._path = f"/projects/{quote(name, safe='')}"
        # Issues without a note, of which the notes need not be asked for.
        self._silent: set[int] = set()
        # The lists that the project does not have.
        self._refused: set[str] = set()

    @property
    def requests(self) -> int:
        return self._client.requests

    def threads(self, since: str, tags: Mapping[str, str]) -> Iterator[Page[ThreadDraft]]:
        finished: list[Page[ThreadDraft]] = []
        both = [
            self._changed("issues", self._issue, since, tags, finished),
            self._changed("merge_requests", self._merge_request, since, tags, finished),
        ]
        merged = heapq.merge(*both, key=lambda draft: draft.updated)
        while drafts := list(islice(merged, PAGE_SIZE)):
            yield Page(drafts, max(draft.updated for draft in drafts))
        # Only now everything on them is read, and a later run may skip them.
        yield from finished

    def pull(self, number: int) -> PullDraft | None:
        path = f"{self._path}/merge_requests/{number}"
        try:
            whole = mapping(self._client.get(path).value)
            commits = self._lists.all(f"{path}/commits", _MAX_PAGES["commits"])
            files = self._files(path)
        except ForgeRefusedError as error:
            if error.status in (404, 410):
                return None
            raise
        messages = tuple(string(commit, "message") for commit in commits)
        texts = "\n".join((string(whole, "title"), string(whole, "description"), *messages))
        return PullDraft(
            files=tuple(dict.fromkeys(filter(None, files))),
            commits=tuple(filter(None, (string(commit, "id") for commit in commits))),
            merge=_merged_as(whole),
            base=string(whole, "target_branch"),
            branch=string(whole, "source_branch"),
            messages=messages,
            fixes=tuple(dict.fromkeys(int(number) for number in _CLOSES.findall(texts))),
            logins=tuple(filter(None, (_author_login(one, whole) for one in commits))),
        )

    def notes(self, thread: ThreadDraft) -> tuple[RemarkDraft, ...]:
        if not thread.is_pull and thread.number in self._silent:
            return ()
        kind = "merge_requests" if thread.is_pull else "issues"
        path = f"{self._path}/{kind}/{thread.number}/notes?sort=asc&order_by=updated_at"
        try:
            found = self._lists.all(path, _MAX_PAGES["notes"])
        except ForgeRefusedError as error:
            if error.status in (403, 404, 410):
                return ()
            raise
        drafts = (self._note(entry, thread) for entry in found)
        return tuple(draft for draft in drafts if draft is not None)

    def remarks(
        self, name: str, since: str, tags: Mapping[str, str]
    ) -> Iterator[Page[RemarkDraft]]:
        """Nothing: GitLab has no list of the notes of a project."""
        yield from ()

    def _changed(
        self,
        name: str,
        make: Callable[[Record], ThreadDraft | None],
        since: str,
        tags: Mapping[str, str],
        finished: list[Page[ThreadDraft]],
    ) -> Iterator[ThreadDraft]:
        """The threads of one list; nothing where the project does not have it."""

        def address(since: str) -> str:
            given = {"scope": "all", "order_by": "updated_at", "sort": "asc"}
            given |= {"updated_after": second_before(since)} if since else {}
            return f"{self._path}/{name}?{urlencode({**given, 'per_page': PAGE_SIZE})}"

        try:
            for page in self._lists.walk(address, since, tags, make):
                yield from page.drafts
                if page.address:
                    finished.append(page._replace(drafts=[]))
        except ForgeRefusedError as error:
            # Issues or merge requests can be turned off; without both there is no project.
            self._refused.add(name)
            if error.status not in (403, 404) or len(self._refused) == 2:
                raise

    def _files(self, path: str) -> list[str]:
        try:
            diffs = self._lists.all(f"{path}/diffs", _MAX_PAGES["diffs"])
        except ForgeRefusedError as error:
            if error.status != 404:
                raise
            # Before GitLab 15.7 the files are among the changes.
            diffs = objects(mapping(self._client.get(f"{path}/changes").value).get("changes"))
        return [string(diff, "new_path") or string(diff, "old_path") for diff in diffs]

    def _issue(self, entry: Record) -> ThreadDraft | None:
        if entry.get("confidential") is True:
            return None
        draft = self._thread(entry, is_pull=False)
        if draft is not None and entry.get("user_notes_count") == 0:
            self._silent.add(draft.number)
        return draft

    def _merge_request(self, entry: Record) -> ThreadDraft | None:
        return self._thread(entry, is_pull=True)

    def _thread(self, entry: Record, is_pull: bool) -> ThreadDraft | None:
        number = thread_number(entry.get("iid"))
        if not number:
            return None
        labels: Any = entry.get("labels")
        return ThreadDraft(
            number,
            is_pull,
            normal_time(entry.get("created_at")),
            updated_at(entry),
            self._account(entry),
            string(entry, "title"),
            string(entry, "description"),
            _state(entry),
            string(entry, "web_url"),
            normal_time(entry.get("merged_at") or entry.get("closed_at")),
            tuple(one for one in labels if isinstance(one, str)) if labels else (),
        )

    def _note(self, entry: Record, thread: ThreadDraft) -> RemarkDraft | None:
        id: Any = entry.get("id")
        hidden = entry.get("internal") is True or entry.get("confidential") is True
        if not isinstance(id, int) or hidden:
            return None
        text = string(entry, "body")
        made = RemarkDraft(
            str(id), RemarkKind.COMMENT, thread.number, thread.is_pull,
            normal_time(entry.get("created_at")), updated_at(entry), self._account(entry), text,
            url=f"{thread.url}#note_{id}" if thread.url else "",
        )  # fmt: skip
        if entry.get("system") is True:
            verdict = _VERDICTS.get(text.strip().rstrip("."), "")
            is_verdict = thread.is_pull and bool(verdict)
            return (
                made._replace(kind=RemarkKind.REVIEW, state=verdict, text="")
                if is_verdict
                else None
            )
        place = mapping(entry.get("position"))
        path = string(place, "new_path") or string(place, "old_path")
        if not path:
            return made
        line = thread_number(place.get("new_line") or place.get("old_line"))
        return made._replace(kind=RemarkKind.INLINE, path=path, line=line)

    def _account(self, entry: Record) -> Account:
        author = mapping(entry.get("author"))
        login = string(author, "username") or "ghost"
        bot = author.get("bot") is True or _BOT.fullmatch(login) is not None
        return Account(login, login in self._team and not bot, bot)

    @cached_property
    def _team(self) -> frozenset[str]:
        """The accounts that may push to the project; none where we may not ask."""
        try:
            members = self._lists.all(f"{self._path}/members/all", _MAX_PAGES["members"])
        except ForgeRefusedError as error:
            if error.status not in (401, 403, 404):
                raise
            return frozenset()
        levels = ((string(one, "username"), one.get("access_level")) for one in members)
        return frozenset(
            name for name, level in levels if isinstance(level, int) and level >= _DEVELOPER
        )


def _state(entry: Record) -> ThreadState:
    match string(entry, "state"):
        case "merged":
            return ThreadState.MERGED
        case "closed":
            duplicate = mapping(entry.get("_links")).get("closed_as_duplicate_of")
            return ThreadState.DECLINED if duplicate else ThreadState.CLOSED
        case _:
            return ThreadState.OPEN


def _merged_as(merge_request: Record) -> str:
    """The commit as which a merge request is in its branch: a merge, all in one, or its last."""
    if string(merge_request, "state") != "merged":
        return ""
    names = ("merge_commit_sha", "squash_commit_sha", "sha")
    return next(filter(None, (string(merge_request, name) for name in names)), "")


def _author_login(commit: Record, merge_request: Record) -> ForgeAccount | None:
    """GitLab names no account with a commit: the author of the merge request is known by name."""
    author = mapping(merge_request.get("author"))
    login, name = string(author, "username"), string(author, "name")
    if not login or not name or string(commit, "author_name") != name:
        return None
    return ForgeAccount(login, name, string(commit, "author_email"))
