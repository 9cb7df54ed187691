"""Answering questions in research sessions, whose steps and answers are written to a journal in
the home.

Every question belongs to a session, which has an id before the work starts. Any process can follow
a session while it runs, continue it with another question, or cancel it. A question that was asked
before in the same session is not investigated again if the memory has not changed. Journals hold
no secrets; records that were forgotten since are not shown, and erasing a record deletes all
sessions. The journal itself is `holdfast.research.session_journal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.core.context import Context
from holdfast.app.search.recall import Search
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import CancelledError, HoldfastError, InputError, require_words
from holdfast.language import collapse_spaces
from holdfast.lazy_dataclass import replace
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.research import FINAL_STAGES, ResearchEvent, ResearchStage
from holdfast.model.uris import parse_uri
from holdfast.recall.core.plan import RecallPlan
from holdfast.regex import regex
from holdfast.research.answering.followups import complete_question
from holdfast.research.answering.request import AskRequest
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

if TYPE_CHECKING:
    from holdfast.model.query import Answer
    from holdfast.research.history.git_answers import TeamAnswer
    from holdfast.settings import Settings
    from holdfast.store.protocol import Reader

_ASK_SOMETHING = "Say what you want to know."
# Records that make one statement. Which part of an exchange was useful cannot be known.
_CONFIRMABLE_KINDS = ("fact", "memory", "turn")
# A longer question is logged in part; docs/research.md promises this length.
_MAX_LOGGED_CHARS = 4000
# Redacting takes longer than answering, so a question is redacted only if it may hold a secret:
# anything but words, punctuation and short numbers, more than a few digits in all, or a word that
# goes with secrets.
_PLAIN_WORDS = regex(r"(?:[^\W\d_]{1,20}(?![^\W\d_])|(?<!\d)\d{1,4}(?!\d)|[\s.,;!?'’()/_-])*")
_MAX_PLAIN_DIGITS = 6
_SECRET_HINTS = ("pass", "secret", "token", "key", "pwd", "cred", "auth", "private")


class Investigation:
    """One question of a session. Iterating does the work and yields its steps."""

    def __init__(
        self, context: Context, search: Search, options: AskOptions, session: str = "", id: str = ""
    ) -> None:
        """Continue a `session`, or begin a new one, with this `id` if one is given."""
        require_words(options.question, "question", _ASK_SOMETHING)
        self.sessions = sessions_of(context.settings)
        self.id = self.sessions.find(session) if session else id or new_id()
        self._context = context
        self._search = search
        self._options = options
        self._continues = bool(session)
        self._bank = context.bank_id(options.bank)

    def __iter__(self) -> Iterator[ResearchEvent]:
        with self.sessions.open_session(self.id, self._continues) as session:
            if session is None:
                events = steps(self._context, self._search, self._options)
                yield from map(self._with_session_id, events)
            else:
                yield from self._run_logged(session)

    def answer(self) -> Answer:
        """The answer, without the steps."""
        for event in self:
            if event.answer is not None:
                return event.answer
        raise CancelledError()

    def now(self) -> str:
        """The current time by the memory's clock."""
        return self._context.now()

    def _with_session_id(self, event: ResearchEvent) -> ResearchEvent:
        answer = event.answer
        return event._replace(answer=replace(answer, session_id=self.id)) if answer else event

    def _run_logged(self, session: ActiveSession) -> Iterator[ResearchEvent]:
        """Yields the steps, each after it was written to the journal. A final step is written in
        any case, also if the caller stops iterating."""
        clean = _cleaner(self._context.settings, self._options.question)
        asked = [line for line in session.lines() if line.get("stage") == ASKED]
        if len(asked) >= MAX_QUESTIONS:
            raise InputError(
                f"{self.id} has {len(asked)} questions already.", "Begin a new session."
            )
        earlier = [str(line.get("reads") or line.get("question")) for line in asked]
        completed = complete_question(self._options.question, earlier)
        key = self._key(completed)
        question = self._options.question
        logged = clean(completed[:_MAX_LOGGED_CHARS]) if completed != question else ""
        now = self._context.now()
        session.write(question_line(now, clean(question[:_MAX_LOGGED_CHARS]), logged, key))
        last = ResearchEvent(ResearchStage.CANCELLED, "Stopped before the end.")
        try:
            for event in self._steps(session, completed, key, earlier):
                last = event
                if event.stage not in FINAL_STAGES:
                    session.write(event_line(event, self._context.now(), clean))
                yield event
                if session.cancelled and event.stage not in FINAL_STAGES:
                    last = ResearchEvent(ResearchStage.CANCELLED, "Cancelled.")
                    yield last
                    return
        except HoldfastError as error:
            last = ResearchEvent(ResearchStage.FAILED, error.full_text)
            raise
        finally:
            if last.stage not in FINAL_STAGES:
                last = ResearchEvent(ResearchStage.CANCELLED, "Stopped before the end.")
            if last.answer is not None and last.answer.cost.tokens:
                key = self._key(completed)  # recording the model's costs changed the database
            session.write(event_line(last, self._context.now(), clean, key))

    def _steps(
        self, session: ActiveSession, completed: str, key: str, earlier: list[str]
    ) -> Iterator[ResearchEvent]:
        answered = (line for line in reversed(session.lines()) if line.get("answer"))
        known = next((line for line in answered if line.get("key") == key), None)
        if known is not None:
            text = "The same question of the same memory was answered before."
            yield self._with_session_id(
                ResearchEvent(ResearchStage.DONE, text, answer=answer_from_json(known["answer"]))
            )
            return
        if completed != self._options.question:
            yield ResearchEvent(ResearchStage.PLANNED, f"Read as: {completed}", query=completed)
        options = self._options._replace(
            question=completed, before=tuple(earlier), stopped=lambda: session.cancelled
        )
        for event in steps(self._context, self._search, options):
            yield self._with_session_id(event)

    def _key(self, completed: str) -> str:
        """A hash of everything an answer depends on: the completed question, the options, the state
        of the memory, and the day, because of words like "yesterday"."""
        options = self._options
        parts = (
            options.as_of,
            options.budget.value,
            *options.layers,
            *options.kinds,
            str((options.providers, options.rounds, options.limit, bool(options.lookups))),
        )
        settings = self._context.settings
        if options.remotes and settings.remotes.exists():
            parts = (*parts, self._context.now()[:16])  # remote servers change by themselves
        state = (
            self._context.store.generation()
            if settings.store
            else database_state(settings.database)
        )
        question = collapse_spaces(completed).casefold()
        return content_id(question, str(self._bank), *parts, state, self._context.now()[:10])


