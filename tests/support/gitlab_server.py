"""A real HTTP server on loopback that speaks the part of GitLab's REST API (version 4) that is read
here, written from its documentation: docs.gitlab.com/api/issues, /merge_requests, /notes, /members,
/rest (pagination by `X-Next-Page` and `Link`) and /security/rate_limits (`RateLimit-*`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.support.forge_server import QuietHandler, serving_on_loopback
from tests.support.github_server import Fault, ReceivedRequest, sha

Json = dict[str, Any]
API = "/api/v4"
PROJECT = "acme/web/shop"
WEB = f"https://gitlab.example.com/{PROJECT}/-"


def user(login: str, name: str = "") -> Json:
    return {
        "id": 7, "username": login, "name": name or login.title(), "state": "active",
        "locked": False, "avatar_url": None, "web_url": f"https://gitlab.example.com/{login}",
    }  # fmt: skip


class GitLabServer:
    """The project acme/web/shop, in a group of a group. Tests put entries into its lists, and
    faults into `faults`, which are taken one by one by requests whose path holds the key."""

    def __init__(self) -> None:
        self.issues: list[Json] = []
        self.merge_requests: list[Json] = []
        self.notes: dict[tuple[str, int], list[Json]] = {}
        self.commits: dict[int, list[Json]] = {}
        self.diffs: dict[int, list[Json]] = {}
        self.members = [user("ann") | {"access_level": 40}, user("gus") | {"access_level": 10}]
        self.without: set[str] = set()
        self.faults: dict[str, list[Fault]] = {}
        self.asked: list[ReceivedRequest] = []
        self.remaining, self.reset = 1999, 0
        # Behind a proxy, links lead to a host that only GitLab knows; old ones have no diffs.
        self.link_host, self.has_diffs, self.links_only = "http://gitlab.internal", True, False
        self.url = ""

    def issue(self, number: int, title: str, text: str | None = None, **more: Any) -> Json:
        entry: Json = {
            "id": 90000 + number, "iid": number, "project_id": 3, "title": title,
            "description": text, "state": "opened", "created_at": "2026-03-01T10:00:00.000Z",
            "updated_at": f"2026-03-01T12:{number // 60:02}:{number % 60:02}.125Z",
            "closed_at": None, "labels": ["crane"], "author": user(more.pop("by", "ann")),
            "user_notes_count": 0, "confidential": False, "issue_type": "issue",
            "web_url": f"{WEB}/issues/{number}", "_links": {"closed_as_duplicate_of": None},
        } | more  # fmt: skip
        self.issues.append(entry)
        return entry

    def merge_request(self, number: int, title: str, text: str = "", **more: Any) -> Json:
        entry: Json = {
            "id": 80000 + number, "iid": number, "project_id": 3, "title": title,
            "description": text, "state": "opened", "created_at": "2026-03-01T10:00:00.000Z",
            "updated_at": f"2026-03-01T12:{number // 60:02}:{number % 60:02}.500Z",
            "merged_at": None, "closed_at": None, "target_branch": "main", "source_branch": "lift",
            "labels": list[str](), "author": user(more.pop("by", "ann"), "Ann Ex"), "draft": False,
            "sha": sha("b"), "merge_commit_sha": None, "squash_commit_sha": None,
            "user_notes_count": 1, "web_url": f"{WEB}/merge_requests/{number}",
        } | more  # fmt: skip
        self.merge_requests.append(entry)
        return entry

    def note(self, kind: str, number: int, id: int, text: str, **more: Any) -> Json:
        entry: Json = {
            "id": id, "type": None, "body": text, "attachment": None,
            "author": user(more.pop("by", "eve")), "created_at": "2026-03-01T11:00:00.000Z",
            "updated_at": "2026-03-01T11:00:00.000Z", "system": False, "noteable_iid": number,
            "noteable_type": "Issue" if kind == "issues" else "MergeRequest",
            "resolvable": False, "confidential": False, "internal": False,
        } | more  # fmt: skip
        self.notes.setdefault((kind, number), []).append(entry)
        return entry

    def answer(self, path: str) -> list[Json] | Json | None:
        """The whole list, or the one thing, at a path below the project."""
        kind, _, rest = path.partition("/")
        if kind in self.without:
            return None
        lists = {"issues": self.issues, "merge_requests": self.merge_requests}
        if path == "members/all":
            return self.members
        if kind not in lists or not rest:
            return lists.get(path)
        number, _, part = rest.partition("/")
        one = next((one for one in lists[kind] if one["iid"] == int(number)), None)
        if one is None or not part:
            return one
        if part == "notes":
            return self.notes.get((kind, int(number)), [])
        if part == "commits":
            return self.commits.get(int(number), [])
        if part == "diffs" and self.has_diffs:
            return self.diffs.get(int(number), [])
        return {**one, "changes": self.diffs.get(int(number), [])} if part == "changes" else None

    def fault(self, path: str) -> Fault | None:
        for part, faults in self.faults.items():
            if part in path and faults:
                return faults.pop(0)
        return None

    def paths(self) -> list[str]:
        """What was asked for below the project."""
        return [asked.path for asked in self.asked]


class _Handler(QuietHandler):
    forge: GitLabServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        project, _, below = parts.path.removeprefix(f"{API}/projects/").partition("/")
        query = dict(parse_qsl(parts.query))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.forge.asked.append(ReceivedRequest(below, query, headers))
        fault = self.forge.fault(self.path)
        if fault is not None:
            if fault.status:
                self._send(fault.status, fault.body, dict(fault.headers))
            else:
                self.close_connection = True
                self.connection.close()
            return
        # The name of a project is one part of the path: its slashes are encoded.
        found = self.forge.answer(below) if unquote(project) == PROJECT != project else None
        if found is None:
            self._send(404, b'{"message": "404 Project Not Found"}', {})
            return
        more: dict[str, str] = {}
        if isinstance(found, list):
            found, more = self._page(found, parts.path, query)
        body = json.dumps(found).encode()
        tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
        if headers.get("if-none-match") == tag:
            self._send(304, b"", {"ETag": tag})
            return
        self._send(200, body, {"ETag": tag, **more})

    def _page(
        self, found: list[Json], path: str, query: dict[str, str]
    ) -> tuple[list[Json], dict[str, str]]:
        after = query.get("updated_after", "")
        found = [one for one in found if one.get("updated_at", "~") >= after]
        if query.get("order_by") == "updated_at":
            newest_first = query.get("sort", "desc") == "desc"
            found = sorted(found, key=lambda one: one["updated_at"], reverse=newest_first)
        size, page = min(int(query.get("per_page", "20")), 100), int(query.get("page", "1"))
        pages = -(-len(found) // size)
        following = str(page + 1) if page < pages else ""
        more = {"X-Page": str(page), "X-Per-Page": str(size), "X-Next-Page": following}
        more |= {"X-Total": str(len(found)), "X-Total-Pages": str(pages)}
        if following:
            asked = urlencode({**query, "page": following})
            more["Link"] = f'<{self.forge.link_host}{path}?{asked}>; rel="next"'
        if self.forge.links_only:
            more = {name: value for name, value in more.items() if name == "Link"}
        return found[(page - 1) * size : page * size], more

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        usual = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "RateLimit-Limit": "2000",
            "RateLimit-Remaining": str(self.forge.remaining),
            "RateLimit-Reset": str(self.forge.reset),
        }
        for name, value in {**usual, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(forge: GitLabServer) -> Generator[GitLabServer]:
    """The forge on a free port of this machine."""
    with serving_on_loopback(type("Handler", (_Handler,), {"forge": forge})) as address:
        forge.url = f"{address}{API}"
        yield forge
