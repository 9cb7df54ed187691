"""What a memory believes: retained texts, opinions, and reflection on a question."""

from __future__ import annotations

from dataclasses import replace

from holdfast.app.core.context import Context
from holdfast.app.curation.records import curator_for
from holdfast.app.search.recall import Search
from holdfast.errors import HoldfastError, InputError, ModelAnswerError, require_words
from holdfast.learn.opinions import keep_beliefs, trend_of
from holdfast.learn.retained_text import PROPOSED_CONFIDENCE, read_dimensions
from holdfast.model.bank import Bank
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Opinion, OpinionChange, Reflection
from holdfast.model.query import RecallResult
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.recall.core.plan import RecallPlan
from holdfast.research.answering.evidence import evidence_in
from holdfast.research.reflection import gather_evidence
from holdfast.settings import NO_MODEL

# A reflection needs the evidence for and against, so it reads more than recall shows, repeats too.
_EVIDENCE_PLAN = RecallPlan(limit=25, tokens=20_000, include_repeats=True)


class Opinions:
    """Retains texts, lists opinions, and reflects. `bank` arguments are as for `Context`."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search

    def retain(
        self,
        text: str,
        network: Network | str = "",
        confidence: float | None = None,
        where: str = "",
        why: str = "",
        bank: str | None = None,
        who: str = "",
        trust: Trust = Trust.USER,
    ) -> Memory:
        """Store a text as a memory of a network, without secrets; without a network, of the one
        that its words propose. An opinion has a confidence from 0 to 1, which must be given if the
        network is. What the text states of when, where and why is read from it. `trust` says where
        the text comes from."""
        if network and network not in set(Network):
            raise InputError(f"There is no network {network!r}.", f"One of: {', '.join(Network)}.")
        context = self._context
        clean, place, reason = map(context.redact, (text, where, why))
        given = Network(network) if network else Network.OPINION if confidence is not None else None
        read = read_dimensions(clean, context.now(), given)
        if given is None and read.network is Network.OPINION:
            confidence = PROPOSED_CONFIDENCE
        with context.store.transaction():
            memory = curator_for(context, who).remember(
                context.ensure_bank(bank),
                clean,
                read.network,
                confidence,
                place or read.where,
                reason or read.why,
                trust,
                read.when,
            )
        context.after_adding()
        return memory

    def opinions(self, bank: str | None = None, all: bool = False) -> list[Opinion]:
        """Opinions, the most confident first; with `all` also those that were retracted."""
        store, now = self._context.store, self._context.now()
        found = [
            replace(o, trend=trend_of(store.opinions.history(one, o.id), o.latest, now))
            for one in self._context.bank_ids(bank)
            for o in store.opinions.all(one)
        ]
        shown = [o for o in found if all or o.status is not Status.RETRACTED]
        return sorted(shown, key=lambda o: (-o.confidence, o.bank, o.id))

    def changes(self, bank: str | None = None, limit: int = 20) -> list[OpinionChange]:
        """How opinions were formed, strengthened and weakened, the latest first: by whoever stated
        them again, and by reflections of a model."""
        store = self._context.store
        found: list[OpinionChange] = []
        for one in self._context.bank_ids(bank):
            for opinion in store.opinions.all(one):
                name, before = uri("memory", opinion.id), None
                for revision in store.opinions.history(one, opinion.id):
                    now, note = revision.confidence, revision.note
                    found.append(
                        OpinionChange(name, opinion.what, revision.time, before, now, note)
                    )
                    before = now
        found.sort(key=lambda change: (change.time, change.uri), reverse=True)
        return found[:limit]

    def reflect(self, query: str, bank: str | None = None, store: bool = True) -> Reflection:
        """The evidence on a question; if the settings name a model, what it concludes from it
        through the disposition of the bank. The opinions it comes to are stored, unless `store` is
        false."""
        require_words(query, "question")
        context = self._context
        known = context.bank(bank)
        found = self._search.recall_with_plan(query, known.id, _EVIDENCE_PLAN)
        evidence = evidence_in(context.store, known.id, found)
        reflection = gather_evidence(known, evidence, context.store.opinions.all(known.id))
        if context.settings.models.use != NO_MODEL and not reflection.abstained:
            reflection = self._by_model(known, evidence, reflection)
        if store and reflection.author:
            reflection = self._stored(known, reflection)
        return reflection

    def _by_model(self, bank: Bank, found: RecallResult, gathered: Reflection) -> Reflection:
        """What a model makes of the evidence; the evidence alone where there is nothing to reflect
        on, or no model that can be asked."""
        from holdfast.inference.service_choice import choose_chat
        from holdfast.research import model_reflection as by_model
        from holdfast.spend.governor import CallPurpose, Governor

        context, models = self._context, self._context.settings.models
        try:
            hits = by_model.shown_hits(found)
            chat = choose_chat(models, by_model.REFLECTION) if hits else None
            if chat is None:
                return gathered
            governor = Governor(chat, context.store, models.caps, context.now, models.prices)
            answer = governor.ask(
                CallPurpose(by_model.REFLECTION, bank.id),
                by_model.reflection_prompt(bank, found.query, hits),
                by_model.read_model_reflection,
            )
            return by_model.check_reflection(
                answer, hits, bank, gathered, governor.model, context.redactor()
            )
        except HoldfastError as error:
            unusable = isinstance(error, ModelAnswerError)
            reason = "the model's answer could not be used: " if unusable else ""
            problem = f"The evidence alone: {reason}{error.full_text}"
            return replace(gathered, caveats=(*gathered.caveats, problem))

    def _stored(self, bank: Bank, reflection: Reflection) -> Reflection:
        with self._context.store.transaction():
            kept = keep_beliefs(self._context.store, bank, reflection, self._context.now())
        return replace(reflection, stored=tuple(f"holdfast://memory/{id}" for id in kept))
