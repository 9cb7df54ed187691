"""What a page says after a change. The URL has only a code, so a link cannot forge a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Note(NamedTuple):
    """A sentence, and whether the change can be undone."""

    text: str
    undo: bool = True


# The notes by their codes.
NOTES: Mapping[str, Note] = {
    "remembered": Note("Remembered."),
    "corrected": Note("Corrected. The old words are kept as superseded."),
    "forgotten": Note("Forgotten: it is left out of everything."),
    "restored": Note("It is back, with all that went with it."),
    "merged": Note("Merged: one record stands for both now."),
    "undone": Note("Undone.", undo=False),
    "erased": Note("Erased for good.", undo=False),
    "kept": Note("Kept in force."),
    "retired": Note("Retired: it is in force no longer."),
    "reworded": Note("Corrected, and kept in force in these words."),
    "written": Note("Written into the file of rules. The file itself is yours to change."),
    "noted": Note("Noted that it has had its day. Take it out of the file by hand."),
    "rejected": Note("Rejected; the same is not proposed again."),
    "confirmed": Note("Kept in your name; the agent's words went into it."),
    "holds": Note("It still holds, and waits no more until its code changes again."),
    "several": Note("All that you selected is decided."),
    "several_left": Note("Decided, but for what is still listed: it changed since you looked."),
    "saved": Note("Saved."),
}
