"""A real HTTP server on loopback that speaks GitHub's REST API, from data of the recorded shape."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.forge_server import QuietHandler, serving_on_loopback

Json = dict[str, Any]
API = "/api/v3"
REPO = f"{API}/repos/acme/shop"


class ReceivedRequest(NamedTuple):
    path: str
    query: dict[str, str]
    headers: dict[str, str]


class Fault(NamedTuple):
    """An answer in place of the usual one; without a status the connection is dropped."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b'{"message": "a fault", "documentation_url": "https://docs.github.com/rest"}'


def sha(letter: str) -> str:
    return letter * 40


def user(login: str, kind: str = "User") -> Json:
    return {
        "login": login, "id": 1000, "node_id": "MDQ6VXNlcjE=", "type": kind, "site_admin": False,
        "url": f"https://api.github.com/users/{login}", "html_url": f"https://github.com/{login}",
    }  # fmt: skip


class GitHubServer:
    """The repository acme/shop. Tests put entries into its lists, and faults into `faults`, which
    are taken one after the other by requests whose path holds the fault's key."""

    def __init__(self) -> None:
        self.issues: list[Json] = []
        self.comments: list[Json] = []
        self.inline: list[Json] = []
        self.pulls: dict[int, Json] = {}
        self.commits: dict[int, list[Json]] = {}
        self.files: dict[int, list[Json]] = {}
        self.reviews: dict[int, list[Json]] = {}
        self.faults: dict[str, list[Fault]] = {}
        self.asked: list[ReceivedRequest] = []
        self.remaining = 4999
        self.reset = 0
        self.url = ""

    def issue(self, number: int, title: str, body: str | None = None, **more: Any) -> Json:
        login, kind = more.pop("by", "ann"), more.pop("kind", "User")
        entry: Json = {
            "url": f"https://api.github.com/repos/acme/shop/issues/{number}",
            "html_url": f"https://github.com/acme/shop/issues/{number}",
            "id": 90000 + number, "node_id": "MDU6SXNzdWUx", "number": number, "title": title,
            "user": user(login, kind), "labels": list[Json](), "state": "open", "locked": False,
            "assignee": None, "milestone": None, "comments": 0,
            "created_at": "2026-03-01T10:00:00Z",
            "updated_at": f"2026-03-01T12:{number % 60:02}:00Z",
            "closed_at": None, "author_association": "MEMBER", "body": body, "state_reason": None,
        } | more  # fmt: skip
        self.issues.append(entry)
        return entry

    def pull(self, number: int, title: str, body: str | None = None, **more: Any) -> Json:
        merged = more.pop("merged", "")
        entry = self.issue(number, title, body, **more)
        web = f"https://github.com/acme/shop/pull/{number}"
        time = "2026-03-01T11:30:00Z" if merged else None
        entry["html_url"] = web
        entry["pull_request"] = {
            "url": f"https://api.github.com/repos/acme/shop/pulls/{number}",
            "html_url": web,
            "merged_at": time,
        }
        if merged:
            entry |= {"state": "closed", "closed_at": time}
        # Of a pull that is open GitHub names the commit of a trial merge.
        self.pulls[number] = entry | {
            "merged": bool(merged), "merged_at": time, "merge_commit_sha": merged or sha("0"),
            "head": {"ref": "lift", "sha": sha("b")}, "base": {"ref": "main", "sha": sha("a")},
            "commits": 1, "changed_files": 1,
        }  # fmt: skip
        return entry

    def commit(self, number: int, name: str, message: str, login: str = "ann") -> None:
        author = {"name": "Ann Ex", "email": "ann@x.org", "date": "2026-03-01T09:00:00Z"}
        self.commits.setdefault(number, []).append(
            {"sha": name, "commit": {"author": author, "message": message}, "author": user(login)}
        )

    def file(self, number: int, name: str) -> None:
        self.files.setdefault(number, []).append(
            {"sha": sha("f"), "filename": name, "status": "modified", "additions": 3, "patch": "@@"}
        )

    def review(self, number: int, state: str, body: str, **more: Any) -> None:
        all_of = self.reviews.setdefault(number, [])
        all_of.append({
            "id": 700 + len(all_of), "user": user(more.pop("by", "bob")), "body": body,
            "state": state, "submitted_at": "2026-03-01T11:00:00Z", "commit_id": sha("b"),
            "html_url": f"https://github.com/acme/shop/pull/{number}#pullrequestreview-7",
            "author_association": "COLLABORATOR",
        } | more)  # fmt: skip

    def comment(self, id: int, number: int, body: str, **more: Any) -> Json:
        login, kind = more.pop("by", "eve"), more.pop("kind", "User")
        page = "pull" if number in self.pulls else "issues"
        entry: Json = {
            "id": id, "url": f"https://api.github.com/repos/acme/shop/issues/comments/{id}",
            "html_url": f"https://github.com/acme/shop/{page}/{number}#issuecomment-{id}",
            "issue_url": f"https://api.github.com/repos/acme/shop/issues/{number}",
            "user": user(login, kind), "created_at": "2026-03-01T11:10:00Z", "body": body,
            "updated_at": f"2026-03-01T13:{id // 60 % 60:02}:{id % 60:02}Z",
            "author_association": "NONE",
        } | more  # fmt: skip
        self.comments.append(entry)
        return entry

    def beside(self, id: int, number: int, path: str, body: str, **more: Any) -> Json:
        entry: Json = {
            "id": id, "pull_request_review_id": 700, "diff_hunk": "@@ -1 +1 @@", "path": path,
            "line": 7, "original_line": 7, "side": "RIGHT", "commit_id": sha("b"),
            "user": user(more.pop("by", "bob")), "body": body,
            "pull_request_url": f"https://api.github.com/repos/acme/shop/pulls/{number}",
            "html_url": f"https://github.com/acme/shop/pull/{number}#discussion_r{id}",
            "created_at": "2026-03-01T11:05:00Z", "updated_at": "2026-03-01T11:05:00Z",
            "author_association": "MEMBER",
        } | more  # fmt: skip
        self.inline.append(entry)
        return entry

    def answer(self, path: str) -> list[Json] | Json | None:
        """The whole list, or the one thing, at a path."""
        lists = {
            f"{REPO}/issues": self.issues,
            f"{REPO}/issues/comments": self.comments,
            f"{REPO}/pulls/comments": self.inline,
        }
        if path in lists:
            return lists[path]
        number, _, part = path.removeprefix(f"{REPO}/pulls/").partition("/")
        if not number.isdigit() or int(number) not in self.pulls:
            return None
        of = {"commits": self.commits, "files": self.files, "reviews": self.reviews}
        return of[part].get(int(number), []) if part else self.pulls[int(number)]

    def fault(self, path: str) -> Fault | None:
        for part, faults in self.faults.items():
            if part in path and faults:
                return faults.pop(0)
        return None

    def paths(self) -> list[str]:
        return [asked.path.removeprefix(REPO) for asked in self.asked]


