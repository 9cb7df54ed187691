"""Records with the text of a correction in place of their own.

A person's text is a person's words. An agent's is never trusted more than an agent is, whoever
spoke before; what people said themselves it cannot correct (`learn.curation`).
"""

from __future__ import annotations

from holdfast.lazy_dataclass import replace
from holdfast.model.curation import CurationState
from holdfast.model.forge import Remark, Thread
from holdfast.model.knowledge import Memory
from holdfast.model.records import Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Status


def corrected_turn(turn: Turn, known: CurationState) -> Turn:
    """A turn with corrected text. A tool's turn keeps the call; its result is replaced."""
    if turn.tool is not None:
        return replace(turn, tool=turn.tool._replace(result=known.text))
    return replace(turn, text=known.text, trust=known.trust_of(turn.trust))


def corrected_commit(commit: Commit, known: CurationState) -> Commit:
    """A commit whose subject is the first line of the correction, and whose body the rest."""
    subject, _, body = known.text.partition("\n")
    return replace(commit, subject=subject.strip(), body=body.strip())


def corrected_memory(memory: Memory, known: CurationState) -> Memory:
    """A memory with corrected text. It keeps its trust if a person corrected it; an agent's words
    are the agent's."""
    if not known.by_agent:
        return replace(memory, what=known.text)
    return replace(
        memory,
        what=known.text,
        who=known.who,
        trust=known.trust_of(memory.trust),
        status=Status.OBSERVED if memory.status is Status.VERIFIED else memory.status,
    )


def corrected_passage_memory(memory: Memory, known: CurationState) -> Memory:
    """The same for the passage of a derived memory: a person's correction verifies it."""
    corrected = corrected_memory(memory, known)
    return replace(corrected, status=Status.VERIFIED) if known.by_person else corrected


def corrected_thread(thread: Thread, known: CurationState) -> Thread:
    """A pull or an issue whose title is the first line of the correction, its body the rest."""
    title, _, body = known.text.partition("\n")
    trust = known.trust_of(thread.trust)
    return replace(thread, title=title.strip(), body=body.strip(), trust=trust)


def corrected_remark(remark: Remark, known: CurationState) -> Remark:
    """A remark with corrected text."""
    return replace(remark, text=known.text, trust=known.trust_of(remark.trust))
