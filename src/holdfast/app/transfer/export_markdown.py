"""Export of banks as Markdown: a note for every concept and session, linked by relative paths.

Text from the memory is escaped, so that nothing in it becomes a link, a query or a template where a
program opens the folder that knows these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

from holdfast.app.transfer.exporting import (
    NO_LIMIT,
    ExportRequest,
    is_within,
    selected_sessions,
)
from holdfast.language import collapse_spaces, truncate
from holdfast.model.bank import Bank
from holdfast.model.knowledge import Concept
from holdfast.model.records import Digest, Exchange, Session
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.regex import regex
from holdfast.store.protocol import Reader

# Takes the secrets out of a text.
CleanText = Callable[[str], str]
# Characters of a session's title in the name of its note, and in the heading of the note.
_MAX_NAME_CHARS = 60
_MAX_HEADING_CHARS = 200
# Bytes of a title in a file name. With id, suffix and temporary name this stays below the 255 bytes
# that file systems allow for a name.
_MAX_TITLE_BYTES = 80
# Characters that some file system forbids in names, or that change the direction of text.
_FORBIDDEN = regex(r"[\x00-\x1f\x7f-\x9f\\/:*?\"<>|#^\[\]\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
# The language of a code block is dropped: some programs run blocks of some languages as queries.
_CODE_BLOCK = regex(r"(?m)^([ \t>]*(?:`{3,}|~{3,})).*$")
# Links, comments, template tags and inline queries, which some programs interpret.
_MARKUP = regex(r"\[\[|\]\]|%%|<%|`(?=\s*\$?=)")
_ESCAPED = {"[[": r"\[\[", "]]": r"\]\]", "%%": r"\%\%", "<%": r"\<%", "`": "\\`"}


def safe_name(title: str, id: str) -> str:
    """A file name for a record: its title, as far as every system allows it, and part of its id."""
    words = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(". ")
    short = words.encode("utf-8", "ignore")[:_MAX_TITLE_BYTES].decode("utf-8", "ignore").strip(". ")
    return f"{short} {id[:8]}".strip()


def markdown_notes(
    reader: Reader, request: ExportRequest, clean: CleanText
) -> Iterator[tuple[str, str]]:
    """The notes of banks: the path of each below the folder, and its text."""

    def escape(text: str) -> str:
        text = _CODE_BLOCK.sub(r"\1", clean(text))
        return _MARKUP.sub(lambda found: _ESCAPED[found[0]], text)

    for bank in request.banks:
        yield from _BankNotes(reader, bank, request, escape).notes()


class _BankNotes:
    """Writes the notes of one bank. `clean` makes any text safe."""

    def __init__(
        self, reader: Reader, bank: Bank, request: ExportRequest, clean: CleanText
    ) -> None:
        self._reader, self._bank, self._clean = reader, bank, clean
        self._endings = RecordEndings(reader)
        self._sessions = selected_sessions(reader, bank.id, request.selection)
        self._concepts = [
            one
            for one in reader.concepts.latest(bank.id, NO_LIMIT)
            if is_within(request.selection, one.founded or one.updated, one.updated)
        ]
        self._digests = {one.id: reader.sessions.digest(bank.id, one.id) for one in self._sessions}
        base = safe_name(bank.name, bank.id)
        self._index = f"{base}/{base}.md"
        # The paths of notes, by the ids of their records.
        self._paths = {s.id: f"{base}/Sessions/{self._session_name(s)}.md" for s in self._sessions}
        self._paths |= {
            c.id: f"{base}/Concepts/{safe_name(clean(c.name), c.id)}.md" for c in self._concepts
        }

    def notes(self) -> Iterator[tuple[str, str]]:
        concepts: dict[str, list[Concept]] = {}
        for concept in self._concepts:
            for member in concept.members:
                concepts.setdefault(member, []).append(concept)
        exchanges: dict[str, tuple[str, Exchange]] = {}
        for session in self._sessions:
            own = self._reader.sessions.exchanges(self._bank.id, session.id)
            exchanges |= {uri("exchange", one.id): (session.id, one) for one in own}
            yield self._paths[session.id], self._session_note(session, own, concepts)
        for concept in self._concepts:
            yield self._paths[concept.id], self._concept_note(concept, exchanges)
        yield self._index, self._index_note()

    def _line(self, text: str) -> str:
        return collapse_spaces(self._clean(text))

    def _link(self, id: str, words: str, above: str = "../") -> str:
        """A link to the note of a record, from a note in a folder of its bank, or with no `above`
        from the note of the bank."""
        path = "/".join(self._paths[id].split("/")[1:])
        shown = re.sub(r"[\[\]|\n]+", " ", words.replace("\\", " ")).strip()
        return f"[{shown or id}]({above}{quote(path)})"

    def _session_name(self, session: Session) -> str:
        title = self._clean(truncate(self._title(session), _MAX_NAME_CHARS))
        return safe_name(f"{session.started[:10]} {title}", session.id)

    def _title(self, session: Session) -> str:
        digest = self._digests[session.id]
        return session.title or (digest.request if digest else "") or session.host

    def _mark(self, record: Digest | Exchange, text: str) -> str:
        label = self._endings.label(record, text)
        return f" (no longer valid: {label})" if label else ""

    def _ended(self, label: str) -> list[str]:
        """The lines below a heading: that it does not hold any more, if so."""
        return [f"> No longer valid: {self._clean(label)}.", ""] if label else [""]

    def _session_note(
        self,
        session: Session,
        exchanges: list[Exchange],
        concepts_by_member: Mapping[str, list[Concept]],
    ) -> str:
        digest, title = self._digests[session.id], self._title(session)
        lines = [""]
        if digest is not None:
            lines = self._ended(self._endings.label(digest, title))
            for heading, points in (
                ("Completed", digest.completed),
                ("Learned", digest.learned),
                ("Investigated", digest.investigated),
                ("Next", digest.next_steps),
            ):
                told = [f"- {self._line(one)}{self._mark(digest, one)}" for one in points]
                lines += [f"**{heading}**", "", *told, ""] if told else []
        found = {
            c.id: c for x in exchanges for c in concepts_by_member.get(uri("exchange", x.id), ())
        }
        if found:
            linked = (self._link(c.id, self._clean(c.name)) for c in found.values())
            lines += ["Concepts: " + ", ".join(linked), ""]
        for number, x in enumerate(exchanges, 1):
            ended = self._endings.of(x)
            lines += [f"## {number}. {self._line(x.title)}"]
            lines += self._ended(ended[-1].label if ended else "")
            lines += [f"*{x.type.value}, {x.outcome.value}, {x.started[:16].replace('T', ' ')}*"]
            lines += ["", self._clean(x.summary)] if x.summary else []
            lines += ["", *(f"- {self._line(fact)}" for fact in x.facts)] if x.facts else []
            files = [f"`{self._clean(file)}`" for file in (*x.files_modified, *x.files_read)]
            lines += ["", "Files: " + ", ".join(files)] if files else []
            lines += [""]
        fields = {
            "holdfast": uri("session", session.id),
            "kind": "session",
            "agent": session.agent,
            "started": session.started,
            "ended": session.ended,
            "branch": self._clean(session.branch),
            "outcome": digest.outcome.value if digest else "",
            "tags": list(digest.topics) if digest else [],
        }
        return _note(self._clean(truncate(title, _MAX_HEADING_CHARS)), fields, lines)

    def _concept_note(
        self, concept: Concept, exchanges_by_uri: Mapping[str, tuple[str, Exchange]]
    ) -> str:
        lines = self._ended(self._endings.label(concept, concept.summary))
        lines += [self._clean(concept.summary), ""]
        if concept.files:
            lines += ["## Files", "", *(f"- `{self._clean(file)}`" for file in concept.files), ""]
        known = [exchanges_by_uri[name] for name in concept.members if name in exchanges_by_uri]
        lines += ["## Records", ""] if known else []
        for session, x in known:
            link = self._link(session, self._clean(x.title))
            lines.append(f"- {x.started[:10]} {link}{self._mark(x, x.title)}")
        lines += ["", "## History", ""] if concept.history else []
        for event in concept.history:
            why = f": {self._line(event.why)}" if event.why else ""
            lines.append(f"- {event.time[:10]} {self._line(event.what)}{why}")
        fields = {
            "holdfast": uri("concept", concept.id),
            "kind": "concept",
            "founded": concept.founded,
            "updated": concept.updated,
            "tags": list(concept.keywords),
        }
        return _note(self._line(concept.name), fields, lines)

    def _index_note(self) -> str:
        facts = [
            one for one in self._reader.facts.all(self._bank.id) if one.status not in ENDED_STATUSES
        ]
        concepts = sorted(self._concepts, key=lambda one: one.name.lower())
        lines: list[str] = []
        for heading, listed in (
            ("Concepts", [self._link(one.id, self._clean(one.name), "") for one in concepts]),
            ("Facts", [f"{self._line(one.content)} ({one.kind.value})" for one in facts]),
            ("Sessions", [self._indexed(session) for session in self._sessions]),
        ):
            lines += ["", f"## {heading}", "", *(f"- {one}" for one in listed)] if listed else []
        fields = {"holdfast": uri("bank", self._bank.id), "kind": "bank"}
        return _note(self._line(self._bank.name), fields, lines)

    def _indexed(self, session: Session) -> str:
        digest, title = self._digests[session.id], self._title(session)
        mark = self._mark(digest, title) if digest else ""
        shown = self._clean(truncate(title, _MAX_NAME_CHARS))
        return f"{session.started[:10]} {self._link(session.id, shown, '')}{mark}"


def _note(heading: str, fields: Mapping[str, object], lines: list[str]) -> str:
    """A note with a title and these fields as its front matter."""
    front = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in {"title": heading, **fields}.items()
        if value
    ]
    return "\n".join(["---", *front, "---", "", f"# {heading}", *lines]).rstrip() + "\n"
