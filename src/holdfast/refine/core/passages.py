"""Builds the passages that search indexes: one text per record, and context that helps to find it.

`body` is what a hit quotes. `context` is searched too but never shown: the date in words, names,
files, keywords, the parts of identifiers. The hash is of what the vector is made of.
"""

from __future__ import annotations

from datetime import datetime

from holdfast.language import split_identifier, truncate
from holdfast.model.forge import Remark, Thread
from holdfast.model.ids import content_id
from holdfast.model.imports import ImportedRecord
from holdfast.model.knowledge import Concept, Fact, Memory, Rule
from holdfast.model.query import Passage
from holdfast.model.records import Digest, Exchange, Role, ToolCall, Turn
from holdfast.model.team import Commit, SharedRecord
from holdfast.model.trust import Status
from holdfast.regex import regex

# The kinds of records that get vectors first: few, short, and dense in content.
EMBEDDED_FIRST = (
    "fact", "memory", "rule", "concept", "digest", "exchange", "pull", "issue", "remark", "shared",
    "imported",
)  # fmt: skip
# The kinds of which there may be very many. Full-text search finds them at once; vectors follow
# when the worker has time.
EMBEDDED_LATER = ("commit", "turn")

# Characters of the previous turn in a turn's context. More finds short replies by what they answer,
# but makes neighbouring turns look the same.
MAX_PREVIOUS_CHARACTERS = 300
# Characters that are searched for identifiers, and identifiers that are split, per record: they
# bound the size of the index for pasted code.
_MAX_SPLIT_CHARACTERS = 5000
_MAX_SPLIT_NAMES = 40
_WORD = regex(r"(?<![A-Za-z0-9])[A-Za-z0-9]{3,60}+(?![A-Za-z0-9])")
_CAMEL_CASE = regex(r"[a-z0-9][A-Z]")

_Searchable = Exchange | Digest | Thread | Remark | ImportedRecord | SharedRecord | Concept


class TurnPassageBuilder:
    """Builds the passages of a session's turns in order. The context of a turn is its date and the
    text of the turn before it; `previous` is that text."""

    def __init__(self, previous: str = "") -> None:
        self.previous = previous

    def build(self, turn: Turn) -> Passage:
        """The passage of the next turn of the session."""
        body = turn_text(turn)
        context = f"{date_words(turn.time)} {self.previous} {split_identifiers(body)}".strip()
        if turn.role is not Role.TOOL or not self.previous:
            self.previous = truncate(body, MAX_PREVIOUS_CHARACTERS)
        # Tool calls get no vector: the turns around them say what they mean.
        hash = "" if turn.role is Role.TOOL else content_id(body, context)
        return Passage(
            turn.bank, "turn", turn.id, turn.session, turn.time, body, context, turn.trust,
            role=turn.role.value, seq=turn.seq, hash=hash,
        )  # fmt: skip


def make_passage(
    kind: str,
    record: _Searchable,
    time: str,
    body: str,
    about: str,
    status: Status = Status.OBSERVED,
    session: str = "",
    seq: int = 0,
) -> Passage:
    """The passage of a record. Its context is the date, `about`, and the parts of identifiers."""
    context = f"{date_words(time)} {about} {split_identifiers(body)}"
    return Passage(
        record.bank, kind, record.id, session, time, body, context, record.trust, status, seq=seq,
        hash=content_id(body),
    )  # fmt: skip


def turn_text(turn: Turn) -> str:
    """A turn as it is quoted."""
    if turn.tool is not None:
        return tool_text(turn.tool)
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def tool_text(tool: ToolCall) -> str:
    """A tool call as text: tool and target, action, result. Of a list of tasks only how far it is:
    every change of it repeats the tasks."""
    head = " ".join(filter(None, (tool.name, tool.target + (f":{tool.lines}" * bool(tool.lines)))))
    action = tool.action.partition("\n")[0] if tool.name == "TodoWrite" else tool.action
    end = f"→ {tool_status(tool)}" + (f": {tool.result}" if tool.result else "")
    return "\n".join(filter(None, (head, action, end)))


def tool_status(tool: ToolCall) -> str:
    """Whether a tool call succeeded, in words."""
    return {True: "ok", False: "failed", None: "no result"}[tool.ok]


def exchange_text(exchange: Exchange) -> str:
    """The title, summary and facts of an exchange; facts that the summary contains are left out."""
    facts = [fact for fact in exchange.facts if fact not in exchange.summary]
    return "\n\n".join(filter(None, (exchange.title, exchange.summary, *facts)))