class _Handler(QuietHandler):
    forge: GitHubServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.forge.asked.append(ReceivedRequest(parts.path, query, headers))
        fault = self.forge.fault(self.path)
        if fault is not None:
            self._fail(fault)
            return
        found = self.forge.answer(parts.path)
        if found is None:
            self._send(404, b'{"message": "Not Found", "status": "404"}', {})
            return
        more: dict[str, str] = {}
        if isinstance(found, list):
            found, more = self._page(found, parts.path, query)
        body = json.dumps(found).encode()
        tag = f'W/"{hashlib.sha256(body).hexdigest()}"'
        if headers.get("if-none-match") == tag:
            self._send(304, b"", {"ETag": tag})
            return
        self._send(200, body, {"ETag": tag, **more})

    def _page(
        self, found: list[Json], path: str, query: dict[str, str]
    ) -> tuple[list[Json], dict[str, str]]:
        found = [one for one in found if one.get("updated_at", "~") >= query.get("since", "")]
        if query.get("sort") == "updated":
            found = sorted(found, key=lambda one: (one["updated_at"], one["id"]))
        size, page = int(query.get("per_page", "30")), int(query.get("page", "1"))
        pages = -(-len(found) // size)
        links: list[str] = []
        if page < pages:
            for rel, at in (("next", page + 1), ("last", pages)):
                asked = urlencode({**query, "page": str(at)})
                links.append(f'<{self.forge.url.removesuffix(API)}{path}?{asked}>; rel="{rel}"')
        more = {"Link": ", ".join(links)} if links else {}
        return found[(page - 1) * size : page * size], more

    def _fail(self, fault: Fault) -> None:
        if not fault.status:
            self.close_connection = True
            self.connection.close()
            return
        self._send(fault.status, fault.body, dict(fault.headers))

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        usual = {
            "Content-Type": "application/json; charset=utf-8",
            "Content-Length": str(len(body)),
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": str(self.forge.remaining),
            "X-RateLimit-Reset": str(self.forge.reset),
            "X-RateLimit-Resource": "core",
        }
        for name, value in {**usual, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(forge: GitHubServer) -> Generator[GitHubServer]:
    """The forge on a free port of this machine, below a path as an Enterprise server has it."""
    with serving_on_loopback(type("Handler", (_Handler,), {"forge": forge})) as address:
        forge.url = f"{address}{API}"
        yield forge
