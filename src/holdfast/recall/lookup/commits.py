"""Details of a commit (tags, reverts, files, diff, the sessions that made it), the commits that a
session or an exchange made, and the pull requests and issues of a commit.

A commit belongs to the pull requests that list it or were merged as it, and to the numbers in its
message: `(#12)`, `Merge pull request #12`, `Fixes #7`. Numbers are looked up in the commit's bank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.forge import Issue, Pull, Remark, Thread
from holdfast.model.records import Digest, Exchange, Session
from holdfast.model.team import Commit, FileChange
from holdfast.model.uris import parse_uri, uri
from holdfast.regex import regex
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader
from holdfast.store.records.git_history import CommitAuthorship


class CommitSession(NamedTuple):
    """A session that made a commit: its URI, the host's id, the exchange, how sure that is
    (`score`) and why."""

    session: str
    host: str
    exchange: str
    score: float
    because: str


class SessionCommit(NamedTuple):
    """A commit that a session made: how sure that is (`score`), why, and whether it is not merged
    into HEAD (`astray`)."""

    uri: str
    subject: str
    time: str
    score: float
    because: str
    astray: bool


class CommitDetails(NamedTuple):
    """What is known of a commit besides its message. `reverts` and `reverted_by` are URIs, or bare
    hashes of commits that were not read. `files` is None if its changes were not read, as for a
    merge."""

    tags: tuple[str, ...] = ()
    astray: bool = False
    reverts: tuple[str, ...] = ()
    reverted_by: tuple[str, ...] = ()
    files: tuple[FileChange, ...] | None = None
    diff: str = ""
    made_by: tuple[CommitSession, ...] = ()


def commit_details(reader: Reader, commit: Commit) -> CommitDetails:
    """The details of a commit."""
    bank, id = commit.bank, commit.id
    patch = reader.git.patch(bank, id)
    makers = (_maker(reader, made) for made in reader.git.authorship(bank, commit=id))
    return CommitDetails(
        tags=tuple(tag.name for tag in reader.git.tags(bank, id)),
        astray=bool(reader.git.unmerged_commits(bank, [id])),
        reverts=tuple(_named(reader, bank, name) for name in reader.git.reverts(bank, id)),
        reverted_by=tuple(_named(reader, bank, name) for name in reader.git.reverted_by(bank, id)),
        files=patch.changes if patch else None,
        diff=patch.diff if patch else "",
        made_by=tuple(maker for maker in makers if maker is not None),
    )


def commits_of(reader: Reader, record: Record) -> tuple[SessionCommit, ...]:
    """The commits that a session or an exchange made, the earliest first."""
    if not isinstance(record, Session | Digest | Exchange):
        return ()
    session = record.id if isinstance(record, Session) else record.session
    made = {one.commit: one for one in reader.git.authorship(record.bank, session=session)}
    if isinstance(record, Exchange):
        made = {id: one for id, one in made.items() if one.exchange == record.id}
    lost = reader.git.unmerged_commits(record.bank, list(made))
    found = (reader.records.find(record.bank, "commit", id, 1) for id in made)
    commits = [commit for some in found for commit in some if isinstance(commit, Commit)]
    return tuple(
        SessionCommit(
            *(uri("commit", c.id), c.subject, c.time),
            *(made[c.id].score, made[c.id].because, c.id in lost),
        )
        for c in sorted(commits, key=lambda c: (c.time, c.id))
    )


def _maker(reader: Reader, made: CommitAuthorship) -> CommitSession | None:
    """The session of an authorship; None if it was forgotten."""
    for session in reader.records.find(made.bank, "session", made.session, 1):
        if isinstance(session, Session) and session.id == made.session:
            there = (
                reader.records.find(made.bank, "exchange", made.exchange, 1)
                if made.exchange
                else []
            )
            exchange = uri("exchange", made.exchange) if there else ""
            name = uri("session", session.id)
            return CommitSession(name, session.host, exchange, made.score, made.because)
    return None


def _named(reader: Reader, bank: str, name: str) -> str:
    found = reader.records.find(bank, "commit", name, 2)
    return uri("commit", found[0].id) if len(found) == 1 else name


_NUMBER = regex(r"(?<![\w/#&])#(\d{1,9})\b")
_CLOSING = regex(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+#(\d{1,9})\b", re.IGNORECASE)
_MOST_COMMITS = 250


def threads_of_commit(reader: Reader, commit: Commit) -> list[Thread]:
    """The pull requests and issues of a commit, pull requests first."""
    found: list[Thread] = [*reader.forge.pulls_with_commit(commit.bank, commit.id)]
    numbers = (*_NUMBER.findall(commit.subject), *_CLOSING.findall(commit.body))
    for number in dict.fromkeys(int(one) for one in numbers):
        found += [
            one for one in reader.forge.threads_by_number(commit.bank, number) if one not in found
        ]
    return sorted(found, key=lambda one: isinstance(one, Issue))


def names_above(reader: Reader, record: Commit | Pull | Issue | Remark) -> tuple[str, ...]:
    """The URIs of the threads and commits that a record belongs to."""
    if isinstance(record, Remark):
        return (record.thread,)
    if isinstance(record, Commit):
        return tuple(_uri(thread) for thread in threads_of_commit(reader, record))
    if isinstance(record, Pull):
        fixed = [
            one for n in record.fixes for one in reader.forge.threads_by_number(record.bank, n)
        ]
        return tuple(_uri(one) for one in fixed if one.repo == record.repo and one != record)
    pulls = [
        p for p in reader.forge.pulls_fixing(record.bank, record.number) if p.repo == record.repo
    ]
    commits = reader.forge.commits_mentioning(record.bank, record.number)
    return (*map(_uri, pulls), *(uri("commit", id) for id in commits))


def records_below(reader: Reader, record: Pull | Issue) -> Iterator[Record]:
    """The remarks of a thread, then the known commits of a pull request."""
    yield from reader.forge.remarks(record.bank, _uri(record))
    if isinstance(record, Pull):
        for id in dict.fromkeys((*record.commits[:_MOST_COMMITS], record.merge)):
            found = reader.records.find(record.bank, "commit", id, 1) if id else []
            yield from (one for one in found if one.id == id)


def web_address(reader: Reader, bank: str, word: str, id: str) -> str:
    """The URL of a pull request, an issue or a remark on its forge; else its page here."""
    found = [one for one in reader.records.find(bank, word, id, 1) if one.id == id]
    record = found[0] if found else None
    if not isinstance(record, Pull | Issue | Remark):
        return "/repos"
    if record.url:
        return record.url
    named = parse_uri(record.thread) if isinstance(record, Remark) else parse_uri(_uri(record))
    return f"/repos?{named.kind}={named.id.partition('@')[0]}" if named else "/repos"


def _uri(thread: Thread) -> str:
    return uri("pull" if isinstance(thread, Pull) else "issue", thread.id)
