"""The rules that choose what to retain of an exchange, from what tools prove and people state.

Three networks: what was done (*experience*), what holds in the project (*world*: how tests are run,
what a person laid down, a cause that was found and fixed), and what was noticed (*observation*: an
error and the change that ended it, files that change together). Each exchange gives a few memories
at most. Narration is left out, and nothing is taken from outside the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from holdfast.language import (
    capitalize,
    code_names,
    plain,
    sentences,
    truncate,
    without_bold,
)
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Kind, Network
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.core import signals
from holdfast.refine.core.commands import Command, find_error, is_missing_dependency, parse_command
from holdfast.refine.core.passages import date_words, split_identifiers
from holdfast.refine.core.shell_changes import changed_files
from holdfast.refine.distil.matters import matter_of, values_of
from holdfast.refine.distil.statements import blocks
from holdfast.refine.distil.utterances import is_accepted_plan
from holdfast.refine.facts.directives import is_directive
from holdfast.refine.facts.typed_text import MAX_TYPED_CHARS, typed_text
from holdfast.refine.memories.proven_results import (
    committed_files,
    turns_of_commit,
    verdict_of_tests,
)
from holdfast.refine.memories.salience import (
    MAX_CHARS,
    causes_with_fix,
    is_informative_title,
    is_lasting_cause,
    is_lasting_rule,
    is_outside_project,
    is_short_rule,
    is_vague,
    may_name_cause,
    states_preference,
    stems,
)
from holdfast.refine.memories.statement_networks import statement_network
from holdfast.regex import regex
from holdfast.sources.project import base_name

# Memories of one exchange. More of them are less important: the best come first.
MAX_PER_EXCHANGE = 4
MAX_WHAT_CHARS = MAX_CHARS
# A statement with its reason and, in brackets, its subject: the end of it tells what follows.
MAX_STATEMENT_CHARS = 500
MAX_WHY_CHARS = 200
# In the key of a memory that is made of its matter.
MATTER = "matter"


class RetentionLimits(NamedTuple):
    """Numbers of the rules. With these, 55 of 60 retained memories were good in the last sample
    that somebody read (bench/RESULTS.md)."""

    max_reply_chars: int = 4000  # how much of a reply is read
    max_files: int = 3  # in the dimension *where*
    max_named_files: int = 2  # in the text itself
    max_names: int = 4  # in the dimension *who*
    max_turns_as_evidence: int = 3
    max_edits_as_evidence: int = 2
    # Two memories of one network whose stems agree to this share of the larger set are the same.
    duplicate_share: float = 0.85
    # Lengths of the description of what was done; `verdict_chars` is left for the test result.
    max_commit_chars: int = 140
    max_sentence_chars: int = 170
    max_title_chars: int = 120
    verdict_chars: int = 45
    min_commit_words: int = 3
    min_sentence_stems: int = 4
    # Sessions in which a command or an unexplained error must occur before it is shown. One
    # session may run a command by accident.
    min_sessions: int = 2
    # Files of a session that are paired as "often changed together", and the sessions it takes. A
    # session that changes more files is a sweep through the project and pairs nothing.
    max_files_changed_together: int = 6
    min_sessions_changed_together: int = 3


_LIMITS = RetentionLimits()

_CHANGE_SENTENCE = regex(
    r"^(?:i(?:['’]ve| have)? (?:now |also |just )?)?(?P<verb>fixed|added|changed|moved|renamed|"
    r"removed|implemented|updated|replaced|refactored|created|wrote|extracted|split|introduced|"
    r"switched|migrated|corrected|made|rewrote|deleted|merged|released|resolved|simplified|"
    r"converted|bumped|reverted|configured|built|set up|wired|documented)\b",
    re.IGNORECASE,
)
_PAST_TENSE = {
    "fix": "Fixed", "add": "Added", "change": "Changed", "move": "Moved", "rename": "Renamed",
    "remove": "Removed", "implement": "Implemented", "update": "Updated", "replace": "Replaced",
    "refactor": "Refactored", "create": "Created", "write": "Wrote", "extract": "Extracted",
    "split": "Split", "introduce": "Introduced", "switch": "Switched", "migrate": "Migrated",
    "correct": "Corrected", "make": "Made", "rewrite": "Rewrote", "delete": "Deleted",
    "merge": "Merged", "simplify": "Simplified", "convert": "Converted", "bump": "Bumped",
    "revert": "Reverted", "enable": "Enabled", "disable": "Disabled", "build": "Built",
    "document": "Documented", "improve": "Improved", "tune": "Tuned", "optimize": "Optimized",
    "clean": "Cleaned", "drop": "Dropped", "configure": "Configured", "increase": "Increased",
}  # fmt: skip
_COMMITTED = "Committed"
# A change of these alone says little: what they tell is stated where it was settled.
_DOCUMENTS = (".md", ".mdx", ".txt", ".rst")
# The title of an exchange that was asked for in a word or two is what the agent said of it.
_REPLIED = regex(r": I(?:['’]ve|['’]m| )")
_UNFINISHED = frozenset((Outcome.INTERRUPTED, Outcome.FAILED, Outcome.OPEN))
_GENERATED = regex(r"(?:lock|\.lock|-lock\.\w+|\.sum|\.min\.\w+|\.snap|\.svg|\.map)$")


def retain_exchange(
    exchange: Exchange, turns: Sequence[Turn], later: Sequence[Exchange] = (), root: str = ""
) -> list[MemoryOccurrence]:
    """What tools prove in one exchange, to retain, the best first. `later` are the exchanges of
    the session after it, `root` the folder of its project."""
    commands = [
        (turn, command)
        for turn in turns
        for call in signals.tool_calls([turn], signals.SHELL_TOOLS)
        if (command := parse_command(call)) is not None
    ]
    cause = _find_cause(exchange, turns)
    found = _experience(exchange, turns, cause, later, root)
    found += _errors(exchange, turns, {turn.id: command for turn, command in commands}, cause)
    is_fixed = exchange.type is ExchangeType.BUGFIX or _last_test_passed(turns)
    if cause and is_fixed and exchange.outcome is Outcome.DONE:
        files = (*exchange.files_modified, *exchange.files_read)
        where = ", ".join(files[: _LIMITS.max_files])
        found.append(make_occurrence(exchange, Network.WORLD, cause, where=where, kind=Kind.LESSON))
    found += _project_commands(exchange, commands)
    return distinct(found)[:MAX_PER_EXCHANGE]


def retain_stated(
    exchange: Exchange, turns: Sequence[Turn], by_person: bool
) -> list[MemoryOccurrence]:
    """What was stated as a rule, or as a cause with what ended it: it is retained in any case.
    Without `by_person` (in the session of a subagent) the request is an agent's and states no
    rules."""
    rules = _stated_rules(exchange, turns) if by_person else []
    return distinct([*rules, *_causes_with_fix(exchange, turns)])


def distinct(found: Iterable[MemoryOccurrence]) -> list[MemoryOccurrence]:
    """Without near-duplicates: the first of them is kept, with the evidence of the others."""
    kept: dict[str, MemoryOccurrence] = {}
    stems_by_key: dict[str, frozenset[str]] = {}
    for one in found:
        own = stems(one.what)
        same = [key for key, other in kept.items() if other.network is one.network]
        near = [
            key
            for key in same
            if _is_duplicate(own, stems_by_key[key]) and _has_same_values(one, kept[key])
        ]
        key = near[0] if near else one.key
        known = kept.get(key)
        if known is None:
            kept[key], stems_by_key[key] = one, own
            continue
        evidence = tuple(dict.fromkeys((*known.evidence, *one.evidence)))
        kept[key] = known._replace(evidence=evidence, why=known.why or one.why)
    return list(kept.values())


def _is_duplicate(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _LIMITS.duplicate_share * max(len(one), len(other), 1)


def _has_same_values(one: MemoryOccurrence, other: MemoryOccurrence) -> bool:
    """Whether two statements agree in numbers and negation. Of outcomes, these count files."""
    is_outcome = one.kind is other.kind is Kind.OUTCOME
    return is_outcome or values_of(one.what) == values_of(other.what)


def make_occurrence(
    exchange: Exchange,
    network: Network,
    what: str,
    *,
    why: str = "",
    where: str = "",
    who: str = "",
    trust: Trust | None = None,
    evidence: Sequence[Turn] = (),
    needs: int = 1,
    key: str = "",
    kind: Kind | None = None,
    said: str = "",
) -> MemoryOccurrence:
    """An occurrence of a memory in an exchange. It is shown once `needs` sessions have one with the
    same `key`; without `key`, statements of one matter have the same. `said` is the part of `what`
    that was stated, if not all of it was."""
    x = exchange
    what = truncate(what, MAX_STATEMENT_CHARS if said else MAX_WHAT_CHARS)
    turn_uris = tuple(uri("turn", turn.id) for turn in evidence[: _LIMITS.max_turns_as_evidence])
    context = f"{date_words(x.started)} {network.value} {where} {split_identifiers(what)}"
    return MemoryOccurrence(
        key or _matter_key(network, said or what, kind),
        x.first_seq,
        x.ended or x.started,
        network,
        what,
        x.trust if trust is None else trust,
        where.strip() if where else ", ".join(x.files_modified[: _LIMITS.max_files]),
        who or ", ".join(dict.fromkeys(code_names(what, _LIMITS.max_names))),
        truncate(why, MAX_WHY_CHARS),
        context.strip(),
        (uri("exchange", x.id), *turn_uris),
        needs,
        kind=kind,
    )


def _matter_key(network: Network, said: str, kind: Kind | None) -> str:
    """The key of a statement. What is to be done and what was done have the same words, so the one
    is kept from the other."""
    sort = f"{network.value}:{kind}" if kind is Kind.TODO else network.value
    return f"{sort}:{MATTER}:{content_id(matter_of(said) or said)}"


def _last_test_passed(turns: Sequence[Turn]) -> bool | None:
    runs = signals.find_test_runs(turns)
    return runs[-1].ok if runs else None


def _experience(
    x: Exchange, turns: Sequence[Turn], cause: str, later: Sequence[Exchange], root: str
) -> list[MemoryOccurrence]:
    """What was done: changes that tools prove, in the words of a commit or of the reply."""
    commits = [message for turn in turns if (message := signals.commit_message(turn))]
    changed = [path for path in x.files_modified if not is_outside_project(path)]
    if not commits and all(path.endswith(_DOCUMENTS) for path in changed):
        return []
    is_begun = x.outcome in _UNFINISHED and not _is_finished_in(later, changed)
    change = _describe_change(x, turns, commits, is_begun) if changed or commits else ""
    if not change:
        return []
    reason = cause or _stated_reason(turns)
    if change.startswith(_COMMITTED):
        turns = turns_of_commit(turns, root)
        changed = committed_files(turns, changed)
    if changed and not any(base_name(path) in change for path in changed):
        named = changed[: _LIMITS.max_named_files]
        more = len(changed) - len(named)
        change += f" in {', '.join(named)}" + (f" and {more} more" if more > 0 else "")
    edits = [t for t in turns if t.tool and changed_files(t.tool)]
    tests = [t for t in turns if signals.ran_tests(t)]
    return [
        make_occurrence(
            x,
            Network.EXPERIENCE,
            truncate(change, MAX_WHAT_CHARS - _LIMITS.verdict_chars) + verdict_of_tests(turns),
            where=", ".join(changed[: _LIMITS.max_files]) or " ",
            why=reason,
            evidence=[*edits[: _LIMITS.max_edits_as_evidence], *tests[-1:]],
            kind=Kind.OUTCOME,
        )
    ]


def _is_finished_in(later: Sequence[Exchange], files: Sequence[str]) -> bool:
    """Whether exchanges went on with the work on some files, and the last of them finished it."""
    went_on = [x for x in later if not set(files).isdisjoint(x.files_modified)]
    return bool(went_on) and went_on[-1].outcome not in _UNFINISHED


def _describe_change(
    x: Exchange, turns: Sequence[Turn], commits: Sequence[str], is_begun: bool
) -> str:
    """What was changed, in the words of the last commit, of the reply, of a title that orders it or
    of an item of the reply, which tells only a part; "" if none of them says it. `is_begun`: it is
    not finished."""
    if commits and len(commits[-1].split()) >= _LIMITS.min_commit_words:
        return f"{_COMMITTED} “{truncate(commits[-1], _LIMITS.max_commit_chars)}”"
    reply = next((t.text for t in reversed(turns) if t.role is Role.ASSISTANT and t.text), "")
    said = blocks(reply[: _LIMITS.max_reply_chars])
    whole = (sentence for block in said if not block.is_item for sentence in sentences(block.text))
    parts = (sentence for block in said if block.is_item for sentence in sentences(block.text))
    return (
        _first_change(whole)
        or _done_as_asked(x, turns, is_begun)
        or _first_change(parts)
        or _fixed_as_asked(x, turns)
    )


def _first_change(said: Iterable[str]) -> str:
    """The first of some sentences that says what was changed; "" if none does."""
    for sentence in said:
        match = _CHANGE_SENTENCE.match(sentence)
        text = sentence[match.start("verb") :] if match else ""
        if not match and _CHANGE_SENTENCE.match(plain(sentence)):
            text = sentence
        text = text.rstrip(".")
        is_specific = len(stems(text)) >= _LIMITS.min_sentence_stems and not is_vague(text)
        if is_specific and not text.endswith((":", "…")):
            return truncate(capitalize(without_bold(text)), _LIMITS.max_sentence_chars)
    return ""


def _done_as_asked(x: Exchange, turns: Sequence[Turn], is_begun: bool) -> str:
    """What the title of an exchange orders, or a plan that was accepted, as done or begun; "" if
    it orders nothing."""
    # A title that asks for it ends in a question mark; what was done does not.
    first, _, rest = x.title.rstrip("?!. ").partition(" ")
    verb = first.lower().rstrip(":")
    past = _PAST_TENSE.get(verb)
    if not past and is_accepted_plan(turns[0]) and is_informative_title(x.title):
        return f"{'Began' if is_begun else 'Carried out'} the plan “{x.title}”"
    if not past or is_vague(f"{past} {rest}") or len(rest.split()) < 2 or _REPLIED.search(x.title):
        return ""
    return f"Began to {verb} {rest}" if is_begun else f"{past}{first[len(verb) :]} {rest}"


def _fixed_as_asked(x: Exchange, turns: Sequence[Turn]) -> str:
    """A request is no result, unless it names a fault and the tests pass after it."""
    is_order = x.title.partition(" ")[0].lower().rstrip(":") in _PAST_TENSE
    is_fixed = x.type is ExchangeType.BUGFIX and _last_test_passed(turns)
    if is_order or not is_fixed or not is_informative_title(x.title):
        return ""
    return f"Fixed “{truncate(x.title, _LIMITS.max_title_chars)}”"


def _stated_reason(turns: Sequence[Turn]) -> str:
    """The sentence in which the person said why; "" if they did not."""
    for turn in turns:
        if turn.role is Role.USER and len(turn.text) <= MAX_TYPED_CHARS and "because" in turn.text:
            return next((s for s in sentences(typed_text(turn.text)) if "because" in s), "")
    return ""


def _find_cause(x: Exchange, turns: Sequence[Turn]) -> str:
    """The sentence in which the agent named a cause; "" if none, or if it used no tools."""
    if x.trust is Trust.EXTERNAL or not any(turn.tool is not None for turn in turns):
        return ""
    for turn in reversed(turns):
        if turn.role is not Role.ASSISTANT or not may_name_cause(turn.text):
            continue
        for sentence in sentences(turn.text[: _LIMITS.max_reply_chars]):
            if is_lasting_cause(sentence):
                return sentence
    return ""


def _stated_rules(x: Exchange, turns: Sequence[Turn]) -> list[MemoryOccurrence]:
    """The first rule or decision that the person stated at length, and all in a few words, but for
    those that become facts."""
    said = [
        (turn, sentence)
        for turn in turns
        if turn.role is Role.USER and turn.trust is not Trust.EXTERNAL
        if len(turn.text) <= MAX_TYPED_CHARS
        for sentence in sentences(typed_text(turn.text))
        if sentence.split(" ", 1)[0].lower() not in _PAST_TENSE
    ]
    lasting = list(islice((one for one in said if is_lasting_rule(one[1])), 1))
    short = [one for one in said if is_short_rule(one[1]) and not is_directive(one[1])]
    return [
        make_occurrence(
            x,
            statement_network(kind, sentence, is_person=True),
            sentence,
            who=turn.speaker or "user",
            trust=turn.trust,
            evidence=[turn],
            kind=kind,
        )
        for turn, sentence in dict.fromkeys((*lasting, *short))
        for kind in (Kind.PREFERENCE if states_preference(sentence) else Kind.RULE,)
    ]


def _causes_with_fix(x: Exchange, turns: Sequence[Turn]) -> list[MemoryOccurrence]:
    """The causes that were stated with what ended them, in the words of whoever stated them."""
    return [
        make_occurrence(
            x,
            Network.OBSERVATION,
            stated,
            trust=turn.trust,
            evidence=[turn],
            kind=Kind.LESSON,
            said=stated,
        )
        for turn in turns
        if turn.tool is None and Trust.EXTERNAL not in (x.trust, turn.trust)
        for stated in causes_with_fix(turn.text[: _LIMITS.max_reply_chars])
    ]


def _errors(
    x: Exchange, turns: Sequence[Turn], commands: Mapping[str, Command], cause: str
) -> list[MemoryOccurrence]:
    """The first error of a command that changes to files ended. If there is none, the first error
    at all, which is shown once a second session has it. `commands` are by turn id."""
    failed: dict[str, tuple[Turn, str]] = {}
    changed: dict[str, list[str]] = {}
    for turn in turns:
        tool = turn.tool
        if tool is None or turn.trust is Trust.EXTERNAL:
            continue
        for files in changed.values():
            files.extend(changed_files(tool))
        command = commands.get(turn.id)
        if command is None:
            continue
        name = command.name
        if tool.ok and command.is_project_command and changed.get(name):
            return [_fixed_error(x, name, failed[name], turn, changed[name], cause)]
        error = _error_of(tool, command)
        if error:
            failed[name] = turn, error
            # No change to a file installs what is missing.
            changed |= {} if is_missing_dependency(error) else {name: []}
    for name, (turn, error) in failed.items():
        what, needs = f"`{name}` fails with “{error}”", _LIMITS.min_sessions
        return [make_occurrence(x, Network.OBSERVATION, what, evidence=[turn], needs=needs)]
    return []


def _error_of(tool: ToolCall, command: Command) -> str:
    error = find_error(tool.result) if tool.ok is False else ""
    return error if command.is_project_command or is_missing_dependency(error) else ""


def _fixed_error(
    x: Exchange, name: str, failed: tuple[Turn, str], passed: Turn, files: list[str], cause: str
) -> MemoryOccurrence:
    first, error = failed
    where = ", ".join(list(dict.fromkeys(files))[: _LIMITS.max_files])
    what = f"`{name}` failed with “{error}”; it passed after changes to {where}"
    return make_occurrence(
        x,
        Network.OBSERVATION,
        what,
        why=cause,
        where=where,
        evidence=[first, passed],
        kind=Kind.LESSON,
    )


def _project_commands(
    x: Exchange, commands: Iterable[tuple[Turn, Command]]
) -> list[MemoryOccurrence]:
    """The first command of the project that succeeded. What runs the tests is shown at once, any
    other command once a second session runs it."""
    for turn, command in commands:
        succeeded = turn.tool is not None and turn.tool.ok
        if not succeeded or not command.is_project_command or turn.trust is Trust.EXTERNAL:
            continue
        if command.runs_tests:
            what, needs = f"The tests run with `{command.name}`", 1
        else:
            what = f"`{command.name}` is run in this project, and succeeds"
            needs = _LIMITS.min_sessions
        return [
            make_occurrence(
                x,
                Network.WORLD,
                what,
                where=" ",  # not the changed files: the command has nothing to do with them
                trust=turn.trust,
                evidence=[turn],
                needs=needs,
                key=f"{Network.WORLD.value}:{content_id('command', command.name)}",
            )
        ]
    return []


def changed_together(exchanges: Sequence[Exchange]) -> list[MemoryOccurrence]:
    """One occurrence for each pair of files that a session changed together."""
    files = dict.fromkeys(path for x in exchanges for path in x.files_modified)
    ours = sorted(path for path in files if not _GENERATED.search(path))
    if not 2 <= len(ours) <= _LIMITS.max_files_changed_together:
        return []
    last = next(x for x in reversed(exchanges) if x.files_modified)
    return [
        make_occurrence(
            last,
            Network.OBSERVATION,
            f"{one} and {other} are often changed together",
            where=f"{one}, {other}",
            who=f"{base_name(one)}, {base_name(other)}",
            needs=_LIMITS.min_sessions_changed_together,
            key=f"{Network.OBSERVATION.value}:{content_id('together', one, other)}",
        )
        for one, other in combinations(ours, 2)
    ]
