"""GitHub over a real connection: pages, tags, limits, faults, and where a token may go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.errors import (
    ForgeBusyError,
    ForgeError,
    ForgeRefusedError,
    InputError,
    SettingsError,
)
from holdfast.model.forge import RemarkKind, ThreadState
from holdfast.sources.forge.client import ForgeClient, Pace
from holdfast.sources.forge.github import GitHub, web_host
from tests.support.github_server import REPO, Fault, GitHubServer, serving, sha

TOKEN = "ghp_" + "x" * 36


class Clock:
    """Time that passes only while somebody sleeps, and what was told meanwhile."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self.reports: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def pace(self, wait_s: float = 120.0, requests: int = 0) -> Pace:
        return Pace(wait_s, requests, self.reports.append, self.sleep, lambda: self.now)


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serving(GitHubServer()) as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


def github(server: GitHubServer, clock: Clock, **more: float) -> GitHub:
    pace = clock.pace(more.get("wait_s", 120.0), int(more.get("requests", 0)))
    return GitHub("acme/shop", server.url, TOKEN, pace)


def numbers(forge: GitHub, since: str = "", tags: dict[str, str] | None = None) -> list[int]:
    return [draft.number for page in forge.threads(since, tags or {}) for draft in page.drafts]


def test_threads_of_all_pages_are_read_the_oldest_change_first(
    server: GitHubServer, clock: Clock
) -> None:
    for number in range(250, 0, -1):
        server.issue(
            number,
            f"Issue {number}",
            updated_at=f"2026-03-01T12:{number // 60:02}:{number % 60:02}Z",
        )
    forge = github(server, clock)
    found = numbers(forge)
    assert list(dict.fromkeys(found)) == list(range(1, 251))
    assert forge.requests == 3 and forge.repo == "127.0.0.1/acme/shop"
    assert all(asked.headers["authorization"] == f"Bearer {TOKEN}" for asked in server.asked)


def test_nothing_is_missed_if_entries_move_between_pages(
    server: GitHubServer, clock: Clock
) -> None:
    for number in range(1, 231):
        server.issue(number, "x", updated_at=f"2026-03-01T12:{number // 60:02}:{number % 60:02}Z")
    pages = github(server, clock).threads("", {})
    found = [draft.number for draft in next(pages).drafts]
    for entry in server.issues[:50]:  # a bot labels what was read already
        entry["updated_at"] = "2026-03-02T00:00:00Z"
    found += [draft.number for page in pages for draft in page.drafts]
    assert set(found) == set(range(1, 231))


def test_many_changes_in_one_second_are_read_by_following_page_links(
    server: GitHubServer, clock: Clock
) -> None:
    for number in range(1, 351):
        server.issue(number, "x", updated_at="2026-03-01T12:00:00Z")
    assert set(numbers(github(server, clock))) == set(range(1, 351))
    assert [asked.query.get("page") for asked in server.asked[-3:]] == ["2", "3", "4"]


def test_unchanged_pages_are_not_sent_again(server: GitHubServer, clock: Clock) -> None:
    server.issue(1, "One")
    (page,) = github(server, clock).threads("2026-03-01T00:00:00Z", {})
    assert page.tag.startswith('W/"') and len(page.drafts) == 1
    tags = {page.address: page.tag}
    assert numbers(github(server, clock), "2026-03-01T00:00:00Z", tags) == []
    assert server.asked[-1].headers["if-none-match"] == page.tag
    server.issues[0]["title"] = "Two"
    assert numbers(github(server, clock), "2026-03-01T00:00:00Z", tags) == [1]


