"""What a record mentions, and which part each thing plays in it.

A pure function of the record as it is shown: an exchange with its turns, a digest, a commit, a
remembered text. What many records would mention only in passing is left out, so that a record has
a bounded place in the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.language import is_trouble, plain, relations, sentences
from holdfast.model.graph import Mention, Node, Part, Same, Sort
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit
from holdfast.refine.core import signals
from holdfast.refine.entities import name_finder

MOST = 48
_MOST_FILES = 24
_READ = 4000
_TURNS = 60
_SENTENCES = 40
_PARTS = {
    "causes": (Part.CAUSE, Part.EFFECT),
    "enables": (Part.MENTIONED, Part.PURPOSE),
    "prevents": (Part.MENTIONED, Part.AVERTED),
}


class Gathered:
    """The mentions of one record, those that matter first."""

    def __init__(self) -> None:
        self._parts: dict[tuple[Sort, str], Part] = {}
        self._key: dict[tuple[Sort, str], str] = {}
        self._count: dict[tuple[Sort, str], int] = {}
        self.same: dict[Same, None] = {}

    def add(self, mentions: Iterable[Mention], parts: Part = Part.MENTIONED) -> None:
        """Take mentions in, in a part besides their own."""
        for m in mentions:
            name = (m.sort, m.text)
            self._parts[name] = self._parts.get(name, Part.MENTIONED) | m.parts | parts
            self._key[name] = m.key
            self._count[name] = self._count.get(name, 0) + 1

    def name(self, text: str, parts: Part = Part.MENTIONED) -> None:
        """Take in all that a text names."""
        self.add(name_finder.names_in(text[:_READ]), parts)

    def say(self, text: str, parts: Part = Part.MENTIONED) -> None:
        """The same, and what its sentences say of it."""
        self.name(text, parts)
        for sentence in sentences(text[:_READ])[:_SENTENCES]:
            self._hear(sentence)

    def _hear(self, sentence: str) -> None:
        trouble, related = is_trouble(sentence), relations(sentence)
        named = list(name_finder.names_in(sentence)) if trouble or related else []
        if trouble:
            self.add(named, Part.PROBLEM)
        for relation in related if named else ():
            first, then = _PARTS[relation.how]
            self.add(name_finder.names_in(relation.first), first)
            self.add(name_finder.names_in(relation.then), then)

    def know(self, name: str, email: str = "") -> None:
        """Take somebody in."""
        mentions, same = name_finder.person(name, email)
        self.add(mentions)
        self.same |= dict.fromkeys(same)

    def mentions(self) -> tuple[Mention, ...]:
        """The mentions that are kept: by the parts they play, then by how often they occur."""
        ranked = sorted(
            self._parts, key=lambda n: (-self._parts[n].bit_count(), -self._count[n], n)
        )
        return tuple(
            Mention(
                sort,
                text,
                self._key[sort, text],
                self._parts[sort, text],
                content_id("entity", sort.value, text),
            )
            for sort, text in sorted(ranked[:MOST])
        )


def exchange_hash(exchange: Exchange, turns: Sequence[Turn]) -> str:
    """What tells whether an exchange must be read again."""
    told = [
        f"{t.id}\x00{t.text}\x00{t.speaker}\x00{t.tool.ok}{t.tool.target}{t.tool.action}"
        if t.tool
        else f"{t.id}\x00{t.text}\x00{t.speaker}"
        for t in turns
    ]
    x = exchange
    return content_id(x.title, x.summary, *x.facts, *x.files_modified, *x.files_read, *told)


def of_exchange(
    exchange: Exchange, turns: Sequence[Turn], hash: str, told: Sequence[str] = ()
) -> Node:
    """An exchange with what was said and done in it, and what a model `told` to be involved."""
    x = exchange
    found = Gathered()
    for name in told:
        found.add(list(name_finder.names_in(name)) or [name_finder.told_mention(name)])
    found.say(x.title, Part.ABOUT)
    for text in (x.summary, *x.facts):
        found.say(plain(text))
    mended = any(signals.ran_tests(t) and t.tool and t.tool.ok for t in turns)
    touched = Part.TOUCHED | (Part.MENDED if mended else Part.MENTIONED)
    found.add(name_finder.file_mention(path, touched) for path in x.files_modified[:_MOST_FILES])
    found.add(name_finder.file_mention(path) for path in x.files_read[:_MOST_FILES])
    for turn in turns[:_TURNS]:
        _take_turn(found, turn)
    return Node(
        "exchange", x.id, x.session, x.started, hash, found.mentions(), tuple(sorted(found.same))
    )


def _take_turn(found: Gathered, turn: Turn) -> None:
    tool = turn.tool
    if tool is None:
        if turn.speaker:
            found.know(turn.speaker)
        # What came of what is read from what sums up: in passing much is put down to much.
        found.name(turn.text)
        return
    if tool.name not in signals.SHELL_TOOLS:
        return
    found.add(name_finder.packages_in(tool.action))
    if tool.ok is not False:
        for same in name_finder.moves_in(tool.action):
            found.same[same] = None
            found.add(name_finder.file_mention(p, Part.TOUCHED) for p in (same.one, same.other))
    elif signals.ran_tests(turn):
        found.add(name_finder.names_in(f"{tool.action}\n{tool.result}"), Part.PROBLEM)


def of_digest(digest: Digest) -> Node:
    """A digest by its own words."""
    d = digest
    told = (*d.completed, *d.learned, *d.investigated, *d.next_steps)
    found = Gathered()
    found.say(plain(d.request), Part.ABOUT)
    for text in told:
        found.say(plain(text))
    return Node(
        "digest", d.id, d.session, d.started, digest_hash(d), found.mentions(),
        tuple(sorted(found.same)),
    )  # fmt: skip


def digest_hash(digest: Digest) -> str:
    """What tells whether a digest must be read again."""
    d = digest
    return content_id(d.request, *d.completed, *d.learned, *d.investigated, *d.next_steps)


def of_commit(commit: Commit, hash: str) -> Node:
    """A commit: itself, its author, its message and its files."""
    c = commit
    found = Gathered()
    found.add([name_finder.commit_mention(c.id, Part.ABOUT | Part.EFFECT | Part.PROBLEM)])
    found.know(c.author, c.email)
    for name, email in name_finder.people_in(c.body):
        found.know(name, email)
    found.say(c.subject, Part.ABOUT)
    found.say(c.body)
    found.add(name_finder.file_mention(path, Part.TOUCHED) for path in c.files[:_MOST_FILES])
    for sentence in (c.subject, *c.body.splitlines()):
        _take_trailer(found, sentence)
    return Node("commit", c.id, "", c.time, hash, found.mentions(), tuple(sorted(found.same)))


def _take_trailer(found: Gathered, line: str) -> None:
    """`Fixes: 1a2b3c4` puts a commit down to another, "reverts commit" takes it back."""
    low = line.lower()
    causes = low.startswith(("fix", "caused-by", "caused by", "clos", "resolv"))
    if not causes and "revert" not in low:
        return
    mentions = [m for m in name_finder.names_in(line) if m.sort in (Sort.COMMIT, Sort.ISSUE)]
    found.add(mentions, Part.CAUSE if causes else Part.AVERTED)


def of_memory(memory: Memory, hash: str) -> Node:
    """A remembered text."""
    found = Gathered()
    found.say(memory.what, Part.ABOUT)
    return Node(
        "memory", memory.id, "", memory.when, hash, found.mentions(), tuple(sorted(found.same))
    )
