"""Extracts claims from an exchange: sentences whose truth may change later.

A pure function of an exchange and its turns. A guess at a cause stays one until the exchange shows
the outcome: it is verified by tests that pass after a change, a commit or a person's yes, and
retracted by another cause, a disproof or a no. What later exchanges show is in `claim_outcomes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from holdfast.language import (
    code_names,
    collapse_spaces,
    is_chatter,
    plain,
    sentences,
    strip_markdown,
    truncate,
)
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, ToolCall, Turn
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.refine.core import signals
from holdfast.refine.core.shell_changes import changed_files
from holdfast.refine.facts import hypotheses
from holdfast.refine.facts.decision_sentences import FIRM_STRENGTH, find_decision_sentences
from holdfast.refine.facts.directives import find_directives
from holdfast.refine.facts.error_signatures import error_lines, signature_of
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.facts.plain_statements import find_plain_statements, reported_changes
from holdfast.refine.facts.typed_text import is_handed_over
from holdfast.refine.requests.headlines import headline
from holdfast.regex import regex


class ClaimLimits(NamedTuple):
    """What is read and kept of an exchange. Longer texts cost time and quote pasted text."""

    min_chars: int = 12  # of a sentence
    max_chars: int = 400
    max_turn_chars: int = 6000  # of a turn, from its start
    max_reply_chars: int = 240  # a longer message is no plain yes or no
    max_request_chars: int = 500  # of each message, when looking for a request to rework
    max_problem_chars: int = 200
    max_files: int = 8
    # A solution or a description of how something works needs a sentence of this length;
    # "Fixed: tests pass now." explains nothing.
    min_explanation_chars: int = 40
    # Topic stems that a sentence must share with an error line, or with the request, to be about
    # it. Error lines are long, so they need more.
    stems_shared_with_error: int = 3
    stems_shared_with_request: int = 2
    # Share of common topic stems from which two sentences of one exchange are about one cause.
    min_shared_topic: float = 0.4


_LIMITS = ClaimLimits()
_REWORK_WORDS = "rewrite redesign restructur rework overhaul migrat refactor".split()
# What is replaced may be a detail; it is a rework if several files had to change for it.
_WIDE_REWORK_WORDS = (*_REWORK_WORDS, "replace")
# Says how something works now, other than before.
_CONTRAST = regex(
    r"\b(?:(?:is|are|now) .{3,80}instead of|no longer|replac(?:ed|es) .{3,80} (?:with|by)|"
    r"[\w`]+ replaces (?:the )?[\w`]+|(?:is|are) (?:now )?(?:gone|allowed|optional|required)|"
    r"now (?:works?|uses?|allows?|lets?|goes|takes?|keeps?|holds?|reads?|writes?|runs?))\b",
    re.IGNORECASE,
)


def make_claims(
    exchange: Exchange, turns: Sequence[Turn], asked_by_agent: bool = False
) -> list[Claim]:
    """The claims of an exchange, in the order they were made. `asked_by_agent`: the requests are
    those of an agent that runs a subagent."""
    found = list(_spoken_claims(exchange, turns, asked_by_agent))
    if not asked_by_agent:
        found += _reported_claims(exchange, turns)
    found += _problem_claims(exchange, turns)
    found += _core_logic_claims(exchange, turns)
    by_id: dict[str, Claim] = {}
    for claim in _with_outcomes(found, turns, asked_by_agent):
        by_id.setdefault(claim.id, claim)
    return sorted(by_id.values(), key=lambda claim: (claim.seq, claim.kind.value, claim.id))


def _is_by_person(turn: Turn, asked_by_agent: bool) -> bool:
    """Whether the user speaks; in an imported dialogue, whoever has the user's role."""
    is_user = turn.role is Role.USER and not turn.speaker and not asked_by_agent
    return is_user and turn.trust in (Trust.USER, Trust.IMPORT) and not is_handed_over(turn.text)


def _is_by_agent(turn: Turn) -> bool:
    return turn.role is Role.ASSISTANT and turn.trust is not Trust.EXTERNAL


