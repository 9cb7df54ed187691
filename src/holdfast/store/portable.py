"""What of a memory can be carried away: every canonical table, as plain rows that any program can
read, without what is forgotten; and the way back in.

Not carried are what is made again (`MADE_AGAIN`) and what only one machine needs (`OF_A_MACHINE`).
Columns are spelled out, because they are a format that others rely on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

Row = dict[str, Any]


class Table(NamedTuple):
    """A table that is carried: its `group`, by which it is chosen; its columns, with those that
    hold JSON and those that hold words; and from when to when a row is, as SQL, "" for always."""

    name: str
    group: str
    columns: str
    json: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    first: str = "t.time"
    last: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its columns without the bank, which is told once."""
        return tuple(name for name in self.columns.split() if name != "bank")


def _of(table: str, key: str, time: str = "time", own: str = "id") -> str:
    return (
        f'(SELECT o."{time}" FROM "{table}" AS o WHERE o.bank = t.bank AND o."{own}" = t."{key}")'
    )


# In this order rows can be put back: what others refer to comes first.
TABLES = (
    Table("bank", "bank", "id name created background skepticism literalism empathy retention",
          words=("background",), first=""),
    Table("alias", "bank", "alias bank", first=""),
    Table("source", "sessions", "id path agent bank offset lines prefix stamp l1_bytes rewrites "
          "state problem read_at", words=("problem",), first=""),
    Table("ledger", "sessions", "source fate reason lines", first=""),
    Table("failure", "sessions", "source line offset reason excerpt reader", words=("excerpt",),
          first=""),
    Table("redaction", "sessions", "source kind count", first=""),
    Table("session", "sessions", "bank id host agent parent subagent title cwd branch version "
          "started ended source", words=("title", "cwd", "branch", "subagent"),
          first="t.started", last="t.ended"),
    Table("turn", "sessions", "bank id session seq time role trust text speaker branch tool target "
          "lines action result ok duration_ms call source line offset ref",
          words=("text", "speaker", "branch", "target", "lines", "action", "result"),
          first=_of("session", "session", "started"), last=_of("session", "session", "ended")),
    Table("summary", "sessions", "bank hash version kind record last_seq model time content "
          "problem", words=("content", "problem")),
    Table("injection", "sessions", "bank id session time kind characters records arrived use "
          "because", json=("records",), words=("because",)),
    Table("used", "sessions", "bank record session turn time"),
    Table("remembered", "memories", "bank id time who text trust", words=("text", "who")),
    Table("dimension", "memories", "bank id network confidence place why", words=("place", "why"),
          first=_of("remembered", "id")),
    Table("opinion", "memories", "bank id target aspect positive what why confidence trend status "
          "trust formed updated latest sessions favour against tension settled author",
          words=("target", "what", "why"), first="t.formed", last="t.updated"),
    Table("belief", "memories", "bank opinion number time confidence favour against note",
          first=_of("opinion", "opinion", "formed"), last=_of("opinion", "opinion", "updated")),
    Table("commit", "commits", "bank id time author email subject body files parents trust",
          json=("files", "parents"), words=("author", "email", "subject", "body", "files")),
    Table("patch", "commits", "bank id changes diff", json=("changes",),
          words=("diff",), first=_of("commit", "id")),
    Table("touch", "commits", "bank path time id fate other added removed blob"),
    Table("revert", "commits", "bank reverted id", first=_of("commit", "id")),
    Table("astray", "commits", "bank id", first=_of("commit", "id")),
    Table("tag", "commits", "bank name id time"),
    Table("branch", "commits", "bank name id", first=""),
    Table("pull", "forge", "bank id number time author title body state url trust repo updated "
          "closed labels files commits merge base branch fixes bot",
          json=("labels", "files", "commits", "fixes"),
          words=("author", "title", "body", "labels", "files", "base", "branch", "url")),
    Table("issue", "forge", "bank id number time author title body state url trust repo updated "
          "closed labels bot", json=("labels",),
          words=("author", "title", "body", "labels", "url")),
    Table("remark", "forge", "bank id thread kind time author text state path line url trust "
          "updated bot", words=("author", "text", "path", "url")),
    Table("pulled", "forge", "bank commit id", first=_of("pull", "id")),
    Table("login", "forge", "bank login name email", words=("login", "name", "email"), first=""),
    Table("taking", "shared", "bank id place heads time", json=("heads",)),
    Table("shared", "shared", "bank id version kind text author email shared origin time trust "
          "lineage files note gone taking scope", json=("files",),
          words=("text", "author", "email", "files", "note"), first="t.shared"),
    Table("sent", "shared", "bank id", first=""),
    Table("importing", "imported", "bank id program place time kinds skipped failed redacted",
          json=("kinds", "skipped", "failed"), words=("place",)),
    Table("imported", "imported", "bank id version program kind title text time origin session "
          "files labels trust taken importing", json=("files", "labels"),
          words=("title", "text", "files", "labels"), first="t.taken"),
    Table("curation", "decisions", "seq bank time action target text who session",
          words=("text", "who")),
    Table("erased", "decisions", "bank mark", first=""),
    Table("withheld", "decisions", "bank id session", first=""),
    Table("refusal", "decisions", "bank seq target text why time who evidence",
          json=("evidence",), words=("text", "why")),
    Table("concept_anchor", "decisions", "bank concept place kind id", first=""),
    Table("advice", "decisions", "bank review time model text", words=("text",)),
    Table("call", "costs", "bank id time session operation service model tokens_in tokens_out "
          "tokens_cached usd ms attempt outcome problem", words=("problem",)),
)  # fmt: skip
GROUPS = tuple(dict.fromkeys(table.group for table in TABLES if table.group != "bank"))
MADE_AGAIN = (
    "authored", "bearer", "bearing", "claim", "concept", "concept_member", "curated", "digest",
    "dropped", "entity", "exchange", "fact", "hidden", "label", "labelled", "life", "made",
    "mention", "node", "passage", "pattern", "proposal", "reached", "retained", "review", "rule",
    "rule_file", "same", "sighting", "spelling", "stale", "stance", "statement", "unshown",
    "vector", "changed",
)  # fmt: skip
OF_A_MACHINE = ("api_key", "chore", "followed", "parcel", "pause", "repository")


class Chosen(NamedTuple):
    """What is carried away: which groups (none: all), and of which time, both ends included."""

    groups: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


class PortableQuestions(Protocol):
    """What can be asked."""

    def carried(self, bank: str, table: Table, chosen: Chosen) -> Iterator[Row]:
        """The rows of a table, in a fixed order, without what is forgotten: of a turn only its
        place is told, of a decision about it only that there was one."""
        ...


class PortableWays(Protocol):
    """The ways in."""

    def put_carried(self, bank: str, table: Table, rows: Iterable[Row]) -> int:
        """Put rows back that are not there yet; returns how many were new. Their sessions become
        stale. Sources and decisions have other ways, since they are numbered anew."""
        ...

    def put_carried_source(self, bank: str, table: Table, row: Row) -> int:
        """Put a source back, with a number of its own, which is returned."""
        ...

    def known_decisions(self, bank: str) -> dict[tuple[str, ...], int]:
        """The decisions of a bank by time, action, target, text and who, with their numbers."""
        ...
