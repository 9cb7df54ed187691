"""What the curation log amounts to: pure functions of its entries, oldest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.errors import NotFoundError
from holdfast.model.curation import Action, Curation, CurationState, in_effect
from holdfast.model.knowledge import ReviewState

_ERASING = (Action.PURGE, Action.SCRUB)
# Others have it already: `unshare` asks them to remove it.
_NOT_UNDOABLE = (Action.SHARE,)
# The author of the entries that a bank's retention makes.
RETENTION_AUTHOR = "retention"


def undoable(log: Iterable[Curation]) -> list[Curation]:
    """The decisions that can be undone one by one. Not: erasures and decisions about what was
    erased, what was shared with others, and what a retention hid, which follows the setting of
    the retention."""
    decisions = in_effect(log)
    erased = {entry.target for entry in decisions if entry.action in _ERASING}
    return [
        e
        for e in decisions
        if e.target not in erased and e.action not in _NOT_UNDOABLE and e.who != RETENTION_AUTHOR
    ]


# What these change is not the record alone: a file of rules, or the settings of a bank.
_WITH_SIDE_EFFECTS = (Action.APPROVE, Action.WRITE, Action.TEACH, Action.SET)


def independently_undoable(log: Sequence[Curation]) -> list[Curation]:
    """The decisions that can be undone although others were made since: nothing later in effect
    concerns the same records, the same files of rules or the same settings."""
    found: list[Curation] = []
    touched_later: set[tuple[str, str]] = set()
    for entry in sorted(in_effect(log), key=lambda e: -e.seq):
        touched = _touched(entry)
        if not touched & touched_later:
            found.append(entry)
        touched_later |= touched
    allowed = {entry.seq for entry in undoable(log)}
    return [entry for entry in found if entry.seq in allowed]


def _touched(entry: Curation) -> set[tuple[str, str]]:
    """What a decision concerns, by bank."""
    names = {entry.target}
    if entry.action in (Action.MERGE, Action.SPLIT):
        names.add(entry.text)
    if entry.action in _WITH_SIDE_EFFECTS:
        names.add("files and settings")
    return {(entry.bank, name) for name in names if name}


def current_state(
    known: CurationState, target: str, decisions: Sequence[Curation], only_if_wanted: bool = False
) -> CurationState:
    """The state of one record by the decisions in effect. With `only_if_wanted` the record is
    forgotten unless a decision to remember, pull or import it is in effect."""
    state = CurationState(known.bank, known.kind, known.id, known.session, was=known.was)
    if only_if_wanted:
        state = state._replace(forgotten=True)
    for entry in decisions:
        if entry.target != target or (known.kind == "entity" and entry.action is Action.MERGE):
            continue  # merged entities are both shown, as one
        match entry.action:
            case Action.REMEMBER | Action.PULL | Action.IMPORT:
                state = state._replace(forgotten=False)
            case Action.FORGET | Action.PURGE:
                state = state._replace(forgotten=True)
            case Action.RESTORE:
                state = state._replace(forgotten=False, into="")
            case Action.MERGE:
                state = state._replace(into=entry.text)
            case Action.CORRECT if entry.text:
                state = state._replace(text=entry.text, time=entry.time, who=entry.who)
            case Action.APPROVE | Action.REJECT:
                kept = entry.action is Action.APPROVE
                review = ReviewState.KEPT if kept else ReviewState.RETIRED
                state = state._replace(text=review.value, time=entry.time, who=entry.who)
            case _:
                pass
    return state if state.text else state._replace(was="")


def batch_entries(log: Iterable[Curation], action: Action, name: str) -> list[Curation]:
    """The entries, one a bank, of the import or pull with this id or the only one with this
    prefix."""
    prefix = name.strip().rpartition("/")[2]
    found = [e for e in log if e.action is action and prefix and _id(e.target).startswith(prefix)]
    if len({entry.target for entry in found}) != 1:
        which = f"Several {action.value}s have" if found else f"No {action.value} has"
        raise NotFoundError(
            f"{which} the id {name!r}.",
            f"`holdfast {action.value} {'list' if action is Action.IMPORT else '--list'}` "
            "lists them.",
        )
    return found


def _id(target: str) -> str:
    return target.rpartition("/")[2]
