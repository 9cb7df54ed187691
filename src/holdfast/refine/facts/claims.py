"""Claims: sentences of an exchange that may be true or false later, and what it shows of them.

A pure function of an exchange's turns. A guess stays one until the exchange shows what came of it:
tests that pass after a change, a commit, a person's yes; or another cause, a disproof, a no. What
happens after the exchange is for the stage above (`refine/facts/fact_builder`) to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.language import cut, is_chatter, plain, sentences, squeeze
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, Turn
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.refine.core import signals
from holdfast.refine.facts import hypotheses
from holdfast.refine.facts.decision_sentences import FIRM_STRENGTH, find_decision_sentences
from holdfast.refine.facts.directives import find_directives
from holdfast.refine.facts.error_signatures import error_lines, signature_of

LONGEST = 400
_SHORTEST = 12
_READ = 6000
_REPLY = 240
_PROBLEM = 200
_EDITED = frozenset((*signals.EDIT_TOOLS, *signals.SUBAGENT_TOOLS))
_REWORKS = (
    "rewrite",
    "redesign",
    "restructur",
    "rework",
    "overhaul",
    "replace",
    "migrat",
    "refactor",
)
_CONTRAST = re.compile(
    r"\b(?:(?:is|are|now) .{3,80}instead of|no longer|replac(?:ed|es) .{3,80} (?:with|by))\b",
    re.IGNORECASE,
)


class Requester(NamedTuple):
    """Whose session it is: a person's, or an agent's that another agent gave orders to."""

    is_agent: bool = False


def make_claims(exchange: Exchange, turns: Sequence[Turn], speaker: Requester) -> list[Claim]:
    """The claims of an exchange, in the order they were made."""
    made = list(_said(exchange, turns, speaker))
    made += _solved(exchange, turns)
    made += _core(exchange, turns)
    kept: dict[str, Claim] = {}
    for claim in _settled(made, turns, speaker):
        kept.setdefault(claim.id, claim)
    return sorted(kept.values(), key=lambda claim: (claim.seq, claim.kind.value, claim.id))


def claim_id(turn: str, kind: ClaimKind, text: str) -> str:
    """The id of a claim."""
    return content_id("claim", turn, kind.value, text)


def is_by_person(turn: Turn, speaker: Requester) -> bool:
    """Whether a person of ours speaks; of an imported dialogue, the one in the user's place."""
    own = turn.role is Role.USER and not turn.speaker and not speaker.is_agent
    return own and turn.trust in (Trust.USER, Trust.IMPORT)


def _said(x: Exchange, turns: Sequence[Turn], speaker: Requester) -> Iterator[Claim]:
    trouble = hypotheses.is_debugging(turns)
    for turn in turns:
        if message := signals.commit_message(turn):
            yield _claim(x, turn, ClaimKind.AGREEMENT, f"Committed: {message}")
        if turn.tool is not None or not turn.text or signals.is_interruption(turn):
            continue
        if is_by_person(turn, speaker):
            yield from _of_person(x, turn)
        elif turn.role is Role.ASSISTANT and turn.trust is not Trust.EXTERNAL:
            yield from _of_agent(x, turn, trouble)


def _of_person(x: Exchange, turn: Turn) -> Iterator[Claim]:
    laid_down = find_directives(turn.text)
    for sentence, _ in laid_down:
        yield _claim(x, turn, ClaimKind.RULING, sentence, True)
    known = {sentence for sentence, _ in laid_down}
    for ruling in find_decision_sentences(turn.text, by_person=True):
        firm = ruling.explicit and ruling.strength >= FIRM_STRENGTH
        if firm and not any(s in ruling.sentence or ruling.sentence in s for s in known):
            yield _claim(x, turn, ClaimKind.DECISION, ruling.sentence, True)
    disproved = [s for s in _sentences(turn) if hypotheses.disproves(s)]
    for sentence in disproved:
        yield _claim(x, turn, ClaimKind.DISPROOF, sentence, True)
    if len(turn.text) <= _REPLY and not disproved:
        if hypotheses.disagrees(turn.text):
            yield _claim(x, turn, ClaimKind.DISPROOF, turn.text, True)
        elif hypotheses.agrees(turn.text):
            yield _claim(x, turn, ClaimKind.AGREEMENT, turn.text, True)


