"""GitLab over a real connection: groups of groups, both lists side by side, notes and limits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.errors import ForgeBusyError, ForgeRefusedError, InputError
from holdfast.model.forge import RemarkKind, ThreadState
from holdfast.sources.forge.drafts import RemarkDraft, ThreadDraft
from holdfast.sources.forge.gitlab import PUBLIC, GitLab, is_gitlab, web_host
from tests.sources.forge.test_github import Clock
from tests.support.github_server import Fault, sha
from tests.support.gitlab_server import PROJECT, WEB, GitLabServer, serving

TOKEN = "glpat-" + "x" * 20


@pytest.fixture
def server() -> Iterator[GitLabServer]:
    with serving(GitLabServer()) as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


def gitlab(server: GitLabServer, clock: Clock, wait_s: float = 120.0) -> GitLab:
    return GitLab(PROJECT, server.url, TOKEN, clock.pace(wait_s))


def read(forge: GitLab, since: str = "", tags: dict[str, str] | None = None) -> list[ThreadDraft]:
    return [draft for page in forge.threads(since, tags or {}) for draft in page.drafts]


def names(drafts: list[ThreadDraft]) -> list[str]:
    return [f"{'!' if draft.is_pull else '#'}{draft.number}" for draft in drafts]


def notes_of(forge: GitLab, number: int, is_pull: bool) -> dict[str, RemarkDraft]:
    thread = next(d for d in read(forge) if (d.number, d.is_pull) == (number, is_pull))
    return {note.id: note for note in forge.notes(thread)}


def test_issues_and_merge_requests_are_read_side_by_side_the_oldest_change_first(
    server: GitLabServer, clock: Clock
) -> None:
    for number in range(1, 131):
        server.issue(number, f"Issue {number}")
        server.merge_request(number, f"Change {number}")
    forge = gitlab(server, clock)
    found = read(forge)
    wanted = [f"{mark}{number}" for number in range(1, 131) for mark in "#!"]
    assert list(dict.fromkeys(names(found))) == wanted
    assert forge.repo == f"127.0.0.1/{PROJECT}" and forge.own == PROJECT
    assert all(asked.headers["authorization"] == f"Bearer {TOKEN}" for asked in server.asked)
    assert {asked.query["sort"] for asked in server.asked if "sort" in asked.query} == {"asc"}


@pytest.mark.parametrize("links_only", [False, True])
def test_pages_follow_numbers_or_links_and_never_another_host(
    server: GitLabServer, clock: Clock, links_only: bool
) -> None:
    """All changed in the same second, so that only a page can lead on."""
    server.links_only = links_only
    for number in range(1, 131):
        server.issue(number, "x", updated_at="2026-03-01T12:00:00.000Z")
    if links_only:
        with pytest.raises(ForgeRefusedError, match="leads to another place"):
            read(gitlab(server, clock))
        server.link_host = server.url.removesuffix("/api/v4")
    assert len(set(names(read(gitlab(server, clock))))) == 130


def test_a_run_that_stops_misses_nothing_of_either_list(server: GitLabServer, clock: Clock) -> None:
    server.issue(1, "early")
    server.merge_request(2, "later")
    server.issue(3, "last")
    first = next(iter(gitlab(server, clock).threads("", {})))
    assert names(first.drafts) == ["#1", "!2", "#3"]
    again = read(gitlab(server, clock), since=first.drafts[1].updated)
    assert "!2" in names(again) and "#3" in names(again)


def test_what_is_unchanged_is_not_sent_again(server: GitLabServer, clock: Clock) -> None:
    server.issue(1, "one")
    server.merge_request(2, "two")
    pages = list(gitlab(server, clock).threads("", {}))
    tags = {page.address: page.tag for page in pages if page.tag}
    assert len(tags) == 2
    assert read(gitlab(server, clock), tags=tags) == []
    server.merge_request(3, "three")
    assert names(read(gitlab(server, clock), tags=tags)) == ["!2", "!3"]


def test_states_authors_and_labels_are_read(server: GitLabServer, clock: Clock) -> None:
    server.issue(1, "Crane", "It is *slow*.", by="eve")
    server.issue(2, "Twice", state="closed", _links={"closed_as_duplicate_of": "https://x/1"})
    server.issue(3, "By a program", by="project_3_bot_0a1b")
    server.issue(4, "A guest", by="gus")
    server.issue(5, "Not for all", confidential=True)
    server.merge_request(6, "Done", state="merged", merged_at="2026-03-01T13:00:00.000Z")
    server.merge_request(7, "Given up", state="closed", closed_at="2026-03-02T13:00:00.000Z")
    found = dict(zip(names(drafts := read(gitlab(server, clock))), drafts, strict=True))
    assert list(found) == ["#1", "#2", "#3", "#4", "!6", "!7"], "what is confidential is left out"
    assert found["#1"].labels == ("crane",) and found["#1"].url == f"{WEB}/issues/1"
    assert found["#1"].body == "It is *slow*." and not found["#1"].author.team
    assert found["#2"].state is ThreadState.DECLINED and found["#2"].author.team
    assert found["#3"].author.bot and not found["#4"].author.team
    assert found["!6"].state is ThreadState.MERGED and found["!6"].closed.startswith(
        "2026-03-01T13"
    )
    assert found["!7"].state is ThreadState.CLOSED


def test_nobody_is_of_the_team_where_members_may_not_be_asked(
    server: GitLabServer, clock: Clock
) -> None:
    server.issue(1, "Crane")
    server.faults["members"] = [Fault(403)]
    assert not read(gitlab(server, clock))[0].author.team


@pytest.mark.parametrize("has_diffs", [True, False])
def test_a_merge_request_has_files_commits_and_what_it_closes(
    server: GitLabServer, clock: Clock, has_diffs: bool
) -> None:
    server.has_diffs = has_diffs
    server.merge_request(
        6, "Lift", "Closing #4", state="merged", merge_commit_sha=None, squash_commit_sha=sha("c")
    )
    server.commits[6] = [
        {
            "id": sha("a"),
            "message": "Implements #9",
            "author_name": "Ann Ex",
            "author_email": "a@x",
        },
        {"id": sha("b"), "message": "More", "author_name": "Bob", "author_email": "b@x"},
    ]
    server.diffs[6] = [
        {"old_path": "a.py", "new_path": "b.py", "renamed_file": True},
        {"old_path": "c.py", "new_path": "c.py", "deleted_file": True},
    ]
    forge = gitlab(server, clock)
    pull = forge.pull(6)
    assert pull is not None
    assert pull.files == ("b.py", "c.py") and pull.commits == (sha("a"), sha("b"))
    assert (pull.merge, pull.base, pull.branch) == (sha("c"), "main", "lift")
    assert pull.fixes == (4, 9)
    assert [tuple(one) for one in pull.logins] == [("ann", "Ann Ex", "a@x")]
    assert forge.pull(99) is None


def test_notes_are_comments_verdicts_and_remarks_beside_code(
    server: GitLabServer, clock: Clock
) -> None:
    server.merge_request(6, "Lift")
    server.note("merge_requests", 6, 1, "Why thirty seconds?")
    server.note("merge_requests", 6, 2, "added label ~crane", system=True)
    server.note("merge_requests", 6, 3, "approved this merge request", system=True, by="ann")
    server.note("merge_requests", 6, 4, "For the team alone.", internal=True)
    place = {"new_path": "gate.py", "old_path": "gate.py", "new_line": None, "old_line": 12}
    server.note("merge_requests", 6, 5, "Too long.", type="DiffNote", position=place)
    found = notes_of(gitlab(server, clock), 6, True)
    assert list(found) == ["1", "3", "5"]
    assert found["1"].kind is RemarkKind.COMMENT and found["1"].url.endswith("6#note_1")
    assert (found["3"].kind, found["3"].state, found["3"].text) == (
        RemarkKind.REVIEW,
        "approved",
        "",
    )
    assert found["3"].author.team
    assert (found["5"].kind, found["5"].path, found["5"].line) == (RemarkKind.INLINE, "gate.py", 12)


def test_notes_of_an_issue_are_asked_for_only_if_there_are_any(
    server: GitLabServer, clock: Clock
) -> None:
    server.issue(1, "Silent")
    server.issue(2, "Spoken of", user_notes_count=1)
    server.note("issues", 2, 8, "It is the winch.")
    forge = gitlab(server, clock)
    notes = [note.text for draft in read(forge) for note in forge.notes(draft)]
    assert notes == ["It is the winch."]
    assert [path for path in server.paths() if "notes" in path] == ["issues/2/notes"]


def test_a_project_without_issues_is_read_and_one_that_is_missing_is_an_error(
    server: GitLabServer, clock: Clock
) -> None:
    server.merge_request(6, "Lift")
    server.without = {"issues"}
    assert names(read(gitlab(server, clock))) == ["!6"]
    server.without = {"issues", "merge_requests"}
    with pytest.raises(ForgeRefusedError, match="404 Project Not Found"):
        read(gitlab(server, clock))
    with pytest.raises(ForgeRefusedError) as refused:
        read(GitLab("acme/other", server.url, "", clock.pace()))
    assert "GITLAB_TOKEN" in refused.value.remedy


def test_limits_are_waited_for_as_gitlab_tells_them(server: GitLabServer, clock: Clock) -> None:
    server.issue(1, "x")
    server.faults["/issues"] = [Fault(429, (("Retry-After", "30"),), b"Retry later\n")]
    assert names(read(gitlab(server, clock))) == ["#1"] and clock.slept == [30.0]
    server.remaining, server.reset = 0, int(clock.now) + 500
    with pytest.raises(ForgeBusyError, match="allows no more requests"):
        read(gitlab(server, clock, wait_s=60.0))


def test_names_and_addresses_of_gitlab() -> None:
    assert is_gitlab(PUBLIC) and is_gitlab("https://git.example.com/gitlab/api/v4/")
    assert not is_gitlab("https://api.github.com") and not is_gitlab("https://x.org/api/v3")
    assert web_host(PUBLIC) == "gitlab.com"
    assert web_host("https://git.example.com/Gitlab/api/v4") == "git.example.com/gitlab"
    below = GitLab("a/b/c/d", "https://git.example.com/gitlab/api/v4")
    assert below.repo == "git.example.com/gitlab/a/b/c/d"
    for name in ("shop", "a//b", "../b", "a/b?c", "a/b/../c", "/a/b"):
        with pytest.raises(InputError):
            GitLab(name)
