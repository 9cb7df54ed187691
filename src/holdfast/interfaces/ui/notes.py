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
    "corrected": Note("Corrected. The old text is kept as superseded."),
    "forgotten": Note("Forgotten. It is hidden everywhere."),
    "restored": Note("Restored, with everything that was hidden with it."),
    "merged": Note("Merged into one record."),
    "undone": Note("Undone.", undo=False),
    "erased": Note("Erased permanently.", undo=False),
    "kept": Note("Kept."),
    "retired": Note("Retired: it no longer applies."),
    "reworded": Note("Corrected and kept."),
    "written": Note("Written into the rule file. You can edit the file yourself."),
    "noted": Note("Marked as outdated. Remove it from the file yourself."),
    "rejected": Note("Rejected. It is not proposed again."),
    "confirmed": Note("Kept in your name. It replaces the agent's note."),
    "holds": Note("Confirmed. It is listed again if its code changes again."),
    "useful": Note("Called useful: briefs tell it first."),
    "unneeded": Note("Called unneeded: left out at the start of a session."),
    "outdated": Note("Called outdated: left out of briefs, and marked in every answer."),
    "several": Note("All selected items are decided."),
    "several_left": Note(
        "Decided, except the items still listed: they changed after you opened the page."
    ),
    "saved": Note("Saved."),
}
