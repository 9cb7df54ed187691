"""Which spellings mean the same: a function of all spellings of a bank and of people's decisions.

Two spellings are one entity only where nothing else could be meant. `AuthProvider`, "the auth
provider" and `AuthProvider.tsx` are, if one file alone is called so; with two such files the
name stands by itself, and a bare `index.ts` that many folders have stands for nothing. What people
decided comes last and wins: the later decision over the earlier. Nothing is remembered from one
time to the next, so a decision that is undone leaves no trace.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from holdfast.language import file_stem
from holdfast.model.curation import Action, Curated, Curation
from holdfast.model.graph import Entity, EntityKind, Sort
from holdfast.model.uris import parse_uri
from holdfast.refine.entities.name_finder import GENERIC, is_compound
from holdfast.store.protocol.graph import DatedAlias, ResolvedEntity, Spelling

_NAMED = (Sort.NAME, Sort.PACKAGE, Sort.PHRASE, Sort.PROPER)
_ORDER = {sort: place for place, sort in enumerate(Sort)}
_SHORTEST_SHARED = 5
# How many records must speak of something that only prose names.
_OFTEN = 2
_MOST_ALIASES = 24


class _Groups:
    """Sets of spellings that are one, by number."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._above = {number: number for number in numbers}

    def root(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._above[second] = first

    def members(self) -> list[list[int]]:
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for number in self._above:
            groups[self.root(number)].append(number)
        return list(groups.values())


def resolve(
    bank: str,
    spellings: Sequence[Spelling],
    same: Sequence[DatedAlias],
    log: Sequence[Curation],
    curated: Iterable[Curated],
) -> list[ResolvedEntity]:
    """The entities of a bank; `log` is the decisions that stand, oldest first."""
    by_number = {s.number: s for s in spellings}
    by_id = {s.id: s for s in spellings}
    apart, joined = _decided(log, by_id)
    free = [s for s in spellings if s.number not in apart]
    groups = _Groups(by_number)
    latest = _join_files(groups, free, same, {by_number[number].text for number in apart})
    _join_people(groups, free, same)
    _join_names(groups, free)
    for one, other in joined:
        groups.join(one, other)
    asked = {number for pair in joined for number in pair} | apart
    told = {c.id: c for c in curated}
    found: list[ResolvedEntity] = []
    for members in groups.members():
        own = [by_number[number] for number in members]
        if _means_something(own) or asked & set(members):
            entity = _entity(bank, own, latest, told)
            if entity is not None:
                found.append(ResolvedEntity(entity, tuple(sorted(members))))
    return sorted(found, key=lambda one: one.entity.id)


def _decided(
    log: Sequence[Curation], by_id: Mapping[str, Spelling]
) -> tuple[set[int], list[tuple[int, int]]]:
    """The spellings that stand by themselves, and the pairs that are one; a split takes back what
    was merged with that very spelling before, a merge what was split."""
    apart: set[int] = set()
    joined: list[tuple[int, int]] = []
    for entry in log:
        target = _spelling(entry.target, by_id)
        if target is None:
            continue
        if entry.action is Action.SPLIT:
            apart.add(target)
            joined = [pair for pair in joined if target not in pair]
        elif entry.action is Action.MERGE:
            into = _spelling(entry.text, by_id)
            if into is not None:
                joined.append((target, into))
    return apart, joined


def _spelling(uri: str, by_id: Mapping[str, Spelling]) -> int | None:
    named = parse_uri(uri)
    if named is None or named.word != "entity" or named.id not in by_id:
        return None
    return by_id[named.id].number


def _join_files(
    groups: _Groups, free: Sequence[Spelling], same: Sequence[DatedAlias], parted: set[str]
) -> dict[str, str]:
    """Join old paths with new ones, unless a person has parted them, and paths that texts name
    with the one file that is meant; returns when each path was last the new one."""
    files = {s.text: s.number for s in free if s.sort is Sort.FILE}
    latest: dict[str, str] = {}
    moves = [
        pair
        for pair in same
        if pair.same.sort is Sort.FILE and not parted & {pair.same.one, pair.same.other}
    ]
    # An old name that no record has as a file's may still be what a text means. The latest
    # renaming comes first, so that the names of a file that was renamed twice lead to the last.
    for _, (_, one, other) in reversed(moves):
        if one not in files and other in files:
            files[one] = files[other]
    for time, (_, one, other) in moves:
        if one in files and other in files:
            groups.join(files[one], files[other])
            latest[other] = f"{time} {len(latest):08}"
            latest.pop(one, None)
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in files:
        by_name[path.rpartition("/")[2]].append(path)
    for s in free:
        if s.sort is not Sort.PATH:
            continue
        meant = [s.text] if s.text in files else _ending_in(s.text, by_name)
        roots = {groups.root(files[path]) for path in meant}
        if len(roots) == 1:
            groups.join(s.number, files[meant[0]])
    return latest


def _ending_in(path: str, by_name: Mapping[str, Sequence[str]]) -> list[str]:
    """The files whose path ends in this one, or that this one, being longer, ends in."""
    alike = by_name.get(path.rpartition("/")[2], ())
    within = [known for known in alike if known.endswith(f"/{path}")]
    return within or [known for known in alike if "/" in known and path.endswith(f"/{known}")]


def _join_people(groups: _Groups, free: Sequence[Spelling], same: Sequence[DatedAlias]) -> None:
    """Join a person's names and addresses, and a first name that only one person has."""
    people = {s.text: s.number for s in free if s.sort is Sort.PERSON}
    for _, (sort, one, other) in same:
        if sort is Sort.PERSON and one in people and other in people:
            groups.join(people[one], people[other])
    called: defaultdict[str, set[int]] = defaultdict(set)
    for name, number in people.items():
        if "@" not in name:
            for word in {name.lower(), name.lower().split()[0]}:
                called[word].add(groups.root(number))
    for s in free:
        if s.sort in (Sort.PROPER, Sort.PERSON):
            meant = {groups.root(number) for number in called.get(s.text.lower(), ())}
            if len(meant) == 1:
                groups.join(s.number, next(iter(meant)))


def _join_names(groups: _Groups, free: Sequence[Spelling]) -> None:
    """Join names that fold to the same, with each other and with the one file of that name."""
    people = {groups.root(s.number) for s in free if s.sort is Sort.PERSON}
    by_key: defaultdict[str, list[Spelling]] = defaultdict(list)
    for s in free:
        if s.sort in _NAMED and s.key and groups.root(s.number) not in people:
            by_key[s.key].append(s)
    files: defaultdict[str, list[Spelling]] = defaultdict(list)
    for s in free:
        if s.sort is Sort.FILE:
            files[s.key].append(s)
    for key, own in by_key.items():
        for other in own[1:]:
            groups.join(own[0].number, other.number)
        named = files.get(key, [])
        meant = {groups.root(file.number) for file in named}
        shared = len(key) >= _SHORTEST_SHARED and key not in GENERIC
        if shared and len(meant) == 1 and any(_is_exact(s, named[0]) for s in own):
            groups.join(own[0].number, next(iter(meant)))


def _is_exact(s: Spelling, file: Spelling) -> bool:
    """Whether a spelling is the name of a file rather than a word that it happens to have too: of
    several words, or the very word."""
    if s.sort is Sort.PROPER:
        return is_compound(s.text)
    return " " in s.text or is_compound(s.text) or s.text.lower() == file_stem(file.text).lower()


def _means_something(own: Sequence[Spelling]) -> bool:
    """Whether spellings are an entity: what tools and people prove is one, what only prose says
    must be said more than once, and a bare file name that fits many files is none."""
    sorts = {s.sort for s in own}
    if sorts & {Sort.FILE, Sort.NAME, Sort.PACKAGE, Sort.PERSON, Sort.ISSUE}:
        return True
    if sorts == {Sort.COMMIT}:
        return any(s.records > 1 for s in own)
    if sorts == {Sort.PATH} and not any("/" in s.text for s in own):
        return False
    return sum(s.records for s in own) >= _OFTEN and max(s.sessions for s in own) > 1


def _entity(
    bank: str, own: Sequence[Spelling], latest: Mapping[str, str], told: Mapping[str, Curated]
) -> Entity | None:
    """The entity of some spellings; None if a person wants none of it."""
    ranked = sorted(own, key=lambda s: (_ORDER[s.sort], s.text))
    decided = [told[s.id] for s in ranked if s.id in told]
    if any(c.forgotten for c in decided):
        return None
    kind = _kind(own)
    corrected = next((c.text for c in decided if c.text), "")
    name = corrected or _canonical(own, kind, latest)
    often = sorted(own, key=lambda s: (-s.records, s.text))
    aliases = tuple(dict.fromkeys(s.text for s in often if s.text != name))[:_MOST_ALIASES]
    return Entity(bank, ranked[0].id, kind, name, aliases)


def _kind(own: Sequence[Spelling]) -> EntityKind:
    sorts = {s.sort for s in own}
    if Sort.PERSON in sorts:
        return EntityKind.PERSON
    if sorts & {Sort.NAME, Sort.PACKAGE}:
        return EntityKind.COMPONENT
    return EntityKind.FILE if sorts & {Sort.FILE, Sort.PATH} else EntityKind.CONCEPT


def _canonical(own: Sequence[Spelling], kind: EntityKind, latest: Mapping[str, str]) -> str:
    """The name to call it by: a person's fullest, a file's latest, else what is said most."""
    wanted = {
        EntityKind.PERSON: (Sort.PERSON,),
        EntityKind.FILE: (Sort.FILE, Sort.PATH),
        EntityKind.COMPONENT: (Sort.NAME, Sort.PACKAGE),
    }.get(kind, tuple(Sort))
    fit = [s for s in own if s.sort in wanted]
    if kind is EntityKind.PERSON:
        fit = [s for s in fit if "@" not in s.text] or fit
        return min(fit, key=lambda s: (-len(s.text.split()), -s.records, s.text)).text
    if kind is EntityKind.FILE:
        moved = [s for s in fit if s.text in latest]
        fit = [max(moved, key=lambda s: latest[s.text])] if moved else fit
        proven = [s for s in fit if s.sort is Sort.FILE] or fit
        return min(proven, key=lambda s: (-s.records, s.text)).text
    said: Counter[str] = Counter()
    for s in fit:
        said[s.text] += s.records
    return min(said, key=lambda text: (-said[text], text))
