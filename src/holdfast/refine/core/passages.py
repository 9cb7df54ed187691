"""What search reads: each record as one text, with what stood before it as context."""

from __future__ import annotations

import re
from datetime import datetime

from holdfast.language import cut, humps
from holdfast.model.ids import content_id
from holdfast.model.imports import Imported
from holdfast.model.knowledge import Concept, Fact, Memory, Rule
from holdfast.model.query import Passage
from holdfast.model.records import Digest, Exchange, Role, ToolCall, Turn
from holdfast.model.team import Commit, Shared
from holdfast.model.trust import Status

# The kinds that get vectors: what is short and says most comes first.
EMBEDDED_FIRST = (
    "fact", "memory", "rule", "concept", "digest", "exchange", "pull", "issue", "remark", "shared",
    "imported",
)  # fmt: skip
# Those of which there may be very many: words find them, and vectors come when there is time.
EMBEDDED_LATER = ("commit", "turn")

MAX_PREVIOUS_CHARACTERS = 300
_WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{3,60}+(?![A-Za-z0-9])")
_CAMEL_CASE = re.compile(r"[a-z0-9][A-Z]")


class TurnPassageBuilder:
    """Makes a passage per turn; its context is its date and the turn before it."""

    def __init__(self, before: str = "") -> None:
        self.previous = before

    def build(self, turn: Turn) -> Passage:
        """The passage of the next turn of the session."""
        body = turn_text(turn)
        context = f"{date_words(turn.time)} {self.previous} {split_identifiers(body)}".strip()
        if turn.role is not Role.TOOL or not self.previous:
            self.previous = cut(body, MAX_PREVIOUS_CHARACTERS)
        return Passage(
            turn.bank,
            "turn",
            turn.id,
            turn.session,
            turn.time,
            body,
            context,
            turn.trust,
            role=turn.role.value,
            seq=turn.seq,
            # A tool call is found by its words; what it means is in what was said about it.
            hash="" if turn.role is Role.TOOL else content_id(body, context),
        )


def turn_text(turn: Turn) -> str:
    """A turn as a person would quote it."""
    if turn.tool is not None:
        return tool_text(turn.tool)
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def tool_text(tool: ToolCall) -> str:
    """A tool call as one short text: what, on what, how, and what came of it."""
    head = " ".join(filter(None, (tool.name, tool.target + (f":{tool.lines}" * bool(tool.lines)))))
    came = {True: "ok", False: "failed", None: "no result"}[tool.ok]
    end = f"→ {came}" + (f": {tool.result}" if tool.result else "")
    return "\n".join(filter(None, (head, tool.action, end)))


def exchange_text(exchange: Exchange) -> str:
    """An exchange in its own words."""
    facts = [fact for fact in exchange.facts if fact not in exchange.summary]
    return "\n\n".join(filter(None, (exchange.title, exchange.summary, *facts)))


def exchange_passage(exchange: Exchange) -> Passage:
    """An exchange's own words; its keywords and files help to find it."""
    x = exchange
    body = exchange_text(x)
    files = " ".join((*x.files_modified, *x.files_read))
    context = (
        f"{date_words(x.started)} {x.type.value} {' '.join(x.keywords)} {files} {x.details} "
        f"{split_identifiers(body)}"
    )
    return Passage(
        x.bank,
        "exchange",
        x.id,
        x.session,
        x.started,
        body,
        context,
        x.trust,
        x.status,
        seq=x.first_seq,
        hash=content_id(body),
    )


def digest_passage(digest: Digest) -> Passage:
    """A digest's own words; its topics help to find it."""
    d = digest
    sections = (
        ("Request", (d.request,)),
        ("Completed", d.completed),
        ("Learned", d.learned),
        ("Investigated", d.investigated),
        ("Next", d.next_steps),
    )
    body = "\n\n".join(f"{name}: {item}" for name, items in sections for item in items)
    context = f"{date_words(d.started)} {' '.join(d.topics)} {split_identifiers(body)}"
    return Passage(
        d.bank,
        "digest",
        d.id,
        d.session,
        d.started,
        body,
        context,
        d.trust,
        hash=content_id(body),
    )


