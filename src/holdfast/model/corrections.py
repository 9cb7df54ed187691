"""Records with the text of a person's correction in place of their own."""

from __future__ import annotations

from holdfast.lazy_dataclass import replace
from holdfast.model.forge import Remark, Thread
from holdfast.model.knowledge import Memory
from holdfast.model.records import Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Trust


def corrected_turn(turn: Turn, text: str) -> Turn:
    """A turn with corrected text. A tool's turn keeps the call; its result is replaced."""
    if turn.tool is not None:
        return replace(turn, tool=turn.tool._replace(result=text))
    return replace(turn, text=text, trust=Trust.USER)


def corrected_commit(commit: Commit, text: str) -> Commit:
    """A commit whose subject is the first line of the correction, and whose body the rest."""
    subject, _, body = text.partition("\n")
    return replace(commit, subject=subject.strip(), body=body.strip())


def corrected_memory(memory: Memory, text: str) -> Memory:
    """A memory with corrected text."""
    return replace(memory, what=text)


def corrected_thread(thread: Thread, text: str) -> Thread:
    """A pull or an issue whose title is the first line of the correction, its body the rest."""
    title, _, body = text.partition("\n")
    return replace(thread, title=title.strip(), body=body.strip(), trust=Trust.USER)


def corrected_remark(remark: Remark, text: str) -> Remark:
    """A remark with corrected text."""
    return replace(remark, text=text, trust=Trust.USER)
