"""Export of a bank as a folder of plain Markdown: front matter, and links that are paths.

The notes are those of the Obsidian vault. Programs that take Markdown in (Notion, importers for
Confluence, static site generators) do not know its `[[links]]`, so each becomes a relative link.
"""

from __future__ import annotations

import json
import re
from posixpath import relpath
from urllib.parse import quote

from holdfast.app.transfer.export_folder import CleanText, ExportFolder, OnProgress
from holdfast.app.transfer.export_obsidian import vault_notes
from holdfast.app.transfer.exporting import ExportRequest
from holdfast.regex import regex
from holdfast.store.protocol import Reader

FORMAT = "markdown"
# What the notes link to. In text from the memory both brackets are escaped.
_WIKI_LINK = regex(r"(?<!\\)\[\[([^|\]\n]+)(?:\|([^\]\n]+))?\]\]")
_HEADING = regex(r"^# (.+)$", re.MULTILINE)


def write_markdown(
    reader: Reader,
    folder: ExportFolder,
    request: ExportRequest,
    clean: CleanText,
    on_progress: OnProgress = lambda done, total: None,
) -> None:
    """Write the notes of banks into a folder."""
    notes = dict(vault_notes(reader, request, clean))
    # The name of a note ends in a part of its id, so no two have the same.
    places = {path.rpartition("/")[2].removesuffix(".md"): path for path in notes}
    folder.put_all(
        ((path, _plain_note(path, text, places)) for path, text in notes.items()), on_progress
    )


def _plain_note(path: str, text: str, places: dict[str, str]) -> str:
    """A note with its title in the front matter, and links as paths from where it lies."""
    here = path.rpartition("/")[0]

    def link(found: re.Match[str]) -> str:
        target = quote(relpath(places[found[1]], here))
        return f"[{found[2] or found[1]}]({target})"

    text = _WIKI_LINK.sub(link, text)
    heading = _HEADING.search(text)
    title = json.dumps(heading[1] if heading else path, ensure_ascii=False)
    return text.replace("---\n", f"---\ntitle: {title}\n", 1)
