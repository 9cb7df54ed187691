"""Answering questions from a memory, and feedback on the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.app.core.context import Context
from holdfast.app.search.recall import Search
from holdfast.model.query import Answer, Layer
from holdfast.recall.core.plan import Budget

if TYPE_CHECKING:
    from holdfast.app.answers.ask import AskOptions
    from holdfast.app.answers.research_sessions import Investigation
    from holdfast.research.history.git_answers import TeamAnswer
    from holdfast.research.session_journal import Line, SessionSummary


class Answers:
    """Answers questions. `bank` arguments are as for `Context`."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search

    def ask(
        self,
        question: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        quickly: bool = False,
        as_of: str = "",
        budget: Budget = Budget.MID,
        providers: bool = False,
        model: bool = True,
        session: str = "",
        local: bool = False,
    ) -> Answer:
        """A cited answer, or an abstention. `quickly` loads a model only if words do not find
        enough; `as_of` is a time to look back from; `budget` is how hard to search if the first
        search does not suffice; with `providers` plugins are queried; `model` allows the model
        service of the settings; `session` continues an earlier one; with `local` no remote server
        is queried."""
        from holdfast.app.answers.ask import AskOptions

        options = AskOptions(
            question, bank, tuple(layers), quickly, as_of, Budget(budget), providers
        )
        options = options._replace(model=model, remotes=not local)
        return self.investigate(options, session).answer()

    def investigate(self, options: AskOptions, session: str = "", id: str = "") -> Investigation:
        """An investigation that runs while it is iterated, step by step: a new session with this
        `id`, if one is given, or the continuation of a `session`."""
        from holdfast.app.answers.research_sessions import Investigation

        return Investigation(self._context, self._search, options, session, id)

    def research_session(self, id: str) -> tuple[SessionSummary, list[Line]]:
        """A research session with its journal, without records that were forgotten since."""
        from holdfast.app.answers.research_sessions import read_session

        return read_session(self._context, id)

    def team_query(self, question: str, bank: str | None = None, limit: int = 10) -> TeamAnswer:
        """What the team knows about a question: an answer, the best records, people to ask."""
        from holdfast.app.answers.research_sessions import team_query

        return team_query(self._context, self._search, question, bank, limit)

    def mark_useful(self, session: str, who: str = "") -> int:
        """Note that the last answer of a research session was useful, which counts as a
        confirmation of the records it cites. Returns the number of records."""
        from holdfast.app.answers.feedback import Feedback

        context = self._context
        feedback = Feedback(context.store, context.settings, context.now(), context.actor(who))
        count = feedback.mark_useful(session)
        context.after_change()
        return count
