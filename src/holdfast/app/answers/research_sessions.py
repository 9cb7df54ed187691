"""Investigations as sessions: started, watched, gone on with, stopped, and read afterwards.

Every question has a session with a name at once. Its steps are written to a journal in the home
while it runs, so any process can follow it. The same question in the same session, of a memory that
has not changed, is not asked again. Words are kept without secrets; what is forgotten since is not
shown, and what is erased takes all sessions with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING

from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.core.context import Context
from holdfast.app.search.recall import Search
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import CancelledError, HoldfastError, InputError
from holdfast.language import collapse_spaces
from holdfast.model.ids import content_id
from holdfast.model.query import Answer
from holdfast.model.research import FINAL_STAGES, ResearchEvent, ResearchStage
from holdfast.recall.core.plan import Plan
from holdfast.regex import regex
from holdfast.research.answering.answer import AskRequest
from holdfast.research.answering.followups import complete_question
from holdfast.research.journal_lines import (
    answer_from_json,
    event_line,
    mask_removed_records,
    question_line,
)
from holdfast.research.session_journal import (
    ASKED,
    MAX_QUESTIONS,
    ActiveSession,
    Line,
    ResearchSessions,
    SessionSummary,
    new_id,
)
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.research.history.team_answer import TeamAnswer

_MAX_LOGGED_CHARS = 4000
_START_TIMEOUT_S = 10.0
# Words, marks and short numbers, which no secret is made of; anything else is looked at closely.
_PLAIN_WORDS = regex(r"(?:[^\W\d_]{1,20}(?![^\W\d_])|(?<!\d)\d{1,4}(?!\d)|[\s.,;!?'’()/_-])*")
_MAX_PLAIN_DIGITS = 6
_SECRET_HINTS = ("pass", "secret", "token", "key", "pwd", "cred", "auth", "private")


class Investigation:
    """One question of a session. Its name is known before it is asked; iterating does the work."""

    def __init__(
        self, context: Context, search: Search, wish: AskOptions, session: str = "", id: str = ""
    ) -> None:
        """Of a new session, called `id` if that is given, or going on with one that is there."""
        self.sessions = sessions_of(context.settings)
        self.id = self.sessions.find(session) if session else id or new_id()
        self._context = context
        self._search = search
        self._wish = wish
        self._follows = bool(session)
        self._bank = context.bank_id(wish.bank)

    def __iter__(self) -> Iterator[ResearchEvent]:
        with self.sessions.open_session(self.id, self._follows) as run:
            if run is None:
                yield from map(self._named, steps(self._context, self._search, self._wish))
            else:
                yield from self._told(run)

    def answer(self) -> Answer:
        """The answer alone."""
        for event in self:
            if event.answer is not None:
                return event.answer
        raise CancelledError()

    def now(self) -> str:
        """Now, by the memory's clock."""
        return self._context.now()

    def _named(self, event: ResearchEvent) -> ResearchEvent:
        answer = event.answer
        return event._replace(answer=replace(answer, session_id=self.id)) if answer else event

    def _told(self, run: ActiveSession) -> Iterator[ResearchEvent]:
        """The steps, each written down before it is told; the last one whatever happens."""
        clean = _cleaner(self._context.settings, self._wish.question)
        before = [line for line in run.lines() if line.get("stage") == ASKED]
        if len(before) >= MAX_QUESTIONS:
            raise InputError(
                f"{self.id} has {len(before)} questions already.", "Begin a new session."
            )
        earlier = [str(line.get("reads") or line.get("question")) for line in before]
        reads = complete_question(self._wish.question, earlier)
        key = self._key(reads)
        run.write(question_line(
            self._context.now(), clean(self._wish.question[:_MAX_LOGGED_CHARS]),
            clean(reads[:_MAX_LOGGED_CHARS]) if reads != self._wish.question else "", key,
        ))  # fmt: skip
        last = ResearchEvent(ResearchStage.CANCELLED, "Stopped before the end.")
        try:
            for event in self._steps(run, reads, key, earlier):
                last = event
                if event.stage not in FINAL_STAGES:
                    run.write(event_line(event, self._context.now(), clean))
                yield event
                if run.cancelled and event.stage not in FINAL_STAGES:
                    last = ResearchEvent(ResearchStage.CANCELLED, "Cancelled.")
                    yield last
                    return
        except HoldfastError as error:
            last = ResearchEvent(ResearchStage.FAILED, f"{error.message} {error.remedy}".strip())
            raise
        finally:
            if last.stage not in FINAL_STAGES:
                last = ResearchEvent(ResearchStage.CANCELLED, "Stopped before the end.")
            if last.answer is not None and last.answer.cost.tokens:
                key = self._key(reads)  # what a model takes is written down beside the memory
            run.write(event_line(last, self._context.now(), clean, key))

    def _steps(
        self, run: ActiveSession, reads: str, key: str, earlier: list[str]
    ) -> Iterator[ResearchEvent]:
        known = next(
            (
                line
                for line in reversed(run.lines())
                if line.get("answer") and line.get("key") == key
            ),
            None,
        )
        if known is not None:
            text = "The same question of the same memory was answered before."
            yield self._named(ResearchEvent(ResearchStage.DONE, text, answer=answer_from_json(known["answer"])))
            return
        if reads != self._wish.question:
            yield ResearchEvent(ResearchStage.PLANNED, f"Read as: {reads}", query=reads)
        wish = self._wish._replace(
            question=reads, before=tuple(earlier), stopped=lambda: run.cancelled
        )
        for event in steps(self._context, self._search, wish):
            yield self._named(event)

    def _key(self, reads: str) -> str:
        """What makes an answer the same: the question as it is read, how it is asked, the state of
        the memory, and the day, which "yesterday" depends on."""
        wish = self._wish
        how = (
            wish.as_of,
            wish.budget.value,
            *wish.layers,
            str((wish.providers, wish.rounds, wish.limit, wish.model)),
        )
        settings = self._context.settings
        if wish.remotes and settings.remotes.exists():
            how = (*how, self._context.now()[:16])  # what servers know changes by itself
        state = self._context.store.generation() if settings.store else database_state(settings.database)
        asked = collapse_spaces(reads).casefold()
        return content_id(asked, str(self._bank), *how, state, self._context.now()[:10])


