"""Rules for the files of a project or of the user: teaching them, and approving or rejecting those
that are proposed from repeated statements.

A rule is written into a file only if a person approves it, who was shown the diff, or if the
settings allow it without asking. One that an agent teaches waits for a person's approval.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import NAME_A_BANK, Context
from holdfast.app.curation.records import log_decision, refresh_derived
from holdfast.app.ingest.stages import STAGES, Stage, update_stages
from holdfast.app.search.rule_sync import sync_rules
from holdfast.errors import HoldfastError, InputError, NotFoundError
from holdfast.language import collapse_spaces
from holdfast.learn.agent_lessons import USER_PREFIX, Lesson, is_proposed
from holdfast.learn.existing_rules import Similarity, find_matching_rule, says_the_same
from holdfast.learn.promotion import (
    is_firm,
    is_ripe,
    may_be_automatic,
    propose,
    refusals_in_effect,
    refused_texts,
    rule_addition,
)
from holdfast.learn.rule_text import RuleAddition
from holdfast.learn.rule_writing import (
    FileChange,
    lines_written,
    plan_addition,
    read_written,
    removal,
    remove_file,
    resolve_inside,
    revert,
    rules_path,
    write,
    written_or_reverted,
)
from holdfast.model.curation import AGENT, Action, Curation, in_effect
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Refusal
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.rules.domains import domain_of
from holdfast.refine.rules.rule_roots import bank_root
from holdfast.settings import NO_MODEL
from holdfast.store.protocol import Store

# Whose files a rule is for: those of the user in all projects; otherwise of the project.
USER_SCOPE = "user"
# The author, in the log, of rules that the settings allow to be written without asking.
AUTOMATIC_AUTHOR = "holdfast"
# The stage under which the store notes up to which change a bank was searched for proposals. A
# higher version searches all banks again.
_STAGE, _STAGE_VERSION = "proposals", 2


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


class Rules:
    """Finds, lists, teaches, approves and rejects rules. An `id` is that of a proposal or of its
    pattern, or the start of one."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def _store(self) -> Store:
        return self._context.store

    # Proposing.

    def proposals(self, bank: str | None = None) -> list[Proposal]:
        """The open proposals of a bank, or of all banks."""
        banks = self._context.bank_ids(bank)
        return [proposal for one in banks for proposal in self._store.rules.proposals(one)]

    def candidates(self, bank: str | None = None) -> list[Candidate]:
        """The open proposals of a bank, each with the diff that it would make now."""
        id, root = self._project(bank, must_exist=False)
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
            change = self._plan_addition(proposal.path, root, rule_addition(proposal))
        except HoldfastError as error:
            return Candidate(proposal, pattern, problem=error.message)
        return Candidate(proposal, pattern, change.diff, "", change.base != proposal.base)

    def promote(self, bank: str | None = None) -> list[Candidate]:
        """Look for new proposals, and write those that the settings allow without asking; returns
        the ones that wait for a person."""
        id, root = self._project(bank, must_exist=False)
        self._sync(id, root)
        update_stages(self._store, self._context.settings, self._context.now)
        self._propose(id, root)
        return self.candidates(bank)

    def written_automatically(self, bank: str | None = None) -> list[str]:
        """The paths of rules that were written without asking, one for each rule."""
        log = self._store.curation.log(self.project_bank(bank))
        own = [e for e in log if e.action is Action.APPROVE and e.who == AUTOMATIC_AUTHOR]
        return [entry.text.partition("\n")[0] for entry in own]

    def sync_all(
        self, on_progress: Callable[[], None] = lambda: None, among: Sequence[Stage] | None = None
    ) -> int:
        """Read the rule files of all banks again and run these stages (default: all), which depend
        on the files; returns how many proposals are new."""
        current, folder = self._context.current_project()
        for bank in self._store.banks.all():
            self._sync(bank.id, folder if bank.id == current else "")
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
        context, root = self._context, root or bank_root(self._store, bank)
        folder, policy = Path(root) if root else None, context.settings.promote
        # Loading the embedding model is saved where there can be no proposals.
        might = (
            any(entry.action is Action.TEACH for entry in self._store.curation.log(bank))
            or any(map(is_firm, self._store.opinions.all(bank)))
            or any(map(is_ripe, self._store.rules.patterns(bank)))
        )
        similarity = self._similarity() if might else None
        with self._store.transaction():
            before = {p.id for p in self._store.rules.proposals(bank)}
            proposed = propose(
                self._store, bank, folder, context.now(), similarity, context.settings.claude_dir
            )
            for gone in before - {p.id for p in proposed}:
                self._store.rules.drop_proposal(bank, gone)
            for proposal in proposed:
                self._store.rules.put_proposal(proposal)
            for change in self._store.progress.unseen_changes(bank, _STAGE, _STAGE_VERSION)[-1:]:
                self._store.progress.mark_seen(bank, _STAGE, _STAGE_VERSION, change.number)
        for proposal in proposed:
            if folder and may_be_automatic(proposal, policy.automatic, policy.memory):
                # If its file cannot be written, the proposal stays open.
                with suppress(InputError):
                    change = plan_addition(folder, proposal.path, rule_addition(proposal))
                    self._write_approved(proposal, change, root, AUTOMATIC_AUTHOR)
        return len({p.id for p in proposed} - before)

    # Deciding about proposals.

    def plan_approval(self, id: str, text: str = "", bank: str | None = None) -> Candidate:
        """What approving a proposal would do, in the words of `text` or in its own."""
        proposal, root = self._find_proposal(id, bank)
        candidate = self._candidate(proposal, None, root)
        if candidate.problem:
            raise InputError(f"It cannot be written: {candidate.problem}", "Nothing was changed.")
        if proposal.kind is ProposalKind.DEMOTE:
            return candidate
        change = self._plan_addition(proposal.path, root, rule_addition(proposal, text))
        return candidate._replace(diff=change.diff)

    def approve(
        self, id: str, text: str = "", bank: str | None = None, who: str = "", seen_diff: str = ""
    ) -> FileChange | None:
        """Write a proposed rule into its file, in the words of `text` or in its own. If the file
        changed since the proposal, nothing is written unless `seen_diff` is the new diff. Approving
        a demotion only closes it: a person removes the rule by hand."""
        proposal, root = self._find_proposal(id, bank)
        if proposal.kind is ProposalKind.DEMOTE:
            self._record_decision(Action.APPROVE, proposal, who, proposal.path)
            return None
        clean = self._context.redact(text)
        self._sync(proposal.bank, root)
        rules = self._store.rules.all(proposal.bank)
        found = find_matching_rule(clean or proposal.text, rules, self._similarity())
        if found is not None and not found.opposes:
            with self._store.transaction():
                self._store.rules.drop_proposal(proposal.bank, proposal.id)
            raise InputError(f"{found.where} says so already.", "Nothing was changed.")
        change = self._plan_addition(proposal.path, root, rule_addition(proposal, clean))
        if change.base != proposal.base and change.diff != seen_diff:
            # From now on it is based on the file as it is, so that it can be approved next time.
            with self._store.transaction():
                self._store.rules.put_proposal(replace(proposal, base=change.base))
            raise FileChangedError(
                f"{proposal.path} was changed since this was proposed. Nothing was written.",
                "Look at the new diff with `holdfast promote candidates`, and approve again.",
            )
        self._write_approved(proposal, change, root, who)
        return change

    def approve_automatically(self, id: str, bank: str | None = None) -> Candidate | None:
        """Write a proposal if the settings allow that without asking; otherwise what waits."""
        proposal, root = self._find_proposal(id, bank, must_exist=False)
        policy = self._context.settings.promote
        if root and may_be_automatic(proposal, policy.automatic, policy.memory):
            self.approve(proposal.id, bank=bank, who=AUTOMATIC_AUTHOR)
            return None
        return next(c for c in self.candidates(bank) if c.proposal.id == proposal.id)

    def _write_approved(self, proposal: Proposal, change: FileChange, root: str, who: str) -> None:
        """Write the change and log the approval; both or neither."""
        text = lines_written(change)._replace(path=proposal.path).log_text()
        self._record_decision(Action.APPROVE, proposal, who, text, change)
        self._sync(proposal.bank, root)

    def reject(self, id: str, why: str = "", bank: str | None = None, who: str = "") -> Proposal:
        """Reject a proposal. No rule that says the same is proposed again."""
        proposal, _ = self._find_proposal(id, bank, must_exist=False)
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
        p, logged = proposal, text if action is Action.APPROVE else ""
        with written_or_reverted(change) if change else nullcontext(), self._store.transaction():
            entry = log_decision(self._context, p.bank, action, p.target, logged, who)
            if action is Action.REJECT:
                refusal = Refusal(
                    entry.seq, p.target, p.text, text, entry.time, entry.who, p.evidence
                )
                self._store.rules.put_refusal(p.bank, refusal)
            self._store.rules.drop_proposal(p.bank, p.id)
        refresh_derived(self._context)

    def _find_proposal(
        self, id: str, bank: str | None, must_exist: bool = True
    ) -> tuple[Proposal, str]:
        """The only open proposal whose id, or that of its pattern, starts with `id`; and the folder
        of its project."""
        own, root = self._project(bank, must_exist)
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

    # Teaching.

    def plan_learn(
        self,
        domain: str,
        text: str,
        scope: str = "project",
        paths: Sequence[str] = (),
        bank: str | None = None,
    ) -> LearnResult:
        """What adding a rule would do; nothing if a rule that says the same exists. Makes a bank
        for the working directory if it has none."""
        if not bank and not self._context.bank_id(bank):
            with self._store.transaction():
                self._context.ensure_bank()
        clean = self._context.redact(text)
        id, root = self._project(bank)
        self._sync(id, root)
        rules = [r for r in self._store.rules.all(id) if scope != USER_SCOPE or r.path[:2] == "~/"]
        found = find_matching_rule(clean, rules, self._similarity())
        if found is not None and not found.opposes:
            return LearnResult(None, found.where)
        name = domain or domain_of(clean)
        path = _user_path(name) if scope == USER_SCOPE else rules_path(name)
        added = RuleAddition(clean, (), name.lower(), tuple(paths))
        change = self._plan_addition(path, root, added)
        return LearnResult(change, "", found.where if found is not None else "")

    def write_rule(self, change: FileChange, bank: str | None = None, who: str = "") -> None:
        """Write a change that was shown, and log it. `undo` reverts it as long as nobody else has
        changed the file."""
        id, root = self._project(bank)
        users = Path(os.path.realpath(self._context.settings.claude_dir / change.path))
        path = USER_PREFIX + change.path if change.file == users else change.path
        written = lines_written(change, with_text=True)._replace(path=path)
        with written_or_reverted(change), self._store.transaction():
            target = uri("file", content_id("file", path))
            log_decision(self._context, id, Action.WRITE, target, written.log_text(), who)
        self._sync(id, root)

    def undo_written_rule(self, entry: Curation, rollback: ExitStack) -> None:
        """Remove a rule from its file when the decision that wrote it is undone. If the file was
        changed since: an approved rule stays in it and is proposed again; undoing any other
        decision fails."""
        written = read_written(entry)
        if written is None or entry.who == AUTOMATIC_AUTHOR:
            return
        _, root = self._project(entry.bank, must_exist=False)
        is_user_file = written.path.startswith(USER_PREFIX)
        base = self._context.settings.claude_dir if is_user_file else Path(root)
        with suppress(*((InputError,) if entry.action is Action.APPROVE else ())):
            change = removal(resolve_inside(base, written.path.removeprefix(USER_PREFIX)), written)
            write(change) if written.base else remove_file(change)
            rollback.callback(revert, change, file_exists=bool(written.base))
        self._sync(entry.bank, root)

    def suggest(
        self,
        domain: str,
        text: str,
        scope: str = "project",
        paths: Sequence[str] = (),
        bank: str | None = None,
    ) -> LearnResult:
        """Propose a rule of an agent to a person, unless a file says the same, or one like it was
        rejected. Nothing is written."""
        learned = self.plan_learn(domain, text, scope, paths, bank)
        if learned.change is None:
            return learned
        id, path = self.project_bank(bank), learned.change.path
        path = _user_path(Path(path).stem) if scope == USER_SCOPE else path
        clean = collapse_spaces(self._context.redact(text))
        lesson = Lesson(path, tuple(map(collapse_spaces, paths)), clean)
        refusals = [r for r in refusals_in_effect(self._store, id) if r.text in refused_texts([r])]
        for refusal in refusals:
            if says_the_same(lesson.text, [refusal.text], self._similarity()):
                why = f": {refusal.why}" if refusal.why else ""
                return learned._replace(refused=f"turned down by {refusal.who}{why}")
        with self._store.transaction():
            if not is_proposed(in_effect(self._store.curation.log(id)), lesson):
                text_logged = lesson.log_text()
                log_decision(self._context, id, Action.TEACH, lesson.target, text_logged, AGENT)
        self._context.after_change()
        proposals = self._store.rules.proposals(id)
        own = [p for p in proposals if p.target == lesson.target]
        similar = [p for p in proposals if says_the_same(text, [p.text], None)]
        return learned._replace(waits=next((p.id for p in (*own, *similar)), ""))

    # Files and projects.

    def _plan_addition(self, path: str, root: str, added: RuleAddition) -> FileChange:
        """What adding a rule to a file of the project, or of the user, would change."""
        is_user_file = path.startswith(USER_PREFIX)
        folder = self._context.settings.claude_dir if is_user_file else Path(root)
        return plan_addition(folder, path.removeprefix(USER_PREFIX), added)

    def project_bank(self, bank: str | None) -> str:
        """The id of a single bank that exists."""
        id = self._context.bank_id(bank)
        if id is None:
            raise InputError("Rules belong to one project.", NAME_A_BANK)
        if not id:
            raise InputError("This folder has no bank yet.", self._context.missing_bank_hint())
        return id

    def _project(self, bank: str | None, must_exist: bool = True) -> tuple[str, str]:
        """The id of a bank and the folder of its project: the working directory, if it is that."""
        id = self.project_bank(bank)
        present, here = self._context.current_project()
        root = here if present == id and here else bank_root(self._store, id)
        if not root and must_exist:
            raise InputError(
                f"The project of {self._context.bank_name(id)} is not on this machine.",
                "Run this in its folder.",
            )
        return id, root

    def _sync(self, bank: str, root: str) -> None:
        """Read the rule files of a bank again if they changed."""
        sync_rules(self._store, self._context.settings, self._context.banks, bank, root)

    def _similarity(self) -> Similarity | None:
        """A measure of whether two texts mean the same, if anything was embedded."""
        if self._context.settings.embed_model == NO_MODEL or not self._store.vectors.models():
            return None
        from holdfast.app.core.models import load_similarity

        return load_similarity(self._context.settings)


def _user_path(domain: str) -> str:
    """The path of the user's own rule file for a domain."""
    return USER_PREFIX + rules_path(domain).removeprefix(".claude/")