def commit_passage(commit: Commit, touched: str = "") -> Passage:
    """A commit's message; its author, its files and what it touched in them help to find it."""
    c = commit
    body = f"{c.subject}\n\n{c.body}".strip()
    names = split_identifiers(f"{body} {touched}")
    context = f"{date_words(c.time)} {c.author} {' '.join(c.files)} {touched} {names}"
    return Passage(
        c.bank, "commit", c.id, "", c.time, body, context, c.trust, hash=content_id(body)
    )


def imported_passage(imported: Imported) -> Passage:
    """What another program knew, in its words; what it is about and from where help to find it."""
    i = imported
    body = imported_text(i)
    context = (
        f"{date_words(i.time or i.taken)} {i.program} {i.kind} {' '.join(i.labels)} "
        f"{' '.join(i.files)} {split_identifiers(body)}"
    )
    return Passage(
        i.bank, "imported", i.id, "", i.time or i.taken, body, context, i.trust,
        hash=content_id(body),
    )  # fmt: skip


def imported_text(imported: Imported) -> str:
    """An imported record as a person would quote it."""
    named = imported.title if imported.title not in imported.text[: len(imported.title)] else ""
    return "\n\n".join(filter(None, (named, imported.text)))


def shared_passage(shared: Shared) -> Passage:
    """What somebody shares, in their words; who it was and what it is about help to find it."""
    s = shared
    body = f"{s.text}\n\n{s.note}".strip()
    context = (
        f"{date_words(s.time or s.shared)} {s.author} shared {s.kind} {' '.join(s.files)} "
        f"{split_identifiers(body)}"
    )
    return Passage(
        s.bank, "shared", s.id, "", s.time or s.shared, body, context, s.trust,
        hash=content_id(body),
    )  # fmt: skip


def memory_passage(memory: Memory, session: str = "", seq: int = 0, context: str = "") -> Passage:
    """A memory in its words; in the place of a turn's role stands its network, to filter by. What
    a person asked to remember is of no session."""
    m = memory
    context = context or f"{date_words(m.when)} remembered decision rule {split_identifiers(m.what)}"
    return Passage(
        m.bank, "memory", m.id, session, m.when, m.what, context, m.trust, m.status,
        role=m.network.value, seq=seq, hash=content_id(m.what),
    )  # fmt: skip


def concept_passage(concept: Concept) -> Passage:
    """A concept's name and summary; its keywords and files help to find it."""
    c = concept
    body = f"{c.name}\n\n{c.summary}"
    context = (
        f"{date_words(c.updated)} {' '.join(c.keywords)} {' '.join(c.files)} {split_identifiers(body)}"
    )
    return Passage(
        c.bank, "concept", c.id, "", c.updated, body, context, c.trust, hash=content_id(body)
    )


def rule_passage(rule: Rule) -> Passage:
    """A section of a file of rules. It has no time: it holds until somebody changes it."""
    r = rule
    body = f"{r.heading}\n\n{r.text}" if r.heading else r.text
    context = f"rule {r.domain} {r.path} {' '.join(r.paths)} {split_identifiers(body)}"
    status = Status.VERIFIED if r.is_ground else Status.OBSERVED
    return Passage(
        r.bank, "rule", r.id, "", "", body, context, r.trust, status, hash=content_id(body)
    )


def fact_passage(fact: Fact) -> Passage:
    """A fact's own words; a solution also by its problem."""
    f = fact
    body = f"{f.problem}\n\n{f.content}" if f.problem and f.problem not in f.content else f.content
    kind = f.kind.value.replace("_", " ")
    time = f.validity.learned
    context = f"{date_words(time)} {kind} {' '.join(f.files)} {split_identifiers(body)}"
    return Passage(
        f.bank, "fact", f.id, "", time, body, context.strip(), f.trust, f.status,
        hash=content_id(body),
    )  # fmt: skip


def date_words(time: str) -> str:
    """A moment in the words people search by."""
    if not time:
        return ""
    moment = datetime.fromisoformat(time)
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


def split_identifiers(text: str) -> str:
    """`parseHttpRequest` also as its parts, which the index would not see."""
    names = dict.fromkeys(word for word in _WORD.findall(text[:5000]) if _CAMEL_CASE.search(word))
    return " ".join(" ".join(humps(name)) for name in list(names)[:40])
