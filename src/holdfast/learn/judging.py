"""Verdicts: whether a record should be told to later sessions, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.errors import InputError
from holdfast.learn.curation import Curator, Target
from holdfast.model.curation import Action, Curation, Verdict, verdict_text
from holdfast.store.protocol import Writer

# What briefs tell.
JUDGEABLE_KINDS = ("memory", "fact", "exchange", "digest", "commit")
# The reason is shown wherever the record is.
MAX_REASON_CHARS = 400


def judge(
    writer: Writer,
    now: Callable[[], str],
    who: str,
    targets: Sequence[Target],
    verdict: Verdict,
    why: str = "",
) -> list[Curation]:
    """Append a verdict on each of some records to the log, and derive what depends on them; all of
    them or none. `who` judges."""
    why = " ".join(why.split())
    if len(why) > MAX_REASON_CHARS:
        raise InputError(
            f"The reason has {len(why):,} characters; at most {MAX_REASON_CHARS:,} are allowed.",
            "Say it in one sentence.",
        )
    for target in targets:
        _check_judgeable(target)
    text = verdict_text(verdict, why)
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
