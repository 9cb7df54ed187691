"""Which pull requests and issues a commit belongs to, and the other way round.

A commit belongs to the pull requests that list it or were merged as it, and to the numbers in its
message: `(#12)`, `Merge pull request #12`, `Fixes #7`. Numbers are looked up in the commit's bank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.model.forge import Issue, Pull, Remark, Thread
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri, uri
from holdfast.regex import regex
from holdfast.store.protocol import Reader, Record

_NUMBER = regex(r"(?<![\w/#&])#(\d{1,9})\b")
_CLOSING = regex(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+#(\d{1,9})\b", re.IGNORECASE)
_MOST_COMMITS = 250


def threads_of_commit(reader: Reader, commit: Commit) -> list[Thread]:
    """The pull requests and issues of a commit, pull requests first."""
    found: list[Thread] = [*reader.pulls_with_commit(commit.bank, commit.id)]
    numbers = (*_NUMBER.findall(commit.subject), *_CLOSING.findall(commit.body))
    for number in dict.fromkeys(int(one) for one in numbers):
        found += [one for one in reader.threads_by_number(commit.bank, number) if one not in found]
    return sorted(found, key=lambda one: isinstance(one, Issue))


def names_above(reader: Reader, record: Commit | Pull | Issue | Remark) -> tuple[str, ...]:
    """The URIs of the threads and commits that a record belongs to."""
    if isinstance(record, Remark):
        return (record.thread,)
    if isinstance(record, Commit):
        return tuple(_uri(thread) for thread in threads_of_commit(reader, record))
    if isinstance(record, Pull):
        fixed = [one for n in record.fixes for one in reader.threads_by_number(record.bank, n)]
        return tuple(_uri(one) for one in fixed if one.repo == record.repo and one != record)
    pulls = [p for p in reader.pulls_fixing(record.bank, record.number) if p.repo == record.repo]
    commits = reader.commits_mentioning(record.bank, record.number)
    return (*map(_uri, pulls), *(uri("commit", id) for id in commits))


def records_below(reader: Reader, record: Pull | Issue) -> Iterator[Record]:
    """The remarks of a thread, then the known commits of a pull request."""
    yield from reader.remarks(record.bank, _uri(record))
    if isinstance(record, Pull):
        for id in dict.fromkeys((*record.commits[:_MOST_COMMITS], record.merge)):
            found = reader.find(record.bank, "commit", id, 1) if id else []
            yield from (one for one in found if one.id == id)


def web_address(reader: Reader, bank: str, word: str, id: str) -> str:
    """The URL of a pull request, an issue or a remark on its forge; else its page here."""
    found = [one for one in reader.find(bank, word, id, 1) if one.id == id]
    record = found[0] if found else None
    if not isinstance(record, Pull | Issue | Remark):
        return "/repos"
    if record.url:
        return record.url
    named = parse_uri(record.thread) if isinstance(record, Remark) else parse_uri(_uri(record))
    return f"/repos?{named.kind}={named.id.partition('@')[0]}" if named else "/repos"


def _uri(thread: Thread) -> str:
    return uri("pull" if isinstance(thread, Pull) else "issue", thread.id)
