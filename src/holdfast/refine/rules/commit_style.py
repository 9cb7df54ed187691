"""Conventions that show in how commits are written: nobody states them, everybody follows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.model.ids import content_id
from holdfast.model.knowledge import Pattern
from holdfast.model.team import Commit
from holdfast.model.trust import least_trusted
from holdfast.model.uris import uri
from holdfast.refine.rules.patterns import pattern_confidence

DOMAIN = "commits"
_LOOKED_AT = 60
_FEWEST = 20
_SHARE = 0.8
_NAMED = 8
_MERGE = re.compile(r"^(?:Merge (?:branch|pull request|remote|tag)|Revert \")")
_TYPED = re.compile(r"^(feat|fix|docs|chore|refactor|test|ci|build|perf|style)(\([^)]+\))?!?: \S")
_TICKET = re.compile(r"^\[?([A-Z][A-Z0-9]{1,9})-\d+\]?[:\s]")
_SIGNED = re.compile(r"^Signed-off-by: .+@.+$", re.MULTILINE)


def commit_patterns(bank: str, commits: Sequence[Commit]) -> Iterator[Pattern]:
    """The ways that nearly all of the latest commits are written in."""
    own = [c for c in sorted(commits, key=lambda c: c.time) if not _MERGE.match(c.subject)]
    own = own[-_LOOKED_AT:]
    if len(own) < _FEWEST:
        return
    typed = [c for c in own if _TYPED.match(c.subject)]
    if len(typed) >= _SHARE * len(own):
        scoped = sum(1 for c in typed if "(" in c.subject.partition(":")[0])
        form = "`type(scope): subject`" if 2 * scoped > len(typed) else "`type: subject`"
        yield _pattern(bank, f"Commit subjects follow Conventional Commits: {form}.", typed)
    tickets = [(c, found.group(1)) for c in own if (found := _TICKET.match(c.subject))]
    keys = {key for _, key in tickets}
    if len(tickets) >= _SHARE * len(own) and len(keys) == 1:
        text = f"Commit subjects start with their ticket, as in `{min(keys)}-123`."
        yield _pattern(bank, text, [c for c, _ in tickets])
    signed = [c for c in own if _SIGNED.search(c.body)]
    if len(signed) >= _SHARE * len(own):
        yield _pattern(bank, "Commits are signed off: `Signed-off-by: Name <mail>`.", signed)


def _pattern(bank: str, text: str, commits: Sequence[Commit]) -> Pattern:
    authors = tuple(sorted({c.author for c in commits if c.author}))
    return Pattern(
        bank,
        content_id("pattern", "commits", text),
        text,
        DOMAIN,
        pattern_confidence(len(commits), len(authors)),
        len(commits),
        least_trusted(c.trust for c in commits),
        tuple(f"commit {c.id}" for c in commits[-_NAMED:]),
        authors,
        tuple(uri("commit", c.id) for c in commits[-_NAMED:]),
        last=commits[-1].time,
    )
