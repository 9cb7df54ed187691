"""Parameters that several operations have: each means the same wherever it stands."""

from __future__ import annotations

from typing import Annotated

from holdfast.errors import InputError
from holdfast.model.knowledge import Kind, Network
from holdfast.model.query import Layer
from holdfast.operations.operation import Arg
from holdfast.recall.core.plan import Budget
from holdfast.recall.query.iso_dates import read_iso_span

# Items of one page of a list. More would hold a server longer; callers follow the cursor.
MAX_PAGE = 200
MAX_QUESTION = 4_000
MAX_NAME = 300
MAX_RESEARCH_ID = 60
_MAX_DATE = 40


def last_moment(text: str) -> str:
    """The last moment of a day or a month, as records are ordered by it."""
    return read_iso_span(text).last


def agent_name(text: str) -> str:
    """The name of an agent in the spelling that sessions have. The readers of all agents are
    imported only if there is a name."""
    from holdfast.sources import conversation, registry

    wanted, known = text.strip().lower(), [*registry.agents(), conversation.AGENT]
    if wanted and wanted not in known:
        raise InputError(f"There is no agent {text!r}.", f"One of: {', '.join(known)}.")
    return wanted


Bank = Annotated[
    str,
    Arg(
        "the name or id of a bank, or `all` (default: the project of this folder, or all where "
        "there is none)",
        most=200,
        metavar="BANK",
        of_project=True,
    ),
]
# Where a record is named, which is looked for everywhere.
AnyBank = Annotated[
    str, Arg("the name or id of a bank, or `all` (the default)", most=200, metavar="BANK")
]
# Where something is stored: by default the bank of this folder, which is made if need be.
OneBank = Annotated[
    str,
    Arg(
        "the name or id of a bank (default: the project of this folder)",
        most=200,
        metavar="BANK",
        to_store_in=True,
    ),
]
RecordId = Annotated[
    str,
    Arg("holdfast://KIND/ID, an id, or the start of one", place="ID", most=MAX_NAME),
]
Limit = Annotated[int, Arg("how many at most", least=1, most=MAX_PAGE, metavar="N")]
Cursor = Annotated[
    str, Arg("the `cursor` of the page before, to go on with it", most=2_000, metavar="CURSOR")
]
AsOf = Annotated[
    str,
    Arg(
        "as of this day, or this time in UTC: later records and changes are ignored",
        most=_MAX_DATE,
        metavar="DATE",
        example="2026-03-01",
        read=last_moment,
    ),
]
Since = Annotated[str, Arg("began on this date or later", most=_MAX_DATE, metavar="DATE")]
Until = Annotated[str, Arg("began on this date or earlier", most=_MAX_DATE, metavar="DATE")]
Agent = Annotated[
    str, Arg("only sessions of this agent", most=100, metavar="NAME", read=agent_name)
]
Query = Annotated[
    str,
    Arg(
        "words, names, files, errors",
        place="QUERY",
        many_words=True,
        most=MAX_QUESTION,
        example="retry backoff",
    ),
]
Question = Annotated[
    str,
    Arg(
        "a question in plain words",
        place="QUESTION",
        many_words=True,
        most=MAX_QUESTION,
        example="Why do we retry in the client?",
    ),
]
Layers = Annotated[
    tuple[Layer, ...], Arg("search only this layer; repeatable (default: all layers)", most=8)
]
Networks = Annotated[
    tuple[Network, ...],
    Arg("only memories of this network; repeatable (default: all records)", most=4),
]
Kinds = Annotated[
    tuple[Kind, ...],
    Arg(
        "only memories, facts and rules of this kind; repeatable (default: all records)",
        most=len(Kind),
    ),
]
SearchBudget = Annotated[
    Budget | None,
    Arg(
        "low: full text only, about 2,000 tokens; mid: also by meaning, 4,000; "
        "high: more candidates, 8,000 (default: mid; on the command line low if full text finds it)"
    ),
]
Local = Annotated[
    bool,
    Arg("do not query the servers of `holdfast remote`: nothing leaves this machine"),
]
Providers = Annotated[
    bool,
    Arg("also query plugins that support it, for at most five seconds (see docs/providers.md)"),
]
Branch = Annotated[
    str,
    Arg(
        "work that is not merged into this branch ranks lower; `any` turns this off "
        "(default: the checked-out branch)",
        most=MAX_NAME,
        metavar="NAME",
    ),
]
DryRun = Annotated[bool, Arg("only show what would be done")]