def _of_agent(x: Exchange, turn: Turn, trouble: bool) -> Iterator[Claim]:
    if not hypotheses.may_mention_cause(turn.text[:_READ]):
        return
    for sentence in _sentences(turn):
        if hypotheses.disproves(sentence):
            yield _claim(x, turn, ClaimKind.DISPROOF, sentence)
        if hypotheses.states_cause(sentence):
            yield _claim(x, turn, ClaimKind.FINDING, sentence)
        elif trouble and hypotheses.is_guess(sentence) and not is_chatter(sentence):
            guess = _claim(x, turn, ClaimKind.HYPOTHESIS, sentence)
            yield replace(guess, status=Status.HYPOTHESIS)


def _sentences(turn: Turn) -> Iterator[str]:
    for sentence in sentences(turn.text[:_READ]):
        if _SHORTEST <= len(sentence) <= LONGEST and not sentence.rstrip().endswith(
            ("?", ":", "？")
        ):
            yield sentence


def _claim(x: Exchange, turn: Turn, kind: ClaimKind, sentence: str, person: bool = False) -> Claim:
    text = cut(squeeze(plain(sentence)), LONGEST)
    whole = len(squeeze(plain(turn.text))) or 1
    body = f"{x.title} {x.summary} {' '.join(f for f in x.facts if f not in x.summary)}"
    start = text[:50].rstrip(" .!").lower()
    told = len(text) / (len(body) or 1) if start in body.lower() else 0.0
    return Claim(
        x.bank, claim_id(turn.id, kind, text), x.session, x.id, turn.id, turn.seq, turn.time, kind,
        text, turn.trust, person, share=round(min(1.0, len(text) / whole), 3),
        told=round(min(1.0, told), 3),
    )  # fmt: skip


def _settled(made: Sequence[Claim], turns: Sequence[Turn], speaker: Requester) -> Iterator[Claim]:
    """The claims, each with what the exchange itself shows of it."""
    proof = _proof(turns, speaker)
    for claim in made:
        if claim.kind not in (ClaimKind.HYPOTHESIS, ClaimKind.FINDING):
            yield claim
            continue
        ended = _ended(claim, made)
        if ended is not None:
            status, because = ended
            yield replace(
                claim, status=status, changed=because.time, because=uri("turn", because.turn)
            )
        elif proof is not None and proof.seq > claim.seq and claim.kind is ClaimKind.FINDING:
            yield replace(
                claim, status=Status.VERIFIED, changed=proof.time, because=uri("turn", proof.id)
            )
        else:
            yield claim


def _ended(claim: Claim, made: Sequence[Claim]) -> tuple[Status, Claim] | None:
    """How a later claim of the same exchange ends this one, and which."""
    own = hypotheses.topic_stems(claim.text)
    for later in made:
        if (later.seq, later.kind is not ClaimKind.DISPROOF) <= (claim.seq, True) or later is claim:
            continue
        same = hypotheses.same_cause(own, hypotheses.topic_stems(later.text))
        if later.kind is ClaimKind.DISPROOF and (same or _points_back(later, claim, made)):
            return Status.RETRACTED, later
        if later.kind is ClaimKind.FINDING and claim.kind is ClaimKind.HYPOTHESIS:
            return (Status.VERIFIED if same else Status.RETRACTED), later
    return None


def _points_back(disproof: Claim, claim: Claim, made: Sequence[Claim]) -> bool:
    """`That was not it` is about the last guess before it."""
    if len(hypotheses.topic_stems(disproof.text)) > 1:
        return False
    before = [c for c in made if c.kind is ClaimKind.HYPOTHESIS and c.seq < disproof.seq]
    return bool(before) and before[-1].id == claim.id


def _proof(turns: Sequence[Turn], speaker: Requester) -> Turn | None:
    """The last turn that shows that what was found is so: tests that pass after something was
    changed, a commit, or a person's yes."""
    changed = False
    proof: Turn | None = None
    for turn in turns:
        tool = turn.tool
        if tool is not None and tool.name in _EDITED and tool.ok is not False:
            changed = True
        elif signals.ran_tests(turn) and tool is not None:
            proof = turn if changed and tool.ok else (None if tool.ok is False else proof)
        elif signals.commit_message(turn):
            proof = turn
        elif is_by_person(turn, speaker) and turn.seq > turns[0].seq:
            if hypotheses.agrees(turn.text):
                proof = turn
            elif hypotheses.disagrees(turn.text):
                proof = None
    return proof


