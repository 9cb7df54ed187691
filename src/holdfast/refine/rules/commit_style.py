"""Patterns in how commits are written: conventions that everybody follows and nobody states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.model.ids import content_id
from holdfast.model.knowledge import Pattern
from holdfast.model.team import Commit
from holdfast.model.trust import least_trusted
from holdfast.model.uris import uri
from holdfast.refine.rules.patterns import pattern_confidence
from holdfast.regex import regex

DOMAIN = "commits"


class CommitStyleLimits(NamedTuple):
    """When a style of commits is a pattern. docs/rules.md calls it "nearly all commits"."""

    max_commits: int = 60  # the latest ones; an older style does not count
    min_commits: int = 20  # fewer commits show no style
    min_share: float = 0.8  # of the commits must follow it; the rest are exceptions
    max_evidence: int = 8  # commits that a pattern names


_LIMITS = CommitStyleLimits()
_MERGE = regex(r"^(?:Merge (?:branch|pull request|remote|tag)|Revert \")")
_CONVENTIONAL = regex(r"^(feat|fix|docs|chore|refactor|test|ci|build|perf|style)(\([^)]+\))?!?: \S")
_TICKET = regex(r"^\[?([A-Z][A-Z0-9]{1,9})-\d+\]?[:\s]")
_SIGNED_OFF = regex(r"^Signed-off-by: .+@.+$", re.MULTILINE)


def commit_patterns(bank: str, commits: Sequence[Commit]) -> Iterator[Pattern]:
    """The styles that nearly all of the latest commits follow."""
    latest = [c for c in sorted(commits, key=lambda c: c.time) if not _MERGE.match(c.subject)]
    latest = latest[-_LIMITS.max_commits :]
    if len(latest) < _LIMITS.min_commits:
        return
    needed = _LIMITS.min_share * len(latest)
    conventional = [c for c in latest if _CONVENTIONAL.match(c.subject)]
    if len(conventional) >= needed:
        scoped = sum(1 for c in conventional if "(" in c.subject.partition(":")[0])
        form = "`type(scope): subject`" if 2 * scoped > len(conventional) else "`type: subject`"
        yield _pattern(bank, f"Commit subjects follow Conventional Commits: {form}.", conventional)
    tickets = [(c, found.group(1)) for c in latest if (found := _TICKET.match(c.subject))]
    keys = {key for _, key in tickets}
    if len(tickets) >= needed and len(keys) == 1:
        text = f"Commit subjects start with their ticket, as in `{min(keys)}-123`."
        yield _pattern(bank, text, [c for c, _ in tickets])
    signed = [c for c in latest if _SIGNED_OFF.search(c.body)]
    if len(signed) >= needed:
        yield _pattern(bank, "Commits are signed off: `Signed-off-by: Name <mail>`.", signed)


def _pattern(bank: str, text: str, commits: Sequence[Commit]) -> Pattern:
    authors = tuple(sorted({c.author for c in commits if c.author}))
    evidence = commits[-_LIMITS.max_evidence :]
    return Pattern(
        bank,
        content_id("pattern", "commits", text),
        text,
        DOMAIN,
        pattern_confidence(len(commits), len(authors)),
        len(commits),
        least_trusted(c.trust for c in commits),
        tuple(f"commit {c.id}" for c in evidence),
        authors,
        tuple(uri("commit", c.id) for c in evidence),
        last=commits[-1].time,
    )