def sessions_of(settings: Settings) -> ResearchSessions:
    """The research sessions of a home; a principal who may see only some banks has a folder of
    their own."""
    folder, principal = HomePaths(settings.home).research, settings.principal
    if principal is not None and principal.banks is not None:
        return ResearchSessions(folder / f"of-{principal.key}", True)
    return ResearchSessions(folder, bool(settings.store))


class Answers:
    """Answers questions. `bank` arguments are as for `Context`."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search

    def investigate(self, options: AskOptions, session: str = "", id: str = "") -> Investigation:
        """An investigation that runs while it is iterated, step by step: a new session with this
        `id`, if one is given, or the continuation of a `session`."""
        return Investigation(self._context, self._search, options, session, id)

    def research_session(self, id: str) -> tuple[SessionSummary, list[Line]]:
        """A session and the lines of its journal, without the text of records that are hidden
        now."""
        sessions = sessions_of(self._context.settings)
        name = sessions.find(id)
        lines = sessions.lines(name)
        return sessions.summary(name), mask_removed_records(self._context.store, lines)

    def team_query(self, question: str, bank: str | None = None, limit: int = 10) -> TeamAnswer:
        """Answers from commits, pulls, issues, summaries and rules only, with hits and people to
        ask."""
        from holdfast.research.history.git_answers import TEAM_LAYERS, HistoryAnswers, TeamAnswer

        context, options = self._context, AskOptions(question, bank, TEAM_LAYERS, limit=limit)
        answer = self.investigate(options).answer()
        plan = RecallPlan(TEAM_LAYERS, limit, options.budget)
        found = self._search.recall_with_plan(question, bank, plan)
        id = context.bank_id(bank)
        request = AskRequest(id, question, context.now)
        people = HistoryAnswers(context.store, request).people_to_ask() if id != "" else ()
        return TeamAnswer(answer, found.hits, people)

    def mark_useful(self, id: str, who: str = "") -> int:
        """Note that the last answer of a research session was useful, which confirms the records it
        cites, just as their use in a session does; returns their number. Doing it twice counts
        once."""
        store, now = self._context.store, self._context.now()
        sessions = sessions_of(self._context.settings)
        name = sessions.find(id)
        answers = [line["answer"] for line in sessions.lines(name) if line.get("answer")]
        answer = answer_from_json(answers[-1]) if answers else None
        if answer is None or answer.abstained:
            raise InputError("There is no answer yet.", "Ask something first.")
        cited = [citation.uri for citation in answer.citations]
        confirmed = [(bank, uri) for uri in cited if (bank := _bank_of(store, uri))]
        with store.transaction():
            for bank, uri in confirmed:
                if any((use.record, use.turn) == (uri, "") for use in store.facts.uses(bank)):
                    continue
                store.facts.put_uses(bank, [RecordUse(uri, name, "", now)])
                actor = self._context.actor(who)
                store.curation.append(Curation(0, bank, now, Action.VOUCH, uri, name, actor))
                store.progress.mark_changed(bank, "")
        line = {"time": now, "stage": ResearchStage.DONE.value, "text": "Found useful."}
        with sessions.open_session(name, follow=True) as session:
            if session is not None and not any(one.get("useful") for one in session.lines()[-1:]):
                session.write({**line, "useful": True})
        self._context.after_change()
        return len(confirmed)


def _bank_of(reader: Reader, uri: str) -> str:
    """The bank of a record that can be confirmed, else ""."""
    named = parse_uri(uri)
    if named is None or named.kind not in _CONFIRMABLE_KINDS:
        return ""
    found = reader.records.find(None, named.kind, named.id, 1)
    return next((one.bank for one in found if one.id == named.id), "")


def database_state(database: Path) -> str:
    """The sizes and modification times of the database files: equal in every process, and changed
    by every write."""
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
    """A function that redacts the texts of a journal; one that does nothing if the question is
    plain words. What the memory holds was redacted when it was read."""
    lowered = question[:_MAX_LOGGED_CHARS].lower()
    suspicious = (
        settings.redact_patterns
        or not _PLAIN_WORDS.fullmatch(lowered)
        or any(hint in lowered for hint in _SECRET_HINTS)
        or sum(map(str.isdigit, lowered)) > _MAX_PLAIN_DIGITS
    )
    if not suspicious:
        return lambda text: text
    from holdfast.capture import redact

    redactor = redact.Redactor(settings.redact_patterns)
    return lambda text: redactor.redact(text).text