def exchange_passage(exchange: Exchange) -> Passage:
    """The passage of an exchange. Context: type, keywords, files, details."""
    x = exchange
    files = " ".join((*x.files_modified, *x.files_read))
    about = f"{x.type.value} {' '.join(x.keywords)} {files} {x.details}"
    return make_passage(
        "exchange", x, x.started, exchange_text(x), about, x.status, x.session, x.first_seq
    )


def digest_passage(digest: Digest) -> Passage:
    """The passage of a digest. Context: topics."""
    d = digest
    sections = (
        ("Request", (d.request,)),
        ("Completed", d.completed),
        ("Learned", d.learned),
        ("Investigated", d.investigated),
        ("Next", d.next_steps),
    )
    body = "\n\n".join(f"{name}: {item}" for name, items in sections for item in items)
    return make_passage("digest", d, d.started, body, " ".join(d.topics), session=d.session)


def commit_passage(commit: Commit, touched: str = "") -> Passage:
    """The passage of a commit: its message. Context: author, files, and `touched`, the names of
    the functions and classes that it changed."""
    c = commit
    body = f"{c.subject}\n\n{c.body}".strip()
    names = split_identifiers(f"{body} {touched}")
    context = f"{date_words(c.time)} {c.author} {' '.join(c.files)} {touched} {names}"
    return Passage(
        c.bank, "commit", c.id, "", c.time, body, context, c.trust, hash=content_id(body)
    )


def imported_passage(imported: ImportedRecord) -> Passage:
    """The passage of an imported record. Context: program, kind, labels, files."""
    i = imported
    about = f"{i.program} {i.kind} {' '.join(i.labels)} {' '.join(i.files)}"
    return make_passage("imported", i, i.moment, imported_text(i), about)


def imported_text(imported: ImportedRecord) -> str:
    """An imported record as it is quoted: its title, unless the text starts with it, and text."""
    named = imported.title if imported.title not in imported.text[: len(imported.title)] else ""
    return "\n\n".join(filter(None, (named, imported.text)))


def shared_passage(shared: SharedRecord) -> Passage:
    """The passage of a shared record: text and note. Context: author, kind, files."""
    s = shared
    body = f"{s.text}\n\n{s.note}".strip()
    about = f"{s.author} shared {s.kind} {' '.join(s.files)}"
    return make_passage("shared", s, s.time or s.shared, body, about)


def memory_passage(memory: Memory, session: str = "", seq: int = 0, context: str = "") -> Passage:
    """The passage of a memory. Its network takes the place of a turn's role, as a filter. A memory
    that a person asked for has no session; its `context` is made here."""
    m = memory
    context = (
        context or f"{date_words(m.when)} remembered decision rule {split_identifiers(m.what)}"
    )
    return Passage(
        m.bank, "memory", m.id, session, m.when, m.what, context, m.trust, m.status,
        role=m.network.value, seq=seq, hash=content_id(m.what),
    )  # fmt: skip


def concept_passage(concept: Concept) -> Passage:
    """The passage of a concept: name and summary. Context: keywords, files."""
    c = concept
    about = f"{' '.join(c.keywords)} {' '.join(c.files)}"
    return make_passage("concept", c, c.updated, f"{c.name}\n\n{c.summary}", about)


def rule_passage(rule: Rule) -> Passage:
    """The passage of a rule, a section of a rule file. It has no time: it holds until changed."""
    r = rule
    body = f"{r.heading}\n\n{r.text}" if r.heading else r.text
    context = f"rule {r.domain} {r.path} {' '.join(r.paths)} {split_identifiers(body)}"
    status = Status.VERIFIED if r.is_memory_file else Status.OBSERVED
    return Passage(
        r.bank, "rule", r.id, "", "", body, context, r.trust, status, hash=content_id(body)
    )


def fact_passage(fact: Fact) -> Passage:
    """The passage of a fact; a solution includes its problem. Context: kind, files."""
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
    """A time as weekday, day, month and year, the words that people search by."""
    if not time:
        return ""
    moment = datetime.fromisoformat(time)
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


def split_identifiers(text: str) -> str:
    """The parts of identifiers in camel case, which the full-text index would not split."""
    found = _WORD.findall(text[:_MAX_SPLIT_CHARACTERS])
    names = dict.fromkeys(word for word in found if _CAMEL_CASE.search(word))
    return " ".join(" ".join(split_identifier(name)) for name in list(names)[:_MAX_SPLIT_NAMES])
