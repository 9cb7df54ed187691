"""What people decided about records: an append-only log that is applied over derived rows.

Rebuilding derived rows never touches this log, so it never undoes a person's decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.trust import Trust, least_trusted

# How the log names an agent that decided: "agent", or "agent (claude-code)".
AGENT = "agent"
# The reason of a verdict is shown wherever the record is; other words for it stand in a brief.
MAX_REASON_CHARS, MAX_WORDS_CHARS = 400, 240


def is_agent(who: str) -> bool:
    """Whether the log names an agent. No person has such a name there (`person_name`)."""
    return who == AGENT or who.startswith(f"{AGENT} (")


def person_name(name: str) -> str:
    """How the log names a person whose user or key has this name: "user agent" for "agent"."""
    return f"user {name}" if is_agent(name) else name


class Action(StrEnum):
    """The kinds of decision."""

    REMEMBER = "remember"
    CORRECT = "correct"
    FORGET = "forget"
    RESTORE = "restore"
    CONFIRM = "confirm"
    TEACH = "teach"
    APPROVE = "approve"
    REJECT = "reject"
    MERGE = "merge"
    SPLIT = "split"
    UNDO = "undo"
    PULL = "pull"
    SHARE = "share"
    SET = "set"
    WRITE = "write"
    VOUCH = "vouch"
    JUDGE = "judge"
    IMPORT = "import"
    PURGE = "purge"
    SCRUB = "scrub"


@dataclass(frozen=True, slots=True)
class Curation:
    """One decision about one record; `seq` orders them.

    `target` is the record's URI; of an undo, the number of the decision that it undoes. `text` is
    the text of a correction or a lesson; of a merge, the URI of the record that it was merged
    into; of a verdict, that and its reason (`verdict_text`); of a bank, its settings before and
    after. `who` ends with the interface in brackets, unless that was the command line.
    """

    seq: int
    bank: str
    time: str
    action: Action
    target: str
    text: str = ""
    who: str = ""


class CurationState(NamedTuple):
    """The result of all decisions about one record: whether it is forgotten; `into` which record
    it was merged; its corrected `text`, with the time and the person of the correction; and the
    text that it replaces (`was`)."""

    bank: str
    kind: str
    id: str
    session: str = ""
    forgotten: bool = False
    into: str = ""
    text: str = ""
    time: str = ""
    who: str = ""
    was: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether the record is left out of every answer."""
        return self.forgotten or bool(self.into)

    @property
    def by_agent(self) -> bool:
        """Whether the correction is an agent's: its text is then no person's words."""
        return bool(self.text) and is_agent(self.who)

    @property
    def by_person(self) -> bool:
        """Whether the correction is a person's."""
        return bool(self.text) and not is_agent(self.who)

    def trust_of(self, own: Trust) -> Trust:
        """The trust of the corrected text; `own` is that of the record."""
        return least_trusted((own, Trust.ASSISTANT)) if self.by_agent else Trust.USER


class Verdict(StrEnum):
    """Whether a record should be told to a later session."""

    USEFUL = "useful"
    # True, but not worth telling.
    UNNEEDED = "unneeded"
    # No longer true.
    OUTDATED = "outdated"


_VERDICTS = tuple(Verdict)


class Judgement(NamedTuple):
    """A verdict on a record: whose, since when, and why ("" if no reason was given). `words` say
    what is useful so that it is understood alone; "" if its own words are."""

    verdict: Verdict
    time: str
    who: str
    why: str = ""
    words: str = ""

    @property
    def by_agent(self) -> bool:
        return is_agent(self.who)


def verdict_text(verdict: Verdict, why: str, words: str = "") -> str:
    """The text of the log entry of a verdict: "outdated: the cache was removed"; other words for
    the record are its second line."""
    said = f"{verdict.value}: {why}" if why else verdict.value
    return f"{said}\n{words}" if words else said


def read_judgement(entry: Curation) -> Judgement | None:
    """The verdict of a log entry; None for another decision and for one whose text was erased."""
    said, _, words = entry.text.partition("\n")
    word, _, why = said.partition(": ")
    if entry.action is not Action.JUDGE or word not in _VERDICTS:
        return None
    return Judgement(Verdict(word), entry.time, entry.who, why, words)


# Who gives a record other words, or says that it still holds, has judged it anew.
_ENDING_VERDICTS = {Action.CORRECT: _VERDICTS, Action.CONFIRM: (Verdict.OUTDATED,)}


def ends_verdict(entry: Curation, known: Judgement) -> bool:
    """Whether a later decision about a record ends a verdict on it. An agent's correction leaves
    what a person said against the record, but no person called its words useful."""
    if is_agent(entry.who) and not known.by_agent and known.verdict is not Verdict.USEFUL:
        return False
    return known.verdict in _ENDING_VERDICTS.get(entry.action, ())


_AFFIRMING = (Action.REMEMBER, Action.CORRECT, Action.CONFIRM)


def affirms_record(entry: Curation) -> bool:
    """Whether a person says by a decision that the words of its record hold: an agent's later
    verdict on that does not count."""
    return entry.action in _AFFIRMING and not is_agent(entry.who)


def judgements(decisions: Iterable[Curation]) -> dict[str, Judgement]:
    """The verdict on each record by its URI, from the decisions in effect: the latest counts, that
    of an agent only where no person judged, remembered, corrected or confirmed before; until the
    record is corrected, or confirmed after it was called outdated (`ends_verdict`)."""
    found: dict[str, Judgement] = {}
    affirmed: set[str] = set()
    for entry in decisions:
        known, judged = found.get(entry.target), read_judgement(entry)
        if judged is not None:
            is_kept = entry.target in affirmed or (known is not None and not known.by_agent)
            if not (judged.by_agent and is_kept):
                found[entry.target] = judged
        elif known is not None and ends_verdict(entry, known):
            del found[entry.target]
        if affirms_record(entry):
            affirmed.add(entry.target)
    return found


def in_effect(log: Iterable[Curation]) -> list[Curation]:
    """The decisions that were not undone, without the undos themselves."""
    log = list(log)
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    return [e for e in log if e.action is not Action.UNDO and str(e.seq) not in undone]
