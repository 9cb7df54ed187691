"""Export of a bank in the layout of memory-keeper: `facts.json`, `concepts.json`, `project.md`
(what the project is), `memory.md` (what is known of it, for people to read), and for each session
its turns (`sessions/*.l1.jsonl`) and exchanges (`sessions/*.l2.json`).

Ids are short and numbered within one export. `l1_range` is the first and the last line of an
exchange in the file of its session's turns, counted from 1. A summary that states what no longer
holds says so; the turns are what was said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from holdfast.app.transfer.export_folder import CleanText, ExportFolder, OnProgress, safe_name
from holdfast.app.transfer.exporting import (
    NO_LIMIT,
    ExportRequest,
    is_within,
    selected_sessions,
)
from holdfast.language import collapse_spaces
from holdfast.model.bank import Bank
from holdfast.model.knowledge import Concept, Fact, FactKind
from holdfast.model.records import Exchange, Session, Turn
from holdfast.model.trust import ENDED_STATUSES, Trust
from holdfast.model.uris import uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.store.protocol import Reader

FORMAT = "memory-keeper"
# Files that `project.md` names: those of most concepts.
_MAX_PROJECT_FILES = 20
_Json = dict[str, Any]


def write_memory_keeper(
    reader: Reader,
    folder: ExportFolder,
    request: ExportRequest,
    clean: CleanText,
    on_progress: OnProgress = lambda done, total: None,
) -> None:
    """Write banks into a folder; each into a subfolder if there are several."""
    for bank in request.banks:
        base = f"{safe_name(bank.name, bank.id)}/" if len(request.banks) > 1 else ""
        files = _BankExport(reader, bank, request, clean).files()
        folder.put_all(((base + name, text) for name, text in files), on_progress)


class _BankExport:
    """The files of one bank."""

    def __init__(
        self, reader: Reader, bank: Bank, request: ExportRequest, clean: CleanText
    ) -> None:
        self._reader = reader
        self._profile, self._bank = bank, bank.id
        self._selection = request.selection
        self._clean = clean
        # Short ids by the URIs of records, and by keyword.
        self._ids: dict[str, str] = {}
        self._ids_by_keyword: dict[str, list[str]] = {}
        self._counts: Counter[str] = Counter()
        self._last_exchange = ""
        self._endings = RecordEndings(reader)

    def files(self) -> Iterator[tuple[str, str]]:
        """Every file: its name and its text."""
        sessions = selected_sessions(self._reader, self._bank, self._selection)
        used: Counter[str] = Counter()
        for session in sorted(sessions, key=lambda one: (one.started, one.id)):
            base = _file_stem(session)
            used[base] += 1
            stem = f"sessions/{base}" + (f"_{used[base]}" if used[base] > 1 else "")
            turns = self._reader.turns.of_session(self._bank, session.id)
            yield f"{stem}.l1.jsonl", "".join(_json_line(self._turn(turn)) for turn in turns)
            exchanges = self._reader.sessions.exchanges(self._bank, session.id)
            yield f"{stem}.l2.json", _json_file([self._exchange(x, turns) for x in exchanges])
        concepts = self._concepts()
        yield "concepts.json", _json_file(concepts)
        facts = self._facts(len(concepts))
        yield "facts.json", _json_file(facts)
        yield "project.md", self._project(sessions, concepts)
        yield "memory.md", _memory_page(facts["permanent"], concepts)

    def _project(self, sessions: list[Session], concepts: list[_Json]) -> str:
        """What the project is: its names, what it is like, when it was worked on, and on what."""
        bank = self._profile
        lines = [f"# {collapse_spaces(self._clean(bank.name))}", ""]
        lines += [self._clean(bank.background), ""] if bank.background else []
        days = sorted(one.started[:10] for one in sessions if one.started)
        span = f", {days[0]} to {days[-1]}" if days else ""
        agents = ", ".join(sorted({one.agent for one in sessions if one.agent}))
        lines += [f"- Sessions: {len(sessions)}{span}"]
        lines += [f"- Agents: {agents}"] if agents else []
        lines += (
            [f"- Known as: {', '.join(map(self._clean, bank.aliases))}"] if bank.aliases else []
        )
        files = Counter(file for concept in concepts for file in concept["files"])
        if files:
            lines += ["", "## Files", ""]
            lines += [f"- `{file}`" for file, _ in files.most_common(_MAX_PROJECT_FILES)]
        return "\n".join(lines) + "\n"

    def _turn(self, turn: Turn) -> _Json:
        entry: _Json = {"ts": turn.time, "role": turn.role.value}
        if turn.tool is None:
            return entry | {"text": self._clean(turn.text)}
        tool = turn.tool
        outcome = {True: "ok", False: "failed", None: ""}[tool.ok]
        result = outcome if tool.ok or not tool.result else self._clean(tool.result)
        details = {
            "name": tool.name,
            "target": self._clean(tool.target),
            "lines": tool.lines,
            "diff": self._clean(tool.action),
            "result": result,
        }
        return entry | {key: value for key, value in details.items() if value}

    def _new_id(self, record: str, prefix: str, keywords: tuple[str, ...]) -> str:
        self._counts[prefix] += 1
        id = self._ids[record] = f"{prefix}{self._counts[prefix]:03d}"
        for word in keywords:
            self._ids_by_keyword.setdefault(self._clean(word), []).append(id)
        return id

    def _exchange(self, x: Exchange, turns: list[Turn]) -> _Json:
        lines = [n for n, t in enumerate(turns, 1) if x.first_seq <= t.seq <= x.last_seq]
        self._last_exchange = max(self._last_exchange, x.ended)
        return {
            "id": self._new_id(uri("exchange", x.id), "e", x.keywords),
            "ts": x.started,
            "summary": self._with_end(x, x.title),
            "details": self._with_end(x, x.summary),
            "files": [self._clean(f) for f in (*x.files_modified, *x.files_read)],
            "keywords": [self._clean(word) for word in x.keywords],
            "l1_range": [lines[0], lines[-1]] if lines else [],
        }

    def _with_end(self, record: Exchange | Concept, text: str) -> str:
        """A text of a record, with how and when it ended if it no longer holds."""
        label = self._endings.label(record, text)
        return self._clean(f"{text} (no longer valid: {label})" if label else text)

    def _concepts(self) -> list[_Json]:
        found: list[_Json] = []
        concepts = self._reader.concepts.latest(self._bank, NO_LIMIT)
        for concept in sorted(concepts, key=lambda one: (one.founded, one.id)):
            members = [self._ids[name] for name in concept.members if name in self._ids]
            if not members:
                continue
            found.append(
                {
                    "id": self._new_id(uri("concept", concept.id), "c", concept.keywords),
                    "name": self._clean(concept.name),
                    "summary": self._with_end(concept, concept.summary),
                    "exchanges": members,
                    "files": [self._clean(file) for file in concept.files],
                    "keywords": [self._clean(word) for word in concept.keywords],
                    "updated": concept.updated[:10],
                }
            )
        return found

    def _facts(self, concepts: int) -> _Json:
        facts = [
            one
            for one in sorted(self._reader.facts.all(self._bank), key=lambda one: one.id)
            if one.status not in ENDED_STATUSES
            and is_within(self._selection, one.validity.learned, one.validity.learned)
        ]
        exchanges = sum(1 for name in self._ids if name.startswith(uri("exchange", "")))
        return {
            "keywords": {word: self._ids_by_keyword[word] for word in sorted(self._ids_by_keyword)},
            "permanent": {
                "rules": [self._fact(f, "r") for f in facts if f.kind is FactKind.RULE],
                "solutions": [self._fact(f, "s") for f in facts if f.kind is FactKind.SOLUTION],
                "core_logic": [self._fact(f, "cl") for f in facts if f.kind is FactKind.CORE_LOGIC],
            },
            "stats": {
                "total_exchanges": exchanges,
                "total_concepts": concepts,
                "last_updated": self._last_exchange[:10],
            },
        }

    def _fact(self, fact: Fact, prefix: str) -> _Json:
        entry: _Json = {"id": self._new_id(uri("fact", fact.id), prefix, ())}
        content = self._clean(fact.content)
        if fact.kind is FactKind.SOLUTION:
            entry |= {"problem": self._clean(fact.problem), "solution": content}
            entry |= {"attempts": fact.attempts}
        elif fact.kind is FactKind.CORE_LOGIC:
            entry |= {"feature": content.split(".")[0], "description": content}
            entry |= {"files": [self._clean(file) for file in fact.files]}
        else:
            source = "user" if fact.trust is Trust.USER else fact.trust.value
            entry |= {"content": content, "source": source}
        return entry | {
            "confidence": fact.confidence,
            "contradictions": fact.contradictions,
            "last_validated": fact.last_validated[:10],
        }


def _memory_page(permanent: _Json, concepts: list[_Json]) -> str:
    """What is known, as a page for people: rules, solutions, core logic, and topics."""
    lines = ["# Memory"]
    for heading, kind, words in (
        ("Rules", "rules", "{content}"),
        ("Solutions", "solutions", "{problem}: {solution}"),
        ("Core logic", "core_logic", "{description}"),
    ):
        known = [collapse_spaces(words.format(**fact)) for fact in permanent[kind]]
        lines += ["", f"## {heading}", "", *(f"- {one}" for one in known)] if known else []
    lines += ["", "## Topics"] if concepts else []
    for concept in concepts:
        lines += ["", f"### {collapse_spaces(concept['name'])}", "", concept["summary"]]
    return "\n".join(lines) + "\n"


def _file_stem(session: Session) -> str:
    """The start of a session, as in `2026-01-11_0042`; its id if the start is unknown."""
    if not session.started:
        return safe_name("undated", session.id).replace(" ", "_")
    return f"{session.started[:10]}_{session.started[11:13]}{session.started[14:16]}"


def _json_line(value: _Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _json_file(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
