"""The tables, as numbered migrations in `migrations/`. One is never edited once released.

Every primary key starts with the bank, as in the team store. `fts` is an index over `passage`
alone; its first column holds the bank and the layer as words, because asking for a bank inside
the index is seven times faster at 100,000 rows than joining it afterwards. What an exchange or
a commit is labelled with (`store.sqlite.labels`) goes when the exchange goes. `curated` is what
the log of decisions comes to; `hidden` what nobody is shown, and the views are all the rest.

They lie in files of their own because a memory that is up to date needs only their number.
"""

from __future__ import annotations

from pathlib import Path

_NAMES = (
    "001_foundation",
    "002_notes",
    "003_curation",
    "004_calls",
    "005_progress",
    "006_facts",
    "007_concepts",
    "008_versions",
    "009_entities",
    "010_mind",
    "011_rules",
    "012_git",
    "013_used",
    "014_anchors",
    "015_forge",
    "016_shared",
    "017_agents",
    "018_remote",
    "019_imports",
    "020_keys",
    "021_commits_by_time",
    "022_vector_count",
)
VERSION = len(_NAMES)


def steps() -> tuple[tuple[str, str], ...]:
    """Each migration's name and its statements, in the order they are taken."""
    folder = Path(__file__).with_name("migrations")
    return tuple((name, (folder / f"{name}.sql").read_text("utf-8")) for name in _NAMES)
