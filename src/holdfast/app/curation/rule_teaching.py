"""Teaching rules: those of a person are written into rule files, those of an agent wait for a
person's approval.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import Context
from holdfast.app.curation.bank_profiles import log_change
from holdfast.app.curation.rule_files import RuleFiles
from holdfast.app.curation.rule_proposals import (
    AUTOMATIC_AUTHOR,
    USER_SCOPE,
    Candidate,
    LearnResult,
    RuleProposals,
    user_path,
)
from holdfast.app.search.browse import Browse
from holdfast.errors import InputError
from holdfast.language import collapse_spaces
from holdfast.learn.agent_lessons import USER_PREFIX, Lesson, is_proposed
from holdfast.learn.existing_rules import find_matching_rule, says_the_same
from holdfast.learn.promotion import may_be_automatic, refusals_in_effect, refused_texts
from holdfast.learn.rule_text import RuleAddition
from holdfast.learn.rule_writing import (
    FileChange,
    lines_written,
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
from holdfast.model.uris import uri
from holdfast.refine.rules.domains import domain_of
from holdfast.store.protocol import Store

PERSON = "person"
APPROVAL_HINT = (
    "A person decides: `holdfast promote approve {id}` writes it, `holdfast promote reject {id}` "
    "turns it down."
)


class Promotion(NamedTuple):
    """The result of looking for candidates: the paths of rules that the settings allow to be
    written without asking, what waits for a person, and what they have to do."""

    written: list[str]
    candidates: list[Candidate]
    remedy: str = ""


class RuleTeaching:
    """Adds rules to files, and looks for more."""

    def __init__(
        self, context: Context, files: RuleFiles, proposals: RuleProposals, browse: Browse
    ) -> None:
        self._context = context
        self._files = files
        self._proposals = proposals
        self._browse = browse

    @property
    def _store(self) -> Store:
        return self._context.store

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
        id, root = self._files.project(bank)
        self._files.sync(id, root)
        rules = [r for r in self._store.rules.all(id) if scope != USER_SCOPE or r.path[:2] == "~/"]
        found = find_matching_rule(clean, rules, self._files.similarity())
        if found is not None and not found.opposes:
            return LearnResult(None, found.where)
        name = domain or domain_of(clean)
        added = RuleAddition(clean, (), name.lower(), tuple(paths))
        path = user_path(name) if scope == USER_SCOPE else rules_path(name)
        change = self._files.plan_addition(path, root, added)
        return LearnResult(change, "", found.where if found is not None else "")

    def learn(
        self,
        domain: str,
        text: str,
        scope: str = "project",
        paths: Sequence[str] = (),
        bank: str | None = None,
        by: str = PERSON,
        who: str = "",
    ) -> LearnResult:
        """Add a rule to the files of a project, or to the user's own, unless one says the same. A
        rule taught `by` an agent is not written: it becomes a candidate for a person."""
        if by not in (PERSON, AGENT):
            raise InputError(f"`by` cannot be {by!r}.", f"One of: {PERSON}, {AGENT}.")
        learned = self.plan_learn(domain, text, scope, paths, bank)
        if learned.change is None:
            return learned
        if by == AGENT:
            return self._propose_lesson(learned, learned.change, scope, tuple(paths), text, bank)
        self.write_rule(learned.change, bank, who)
        return learned

    def write_rule(self, change: FileChange, bank: str | None = None, who: str = "") -> None:
        """Write a change that was shown, and log it. `undo` reverts it as long as nobody else has
        changed the file."""
        id, root = self._files.project(bank)
        is_user_file = change.file == Path(
            os.path.realpath(self._context.settings.claude_dir / change.path)
        )
        path = USER_PREFIX + change.path if is_user_file else change.path
        written = lines_written(change, with_text=True)._replace(path=path)
        with written_or_reverted(change), self._store.transaction():
            target = uri("file", content_id("file", path))
            log_change(self._context, id, Action.WRITE, target, written.log_text(), who)
        self._files.sync(id, root)

    def undo_written_rule(self, entry: Curation, rollback: ExitStack) -> None:
        """Remove a rule from its file when the decision that wrote it is undone. If the file was
        changed since: an approved rule stays in it and is proposed again; undoing any other
        decision fails."""
        written = read_written(entry)
        if written is None or entry.who == AUTOMATIC_AUTHOR:
            return
        _, root = self._files.project(entry.bank, must_exist=False)
        is_user_file = written.path.startswith(USER_PREFIX)
        base = self._context.settings.claude_dir if is_user_file else Path(root)
        with suppress(*((InputError,) if entry.action is Action.APPROVE else ())):
            change = removal(resolve_inside(base, written.path.removeprefix(USER_PREFIX)), written)
            write(change) if written.base else remove_file(change)
            rollback.callback(revert, change, file_exists=bool(written.base))
        self._files.sync(entry.bank, root)

    def _propose_lesson(
        self,
        learned: LearnResult,
        change: FileChange,
        scope: str,
        paths: tuple[str, ...],
        text: str,
        bank: str | None,
    ) -> LearnResult:
        """Propose a rule of an agent to a person, unless one like it was rejected."""
        id, _ = self._files.project(bank)
        path = user_path(Path(change.path).stem) if scope == USER_SCOPE else change.path
        lesson = Lesson(
            path, tuple(map(collapse_spaces, paths)), collapse_spaces(self._context.redact(text))
        )
        refusals = [r for r in refusals_in_effect(self._store, id) if r.text in refused_texts([r])]
        for refusal in refusals:
            if says_the_same(lesson.text, [refusal.text], self._files.similarity()):
                why = f": {refusal.why}" if refusal.why else ""
                return learned._replace(refused=f"turned down by {refusal.who}{why}")
        with self._store.transaction():
            if not is_proposed(in_effect(self._store.curation.log(id)), lesson):
                now, logged = self._context.now(), lesson.log_text()
                entry = Curation(0, id, now, Action.TEACH, lesson.target, logged, AGENT)
                self._store.curation.append(entry)
                self._store.progress.mark_changed(id, "")
        self._context.after_change()
        proposals = self._store.rules.proposals(id)
        own = [p for p in proposals if p.target == lesson.target]
        similar = [p for p in proposals if says_the_same(text, [p.text], None)]
        return learned._replace(waits=next((p.id for p in (*own, *similar)), ""))

    def promote(self, id: str = "", bank: str | None = None) -> Promotion:
        """Look for new candidates, or decide about the one with this id, as far as the settings
        allow that without asking; the others wait for a person."""
        if not id:
            before = len(self._automatically_written(bank))
            candidates = self._proposals.promote(bank)
            return Promotion(self._automatically_written(bank)[before:], candidates)
        proposal, root = self._proposals.find_proposal(id, bank, must_exist=False)
        policy = self._context.settings.promote
        if root and may_be_automatic(proposal, policy.automatic, policy.memory):
            self._proposals.approve(proposal.id, bank=bank, who=AUTOMATIC_AUTHOR)
            return Promotion([proposal.path], [])
        found = [c for c in self._proposals.candidates(bank) if c.proposal.id == proposal.id]
        return Promotion([], found, APPROVAL_HINT.format(id=proposal.id))

    def _automatically_written(self, bank: str | None) -> list[str]:
        """The paths of rules that were written without asking, one for each rule."""
        log = self._store.curation.log(self._files.project_bank(bank))
        own = [e for e in log if e.action is Action.APPROVE and e.who == AUTOMATIC_AUTHOR]
        return [e.text.partition("\n")[0] for e in own]
