"""A memory with a mind: what it retains, what it makes of a question, what its banks are like."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from holdfast.app.curation.old_rule_teaching import Teaching
from holdfast.app.search.old_recall import ALL_BANKS
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, InputError, ModelAnswerError, NotFoundError
from holdfast.learn.bank_changes import taken_back, told_change
from holdfast.learn.bank_settings import Wish, change_bank, keep_retention
from holdfast.learn.opinion_stage import reflect_bank
from holdfast.learn.opinions import trend_of
from holdfast.model.bank import Bank
from holdfast.model.curation import Action, Curation
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Opinion, Reflection
from holdfast.model.trust import Status
from holdfast.model.uris import uri
from holdfast.recall.core.plan import Plan
from holdfast.refine.memories.memory_stage import retain_bank
from holdfast.research.reflection import reflect
from holdfast.settings import NO_MODEL

_PLAN = Plan(limit=25, tokens=20_000, include_repeats=True)


class Minding(Teaching):
    """What goes beyond finding."""

    def retain(
        self,
        text: str,
        network: Network | str = Network.WORLD,
        confidence: float | None = None,
        where: str = "",
        why: str = "",
        bank: str | None = None,
        who: str = "",
    ) -> Memory:
        """Keep any text as a memory of a network, with the secrets out; an opinion needs a
        confidence from 0 to 1."""
        if network not in set(Network):
            raise InputError(f"There is no network {network!r}.", f"One of: {', '.join(Network)}.")
        redactor = Redactor(self.settings.redact_patterns)
        clean, place, reason = (redactor.redact(part).text for part in (text, where, why))
        with self._store.transaction():
            memory = self._curator(who).remember(
                self._ensure_bank(bank), clean, Network(network), confidence, place, reason
            )
        self._renew()
        return memory

    def opinions(self, bank: str | None = None, all: bool = False) -> list[Opinion]:
        """What is believed, the firmest first; with `all` also what has faded."""
        id = self.bank_id(bank)
        banks = [known.id for known in self._store.banks()] if id is None else [id]
        now = self._now()
        told = [
            replace(o, trend=trend_of(self._store.beliefs(one, o.id), o.latest, now))
            for one in banks
            for o in self._store.opinions(one)
        ]
        shown = [o for o in told if all or o.status is not Status.RETRACTED]
        return sorted(shown, key=lambda o: (-o.confidence, o.bank, o.id))

    def reflect(self, query: str, bank: str | None = None, store: bool = True) -> Reflection:
        """What a bank makes of a question, through its disposition; what it comes to believe is
        stored afterwards, unless `store` says no."""
        known = self.bank(bank)
        if store:
            retain_bank(self._store, known.id)
            reflect_bank(self._store, known.id, self._now())
        found = self.recall_by(query, known.id, _PLAN)
        told = reflect(self._store, known, found, self._store.opinions(known.id))
        thinking = self.settings.models.use != NO_MODEL and not told.abstained
        if thinking:
            told = self._think(known, found, told)
        if store and not told.abstained:
            told = self._keep_thoughts(known, told)
        self._remembered.clear()
        return told

    def _think(self, bank: Bank, found: Any, told: Reflection) -> Reflection:
        """Let a model reason about it; where it cannot, what rules put together stands."""
        from holdfast.app.curation import model_reflection

        try:
            return model_reflection.think(self._store, self.settings, self._now, bank, found, told)
        except HoldfastError as error:
            unusable = isinstance(error, ModelAnswerError)
            said = "the model's answer could not be used: " if unusable else ""
            problem = f"By rules alone: {said}{error.message} {error.remedy}".strip()
            return replace(told, caveats=(*told.caveats, problem))

    def _keep_thoughts(self, bank: Bank, told: Reflection) -> Reflection:
        from holdfast.learn import reflection_opinions

        with self._store.transaction():
            kept = reflection_opinions.keep(self._store, bank, told, self._now())
        return replace(told, stored=tuple(f"holdfast://memory/{id}" for id in kept))

    def bank(self, bank: str | None = None) -> Bank:
        """One bank, as it is."""
        id = self.bank_id(bank)
        if id is None:
            raise InputError("This is asked of one bank.", "Name it: --bank NAME.")
        found = self._store.bank(id)
        if found is None:
            raise NotFoundError("This folder has no bank yet.", self.no_bank())
        return found

    def set_bank(self, wish: Wish, bank: str | None = None, who: str = "") -> Bank:
        """Change what a bank is like, and say so in the log. Its opinions are weighed anew, and
        sessions put away or brought back where its retention asks for it."""
        known = self.bank(bank)
        if wish.background:
            clean = Redactor(self.settings.redact_patterns).redact(wish.background).text
            wish = wish._replace(background=clean)
        with self._store.transaction():
            changed = change_bank(self._store, known, wish)
            told = told_change(known, changed)
            if told:
                self._note(known.id, Action.SET, uri("bank", known.id), told, who)
        self._follow_bank(known, changed)
        self._renew()
        return self.bank(changed.id)

    def _follow_bank(self, before: Bank, after: Bank) -> None:
        """Let a bank live by what it is like now."""
        if after.retention or before.retention:
            while any(keep_retention(self._store, after, self._now)):
                pass
        if after.disposition != before.disposition and self._store.all_opinions(after.id):
            reflect_bank(self._store, after.id, self._now())

    def _take_back(self, entry: Curation, amends: ExitStack) -> None:
        """Let a bank be what it was before it was changed."""
        super()._take_back(entry, amends)
        known = self._store.bank(entry.bank)
        if entry.action is Action.SET and known is not None:
            self._store.set_bank(taken_back(known, entry))

    def undo(self, count: int = 1, bank: str | None = ALL_BANKS, who: str = "") -> list[Curation]:
        """Take back the latest decisions that can be; returns them, the latest first."""
        before = {known.id: known for known in self._store.banks()}
        undone = super().undo(count, bank, who)
        for id in {entry.bank for entry in undone if entry.action is Action.SET}:
            self._follow_bank(before[id], self.bank(id))
            self._renew()
        return undone

    def known_banks(self) -> list[Bank]:
        """Every bank, by name."""
        return self._store.banks()
