"""The forms of all pages: each asks for an operation.

A form has the arguments of its operation; `from`, the page that it leads back to; and `seen`, a
fingerprint of what was looked at. Where that is something else by now, or must be looked at first,
nothing is done: it is shown, with the same form to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from fastapi.responses import RedirectResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.auth.guard import local_path
from holdfast.interfaces.http.auth.permissions import (
    FORMS,
    CheckedRouter,
    check,
    permission_of,
)
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.pages.page_request import Form, FormDep, PageRequest, PageRequestDep
from holdfast.interfaces.ui.formatting import fingerprint, link
from holdfast.learn.curation import Target
from holdfast.model.bank import Bank
from holdfast.model.curation import Curation
from holdfast.model.forge import Issue, Pull
from holdfast.model.knowledge import Rule
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit
from holdfast.operations.binding import read_arguments
from holdfast.operations.operation import Call, Operation
from holdfast.operations.registry import find_operation
from holdfast.operations.running import run_with
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import find_record
from holdfast.refine.core.passages import digest_passage
from holdfast.store.across_tables.lookup import Record

router = CheckedRouter(prefix="/do")
# What somebody typed, and what must not be lost if it is not done.
_TYPED = ("text", "why", "words", "background")
Arguments = Mapping[str, Any]


class Look(NamedTuple):
    """What somebody must have looked at: the text that is changed, what will be done, the change to
    a file, and a question."""

    text: str = ""
    lines: tuple[str, ...] = ()
    diff: str = ""
    question: str = ""

    @property
    def seen(self) -> str:
        return fingerprint("\n".join(self[:1] + self.lines + (self.diff,)))


def text_of(record: Record) -> str:
    """The text that a correction of a record replaces."""
    match record:
        case Turn():
            return record.tool.result if record.tool else record.text
        case Exchange():
            repeats_title = record.summary.startswith(record.title.rstrip("…"))
            title = "" if repeats_title else record.title
            parts = (title, record.summary, record.details, *record.facts)
            return "\n".join(part for part in parts if part)
        case Digest():
            return digest_passage(record).body
        case Commit():
            return f"{record.subject}\n\n{record.body}".strip()
        case Pull() | Issue():
            return f"{record.title}\n\n{record.body}".strip()
        case Rule():
            return record.text
        case _:
            return describe_record(record)[0]


def settings_of(bank: Bank) -> str:
    """What the form of a bank can change."""
    return f"{bank.disposition}\n{bank.background}\n{bank.retention}\n{bank.aliases}"


def _text(memory: Holdfast, target: Target) -> Look:
    if not target.shown:
        raise InputError(f"{target.uri} is forgotten.", "Restore it first.")
    return Look(text_of(find_record(memory.reader, target.bank, target.uri)))


def _of_record(memory: Holdfast, given: Arguments) -> Look:
    (name, *_) = (*given.get("ids", ()), given.get("id", ""))
    return _text(memory, memory.curation.target(name))


def _of_review(memory: Holdfast, given: Arguments) -> Look:
    review = memory.curation.find_review(given["id"])
    return _text(memory, memory.curation.target(review.target, review.bank))


def _announced(name: str) -> Callable[[Holdfast, Arguments], Look]:
    def look(memory: Holdfast, given: Arguments) -> Look:
        operation = find_operation(name)
        assert operation.announce is not None
        found = operation.announce(memory, **given)
        return Look("", found.lines, found.diff, found.question)

    return look


def _of_bank(memory: Holdfast, given: Arguments) -> Look:
    bank = memory.banks.get(given["name"])
    look = Look(settings_of(bank))
    if given.get("retention") in (None, bank.retention):
        return look
    announced = _announced("bank set")(memory, given)
    return look._replace(lines=announced.lines, question=announced.question)


LOOKS: Mapping[str, Callable[[Holdfast, Arguments], Look]] = {
    "correct": _of_record,
    "judge": _of_record,
    "review decide": _of_review,
    "promote approve": _announced("promote approve"),
    "purge": _announced("purge"),
    "bank set": _of_bank,
}


def read_form(operation: Operation, form: Form) -> dict[str, Any]:
    """The arguments of an operation in a form. An empty field says nothing, but for a text that may
    be taken away."""
    texts: dict[str, Any] = {}
    for one in operation.parameters:
        sent = [value for name, value in form.sent if name == one.name]
        filled = [value for value in sent if value]
        if one.many and one.kind is int:
            filled = [number for value in filled for number in value.split(",")]
        if filled:
            texts[one.name] = filled if one.many else filled[-1]
        elif sent and one.optional and one.kind is str:
            texts[one.name] = ""
    return read_arguments(operation, {}, texts)


def decide(memory: Holdfast, operation: Operation, given: Arguments, seen: str, call: Call) -> Any:
    """What an operation returns, or what is there to look at if that is not what was `seen`."""
    if operation.name in LOOKS:
        look = LOOKS[operation.name](memory, given)
        if look.seen != seen:
            return look
        given = {**given, "seen": look.diff} if operation.name == "promote approve" else given
    return run_with(operation, memory, given, call)


def _logged(memory: Holdfast, task: Callable[[], Any], who: str) -> tuple[Any, str]:
    """What a task returns, and the numbers of the decisions that it made, joined by commas."""

    def log() -> list[Curation]:
        banks = memory.context.bank_ids("all")
        return [entry for bank in banks for entry in memory.reader.curation.log(bank)]

    before = max((entry.seq for entry in log()), default=0)
    made = task()
    ours = sorted(entry.seq for entry in log() if entry.seq > before and entry.who == who)
    return made, ",".join(map(str, ours))


async def _submit(operation: Operation, request: PageRequest, form: Form) -> Response:
    call, seen = request.call, form["seen"]

    def run(memory: Holdfast) -> tuple[Any, str]:
        own = {name: value for name, value in given.items() if name != "seen"}
        return _logged(memory, partial(decide, memory, operation, own, seen, call), call.who)

    try:
        given = read_form(operation, form)
        made, undo = await request.run(operation, run)
    except InputError as error:
        typed = "\n".join(filter(None, (form[name] for name in _TYPED)))
        status = 404 if isinstance(error, NotFoundError) else 400
        return request.render("unsaved.html", status, title="Not saved", error=error, text=typed)
    if isinstance(made, Look):
        return request.render(
            "look.html",
            HTTPStatus.CONFLICT if seen else HTTPStatus.OK,
            title=made.question or "Changed meanwhile",
            look=made,
            form=form,
            action=f"/do/{operation.id}",
            changed=bool(seen) and not made.question,
            fields=[one for one in form.sent if one[0] not in ("text", "seen")],
        )
    undo = "" if operation.name in ("undo", "purge") else undo
    return redirect(form["from"] or _place(made), _note(operation, made, form), undo)


def _note(operation: Operation, made: Any, form: Form) -> str:
    if operation.name == "judge":
        return form["verdict"]
    if operation.name == "review decide":
        return "reworded" if form["text"] else "kept" if form["keep"] == "true" else "retired"
    if operation.name == "promote approve" and not made.diff:
        return "outdated_rule"
    return operation.id


def _place(made: Any) -> str:
    """The page of the record that an operation returned, or decided about."""
    decision = getattr(made, "decision", None)
    if decision is None:
        return link(getattr(made, "uri", "")) or "/memory"
    return link(decision.text if decision.action.value == "merge" else decision.target)


def redirect(path: str, note: str, undo: str = "", **more: str) -> Response:
    """Redirect to a page of this server that says what was done, with a button that undoes the
    decisions `undo`. The path may have a query of its own."""
    before, _, fragment = local_path(path).partition("#")
    shown = {**more, "note": note, **({"undo": undo} if undo else {})}
    joined = f"{before}{'&' if '?' in before else '?'}{urlencode(shown)}"
    return RedirectResponse(f"{joined}#{fragment}" if fragment else joined, 303)


def _add(operation: Operation) -> None:
    async def endpoint(request: PageRequestDep, form: FormDep) -> Response:
        return await _submit(operation, request, form)

    router.add_api_route(f"/{operation.id}", endpoint, methods=["POST"], name=operation.id)


for _name in FORMS:
    _add(find_operation(_name))


class _Pick(NamedTuple):
    """One of several records that are decided at once, and what of it was shown."""

    operation: Operation
    given: dict[str, Any]
    seen: str

    def seen_now(self, memory: Holdfast) -> str:
        """The fingerprint of it as it is now."""
        look = LOOKS.get(self.operation.name)
        return look(memory, self.given).seen if look else self.seen


def _picks(form: Form) -> list[_Pick]:
    """What was ticked. A tick has the operation of each way to decide, and their arguments; those
    of one way begin with its name: `approve.keep`."""
    picks: list[_Pick] = []
    for value in (value for name, value in form.sent if name == "pick"):
        asked = dict(parse_qsl(value))
        operation = find_operation(asked.get(form["act"], ""))
        if operation.name not in FORMS:
            raise InputError(f"{operation.name} is not decided here.")
        texts = {name.removeprefix(f"{form['act']}."): said for name, said in asked.items()}
        known = {one.name for one in operation.parameters if one.name != "seen"}
        given = read_arguments(operation, {}, {n: v for n, v in texts.items() if n in known})
        picks.append(_Pick(operation, given, asked.get("seen", "")))
    return picks


@router.post("/several")
async def several(request: PageRequestDep, form: FormDep) -> Response:
    """Decide all that was ticked. What changed since it was shown, or cannot be decided, is left as
    it is."""
    call, picks = request.call, _picks(form)
    if not picks:
        raise InputError("Nothing was selected.", "Tick at least one item.")
    for pick in picks:
        check(permission_of(pick.operation), principal())

    def decide_all(memory: Holdfast) -> int:
        done, ready = 0, list[_Pick]()
        # All are compared with what was shown first: a rule that is written changes the file that
        # the next one may go to.
        for pick in picks:
            with suppress(InputError):
                ready += [pick] if pick.seen_now(memory) == pick.seen else []
        for pick in ready:
            with suppress(InputError):
                decide(memory, pick.operation, pick.given, pick.seen_now(memory), call)
                done += 1
        return len(picks) - done

    left, undo = await request.pool.run(
        lambda memory: _logged(memory, partial(decide_all, memory), call.who)
    )
    return redirect(form["from"] or "/review", "several_left" if left else "several", undo)
