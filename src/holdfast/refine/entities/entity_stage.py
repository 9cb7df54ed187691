"""The stage that knows who and what is involved: mentions of changed records, then all entities.

What a record mentions is read again only where the record has changed. Which spellings are one is
worked out anew for the whole bank, in the transaction that says how far the stage has come, so the
result does not depend on the order in which records came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.model.curation import Action, Curated
from holdfast.model.graph import Node, Same, Sort
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory
from holdfast.model.records import Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri
from holdfast.refine.entities.alias_resolution import resolve
from holdfast.refine.entities.mentions import (
    digest_hash,
    exchange_hash,
    of_commit,
    of_digest,
    of_exchange,
    of_memory,
)
from holdfast.refine.memories.model_extracted import ExtractedMemories
from holdfast.store.protocol import Writer
from holdfast.store.protocol.graph import DatedAlias

NAME = "entities"
VERSION = 4
_AT_ONCE = 40
_SHORTEST = 2


def know_entities(writer: Writer, tick: Callable[[], None] = lambda: None) -> int:
    """Bring every bank up to date; returns how many sessions were looked at."""
    done = 0
    for bank in writer.banks_behind(NAME, VERSION):
        more = True
        while more:
            tick()
            with writer.transaction():
                changes = writer.unseen_changes(bank, NAME, VERSION, _AT_ONCE + 1)
                more = len(changes) > _AT_ONCE
                changes = changes[:_AT_ONCE]
                for change in changes:
                    if change.session:
                        _take(writer, bank, change.session)
                    writer.mark_seen(bank, NAME, VERSION, change.number)
                done += len(changes)
                if not more:
                    # Reflection makes and ends opinions whatever has changed.
                    _take(writer, bank, "")
                    settle(writer, bank)
    return done


def settle(writer: Writer, bank: str) -> None:
    """Work out which entities there are."""
    log = writer.curations(bank)
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    standing = [e for e in log if e.action is not Action.UNDO and str(e.seq) not in undone]
    curated = list(_about_entities(writer, bank, {e.target for e in standing}))
    moves = [DatedAlias(time, Same(Sort.FILE, was, now)) for time, was, now in writer.renames(bank)]
    same = sorted([*writer.proven_aliases(bank), *moves], key=lambda one: one.time)
    spellings = writer.spellings(bank)
    writer.put_entities(bank, resolve(bank, spellings, same, standing, curated))


def _about_entities(writer: Writer, bank: str, targets: set[str]) -> Iterator[Curated]:
    for target in sorted(targets):
        named = parse_uri(target)
        known = writer.curation_state(bank, "entity", named.id) if named else None
        if named and named.word == "entity" and known is not None:
            yield known


def _take(writer: Writer, bank: str, session: str) -> None:
    """Take in what changed of a session, or of what is in none."""
    known = writer.node_hashes(bank, session)
    found = _outside(writer, bank, known) if not session else _inside(writer, bank, session, known)
    seen: set[tuple[str, str]] = set()
    for name, node in found:
        seen.add(name)
        if node is not None:
            writer.put_nodes(bank, [node])
    writer.drop_nodes(bank, [name for name in known if name not in seen])


def _stamp(hash: str) -> str:
    """What tells that a record was read as it is, by the rules as they are."""
    return f"{VERSION}.{hash}"


_Named = tuple[tuple[str, str], Node | None]


def _inside(
    writer: Writer, bank: str, session: str, known: dict[tuple[str, str], str]
) -> Iterator[_Named]:
    """The records of a session, each with what it mentions unless that is known."""
    if writer.session(bank, session) is None:
        return
    for exchange in writer.exchanges(bank, session):
        yield ("exchange", exchange.id), _exchange(writer, exchange, known)
    digest = writer.digest_of(bank, session)
    if digest is not None:
        name, stamp = ("digest", digest.id), _stamp(digest_hash(digest))
        yield name, None if known.get(name) == stamp else of_digest(digest)._replace(hash=stamp)


def _exchange(writer: Writer, exchange: Exchange, known: dict[tuple[str, str], str]) -> Node | None:
    turns = writer.turns(exchange.bank, exchange.session, exchange.first_seq, exchange.last_seq)
    told = _told(writer, exchange, turns)
    own = exchange_hash(exchange, turns)
    hash = _stamp(content_id(own, *told) if told else own)
    if known.get(("exchange", exchange.id)) == hash:
        return None
    return of_exchange(exchange, turns, hash, told)


def _told(writer: Writer, exchange: Exchange, turns: Sequence[Turn]) -> list[str]:
    """Who and what a model says is involved in an exchange, if one was asked; its answer was held
    against the turns when it came."""
    sightings = ExtractedMemories(writer, exchange.bank).find(exchange, turns) or []
    names = {name.strip() for one in sightings for name in one.who.split(",")}
    return sorted(name for name in names if len(name) > _SHORTEST)


def _outside(writer: Writer, bank: str, known: dict[tuple[str, str], str]) -> Iterator[_Named]:
    """Commits and remembered texts that are shown, in their words of now. What was made of other
    records (facts, concepts, opinions) mentions nothing that those do not."""
    wished = {memory.id for memory in writer.all_remembered(bank)}
    for kind, id, _, hash in writer.passage_hashes(bank):
        if kind != "commit" and not (kind == "memory" and id in wished):
            continue
        node, stamp = None, _stamp(hash)
        if known.get((kind, id)) != stamp:
            record = next(iter(writer.find(bank, kind, id, 1)), None)
            if isinstance(record, Commit):
                node = of_commit(record, stamp)
            elif isinstance(record, Memory):
                node = of_memory(record, stamp)
            else:
                continue
        yield (kind, id), node
