"""A memory that people correct: what they want remembered, said rightly, forgotten or erased.

After each decision the prepared briefs are written anew, so that no session is told what was
taken back.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.ingest.stages import know
from holdfast.app.search.old_browse import Browsing
from holdfast.app.search.old_recall import ALL_BANKS, here, utc_now
from holdfast.capture.places import Places
from holdfast.capture.redact import Redactor
from holdfast.errors import NotFoundError
from holdfast.learn.curation import Curator, Target, find_any, find_target
from holdfast.learn.erasure import Erased, Eraser
from holdfast.learn.text_erasure import Pattern
from holdfast.model.curation import Action, Curation
from holdfast.model.graph import Entity
from holdfast.model.knowledge import Memory, Review
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.core.bank_making import BankMaker
from holdfast.settings import Settings


def this_user() -> str:
    """Who decides, where nobody is named."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


class Curating(Browsing):
    """Decisions about records. An id is a URI, an id or the start of one; `who` decides, by
    default the user of this machine."""

    def __init__(
        self, settings: Settings, now: Callable[[], str] = utc_now, create: bool = True
    ) -> None:
        super().__init__(settings, now, create)
        self._banks = BankMaker(settings, now)

    def remember(
        self, text: str, bank: str | None = None, who: str = "", trust: Trust = Trust.USER
    ) -> Memory:
        """Keep a text, with the secrets out, in a bank: that of this folder, made if need be,
        where none is named. `trust` tells whose words they are."""
        clean = Redactor(self.settings.redact_patterns).redact(text).text
        with self._store.transaction():
            memory = self._curator(who).remember(self._ensure_bank(bank), clean, trust=trust)
        self._renew()
        return memory

    def _ensure_bank(self, bank: str | None) -> str:
        """The bank of a name; that of this folder, made if need be, where none is named."""
        if bank:
            return self._banks.ensure_named(self._store, bank)
        return self._banks.ensure(self._store, here())

    def correct(self, id: str, text: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Say a record anew; its old words are kept as superseded."""
        clean = Redactor(self.settings.redact_patterns).redact(text).text
        return self._done(self._curator(who).correct(self.target(id, bank), clean))

    def forget(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Leave a record, and all that is made of it, out of everything, until it is restored."""
        return self._done(self._curator(who).forget(self.target(id, bank)))

    def restore(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Bring back what was forgotten or merged."""
        return self._done(self._curator(who).restore(self.target(id, bank)))

    def confirm(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Say that a record still holds, whatever became of its code since."""
        target = find_any(self._store, self.bank_id(bank), id)
        return self._done(self._curator(who).confirm(target))

    def merge(self, id: str, into: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Let one record stand for another that says the same."""
        both = self.target(id, bank), self.target(into, bank)
        return self._done(self._curator(who).merge(*both))

    def merge_entities(
        self, name: str, into: str, bank: str | None = None, who: str = ""
    ) -> Curation:
        """Let two entities be one; each is named by a URI, an id, or any of its spellings."""
        both = self.entity(name, bank), self.entity(into, bank)
        return self._done(self._curator(who).join(*(_target(entity) for entity in both)))

    def split_entity(
        self, name: str, alias: str, bank: str | None = None, who: str = ""
    ) -> Curation:
        """Let one spelling of an entity stand by itself."""
        entity = self.entity(name, bank)
        spelling = self._store.spelling_of(entity.bank, entity.id, alias)
        if spelling is None:
            known = ", ".join((entity.name, *entity.aliases))
            raise NotFoundError(
                f"{entity.name} is not called {alias!r}.", f"It is called: {known}."
            )
        alone = Target(entity.bank, "entity", spelling)
        return self._done(self._curator(who).part(alone, _target(entity)))

    def undo(self, count: int = 1, bank: str | None = ALL_BANKS, who: str = "") -> list[Curation]:
        """Take back the latest decisions that can be; returns them, the latest first."""
        id = self.bank_id(bank)
        banks = [known.id for known in self._store.banks()] if id is None else [id]
        with ExitStack() as amends:
            with self._store.transaction():
                undone = self._curator(who).undo(banks, count)
                for entry in undone:
                    self._take_back(entry, amends)
            amends.pop_all()
        self._renew()
        return undone

    def _take_back(self, entry: Curation, amends: ExitStack) -> None:
        """What else goes back with a decision than what it says of records. What is changed
        outside of the store is made good by `amends`, if in the end nothing is taken back."""
        if entry.action is Action.VOUCH:
            self._store.drop_uses(entry.bank, entry.target, entry.text)
            self._store.note_change(entry.bank, "")

    def _note(self, bank: str, action: Action, target: str, text: str, who: str) -> None:
        """Set down in the log what was changed that is no record."""
        entry = Curation(0, bank, self._now(), action, target, text, self._named(who))
        self._store.curate(entry)
        self._store.note_change(bank, "")

    def find_review(self, id: str, bank: str | None = ALL_BANKS) -> Review:
        """The question that is meant, by its URI, its id or the start of one."""
        bare = id.strip().rpartition("/")[2]
        known = [r for r in self._store.reviews(self.bank_id(bank)) if r.id.startswith(bare)]
        if len(known) != 1 or not bare:
            many = "Several questions start" if len(known) > 1 else "No question starts"
            raise NotFoundError(f"{many} with {bare!r}.", "`holdfast review` lists them.")
        return known[0]

    def decide(self, review: Review, keep: bool, who: str = "") -> Curation:
        """Keep a fact that was up for review in force, or retire it."""
        return self._done(self._curator(who).decide(review, keep))

    def target(self, id: str, bank: str | None = ALL_BANKS) -> Target:
        """The record that is meant, whether it is shown or put away."""
        return find_target(self._store, self.bank_id(bank), id)

    def plan_purge(self, id: str, bank: str | None = ALL_BANKS) -> Erased:
        """What a purge would erase."""
        return self._eraser().plan_purge(self.target(id, bank))[1]

    def purge(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Erased:
        """Erase a record, and all that is made of it, for good; servers that have it are told."""
        target = self.target(id, bank)
        if self._store.parcels():
            from holdfast.app.remote import outbox

            outbox.Post(self).take_back_everywhere(target.bank, self._shared_as(target))
        return self._erased(self._eraser(who).purge(target))

    def _shared_as(self, target: Target) -> list[str]:
        """What a record may have been shared as: a session goes as its digest and exchanges."""
        if target.kind != "session":
            return [target.uri]
        digest = self._store.digest_of(target.bank, target.id)
        parts = self._store.exchanges(target.bank, target.id)
        return [uri("exchange", one.id) for one in parts] + [
            uri("digest", one.id) for one in (digest,) if one is not None
        ]

    def find_pattern(self, pattern: str) -> Erased:
        """What a scrubbing would erase, in every bank."""
        return self._eraser().find(Pattern(pattern))

    def scrub(self, pattern: str, who: str = "") -> Erased:
        """Erase a text, or what a regular expression between slashes matches, wherever it is."""
        return self._erased(self._eraser(who).scrub(Pattern(pattern)))

    def apply_decisions(self) -> None:
        """Work out anew what all decisions come to."""
        with self._store.transaction():
            for bank in self._store.banks():
                self._curator("").reapply(bank.id)

    def _curator(self, who: str) -> Curator:
        return Curator(self._store, self._now, self._named(who))

    def _eraser(self, who: str = "") -> Eraser:
        return Eraser(
            self._store,
            Places(self.settings.home),
            self._now,
            self._named(who),
            lambda: know(self._store, self._now),
        )

    def _named(self, who: str) -> str:
        """As whom somebody is put into the log; whoever came with a key is named by it, whatever
        else they are called."""
        principal = self.settings.principal
        if principal is None or principal.label in who:
            return who or this_user()
        return f"{who} ({principal.label})" if who else principal.label

    def _done(self, decision: Curation) -> Curation:
        self._renew()
        return decision

    def _erased(self, told: Erased) -> Erased:
        remove_derived_files(self.settings)
        self._renew()
        return told

    def _renew(self) -> None:
        """Let what was decided be seen at once in all that is known."""
        know(self._store, self._now)
        self._remembered.clear()
        if Places(self.settings.home).briefs.is_dir():
            prepare_briefs(replace(self.settings, principal=None), self._now)


def _target(entity: Entity) -> Target:
    return Target(entity.bank, "entity", entity.id)


def remove_derived_files(settings: Settings) -> None:
    """Remove matrices of vectors, prepared briefs and investigations: they can be made again from
    what is left."""
    _remove(settings.vectors, "*.vectors*")
    _remove(settings.vectors, ".*.vectors*")
    _remove(Places(settings.home).briefs, "*.json")
    # Investigations quote what may be gone; what they found can be asked for again.
    _remove(Places(settings.home).research, "mem-*")
    _remove(Places(settings.home).research, "of-*/mem-*")


def _remove(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern) if folder.is_dir() else ():
        with suppress(OSError):
            path.unlink()
