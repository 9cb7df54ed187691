"""Rules proposed from repeated statements, and their approval or rejection.

A rule is written into the files of a project only if a person approves it, who was shown the diff,
or if the settings allow it without asking. Teaching a rule directly is in `rule_teaching`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import Context
from holdfast.app.curation.records import refresh_derived
from holdfast.app.curation.rule_files import RuleFiles
from holdfast.app.ingest.stages import STAGES, Stage, update_stages
from holdfast.errors import HoldfastError, InputError, NotFoundError
from holdfast.learn.agent_lessons import USER_PREFIX
from holdfast.learn.existing_rules import find_matching_rule
from holdfast.learn.promotion import (
    MIN_CONFIDENCE,
    MIN_OCCURRENCES,
    is_firm,
    is_ripe,
    may_be_automatic,
    propose,
    refusals_in_effect,
    rule_addition,
)
from holdfast.learn.rule_writing import (
    FileChange,
    lines_written,
    plan_addition,
    rules_path,
    written_or_reverted,
)
from holdfast.model.curation import Action, Curation
from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Refusal
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.rules.rule_roots import bank_root
from holdfast.store.protocol import Store

USER_SCOPE = "user"
# The author, in the log, of rules that the settings allow to be written without asking.
AUTOMATIC_AUTHOR = "holdfast"
# The stage under which the store notes up to which change a bank was searched for proposals. A
# higher version searches all banks again.
_STAGE, _STAGE_VERSION = "proposals", 2


def user_path(domain: str) -> str:
    """The path of the user's own rule file for a domain."""
    return USER_PREFIX + rules_path(domain).removeprefix(".claude/")


class FileChangedError(InputError):
    """A rule file was changed after the diff was shown."""


class Candidate(NamedTuple):
    """A proposal that waits for a person, with its pattern and the diff against the file as it is
    now. `problem` says why there is no diff; `changed` that the file changed since the proposal."""

    proposal: Proposal
    pattern: Pattern | None
    diff: str = ""
    problem: str = ""
    changed: bool = False


class LearnResult(NamedTuple):
    """The result of teaching a rule: the change to a file, or where the rule is `documented`
    already. `opposes` names a rule that contradicts it. For a rule taught by an agent, `waits` is
    the id of its candidate, and `refused` says who rejected it before."""

    change: FileChange | None
    documented: str = ""
    opposes: str = ""
    waits: str = ""
    refused: str = ""


class LearningState(NamedTuple):
    """Counts for one bank: patterns and how many are ripe for a rule, open proposals to add
    (`promotions`) and to drop (`demotions`) rules, decisions, rules, and the files of rules."""

    patterns: int
    ripe: int
    promotions: int
    demotions: int
    approved: int
    rejected: int
    rules: int
    files: tuple[str, ...]


