"""Export of a bank as an Obsidian vault: one Markdown note for every concept and session.

Text from the memory is escaped, so that nothing in it becomes a link, a query or a template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from holdfast.app.transfer.export_folder import CleanText, ExportFolder, OnProgress, safe_name
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

FORMAT = "obsidian"
# Characters of a session's title in the name of its note, and in the heading of the note.
_MAX_NAME_CHARS = 60
_MAX_HEADING_CHARS = 200
# The language of a code block is dropped: Obsidian runs blocks of some languages as queries.
_CODE_BLOCK = regex(r"(?m)^([ \t>]*(?:`{3,}|~{3,})).*$")
# Links, comments, template tags, inline queries and block names.
_MARKUP = regex(r"\[\[|\]\]|%%|<%|`(?=\s*\$?=)|\^(?=\w+\s*$)", re.MULTILINE)
_ESCAPED = {"[[": r"\[\[", "]]": r"\]\]", "%%": r"\%\%", "<%": r"\<%", "`": "\\`", "^": r"\^"}
_NOT_IN_TAGS = regex(r"[^\w/-]+")


class _Names(NamedTuple):
    """The names of the notes, by the ids of sessions and concepts."""

    sessions: dict[str, str]
    concepts: dict[str, str]


def write_vault(
    reader: Reader,
    folder: ExportFolder,
    request: ExportRequest,
    clean: CleanText,
    on_progress: OnProgress = lambda done, total: None,
) -> None:
    """Write the notes of banks into a folder."""
    folder.put_all(vault_notes(reader, request, clean), on_progress)


def vault_notes(
    reader: Reader, request: ExportRequest, clean: CleanText
) -> Iterator[tuple[str, str]]:
    """The notes of banks: the path of each below the folder, and its text."""
    for bank in request.banks:
        base = safe_name(bank.name, bank.id)
        for name, text in _notes(reader, bank, request, lambda text: _escape_markup(clean(text))):
            yield f"{base}/{name}.md", text


def _escape_markup(text: str) -> str:
    """A text without anything that Obsidian or its plugins would interpret."""
    text = _CODE_BLOCK.sub(r"\1", text)
    return _MARKUP.sub(lambda found: _ESCAPED[found[0]], text)


def _notes(
    reader: Reader, bank: Bank, request: ExportRequest, clean: CleanText
) -> Iterator[tuple[str, str]]:
    selection = request.selection
    sessions = selected_sessions(reader, bank.id, selection)
    concepts = [
        one
        for one in reader.concepts.latest(bank.id, NO_LIMIT)
        if is_within(selection, one.founded or one.updated, one.updated)
    ]
    digests = {one.id: reader.sessions.digest(bank.id, one.id) for one in sessions}
    names = _Names(
        {s.id: _session_name(s, digests[s.id], clean) for s in sessions},
        {c.id: safe_name(clean(c.name), c.id) for c in concepts},
    )
    concepts_by_member: dict[str, list[Concept]] = {}
    for concept in concepts:
        for member in concept.members:
            concepts_by_member.setdefault(member, []).append(concept)
    exchanges_by_uri: dict[str, tuple[str, Exchange]] = {}
    endings = RecordEndings(reader)
    for session in sessions:
        exchanges, digest = reader.sessions.exchanges(bank.id, session.id), digests[session.id]
        exchanges_by_uri |= {uri("exchange", x.id): (session.id, x) for x in exchanges}
        note = _session_note(session, digest, exchanges, concepts_by_member, names, clean, endings)
        yield f"Sessions/{names.sessions[session.id]}", note
    for concept in concepts:
        note = _concept_note(concept, exchanges_by_uri, names, clean, endings)
        yield f"Concepts/{names.concepts[concept.id]}", note
    ended = {
        one.id: _mark(endings, digest, _title(one, digest))
        for one in sessions
        if (digest := digests[one.id]) is not None
    }
    yield _index(reader, bank, sessions, concepts, names, clean, ended)


def _session_name(session: Session, digest: Digest | None, clean: CleanText) -> str:
    title = clean(truncate(_title(session, digest), _MAX_NAME_CHARS))
    return safe_name(f"{session.started[:10]} {title}", session.id)


def _title(session: Session, digest: Digest | None) -> str:
    return session.title or (digest.request if digest else "") or session.host


def _link(name: str, words: str) -> str:
    shown = re.sub(r"[\[\]|\n]+", " ", words.replace("\\", " ")).strip()
    return f"[[{name}|{shown or name}]]"


def _note(fields: Mapping[str, object], lines: list[str]) -> str:
    """A note with these fields as its front matter."""
    front = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value
    ]
    return "\n".join(["---", *front, "---", ""]) + "\n".join(lines).rstrip() + "\n"


def _tags(words: tuple[str, ...]) -> list[str]:
    found = (_NOT_IN_TAGS.sub("-", word).strip("-/") for word in words)
    return [word for word in dict.fromkeys(found) if word and not word.isdigit()]


def _session_note(
    session: Session,
    digest: Digest | None,
    exchanges: list[Exchange],
    concepts_by_member: dict[str, list[Concept]],
    names: _Names,
    clean: CleanText,
    endings: RecordEndings,
) -> str:
    title = _title(session, digest)
    lines = [f"# {clean(truncate(title, _MAX_HEADING_CHARS))}", ""]
    if digest is not None:
        lines = [lines[0], *_ending_lines(endings.label(digest, title), clean)]
        for heading, points in (
            ("Completed", digest.completed),
            ("Learned", digest.learned),
            ("Investigated", digest.investigated),
            ("Next", digest.next_steps),
        ):
            if points:
                lines += [
                    f"**{heading}**",
                    "",
                    *(f"- {collapse_spaces(clean(p))}{_mark(endings, digest, p)}" for p in points),
                    "",
                ]
    found = {c.id: c for x in exchanges for c in concepts_by_member.get(uri("exchange", x.id), ())}
    if found:
        linked = (_link(names.concepts[c.id], c.name) for c in found.values())
        lines += ["Concepts: " + ", ".join(linked), ""]
    for number, x in enumerate(exchanges, 1):
        lines += [f"## {number}. {collapse_spaces(clean(x.title))}"]
        ended = endings.of(x)
        lines += _ending_lines(ended[-1].label if ended else "", clean)
        lines += [f"*{x.type.value}, {x.outcome.value}, {x.started[:16].replace('T', ' ')}*", ""]
        lines += [clean(x.summary), ""] if x.summary else []
        lines += [*(f"- {collapse_spaces(clean(fact))}" for fact in x.facts), ""] if x.facts else []
        files = [*x.files_modified, *x.files_read]
        lines += ["Files: " + ", ".join(f"`{clean(file)}`" for file in files), ""] if files else []
    fields = {
        "holdfast": uri("session", session.id),
        "kind": "session",
        "agent": session.agent,
        "started": session.started,
        "ended": session.ended,
        "branch": clean(session.branch),
        "outcome": digest.outcome.value if digest else "",
        "tags": _tags(digest.topics if digest else ()),
    }
    return _note(fields, lines)


def _ending_lines(ended: str, clean: CleanText) -> list[str]:
    """The lines below a heading: that it does not hold any more, if so."""
    return [f"> No longer valid: {clean(ended)}.", ""] if ended else [""]


def _mark(endings: RecordEndings, record: Digest | Exchange, text: str) -> str:
    label = endings.label(record, text)
    return f" (no longer valid: {label})" if label else ""


def _concept_note(
    concept: Concept,
    exchanges_by_uri: dict[str, tuple[str, Exchange]],
    names: _Names,
    clean: CleanText,
    endings: RecordEndings,
) -> str:
    lines = [f"# {collapse_spaces(clean(concept.name))}"]
    lines += _ending_lines(endings.label(concept, concept.summary), clean)
    lines += [clean(concept.summary), ""]
    if concept.files:
        lines += ["## Files", "", *(f"- `{clean(file)}`" for file in concept.files), ""]
    known = [exchanges_by_uri[name] for name in concept.members if name in exchanges_by_uri]
    if known:
        lines += ["## Records", ""]
    for session, x in known:
        link = _link(names.sessions[session], clean(x.title))
        lines.append(f"- {x.started[:10]} {link}{_mark(endings, x, x.title)}")
    if concept.history:
        lines += ["", "## History", ""]
    for event in concept.history:
        why = f": {collapse_spaces(clean(event.why))}" if event.why else ""
        lines.append(f"- {event.time[:10]} {collapse_spaces(clean(event.what))}{why}")
    fields = {
        "holdfast": uri("concept", concept.id),
        "kind": "concept",
        "founded": concept.founded,
        "updated": concept.updated,
        "aliases": [collapse_spaces(concept.name)],
        "tags": _tags(concept.keywords),
    }
    return _note(fields, lines)


def _index(
    reader: Reader,
    bank: Bank,
    sessions: list[Session],
    concepts: list[Concept],
    names: _Names,
    clean: CleanText,
    ended: Mapping[str, str],
) -> tuple[str, str]:
    lines = [f"# {collapse_spaces(clean(bank.name))}", ""]
    if concepts:
        lines += ["## Concepts", ""]
        by_name = sorted(concepts, key=lambda one: one.name.lower())
        lines += [f"- {_link(names.concepts[c.id], clean(c.name))}" for c in by_name] + [""]
    facts = [one for one in reader.facts.all(bank.id) if one.status not in ENDED_STATUSES]
    if facts:
        lines += ["## Facts", ""]
        lines += [f"- {collapse_spaces(clean(f.content))} ({f.kind.value})" for f in facts] + [""]
    if sessions:
        lines += ["## Sessions", ""]
        lines += [f"- [[{names.sessions[s.id]}]]{ended.get(s.id, '')}" for s in sessions] + [""]
    fields = {"holdfast": uri("bank", bank.id), "kind": "bank"}
    return safe_name(bank.name, bank.id), _note(fields, lines)
