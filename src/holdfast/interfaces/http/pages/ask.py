"""The first page, with the question form; and the page of a research session, which shows its steps
while it runs, the answer with its citations, and a form for further questions."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.home import load_home
from holdfast.interfaces.http.pages.page_request import FormDep, PageRequestDep, Shown
from holdfast.interfaces.ui.record_fields import main_text
from holdfast.interfaces.ui.research_view import ResearchQuestion, read_questions
from holdfast.language import cut, truncate
from holdfast.model.kinds import record_kind
from holdfast.model.query import Citation
from holdfast.model.records import Turn
from holdfast.model.uris import parse_uri
from holdfast.recall.lookup.origins import Named, origins
from holdfast.refine.core.passages import turn_text
from holdfast.research.session_journal import SessionState

router = CheckedRouter()
_MAX_QUESTION_CHARS = 4000
# Characters of a cited record, and of the turns before and after a cited turn.
_MAX_CONTEXT_CHARS = 700
_NOTES = {
    "stopping": "Stopping.",
    "useful": "Noted: the records behind the answer count as confirmed.",
    "removed": "The conversation is deleted.",
}


@router.get("/")
async def ask(request: PageRequestDep, q: str = "", bank: str = "", note: str = "") -> HTMLResponse:
    """The first page; a question in the URL is answered at once, without remotes."""
    question = q.strip()[:_MAX_QUESTION_CHARS]
    if question:
        shown = await request.pool.search(lambda memory: _answer_now(memory, question, bank))
        return request.render("talk.html", bank=bank, note="", **shown)
    shown = await request.pool.read(load_home)
    return request.render("home.html", title="", note=_NOTES.get(note, ""), bank=bank, **shown)


@router.post("/ask")
async def begin(request: PageRequestDep, form: FormDep) -> RedirectResponse:
    """Start a research session, or ask a further question in one."""
    question = form["q"][:_MAX_QUESTION_CHARS]
    session = form["session"]
    if not question:
        raise InputError("There is no question.", "Write one.")
    options = AskOptions(question, form["bank"] or "all")
    id = request.research_runs.start(options, session)
    # Further questions are asked of the same bank.
    query_string = f"?{urlencode({'bank': form['bank']})}" if form["bank"] else ""
    return RedirectResponse(f"/research/{id}{query_string}#latest", 303)


@router.get("/research/{id}")
async def research(
    request: PageRequestDep, id: str, bank: str = "", note: str = ""
) -> HTMLResponse:
    """A research session: questions, steps and answers so far."""
    name = request.research_runs.find(id)

    def load(memory: Holdfast) -> Shown:
        session, lines = request.research_runs.read(memory, name)
        running = session.state is SessionState.RUNNING
        # A session that never started takes no further questions.
        known = name if running or name in sessions_of(memory.settings).ids() else ""
        return _research_view(memory, known, read_questions(lines), running)

    shown = await request.pool.read(load)
    return request.render("talk.html", bank=bank, note=_NOTES.get(note, ""), **shown)


@router.post("/research/{id}/cancel")
async def cancel(
    request: PageRequestDep, _form: FormDep, id: str, bank: str = ""
) -> RedirectResponse:
    """Stop a research session."""
    request.research_runs.cancel(request.research_runs.find(id))
    return RedirectResponse(f"/research/{id}?{urlencode({'bank': bank, 'note': 'stopping'})}", 303)


@router.post("/research/{id}/useful")
async def useful(
    request: PageRequestDep, _form: FormDep, id: str, bank: str = ""
) -> RedirectResponse:
    """Mark the answer as useful."""
    await request.pool.run(lambda memory: memory.answers.mark_useful(id, request.who))
    query_string = urlencode({"bank": bank, "note": "useful"})
    return RedirectResponse(f"/research/{id}?{query_string}#latest", 303)


@router.post("/research/{id}/remove")
async def remove(request: PageRequestDep, _form: FormDep, id: str) -> RedirectResponse:
    """Delete a research session."""
    name = request.research_runs.find(id)
    await request.pool.run(lambda _memory: request.research_runs.remove(name))
    return RedirectResponse("/?note=removed", 303)


def _answer_now(memory: Holdfast, question: str, bank: str) -> Shown:
    answer = memory.ask(question, bank or "all", local=True)
    asked = [ResearchQuestion(question, "", (), "", answer)]
    return _research_view(memory, answer.session_id, asked)


def _research_view(
    memory: Holdfast, id: str, questions: list[ResearchQuestion], running: bool = False
) -> Shown:
    cited = {c.uri: c for one in questions if one.answer for c in one.answer.citations}
    return {
        "title": truncate(questions[0].question if questions else "A question", 120),
        "id": id,
        "questions": questions,
        "running": running,
        "cited": {uri: _open_citation(memory, citation) for uri, citation in cited.items()},
        "banks": memory.reader.banks.all(),
    }


def _open_citation(memory: Holdfast, citation: Citation) -> Shown:
    """The record of a citation, if it is still shown; of a turn also the turns before and after."""
    named = parse_uri(citation.uri)
    kind = named.kind if named else ""
    # What plugins say is not kept.
    found = memory.reader.records.find(None, *named, 1) if named and kind != "provided" else []
    if named is None or not found or found[0].id != named.id:
        return {"kind": kind, "there": False, "around": [], "session": "", "bank": ""}
    record = found[0]
    # Talks of earlier versions do not name them.
    origin = origins(memory.reader, [Named(record.bank, citation.uri)])[citation.uri]
    from_ = {"session": origin.title, "bank": memory.context.bank_name(record.bank)}
    if not isinstance(record, Turn):
        text = cut(main_text(record), _MAX_CONTEXT_CHARS)
        around = [{"who": "", "text": text, "cited": True}]
        return {"kind": record_kind(record), "there": True, "around": around, **from_}
    near = memory.reader.turns.of_session(
        record.bank, record.session, record.seq - 1, record.seq + 1
    )
    around = [
        {
            "who": turn.speaker or turn.role.value,
            "text": cut(turn_text(turn), _MAX_CONTEXT_CHARS),
            "cited": turn.id == record.id,
        }
        for turn in near
    ]
    return {"kind": "turn", "there": True, "around": around, **from_}