def sessions_of(settings: Settings) -> ResearchSessions:
    """The sessions of a home; of somebody who sees only some banks, their own."""
    folder, asking = HomePaths(settings.home).research, settings.principal
    if asking is not None and asking.banks is not None:
        return ResearchSessions(folder / f"of-{asking.key}", True)
    return ResearchSessions(folder, bool(settings.store))


def start_in_background(settings: Settings, wish: AskOptions, session: str = "") -> str:
    """Begin an investigation behind the scenes, in a thread of this process; returns its name once
    there is something to follow. `sessions_of(settings).tail(name)` follows it, `.cancel(name)`
    stops it."""
    id = sessions_of(settings).find(session) if session else new_id()
    begun = Flag()
    failed: list[HoldfastError] = []

    def drive() -> None:
        try:
            with closing(Context(settings)) as context:
                for _ in Investigation(context, Search(context), wish, session and id, id):
                    begun.set()
        except HoldfastError as error:
            failed.append(error)
        finally:
            begun.set()

    Thread(target=drive, name=id, daemon=True).start()
    begun.wait(_START_TIMEOUT_S)
    if failed:
        raise failed[0]
    return id


def team_query(
    context: Context, search: Search, question: str, bank: str | None, limit: int
) -> TeamAnswer:
    """What the team knows: out of commits, pulls and issues, what sessions came to, and rules."""
    from holdfast.research.history import team_answer

    wish = AskOptions(question, bank, team_answer.LAYERS, limit=limit)
    answer = Investigation(context, search, wish).answer()
    id = context.bank_id(bank)
    found = search.recall_with_plan(question, bank, Plan(team_answer.LAYERS, limit, wish.budget))
    people = (
        team_answer.people_to_ask(context.store, AskRequest(id, question, context.now))
        if id != ""
        else ()
    )
    return team_answer.TeamAnswer(answer, found.hits, people)


def read_session(context: Context, id: str) -> tuple[SessionSummary, list[Line]]:
    """A session with its lines; without the words of what is not shown any more."""
    sessions = sessions_of(context.settings)
    name = sessions.find(id)
    lines = sessions.lines(name)
    return sessions.summary(name), mask_removed_records(context.store, lines)


def database_state(database: Path) -> str:
    """A word that changes when the memory does, the same for every process."""
    parts: list[str] = []
    for path in (database, database.with_name(f"{database.name}-wal")):
        try:
            found = path.stat()
        except OSError:
            continue
        if found.st_size:
            parts.append(f"{found.st_size}.{found.st_mtime_ns}")
    return " ".join(parts)


def _cleaner(settings: Settings, question: str) -> Callable[[str], str]:
    """Takes secrets out of what is kept. To look for them takes longer than to answer, so a
    question of plain words is not looked through; what memory says was, long ago."""
    low = question[:_MAX_LOGGED_CHARS].lower()
    plain = _PLAIN_WORDS.fullmatch(low) is not None and not any(sign in low for sign in _SECRET_HINTS)
    if plain and sum(map(str.isdigit, low)) <= _MAX_PLAIN_DIGITS and not settings.redact_patterns:
        return lambda text: text
    from holdfast.capture import redact

    redactor = redact.Redactor(settings.redact_patterns)

    def clean(text: str) -> str:
        return redactor.redact(text).text

    return clean