def _spoken_claims(x: Exchange, turns: Sequence[Turn], asked_by_agent: bool) -> Iterator[Claim]:
    """Claims in what people and agents say, and commits (which agree with the work before them)."""
    is_debugging = hypotheses.is_debugging(turns)
    for turn in turns:
        if message := signals.commit_message(turn):
            yield _claim(x, turn, ClaimKind.AGREEMENT, signals.COMMITTED + message)
        if turn.tool is not None or not turn.text or signals.is_interruption(turn):
            continue
        if _is_by_person(turn, asked_by_agent):
            yield from _person_claims(x, turn)
        elif _is_by_agent(turn):
            yield from _agent_claims(x, turn, is_debugging)


def _person_claims(x: Exchange, turn: Turn) -> Iterator[Claim]:
    directives = find_directives(turn.text)
    for sentence in directives:
        yield _claim(x, turn, ClaimKind.RULING, sentence, True)
    for decision in find_decision_sentences(turn.text, by_person=True):
        is_firm = decision.explicit and decision.strength >= FIRM_STRENGTH
        text = decision.sentence
        if is_firm and not any(s in text or text in s for s in directives):
            yield _claim(x, turn, ClaimKind.DECISION, text, True)
    for statement in find_plain_statements(turn.text):
        if all(map(is_for_the_moment, sentences(statement))):
            continue
        yield _claim(x, turn, ClaimKind.STATEMENT, statement, True)
    disproofs = [s for s in _sentences(turn) if hypotheses.disproves(s)]
    for sentence in disproofs:
        yield _claim(x, turn, ClaimKind.DISPROOF, sentence, True)
    if len(turn.text) <= _LIMITS.max_reply_chars and not disproofs:
        if hypotheses.disagrees(turn.text):
            yield _claim(x, turn, ClaimKind.DISPROOF, turn.text, True)
        elif hypotheses.agrees(turn.text):
            yield _claim(x, turn, ClaimKind.AGREEMENT, turn.text, True)


def _reported_claims(x: Exchange, turns: Sequence[Turn]) -> Iterator[Claim]:
    """What the agent's closing message reports as changed."""
    texts = [turn for turn in turns if _is_by_agent(turn) and turn.tool is None and turn.text]
    for turn in texts[-1:]:
        for sentence in reported_changes(turn.text[: _LIMITS.max_turn_chars]):
            yield _claim(x, turn, ClaimKind.STATEMENT, sentence)


def _agent_claims(x: Exchange, turn: Turn, is_debugging: bool) -> Iterator[Claim]:
    if not hypotheses.may_mention_cause(turn.text[: _LIMITS.max_turn_chars]):
        return
    for sentence in _sentences(turn):
        if hypotheses.disproves(sentence):
            yield _claim(x, turn, ClaimKind.DISPROOF, sentence)
        if hypotheses.states_cause(sentence):
            yield _claim(x, turn, ClaimKind.FINDING, sentence)
        elif is_debugging and hypotheses.is_guess(sentence) and not is_chatter(sentence):
            guess = _claim(x, turn, ClaimKind.HYPOTHESIS, sentence)
            yield replace(guess, status=Status.HYPOTHESIS)


def _sentences(turn: Turn) -> Iterator[str]:
    """The sentences of a turn that may be claims: no questions, no headings, no fragments."""
    for sentence in sentences(turn.text[: _LIMITS.max_turn_chars]):
        words = plain(sentence)
        has_length = _LIMITS.min_chars <= len(words) <= _LIMITS.max_chars
        if has_length and not words.rstrip().endswith(("?", ":", "？")):
            yield sentence


def _claim(x: Exchange, turn: Turn, kind: ClaimKind, sentence: str, person: bool = False) -> Claim:
    """A claim, with its share of the turn's text (`share`) and of the exchange's text (`told`)."""
    text = truncate(sentence, _LIMITS.max_chars)
    # Marks of emphasis neither make another claim of it nor a longer one.
    words = truncate(strip_markdown(sentence), _LIMITS.max_chars)
    turn_chars = len(collapse_spaces(strip_markdown(turn.text))) or 1
    body = f"{x.title} {x.summary} {' '.join(f for f in x.facts if f not in x.summary)}"
    # The exchange may quote the claim cut short, so only its start is looked for.
    start = text[:50].rstrip(" .!").lower()
    share_of_exchange = len(text) / (len(body) or 1) if start in body.lower() else 0.0
    return Claim(
        x.bank, content_id("claim", turn.id, kind.value, words), x.session, x.id, turn.id, turn.seq,
        turn.time, kind, text, turn.trust, person,
        share=round(min(1.0, len(words) / turn_chars), 3),
        told=round(min(1.0, share_of_exchange), 3),
    )  # fmt: skip


