"""The rule files of a project: where they are, what adding a rule would change, and reading them
again after a change."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.core.context import NAME_A_BANK, Context
from holdfast.app.search.rule_sync import sync_rules
from holdfast.errors import InputError
from holdfast.learn.agent_lessons import USER_PREFIX
from holdfast.learn.existing_rules import Similarity
from holdfast.learn.rule_text import RuleAddition
from holdfast.learn.rule_writing import FileChange, plan_addition
from holdfast.refine.rules.rule_roots import bank_root
from holdfast.settings import NO_MODEL


class RuleFiles:
    """Rule files of the projects of a memory, and of the user."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def plan_addition(self, path: str, root: str, added: RuleAddition) -> FileChange:
        """What adding a rule to a file of the project, or of the user, would change."""
        is_user_file = path.startswith(USER_PREFIX)
        folder = self._context.settings.claude_dir if is_user_file else Path(root)
        return plan_addition(folder, path.removeprefix(USER_PREFIX), added)

    def project_bank(self, bank: str | None) -> str:
        """The id of a single bank that exists."""
        id = self._context.bank_id(bank)
        if not id:
            if id is None:
                raise InputError("Rules belong to one project.", NAME_A_BANK)
            raise InputError("This folder has no bank yet.", self._context.missing_bank_hint())
        return id

    def project(self, bank: str | None, must_exist: bool = True) -> tuple[str, str]:
        """The id of a bank and the folder of its project: the working directory, if it is that."""
        id = self.project_bank(bank)
        present, here = self._context.current_project()
        root = here if present == id and here else bank_root(self._context.store, id)
        if not root and must_exist:
            raise InputError(
                f"The project of {self._context.bank_name(id)} is not on this machine.",
                "Run this in its folder.",
            )
        return id, root

    def sync(self, bank: str, root: str) -> None:
        """Read the rule files of a bank again if they changed."""
        sync_rules(self._context.store, self._context.settings, self._context.banks, bank, root)

    def similarity(self) -> Similarity | None:
        """A measure of whether two texts mean the same, if anything was embedded."""
        context = self._context
        if context.settings.embed_model == NO_MODEL or not context.store.vectors.models():
            return None
        from holdfast.app.core.models import load_similarity

        return load_similarity(context.settings)
