"""All operations, by name. A module of a subject is imported when one of its operations is asked
for; `SUBJECTS` says which it has, and `tests/operations` that the two agree.

A new operation is a function in one of these modules, and its name here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from holdfast.errors import InputError, suggest
from holdfast.operations.operation import Operation, operation_of

SUBJECTS: dict[str, tuple[str, ...]] = {
    "search": ("recall", "grep", "layers"),
    "asking": ("ask",),
    "finding": ("find",),
    "history": ("timeline", "team", "who"),
    "research": (
        "research list",
        "research show",
        "research cancel",
        "research useful",
        "research remove",
        "reflect",
    ),
    "briefs": ("brief", "brief log", "brief session", "handoff"),
    "knowledge": (
        "facts",
        "memories",
        "opinions",
        "commits",
        "audit",
    ),
    "concepts": ("concepts", "concept", "keywords", "keyword"),
    "entities": ("entities", "entity", "entity merge", "entity split"),
    "sessions": (
        "sessions",
        "session",
        "messages",
        "exchanges",
        "session-exchanges",
        "digest",
    ),
    # What is more specific comes first: REST tries their paths in this order.
    "erasing": ("purge plan", "purge", "scrub"),
    "records": ("path", "show"),
    "catalogue": ("records",),
    "curation": (
        "remember",
        "retain",
        "correct",
        "forget",
        "restore",
        "confirm",
        "merge",
        "undo",
        "judge",
    ),
    "log": ("decisions",),
    "reviews": ("review", "review decide", "review adopt"),
    "rules": (
        "learn",
        "promote candidates",
        "promote status",
        "promote run",
        "promote approve",
        "promote reject",
        "auto-learn",
    ),
    "banks": ("banks", "bank", "bank set", "bank merge", "bank unmerge", "me"),
    "status": ("status",),
    "usage": ("cost", "worth"),
    "machine": (
        "doctor",
        "doctor fix",
        "backups",
        "backup",
        "providers",
        "providers test",
        "ingest",
    ),
    "deriving": ("forge", "refine"),
    "transfer": ("import-from", "imports", "undo-import", "export"),
    "sharing": (
        "share",
        "shared",
        "unshare",
        "pull",
        "pulls",
        "undo-pull",
        "receive-shares",
        "recall-shares",
    ),
    "remotes": (
        "remote list",
        "remote add",
        "remote test",
        "remote push",
        "remote remove",
        "key list",
        "key new",
        "key revoke",
    ),
}
_BY_HAND = "a command that is written by hand does more"
_BY_PROMOTE = "the operations `promote …` do the same"
_STARTS_PROGRAMS = "it starts programs of the machine, whatever the settings say"
# What reads or writes files of this machine, starts programs on it, or decides who may read it.
_OF_THIS_MACHINE = dict.fromkeys(
    (
        "forge",
        "refine",
        "import-from",
        "export",
        "share",
        "shared",
        "unshare",
        "pull",
        *SUBJECTS["remotes"],
    ),
    "only the user of this machine may do it, not who has a key of its server",
)
# What a face does not offer, and why. Agents get a choice, as tools: `operations/agents/tools`.
NOT_OFFERED: dict[str, dict[str, str]] = {
    "cli": {
        "me": "who runs a command is the user of this machine",
        "cost": "`status --cost` prints it",
        "doctor": "`doctor` also runs where the memory cannot be opened",
        "doctor fix": "`doctor --fix` also runs where the memory cannot be opened, and asks",
        "backups": "`restore-backup --list` prints them",
        "backup": _BY_HAND,
        "ingest": _BY_HAND,
        "import-from": "`import` does it",
        "imports": "`import list` prints them",
        "undo-import": "`import undo` does it",
        "shared": "`share --list` prints them",
        "pulls": "`pull --list` prints them",
        "undo-pull": "`pull --undo` does it",
        "receive-shares": "a server receives what `share` sends",
        "recall-shares": "a server answers what `recall` and `ask` send",
    },
    "rest": {
        **_OF_THIS_MACHINE,
        "auto-learn": _BY_PROMOTE,
        "providers test": _STARTS_PROGRAMS,
    },
    "graphql": {
        **_OF_THIS_MACHINE,
        "auto-learn": _BY_PROMOTE,
        "providers test": _STARTS_PROGRAMS,
    },
    "python": {
        "auto-learn": _BY_PROMOTE,
    },
}
_PACKAGE = "holdfast.operations."
_FOLDERS = {
    "admin": ("banks", "status", "usage", "machine", "deriving", "transfer", "sharing", "remotes"),
    "decisions": ("curation", "log", "reviews", "rules", "erasing"),
}
_FOLDER_OF = {subject: f"{name}." for name, subjects in _FOLDERS.items() for subject in subjects}
_SUBJECT_OF = {name: subject for subject, names in SUBJECTS.items() for name in names}
NAMES = tuple(_SUBJECT_OF)


def find_operation(name: str) -> Operation:
    """The operation with this name; raises `InputError` if there is none."""
    if name not in _SUBJECT_OF:
        raise InputError(f"There is no operation {name[:100]!r}.", suggest(name, NAMES))
    return _operations_in(_SUBJECT_OF[name])[name]


def all_operations() -> Iterable[Operation]:
    """All operations, subject by subject; imports all of their modules."""
    for name in NAMES:
        yield find_operation(name)


@cache
def _operations_in(subject: str) -> dict[str, Operation]:
    module = import_module(_PACKAGE + _FOLDER_OF.get(subject, "") + subject)
    found = map(operation_of, vars(module).values())
    return {one.name: one for one in found if one is not None}
