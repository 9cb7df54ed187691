"""Requests that change something and succeed: what they need is made first, through the interfaces
of the server itself, and a form is sent as its page shows it.

An operation that is not listed here is asked with a record of each kind (`operations.own_calls`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from tests.e2e.access.key_client import KeyClient, Reply
from tests.e2e.access.operations import Call, Operation, Parameter
from tests.e2e.access.page_forms import find_form
from tests.e2e.access.two_banks import OWN, Named
from tests.support.waiting import wait_until

_JSON = {"Content-Type": "application/json"}
_UNDO = re.compile(r"[?&]undo=([0-9%,C]+)")
_MEMORY = re.compile(r"holdfast://memory/(\w+)")
_FACTS, _AGENTS = "/review?tab=facts", "/review?tab=agents"
Values = Mapping[str, Any]


class ChangingCalls:
    """Somebody with a key who changes what is in their bank."""

    def __init__(self, client: KeyClient, own: Named) -> None:
        """Make three memories, what an agent wants written or kept, and a conversation."""
        self._client = client
        self._bank = own.id
        self._memories = [
            self._remember(text) for text in ("is blue.", "is blue and tall.", "is wide.")
        ]
        for domain in ("paint", "ropes", "sails"):
            rule = {"domain": domain, "content": f"Keep the {domain} of {OWN.asked} dry."}
            self._use_tool("learn", rule)
        for text in ("creaks.", "leans."):
            self._use_tool("remember", {"text": f"{OWN.asked} {text}"})
        # The id of a conversation that has ended, and of one that a form began.
        self.conversation = self.converse()
        self._begun = ""
        self._notes = 0

    def call(self, operation: Operation) -> Call | None:
        """A request that must succeed; None if any record will do."""
        prepare = PREPARED.get(operation.name)
        if prepare is None:
            return None
        values = prepare(self, operation)
        known = {place.name for place in operation.parameters}
        # The boxes of a list are named after its entries, which no template says.
        boxes = [Parameter("form", name, "plain", {}, False) for name in values.keys() - known]
        return Call(operation._replace(parameters=(*operation.parameters, *boxes)), values)

    def note(self, operation: Operation, reply: Reply) -> None:
        """Undo what a form has decided where the next one needs it undecided, and note which
        conversation another began."""
        if operation.name == "POST /ask":
            self._begun = reply.text.split("?")[0].rpartition("/")[2].split("#")[0]
        found = _UNDO.search(reply.text) if operation.name in _TAKEN_BACK else None
        if found:
            number = Parameter("form", "numbers", "plain", {}, False)
            undo = Operation("POST /do/undo", "POST", "/do/undo", (number,))
            undone = self._client.page(Call(undo, {"numbers": unquote(found[1])}))
            assert undone.succeeded, undone

    def fill(self, operation: Operation, page: str, ticked: bool = False, **given: str) -> Values:
        """A form of a page as it is shown, with some fields filled in. The fields of the path are
        those of the form's address."""
        shown = self._client.web.get(page)
        assert shown.is_success, (page, shown.text)
        return self._filled(operation, page, shown.text, ticked, given)

    def look(self, operation: Operation, page: str) -> Values:
        """The form that comes after what a form would do was looked at."""
        asked = Call(operation, self.fill(operation, page))
        return self._filled(operation, page, self._client.page(asked).text, False, {})

    def _filled(
        self, operation: Operation, page: str, shown: str, ticked: bool, given: dict[str, str]
    ) -> Values:
        form = find_form(shown, re.sub(r"\\{\w+\\}", "([^/]+)", re.escape(operation.path)))
        assert form is not None, f"{page} has no form that is sent to {operation.path}"
        own = {"id": form.place} if form.place else {}
        fields = {name: value for name, value in form.fields.items() if name != "form_key"}
        return {**own, **fields, **(form.boxes if ticked else {}), **given}

    def settings_page(self) -> str:
        """The page on which the bank is changed."""
        return f"/banks/{quote(self._bank, safe='')}?tab=settings"

    def record_page(self) -> str:
        """The page of a memory."""
        return f"/record/memory/{self._memories[0]}"

    def other_memory(self) -> str:
        """The id of another memory."""
        return self._memories[1]

    def judged_memory(self) -> str:
        """The id of a memory that is judged and otherwise left as it is."""
        return self._memories[2]

    def judged_page(self) -> str:
        """The page of that memory."""
        return f"/record/memory/{self.judged_memory()}"

    def agents_note(self) -> str:
        """The id of something that an agent has just remembered."""
        self._notes += 1
        noted = self._use_tool("remember", {"text": f"{OWN.asked} has {self._notes} new ropes."})
        found = _MEMORY.search(noted.text)
        assert found, noted
        return found[1]

    def bank(self) -> str:
        """The id of the bank."""
        return self._bank

    def begun(self) -> str:
        """The id of the conversation that a form began."""
        return self._begun

    def waiting(self, path: str, kind: str) -> Values:
        """The id of the first entry of a list that waits for a decision."""
        listed = self._client.web.request("GET", f"/api/v1{path}", params={"bank": self._bank})
        return {"id": listed.json()[kind][0]["id"], "bank": self._bank}

    def _remember(self, text: str) -> str:
        body = {"text": f"{OWN.asked} {text}", "bank": self._bank}
        made = self._client.web.post("/api/v1/memories", json.dumps(body), _JSON)
        assert made.is_success, made.text
        return made.json()["uri"].rpartition("/")[2]

    def _use_tool(self, name: str, arguments: Values) -> Reply:
        used = self._client.mcp("tools/call", self._bank, name=name, arguments=arguments)
        assert used.succeeded, used
        return used

    def converse(self) -> str:
        """Ask a question; the id of its conversation, when it has ended."""
        question = {"question": f"Why is {OWN.asked} slow?", "bank": self._bank}
        begun = self._client.web.post("/api/v1/research", json.dumps(question), _JSON)
        id: str = begun.json()["session_id"]

        def has_ended() -> bool:
            found = self._client.web.get(f"/api/v1/research/{id}").json()
            return found["state"] != "running"

        wait_until(has_ended, "the question is answered", every_s=0.2)
        return id


