"""The list of banks, what one holds, and the form that changes one."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.forms import Look, settings_of
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import bank_keys, bank_labels
from holdfast.learn.bank_settings import MAX_BACKGROUND_CHARS
from holdfast.learn.presets import PRESETS
from holdfast.model.bank import Bank
from holdfast.model.graph import EntityKind
from holdfast.recall.lookup.origins import names_of_listed
from holdfast.store.records.sessions import SessionFilter

router = CheckedRouter(prefix="/banks")
TRAITS = {
    "skepticism": "how many sessions must state something before it is believed",
    "literalism": "whether only the exact words of a question count",
    "empathy": "whether motives and feelings are included",
}
# How many records of each kind there are, with the words for one and for several.
COUNTED = {
    "sessions": ("session", "sessions"), "turns": ("turn", "turns"),
    "exchanges": ("exchange", "exchanges"), "commits": ("commit", "commits"),
    "facts": ("fact", "facts"), "memories": ("remembered statement", "remembered statements"),
    "retained": ("memory", "memories"), "opinions": ("opinion", "opinions"),
    "pulls": ("pull request", "pull requests"), "issues": ("issue", "issues"),
    "shared": ("shared record", "shared records"),
    "imported": ("imported record", "imported records"),
}  # fmt: skip
_LATEST_SESSIONS, _MAX_LISTED = 6, 8
# Among so many of the entities that occur most, the files and the people are looked for.
_MAX_ENTITIES = 300


@router.get("")
async def banks(request: PageRequestDep) -> HTMLResponse:
    """Every bank, with its counts."""

    def load(memory: Holdfast) -> Shown:
        known = memory.banks.all()
        return {
            "banks": [(bank, memory.inventory.counts(bank.id)) for bank in known],
            "keys": bank_keys(known),
            "labels": bank_labels(known),
        }

    return request.render("banks.html", title="Banks", **await request.pool.read(load))


@router.get("/{id}")
async def bank(request: PageRequestDep, id: str, tab: str = "") -> HTMLResponse:
    """What a bank holds, or the form that changes it."""

    def load(memory: Holdfast) -> Shown:
        found = memory.reader.banks.get(id) or memory.banks.get(id)
        key = bank_keys(memory.banks.all())[found.id]
        usual = {"title": found.name, "bank": found, "key": key}
        return usual if tab == "settings" else {**usual, **_contents(memory, found)}

    shown = await request.pool.read(load)
    if tab != "settings":
        return request.render("bank.html", counted=COUNTED, **shown)
    found: Bank = shown["bank"]
    names = [one.removeprefix("name:") for one in found.aliases if one.startswith("name:")]
    return request.render(
        "bank_settings.html",
        names=names,
        others=[one for one in found.aliases if not one.startswith("name:")],
        traits=TRAITS,
        presets=PRESETS,
        longest=MAX_BACKGROUND_CHARS,
        seen=Look(settings_of(found)).seen,
        **shown,
    )


def _contents(memory: Holdfast, bank: Bank) -> Shown:
    """How much a bank holds of each kind, from which day to which, and the start of its lists."""
    reader = memory.reader
    entities = reader.graph.entities(bank.id, _MAX_ENTITIES)
    sessions = tuple(reader.sessions.page(SessionFilter(bank.id), _LATEST_SESSIONS))
    days = reader.overview.counts_by_period(bank.id, ("digest", "commit", "imported"), 10)
    return {
        "counts": reader.records.counts(bank.id),
        "first": min((one.period for one in days), default=""),
        "last": max((one.period for one in days), default=""),
        "sessions": sessions,
        "called": names_of_listed(reader, sessions),
        "rules": reader.rules.all(bank.id),
        "most": _MAX_LISTED,
        "files": [one for one in entities if one.kind is EntityKind.FILE][:_MAX_LISTED],
        "people": [one for one in entities if one.kind is EntityKind.PERSON][:_MAX_LISTED],
        "repositories": reader.git.repositories(bank.id),
    }