def test_a_pull_request_has_its_commits_files_reviews_and_people(
    server: GitHubServer, clock: Clock
) -> None:
    server.pull(12, "Lift", merged=sha("c"))
    server.commit(12, sha("b"), "Lift it")
    for place in range(130):
        server.file(12, f"src/{place}.py")
    server.review(12, "APPROVED", "Good.")
    server.review(12, "PENDING", "not yet said")
    found = github(server, clock).pull(12)
    assert found is not None and found.merge == sha("c") and found.commits == (sha("b"),)
    assert len(found.files) == 130 and (found.base, found.branch) == ("main", "lift")
    assert found.state is ThreadState.MERGED and found.logins[0].name == "Ann Ex"
    (review,) = found.reviews
    assert (review.kind, review.state, review.author.team) == (RemarkKind.REVIEW, "approved", True)
    server.pull(13, "Open")
    still = github(server, clock).pull(13)
    assert still is not None and still.merge == "" and still.state is None
    assert github(server, clock).pull(99) is None


def test_a_disabled_list_is_empty(server: GitHubServer, clock: Clock) -> None:
    server.faults["/pulls/comments"] = [Fault(404, (), b'{"message": "Not Found"}')]
    assert list(github(server, clock).remarks("inline", "", {})) == []


def test_a_primary_rate_limit_that_ends_soon_is_waited_for(
    server: GitHubServer, clock: Clock
) -> None:
    server.issue(1, "One")
    limits = (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1030"))
    server.faults[REPO] = [Fault(403, limits, b'{"message": "API rate limit exceeded for user"}')]
    assert numbers(github(server, clock)) == [1]
    assert clock.slept == [31.0] and "waiting 31 s" in clock.reports[0]


def test_a_primary_rate_limit_that_ends_late_stops_with_a_message(
    server: GitHubServer, clock: Clock
) -> None:
    for number in range(1, 150):
        server.issue(number, "x", updated_at=f"2026-03-01T12:{number // 60:02}:{number % 60:02}Z")
    server.remaining, server.reset = 0, 1000 + 3600
    pages = github(server, clock).threads("", {})
    assert len(next(pages).drafts) == 100
    with pytest.raises(ForgeBusyError, match="no more requests until 01:16:41 UTC") as failed:
        next(pages)
    assert "run the same command again" in failed.value.remedy and clock.slept == []
    assert len(server.asked) == 1, "the forge is not asked beyond its limit"


def test_secondary_rate_limits_are_waited_for_as_requested(
    server: GitHubServer, clock: Clock
) -> None:
    server.issue(1, "One")
    words = b'{"message": "You have exceeded a secondary rate limit. Please wait."}'
    server.faults[REPO] = [Fault(403, (("Retry-After", "7"),), words), Fault(429, (), words)]
    assert numbers(github(server, clock, wait_s=70)) == [1]
    assert clock.slept == [7.0, 60.0]
    server.faults[REPO] = [Fault(403, (("Retry-After", "7"),), words), Fault(403, (), words)]
    with pytest.raises(ForgeBusyError):
        numbers(github(server, clock, wait_s=66))


def test_server_errors_and_dropped_connections_are_retried(
    server: GitHubServer, clock: Clock
) -> None:
    server.issue(1, "One")
    server.faults[REPO] = [Fault(502), Fault(), Fault(503, (("Retry-After", "9"),))]
    assert numbers(github(server, clock)) == [1]
    assert clock.slept == [1.0, 2.0, 4.0] and "said 502" in clock.reports[0]
    server.faults[REPO] = [Fault(500)] * 4
    with pytest.raises(ForgeError, match="said 500, 4 times"):
        numbers(github(server, clock))


@pytest.mark.parametrize(
    ("fault", "message", "remedy"),
    [
        (Fault(401, (), b'{"message": "Bad credentials"}'), "401: Bad cred", "gh auth login"),
        (Fault(403, (), b'{"message": "Not accessible"}'), "Not accessible", "needs to read"),
        (Fault(403, (("X-GitHub-SSO", "required"),)), "403", "single sign-on"),
        (Fault(404, (), b'{"message": "Not Found"}'), "404: Not Found", "may see this repository"),
        (Fault(418, (), b"\x1b[31mteapot"), "418", "later"),
    ],
)  # fmt: skip
def test_refusals_come_with_a_remedy(
    server: GitHubServer, clock: Clock, fault: Fault, message: str, remedy: str
) -> None:
    server.faults[REPO] = [fault]
    with pytest.raises(ForgeRefusedError, match=message) as failed:
        numbers(github(server, clock))
    assert remedy in failed.value.remedy and TOKEN not in str(failed.value)
    assert clock.slept == []


def test_invalid_responses_are_refused(server: GitHubServer, clock: Clock) -> None:
    for body in (b"<html>login</html>", b'{"a": 1', b"[" * 100_000, b'{"total": 1}', b"\xff\xfe"):
        server.faults[REPO] = [Fault(200, (), body)]
        with pytest.raises(ForgeError, match=r"no JSON|is not a list"):
            numbers(github(server, clock))
    odd = b'[1, null, {}, {"number": "7"}, {"number": 5, "user": null, "labels": 3, "title": []}]'
    server.faults[REPO] = [Fault(200, (), odd)]
    assert numbers(github(server, clock)) == [5]


def test_a_token_is_never_sent_to_another_host(server: GitHubServer, clock: Clock) -> None:
    server.issue(1, "One")
    with serving(GitHubServer()) as other:
        for status in (301, 302, 307):
            away = (("Location", f"{other.url}/repos/acme/shop/issues"),)
            server.faults[REPO] = [Fault(status, away)]
            with pytest.raises(ForgeRefusedError, match="token was not sent"):
                numbers(github(server, clock))
        link = (("Link", f'<{other.url}/repos/acme/shop/issues?page=2>; rel="next"'),)
        server.faults[REPO] = [Fault(200, link, b"[]")]
        with pytest.raises(ForgeRefusedError, match="another place"):
            numbers(github(server, clock))
        assert other.asked == []
    for url in ("https://u:p@x.org", "ftp://x.org", "api.github.com", "http://git.example.com/api"):
        with pytest.raises(SettingsError):
            ForgeClient(url, TOKEN)


def test_values_that_are_invalid_in_a_header_are_neither_sent_nor_shown(
    server: GitHubServer, clock: Clock
) -> None:
    with pytest.raises(SettingsError, match="invalid characters") as failed:
        ForgeClient(server.url, f"{TOKEN}\nX-Evil: 1")
    assert TOKEN not in f"{failed.value} {failed.value.remedy}"
    server.faults[REPO] = [Fault(200, (("ETag", 'W/"\xe9"'),), b"[]")]
    (page,) = github(server, clock).threads("", {})
    assert page.tag == ""


def test_a_renamed_repository_is_followed_on_its_own_host(
    server: GitHubServer, clock: Clock
) -> None:
    server.issue(1, "One")
    server.faults["/repos/old/name"] = [Fault(301, (("Location", f"{REPO}/issues"),))]
    assert numbers(GitHub("old/name", server.url, TOKEN, clock.pace())) == [1]
    circle = Fault(302, (("Location", f"{REPO}/issues"),))
    server.faults[REPO] = [circle] * 9
    with pytest.raises(ForgeError, match="in circles"):
        numbers(github(server, clock))


def test_an_endless_list_is_aborted(server: GitHubServer, clock: Clock) -> None:
    server.issue(1, "One")
    same = f'<{server.url}/repos/acme/shop/issues?page=1>; rel="next"'
    server.faults[REPO] = [Fault(200, (("Link", same),), b"[]")] * 5
    with pytest.raises(ForgeError, match="no end"):
        numbers(github(server, clock))


def test_a_run_makes_no_more_requests_than_the_settings_allow(
    server: GitHubServer, clock: Clock
) -> None:
    for number in range(1, 350):
        server.issue(number, "x", updated_at="2026-03-01T12:00:00Z")
    with pytest.raises(ForgeBusyError, match="as many as"):
        numbers(github(server, clock, requests=2))
    assert len(server.asked) == 2


def test_names_and_hosts_are_parsed_from_remotes_and_urls() -> None:
    assert web_host("https://api.github.com") == "github.com"
    assert web_host("https://ghe.example.com/api/v3") == "ghe.example.com"
    for name in ("shop", "a/b/c", "../x", "acme/shop?x=1", "acme/sh op", "-a/b"):
        with pytest.raises(InputError):
            GitHub(name)
