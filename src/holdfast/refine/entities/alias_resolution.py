"""Resolves spellings into entities, from all spellings of a bank and from people's decisions.

Two spellings are one entity only if nothing else could be meant. `AuthProvider`, "the auth
provider" and `AuthProvider.tsx` are one if a single file has that name; with two such files the
name stays an entity of its own, and a bare `index.ts` that many folders have means none of them.
Decisions of people are applied last and win, the later over the earlier. Nothing is kept from one
run to the next, so an undone decision leaves no trace.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from holdfast.language import file_stem
from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.graph import Entity, EntityKind, SpellingSource
from holdfast.model.uris import parse_uri
from holdfast.refine.entities.name_finder import GENERIC, is_compound
from holdfast.store.knowledge.graph import DatedAlias, ResolvedEntity, Spelling

_NAME_SOURCES = (
    SpellingSource.NAME,
    SpellingSource.PACKAGE,
    SpellingSource.PHRASE,
    SpellingSource.PROPER,
)
# The sources that make a group of spellings an entity of a kind; the first kind that fits decides.
_SOURCES_OF_KIND = {
    EntityKind.PERSON: (SpellingSource.PERSON,),
    EntityKind.COMPONENT: (SpellingSource.NAME, SpellingSource.PACKAGE),
    EntityKind.FILE: (SpellingSource.FILE, SpellingSource.PATH),
    EntityKind.CONCEPT: tuple(SpellingSource),
}
# The sources that prove something to exist: tools and people name it.
_PROVEN_SOURCES = {
    *_SOURCES_OF_KIND[EntityKind.PERSON],
    *_SOURCES_OF_KIND[EntityKind.COMPONENT],
    SpellingSource.FILE,
    SpellingSource.ISSUE,
}
_SOURCE_RANK = {source: rank for rank, source in enumerate(SpellingSource)}
# A shorter key ("main", "log") is an ordinary word, and is not joined with the file of that name.
_MIN_FILE_KEY_CHARS = 5
# Records that must mention something that only prose names. One record is not enough: it may be a
# turn of phrase.
_MIN_PROSE_RECORDS = 2
# Aliases kept of one entity, the most frequent first.
_MAX_ALIASES = 24


class _Groups:
    """A union-find structure over the numbers of spellings."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._parents = {number: number for number in numbers}

    def root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._parents[second] = first

    def members(self) -> list[list[int]]:
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for number in self._parents:
            groups[self.root(number)].append(number)
        return list(groups.values())


def resolve_entities(
    bank: str,
    spellings: Sequence[Spelling],
    same: Sequence[DatedAlias],
    log: Sequence[Curation],
    curated: Iterable[CurationState],
) -> list[ResolvedEntity]:
    """The entities of a bank, in order of their ids. `same` are pairs of names that records prove
    to be one, in order of time; `log` are the decisions in force, the oldest first."""
    by_number = {s.number: s for s in spellings}
    by_id = {s.id: s for s in spellings}
    split, merged = _decided(log, by_id)
    free = [s for s in spellings if s.number not in split]
    groups = _Groups(by_number)
    latest = _join_files(groups, free, same, {by_number[number].text for number in split})
    _join_people(groups, free, same)
    _join_names(groups, free)
    for one, other in merged:
        groups.join(one, other)
    decided = {number for pair in merged for number in pair} | split
    decisions = {c.id: c for c in curated}
    found: list[ResolvedEntity] = []
    for members in groups.members():
        own = [by_number[number] for number in members]
        if _is_entity(own) or decided & set(members):
            entity = _make_entity(bank, own, latest, decisions)
            if entity is not None:
                found.append(ResolvedEntity(entity, tuple(sorted(members))))
    return sorted(found, key=lambda one: one.entity.id)


def _decided(
    log: Sequence[Curation], by_id: Mapping[str, Spelling]
) -> tuple[set[int], list[tuple[int, int]]]:
    """The spellings that people split off, and the pairs that they merged. A split undoes earlier
    merges of the same spelling; merges are applied after splits, so a later merge wins too."""
    split: set[int] = set()
    merged: list[tuple[int, int]] = []
    for entry in log:
        target = _spelling_number(entry.target, by_id)
        if target is None:
            continue
        if entry.action is Action.SPLIT:
            split.add(target)
            merged = [pair for pair in merged if target not in pair]
        elif entry.action is Action.MERGE:
            into = _spelling_number(entry.text, by_id)
            if into is not None:
                merged.append((target, into))
    return split, merged


def _spelling_number(uri: str, by_id: Mapping[str, Spelling]) -> int | None:
    named = parse_uri(uri)
    if named is None or named.kind != "entity" or named.id not in by_id:
        return None
    return by_id[named.id].number


def _join_files(
    groups: _Groups, free: Sequence[Spelling], same: Sequence[DatedAlias], split_texts: set[str]
) -> dict[str, str]:
    """Join old paths of renamed files with the new ones, unless a person split them, and paths in
    texts with the only file they can mean. Returns for each new path a key by which the latest
    rename sorts last."""
    files = {s.text: s.number for s in free if s.source is SpellingSource.FILE}
    latest: dict[str, str] = {}
    renames = [
        pair
        for pair in same
        if pair.alias.source is SpellingSource.FILE
        and not split_texts & {pair.alias.one, pair.alias.other}
    ]
    # A text may use an old path that no record has as a file. The latest rename comes first, so
    # that all old paths of a file that was renamed twice lead to the last one.
    for _, (_, one, other) in reversed(renames):
        if one not in files and other in files:
            files[one] = files[other]
    for time, (_, one, other) in renames:
        if one in files and other in files:
            groups.join(files[one], files[other])
            latest[other] = f"{time} {len(latest):08}"
            latest.pop(one, None)
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in files:
        by_name[path.rpartition("/")[2]].append(path)
    for s in free:
        if s.source is not SpellingSource.PATH:
            continue
        meant = [s.text] if s.text in files else _ending_in(s.text, by_name)
        roots = {groups.root(files[path]) for path in meant}
        if len(roots) == 1:
            groups.join(s.number, files[meant[0]])
    return latest


