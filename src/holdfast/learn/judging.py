"""Verdicts: whether a record should be told to later sessions, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.errors import InputError
from holdfast.learn.curation import Curator, Target
from holdfast.model.curation import (
    MAX_REASON_CHARS,
    MAX_WORDS_CHARS,
    Action,
    Curation,
    Verdict,
    verdict_text,
)
from holdfast.model.knowledge import Memory
from holdfast.store.protocol import Writer

# What briefs tell.
JUDGEABLE_KINDS = ("memory", "fact", "exchange", "digest", "commit")


def read_verdict(name: str) -> Verdict:
    """The verdict with this name; InputError if there is none."""
    if name not in tuple(Verdict):
        raise InputError(f"There is no verdict {name!r}.", f"One of: {', '.join(Verdict)}.")
    return Verdict(name)


def is_rewordable(record: object) -> bool:
    """Whether briefs may tell a record in other words: a statement of an agent. People are
    quoted."""
    return isinstance(record, Memory) and record.by_agent


def judge(
    writer: Writer,
    now: Callable[[], str],
    who: str,
    targets: Sequence[Target],
    verdict: Verdict,
    why: str = "",
    words: str = "",
) -> list[Curation]:
    """Append a verdict on each of some records to the log, and derive what depends on them; all of
    them or none. `who` judges; `words` are how a brief tells the record."""
    why = _sentence(why, "reason", MAX_REASON_CHARS)
    words = _sentence(words, "wording", MAX_WORDS_CHARS)
    if not targets:
        raise InputError("No record is named.", "Name the records to judge.")
    for target in targets:
        _check_judgeable(target)
    if words:
        _check_rewordable(writer, targets, verdict)
    text = verdict_text(verdict, why, words)
    with writer.transaction():
        made = [
            writer.curation.append(Curation(0, one.bank, now(), Action.JUDGE, one.uri, text, who))
            for one in targets
        ]
        # Deriving what depends on them takes as long for all of them as for one.
        for bank in dict.fromkeys(target.bank for target in targets):
            judged = [target for target in targets if target.bank == bank]
            Curator(writer, now, who).apply(bank, judged)
    return made


def _sentence(text: str, name: str, most: int) -> str:
    text = " ".join(text.split())
    if len(text) > most:
        raise InputError(
            f"The {name} has {len(text):,} characters; at most {most:,} are allowed.",
            "Say it in one sentence.",
        )
    return text


def _check_rewordable(writer: Writer, targets: Sequence[Target], verdict: Verdict) -> None:
    """Other words are for one useful statement of an agent."""
    if verdict is not Verdict.USEFUL or len(targets) != 1:
        raise InputError(
            "Other words are for one useful record.",
            "Judge it alone: `holdfast review useful ID --words TEXT`.",
        )
    target = targets[0]
    found = writer.records.find(target.bank, target.kind, target.id, 1)
    if not any(map(is_rewordable, found)):
        raise InputError(
            f"{target.uri} is not a statement of an agent: briefs quote it.",
            f"`holdfast correct {target.id} TEXT` replaces its text everywhere.",
        )


def _check_judgeable(target: Target) -> None:
    if target.kind not in JUDGEABLE_KINDS:
        raise InputError(
            f"{target.uri} cannot be judged: briefs do not tell a {target.kind}.",
            f"Records of these kinds can be: {', '.join(JUDGEABLE_KINDS)}.",
        )
    if not target.shown:
        raise InputError(
            f"{target.uri} is forgotten.", f"`holdfast restore {target.id}` brings it back."
        )
