"""Where the tables of Holdfast 0.1.0 go: its names for tables and columns, and those that they have
in `migrations/001_baseline.sql`.

Only what cannot be made again is listed, and what is made when a record is written and never later:
the passages and labels of records that belong to no session, vectors, and which records are hidden.
"""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple


class OldTable(NamedTuple):
    """A table of 0.1.0 and its name now. `renamed` has the new names of columns, by the old ones;
    the others are called the same. Only rows that meet the condition `where` are copied."""

    name: str
    now: str = ""
    renamed: str = ""  # "old>new old>new"
    where: str = "true"

    @property
    def target(self) -> str:
        """The name of the table now."""
        return self.now or self.name

    def new_name(self, column: str) -> str:
        """The name of a column now."""
        pairs = dict(pair.split(">") for pair in self.renamed.split())
        return pairs.get(column, column)


# Records that are in no session. Their passages are written with them, and by no stage.
_WRITTEN_ONCE = "kind IN ('commit', 'pull', 'issue', 'remark', 'shared', 'imported')"
_KEPT_PASSAGES = (
    f"{_WRITTEN_ONCE} OR kind = 'memory' AND EXISTS (SELECT 1 FROM old.remembered AS r "
    "WHERE r.bank = t.bank AND r.id = t.id) OR kind = 'memory' AND EXISTS "
    "(SELECT 1 FROM old.opinion AS o WHERE o.bank = t.bank AND o.id = t.id)"
)
_KEPT_LABELS = "kind IN ('commit', 'pull')"

# In this order: tables that others refer to come first.
OLD_TABLES = (
    OldTable("bank"),
    OldTable("alias", "bank_alias"),
    OldTable("source"),
    OldTable("ledger"),
    OldTable("failure", "failed_line"),
    OldTable("redaction"),
    OldTable("session"),
    OldTable("turn"),
    OldTable("injection"),
    OldTable("used", "record_use"),
    OldTable("call", "model_call"),
    OldTable("pause", "service_pause"),
    OldTable("summary", "model_summary"),
    OldTable("remembered", "remembered_memory"),
    OldTable("dimension", "memory_dimension"),
    OldTable("opinion"),
    OldTable("belief", "opinion_revision"),
    OldTable("concept_anchor", renamed="place>position"),
    OldTable("refusal", "refused_proposal"),
    OldTable("commit"),
    OldTable("patch", "commit_patch"),
    OldTable("touch", "file_change", "fate>change other>other_path"),
    OldTable("revert", "commit_revert"),
    OldTable("astray", "unmerged_commit"),
    OldTable("tag", "git_tag"),
    OldTable("branch", "git_branch"),
    OldTable("repository"),
    OldTable("pull"),
    OldTable("issue"),
    OldTable("remark"),
    OldTable("pulled", "pull_commit", "id>pull"),
    OldTable("login", "forge_login"),
    OldTable("followed", "followed_repository"),
    OldTable("taking", "share_import"),
    OldTable("shared", "shared_record", "taking>share_import"),
    OldTable("sent", "sent_share"),
    OldTable("parcel", "outbox_item"),
    OldTable("importing", "import_batch"),
    OldTable("imported", "imported_record", "importing>import_batch"),
    OldTable("curation"),
    OldTable("curated", "curation_state"),
    OldTable("hidden", "hidden_record"),
    OldTable("erased", "erasure_mark"),
    OldTable("api_key"),
    OldTable("changed", "session_change"),
    OldTable("passage", renamed="rowid>number", where=_KEPT_PASSAGES),
    OldTable("vector", renamed="rowid>number"),
    OldTable("bearer", "record_labels", where=_KEPT_LABELS),
    OldTable("labelled", "labelled_record", where=_KEPT_LABELS),
    OldTable(
        "label",
        renamed="sort>kind name>file_name",
        where=f"id IN (SELECT label FROM old.labelled WHERE {_KEPT_LABELS})",
    ),
)
# Derived from the ones above, of this machine alone, or (`advice`, `stance`) known no more.
NOT_COPIED = frozenset(
    "advice authored bearing chore claim concept concept_member digest dropped entity exchange "
    "fact fts life made mention node pattern proposal reached retained review rule rule_file "
    "same sighting spelling stale stance statement unshown vector_count".split()
)