def _ending_in(path: str, by_name: Mapping[str, Sequence[str]]) -> list[str]:
    """The files whose path ends in this one; if none, those in which this (longer) path ends."""
    same_name = by_name.get(path.rpartition("/")[2], ())
    longer = [known for known in same_name if known.endswith(f"/{path}")]
    return longer or [known for known in same_name if "/" in known and path.endswith(f"/{known}")]


def _join_people(groups: _Groups, free: Sequence[Spelling], same: Sequence[DatedAlias]) -> None:
    """Join the names and addresses of a person, and a first name that only one person has."""
    people = {s.text: s.number for s in free if s.source is SpellingSource.PERSON}
    for _, (sort, one, other) in same:
        if sort is SpellingSource.PERSON and one in people and other in people:
            groups.join(people[one], people[other])
    people_by_name: defaultdict[str, set[int]] = defaultdict(set)
    for name, number in people.items():
        if "@" not in name:
            for word in {name.lower(), name.lower().split()[0]}:
                people_by_name[word].add(groups.root(number))
    for s in free:
        if s.source in (SpellingSource.PROPER, SpellingSource.PERSON):
            meant = {groups.root(number) for number in people_by_name.get(s.text.lower(), ())}
            if len(meant) == 1:
                groups.join(s.number, next(iter(meant)))


def _join_names(groups: _Groups, free: Sequence[Spelling]) -> None:
    """Join names with the same key, with each other and with the only file of that name."""
    people = {groups.root(s.number) for s in free if s.source is SpellingSource.PERSON}
    by_key: defaultdict[str, list[Spelling]] = defaultdict(list)
    files: defaultdict[str, list[Spelling]] = defaultdict(list)
    for s in free:
        if s.source in _NAME_SOURCES and s.key and groups.root(s.number) not in people:
            by_key[s.key].append(s)
        if s.source is SpellingSource.FILE:
            files[s.key].append(s)
    for key, own in by_key.items():
        for other in own[1:]:
            groups.join(own[0].number, other.number)
        named = files.get(key, [])
        meant = {groups.root(file.number) for file in named}
        is_specific = len(key) >= _MIN_FILE_KEY_CHARS and key not in GENERIC
        if is_specific and len(meant) == 1 and any(_is_file_name(s, named[0]) for s in own):
            groups.join(own[0].number, next(iter(meant)))


def _is_file_name(s: Spelling, file: Spelling) -> bool:
    """Whether a spelling means the file: it has several words, or is exactly the file's name."""
    if s.source is SpellingSource.PROPER:
        return is_compound(s.text)
    return " " in s.text or is_compound(s.text) or s.text.lower() == file_stem(file.text).lower()


def _is_entity(own: Sequence[Spelling]) -> bool:
    """Whether a group of spellings is an entity. What tools or people prove always is; what only
    prose mentions must occur in two records and sessions; a bare file name that fits many files is
    none."""
    sources = {s.source for s in own}
    if sources & _PROVEN_SOURCES:
        return True
    if sources == {SpellingSource.COMMIT}:
        return any(s.records > 1 for s in own)
    if sources == {SpellingSource.PATH} and not any("/" in s.text for s in own):
        return False
    return sum(s.records for s in own) >= _MIN_PROSE_RECORDS and max(s.sessions for s in own) > 1


def _make_entity(
    bank: str,
    own: Sequence[Spelling],
    latest: Mapping[str, str],
    decisions: Mapping[str, CurationState],
) -> Entity | None:
    """The entity of a group of spellings; None if a person forgot it."""
    ranked = sorted(own, key=lambda s: (_SOURCE_RANK[s.source], s.text))
    decided = [decisions[s.id] for s in ranked if s.id in decisions]
    if any(c.forgotten for c in decided):
        return None
    sources = {s.source for s in own}
    kind = next(kind for kind, fit in _SOURCES_OF_KIND.items() if sources & set(fit))
    corrected = next((c.text for c in decided if c.text), "")
    name = corrected or _canonical(own, kind, latest)
    often = sorted(own, key=lambda s: (-s.records, s.text))
    aliases = tuple(dict.fromkeys(s.text for s in often if s.text != name))[:_MAX_ALIASES]
    return Entity(bank, ranked[0].id, kind, name, aliases)


def _canonical(own: Sequence[Spelling], kind: EntityKind, latest: Mapping[str, str]) -> str:
    """The name of an entity: the fullest of a person, the latest of a file, else the most used."""
    fit = [s for s in own if s.source in _SOURCES_OF_KIND[kind]]
    if kind is EntityKind.PERSON:
        fit = [s for s in fit if "@" not in s.text] or fit
        return min(fit, key=lambda s: (-len(s.text.split()), -s.records, s.text)).text
    if kind is EntityKind.FILE:
        moved = [s for s in fit if s.text in latest]
        fit = [max(moved, key=lambda s: latest[s.text])] if moved else fit
        proven = [s for s in fit if s.source is SpellingSource.FILE] or fit
        return min(proven, key=lambda s: (-s.records, s.text)).text
    uses: Counter[str] = Counter()
    for s in fit:
        uses[s.text] += s.records
    return min(uses, key=lambda text: (-uses[text], text))