def _with_outcomes(
    claims: Sequence[Claim], turns: Sequence[Turn], asked_by_agent: bool
) -> Iterator[Claim]:
    """The claims; guesses and causes with the status that the exchange itself shows."""
    proof = _proof(turns, asked_by_agent)
    for claim in claims:
        is_finding = claim.kind is ClaimKind.FINDING
        outcome = _outcome(claim, claims) if is_finding or _is_guess(claim) else None
        if outcome is None and is_finding and proof is not None and proof.seq > claim.seq:
            outcome = Status.VERIFIED, proof.time, proof.id
        if outcome is None:
            yield claim
        else:
            status, time, turn = outcome
            yield replace(claim, status=status, changed=time, because=uri("turn", turn))


def _is_guess(claim: Claim) -> bool:
    return claim.kind is ClaimKind.HYPOTHESIS


def _outcome(claim: Claim, claims: Sequence[Claim]) -> tuple[Status, str, str] | None:
    """The status that a later claim of the same exchange gives to a cause, with its time and
    turn."""
    topic = hypotheses.topic_stems(claim.text)
    for later in claims:
        # A disproof in the same turn counts as later, any other claim there does not.
        if (later.seq, later.kind is not ClaimKind.DISPROOF) <= (claim.seq, True) or later is claim:
            continue
        same = hypotheses.same_cause(
            topic, hypotheses.topic_stems(later.text), _LIMITS.min_shared_topic
        )
        if later.kind is ClaimKind.DISPROOF and (same or _points_back(later, claim, claims)):
            return Status.RETRACTED, later.time, later.turn
        if later.kind is ClaimKind.FINDING and _is_guess(claim):
            return (Status.VERIFIED if same else Status.RETRACTED), later.time, later.turn
    return None


def _points_back(disproof: Claim, claim: Claim, claims: Sequence[Claim]) -> bool:
    """Whether a disproof without a topic (`that was not it`) is about this guess: the last one."""
    if len(hypotheses.topic_stems(disproof.text)) > 1:
        return False
    before = [c for c in claims if _is_guess(c) and c.seq < disproof.seq]
    return bool(before) and before[-1].id == claim.id


def _may_have_changed(tool: ToolCall) -> bool:
    """Whether a call changed files, or had a subagent do what it was told."""
    delegated = tool.name in signals.SUBAGENT_TOOLS and tool.ok is not False
    return delegated or bool(changed_files(tool))


def _proof(turns: Sequence[Turn], asked_by_agent: bool = False) -> Turn | None:
    """The last turn that proves a stated cause: tests that pass after a change, a commit, or a
    person's yes. None if a failing test or a no came after it."""
    changed = False
    proof: Turn | None = None
    for turn in turns:
        tool = turn.tool
        changed = changed or (tool is not None and _may_have_changed(tool))
        if signals.ran_tests(turn) and tool is not None:
            proof = turn if changed and tool.ok else (None if tool.ok is False else proof)
        elif signals.commit_message(turn):
            proof = turn
        elif _is_by_person(turn, asked_by_agent) and turn.seq > turns[0].seq:
            if hypotheses.agrees(turn.text):
                proof = turn
            elif hypotheses.disagrees(turn.text):
                proof = None
    return proof


