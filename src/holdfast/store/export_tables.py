"""The tables that are carried away: all that is canonical, and what of them is shown.

Not carried are what is made again (`MADE_AGAIN`) and what only one machine needs (`OF_A_MACHINE`).
Columns are spelled out, because they are a format that others rely on.
"""

from __future__ import annotations

from holdfast.store.protocol.export import ExportTable


def _of(table: str, key: str, time: str = "time", own: str = "id") -> str:
    return (
        f'(SELECT o."{time}" FROM "{table}" AS o WHERE o.bank = t.bank AND o."{own}" = t."{key}")'
    )


def _shown(kind: str, column: str = "id") -> str:
    return (
        "NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = t.bank "
        f"AND h.kind = '{kind}' AND h.id = t.\"{column}\")"
    )


_SESSION_SHOWN = "t.session IN (SELECT s.id FROM visible_session AS s WHERE s.bank = t.bank)"
_SESSION_NOT_HIDDEN = _shown("session", "session")
_COMMIT = _shown("commit")
# What of each table is shown.
_WHERE = {
    "session": "t.id IN (SELECT s.id FROM visible_session AS s WHERE s.bank = t.bank)",
    "turn": _SESSION_SHOWN,
    "model_summary": "t.record IN (SELECT x.id FROM exchange AS x WHERE x.bank = t.bank "
    "AND NOT EXISTS "
    "(SELECT 1 FROM hidden_record AS h WHERE h.bank = x.bank AND h.session = x.session) "
    "UNION SELECT d.id FROM digest AS d WHERE d.bank = t.bank AND NOT EXISTS "
    "(SELECT 1 FROM hidden_record AS h WHERE h.bank = d.bank AND h.session = d.session))",
    "injection": _SESSION_NOT_HIDDEN,
    "record_use": _SESSION_NOT_HIDDEN,
    "model_call": _SESSION_NOT_HIDDEN,
    "remembered_memory": _shown("memory"),
    "memory_dimension": _shown("memory"),
    "opinion": _shown("memory"),
    "opinion_revision": _shown("memory", "opinion"),
    "commit": _COMMIT,
    "commit_patch": _COMMIT,
    "file_change": _COMMIT,
    "commit_revert": f"{_COMMIT} AND {_shown('commit', 'reverted')}",
    "unmerged_commit": _COMMIT,
    "git_tag": _COMMIT,
    "git_branch": _COMMIT,
    "pull": "t.id IN (SELECT s.id FROM visible_pull AS s WHERE s.bank = t.bank)",
    "issue": "t.id IN (SELECT s.id FROM visible_issue AS s WHERE s.bank = t.bank)",
    "remark": "t.id IN (SELECT s.id FROM visible_remark AS s WHERE s.bank = t.bank)",
    "pull_commit": "t.pull IN (SELECT s.id FROM visible_pull AS s WHERE s.bank = t.bank) AND "
    + _shown("commit", "commit"),
    "share_import": _shown("taking"),
    "shared_record": f"{_shown('shared')} AND {_shown('taking', 'share_import')}",
    "import_batch": _shown("importing"),
    "imported_record": f"{_shown('imported')} AND {_shown('importing', 'import_batch')}",
    "withheld_turn": f"t.kind = 'raw' AND {_SESSION_NOT_HIDDEN}",
    "review_advice": "t.review IN (SELECT r.id FROM review AS r WHERE r.bank = t.bank)",
}
_ORDER = {"turn": "session seq", "source": "path", "bank_alias": "alias", "curation": "seq"}
_LIES_IN = {"withheld_turn": "hidden_record"}
# In this order rows can be put back: what others refer to comes first.
_PLAIN = (
    ExportTable("bank", "bank", "id name created background skepticism literalism empathy retention",
          words=("background",), first=""),
    ExportTable("bank_alias", "bank", "alias bank", first=""),
    ExportTable("source", "sessions", "id path agent bank offset lines prefix stamp l1_bytes rewrites "
          "state problem read_at", words=("problem",), first=""),
    ExportTable("ledger", "sessions", "source fate reason lines", first=""),
    ExportTable("failed_line", "sessions", "source line offset reason excerpt reader", words=("excerpt",),
          first=""),
    ExportTable("redaction", "sessions", "source kind count", first=""),
    ExportTable("session", "sessions", "bank id host agent parent subagent title cwd branch version "
          "started ended source", words=("title", "cwd", "branch", "subagent"),
          first="t.started", last="t.ended"),
    ExportTable("turn", "sessions", "bank id session seq time role trust text speaker branch tool target "
          "lines action result ok duration_ms call source line offset ref",
          words=("text", "speaker", "branch", "target", "lines", "action", "result"),
          first=_of("session", "session", "started"), last=_of("session", "session", "ended")),
    ExportTable("model_summary", "sessions", "bank hash version kind record last_seq model time content "
          "problem", words=("content", "problem")),
    ExportTable("injection", "sessions", "bank id session time kind characters records arrived use "
          "because", json=("records",), words=("because",)),
    ExportTable("record_use", "sessions", "bank record session turn time"),
    ExportTable("remembered_memory", "memories", "bank id time who text trust", words=("text", "who")),
    ExportTable("memory_dimension", "memories", "bank id network confidence place why",
          words=("place", "why"),
          first=_of("remembered_memory", "id")),
    ExportTable("opinion", "memories", "bank id target aspect positive what why confidence trend status "
          "trust formed updated latest sessions favour against tension settled author",
          words=("target", "what", "why"), first="t.formed", last="t.updated"),
    ExportTable("opinion_revision", "memories", "bank opinion number time confidence favour against note",
          first=_of("opinion", "opinion", "formed"), last=_of("opinion", "opinion", "updated")),
    ExportTable("commit", "commits", "bank id time author email subject body files parents trust",
          json=("files", "parents"), words=("author", "email", "subject", "body", "files")),
    ExportTable("commit_patch", "commits", "bank id changes diff", json=("changes",),
          words=("diff",), first=_of("commit", "id")),
    ExportTable("file_change", "commits", "bank path time id change other_path added removed blob"),
    ExportTable("commit_revert", "commits", "bank reverted id", first=_of("commit", "id")),
    ExportTable("unmerged_commit", "commits", "bank id", first=_of("commit", "id")),
    ExportTable("git_tag", "commits", "bank name id time"),
    ExportTable("git_branch", "commits", "bank name id", first=""),
    ExportTable("pull", "forge", "bank id number time author title body state url trust repo updated "
          "closed labels files commits merge base branch fixes bot",
          json=("labels", "files", "commits", "fixes"),
          words=("author", "title", "body", "labels", "files", "base", "branch", "url")),
    ExportTable("issue", "forge", "bank id number time author title body state url trust repo updated "
          "closed labels bot", json=("labels",),
          words=("author", "title", "body", "labels", "url")),
    ExportTable("remark", "forge", "bank id thread kind time author text state path line url trust "
          "updated bot", words=("author", "text", "path", "url")),
    ExportTable("pull_commit", "forge", "bank commit pull", first=_of("pull", "pull")),
    ExportTable("forge_login", "forge", "bank login name email", words=("login", "name", "email"),
          first=""),
    ExportTable("share_import", "shared", "bank id place heads time", json=("heads",)),
    ExportTable("shared_record", "shared", "bank id version kind text author email shared origin time "
          "trust lineage files note gone share_import scope", json=("files",),
          words=("text", "author", "email", "files", "note"), first="t.shared"),
    ExportTable("sent_share", "shared", "bank id", first=""),
    ExportTable("import_batch", "imported", "bank id program place time kinds skipped failed redacted",
          json=("kinds", "skipped", "failed"), words=("place",)),
    ExportTable("imported_record", "imported", "bank id version program kind title text time origin "
          "session files labels trust taken import_batch", json=("files", "labels"),
          words=("title", "text", "files", "labels"), first="t.taken"),
    ExportTable("curation", "decisions", "seq bank time action target text who session",
          words=("text", "who")),
    ExportTable("erasure_mark", "decisions", "bank mark", first=""),
    ExportTable("withheld_turn", "decisions", "bank id session", first=""),
    ExportTable("refused_proposal", "decisions", "bank seq target text why time who evidence",
          json=("evidence",), words=("text", "why")),
    ExportTable("concept_anchor", "decisions", "bank concept position kind id", first=""),
    ExportTable("review_advice", "decisions", "bank review time model text", words=("text",)),
    ExportTable("model_call", "costs", "bank id time session operation service model tokens_in "
          "tokens_out tokens_cached usd ms attempt outcome problem", words=("problem",)),
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
    "commit_session", "record_labels", "fact_evidence", "claim", "concept", "concept_member",
    "curation_state", "digest", "dropped_claim_count", "entity", "exchange", "fact",
    "hidden_record", "label", "labelled_record", "status_period", "session_derivation",
    "entity_mention", "graph_node", "passage", "pattern", "proposal", "stage_progress",
    "retained_memory", "review", "rule", "rule_file", "spelling_equivalence", "memory_occurrence",
    "entity_spelling", "stale_session", "stance", "statement", "stale_memory", "vector",
    "vector_count", "session_change",
)  # fmt: skip
OF_A_MACHINE = (
    "api_key",
    "failed_task",
    "followed_repository",
    "outbox_item",
    "service_pause",
    "repository",
)