Prepare = Callable[[ChangingCalls, Operation], Values]
_TEXT = f"{OWN.asked} is green."
PREPARED: Mapping[str, Prepare] = {
    "POST /ask": lambda by, form: by.fill(form, "/", q=f"What broke {OWN.asked}?"),
    "POST /do/retain": lambda by, form: by.fill(form, "/memory?tab=memories", text=_TEXT),
    "POST /do/correct": lambda by, form: by.fill(form, by.record_page(), text=_TEXT),
    "POST /do/merge": lambda by, form: by.fill(
        form, f"{by.record_page()}?merge=yes", into=by.other_memory()
    ),
    "POST /do/undo": lambda by, form: by.fill(form, "/memory?tab=decisions"),
    "POST /do/purge": lambda by, form: by.look(form, by.judged_page()),
    "POST /do/promote_reject": lambda by, form: by.fill(form, _AGENTS, why="It rains."),
    "POST /do/review_decide": lambda by, form: by.fill(form, _FACTS),
    "POST /do/review_adopt": lambda by, form: by.fill(form, _AGENTS),
    "POST /do/several": lambda by, form: by.fill(form, _FACTS, ticked=True, act="reject"),
    "POST /do/judge": lambda by, form: by.fill(form, by.judged_page(), verdict="unneeded"),
    "POST /do/bank_set": lambda by, form: by.fill(form, by.settings_page(), background=_TEXT),
    "POST /do/research_useful": lambda by, _: {"id": by.conversation},
    "PATCH /api/v1/banks/{name}": lambda by, _: {"name": by.bank(), "background": OWN.asked},
    **dict.fromkeys(
        ("POST /api/v1/rules/candidates/{id}/reject", "graph promoteReject"),
        lambda by, _: by.waiting("/rules/candidates", "candidates"),
    ),
    "POST /api/v1/reviews/{id}/decide": lambda by, _: {
        **by.waiting("/reviews", "reviews"), "keep": True
    },
    # A note is adopted once, so that each of these needs one of its own.
    **dict.fromkeys(
        ("POST /api/v1/records/{id}/adopt", "graph reviewAdopt"),
        lambda by, _: {"id": by.agents_note()},
    ),
    **dict.fromkeys(
        ("POST /api/v1/verdicts", "graph judge"),
        lambda by, _: {"ids": [by.judged_memory()], "verdict": "useful"},
    ),
    "graph bankSet": lambda by, _: {"name": by.bank(), "background": OWN.asked},
    **dict.fromkeys(
        ("graph researchUseful", "graph researchCancel", "graph researchShow"),
        lambda by, _: {"id": by.conversation},
    ),
    "graph researchRemove": lambda by, _: {"id": by.converse()},
    "POST /research/{id}/cancel": lambda by, _: {"id": by.conversation},
    "POST /research/{id}/remove": lambda by, _: {"id": by.begun()},
    "POST /api/v1/research/{id}/useful": lambda by, _: {"id": by.conversation},
    "POST /api/v1/research/{id}/cancel": lambda by, _: {"id": by.conversation},
    "DELETE /api/v1/research/{id}": lambda by, _: {"id": by.conversation},
}  # fmt: skip
# A fact is reviewed once; all of these decide it.
_TAKEN_BACK = ("POST /do/review_decide", "POST /do/several")
