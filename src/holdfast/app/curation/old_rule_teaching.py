"""A memory that is taught: by a person, who writes into files of rules, and by an agent, whose
words wait for a person. And what an agent may ask of the learning itself, ready to be sent.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from holdfast.app.curation.old_rule_proposals import (
    BY_ITSELF,
    CRITERIA,
    USER_SCOPE,
    Candidate,
    Learned,
    Learning,
    user_path,
)
from holdfast.errors import InputError
from holdfast.language import squeeze
from holdfast.learn.agent_lessons import OF_USER, Lesson, stands
from holdfast.learn.decision_state import standing
from holdfast.learn.existing_rules import says_the_same
from holdfast.learn.promotion import may_be_automatic, refused, turned_away
from holdfast.learn.rule_writing import Change, put_back, remove, resolved, write, written_with
from holdfast.learn.written_rules import read_written, taken_out, written
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.uris import uri

PERSON, AGENT = "person", "agent"
ACTIONS = ("status", "candidates", "promote")
FOR_A_PERSON = (
    "A person decides: `holdfast promote approve {id}` writes it, `holdfast promote reject {id}` "
    "turns it down."
)


class Teaching(Learning):
    """Rules that are taught, and how far learning has come."""

    def learn(
        self,
        domain: str,
        text: str,
        scope: str = "project",
        paths: Sequence[str] = (),
        bank: str | None = None,
        by: str = PERSON,
        who: str = "",
    ) -> Learned:
        """Add a rule to a project's files, or to the user's own, if none says so yet. What an
        agent teaches (`by`) is not written: it waits for a person, beside what was promoted."""
        if by not in (PERSON, AGENT):
            raise InputError(f"Nobody is called {by!r} here.", f"One of: {PERSON}, {AGENT}.")
        learned = self.plan_learn(domain, text, scope, paths, bank)
        if learned.change is None:
            return learned
        if by == AGENT:
            return self._teach(learned, learned.change, scope, tuple(paths), text, bank)
        self.write_rule(learned.change, bank, who)
        return learned

    def write_rule(self, change: Change, bank: str | None = None, who: str = "") -> None:
        """Write a change that was shown. The log says who did; `undo` takes it out again, for as
        long as nobody changed the file."""
        id, root = self._project(bank)
        own = change.file == Path(os.path.realpath(self.settings.claude_dir / change.path))
        path = OF_USER + change.path if own else change.path
        told = written(change, in_words=True)._replace(path=path)
        with written_with(change), self._store.transaction():
            target = uri("file", content_id("file", path))
            self._note(id, Action.WRITE, target, told.told(), who)
        self._follow(id, root)

    def _take_back(self, entry: Curation, amends: ExitStack) -> None:
        """Take a rule out of its file with the decision that put it there. One that waited for
        approval leaves a file that was changed since as it is, for the rule waits again then."""
        super()._take_back(entry, amends)
        told = read_written(entry)
        if told is None or entry.who == BY_ITSELF:
            return
        _, root = self._project(entry.bank, must_exist=False)
        base = self.settings.claude_dir if told.path.startswith(OF_USER) else Path(root)
        with suppress(*((InputError,) if entry.action is Action.APPROVE else ())):
            change = taken_out(resolved(base, told.path.removeprefix(OF_USER)), told)
            write(change) if told.base else remove(change)
            amends.callback(put_back, change, there=bool(told.base))
        self._follow(entry.bank, root)

    def _teach(
        self,
        learned: Learned,
        change: Change,
        scope: str,
        paths: tuple[str, ...],
        text: str,
        bank: str | None,
    ) -> Learned:
        id, _ = self._project(bank)
        path = user_path(Path(change.path).stem) if scope == USER_SCOPE else change.path
        lesson = Lesson(path, tuple(map(squeeze, paths)), squeeze(self._clean(text)))
        known = [r for r in refused(self._store, id) if r.text in turned_away([r])]
        for refusal in known:
            if says_the_same(lesson.text, [refusal.text], self._likeness()):
                why = f": {refusal.why}" if refusal.why else ""
                return learned._replace(refused=f"turned down by {refusal.who}{why}")
        with self._store.transaction():
            if not stands(standing(self._store.curations(id)), lesson):
                entry = (0, id, self._now(), Action.TEACH, lesson.target, lesson.written(), AGENT)
                self._store.curate(Curation(*entry))
                self._store.note_change(id, "")
        self._renew()
        same = [p for p in self._store.proposals(id) if p.target == lesson.target]
        others = [p for p in self._store.proposals(id) if says_the_same(text, [p.text], None)]
        return learned._replace(waits=next((p.id for p in (*same, *others)), ""))

    def auto_learn(
        self, action: str, id: str | None = None, bank: str | None = None
    ) -> dict[str, Any]:
        """What an agent may ask of the learning, ready to be sent: `status` tells how far it has
        come, `candidates` lists what waits for a person, `promote` looks for more. A candidate,
        named by `id`, is written only if the settings stand in for a person; else it goes on
        waiting, and the answer says for what."""
        match action:
            case "status":
                return self.learning_told(bank)
            case "candidates":
                return self.candidates_told(self.candidates(bank), bank)
            case "promote" if id:
                return self._promote_one(id, bank)
            case "promote":
                return self._promote_all(bank)
            case _:
                raise InputError(
                    f"There is nothing called {action!r} to do.", f"One of: {', '.join(ACTIONS)}."
                )

    def learning_told(self, bank: str | None = None) -> dict[str, Any]:
        """How much there is to learn from, and what the settings allow."""
        wanted = self.settings.promote
        state = self.learning(bank)
        return {
            "bank": self.bank_name(self.bank_id(bank)),
            **state._asdict(),
            "files": list(state.files),
            "automatic": wanted.automatic,
            "automatic_memory": wanted.memory,
            "criteria": dict(CRITERIA),
        }

    def candidates_told(
        self, candidates: Sequence[Candidate], bank: str | None = None
    ) -> dict[str, Any]:
        """What waits for a person, and how many questions on facts do besides."""
        return {
            "candidates": [candidate_told(candidate) for candidate in candidates],
            "reviews": len(self.reviews(bank)),
        }

    def _promote_all(self, bank: str | None) -> dict[str, Any]:
        before = len(self._written(bank))
        candidates = self.promote(bank)
        written = self._written(bank)[before:]
        return {"written": written, **self.candidates_told(candidates, bank)}

    def _promote_one(self, id: str, bank: str | None) -> dict[str, Any]:
        proposal, root = self._proposal(id, bank, must_exist=False)
        wanted = self.settings.promote
        if root and may_be_automatic(proposal, wanted.automatic, wanted.memory):
            self.approve(proposal.id, bank=bank, who=BY_ITSELF)
            return {"written": [proposal.path], "candidates": []}
        found = [c for c in self.candidates(bank) if c.proposal.id == proposal.id]
        return {
            "written": [],
            "candidates": [candidate_told(candidate) for candidate in found],
            "remedy": FOR_A_PERSON.format(id=proposal.id),
        }

    def _written(self, bank: str | None) -> list[str]:
        """The files that were written by themselves, one entry for each rule."""
        log = self._store.curations(self._project_bank(bank))
        own = [e for e in log if e.action is Action.APPROVE and e.who == BY_ITSELF]
        return [e.text.partition("\n")[0] for e in own]


def candidate_told(candidate: Candidate) -> dict[str, Any]:
    """A candidate, ready to be sent."""
    p, pattern = candidate.proposal, candidate.pattern
    return {
        "id": p.id,
        "kind": p.kind.value,
        "target": p.target,
        "text": p.text,
        "domain": p.domain,
        "path": p.path,
        "paths": list(p.paths),
        "reason": p.reason,
        "made": p.made,
        "trust": p.trust.value,
        "confidence": pattern.confidence if pattern else None,
        "occurrences": pattern.occurrences if pattern else None,
        "authors": list(pattern.authors) if pattern else [],
        "evidence": list(p.evidence),
        "diff": candidate.diff,
        "problem": candidate.problem or None,
        "changed": candidate.changed,
    }


def learned_told(learned: Learned, written: bool) -> dict[str, Any]:
    """What teaching a rule came to, ready to be sent."""
    change = learned.change
    return {
        "written": written,
        "path": change.path if change else None,
        "diff": change.diff if change else "",
        "documented": learned.documented or None,
        "opposes": learned.opposes or None,
        "waits": learned.waits or None,
        "refused": learned.refused or None,
        "remedy": FOR_A_PERSON.format(id=learned.waits) if learned.waits else None,
    }
