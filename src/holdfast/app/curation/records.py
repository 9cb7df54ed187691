"""Decisions that people make about records: remember, correct, forget, merge, confirm, judge,
review, and taking any decision back.

Every decision is appended to a log that is laid over derived records, so that deriving them again
never undoes it. Erasing for good is in `erasure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.app.briefs.briefing import refresh_briefs
from holdfast.app.core.context import ALL_BANKS, Context
from holdfast.app.ingest.stages import update_stages
from holdfast.app.search.browse import Browse
from holdfast.brief.verdicts import Verdicts, read_verdicts
from holdfast.errors import NotFoundError
from holdfast.learn.curation import Curator, Target, find_confirmable, find_target
from holdfast.learn.judging import judge, read_verdict
from holdfast.model.curation import Action, Curation, Verdict, read_judgement
from holdfast.model.graph import Entity
from holdfast.model.knowledge import Memory, Review
from holdfast.model.trust import Trust


def curator_for(context: Context, who: str = "") -> Curator:
    """A curator whose decisions are logged in the name of `who`, or of this user."""
    return Curator(context.store, context.now, context.actor(who))


def log_decision(
    context: Context, bank: str, action: Action, target: str, text: str, who: str
) -> Curation:
    """Log a decision that is not about a record."""
    entry = Curation(0, bank, context.now(), action, target, text, context.actor(who))
    entry = context.store.curation.append(entry)
    context.store.progress.mark_changed(bank, "")
    return entry


def refresh_derived(context: Context) -> None:
    """Run the stages that are behind, and write the prepared briefs again, so that no session
    gets a record that was just removed."""
    update_stages(context.store, context.settings, context.now)
    refresh_briefs(context.settings, context.now)


class RecordCuration:
    """Decisions about records. An `id` is a URI, an id or the start of one; `who` decides, by
    default the user of this machine."""

    def __init__(self, context: Context, browse: Browse) -> None:
        self._context = context
        self._browse = browse

    def remember(
        self, text: str, bank: str | None = None, who: str = "", trust: Trust = Trust.USER
    ) -> Memory:
        """Store a text as a memory, without secrets, in the named bank or that of the working
        directory, which is made if it does not exist. `trust` says where the text comes from."""
        clean = self._context.redact(text)
        with self._context.store.transaction():
            bank_id = self._context.ensure_bank(bank)
            memory = curator_for(self._context, who).remember(bank_id, clean, trust=trust)
        self._context.after_adding()
        return memory

    def correct(self, id: str, text: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Replace the words of a record; the old ones are kept as superseded."""
        clean = self._context.redact(text)
        return self._done(curator_for(self._context, who).correct(self.target(id, bank), clean))

    def forget(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Hide a record, and everything derived from it, in every result until it is restored."""
        return self._done(curator_for(self._context, who).forget(self.target(id, bank)))

    def restore(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Bring back a record that was forgotten or merged."""
        return self._done(curator_for(self._context, who).restore(self.target(id, bank)))

    def confirm(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Note that a record still holds, whatever became of its code since."""
        target = find_confirmable(self._context.store, self._context.bank_id(bank), id)
        return self._done(curator_for(self._context, who).confirm(target))

    def merge(self, id: str, into: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Hide a record behind another that says the same."""
        both = self.target(id, bank), self.target(into, bank)
        return self._done(curator_for(self._context, who).merge(*both))

    def judge(
        self,
        ids: Sequence[str],
        verdict: Verdict | str,
        why: str = "",
        bank: str | None = ALL_BANKS,
        who: str = "",
        words: str = "",
    ) -> list[Curation]:
        """Say whether records should be told to later sessions, and why; all of them or none.
        `words` are how briefs tell one that is not understood alone."""
        targets = list({one.uri: one for one in (self.target(id, bank) for id in ids)}.values())
        context = self._context
        made = judge(
            context.store,
            context.now,
            context.actor(who),
            targets,
            read_verdict(verdict),
            context.redact(why),
            context.redact(words),
        )
        context.after_change()
        return made

    def kept(self, made: Iterable[Curation]) -> list[str]:
        """The URIs of the records of some verdicts for which a person's decision still counts:
        somebody judged, remembered, corrected or confirmed them, or another that says the same."""
        by_bank: dict[str, Verdicts] = {}
        found: list[str] = []
        for entry in made:
            if entry.bank not in by_bank:
                by_bank[entry.bank] = read_verdicts(self._context.store, entry.bank)
            if by_bank[entry.bank].of(entry.target) != read_judgement(entry):
                found.append(entry.target)
        return found

    def merge_entities(
        self, name: str, into: str, bank: str | None = None, who: str = ""
    ) -> Curation:
        """Make two entities one; each is named by a URI, an id, or any of its spellings."""
        both = _target(self._browse.entity(name, bank)), _target(self._browse.entity(into, bank))
        return self._done(curator_for(self._context, who).merge_entities(*both))

    def split_entity(
        self, name: str, alias: str, bank: str | None = None, who: str = ""
    ) -> Curation:
        """Make one spelling of an entity an entity of its own."""
        entity = self._browse.entity(name, bank)
        spelling = self._context.store.graph.spelling_id(entity.bank, entity.id, alias)
        if spelling is None:
            known = ", ".join((entity.name, *entity.aliases))
            raise NotFoundError(
                f"{entity.name} is not called {alias!r}.", f"It is called: {known}."
            )
        alone = Target(entity.bank, "entity", spelling)
        return self._done(curator_for(self._context, who).split_entity(alone, _target(entity)))

    def find_review(self, id: str, bank: str | None = ALL_BANKS) -> Review:
        """The open question with this URI, id or start of an id."""
        bare = id.strip().rpartition("/")[2]
        reviews = self._context.store.facts.reviews(self._context.bank_id(bank))
        known = [review for review in reviews if review.id.startswith(bare)]
        if len(known) != 1 or not bare:
            many = "Several questions start" if len(known) > 1 else "No question starts"
            raise NotFoundError(f"{many} with {bare!r}.", "`holdfast review` lists them.")
        return known[0]

    def decide(self, review: Review, keep: bool, who: str = "") -> Curation:
        """Keep a fact that was up for review in force, or retire it."""
        return self._done(curator_for(self._context, who).decide_review(review, keep))

    def target(self, id: str, bank: str | None = ALL_BANKS) -> Target:
        """The record with this id, shown or hidden."""
        return find_target(self._context.store, self._context.bank_id(bank), id)

    def _done(self, decision: Curation) -> Curation:
        self._context.after_change()
        return decision


def _target(entity: Entity) -> Target:
    return Target(entity.bank, "entity", entity.id)
