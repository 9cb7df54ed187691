"""A memory that learns rules: what people teach it, and what it proposes of itself.

Nothing is written into a project's files but on a person's word, or by the settings that stand in
for it; what is written was shown as a diff against the file as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from holdfast.app.curation.curating import Curating
from holdfast.app.ingest.stages import know
from holdfast.app.search.old_recall import here
from holdfast.app.search.rule_sync import follow_rules
from holdfast.capture.redact import Redactor
from holdfast.errors import HoldfastError, InputError, NotFoundError
from holdfast.learn.agent_lessons import OF_USER
from holdfast.learn.existing_rules import Likeness, find_documented
from holdfast.learn.promotion import (
    CONFIDENCE,
    OCCURRENCES,
    addition,
    is_ripe,
    may_be_automatic,
    propose,
    refused,
)
from holdfast.learn.rule_text import Addition
from holdfast.learn.rule_writing import Change, plan, rules_path, written_with
from holdfast.learn.written_rules import written
from holdfast.model.curation import Action, Curation
from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Refusal
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.rules.domains import domain_of
from holdfast.refine.rules.rule_records import root_of
from holdfast.settings import NO_MODEL

USER_SCOPE = "user"
SCOPES = ("project", USER_SCOPE)
BY_ITSELF = "holdfast"
PROPOSALS, VERSION = "proposals", 1


def user_path(domain: str) -> str:
    """The file of a domain's rules among the user's own."""
    return OF_USER + rules_path(domain).removeprefix(".claude/")


class ChangedError(InputError):
    """A file is not what it was when its change was shown."""


class Candidate(NamedTuple):
    """What waits for a person: the proposal, its pattern, and the change to the file as it is
    now; `problem` tells why there can be none, `changed` that the file is another since."""

    proposal: Proposal
    pattern: Pattern | None
    diff: str = ""
    problem: str = ""
    changed: bool = False


class Learned(NamedTuple):
    """What teaching a rule comes to: the change to a file, or where it stands already. What an
    agent taught `waits` for a person, by the id of a candidate, unless it was `refused` before."""

    change: Change | None
    documented: str = ""
    opposes: str = ""
    waits: str = ""
    refused: str = ""


class LearningState(NamedTuple):
    """How much there is to learn from."""

    patterns: int
    ripe: int
    promotions: int
    demotions: int
    approved: int
    rejected: int
    rules: int
    files: tuple[str, ...]


class Learning(Curating):
    """Rules. A candidate is named by its id or the start of it, or by its pattern's."""

    def plan_learn(
        self,
        domain: str,
        text: str,
        scope: str = "project",
        paths: Sequence[str] = (),
        bank: str | None = None,
    ) -> Learned:
        """What adding a rule would do. The same is not written twice, in whatever words. A folder
        that has no bank is given one."""
        if not bank and not self.bank_id(bank):
            with self._store.transaction():
                self._banks.ensure(self._store, here())
        clean = self._clean(text)
        id, root = self._project(bank)
        self._follow(id, root)
        rules = [r for r in self._store.rules(id) if scope != USER_SCOPE or r.path[:2] == "~/"]
        found = find_documented(clean, rules, self._likeness())
        if found is not None and not found.opposes:
            return Learned(None, found.where)
        name = domain or domain_of(clean)
        added = Addition(clean, (), name.lower(), tuple(paths))
        if scope == USER_SCOPE:
            change = self._plan(user_path(name), root, added)
        else:
            change = self._plan(rules_path(name), root, added)
        return Learned(change, "", found.where if found is not None else "")

    def learning(self, bank: str | None = None) -> LearningState:
        """How much there is to learn from."""
        id = self._project_bank(bank)
        patterns, waiting = self._store.patterns(id), self._store.proposals(id)
        log = self._store.curations(id)
        approved = [e for e in log if e.action is Action.APPROVE]
        return LearningState(
            len(patterns),
            sum(map(is_ripe, patterns)),
            sum(p.kind is ProposalKind.PROMOTE for p in waiting),
            sum(p.kind is ProposalKind.DEMOTE for p in waiting),
            len(approved),
            len(refused(self._store, id)),
            len(self._store.rules(id)),
            tuple(dict.fromkeys(rule.path for rule in self._store.rules(id))),
        )

    def proposals(self, bank: str | None = None) -> list[Proposal]:
        """What waits for a person, in a bank or in all."""
        id = self.bank_id(bank)
        banks = [known.id for known in self._store.banks()] if id is None else [id]
        return [proposal for one in banks for proposal in self._store.proposals(one)]

    def candidates(self, bank: str | None = None) -> list[Candidate]:
        """What waits for a person, each with the change that it would make now."""
        id, root = self._project(bank, must_exist=False)
        patterns = {uri("pattern", p.id): p for p in self._store.patterns(id)}
        return [
            self._candidate(proposal, patterns.get(proposal.target), root)
            for proposal in self._store.proposals(id)
        ]

    def _candidate(self, proposal: Proposal, pattern: Pattern | None, root: str) -> Candidate:
        if proposal.kind is ProposalKind.DEMOTE:
            return Candidate(proposal, pattern)
        if not root and not proposal.path.startswith(OF_USER):
            return Candidate(proposal, pattern, problem="the project is not on this machine")
        try:
            change = self._plan(proposal.path, root, addition(proposal))
        except HoldfastError as error:
            return Candidate(proposal, pattern, problem=error.message)
        return Candidate(proposal, pattern, change.diff, "", change.base != proposal.base)

    def promote(self, bank: str | None = None) -> list[Candidate]:
        """Look for what has earned the rank of a rule; returns what waits for a person then. By
        the settings it is written without asking."""
        id, root = self._project(bank, must_exist=False)
        self._follow(id, root)
        know(self._store, self._now)
        self._propose(id, root)
        return self.candidates(bank)

    def follow(self, tick: Callable[[], None] = lambda: None) -> int:
        """Bring the rules of all banks in step with their files, and what is known with them;
        returns how many proposals are new."""
        present, here = self.present()
        for bank in self._store.banks():
            self._follow(bank.id, here if bank.id == present else "")
            tick()
        know(self._store, self._now, tick)
        return self._propose_all(present, here)

    def _propose_all(self, present: str, here: str) -> int:
        behind = self._store.banks_behind(PROPOSALS, VERSION)
        return sum(self._propose(bank, here if bank == present else "") for bank in behind)

    def _propose(self, bank: str, root: str) -> int:
        """Bring up to date what waits for a person; returns how much of it is new."""
        root = root or root_of(self._store, bank)
        likeness = self._likeness() if self._any_to_propose(bank) else None
        place = Path(root) if root else None
        with self._store.transaction():
            before = {p.id for p in self._store.proposals(bank)}
            made = propose(
                self._store, bank, place, self._now(), likeness, self.settings.claude_dir
            )
            for gone in before - {p.id for p in made}:
                self._store.drop_proposal(bank, gone)
            for proposal in made:
                self._store.put_proposal(proposal)
            for change in self._store.changes(bank, PROPOSALS, VERSION)[-1:]:
                self._store.reach(bank, PROPOSALS, VERSION, change.number)
        wanted = self.settings.promote
        for proposal in made:
            if root and may_be_automatic(proposal, wanted.automatic, wanted.memory):
                self._write_by_itself(proposal, root)
        return len({p.id for p in made} - before)

    def _any_to_propose(self, bank: str) -> bool:
        taught = any(e.action is Action.TEACH for e in self._store.curations(bank))
        return taught or any(map(is_ripe, self._store.patterns(bank)))

    def _plan(self, path: str, root: str, added: Addition) -> Change:
        """What adding a rule to a file would do: of the project, or of the user."""
        if path.startswith(OF_USER):
            return plan(self.settings.claude_dir, path.removeprefix(OF_USER), added)
        return plan(Path(root), path, added)

    def _write_by_itself(self, proposal: Proposal, root: str) -> None:
        """A file that cannot be written now is left for a person to look at."""
        try:
            change = plan(Path(root), proposal.path, addition(proposal))
            self._approved(proposal, change, root, BY_ITSELF)
        except InputError:
            return

    def plan_approval(self, id: str, text: str = "", bank: str | None = None) -> Candidate:
        """What approving a candidate would do, in these words or in its own."""
        proposal, root = self._proposal(id, bank)
        candidate = self._candidate(proposal, None, root)
        if candidate.problem:
            raise InputError(f"It cannot be written: {candidate.problem}", "Nothing was changed.")
        if proposal.kind is ProposalKind.DEMOTE:
            return candidate
        return candidate._replace(
            diff=self._plan(proposal.path, root, addition(proposal, text)).diff
        )

    def approve(
        self, id: str, text: str = "", bank: str | None = None, who: str = "", seen: str = ""
    ) -> Change | None:
        """Write a candidate into its file, in these words or in its own. A file that changed
        since it was proposed is left alone, unless the new diff was `seen`. To approve a
        demotion settles it; the rule is taken out by hand."""
        proposal, root = self._proposal(id, bank)
        if proposal.kind is ProposalKind.DEMOTE:
            self._decided(Action.APPROVE, proposal, who, proposal.path)
            return None
        clean = self._clean(text)
        self._follow(proposal.bank, root)
        said = clean or proposal.text
        found = find_documented(said, self._store.rules(proposal.bank), self._likeness())
        if found is not None and not found.opposes:
            with self._store.transaction():
                self._store.drop_proposal(proposal.bank, proposal.id)
            raise InputError(f"{found.where} says so already.", "Nothing was changed.")
        change = self._plan(proposal.path, root, addition(proposal, clean))
        if change.base != proposal.base and change.diff != seen:
            self._propose_anew(proposal, change)
        self._approved(proposal, change, root, who)
        return change

    def _propose_anew(self, proposal: Proposal, change: Change) -> None:
        with self._store.transaction():
            self._store.put_proposal(replace(proposal, base=change.base))
        raise ChangedError(
            f"{proposal.path} was changed since this was proposed. Nothing was written.",
            "Look at the new diff with `holdfast promote candidates`, and approve again.",
        )

    def _approved(self, proposal: Proposal, change: Change, root: str, who: str) -> None:
        """Write a candidate's change, and that it was approved; or neither."""
        told = written(change)._replace(path=proposal.path).told()
        self._decided(Action.APPROVE, proposal, who, told, change)
        self._follow(proposal.bank, root)

    def reject(self, id: str, why: str = "", bank: str | None = None, who: str = "") -> Proposal:
        """Turn a candidate down; the same is not proposed again, in whatever words."""
        proposal, _ = self._proposal(id, bank, must_exist=False)
        clean = self._clean(why).strip()
        self._decided(Action.REJECT, proposal, who, clean)
        return proposal

    def _decided(
        self,
        action: Action,
        proposal: Proposal,
        who: str,
        told: str,
        change: Change | None = None,
    ) -> None:
        p, now = proposal, self._now()
        said = told if action is Action.APPROVE else ""
        with written_with(change) if change else nullcontext(), self._store.transaction():
            entry = Curation(0, p.bank, now, action, p.target, said, self._named(who))
            made = self._store.curate(entry)
            if action is Action.REJECT:
                self._store.put_refusal(
                    p.bank,
                    Refusal(made.seq, p.target, p.text, told, now, made.who, p.evidence),
                )
            self._store.drop_proposal(p.bank, p.id)
            self._store.note_change(p.bank, "")
        super()._renew()

    def _renew(self) -> None:
        super()._renew()
        self._propose_all(*self.present())

    def _proposal(self, id: str, bank: str | None, must_exist: bool = True) -> tuple[Proposal, str]:
        own, root = self._project(bank, must_exist)
        named = parse_uri(id)
        start = named.id if named else ""
        waiting = self._store.proposals(own)
        found = [
            p
            for p in waiting
            if start and (p.id.startswith(start) or p.target.rpartition("/")[2].startswith(start))
        ]
        if len(found) != 1:
            many = ", ".join(p.id for p in found)
            raise NotFoundError(
                f"Several candidates start with {id!r}." if many else f"No candidate {id!r} waits.",
                f"One of: {many}." if many else "`holdfast promote candidates` lists them.",
            )
        return found[0], root

    def _project_bank(self, bank: str | None) -> str:
        id = self.bank_id(bank)
        if not id:
            if id is None:
                raise InputError("Rules belong to one project.", "Name it: --bank NAME.")
            raise InputError("This folder has no bank yet.", self.no_bank())
        return id

    def _project(self, bank: str | None, must_exist: bool = True) -> tuple[str, str]:
        """A bank and the folder of its project: the one we stand in, if that is its."""
        id = self._project_bank(bank)
        present, here = self.present()
        root = here if present == id and here else root_of(self._store, id)
        if not root and must_exist:
            raise InputError(
                f"The project of {self.bank_name(id)} is not on this machine.",
                "Run this in its folder.",
            )
        return id, root

    def _follow(self, bank: str, root: str) -> None:
        follow_rules(self._store, self.settings, self._banks, bank, root)

    def _clean(self, text: str) -> str:
        return Redactor(self.settings.redact_patterns).redact(text).text

    def _likeness(self) -> Likeness | None:
        """What tells whether two texts mean about the same, if anything was embedded."""
        if self.settings.embed_model == NO_MODEL or not self._store.vector_models():
            return None
        from holdfast.app.core import similarity

        likeness: Likeness | None = similarity.load_likeness(self.settings)
        return likeness


CRITERIA = {"occurrences": OCCURRENCES, "confidence": CONFIDENCE}
