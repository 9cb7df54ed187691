"""The tables that are carried away: all that is canonical, and what of them is shown.

Not carried are what is made again (`MADE_AGAIN`) and what only one machine needs (`OF_A_MACHINE`).
Columns are spelled out, because they are a format that others rely on.
"""

from __future__ import annotations

from holdfast.store.protocol.export import Table


def _of(table: str, key: str, time: str = "time", own: str = "id") -> str:
    return (
        f'(SELECT o."{time}" FROM "{table}" AS o WHERE o.bank = t.bank AND o."{own}" = t."{key}")'
    )


def _shown(kind: str, column: str = "id") -> str:
    return (
        "NOT EXISTS (SELECT 1 FROM hidden AS h WHERE h.bank = t.bank "
        f"AND h.kind = '{kind}' AND h.id = t.\"{column}\")"
    )


_SESSION_SHOWN = "t.session IN (SELECT s.id FROM seen_session AS s WHERE s.bank = t.bank)"
_SESSION_NOT_HIDDEN = _shown("session", "session")
_COMMIT = _shown("commit")
# What of each table is shown.
_WHERE = {
    "session": "t.id IN (SELECT s.id FROM seen_session AS s WHERE s.bank = t.bank)",
    "turn": _SESSION_SHOWN,
    "summary": "t.record IN (SELECT x.id FROM exchange AS x WHERE x.bank = t.bank AND NOT EXISTS "
    "(SELECT 1 FROM hidden AS h WHERE h.bank = x.bank AND h.session = x.session) "
    "UNION SELECT d.id FROM digest AS d WHERE d.bank = t.bank AND NOT EXISTS "
    "(SELECT 1 FROM hidden AS h WHERE h.bank = d.bank AND h.session = d.session))",
    "injection": _SESSION_NOT_HIDDEN,
    "used": _SESSION_NOT_HIDDEN,
    "call": _SESSION_NOT_HIDDEN,
    "remembered": _shown("memory"),
    "dimension": _shown("memory"),
    "opinion": _shown("memory"),
    "belief": _shown("memory", "opinion"),
    "commit": _COMMIT,
    "patch": _COMMIT,
    "touch": _COMMIT,
    "revert": f"{_COMMIT} AND {_shown('commit', 'reverted')}",
    "astray": _COMMIT,
    "tag": _COMMIT,
    "branch": _COMMIT,
    "pull": "t.id IN (SELECT s.id FROM seen_pull AS s WHERE s.bank = t.bank)",
    "issue": "t.id IN (SELECT s.id FROM seen_issue AS s WHERE s.bank = t.bank)",
    "remark": "t.id IN (SELECT s.id FROM seen_remark AS s WHERE s.bank = t.bank)",
    "pulled": "t.id IN (SELECT s.id FROM seen_pull AS s WHERE s.bank = t.bank) AND "
    + _shown("commit", "commit"),
    "taking": _shown("taking"),
    "shared": f"{_shown('shared')} AND {_shown('taking', 'taking')}",
    "importing": _shown("importing"),
    "imported": f"{_shown('imported')} AND {_shown('importing', 'importing')}",
    "withheld": f"t.kind = 'raw' AND {_SESSION_NOT_HIDDEN}",
    "advice": "t.review IN (SELECT r.id FROM review AS r WHERE r.bank = t.bank)",
}
_ORDER = {"turn": "session seq", "source": "path", "alias": "alias", "curation": "seq"}
_LIES_IN = {"withheld": "hidden"}
# In this order rows can be put back: what others refer to comes first.
_PLAIN = (
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
TABLES = tuple(
    table._replace(
        where=_WHERE.get(table.name, ""),
        order=_ORDER.get(table.name, ""),
        lies_in=_LIES_IN.get(table.name, ""),
    )
    for table in _PLAIN
)
GROUPS = tuple(dict.fromkeys(table.group for table in TABLES if table.group != "bank"))
MADE_AGAIN = (
    "authored", "bearer", "bearing", "claim", "concept", "concept_member", "curated", "digest",
    "dropped", "entity", "exchange", "fact", "hidden", "label", "labelled", "life", "made",
    "mention", "node", "passage", "pattern", "proposal", "reached", "retained", "review", "rule",
    "rule_file", "same", "sighting", "spelling", "stale", "stance", "statement", "unshown",
    "vector", "vector_count", "changed",
)  # fmt: skip
OF_A_MACHINE = ("api_key", "chore", "followed", "parcel", "pause", "repository")
