"""The first page, with the question form; and the page of a research session, which shows its steps
while it runs, the answer with its citations, and a form for further questions."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.pages.page_request import PageRequest, PageRequestDep
from holdfast.interfaces.ui.record_fields import main_text
from holdfast.interfaces.ui.research_view import Around, Cited, ResearchQuestion, read_questions
from holdfast.language import truncate
from holdfast.model.bank import Bank
from holdfast.model.kinds import record_kind
from holdfast.model.query import Answer, Citation
from holdfast.model.records import Turn
from holdfast.model.uris import parse_uri
from holdfast.refine.core.passages import turn_text
from holdfast.research.journal_lines import answer_from_json
from holdfast.research.session_journal import Line, SessionState, SessionSummary

router = APIRouter()
_MAX_QUESTION_CHARS = 4000
_RECENT_SESSIONS = 8
# Characters of a cited record, and of the turns before and after a cited turn.
_MAX_CONTEXT_CHARS = 700
_NOTES = {
    "stopping": "It is told to stop.",
    "useful": "Noted: what the answer rests on is borne out.",
    "removed": "The talk is removed.",
}


class _ResearchView(NamedTuple):
    questions: list[ResearchQuestion]
    cited: dict[str, Cited]
    state: str
    began: str
    banks: list[Bank]


@router.get("/")
async def ask(request: PageRequestDep, q: str = "", bank: str = "", note: str = "") -> HTMLResponse:
    """The question form; a question in the URL is answered at once, without remotes."""
    question = q.strip()[:_MAX_QUESTION_CHARS]
    if question:
        id, found = await request.pool.run(lambda memory: _answer_now(memory, question, bank))
        return _page(request, id, found, bank)
    banks, recent = await request.pool.read(_banks_and_recent)
    text = _NOTES.get(note, "")
    return request.render("ask.html", title="Ask", note=text, bank=bank, banks=banks, recent=recent)


@router.post("/ask")
async def begin(request: PageRequestDep) -> RedirectResponse:
    """Start a research session, or ask a further question in one."""
    form = await request.form()
    question = form.get("q", "").strip()[:_MAX_QUESTION_CHARS]
    session = form.get("session", "")
    if not question:
        raise InputError("There is no question.", "Write one.")
    options = AskOptions(question, form.get("bank") or "all")
    id = request.research_runs.start(options, session)
    # Further questions are asked of the same bank.
    query_string = f"?{urlencode({'bank': form['bank']})}" if form.get("bank") else ""
    return RedirectResponse(f"/research/{id}{query_string}#latest", 303)


@router.get("/research/{id}")
async def research(
    request: PageRequestDep, id: str, bank: str = "", note: str = ""
) -> HTMLResponse:
    """A research session: questions, steps and answers so far."""
    name = request.research_runs.find(id)

    def load(memory: Holdfast) -> tuple[str, _ResearchView]:
        found = _research_view(memory, *request.research_runs.read(memory, name))
        begun = name in sessions_of(memory.settings).ids()
        # A session that never started takes no further questions.
        return name if begun or found.state == SessionState.RUNNING.value else "", found

    known, found = await request.pool.read(load)
    return _page(request, known, found, bank, _NOTES.get(note, ""))


@router.post("/research/{id}/cancel")
async def cancel(request: PageRequestDep, id: str, bank: str = "") -> RedirectResponse:
    """Stop a research session."""
    await request.form()
    request.research_runs.cancel(request.research_runs.find(id))
    return RedirectResponse(f"/research/{id}?{urlencode({'bank': bank, 'note': 'stopping'})}", 303)


@router.post("/research/{id}/useful")
async def useful(request: PageRequestDep, id: str, bank: str = "") -> RedirectResponse:
    """Mark the answer as useful."""
    await request.form()
    await request.pool.run(lambda memory: memory.answers.mark_useful(id, request.who))
    query_string = urlencode({"bank": bank, "note": "useful"})
    return RedirectResponse(f"/research/{id}?{query_string}#latest", 303)


@router.post("/research/{id}/remove")
async def remove(request: PageRequestDep, id: str) -> RedirectResponse:
    """Delete a research session."""
    await request.form()
    await request.pool.run(lambda memory: sessions_of(memory.settings).remove(id))
    return RedirectResponse("/?note=removed", 303)


def _page(
    request: PageRequest, id: str, found: _ResearchView, bank: str, note: str = ""
) -> HTMLResponse:
    first = found.questions[0].question if found.questions else "A question"
    running = found.state == SessionState.RUNNING.value
    return request.render(
        "talk.html", title=truncate(first, 120), id=id, note=note, running=running, bank=bank,
        **found._asdict(),
    )  # fmt: skip


def _banks_and_recent(memory: Holdfast) -> tuple[list[Bank], list[SessionSummary]]:
    sessions = sessions_of(memory.settings)
    recent = [sessions.summary(id) for id in sessions.ids()[:_RECENT_SESSIONS]]
    return memory.reader.banks(), recent


def _answer_now(memory: Holdfast, question: str, bank: str) -> tuple[str, _ResearchView]:
    answer = memory.ask(question, bank or "all", local=True)
    asked = [ResearchQuestion(question, "", (), "", answer)]
    cited, banks = _open_citations(memory, asked), memory.reader.banks()
    return answer.session_id, _ResearchView(asked, cited, SessionState.DONE.value, "", banks)


def _research_view(memory: Holdfast, session: SessionSummary, lines: list[Line]) -> _ResearchView:
    answers = {
        place: answer_from_json(line["answer"])
        for place, line in enumerate(lines)
        if line.get("answer")
    }
    questions = read_questions(lines, answers)
    banks = memory.reader.banks()
    return _ResearchView(
        questions, _open_citations(memory, questions), session.state.value, session.began, banks
    )


def _open_citations(memory: Holdfast, questions: list[ResearchQuestion]) -> dict[str, Cited]:
    answers: list[Answer] = [one.answer for one in questions if one.answer]
    cited = {c.uri: c for answer in answers for c in answer.citations}
    return {uri: _open_citation(memory, citation) for uri, citation in cited.items()}


def _open_citation(memory: Holdfast, citation: Citation) -> Cited:
    """A citation with its record; of a turn also the turns before and after."""
    named = parse_uri(citation.uri)
    if named is None or named.kind == "provided":
        return Cited(citation, named.kind if named else "", (), False)
    found = [r for r in memory.reader.find(None, named.kind, named.id, 1) if r.id == named.id]
    if not found:
        return Cited(citation, named.kind, (), False)
    record = found[0]
    if not isinstance(record, Turn):
        shown = Around("", truncate(main_text(record), _MAX_CONTEXT_CHARS), True)
        return Cited(citation, record_kind(record), (shown,), True)
    near = memory.reader.turns(record.bank, record.session, record.seq - 1, record.seq + 1)
    around = [
        Around(
            turn.speaker or turn.role.value,
            truncate(turn_text(turn), _MAX_CONTEXT_CHARS),
            turn.id == record.id,
        )
        for turn in near
    ]
    return Cited(citation, "turn", tuple(around), True)
