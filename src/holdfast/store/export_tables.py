"""The tables that an export contains: all canonical rows that are not hidden.

Not exported are derived tables (`DERIVED_TABLES`) and those that only one machine needs
(`LOCAL_TABLES`). Columns are spelled out, because they are a format that others rely on.
"""

from __future__ import annotations

from holdfast.store.records.exports import ExportTable as Table


def _time_in(table: str, key: str, time: str = "time", own: str = "id") -> str:
    return (
        f'(SELECT o."{time}" FROM "{table}" AS o WHERE o.bank = t.bank AND o."{own}" = t."{key}")'
    )


def _not_hidden(kind: str, column: str = "id") -> str:
    return (
        "NOT EXISTS (SELECT 1 FROM hidden_record AS h WHERE h.bank = t.bank "
        f"AND h.kind = '{kind}' AND h.id = t.\"{column}\")"
    )


_SESSION_VISIBLE = "t.session IN (SELECT s.id FROM visible_session AS s WHERE s.bank = t.bank)"
_SESSION_NOT_HIDDEN = _not_hidden("session", "session")
_COMMIT_NOT_HIDDEN = _not_hidden("commit")
# The condition, as SQL, under which a row is exported; tables that are not listed have none.
_CONDITIONS = {
    "session": "t.id IN (SELECT s.id FROM visible_session AS s WHERE s.bank = t.bank)",
    "turn": _SESSION_VISIBLE,
    "model_summary": "t.record IN (SELECT x.id FROM exchange AS x WHERE x.bank = t.bank "
    "AND NOT EXISTS "
    "(SELECT 1 FROM hidden_record AS h WHERE h.bank = x.bank AND h.session = x.session) "
    "UNION SELECT d.id FROM digest AS d WHERE d.bank = t.bank AND NOT EXISTS "
    "(SELECT 1 FROM hidden_record AS h WHERE h.bank = d.bank AND h.session = d.session))",
    "injection": _SESSION_NOT_HIDDEN,
    "record_use": _SESSION_NOT_HIDDEN,
    "model_call": _SESSION_NOT_HIDDEN,
    "remembered_memory": _not_hidden("memory"),
    "memory_dimension": _not_hidden("memory"),
    "opinion": _not_hidden("memory"),
    "opinion_revision": _not_hidden("memory", "opinion"),
    "commit": _COMMIT_NOT_HIDDEN,
    "commit_patch": _COMMIT_NOT_HIDDEN,
    "file_change": _COMMIT_NOT_HIDDEN,
    "commit_revert": f"{_COMMIT_NOT_HIDDEN} AND {_not_hidden('commit', 'reverted')}",
    "unmerged_commit": _COMMIT_NOT_HIDDEN,
    "git_tag": _COMMIT_NOT_HIDDEN,
    "git_branch": _COMMIT_NOT_HIDDEN,
    "pull": "t.id IN (SELECT s.id FROM visible_pull AS s WHERE s.bank = t.bank)",
    "issue": "t.id IN (SELECT s.id FROM visible_issue AS s WHERE s.bank = t.bank)",
    "remark": "t.id IN (SELECT s.id FROM visible_remark AS s WHERE s.bank = t.bank)",
    "pull_commit": "t.pull IN (SELECT s.id FROM visible_pull AS s WHERE s.bank = t.bank) AND "
    + _not_hidden("commit", "commit"),
    "share_import": _not_hidden("taking"),
    "shared_record": f"{_not_hidden('shared')} AND {_not_hidden('taking', 'share_import')}",
    "import_batch": _not_hidden("importing"),
    "imported_record": f"{_not_hidden('imported')} AND {_not_hidden('importing', 'import_batch')}",
    "withheld_turn": f"t.kind = 'raw' AND {_SESSION_NOT_HIDDEN}",
}
_ORDER = {"turn": "session seq", "source": "path", "bank_alias": "alias", "curation": "seq"}
_STORED_IN = {"withheld_turn": "hidden_record"}
# Rows can be restored in this order: tables that others refer to come first.
_COLUMNS = (
    Table("bank", "bank", "id name created background skepticism literalism empathy retention",
          words=("background",), first=""),
    Table("bank_alias", "bank", "alias bank", first=""),
    Table("source", "sessions", "id path agent bank offset lines prefix stamp l1_bytes rewrites "
          "state problem read_at", words=("problem",), first=""),
    Table("ledger", "sessions", "source fate reason lines", first=""),
    Table("failed_line", "sessions", "source line offset reason excerpt reader", words=("excerpt",),
          first=""),
    Table("redaction", "sessions", "source kind count", first=""),
    Table("session", "sessions", "bank id host agent parent subagent title cwd branch version "
          "started ended source", words=("title", "cwd", "branch", "subagent"),
          first="t.started", last="t.ended"),
    Table("turn", "sessions", "bank id session seq time role trust text speaker branch tool target "
          "lines action result ok duration_ms call source line offset ref",
          words=("text", "speaker", "branch", "target", "lines", "action", "result"),
          first=_time_in("session", "session", "started"),
          last=_time_in("session", "session", "ended")),
    Table("model_summary", "sessions", "bank hash version kind record last_seq model time content "
          "problem", words=("content", "problem")),
    Table("injection", "sessions", "bank id session time kind characters records arrived use "
          "because", json=("records",), words=("because",)),
    Table("record_use", "sessions", "bank record session turn time"),
    Table("remembered_memory", "memories", "bank id time who text trust", words=("text", "who")),
    Table("memory_dimension", "memories", "bank id network confidence place why",
          words=("place", "why"),
          first=_time_in("remembered_memory", "id")),
    Table("opinion", "memories", "bank id what why confidence trend status trust formed "
          "updated latest sessions favour against author",
          words=("what", "why"), first="t.formed", last="t.updated"),
    Table("opinion_revision", "memories", "bank opinion number time confidence favour against note",
          first=_time_in("opinion", "opinion", "formed"),
          last=_time_in("opinion", "opinion", "updated")),
    Table("commit", "commits", "bank id time author email subject body files parents trust",
          json=("files", "parents"), words=("author", "email", "subject", "body", "files")),
    Table("commit_patch", "commits", "bank id changes diff", json=("changes",),
          words=("diff",), first=_time_in("commit", "id")),
    Table("file_change", "commits", "bank path time id change other_path added removed blob"),
    Table("commit_revert", "commits", "bank reverted id", first=_time_in("commit", "id")),
    Table("unmerged_commit", "commits", "bank id", first=_time_in("commit", "id")),
    Table("git_tag", "commits", "bank name id time"),
    Table("git_branch", "commits", "bank name id", first=""),
    Table("pull", "forge", "bank id number time author title body state url trust repo updated "
          "closed labels files commits merge base branch fixes bot",
          json=("labels", "files", "commits", "fixes"),
          words=("author", "title", "body", "labels", "files", "base", "branch", "url")),
    Table("issue", "forge", "bank id number time author title body state url trust repo updated "
          "closed labels bot", json=("labels",),
          words=("author", "title", "body", "labels", "url")),
    Table("remark", "forge", "bank id thread kind time author text state path line url trust "
          "updated bot", words=("author", "text", "path", "url")),
    Table("pull_commit", "forge", "bank commit pull", first=_time_in("pull", "pull")),
    Table("forge_login", "forge", "bank login name email", words=("login", "name", "email"),
          first=""),
    Table("share_import", "shared", "bank id place heads time", json=("heads",)),
    Table("shared_record", "shared", "bank id version kind text author email shared origin time "
          "trust lineage files note gone share_import scope", json=("files",),
          words=("text", "author", "email", "files", "note"), first="t.shared"),
    Table("sent_share", "shared", "bank id", first=""),
    Table("import_batch", "imported", "bank id program place time kinds skipped failed redacted",
          json=("kinds", "skipped", "failed"), words=("place",)),
    Table("imported_record", "imported", "bank id version program kind title text time origin "
          "session files labels trust taken import_batch", json=("files", "labels"),
          words=("title", "text", "files", "labels"), first="t.taken"),
    Table("curation", "decisions", "seq bank time action target text who session",
          words=("text", "who")),
    Table("erasure_mark", "decisions", "bank mark", first=""),
    Table("withheld_turn", "decisions", "bank id session", first=""),
    Table("refused_proposal", "decisions", "bank seq target text why time who evidence",
          json=("evidence",), words=("text", "why")),
    Table("concept_anchor", "decisions", "bank concept position kind id", first=""),
    Table("model_call", "costs", "bank id time session operation service model tokens_in "
          "tokens_out tokens_cached usd ms attempt outcome problem", words=("problem",)),
)  # fmt: skip
TABLES = tuple(
    table._replace(
        where=_CONDITIONS.get(table.name, ""),
        order=_ORDER.get(table.name, ""),
        stored_in=_STORED_IN.get(table.name, ""),
    )
    for table in _COLUMNS
)
GROUPS = tuple(dict.fromkeys(table.group for table in TABLES if table.group != "bank"))
DERIVED_TABLES = (
    "commit_session", "record_labels", "fact_evidence", "claim", "concept", "concept_member",
    "curation_state", "digest", "dropped_claim_count", "ended_statement", "entity", "exchange",
    "fact", "hidden_record", "label", "labelled_record", "status_period", "session_derivation",
    "entity_mention", "graph_node", "passage", "pattern", "proposal", "stage_progress",
    "retained_memory", "review", "rule", "rule_file", "spelling_equivalence", "memory_occurrence",
    "entity_spelling", "stale_session", "statement", "stale_memory", "vector",
    "vector_count", "session_change", "unindexed_parts",
)  # fmt: skip
LOCAL_TABLES = (
    "api_key",
    "bank_merge_row",
    "failed_task",
    "followed_repository",
    "outbox_item",
    "service_pause",
    "repository",
)
