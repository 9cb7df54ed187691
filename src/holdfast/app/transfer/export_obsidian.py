"""A bank as a vault of Markdown notes, as Obsidian reads them: one for every concept and session.

What stands in a note is quoted from memory: nothing in it is a link, a query or a template of its
own, whatever somebody once wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.app.transfer.export_folder import CleanText, ExportFolder, OnProgress, safe_name
from holdfast.app.transfer.exporting import ExportRequest
from holdfast.language import truncate
from holdfast.model.bank import Bank
from holdfast.model.knowledge import Concept
from holdfast.model.records import Digest, Exchange, Session
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import uri
from holdfast.store.protocol import Reader

FORMAT = "obsidian"
_ALL = 1_000_000
_FENCE = re.compile(r"(?m)^([ \t>]*(?:`{3,}|~{3,})).*$")
_MEANT = re.compile(r"\[\[|\]\]|%%|<%|`(?=\s*\$?=)|\^(?=\w+\s*$)", re.MULTILINE)
_INSTEAD = {"[[": r"\[\[", "]]": r"\]\]", "%%": r"\%\%", "<%": r"\<%", "`": "\\`", "^": r"\^"}
_TAG = re.compile(r"[^\w/-]+")


class _Names(NamedTuple):
    """The names of notes, by the ids of what they are about."""

    sessions: dict[str, str]
    concepts: dict[str, str]


def write_vault(
    reader: Reader,
    folder: ExportFolder,
    wanted: ExportRequest,
    clean: CleanText,
    tick: OnProgress = lambda done, total: None,
) -> None:
    """Put the notes of some banks into a folder."""
    done = 0
    for bank in wanted.banks:
        for name, text in _notes(reader, bank, wanted, lambda text: _quoted(clean(text))):
            folder.put(f"{safe_name(bank.name, bank.id)}/{name}.md", text)
            done += 1
            tick(done, done)


def _quoted(text: str) -> str:
    """Words that mean nothing to a program that shows notes."""
    text = _FENCE.sub(r"\1", text)
    return _MEANT.sub(lambda found: _INSTEAD[found[0]], text)


def _notes(
    reader: Reader, bank: Bank, wanted: ExportRequest, clean: CleanText
) -> Iterator[tuple[str, str]]:
    since, until = wanted.selection.since, wanted.selection.until or "~"
    sessions = [
        one for one in reader.sessions(bank.id, _ALL) if one.ended >= since and one.started <= until
    ]
    concepts = [
        one for one in reader.concepts(bank.id, _ALL) if one.updated >= since and
        (one.founded or one.updated) <= until
    ]  # fmt: skip
    digests = {one.id: reader.digest_of(bank.id, one.id) for one in sessions}
    names = _Names(
        {s.id: _session_name(s, digests[s.id], clean) for s in sessions},
        {c.id: safe_name(clean(c.name), c.id) for c in concepts},
    )
    held: dict[str, list[Concept]] = {}
    for concept in concepts:
        for member in concept.members:
            held.setdefault(member, []).append(concept)
    within: dict[str, tuple[str, Exchange]] = {}
    for session in sessions:
        exchanges = reader.exchanges(bank.id, session.id)
        within |= {uri("exchange", x.id): (session.id, x) for x in exchanges}
        note = _session_note(session, digests[session.id], exchanges, held, names, clean)
        yield f"Sessions/{names.sessions[session.id]}", note
    for concept in concepts:
        yield f"Concepts/{names.concepts[concept.id]}", _concept_note(concept, within, names, clean)
    yield _index(reader, bank, sessions, concepts, names, clean)


def _session_name(session: Session, digest: Digest | None, clean: CleanText) -> str:
    title = session.title or (digest.request if digest else "") or session.host
    return safe_name(f"{session.started[:10]} {clean(truncate(title, 60))}", session.id)


def _link(name: str, words: str) -> str:
    shown = re.sub(r"[\[\]|\n]+", " ", words.replace("\\", " ")).strip()
    return f"[[{name}|{shown or name}]]"


def _front(fields: dict[str, object]) -> str:
    told = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value
    ]
    return "\n".join(["---", *told, "---", ""])


def _tags(words: tuple[str, ...]) -> list[str]:
    found = (_TAG.sub("-", word).strip("-/") for word in words)
    return [word for word in dict.fromkeys(found) if word and not word.isdigit()]


def _session_note(
    session: Session,
    digest: Digest | None,
    exchanges: list[Exchange],
    held: dict[str, list[Concept]],
    names: _Names,
    clean: CleanText,
) -> str:
    title = session.title or (digest.request if digest else "") or session.host
    lines = [f"# {clean(truncate(title, 200))}", ""]
    if digest is not None:
        for head, told in (
            ("Completed", digest.completed),
            ("Learned", digest.learned),
            ("Investigated", digest.investigated),
            ("Next", digest.next_steps),
        ):
            if told:
                lines += [f"**{head}**", "", *(f"- {_one_line(clean(one))}" for one in told), ""]
    found = {c.id: c for x in exchanges for c in held.get(uri("exchange", x.id), ())}
    if found:
        linked = (_link(names.concepts[c.id], c.name) for c in found.values())
        lines += ["Concepts: " + ", ".join(linked), ""]
    for number, x in enumerate(exchanges, 1):
        lines += [f"## {number}. {_one_line(clean(x.title))}", ""]
        lines += [f"*{x.type.value}, {x.outcome.value}, {x.started[:16].replace('T', ' ')}*", ""]
        lines += [clean(x.summary), ""] if x.summary else []
        lines += [*(f"- {_one_line(clean(fact))}" for fact in x.facts), ""] if x.facts else []
        files = [*x.files_modified, *x.files_read]
        lines += ["Files: " + ", ".join(f"`{clean(file)}`" for file in files), ""] if files else []
    topics = digest.topics if digest else ()
    front = _front(
        {
            "holdfast": uri("session", session.id),
            "kind": "session",
            "agent": session.agent,
            "started": session.started,
            "ended": session.ended,
            "branch": clean(session.branch),
            "outcome": digest.outcome.value if digest else "",
            "tags": _tags(topics),
        }
    )
    return front + "\n".join(lines).rstrip() + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _concept_note(
    concept: Concept, within: dict[str, tuple[str, Exchange]], names: _Names, clean: CleanText
) -> str:
    lines = [f"# {_one_line(clean(concept.name))}", "", clean(concept.summary), ""]
    if concept.files:
        lines += ["## Files", "", *(f"- `{clean(file)}`" for file in concept.files), ""]
    known = [(name, within[name]) for name in concept.members if name in within]
    if known:
        lines += ["## What belongs to it", ""]
    for _, (session, x) in known:
        link = _link(names.sessions[session], clean(x.title))
        lines.append(f"- {x.started[:10]} {link}")
    if concept.history:
        lines += ["", "## How it came about", ""]
    for grown in concept.history:
        why = f": {_one_line(clean(grown.why))}" if grown.why else ""
        lines.append(f"- {grown.time[:10]} {_one_line(clean(grown.what))}{why}")
    front = _front(
        {
            "holdfast": uri("concept", concept.id),
            "kind": "concept",
            "founded": concept.founded,
            "updated": concept.updated,
            "aliases": [_one_line(concept.name)],
            "tags": _tags(concept.keywords),
        }
    )
    return front + "\n".join(lines).rstrip() + "\n"


def _index(
    reader: Reader,
    bank: Bank,
    sessions: list[Session],
    concepts: list[Concept],
    names: _Names,
    clean: CleanText,
) -> tuple[str, str]:
    lines = [f"# {_one_line(clean(bank.name))}", ""]
    if concepts:
        lines += ["## Concepts", ""]
        told = sorted(concepts, key=lambda one: one.name.lower())
        lines += [f"- {_link(names.concepts[c.id], clean(c.name))}" for c in told] + [""]
    facts = [one for one in reader.facts(bank.id) if one.status not in ENDED_STATUSES]
    if facts:
        lines += ["## Facts", ""]
        lines += [f"- {_one_line(clean(f.content))} ({f.kind.value})" for f in facts] + [""]
    if sessions:
        lines += ["## Sessions", ""]
        lines += [f"- [[{names.sessions[s.id]}]]" for s in sessions] + [""]
    front = _front({"holdfast": uri("bank", bank.id), "kind": "bank"})
    return safe_name(bank.name, bank.id), front + "\n".join(lines).rstrip() + "\n"
