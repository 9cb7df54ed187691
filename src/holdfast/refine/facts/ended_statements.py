"""Which words of a bank no longer hold: since when, by whose decision, and what holds instead.

A person decides about one record; the words of that record end wherever they were said. Words end
when a fact or a memory is corrected or forgotten, when a turn, an exchange or another record that
states a decision is corrected, when somebody calls a record outdated, when a later statement
supersedes a fact, and when a fact or a guess is retracted. What is said again after its end holds
again.

The result depends on the claims and the log alone, so a rebuild gives the same, and undoing a
decision takes its endings back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.language import content_stems, sentences
from holdfast.model.curation import Action, Curation, CurationState, Judgement, Verdict, is_agent
from holdfast.model.knowledge import Claim, ClaimKind, EndedStatement, EndReason
from holdfast.model.records import Exchange
from holdfast.model.trust import ENDED_STATUSES, PEOPLE, Status
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.statement_similarity import says_the_same, statement_features
from holdfast.refine.facts.decision_sentences import MIN_STRENGTH, find_decision_sentences
from holdfast.refine.facts.fact_builder import FactDraft

# Records of several sentences: of what a correction replaces, the decisions end.
CORRECTED_TEXTS = ("turn", "exchange", "digest", "commit", "concept", "pull", "issue", "remark")
_STATEMENTS = ("fact", "memory")
_GUESSES = (ClaimKind.HYPOTHESIS, ClaimKind.FINDING)


# A session, and the first and the last turn in it.
Place = tuple[str, int, int]
_NOWHERE: Place = ("", 0, 0)


class _Version(NamedTuple):
    """The words of a record from a time on."""

    text: str
    since: str


class StatementLog:
    """What people decided about facts and memories, from the decisions in effect."""

    def __init__(self, log: Iterable[Curation]) -> None:
        self.forgotten: dict[str, Curation] = {}
        self._corrections: dict[str, list[Curation]] = {}
        for entry in log:
            target = parse_uri(entry.target)
            if target is None or target.kind not in _STATEMENTS:
                continue
            if entry.action is Action.FORGET:
                self.forgotten[entry.target] = entry
            elif entry.action is Action.RESTORE:
                self.forgotten.pop(entry.target, None)
            elif entry.action is Action.CORRECT and entry.text:
                self._corrections.setdefault(entry.target, []).append(entry)

    def endings(self, record: str, original: _Version | None) -> list[EndedStatement]:
        """The ended ones of a record's own words: each version that a later one replaced, and the
        last one too if the record is forgotten."""
        corrections = self._corrections.get(record, [])
        versions = [*([original] if original else ())]
        versions += [_Version(entry.text, entry.time) for entry in corrections]
        if not versions:
            return []
        forgotten = self.forgotten.get(record)
        if forgotten is not None:
            return [_end(version, forgotten, EndReason.FORGOTTEN) for version in versions]
        last = versions[-1]
        replaced_by = corrections if original else corrections[1:]
        return [
            _end(version, entry, EndReason.CORRECTED)._replace(instead=record, now=last.text)
            for version, entry in zip(versions[:-1], replaced_by, strict=True)
            if not _same(version.text, last.text)
        ]

    def corrected_targets(self, kind: str) -> list[str]:
        """The URIs of the corrected and the forgotten records of a kind."""
        targets = dict.fromkeys((*self._corrections, *self.forgotten))
        return [target for target in targets if target.startswith(uri(kind, ""))]


def _end(version: _Version, entry: Curation, reason: EndReason) -> EndedStatement:
    return EndedStatement(
        *_NOWHERE, version.text, version.since, entry.time, reason, entry.who, entry.target
    )


def _same(one: str, other: str) -> bool:
    return says_the_same(statement_features(one), statement_features(other))


def ended_memories(
    log: StatementLog, originals: Mapping[str, tuple[str, str]]
) -> list[EndedStatement]:
    """The words of corrected and forgotten memories; `originals` has the text and the time of
    memories by id."""
    found: list[EndedStatement] = []
    for target in log.corrected_targets("memory"):
        text, time = originals.get(target.rpartition("/")[2], ("", ""))
        found += log.endings(target, _Version(text, time) if text else None)
    return found


def ended_in_texts(
    states: Iterable[CurationState], place_of: Callable[[CurationState], Place]
) -> list[EndedStatement]:
    """The decisions that a person's correction of a text replaces; `place_of` says where the text
    is. An agent corrects the text alone: people may have stated what it says."""
    found: list[EndedStatement] = []
    for state in states:
        if state.kind not in CORRECTED_TEXTS or not state.by_person or state.is_hidden:
            continue
        now = sentences(state.text)
        for old in sentences(state.was):
            if _decides(old) and not any(_same(old, new) for new in now):
                found.append(
                    EndedStatement(
                        *place_of(state),
                        old,
                        "",
                        state.time,
                        EndReason.CORRECTED,
                        state.who,
                        uri(state.kind, state.id),
                        uri(state.kind, state.id),
                        state.text,
                    )
                )
    return found


class JudgedText(NamedTuple):
    """What a record says, for a verdict on it: one statement or a text of several, since a time;
    and the session of a record that is read with that."""

    text: str
    since: str
    is_statement: bool
    session: str = ""


# A sentence with fewer content words does not say alone what a statement of several says.
_MIN_SENTENCE_STEMS = 4


def called_outdated(record: str, judged: Judgement, said: JudgedText) -> list[EndedStatement]:
    """What ends with the verdict that a record is outdated: the record, whatever its words; of a
    statement its sentences, wherever they are said, and of a text the decisions in it."""
    whole = EndedStatement(
        said.session, 0, 0, said.text, said.since, judged.time, EndReason.OUTDATED, judged.who,
        record, "", judged.why, not said.session,
    )  # fmt: skip
    parts = [
        sentence
        for sentence in sentences(said.text)
        if len(content_stems(sentence)) >= _MIN_SENTENCE_STEMS
        and (said.is_statement or _decides(sentence))
    ]
    alone = whole._replace(session="", everywhere=True)
    return [whole, *(alone._replace(text=one) for one in parts if one != said.text)]


def end_outdated(drafts: Iterable[FactDraft], judged: Mapping[str, Judgement]) -> None:
    """End the facts that were called outdated and not stated again since."""
    for draft in drafts:
        names = sorted(uri("fact", id) for id in {draft.id, *draft.statement_ids})
        verdicts = [judged[name] for name in names if name in judged]
        last = max(verdicts, key=lambda one: one.time, default=None)
        if last is None or draft.status in ENDED_STATUSES or draft.is_stated_after(last.time):
            continue
        draft.outdated = last
        draft.set_status(EndReason.OUTDATED.status, last.time, draft.uri)
        draft.until = last.time


def _decides(sentence: str) -> bool:
    found = find_decision_sentences(sentence, by_person=True)
    return any(one.strength >= MIN_STRENGTH for one in found)


def ended_claims(
    claims: Iterable[tuple[Claim, Curation]], log: StatementLog
) -> list[EndedStatement]:
    """The words of forgotten facts, as each claim states them and as they were corrected."""
    found: list[EndedStatement] = []
    for claim, entry in claims:
        found.append(
            EndedStatement(
                *_place(claim),
                claim.text,
                claim.time,
                entry.time,
                EndReason.FORGOTTEN,
                entry.who,
                entry.target,
            )
        )
        found += log.endings(entry.target, None)
    return found


def _place(claim: Claim) -> Place:
    """The session of a claim and its turn, as the first and last of a range. A remembered text has
    none."""
    return (claim.session, claim.seq, claim.seq) if claim.exchange else _NOWHERE


def leaves_people_alone(ending: EndedStatement) -> bool:
    """Whether an agent corrected or forgot a memory: what people said in the same words holds."""
    by_agent = ending.reason in (EndReason.CORRECTED, EndReason.FORGOTTEN) and is_agent(ending.who)
    return by_agent and ending.record.startswith(uri("memory", ""))


def end_repetitions(drafts: Sequence[FactDraft], ended: Sequence[EndedStatement]) -> None:
    """End the facts that say nothing but what ended, and said it before."""
    by_memory = {claim.id: d for d in drafts for claim in d.claims if not claim.exchange}
    for statement in ended:
        features = statement_features(statement.text)
        for draft in drafts:
            if draft.status in ENDED_STATUSES or draft.uri == statement.instead:
                continue
            if draft.trust in PEOPLE and leaves_people_alone(statement):
                continue
            before = all(claim.time < statement.ended for claim in draft.claims)
            if not before or not says_the_same(statement_features(draft.content), features):
                continue
            holds = by_memory.get(statement.instead.rpartition("/")[2])
            draft.superseded_by = holds.uri if holds is not None and holds is not draft else ""
            because = draft.superseded_by or statement.record
            draft.set_status(statement.reason.status, statement.ended, because)
            draft.until = statement.ended
            if statement.reason is EndReason.OUTDATED:
                draft.outdated = Judgement(
                    Verdict.OUTDATED, statement.ended, statement.who, statement.now
                )


def ended_facts(drafts: Sequence[FactDraft], log: StatementLog) -> list[EndedStatement]:
    """The statements of corrected facts, and of facts that no longer hold."""
    by_uri = {draft.uri: draft for draft in drafts}
    found: list[EndedStatement] = []
    for draft in drafts:
        holds = _in_force(draft, by_uri)
        reason = EndReason.CORRECTED
        if draft.overruled is not None:
            found.append(_overruled(draft, draft.overruled))
        if draft.status in ENDED_STATUSES:
            replaced = draft.status is Status.SUPERSEDED
            reason = EndReason.SUPERSEDED if replaced else EndReason.RETRACTED
            texts = [(draft.content, _NOWHERE, draft.since)]
            texts += [(claim.text, _place(claim), claim.time) for claim in draft.claims]
            time, who = draft.until, ""
        elif draft.corrected is not None:
            texts = [
                (claim.text, _place(claim), claim.time)
                for claim in draft.claims
                if not _same(claim.text, draft.content)
            ]
            time, who = draft.corrected.time, draft.corrected.who
        else:
            continue
        instead, now = (holds.uri, holds.content) if holds else ("", "")
        if draft.outdated is not None:
            reason, who, now = EndReason.OUTDATED, draft.outdated.who, draft.outdated.why
        found += [
            EndedStatement(*place, text, said, time, reason, who, draft.uri, instead, now)
            for text, place, said in texts
            if said < time
        ]
        for id in sorted(draft.statement_ids):
            found += log.endings(uri("fact", id), None)
    return found


def _overruled(draft: FactDraft, correction: CurationState) -> EndedStatement:
    """A correction that ended when a person stated the original again."""
    again = min(claim.time for claim in draft.claims if claim.time > correction.time)
    return EndedStatement(
        *_NOWHERE,
        correction.text,
        correction.time,
        again,
        EndReason.SUPERSEDED,
        "",
        draft.uri,
        draft.uri,
        draft.content,
    )


def _in_force(draft: FactDraft, by_uri: Mapping[str, FactDraft]) -> FactDraft | None:
    """The fact that holds in the place of another: itself, or the last that superseded it."""
    seen: set[str] = set()
    current: FactDraft | None = draft
    while current is not None and current.status in ENDED_STATUSES:
        seen.add(current.uri)
        after = current.superseded_by
        current = by_uri.get(after) if after not in seen else None
    return current


def retracted_guesses(
    claims: Iterable[Claim], status_of: Callable[[Claim], tuple[Status, str, str]]
) -> list[EndedStatement]:
    """Guesses and findings that proved wrong: they end within their session, because elsewhere the
    same words may be about another problem. `status_of` gives status, time and reason."""
    found: list[EndedStatement] = []
    for claim in claims:
        status, time, because = status_of(claim)
        if claim.kind in _GUESSES and status is Status.RETRACTED:
            found.append(
                EndedStatement(
                    *_place(claim),
                    claim.text,
                    claim.time,
                    time,
                    EndReason.RETRACTED,
                    "",
                    because,
                    everywhere=False,
                )
            )
    return found


def claims_that_ended(
    claims: Iterable[Claim], ended: Sequence[EndedStatement]
) -> list[tuple[Claim, EndedStatement]]:
    """The claims that say what ended later, each with the last ending of its words."""
    by_stem: dict[str, list[EndedStatement]] = {}
    for statement in ended:
        for stem in statement_features(statement.text).content if statement.everywhere else ():
            by_stem.setdefault(stem, []).append(statement)
    found: list[tuple[Claim, EndedStatement]] = []
    for claim in claims if by_stem else ():
        features = statement_features(claim.text)
        near = {one for stem in features.content for one in by_stem.get(stem, ())}
        same = [
            one
            for one in near
            if claim.time < one.ended
            and says_the_same(features, statement_features(one.text))
            and not (one.replacement and _same(claim.text, one.replacement))
        ]
        if same:
            found.append((claim, max(same, key=lambda one: (one.ended, one))))
    return found


def widen_to_exchanges(
    ended: Iterable[EndedStatement], exchanges_of: Callable[[str], Sequence[Exchange]]
) -> list[EndedStatement]:
    """The statements with the turns of the exchange in which each was said; `exchanges_of` gives
    the exchanges of a session."""
    widened: list[EndedStatement] = []
    for one in ended:
        within = [
            (x.first_seq, x.last_seq)
            for x in (exchanges_of(one.session) if one.last_seq else ())
            if x.first_seq <= one.first_seq <= x.last_seq
        ]
        first, last = within[0] if within else (one.first_seq, one.last_seq)
        widened.append(one._replace(first_seq=first, last_seq=last))
    return widened