def _problem_claims(x: Exchange, turns: Sequence[Turn]) -> Iterator[Claim]:
    """A solution or a failed attempt, if the exchange is about a problem: a person asked for a fix,
    or a command failed with an error that the solution mentions."""
    failed = [turn for turn in turns if signals.is_failed_command(turn)]
    was_asked = turns[0].role is Role.USER and x.type is ExchangeType.BUGFIX
    if not was_asked and not failed:
        return
    tests = signals.find_test_runs(turns)
    tests_pass = bool(tests) and tests[-1].ok is True
    is_done = x.outcome is Outcome.DONE and bool(x.files_modified)
    attempts = sum(1 for turn in failed if signals.ran_tests(turn))
    is_solved = is_done and (tests_pass or (was_asked and not tests))
    explanation = _find_explanation(x, turns, failed) if is_solved else None
    if explanation is not None:
        turn, sentence, line = explanation
        kind, status, problem = ClaimKind.SOLUTION, Status.VERIFIED, line or x.title
    else:
        # The title may be the agent's words for what was asked.
        asked = headline(turns[0].text[: _LIMITS.max_turn_chars]) if was_asked else ""
        turn, sentence, line = turns[0], asked or x.title, _last_error(failed)
        if not was_asked and not (attempts and line and not tests_pass):
            return
        # A request that may have been met without a reason, and tests that nobody wanted mended,
        # count only if the problem is solved later.
        has_failed = attempts or x.outcome in (Outcome.FAILED, Outcome.INTERRUPTED)
        is_failure = was_asked and has_failed and not is_solved
        kind, problem = ClaimKind.ATTEMPT, x.title
        status = Status.OBSERVED if is_failure else Status.VERIFIED
    yield replace(
        _claim(x, turn, kind, sentence), problem=truncate(problem, _LIMITS.max_problem_chars),
        attempts=attempts, signature=signature_of(line),
        files=tuple(x.files_modified[: _LIMITS.max_files]), status=status,
    )  # fmt: skip


def _last_error(failed: Sequence[Turn]) -> str:
    """The last error line of the commands that failed; "" if none has one."""
    outputs = (turn.tool.result for turn in reversed(failed) if turn.tool)
    return next((line for output in outputs for line in error_lines(output, 1)), "")


def _find_explanation(
    x: Exchange, turns: Sequence[Turn], failed: Sequence[Turn]
) -> tuple[Turn, str, str] | None:
    """The last sentence after the first failure that states the cause, or else the fix; with its
    turn, and the error line that it is about ("" if it is about the request)."""
    since = failed[0].seq if failed else turns[0].seq
    lines = [line for turn in failed if turn.tool for line in error_lines(turn.tool.result)]
    with_error = _LIMITS.stems_shared_with_error
    causes: list[tuple[Turn, str, str]] = []
    fixes: list[tuple[Turn, str, str]] = []
    for turn in turns:
        if not _is_by_agent(turn) or turn.seq < since:
            continue
        for sentence in _sentences(turn):
            cause = hypotheses.states_cause(sentence) or hypotheses.explains_failure(sentence)
            fix = hypotheses.states_fix(sentence)
            if not (cause or fix) or not _explains(sentence):
                continue
            line = next((e for e in lines if _shared(sentence, e) >= with_error), "")
            if line or _shared(sentence, x.title) >= _LIMITS.stems_shared_with_request:
                (causes if cause else fixes).append((turn, sentence, line))
    return next(iter((*causes[-1:], *fixes[-1:])), None)


def _explains(sentence: str) -> bool:
    return not is_chatter(sentence) and len(sentence) >= _LIMITS.min_explanation_chars


def _shared(one: str, other: str) -> int:
    return len(hypotheses.topic_stems(one) & hypotheses.topic_stems(other))


def _core_logic_claims(x: Exchange, turns: Sequence[Turn]) -> Iterator[Claim]:
    """The sentence that says how something works now, if a rework was asked for, done and proven:
    the first such sentence of the last turn that has one."""
    request = " ".join(
        t.text[: _LIMITS.max_request_chars] for t in turns if t.role is Role.USER
    ).lower()
    wanted = _WIDE_REWORK_WORDS if len(x.files_modified) > 1 else _REWORK_WORDS
    if x.outcome is not Outcome.DONE or not x.files_modified:
        return
    if not any(word in request for word in wanted) or _proof(turns) is None:
        return
    edited = "\n".join(t.tool.action for t in turns if t.tool and changed_files(t.tool))
    for turn in reversed(turns):
        if not _is_by_agent(turn):
            continue
        for sentence in _sentences(turn):
            explains = _CONTRAST.search(plain(sentence)) and _explains(sentence)
            if explains and _is_about(sentence, request, edited):
                claim = _claim(x, turn, ClaimKind.CORE_LOGIC, sentence)
                yield replace(claim, files=tuple(x.files_modified[: _LIMITS.max_files]))
                return


def _is_about(sentence: str, request: str, edited: str) -> bool:
    """Whether a sentence is about what was asked for, or about names in what was edited."""
    names = [name for name in code_names(sentence) if name in edited]
    return _shared(sentence, request) + len(names) >= _LIMITS.stems_shared_with_request
