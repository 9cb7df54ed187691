"""The list of banks, what one holds, and the form that changes one."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi.responses import HTMLResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.app.views.bank_view import COUNTED, BankView, bank_view
from holdfast.app.views.record_view import fingerprint
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.curation import redirect_with_note, unsaved_page
from holdfast.interfaces.http.pages.page_request import Form, FormDep, PageRequest, PageRequestDep
from holdfast.interfaces.ui.formatting import bank_keys, distinguishing_labels
from holdfast.interfaces.ui.notes import NOTES
from holdfast.learn.bank_settings import MAX_BACKGROUND_CHARS, BankChanges
from holdfast.learn.presets import PRESETS
from holdfast.model.bank import Bank
from holdfast.store.across_tables.lookup import Counts

router = CheckedRouter(prefix="/banks")
TRAITS = {
    "skepticism": "how many sessions must state something before it is believed",
    "literalism": "whether only the exact words of a question count",
    "empathy": "whether motives and feelings are included",
}
_NAME_PREFIX, _DROP_PREFIX = "name:", "drop:"


@router.get("")
async def banks(request: PageRequestDep) -> HTMLResponse:
    """Every bank, with its counts."""

    def load(memory: Holdfast) -> list[tuple[Bank, Counts]]:
        return [(bank, memory.inventory.counts(bank.id)) for bank in memory.banks.all()]

    found = await request.pool.read(load)
    known = [bank for bank, _ in found]
    return request.render(
        "banks.html",
        title="Banks",
        banks=found,
        keys=bank_keys(known),
        labels=distinguishing_labels(known),
    )


@router.get("/{id}")
async def bank(request: PageRequestDep, id: str, tab: str = "", note: str = "") -> HTMLResponse:
    """What a bank holds, or the form that changes it."""

    def load(memory: Holdfast) -> tuple[Bank, str, BankView | None]:
        found, key = _bank_and_key(memory, id)
        return found, key, None if tab == "settings" else bank_view(memory, found)

    found, key, view = await request.pool.read(load)
    if view is None:
        return _form(request, found, key, note=note)
    return request.render(
        "bank.html",
        title=found.name,
        bank=found,
        key=key,
        view=view,
        counted=COUNTED,
        note=NOTES.get(note),
    )


def find_bank(memory: Holdfast, name: str) -> Bank:
    """A bank by its id or name; raises `NotFoundError`."""
    return memory.reader.banks.get(name) or memory.banks.get(name)


def _bank_and_key(memory: Holdfast, name: str) -> tuple[Bank, str]:
    """A bank, and how addresses call it."""
    found = find_bank(memory, name)
    return found, bank_keys(memory.banks.all())[found.id]


def bank_fingerprint(bank: Bank) -> str:
    """A fingerprint of what the form can change."""
    return fingerprint(f"{bank.disposition}{bank.background}{bank.retention}{bank.aliases}")


def _form(
    request: PageRequest,
    bank: Bank,
    key: str,
    status: int = 200,
    wrote: dict[str, str] | None = None,
    problem: str = "",
    note: str = "",
) -> HTMLResponse:
    names = [
        alias.removeprefix(_NAME_PREFIX) for alias in bank.aliases if alias.startswith(_NAME_PREFIX)
    ]
    shown = {
        **{trait: str(getattr(bank.disposition, trait)) for trait in TRAITS},
        "background": bank.background,
        "retention": str(bank.retention or ""),
        "alias": "",
        "preset": "",
        **(wrote or {}),
    }
    return request.render(
        "bank_settings.html",
        status,
        title=bank.name,
        bank=bank,
        key=key,
        names=names,
        others=[alias for alias in bank.aliases if not alias.startswith(_NAME_PREFIX)],
        shown=shown,
        traits=TRAITS,
        presets=PRESETS,
        longest=MAX_BACKGROUND_CHARS,
        seen=bank_fingerprint(bank),
        problem=problem,
        note=NOTES.get(note),
    )


@router.post("/{id}")
async def change(request: PageRequestDep, form: FormDep, id: str) -> Response:
    """Change a bank, if nobody changed it since the form was shown."""

    def save(memory: Holdfast) -> tuple[Bank, str, str]:
        changes, (now, key) = _read_changes(form), _bank_and_key(memory, id)
        if bank_fingerprint(now) != form["seen"]:
            problem = "This bank was changed after you opened the page. Nothing was saved."
            return now, key, problem
        if (
            (changes.retention or 0) > 0
            and changes.retention != now.retention
            and form["sure"] != "yes"
        ):
            return (
                now,
                key,
                (
                    f"Sessions older than {changes.retention} months would be hidden; nothing is "
                    "erased. Say that you want it, and save again."
                ),
            )
        return memory.banks.change(changes, id, request.who), key, ""

    try:
        found, key, problem = await request.pool.run(save)
    except InputError as error:
        return unsaved_page(request, error, form["background"])
    if problem:
        return _form(request, found, key, HTTPStatus.CONFLICT, form, problem)
    return redirect_with_note(f"/banks/{quote(key, safe='')}?tab=settings", "saved")


def _read_changes(form: Form) -> BankChanges:
    preset = form["preset"] or None
    return BankChanges(
        preset,
        *(None if preset else _number(form, trait) for trait in TRAITS),
        background=form["background"],
        retention=_number(form, "retention") or 0,
        aliases=(form["alias"],) if form["alias"] else (),
        dropped_aliases=tuple(
            name.removeprefix(_DROP_PREFIX) for name in form if name.startswith(_DROP_PREFIX)
        ),
    )


def _number(form: Form, name: str) -> int | None:
    if not form[name]:
        return None
    try:
        return int(form[name])
    except ValueError as error:
        raise InputError(
            f"{form[name]!r} is not a valid {name}.", "Give a whole number."
        ) from error
