"""Records in the words of a person's correction."""

from __future__ import annotations

from dataclasses import replace

from holdfast.model.forge import Remark, Thread
from holdfast.model.knowledge import Memory
from holdfast.model.records import Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Trust


def corrected_turn(turn: Turn, text: str) -> Turn:
    """A turn in the words of its correction. A tool was still called; what came of it is said
    anew."""
    if turn.tool is not None:
        return replace(turn, tool=turn.tool._replace(result=text))
    return replace(turn, text=text, trust=Trust.USER)


def corrected_commit(commit: Commit, text: str) -> Commit:
    """A commit in the words of its correction."""
    subject, _, body = text.partition("\n")
    return replace(commit, subject=subject.strip(), body=body.strip())


def corrected_memory(memory: Memory, text: str) -> Memory:
    """A memory in the words of its correction."""
    return replace(memory, what=text)


def corrected_thread(thread: Thread, text: str) -> Thread:
    """A pull or an issue in the words of its correction."""
    title, _, body = text.partition("\n")
    return replace(thread, title=title.strip(), body=body.strip(), trust=Trust.USER)


def corrected_remark(remark: Remark, text: str) -> Remark:
    """A remark in the words of its correction."""
    return replace(remark, text=text, trust=Trust.USER)
