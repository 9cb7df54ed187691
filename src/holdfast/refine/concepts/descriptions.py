"""A concept in words: name, summary, files, keywords, history. All of it was said or touched by its
members; nothing is made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from holdfast.language import cut, sentences, stem
from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Concept, ConceptEvent
from holdfast.model.trust import least_trusted
from holdfast.model.uris import uri
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.grouping import Group, GroupEvent
from holdfast.refine.concepts.items import Item, file_weight, is_process_stem

_FILES = 8
_KEYWORDS = 8
_IN_SUMMARY = 3
_SUMMARY = 500
_LATEST = 280
_HISTORY = 40
_UNNAMED = "Unnamed"


def describe(bank: str, story: ConceptBuilder, group: Group, name: str, known: CurationState | None) -> Concept:
    """The concept that a group is. A person's name for it stands."""
    items = story.members(group)
    files = _files(story, items)
    keywords = _keywords(story, items)
    times = [item.time for item in items if item.time]
    said = known.text.partition("\n") if known is not None and known.text else None
    summary = said[2].strip() if said else ""
    return Concept(
        bank,
        group.id,
        said[0].strip() if said else name,
        summary or _summary(items, files, keywords),
        times[-1] if times else "",
        least_trusted(item.trust for item in items),
        tuple(item.uri for item in items),
        files,
        keywords,
        times[0] if times else "",
        _history(story, group, items, name),
    )


def _files(story: ConceptBuilder, items: Sequence[Item]) -> tuple[str, ...]:
    """What was changed most often, what every project has last."""
    counted = Counter(file for item in items for file in dict.fromkeys(item.changed_files))
    weights = story.grouping.weights

    def worth(file: str) -> float:
        return counted[file] * weights.rarity(f"f {file}") * file_weight(file)

    ranked = sorted(counted, key=lambda file: (-worth(file), file))
    return tuple(ranked[:_FILES])


def _keywords(story: ConceptBuilder, items: Sequence[Item]) -> tuple[str, ...]:
    """What most members are told by, and few others."""
    counted: Counter[str] = Counter()
    spelled: dict[str, Counter[str]] = {}
    for item in items:
        for word in item.keywords:
            key = stem(word.lower())
            counted[key] += 1
            spelled.setdefault(key, Counter())[word] += 1
    telling = {k: n * story.grouping.weights.rarity(k) for k, n in counted.items()}
    several = [k for k, n in counted.items() if (n > 1 or len(items) < 3) and not is_process_stem(k)]
    ranked = sorted(several, key=lambda k: (-telling[k], k))[:_KEYWORDS]
    return tuple(min(spelled[k], key=lambda w: (-spelled[k][w], w)) for k in ranked)


def _summary(items: Sequence[Item], files: Sequence[str], keywords: Sequence[str]) -> str:
    """How much there is and when, what it is about and where; and what came of it last."""
    kinds = Counter(item.kind for item in items)
    nouns = {"exchange": "exchange", "memory": "remembered text", "fact": "fact"}
    parts = [
        f"{n} {nouns.get(kind, kind)}{'' if n == 1 else 's'}" for kind, n in sorted(kinds.items())
    ]
    days = [item.time[:10] for item in items if item.time]
    when = ""
    if days:
        when = f" on {days[0]}" if days[0] == days[-1] else f" from {days[0]} to {days[-1]}"
    about = f" about {', '.join(keywords[:_IN_SUMMARY])}" if keywords else ""
    where = f", mostly in {', '.join(files[:_IN_SUMMARY])}" if files else ""
    return cut(f"{' and '.join(parts)}{when}{about}{where}. {_latest(items)}".strip(), _SUMMARY)


def _latest(items: Sequence[Item]) -> str:
    """The last thing that was said of it, and how that ended."""
    speaking = [item for item in items if item.has_topic] or list(items)
    last = speaking[-1]
    told = ""
    for sentence in sentences(last.text):
        if told and len(told) + len(sentence) > _LATEST:
            break
        told = f"{told} {sentence}".strip()
    how = f", {last.outcome}" if last.outcome else ""
    title = last.title if last.title.endswith(("…", ".", "?", "!")) else f"{last.title}."
    return f"Latest ({last.time[:10] or 'undated'}{how}): {title} {told}".strip()


def _history(story: ConceptBuilder, group: Group, items: Sequence[Item], name: str) -> tuple[ConceptEvent, ...]:
    founder = items[0]
    told = [ConceptEvent(founder.time, "founded", f"by {founder.uri}: {cut(founder.title, 80)}")]
    called = ""
    spelled = _spellings(items)
    for one in group.events:
        told.append(_growth(one, called, spelled))
        called = one.name if one.what in ("named", "renamed") else called
    if called and name not in (called, _UNNAMED):
        time = items[-1].time
        told.append(ConceptEvent(time, f'renamed "{name}"', f'was "{called}"'))
    return (*told[:1], *told[1:][-_HISTORY:])


def _growth(told: GroupEvent, called: str, spelled: Mapping[str, str]) -> ConceptEvent:
    features = ", ".join(_spelled(feature, spelled) for feature in told.features)
    other = f'"{told.name}" ({uri("concept", told.other)})' if told.name else told.other
    other = other if told.name else uri("concept", told.other)
    match told.what:
        case "named":
            return ConceptEvent(told.time, f'named "{told.name}"', "what its records have in common")
        case "renamed":
            return ConceptEvent(told.time, f'renamed "{told.name}"', f'was "{called}"')
        case "merged":
            return ConceptEvent(told.time, f"took in {other}", f"both are about {features}")
        case "split":
            return ConceptEvent(told.time, f"let go {other}", f"that is about {features}")
        case "joined":
            return ConceptEvent(told.time, f"took in {other}", "a person merged them")
        case _:
            return ConceptEvent(told.time, f"parted from {other}", f"this is about {features}")


def _spellings(items: Sequence[Item]) -> dict[str, str]:
    """Stems as people spell them."""
    found: dict[str, str] = {}
    for item in items:
        for word in (*item.keywords, *item.title.split()):
            found.setdefault(stem(word.lower()), word)
    return found


def _spelled(feature: str, spelled: Mapping[str, str]) -> str:
    sort, _, name = feature.partition(" ")
    return name if name and sort in ("f", "r", "d", "n") else spelled.get(feature, feature)


def choose_names(story: ConceptBuilder, groups: Sequence[Group]) -> dict[str, str]:
    """A name for each concept, and no two alike; the elder chooses first."""
    taken: set[str] = set()
    chosen: dict[str, str] = {}
    for group in groups:
        names = story.namer.names(story.members(group))
        free = [name for name in names if name.lower() not in taken]
        number = 2
        while not free:
            name = f"{names[0]} ({number})"
            free = [name] if name.lower() not in taken else []
            number += 1
        # What it was called as it grew is as good as what it would be called now.
        kept = group.name if group.name and group.name.lower() not in taken else free[0]
        chosen[group.id] = free[0] if free[0] == names[0] else kept
        taken.add(chosen[group.id].lower())
    return chosen
