"""Describes concepts: name, summary, files, keywords and history, all taken from their members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from holdfast.language import sentences, stem, truncate
from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Concept, ConceptEvent
from holdfast.model.trust import Trust, least_trusted
from holdfast.model.uris import uri
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.concept_names import UNNAMED, title_name
from holdfast.refine.concepts.file_names import file_weight
from holdfast.refine.concepts.grouping import Group, GroupEvent
from holdfast.refine.concepts.items import Item
from holdfast.refine.concepts.process_words import is_process_stem


class DescriptionLimits(NamedTuple):
    """How much a concept shows: one screen in the list, details in the record itself."""

    max_files: int = 8
    max_keywords: int = 8
    max_in_summary: int = 3  # files and keywords each
    max_summary_chars: int = 500
    max_latest_chars: int = 280  # of the text of the latest item
    max_events: int = 40  # of the history, the latest; its founding is always kept
    max_founder_title_chars: int = 80


_LIMITS = DescriptionLimits()


def describe(
    bank: str, builder: ConceptBuilder, group: Group, name: str, known: CurationState | None
) -> Concept:
    """The concept of a group. A correction is its name (first line) and summary."""
    items = builder.members(group)
    files = _files(builder, items)
    keywords = _keywords(builder, items)
    times = [item.time for item in items if item.time]
    correction = known.text if known is not None else ""
    corrected_name, _, corrected_summary = correction.partition("\n")
    return Concept(
        bank,
        group.id,
        corrected_name.strip() if correction else name,
        corrected_summary.strip() or _summary(items, files, keywords),
        times[-1] if times else "",
        _trust(items, known),
        tuple(item.uri for item in items),
        files,
        keywords,
        times[0] if times else "",
        _history(group, items, name),
    )


def _trust(items: Sequence[Item], known: CurationState | None) -> Trust:
    own = least_trusted(item.trust for item in items)
    return known.trust_of(own) if known is not None and known.by_agent else own


def _files(builder: ConceptBuilder, items: Sequence[Item]) -> tuple[str, ...]:
    """The files that were changed most often; those that every project has come last."""
    counts = Counter(file for item in items for file in dict.fromkeys(item.changed_files))
    weights = builder.grouping.weights

    def score(file: str) -> float:
        return counts[file] * weights.rarity(f"f {file}") * file_weight(file)

    ranked = sorted(counts, key=lambda file: (-score(file), file))
    return tuple(ranked[: _LIMITS.max_files])


def _keywords(builder: ConceptBuilder, items: Sequence[Item]) -> tuple[str, ...]:
    """The keywords that many members and few other items of the bank have."""
    counts: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for item in items:
        for word in item.keywords:
            key = stem(word.lower())
            counts[key] += 1
            spellings.setdefault(key, Counter())[word] += 1
    scores = {
        key: n * builder.grouping.weights.rarity(key)
        for key, n in counts.items()
        if (n > 1 or len(items) < 3) and not is_process_stem(key)
    }
    ranked = sorted(scores, key=lambda key: (-scores[key], key))[: _LIMITS.max_keywords]
    return tuple(min(spellings[k], key=lambda w: (-spellings[k][w], w)) for k in ranked)


def _summary(items: Sequence[Item], files: Sequence[str], keywords: Sequence[str]) -> str:
    """How many records there are and when, what they are about and where, and the latest one."""
    kinds = Counter(item.kind for item in items)
    nouns = {"exchange": "exchange", "memory": "remembered text", "fact": "fact"}
    parts = [
        f"{n} {nouns.get(kind, kind)}{'' if n == 1 else 's'}" for kind, n in sorted(kinds.items())
    ]
    days = [item.time[:10] for item in items if item.time]
    when = ""
    if days:
        when = f" on {days[0]}" if days[0] == days[-1] else f" from {days[0]} to {days[-1]}"
    shown = _LIMITS.max_in_summary
    about = f" about {', '.join(keywords[:shown])}" if keywords else ""
    where = f", mostly in {', '.join(files[:shown])}" if files else ""
    summary = f"{' and '.join(parts)}{when}{about}{where}. {_latest(items)}".strip()
    return truncate(summary, _LIMITS.max_summary_chars)


def _latest(items: Sequence[Item]) -> str:
    """The date, outcome, title and text of the last item that has a topic."""
    last = next((item for item in reversed(items) if item.has_topic), items[-1])
    text = ""
    for sentence in sentences(last.text):
        if text and len(text) + len(sentence) > _LIMITS.max_latest_chars:
            break
        text = f"{text} {sentence}".strip()
    outcome = f", {last.outcome}" if last.outcome else ""
    title = last.title if last.title.endswith(("…", ".", "?", "!")) else f"{last.title}."
    return f"Latest ({last.time[:10] or 'undated'}{outcome}): {title} {text}".strip()


def _history(group: Group, items: Sequence[Item], name: str) -> tuple[ConceptEvent, ...]:
    """The events of a concept: its founding, and the latest of what happened to it since."""
    founder = items[0]
    title = truncate(founder.title, _LIMITS.max_founder_title_chars)
    founding = ConceptEvent(founder.time, "founded", f"by {founder.uri}: {title}")
    events: list[ConceptEvent] = []
    last_name = ""
    spellings = _spellings(items)
    for event in group.events:
        events.append(_describe_event(event, last_name, spellings))
        last_name = event.name if event.what in ("named", "renamed") else last_name
    if name not in (last_name, UNNAMED):
        event = GroupEvent(items[-1].time, "renamed" if last_name else "named", "", name)
        events.append(_describe_event(event, last_name, spellings))
    return (founding, *events[-_LIMITS.max_events :])


def _describe_event(
    event: GroupEvent, last_name: str, spellings: Mapping[str, str]
) -> ConceptEvent:
    features = ", ".join(_feature_text(feature, spellings) for feature in event.features)
    other = uri("concept", event.other)
    other = f'"{event.name}" ({other})' if event.name else other
    match event.what:
        case "named":
            what, why = f'named "{event.name}"', "what its records have in common"
        case "renamed":
            what, why = f'renamed "{event.name}"', f'was "{last_name}"'
        case "merged":
            what, why = f"took in {other}", f"both are about {features}"
        case "split":
            what, why = f"let go {other}", f"that is about {features}"
        case "joined":
            what, why = f"took in {other}", "a person merged them"
        case _:
            what, why = f"parted from {other}", f"this is about {features}"
    return ConceptEvent(event.time, what, why)


def _spellings(items: Sequence[Item]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in items:
        for word in (*item.keywords, *item.title.split()):
            found.setdefault(stem(word.lower()), word)
    return found


def _feature_text(feature: str, spellings: Mapping[str, str]) -> str:
    """A feature as people write it: a file or name without its prefix, a stem as spelled."""
    prefix, _, name = feature.partition(" ")
    return name if name and prefix in ("f", "r", "d", "n") else spellings.get(feature, feature)


def choose_names(builder: ConceptBuilder, groups: Sequence[Group]) -> dict[str, str]:
    """A name for each concept, by id. No two are the same, in whatever spelling; the elder concept
    gets its first. A concept whose name is taken has none, unless a person decided about it."""
    taken: set[str] = set()
    chosen: dict[str, str] = {}
    for group in groups:
        members = builder.members(group)
        name = builder.namer.proven_name(members)
        if name is None and builder.is_decided(group):
            name = next(iter(builder.namer.names(members)), None)
        if name is not None and name.folded not in taken:
            chosen[group.id] = name.text
            taken.add(name.folded)
        elif builder.is_decided(group):
            chosen[group.id] = _numbered(title_name(members), set(chosen.values()))
    return chosen


def _numbered(name: str, taken: Container[str]) -> str:
    """The name, with a number after it if it is taken."""
    names = (name, *(f"{name} ({number})" for number in range(2, 1000)))
    return next(one for one in names if one not in taken)
