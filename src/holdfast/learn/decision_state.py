"""What the log of decisions comes to. Pure functions of the log, oldest entry first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.errors import NotFoundError
from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.knowledge import ReviewState

_FOR_GOOD = (Action.PURGE, Action.SCRUB)
# What others have is out of our hands: `unshare` asks them to let go of it.
_NOT_HERE = (Action.SHARE,)
_RETIRED = ReviewState.RETIRED
RETENTION_AUTHOR = "retention"


def in_effect(log: Iterable[Curation]) -> list[Curation]:
    """The decisions that nobody has undone; an undo itself is none."""
    log = list(log)
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    return [e for e in log if e.action is not Action.UNDO and str(e.seq) not in undone]


def undoable(log: Iterable[Curation]) -> list[Curation]:
    """The decisions that can be undone: not those that erased something, nor any about what was
    erased, nor what was handed on to others; nor what a retention put away, for that goes with the
    decision about the retention."""
    left = in_effect(log)
    erased = {entry.target for entry in left if entry.action in _FOR_GOOD}
    return [
        e
        for e in left
        if e.target not in erased and e.action not in _NOT_HERE and e.who != RETENTION_AUTHOR
    ]


def current_state(known: CurationState, target: str, left: Sequence[Curation], by_wish: bool = False) -> CurationState:
    """What the decisions that stand come to for one record. What is there `by_wish` alone is there
    for as long as the wish to remember it stands."""
    state = CurationState(known.bank, known.kind, known.id, known.session, was=known.was)
    if by_wish:
        state = state._replace(forgotten=True)
    for entry in left:
        if entry.target != target or (known.kind == "entity" and entry.action is Action.MERGE):
            continue  # entities that are one are both shown, as one
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
                verdict = ReviewState.KEPT if entry.action is Action.APPROVE else _RETIRED
                state = state._replace(text=verdict.value, time=entry.time, who=entry.who)
            case _:
                pass
    return state if state.text else state._replace(was="")


def batch_entries(log: Iterable[Curation], action: Action, name: str) -> list[Curation]:
    """The entries, one a bank, of what came in at once and is called so, or begins so."""
    bare = name.strip().rpartition("/")[2]
    found = [e for e in log if e.action is action and bare and _id(e.target).startswith(bare)]
    if len({entry.target for entry in found}) != 1:
        raise NotFoundError(
            f"{'Several were' if found else 'Nothing was'} taken in under the name {name!r}.",
            f"`holdfast {action.value} {'list' if action is Action.IMPORT else '--list'}` "
            "tells what was.",
        )
    return found


def _id(target: str) -> str:
    return target.rpartition("/")[2]
