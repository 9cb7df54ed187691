"""The first page: a question, the latest sessions, whether capture works, and what waits; and the
page of a research session, which shows its steps while it runs, the answer with its citations, and
a form for further questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from fastapi.responses import HTMLResponse, RedirectResponse, Response

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import current_folder, gather_health, judge_capture
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.pages.forms import redirect, text_of
from holdfast.interfaces.http.pages.page_request import FormDep, PageRequestDep, Shown, ask
from holdfast.interfaces.http.rest import http_call
from holdfast.language import cut, truncate
from holdfast.model.kinds import record_kind
from holdfast.model.query import Citation
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.uris import parse_uri
from holdfast.operations.asking import ask_options
from holdfast.operations.decisions.reviews import waiting_counts
from holdfast.operations.parameters import MAX_QUESTION
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.origins import Named, names_of_listed, origins
from holdfast.refine.core.passages import turn_text
from holdfast.research.journal_lines import answer_from_json
from holdfast.research.session_journal import ASKED, SessionState
from holdfast.store.records.sessions import SessionFilter

router = CheckedRouter()
_LATEST_SESSIONS, _RECENT_QUESTIONS = 8, 5
# Characters of a cited record, and of the turns before and after a cited turn.
_MAX_CONTEXT_CHARS = 700
_ENDS = {"cancelled": "", "failed": "It failed: "}


@router.get("/")
async def home(request: PageRequestDep, q: str = "", bank: str = "") -> HTMLResponse:
    """The first page; a question in the URL is answered at once, without remotes."""
    question, call = q.strip()[:MAX_QUESTION], request.call
    if not question:
        shown = await request.pool.read(_home)
        return request.render("home.html", title="", bank=bank, **shown)

    def answer(memory: Holdfast) -> Shown:
        found = ask(memory, call, "ask", question=question, bank=bank or ALL_BANKS)
        one = {"question": question, "reads": "", "steps": (), "end": "", "useful": False}
        return _conversation(memory, found.session_id, [{**one, "answer": found}])

    return request.render("talk.html", bank=bank, **await request.pool.search(answer))


def _home(memory: Holdfast) -> Shown:
    reader = memory.reader
    sessions = reader.sessions.page(SessionFilter(), _LATEST_SESSIONS)
    banks, asked = reader.banks.all(), sessions_of(memory.settings)
    verdict = None
    # Health is for those who see every bank.
    if principal().banks is None:
        pending = memory.inventory.balance(ALL_BANKS).pending
        verdict = judge_capture(gather_health(memory, current_folder()), pending)
    return {
        "banks": banks,
        "names": {bank.id: bank.name for bank in banks},
        "sessions": sessions,
        "called": names_of_listed(reader, sessions),
        "waits": waiting_counts(memory),
        "verdict": verdict,
        "recent": [asked.summary(id) for id in asked.ids()[:_RECENT_QUESTIONS]],
    }


@router.post("/ask")
async def begin(request: PageRequestDep, form: FormDep) -> Response:
    """Start a research session, or ask a further question in one."""
    question = form["q"][:MAX_QUESTION]
    if not question:
        raise InputError("There is no question.", "Write one.")
    options = ask_options({"question": question, "bank": form["bank"] or "all"}, http_call())
    id = await request.research_runs.start(options, form["session"])
    # Further questions are asked of the same bank.
    query_string = f"?{urlencode({'bank': form['bank']})}" if form["bank"] else ""
    return RedirectResponse(f"/research/{id}{query_string}#latest", 303)


@router.get("/research/{id}")
async def research(request: PageRequestDep, id: str, bank: str = "") -> HTMLResponse:
    """A research session: questions, steps and answers so far."""
    name = request.research_runs.find(id)

    def load(memory: Holdfast) -> Shown:
        session, lines = request.research_runs.read(memory, name)
        running = session.state is SessionState.RUNNING
        # A session that never started takes no further questions.
        known = name if running or name in sessions_of(memory.settings).ids() else ""
        return _conversation(memory, known, _questions(lines), running)

    return request.render("talk.html", bank=bank, **await request.pool.read(load))


@router.post("/research/{id}/cancel")
async def cancel(request: PageRequestDep, form: FormDep, id: str) -> Response:
    """Stop a research session."""
    request.research_runs.cancel(request.research_runs.find(id))
    return redirect(form["from"] or f"/research/{id}", "stopping")


@router.post("/research/{id}/remove")
async def remove(request: PageRequestDep, _form: FormDep, id: str) -> Response:
    """Delete a research session."""
    name = request.research_runs.find(id)
    await request.pool.run(lambda _memory: request.research_runs.remove(name))
    return redirect("/", "removed")


def _questions(lines: Sequence[Mapping[str, Any]]) -> list[Shown]:
    """The questions in the lines of a journal: how each was understood, its steps, how it ended,
    and its answer."""
    found: list[Shown] = []
    for line in lines:
        stage, text = str(line.get("stage", "")), str(line.get("text", ""))
        if stage == ASKED:
            asked = {name: str(line.get(name, "")) for name in ("question", "reads")}
            found.append({**asked, "steps": [], "end": "", "answer": None, "useful": False})
        elif found and line.get("useful"):
            found[-1]["useful"] = True
        elif found:
            if stage in _ENDS:
                found[-1]["end"] = f"{_ENDS[stage]}{text}"
            elif text:
                found[-1]["steps"].append(text)
            if line.get("answer"):
                found[-1]["answer"] = answer_from_json(line["answer"])
    return found


def _conversation(
    memory: Holdfast, id: str, questions: list[Shown], running: bool = False
) -> Shown:
    answers = [one["answer"] for one in questions if one["answer"]]
    cited: dict[str, Citation] = {one.uri: one for found in answers for one in found.citations}
    return {
        "title": truncate(questions[0]["question"] if questions else "A question", 120),
        "id": id,
        "questions": questions,
        "running": running,
        "cited": {name: _open_citation(memory, name) for name in cited},
        "banks": memory.reader.banks.all(),
    }


def _open_citation(memory: Holdfast, name: str) -> Shown:
    """The record of a citation, if it is still shown; of a turn also the turns before and after."""
    named, reader = parse_uri(name), memory.reader
    kind = named.kind if named else ""
    # What plugins say is not kept.
    record = find_by_uri(reader, None, name) if kind != "provided" else None
    if record is None or named is None or record.id != named.id:
        return {"kind": kind, "there": False, "around": [], "session": "", "bank": ""}
    # Talks of earlier versions do not name them.
    from_ = origins(reader, [Named(record.bank, name)])[name].title
    shown = {"there": True, "session": from_, "bank": memory.context.bank_name(record.bank)}
    if not isinstance(record, Turn):
        said = record.summary if isinstance(record, Exchange) else text_of(record)
        text = record.request if isinstance(record, Digest) else said
        around = [("", cut(text, _MAX_CONTEXT_CHARS), True)]
        return {"kind": record_kind(record), "around": around, **shown}
    near = reader.turns.of_session(record.bank, record.session, record.seq - 1, record.seq + 1)
    around = [
        (
            turn.speaker or turn.role.value,
            cut(turn_text(turn), _MAX_CONTEXT_CHARS),
            turn.id == record.id,
        )
        for turn in near
    ]
    return {"kind": "turn", "around": around, **shown}
