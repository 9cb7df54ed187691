"""Banks: what each is like, and changing that."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from holdfast.app.curation.record_view import fingerprint
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.http.pages.curation import done, kept, plainly
from holdfast.interfaces.http.pages.visit import Visit, Visiting
from holdfast.interfaces.ui.formatting import told_apart
from holdfast.interfaces.ui.notes import note_of
from holdfast.learn.bank_settings import LONGEST_BACKGROUND, PRESETS, Wish
from holdfast.model.bank import Bank
from holdfast.store.protocol import Counts

router = APIRouter(prefix="/banks")
TRAITS = {
    "skepticism": "how many sessions must say a thing before it is believed",
    "literalism": "whether only the very words of a question count",
    "empathy": "whether motives and feelings are told",
}
NAME, DROP = "name:", "drop:"
_CONFLICT = 409


@router.get("")
async def banks(visit: Visiting) -> HTMLResponse:
    """Every bank, with how much is in it."""

    def look(memory: Holdfast) -> list[tuple[Bank, Counts]]:
        return [(bank, memory.counts(bank.id)) for bank in memory.known_banks()]

    found = await visit.desk.read(look)
    apart = told_apart([bank for bank, _ in found])
    return visit.page("banks.html", title="Banks", banks=found, apart=apart)


@router.get("/{id}")
async def bank(visit: Visiting, id: str, note: str = "") -> HTMLResponse:
    """One bank, and the form that changes it."""
    found = await visit.desk.read(lambda memory: known(memory, id))
    return _form(visit, found, note=note)


def known(memory: Holdfast, id: str) -> Bank:
    """A bank by its id."""
    found = memory.reader.bank(id)
    if found is None:
        raise NotFoundError("There is no such bank.", "`holdfast bank list` names all.")
    return found


def told(bank: Bank) -> str:
    """What tells a bank from the same bank as it was."""
    return fingerprint(f"{bank.disposition}{bank.background}{bank.retention}{bank.aliases}")


def _form(
    visit: Visit,
    bank: Bank,
    status: int = 200,
    wrote: dict[str, str] | None = None,
    problem: str = "",
    note: str = "",
) -> HTMLResponse:
    names = [alias.removeprefix(NAME) for alias in bank.aliases if alias.startswith(NAME)]
    shown = {
        **{trait: str(getattr(bank.disposition, trait)) for trait in TRAITS},
        "background": bank.background,
        "retention": str(bank.retention or ""),
        "alias": "",
        "preset": "",
        **(wrote or {}),
    }
    return visit.page(
        "bank.html",
        status,
        title=bank.name,
        bank=bank,
        names=names,
        others=[alias for alias in bank.aliases if not alias.startswith(NAME)],
        shown=shown,
        traits=TRAITS,
        presets=PRESETS,
        longest=LONGEST_BACKGROUND,
        seen=told(bank),
        problem=problem,
        note=note_of(note),
    )


@router.post("/{id}")
async def change(visit: Visiting, id: str) -> Response:
    """Change a bank, if it still is what was seen."""
    form = await visit.form()
    try:
        wish = _wish(form)
    except InputError as error:
        return kept(visit, error, form.get("background", ""))

    def save(memory: Holdfast) -> tuple[Bank, str]:
        now = known(memory, id)
        if told(now) != form.get("seen", ""):
            return now, "This bank was changed since you looked. Nothing was saved."
        if (
            (wish.retention or 0) > 0
            and wish.retention != now.retention
            and form.get("sure") != "yes"
        ):
            return now, (
                f"Sessions older than {wish.retention} months would be put away; nothing is "
                "erased. Say that you want it, and save again."
            )
        return memory.set_bank(wish, id, visit.who), ""

    try:
        found, problem = await visit.desk.work(save)
    except InputError as error:
        return kept(visit, error, form.get("background", ""))
    if problem:
        return _form(visit, found, _CONFLICT, form, problem)
    return done(f"/banks/{found.id}", "saved")


def _wish(form: dict[str, str]) -> Wish:
    preset = form.get("preset") or None
    one, two, three = (None if preset else _number(form.get(name), name) for name in TRAITS)
    alias = form.get("alias", "").strip()
    return Wish(
        preset,
        one,
        two,
        three,
        plainly(form.get("background", "")),
        _number(form.get("retention"), "retention") or 0,
        (alias,) if alias else (),
        tuple(name.removeprefix(DROP) for name in form if name.startswith(DROP)),
    )


def _number(text: str | None, name: str) -> int | None:
    if not text or not text.strip():
        return None
    try:
        return int(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no {name}.", "Give a whole number.") from error