class RuleProposals:
    """Finds, lists, approves and rejects proposed rules. An `id` is that of a proposal or of its
    pattern, or the start of one."""

    def __init__(self, context: Context, files: RuleFiles) -> None:
        self._context = context
        self._files = files

    @property
    def _store(self) -> Store:
        return self._context.store

    def state(self, bank: str | None = None) -> LearningState:
        id = self._files.project_bank(bank)
        patterns, rules = self._store.rules.patterns(id), self._store.rules.all(id)
        kinds = Counter(proposal.kind for proposal in self._store.rules.proposals(id))
        return LearningState(
            len(patterns),
            sum(map(is_ripe, patterns)),
            kinds[ProposalKind.PROMOTE],
            kinds[ProposalKind.DEMOTE],
            sum(entry.action is Action.APPROVE for entry in self._store.curation.log(id)),
            len(refusals_in_effect(self._store, id)),
            len(rules),
            tuple(dict.fromkeys(rule.path for rule in rules)),
        )

    def proposals(self, bank: str | None = None) -> list[Proposal]:
        """The open proposals of a bank, or of all banks."""
        banks = self._context.bank_ids(bank)
        return [proposal for one in banks for proposal in self._store.rules.proposals(one)]

    def candidates(self, bank: str | None = None) -> list[Candidate]:
        """The open proposals of a bank, each with the diff that it would make now."""
        id, root = self._files.project(bank, must_exist=False)
        patterns = {uri("pattern", p.id): p for p in self._store.rules.patterns(id)}
        return [
            self._candidate(proposal, patterns.get(proposal.target), root)
            for proposal in self._store.rules.proposals(id)
        ]

    def _candidate(self, proposal: Proposal, pattern: Pattern | None, root: str) -> Candidate:
        if proposal.kind is ProposalKind.DEMOTE:
            return Candidate(proposal, pattern)
        if not root and not proposal.path.startswith(USER_PREFIX):
            return Candidate(proposal, pattern, problem="the project is not on this machine")
        try:
            change = self._files.plan_addition(proposal.path, root, rule_addition(proposal))
        except HoldfastError as error:
            return Candidate(proposal, pattern, problem=error.message)
        return Candidate(proposal, pattern, change.diff, "", change.base != proposal.base)

    def promote(self, bank: str | None = None) -> list[Candidate]:
        """Look for new proposals, and write those that the settings allow without asking; returns
        the ones that wait for a person."""
        id, root = self._files.project(bank, must_exist=False)
        self._files.sync(id, root)
        update_stages(self._store, self._context.settings, self._context.now)
        self._propose(id, root)
        return self.candidates(bank)

    def sync_all(
        self, on_progress: Callable[[], None] = lambda: None, among: Sequence[Stage] | None = None
    ) -> int:
        """Read the rule files of all banks again and run these stages (default: all), which depend
        on the files; returns how many proposals are new."""
        current, folder = self._context.current_project()
        for bank in self._store.banks.all():
            self._files.sync(bank.id, folder if bank.id == current else "")
            on_progress()
        update_stages(
            self._store, self._context.settings, self._context.now, on_progress, among or STAGES
        )
        return self.propose_all()

    def propose_all(self) -> int:
        """Update the proposals of every bank whose patterns or rules changed; returns how many
        are new."""
        current, folder = self._context.current_project()
        behind = self._store.progress.banks_behind(_STAGE, _STAGE_VERSION)
        return sum(self._propose(bank, folder if bank == current else "") for bank in behind)

    def _propose(self, bank: str, root: str) -> int:
        """Compute the proposals of a bank again; returns how many are new."""
        root = root or bank_root(self._store, bank)
        similarity = self._files.similarity() if self._has_evidence(bank) else None
        with self._store.transaction():
            before = {p.id for p in self._store.rules.proposals(bank)}
            folder = Path(root) if root else None
            now, user_folder = self._context.now(), self._context.settings.claude_dir
            proposed = propose(self._store, bank, folder, now, similarity, user_folder)
            for gone in before - {p.id for p in proposed}:
                self._store.rules.drop_proposal(bank, gone)
            for proposal in proposed:
                self._store.rules.put_proposal(proposal)
            for change in self._store.progress.unseen_changes(bank, _STAGE, _STAGE_VERSION)[-1:]:
                self._store.progress.mark_seen(bank, _STAGE, _STAGE_VERSION, change.number)
        policy = self._context.settings.promote
        for proposal in proposed:
            if root and may_be_automatic(proposal, policy.automatic, policy.memory):
                self._write_automatically(proposal, root)
        return len({p.id for p in proposed} - before)

    def _has_evidence(self, bank: str) -> bool:
        """Whether there can be proposals: it saves loading the embedding model where not."""
        taught = any(e.action is Action.TEACH for e in self._store.curation.log(bank))
        firm = any(map(is_firm, self._store.opinions.all(bank)))
        return taught or firm or any(map(is_ripe, self._store.rules.patterns(bank)))

    def _write_automatically(self, proposal: Proposal, root: str) -> None:
        """Write a rule without asking. If its file cannot be written, the proposal stays open."""
        with suppress(InputError):
            change = plan_addition(Path(root), proposal.path, rule_addition(proposal))
            self._write_approved(proposal, change, root, AUTOMATIC_AUTHOR)

    def plan_approval(self, id: str, text: str = "", bank: str | None = None) -> Candidate:
        """What approving a proposal would do, in the words of `text` or in its own."""
        proposal, root = self.find_proposal(id, bank)
        candidate = self._candidate(proposal, None, root)
        if candidate.problem:
            raise InputError(f"It cannot be written: {candidate.problem}", "Nothing was changed.")
        if proposal.kind is ProposalKind.DEMOTE:
            return candidate
        return candidate._replace(
            diff=self._files.plan_addition(proposal.path, root, rule_addition(proposal, text)).diff
        )

    def approve(
        self, id: str, text: str = "", bank: str | None = None, who: str = "", seen_diff: str = ""
    ) -> FileChange | None:
        """Write a proposed rule into its file, in the words of `text` or in its own. If the file
        changed since the proposal, nothing is written unless `seen_diff` is the new diff. Approving
        a demotion only closes it: a person removes the rule by hand."""
        proposal, root = self.find_proposal(id, bank)
        if proposal.kind is ProposalKind.DEMOTE:
            self._record_decision(Action.APPROVE, proposal, who, proposal.path)
            return None
        clean = self._context.redact(text)
        self._files.sync(proposal.bank, root)
        rules = self._store.rules.all(proposal.bank)
        found = find_matching_rule(clean or proposal.text, rules, self._files.similarity())
        if found is not None and not found.opposes:
            with self._store.transaction():
                self._store.rules.drop_proposal(proposal.bank, proposal.id)
            raise InputError(f"{found.where} says so already.", "Nothing was changed.")
        change = self._files.plan_addition(proposal.path, root, rule_addition(proposal, clean))
        if change.base != proposal.base and change.diff != seen_diff:
            self._refuse_changed_file(proposal, change)
        self._write_approved(proposal, change, root, who)
        return change

    def _refuse_changed_file(self, proposal: Proposal, change: FileChange) -> None:
        """Base the proposal on the file as it is now, so that it can be approved next time."""
        with self._store.transaction():
            self._store.rules.put_proposal(replace(proposal, base=change.base))
        raise FileChangedError(
            f"{proposal.path} was changed since this was proposed. Nothing was written.",
            "Look at the new diff with `holdfast promote candidates`, and approve again.",
        )

    def _write_approved(self, proposal: Proposal, change: FileChange, root: str, who: str) -> None:
        """Write the change and log the approval; both or neither."""
        text = lines_written(change)._replace(path=proposal.path).log_text()
        self._record_decision(Action.APPROVE, proposal, who, text, change)
        self._files.sync(proposal.bank, root)

    def reject(self, id: str, why: str = "", bank: str | None = None, who: str = "") -> Proposal:
        """Reject a proposal. No rule that says the same is proposed again."""
        proposal, _ = self.find_proposal(id, bank, must_exist=False)
        clean = self._context.redact(why).strip()
        self._record_decision(Action.REJECT, proposal, who, clean)
        return proposal

    def _record_decision(
        self,
        action: Action,
        proposal: Proposal,
        who: str,
        text: str,
        change: FileChange | None = None,
    ) -> None:
        """Log a decision and close its proposal. `text` is what was written, or why it was
        rejected; the reason goes into the refusal instead of the log."""
        p, now = proposal, self._context.now()
        logged = text if action is Action.APPROVE else ""
        with written_or_reverted(change) if change else nullcontext(), self._store.transaction():
            entry = Curation(0, p.bank, now, action, p.target, logged, self._context.actor(who))
            entry = self._store.curation.append(entry)
            if action is Action.REJECT:
                refusal = Refusal(entry.seq, p.target, p.text, text, now, entry.who, p.evidence)
                self._store.rules.put_refusal(p.bank, refusal)
            self._store.rules.drop_proposal(p.bank, p.id)
            self._store.progress.mark_changed(p.bank, "")
        refresh_derived(self._context)

    def find_proposal(
        self, id: str, bank: str | None, must_exist: bool = True
    ) -> tuple[Proposal, str]:
        """The only open proposal whose id, or that of its pattern, starts with `id`; and the folder
        of its project."""
        own, root = self._files.project(bank, must_exist)
        named = parse_uri(id)
        start = named.id if named else ""
        found = [
            p
            for p in self._store.rules.proposals(own)
            if start and (p.id.startswith(start) or p.target.rpartition("/")[2].startswith(start))
        ]
        if len(found) != 1:
            many = ", ".join(p.id for p in found)
            raise NotFoundError(
                f"Several candidates start with {id!r}." if many else f"No candidate {id!r} waits.",
                f"One of: {many}." if many else "`holdfast promote candidates` lists them.",
            )
        return found[0], root


# What a pattern needs to be proposed as a rule, as shown to agents.
PROMOTION_CRITERIA = {"occurrences": MIN_OCCURRENCES, "confidence": MIN_CONFIDENCE}
