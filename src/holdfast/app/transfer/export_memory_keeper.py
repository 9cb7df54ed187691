"""A bank in memory-keeper's layout: `facts.json`, `concepts.json`, and a session's turns
(`sessions/*.l1.jsonl`) and exchanges (`sessions/*.l2.json`).

Ids are short and count within one export; `l1_range` are the lines of an exchange in the file of
its session's turns, from 1, both included.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from holdfast.app.transfer.export_folder import CleanText, ExportFolder, OnProgress, safe_name
from holdfast.app.transfer.exporting import ExportRequest
from holdfast.model.bank import Bank
from holdfast.model.knowledge import Fact, FactKind
from holdfast.model.records import Exchange, Session, Turn
from holdfast.model.trust import ENDED_STATUSES, Trust
from holdfast.model.uris import uri
from holdfast.store.protocol import Reader

FORMAT = "memory-keeper"
_ALL = 1_000_000
_Told = dict[str, Any]


def write_memory_keeper(
    reader: Reader,
    folder: ExportFolder,
    wanted: ExportRequest,
    clean: CleanText,
    tick: OnProgress = lambda done, total: None,
) -> None:
    """Put some banks into a folder; each into one of its own if there are several."""
    for bank in wanted.banks:
        base = f"{safe_name(bank.name, bank.id)}/" if len(wanted.banks) > 1 else ""
        for number, (name, text) in enumerate(_Keeper(reader, bank, wanted, clean).files(), 1):
            folder.put(base + name, text)
            tick(number, number)


class _Keeper:
    """One bank."""

    def __init__(self, reader: Reader, bank: Bank, wanted: ExportRequest, clean: CleanText) -> None:
        self._reader = reader
        self._bank = bank.id
        self._chosen = wanted.selection
        self._clean = clean
        self._names: dict[str, str] = {}
        self._words: dict[str, list[str]] = {}
        self._counts: Counter[str] = Counter()
        self._latest = ""

    def files(self) -> Iterator[tuple[str, str]]:
        """Every file by its name."""
        since, until = self._chosen.since, self._chosen.until or "~"
        found = self._reader.sessions(self._bank, _ALL)
        sessions = [one for one in found if one.ended >= since and one.started <= until]
        met: dict[str, int] = {}
        for session in sorted(sessions, key=lambda one: (one.started, one.id)):
            base = _stem(session)
            met[base] = met.get(base, 0) + 1
            stem = f"sessions/{base}" + (f"_{met[base]}" if met[base] > 1 else "")
            turns = self._reader.turns(self._bank, session.id)
            yield f"{stem}.l1.jsonl", "".join(_line(self._turn(turn)) for turn in turns)
            exchanges = self._reader.exchanges(self._bank, session.id)
            yield f"{stem}.l2.json", _page([self._exchange(x, turns) for x in exchanges])
        concepts = self._concepts()
        yield "concepts.json", _page(concepts)
        yield "facts.json", _page(self._facts(len(concepts)))

    def _turn(self, turn: Turn) -> _Told:
        told: _Told = {"ts": turn.time, "role": turn.role.value}
        if turn.tool is None:
            return told | {"text": self._clean(turn.text)}
        tool = turn.tool
        came = {True: "ok", False: "failed", None: ""}[tool.ok]
        result = came if tool.ok or not tool.result else self._clean(tool.result)
        more = {
            "name": tool.name,
            "target": self._clean(tool.target),
            "lines": tool.lines,
            "diff": self._clean(tool.action),
            "result": result,
        }
        return told | {key: value for key, value in more.items() if value}

    def _named(self, name: str, sort: str, keywords: tuple[str, ...]) -> str:
        self._counts[sort] += 1
        id = self._names[name] = f"{sort}{self._counts[sort]:03d}"
        for word in keywords:
            self._words.setdefault(self._clean(word), []).append(id)
        return id

    def _exchange(self, x: Exchange, turns: list[Turn]) -> _Told:
        lines = [n for n, t in enumerate(turns, 1) if x.first_seq <= t.seq <= x.last_seq]
        self._latest = max(self._latest, x.ended)
        return {
            "id": self._named(uri("exchange", x.id), "e", x.keywords),
            "ts": x.started,
            "summary": self._clean(x.title),
            "details": self._clean(x.summary),
            "files": [self._clean(f) for f in (*x.files_modified, *x.files_read)],
            "keywords": [self._clean(word) for word in x.keywords],
            "l1_range": [lines[0], lines[-1]] if lines else [],
        }

    def _concepts(self) -> list[_Told]:
        found: list[_Told] = []
        concepts = self._reader.concepts(self._bank, _ALL)
        for concept in sorted(concepts, key=lambda one: (one.founded, one.id)):
            members = [self._names[name] for name in concept.members if name in self._names]
            if not members:
                continue
            found.append(
                {
                    "id": self._named(uri("concept", concept.id), "c", concept.keywords),
                    "name": self._clean(concept.name),
                    "summary": self._clean(concept.summary),
                    "exchanges": members,
                    "files": [self._clean(file) for file in concept.files],
                    "keywords": [self._clean(word) for word in concept.keywords],
                    "updated": concept.updated[:10],
                }
            )
        return found

    def _facts(self, concepts: int) -> _Told:
        since, until = self._chosen.since, self._chosen.until or "~"
        facts = [
            one
            for one in sorted(self._reader.facts(self._bank), key=lambda one: one.id)
            if one.status not in ENDED_STATUSES and since <= one.validity.learned <= until
        ]
        exchanges = sum(1 for name in self._names if name.startswith(uri("exchange", "")))
        return {
            "keywords": {word: self._words[word] for word in sorted(self._words)},
            "permanent": {
                "rules": [self._fact(f, "r") for f in facts if f.kind is FactKind.RULE],
                "solutions": [self._fact(f, "s") for f in facts if f.kind is FactKind.SOLUTION],
                "core_logic": [self._fact(f, "cl") for f in facts if f.kind is FactKind.CORE_LOGIC],
            },
            "stats": {
                "total_exchanges": exchanges,
                "total_concepts": concepts,
                "last_updated": self._latest[:10],
            },
        }

    def _fact(self, fact: Fact, sort: str) -> _Told:
        told: _Told = {"id": self._named(uri("fact", fact.id), sort, ())}
        content = self._clean(fact.content)
        if fact.kind is FactKind.SOLUTION:
            told |= {"problem": self._clean(fact.problem), "solution": content}
            told |= {"attempts": fact.attempts}
        elif fact.kind is FactKind.CORE_LOGIC:
            told |= {"feature": content.split(".")[0], "description": content}
            told |= {"files": [self._clean(file) for file in fact.files]}
        else:
            source = "user" if fact.trust is Trust.USER else fact.trust.value
            told |= {"content": content, "source": source}
        return told | {
            "confidence": fact.confidence,
            "contradictions": fact.contradictions,
            "last_validated": fact.last_validated[:10],
        }


def _stem(session: Session) -> str:
    """`2026-01-11_0042`; a session of no time is called by its id."""
    if not session.started:
        return safe_name("undated", session.id).replace(" ", "_")
    return f"{session.started[:10]}_{session.started[11:13]}{session.started[14:16]}"


def _line(told: _Told) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n"


def _page(told: object) -> str:
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"
