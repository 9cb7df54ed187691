"""What a record mentions, and which role each mentioned thing plays in it.

A pure function of the visible record: an exchange with its turns, a digest, a commit or a
remembered text. The number of mentions is bounded, those without a role are dropped first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import causal_relations, describes_failure, sentences, strip_markdown
from holdfast.model.graph import Mention, MentionRole, Node, ProvenAlias, SpellingSource
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit
from holdfast.refine.core import signals
from holdfast.refine.entities import name_finder


class MentionLimits(NamedTuple):
    """What is read of a record and kept for the graph. Higher limits add edges between records
    that have little to do with each other, and cost time."""

    max_mentions: int = 48
    max_files: int = 24
    max_turns: int = 60
    max_text_chars: int = 4000
    max_sentences: int = 40  # of one text


LIMITS = MentionLimits()
# The roles of the two sides of a relation between two things.
_ROLES = {
    "causes": (MentionRole.CAUSE, MentionRole.EFFECT),
    "enables": (MentionRole.MENTIONED, MentionRole.PURPOSE),
    "prevents": (MentionRole.MENTIONED, MentionRole.AVERTED),
}


class MentionCollector:
    """Collects the mentions of one record."""

    def __init__(self) -> None:
        self._parts: dict[tuple[SpellingSource, str], MentionRole] = {}
        self._key: dict[tuple[SpellingSource, str], str] = {}
        self._count: dict[tuple[SpellingSource, str], int] = {}
        self.same: dict[ProvenAlias, None] = {}

    def add(self, mentions: Iterable[Mention], parts: MentionRole = MentionRole.MENTIONED) -> None:
        """Add mentions; `parts` are roles in addition to their own."""
        for m in mentions:
            name = (m.source, m.text)
            self._parts[name] = self._parts.get(name, MentionRole.MENTIONED) | m.roles | parts
            self._key[name] = m.key
            self._count[name] = self._count.get(name, 0) + 1

    def add_names(self, text: str, parts: MentionRole = MentionRole.MENTIONED) -> None:
        """Add all names in a text."""
        self.add(name_finder.find_names(text[: LIMITS.max_text_chars]), parts)

    def add_text(self, text: str, parts: MentionRole = MentionRole.MENTIONED) -> None:
        """Add all names in a text, with the roles that its sentences give them."""
        text = strip_markdown(text)
        self.add_names(text, parts)
        for sentence in sentences(text[: LIMITS.max_text_chars])[: LIMITS.max_sentences]:
            self._add_roles(sentence)

    def _add_roles(self, sentence: str) -> None:
        trouble, related = describes_failure(sentence), causal_relations(sentence)
        named = list(name_finder.find_names(sentence)) if trouble or related else []
        if trouble:
            self.add(named, MentionRole.PROBLEM)
        for relation in related if named else ():
            first, then = _ROLES[relation.how]
            self.add(name_finder.find_names(relation.first), first)
            self.add(name_finder.find_names(relation.then), then)

    def add_files(self, paths: Sequence[str], parts: MentionRole = MentionRole.MENTIONED) -> None:
        """Add files that tools or a commit touched."""
        self.add(name_finder.file_mention(path, parts) for path in paths[: LIMITS.max_files])

    def add_person(self, name: str, email: str = "") -> None:
        """Add a person by name and, if known, by address."""
        mentions, same = name_finder.person_mentions(name, email)
        self.add(mentions)
        self.same |= dict.fromkeys(same)

    def node(self, kind: str, id: str, session: str, time: str, hash: str) -> Node:
        """The record with its mentions: those with the most roles, then the most frequent ones."""
        ranked = sorted(
            self._parts, key=lambda n: (-self._parts[n].bit_count(), -self._count[n], n)
        )
        mentions = [
            Mention(*name, self._key[name], self._parts[name], content_id("entity", *name))
            for name in sorted(ranked[: LIMITS.max_mentions])
        ]
        return Node(kind, id, session, time, hash, tuple(mentions), tuple(sorted(self.same)))


def exchange_hash(exchange: Exchange, turns: Sequence[Turn]) -> str:
    """A hash of everything that the mentions of an exchange are read from."""
    turn_texts = [
        f"{t.id}\x00{t.text}\x00{t.speaker}\x00{t.tool.ok}{t.tool.target}{t.tool.action}"
        if t.tool
        else f"{t.id}\x00{t.text}\x00{t.speaker}"
        for t in turns
    ]
    x = exchange
    return content_id(x.title, x.summary, *x.facts, *x.files_modified, *x.files_read, *turn_texts)


def exchange_node(
    exchange: Exchange, turns: Sequence[Turn], hash: str, names_from_model: Sequence[str] = ()
) -> Node:
    """The mentions of an exchange, its turns and its tool calls, and the names a model gave."""
    x = exchange
    found = MentionCollector()
    for name in names_from_model:
        found.add(list(name_finder.find_names(name)) or [name_finder.component_mention(name)])
    found.add_text(x.title, MentionRole.ABOUT)
    for text in (x.summary, *x.facts):
        found.add_text(text)
    is_fixed = any(run.ok for run in signals.find_test_runs(turns))
    touched = MentionRole.TOUCHED | (MentionRole.MENDED if is_fixed else MentionRole.MENTIONED)
    found.add_files(x.files_modified, touched)
    found.add_files(x.files_read)
    for turn in turns[: LIMITS.max_turns]:
        _add_turn(found, turn)
    return found.node("exchange", x.id, x.session, x.started, hash)


def _add_turn(found: MentionCollector, turn: Turn) -> None:
    tool = turn.tool
    if tool is None:
        if turn.speaker:
            found.add_person(turn.speaker)
        # Causes and effects are read only from the summary: turns blame many things in passing.
        found.add_names(turn.text)
        return
    if tool.name not in signals.SHELL_TOOLS:
        return
    found.add(name_finder.find_packages(tool.action))
    if tool.ok is not False:
        for same in name_finder.find_renames(tool.action):
            found.same[same] = None
            found.add_files((same.one, same.other), MentionRole.TOUCHED)
    elif signals.ran_tests(turn):
        found.add(name_finder.find_names(f"{tool.action}\n{tool.result}"), MentionRole.PROBLEM)


def digest_node(digest: Digest, hash: str) -> Node:
    """The mentions of a digest."""
    d = digest
    found = MentionCollector()
    found.add_text(d.request, MentionRole.ABOUT)
    for text in (*d.completed, *d.learned, *d.investigated, *d.next_steps):
        found.add_text(text)
    return found.node("digest", d.id, d.session, d.started, hash)


def digest_hash(digest: Digest) -> str:
    """A hash of everything that the mentions of a digest are read from."""
    d = digest
    return content_id(d.request, *d.completed, *d.learned, *d.investigated, *d.next_steps)


def commit_node(commit: Commit, hash: str) -> Node:
    """The mentions of a commit: itself, its author, its message and its files."""
    c = commit
    found = MentionCollector()
    own_roles = MentionRole.ABOUT | MentionRole.EFFECT | MentionRole.PROBLEM
    found.add([name_finder.commit_mention(c.id, own_roles)])
    found.add_person(c.author, c.email)
    for name, email in name_finder.find_people(c.body):
        found.add_person(name, email)
    found.add_text(c.subject, MentionRole.ABOUT)
    found.add_text(c.body)
    found.add_files(c.files, MentionRole.TOUCHED)
    for sentence in (c.subject, *c.body.splitlines()):
        _add_trailer(found, sentence)
    return found.node("commit", c.id, "", c.time, hash)


def _add_trailer(found: MentionCollector, line: str) -> None:
    """`Fixes: 1a2b3c4` names the cause of a commit, "reverts commit …" what it undoes."""
    low = line.lower()
    causes = low.startswith(("fix", "caused-by", "caused by", "clos", "resolv"))
    if not causes and "revert" not in low:
        return
    names = name_finder.find_names(line)
    mentions = [m for m in names if m.source in (SpellingSource.COMMIT, SpellingSource.ISSUE)]
    found.add(mentions, MentionRole.CAUSE if causes else MentionRole.AVERTED)


def memory_node(memory: Memory, hash: str) -> Node:
    """The mentions of a remembered text."""
    found = MentionCollector()
    found.add_text(memory.what, MentionRole.ABOUT)
    return found.node("memory", memory.id, "", memory.when, hash)