def _failures(turns: Iterable[Turn]) -> list[Turn]:
    return [
        turn
        for turn in turns
        if turn.tool is not None and turn.tool.ok is False and turn.tool.name in signals.SHELL_TOOLS
    ]


def _solved(x: Exchange, turns: Sequence[Turn]) -> Iterator[Claim]:
    """A problem that came up, and whether it was ended. It is known by what was asked, or by an
    error that the solution speaks of; an error beside the point is none."""
    failed = _failures(turns)
    asked = turns[0].role is Role.USER and x.type is ExchangeType.BUGFIX
    if not asked and not failed:
        return
    tests = [turn for turn in turns if signals.ran_tests(turn)]
    good = bool(tests) and tests[-1].tool is not None and tests[-1].tool.ok is True
    ended = (good or (asked and not tests)) and x.outcome is Outcome.DONE and bool(x.files_modified)
    attempts = sum(1 for turn in failed if signals.ran_tests(turn))
    if ended:
        told = _fix_told(x, turns, failed)
        if told is None:
            return
        turn, sentence, line = told
        kind, status, problem = ClaimKind.SOLUTION, Status.VERIFIED, line or x.title
    elif asked and (attempts or x.outcome in (Outcome.FAILED, Outcome.INTERRUPTED)):
        turn, sentence, line = turns[0], x.title, ""
        kind, status, problem = ClaimKind.ATTEMPT, Status.OBSERVED, x.title
    else:
        return
    yield replace(
        _claim(x, turn, kind, sentence), problem=cut(problem, _PROBLEM), attempts=attempts,
        signature=signature_of(line), files=tuple(x.files_modified[:8]), status=status,
    )  # fmt: skip


def _fix_told(
    x: Exchange, turns: Sequence[Turn], failed: Sequence[Turn]
) -> tuple[Turn, str, str] | None:
    """The last sentence after the trouble that tells why it was, or else what ended it, and the
    error that it speaks of, if it does; it speaks of what was asked else, or it is none."""
    since = failed[0].seq if failed else turns[0].seq
    lines = [line for turn in failed if turn.tool for line in error_lines(turn.tool.result)]
    causes: list[tuple[Turn, str, str]] = []
    fixes: list[tuple[Turn, str, str]] = []
    for turn in turns:
        if turn.role is not Role.ASSISTANT or turn.seq < since or turn.trust is Trust.EXTERNAL:
            continue
        for sentence in _sentences(turn):
            cause, fix = hypotheses.states_cause(sentence), hypotheses.states_fix(sentence)
            if not (cause or fix) or is_chatter(sentence) or len(sentence) < 40:
                continue
            line = next((line for line in lines if _speaks_of(sentence, line, 3)), "")
            if line or _speaks_of(sentence, x.title, 2):
                (causes if cause else fixes).append((turn, sentence, line))
    return next(iter((*causes[-1:], *fixes[-1:])), None)


def _speaks_of(sentence: str, other: str, words: int) -> bool:
    return len(hypotheses.topic_stems(sentence) & hypotheses.topic_stems(other)) >= words


def _core(x: Exchange, turns: Sequence[Turn]) -> Iterator[Claim]:
    """How something works from now on, where a rework was asked for, made and proven."""
    request = " ".join(t.text[:500] for t in turns if t.role is Role.USER).lower()
    if x.outcome is not Outcome.DONE or len(x.files_modified) < 2:
        return
    if not any(word in request for word in _REWORKS) or _proof(turns, Requester()) is None:
        return
    for turn in reversed(turns):
        if turn.role is not Role.ASSISTANT or turn.trust is Trust.EXTERNAL:
            continue
        for sentence in _sentences(turn):
            tells = _CONTRAST.search(sentence) and len(sentence) >= 40
            if tells and not is_chatter(sentence) and _speaks_of(sentence, request, 2):
                claim = _claim(x, turn, ClaimKind.CORE_LOGIC, sentence)
                yield replace(claim, files=tuple(x.files_modified[:8]))
                return
