"""The stage that keeps entities up to date: first the mentions of changed records, then entities.

The mentions of a record are read again only if the record has changed. Which spellings mean the
same entity is resolved anew for the whole bank, in the transaction that records the progress of the
stage, so the result does not depend on the order in which records came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.model.curation import Action, CurationState
from holdfast.model.graph import Node, ProvenAlias, SpellingSource
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory
from holdfast.model.records import Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.uris import parse_uri
from holdfast.refine.entities.alias_resolution import resolve_entities
from holdfast.refine.entities.mentions import (
    commit_node,
    digest_hash,
    digest_node,
    exchange_hash,
    exchange_node,
    memory_node,
)
from holdfast.refine.memories.model_extracted import ExtractedMemories
from holdfast.store.knowledge.graph import DatedAlias
from holdfast.store.protocol import Writer

NAME = "entities"
VERSION = 5
# Sessions in one transaction. More would hold the write lock longer, fewer would commit more often.
_BATCH_SIZE = 40
# A name that a model gives needs more characters than this to be taken for one.
_MIN_NAME_CHARS = 2
# Kind and id of a record.
_RecordKey = tuple[str, str]
# A record with its mentions; None if these are up to date.
_ReadRecord = tuple[_RecordKey, Node | None]


def update_entities(writer: Writer, on_progress: Callable[[], None] = lambda: None) -> int:
    """Update the entities of every bank that has changes; returns how many sessions were read."""
    done = 0
    for bank in writer.progress.banks_behind(NAME, VERSION):
        more = True
        while more:
            on_progress()
            with writer.transaction():
                changes = writer.progress.unseen_changes(bank, NAME, VERSION, _BATCH_SIZE + 1)
                more = len(changes) > _BATCH_SIZE
                changes = changes[:_BATCH_SIZE]
                for change in changes:
                    if change.session:
                        _update_mentions(writer, bank, change.session)
                    writer.progress.mark_seen(bank, NAME, VERSION, change.number)
                done += len(changes)
                if not more:
                    # Always, since reflection adds and ends opinions without any change.
                    _update_mentions(writer, bank, "")
                    _resolve_bank(writer, bank)
    return done


def _resolve_bank(writer: Writer, bank: str) -> None:
    log = writer.curation.log(bank)
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    in_force = [e for e in log if e.action is not Action.UNDO and str(e.seq) not in undone]
    curated = list(_entity_decisions(writer, bank, {e.target for e in in_force}))
    renames = [
        DatedAlias(time, ProvenAlias(SpellingSource.FILE, old, new))
        for time, old, new in writer.git.renames(bank)
    ]
    same = sorted([*writer.graph.proven_aliases(bank), *renames], key=lambda one: one.time)
    spellings = writer.graph.spellings(bank)
    writer.graph.put_entities(bank, resolve_entities(bank, spellings, same, in_force, curated))


def _entity_decisions(writer: Writer, bank: str, targets: set[str]) -> Iterator[CurationState]:
    for target in sorted(targets):
        named = parse_uri(target)
        known = writer.curation.state(bank, "entity", named.id) if named else None
        if named and named.kind == "entity" and known is not None:
            yield known


def _update_mentions(writer: Writer, bank: str, session: str) -> None:
    """Update the mentions of the records in a session, or with "" of those in no session."""
    known = writer.graph.node_hashes(bank, session)
    found = (
        _session_nodes(writer, bank, session, known)
        if session
        else _other_nodes(writer, bank, known)
    )
    seen: set[_RecordKey] = set()
    for key, node in found:
        seen.add(key)
        if node is not None:
            writer.graph.put_nodes(bank, [node])
    writer.graph.drop_nodes(bank, [key for key in known if key not in seen])


def _stamp(hash: str) -> str:
    """The hash of a record together with the version of the rules that read it."""
    return f"{VERSION}.{hash}"


def _session_nodes(
    writer: Writer, bank: str, session: str, known: dict[_RecordKey, str]
) -> Iterator[_ReadRecord]:
    """The exchanges and the digest of a session. `known` are the stamps of records read before."""
    if writer.sessions.get(bank, session) is None:
        return
    for exchange in writer.sessions.exchanges(bank, session):
        key = ("exchange", exchange.id)
        yield key, _read_exchange(writer, exchange, known.get(key))
    digest = writer.sessions.digest(bank, session)
    if digest is not None:
        key, stamp = ("digest", digest.id), _stamp(digest_hash(digest))
        yield key, None if known.get(key) == stamp else digest_node(digest, stamp)


def _read_exchange(writer: Writer, exchange: Exchange, known_stamp: str | None) -> Node | None:
    turns = writer.turns.of_session(
        exchange.bank, exchange.session, exchange.first_seq, exchange.last_seq
    )
    names = _names_from_model(writer, exchange, turns)
    own = exchange_hash(exchange, turns)
    stamp = _stamp(content_id(own, *names) if names else own)
    return None if known_stamp == stamp else exchange_node(exchange, turns, stamp, names)


def _names_from_model(writer: Writer, exchange: Exchange, turns: Sequence[Turn]) -> list[str]:
    """The people and things that a model named in an exchange, if one was asked. Its answer was
    checked against the turns before it was stored."""
    extracted = ExtractedMemories(writer.summaries, exchange.bank).find(exchange, turns) or []
    names = {name.strip() for one in extracted for name in one.who.split(",")}
    return sorted(name for name in names if len(name) > _MIN_NAME_CHARS)


def _other_nodes(writer: Writer, bank: str, known: dict[_RecordKey, str]) -> Iterator[_ReadRecord]:
    """The visible commits and remembered texts, in their current words. Facts, concepts and
    opinions are left out: they mention nothing that the records they are made of do not."""
    for kind, id, hash in writer.graph.hashes_outside_sessions(bank):
        node, stamp = None, _stamp(hash)
        if known.get((kind, id)) != stamp:
            record = next(iter(writer.records.find(bank, kind, id, 1)), None)
            if isinstance(record, Commit):
                node = commit_node(record, stamp)
            elif isinstance(record, Memory):
                node = memory_node(record, stamp)
            else:
                continue
        yield (kind, id), node
