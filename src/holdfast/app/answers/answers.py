"""Answering questions from a memory, and feedback on the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.app.answers.ask import AskOptions
    from holdfast.app.answers.research_sessions import Investigation
    from holdfast.app.core.context import Context
    from holdfast.app.search.recall import Search
    from holdfast.research.history.git_answers import TeamAnswer
    from holdfast.research.session_journal import Line, SessionSummary


class Answers:
    """Answers questions. `bank` arguments are as for `Context`."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search

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
        from holdfast.app.answers.feedback import mark_useful

        return mark_useful(self._context, session, who)
