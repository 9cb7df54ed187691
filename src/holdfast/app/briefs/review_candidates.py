"""What a start brief may tell, for somebody who judges it: what the next one tells, then what comes
next by rank, and then what only an estimate keeps out of it.

Texts that a person asked to remember, opinions and the list of recent work are not among them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from holdfast.brief.known_statements import KnownStatement, state
from holdfast.brief.session_brief import BriefMaterial, session_brief
from holdfast.brief.sessions.last_sessions import LastSessions
from holdfast.brief.verdicts import Verdicts
from holdfast.brief.work_items import WorkItems, normalise_path
from holdfast.model.curation import Judgement, Verdict
from holdfast.model.knowledge import Fact
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.trust import Trust, source_of
from holdfast.model.uris import uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.by_model.brief_review import BOTH, Statement
from holdfast.refine.by_model.session_outlines import AGENT_FOLDER
from holdfast.refine.core.statement_similarity import (
    own_words,
    says_the_same,
    statement_features,
)
from holdfast.settings import BriefSettings
from holdfast.store.protocol import Reader

# Decisions of people, of which a brief tells half as many: more would leave no room for the rest.
_MAX_DECISIONS = 24
# Sessions whose end may be told: twice as many as a brief tells.
_MAX_ENDINGS = 6
# How many statements of one matter may be among the rest: often the second says it better.
_ROUNDS = 3
_ENDING = "end of session"


def find_statements(reader: Reader, settings: BriefSettings, bank: str) -> Iterator[Statement]:
    """The statements of a bank that a start brief may tell, the best first, each once."""
    told = session_brief(reader, bank, settings.tokens, settings.exchanges).records
    return _Statements(reader, bank, frozenset(told)).all()


class _Statements:
    def __init__(self, reader: Reader, bank: str, told: frozenset[str]) -> None:
        self._reader = reader
        self._bank = bank
        self._told = told
        self._material = BriefMaterial(reader, bank)
        self._items = WorkItems(reader, bank)

    def all(self) -> Iterator[Statement]:
        """Each once: a decision is told as a fact or as a memory, and judged as the first."""
        found = [one for one in self._decisions() if one is not None]
        found += self._endings()
        said = {one.uri: statement_features(one.text) for one in found}

        def is_new(one: Statement) -> bool:
            own = statement_features(one.text)
            if one.uri in said or any(says_the_same(own, other) for other in said.values()):
                return False
            said[one.uri] = own
            return True

        ranked = filter(None, map(self._of_memory, self._material.ranking.best(())))
        found += filter(is_new, ranked)
        yield from sorted(found, key=lambda one: not one.is_told)
        for _ in range(_ROUNDS):
            others = filter(None, map(self._of_memory, self._kept_out(said)))
            yield from filter(is_new, others)

    def _kept_out(self, known: Collection[str]) -> Iterator[KnownStatement]:
        """The statements of all scores, best first and one of each matter, that nobody judged and
        that were said in a session of a person; without those with the URIs `known`."""
        verdicts, ended = self._material.verdicts, self._material.ended
        by_person: dict[str, bool] = {}
        judged = {
            name: Judgement(Verdict.USEFUL, "", "")
            for name, one in ((uri("memory", it.id), it) for it in self._material.ranking.memories)
            if name not in known
            and verdicts.of(name) is None
            and not verdicts.repeats_dropped(own_words(one.what))
            and state(self._reader, one, ended, by_person) is not None
        }
        ranking = BriefMaterial(self._reader, self._bank, Verdicts(judged)).ranking
        return (one for one in ranking.best(()) if ranking.is_useful(one.memory))

    def _decisions(self) -> Iterator[Statement | None]:
        names = chain.from_iterable(
            part.records[:1] for part in self._material.decisions[:_MAX_DECISIONS]
        )
        for name in names:
            record = find_by_uri(self._reader, self._bank, name)
            if isinstance(record, Fact):
                yield self._of_fact(record)
            elif isinstance(record, Exchange):
                yield self._of_exchange(record)

    def _endings(self) -> Iterator[Statement]:
        """How sessions ended, but for the last one: where that stopped is always told."""
        material = BriefMaterial(self._reader, self._bank)
        last = LastSessions(
            self._reader, self._bank, material.ended, material.ranking, material.verdicts
        )
        for part in last.parts(_MAX_ENDINGS)[1:]:
            digest = find_by_uri(self._reader, self._bank, part.records[0])
            if not isinstance(digest, Digest):
                continue
            exchanges = self._material.ranking.exchanges_of(digest.session)
            if not exchanges:
                continue
            words = part.lines[0].partition(", ")[2].rpartition(" (")[0]
            name, x = part.records[0], exchanges[-1]
            time, is_told = digest.ended or digest.started, name in self._told
            yield Statement(name, words, time, BOTH, _ENDING, (), x, x.last_seq, is_told)

    def _of_memory(self, known: KnownStatement) -> Statement | None:
        memory, turn = known
        named = memory.where.split(", ")
        files = tuple(normalise_path(one) for one in named if one and AGENT_FOLDER not in one)
        kind = memory.kind.value if memory.kind is not None else memory.network.value
        return self._stated(uri("memory", memory.id), known.text, memory.trust, kind, files, turn)

    def _of_fact(self, fact: Fact) -> Statement | None:
        records = (find_by_uri(self._reader, self._bank, name) for name in fact.evidence)
        turn = next((one for one in records if isinstance(one, Turn)), None)
        if turn is None:
            return None
        problem = f"{fact.problem} → " if fact.problem else ""
        text, kind = f"{problem}{fact.content}", fact.kind.value
        return self._stated(uri("fact", fact.id), text, fact.trust, kind, (), turn)

    def _stated(
        self,
        name: str,
        text: str,
        trust: Trust,
        kind: str,
        files: tuple[str, ...],
        turn: Turn,
    ) -> Statement | None:
        exchanges = self._material.ranking.exchanges_of(turn.session)
        within = [one for one in exchanges if one.first_seq <= turn.seq <= one.last_seq]
        if not within:
            return None
        source, is_told = source_of(trust), name in self._told
        return Statement(name, text, turn.time, source, kind, files, within[0], turn.seq, is_told)

    def _of_exchange(self, exchange: Exchange) -> Statement:
        """What people decided in an exchange."""
        item = self._items.from_record(exchange)
        text = " ".join(one.sentence for one in item.decided)
        name, files = item.uri, tuple(sorted(item.changed))
        return Statement(
            name,
            text,
            item.time,
            source_of(Trust.USER),
            "decision",
            files,
            exchange,
            exchange.first_seq,
            name in self._told,
        )
